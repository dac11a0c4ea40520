/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * undo: accounts in persistent memory between which money is moved. They are one file, `accounts`,
 * of zeros at first. Before balances change, the old ones are in the log: as long as it has
 * entries, recovery puts them back.
 */
#ifndef UNDO_H
#define UNDO_H

#include "mapped.h"

enum { ACCOUNTS = 4, MOVED = 2 };

struct log_entry {
    uint64_t account;
    int64_t balance; /* as it was */
};

struct undo_log {
    uint64_t count; /* entries that count */
    struct log_entry entry[MOVED];
};

struct account {
    int64_t balance;
};

struct bank {
    _Alignas(LINE) struct undo_log log;
    _Alignas(LINE) struct account account[ACCOUNTS];
};

/* The accounts in dir, mapped and recovered; NULL with a message. */
struct bank *bank_open(const char *dir);
void bank_close(struct bank *b);

/* Moves an amount; durable when it returns. */
void bank_move(struct bank *b, int from, int to, int64_t amount);

#endif
