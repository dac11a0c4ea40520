/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "undo.h"

static void log_balance(struct bank *b, int i, int account)
{
    b->log.entry[i].account = (uint64_t)account;
    b->log.entry[i].balance = b->account[account].balance;
}

static void set_count(struct bank *b, uint64_t count)
{
    b->log.count = count;
    persist(&b->log, sizeof b->log);
}

void bank_move(struct bank *b, int from, int to, int64_t amount)
{
    log_balance(b, 0, from);
    log_balance(b, 1, to);
    /* One line: the entries persist before the count. */
    b->log.count = MOVED; /* bug:log-counted */
    /* The mistake: the log is flushed with the balances, not before them. */
    if (fixed)
        persist(&b->log, sizeof b->log);
    b->account[from].balance -= amount; /* bug:balance-stored */
    b->account[to].balance += amount;
    if (!fixed)
        flush(&b->log, sizeof b->log);
    persist(b->account, sizeof b->account);
    set_count(b, 0);
}

struct bank *bank_open(const char *dir)
{
    struct bank *b = map_in(dir, "accounts", sizeof *b);
    if (!b || !b->log.count)
        return b;
    for (uint64_t i = 0; i < b->log.count; i++) {
        const struct log_entry *e = &b->log.entry[i];
        if (i >= MOVED || e->account >= ACCOUNTS)
            return fprintf(stderr, "entry %d of the log makes no sense\n", (int)i), NULL;
        b->account[e->account].balance = e->balance;
    }
    persist(b->account, sizeof b->account);
    set_count(b, 0);
    return b;
}

void bank_close(struct bank *b)
{
    munmap(b, sizeof *b);
}
