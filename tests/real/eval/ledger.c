/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"

enum {
    FEW_TRANSACTIONS = 1000, /* below that, the fewer keys */
    FEW_KEYS = 16,           /* so that most are put more than once */
    MANY_KEYS = 1000,
    KEY_STRIDE = 5, /* between the keys of a transaction; shares no factor that makes two equal */
    DELETE_EVERY = 3,
    VALUE_LEAST = 30,
    VALUE_SPREAD = 300,
    BIG_EVERY = 8, /* a transaction's first value takes more than a block */
    BIG_LEAST = 4500,
    HEADER = 24, /* of a value: which transaction put it, and where */
    STATUS_WRONG = 1,
    STATUS_USAGE = 2,
    STATUS_RECOVERY = 99, /* recovery itself failed */
};

/* Where a store stands: for each key the transaction that last put it, 0: it is not there. */
struct ledger {
    unsigned keys;
    unsigned *from;
    unsigned last; /* the largest of them */
    bool wrong;    /* something was seen that no transaction put */
};

bool ledger_complain(const char *name, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", name, what, why ? why : "unknown error");
    return false;
}

/* ---- what was to be done ---- */

static uint32_t scatter(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x45d9f3bu;
    x = (x ^ (x >> 16)) * 0x45d9f3bu;
    return x ^ (x >> 16);
}

static unsigned keys_of(unsigned transactions)
{
    return transactions < FEW_TRANSACTIONS ? FEW_KEYS : MANY_KEYS;
}

static size_t make_value(unsigned number, unsigned key, bool big, char *value)
{
    uint32_t chance = scatter(number * 31 + key);
    size_t size = (big ? BIG_LEAST : VALUE_LEAST) + chance % VALUE_SPREAD;
    memset(value, 'a' + (int)(chance % 26), size);
    int n = snprintf(value, HEADER, "%010u.%06u.", number, key);
    value[n] = 'a';
    return size;
}

static void make_transaction(unsigned number, unsigned keys, struct transaction *t)
{
    unsigned first = scatter(number) % keys;
    t->number = number;
    t->count = 2 + number % (LEDGER_CHANGES - 1);
    for (unsigned i = 0; i < t->count; i++) {
        struct change *c = &t->changes[i];
        bool deletes = i > 0 && i == t->count - 1 && number % DELETE_EVERY == 0;
        c->key = (first + i * KEY_STRIDE) % keys;
        snprintf(c->name, sizeof c->name, "key%06u", c->key);
        c->size =
            deletes ? 0 : make_value(number, c->key, i == 0 && number % BIG_EVERY == 0, c->value);
    }
}

static void ledger_new(struct ledger *l, unsigned keys)
{
    *l = (struct ledger){.keys = keys, .from = calloc(keys, sizeof *l->from)};
    if (!l->from)
        abort();
}

/* As it is after that many transactions. */
static void ledger_stand(struct ledger *l, unsigned keys, unsigned number)
{
    static struct transaction t;

    ledger_new(l, keys);
    l->last = number;
    for (unsigned i = 1; i <= number; i++) {
        make_transaction(i, keys, &t);
        for (unsigned c = 0; c < t.count; c++)
            l->from[t.changes[c].key] = t.changes[c].size ? i : 0;
    }
}

/* ---- what is there ---- */

void ledger_saw(struct ledger *l, const char *name, size_t name_size, const char *value,
                size_t value_size)
{
    static struct transaction t;
    char header[HEADER + 1] = ""; /* with an end, which the store's own memory need not have */
    unsigned number, key;

    memcpy(header, value, value_size < HEADER ? value_size : HEADER);
    if (name_size == strlen("key000000") && sscanf(header, "%10u.%6u.", &number, &key) == 2 &&
        number && key < l->keys) {
        make_transaction(number, l->keys, &t);
        for (unsigned i = 0; i < t.count; i++) {
            const struct change *c = &t.changes[i];
            if (c->key == key && c->size == value_size && !memcmp(c->value, value, value_size) &&
                !memcmp(c->name, name, name_size)) {
                l->from[key] = number;
                l->last = number > l->last ? number : l->last;
                return;
            }
        }
    }
    l->wrong = true;
    fprintf(stderr, "%.*s has a value that was never put\n", (int)name_size, name);
}

/* Exactly as after some transaction; last says after which. */
static bool ledger_whole(const struct ledger *l)
{
    struct ledger want;
    unsigned differ = 0;

    ledger_stand(&want, l->keys, l->last);
    for (unsigned k = 0; k < l->keys; k++) {
        if (l->from[k] == want.from[k])
            continue;
        if (!differ++)
            fprintf(stderr, "transaction %u is there, but key %u is of transaction %u, not %u\n",
                    l->last, k, l->from[k], want.from[k]);
    }
    free(want.from);
    return !differ && !l->wrong;
}

/* Nothing is missing of the first `number` transactions: each key is as they left it, or as a later
 * one did. */
static bool ledger_has(const struct ledger *l, unsigned number)
{
    struct ledger want;
    unsigned missing = 0;

    ledger_stand(&want, l->keys, number);
    for (unsigned k = 0; k < l->keys; k++) {
        struct ledger now = {0};
        if (l->from[k] == want.from[k] || l->from[k] > number)
            continue;
        /* Not there, or an older value: right only where a later one that is there deleted it. */
        if (l->last > number && !l->from[k]) {
            ledger_stand(&now, l->keys, l->last);
            bool deleted = !now.from[k];
            free(now.from);
            if (deleted)
                continue;
        }
        if (!missing++)
            fprintf(stderr,
                    "transaction %u was acknowledged, but key %u is of transaction %u, not %u\n",
                    number, k, l->from[k], want.from[k]);
    }
    free(want.from);
    return !missing;
}

/* ---- the commands ---- */

struct task {
    const struct system *system;
    int setting;
    unsigned transactions;
    const char *dir;
};

static int setup(const struct task *task)
{
    const struct system *s = task->system;
    void *store = s->open(task->dir, task->setting, task->transactions);

    if (!store)
        return STATUS_WRONG;
    s->close(store);
    return 0;
}

static int workload(const struct task *task)
{
    static struct transaction t;
    const struct system *s = task->system;
    unsigned keys = keys_of(task->transactions), acknowledged = 0;
    void *store = s->open(task->dir, task->setting, task->transactions);

    if (!store)
        return STATUS_WRONG;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (unsigned i = 1; i <= task->transactions; i++) {
        make_transaction(i, keys, &t);
        if (!s->commit(store, &t))
            return STATUS_WRONG;
        unsigned upto = s->after ? s->after(&store, i) : i;
        if (!store)
            return STATUS_WRONG;
        if (upto > acknowledged)
            printf("committed %u\n", acknowledged = upto);
    }
    s->close(store);
    return 0;
}

/* What a store has; false when it cannot be read. */
static bool look(const struct task *task, void *store, struct ledger *l)
{
    ledger_new(l, keys_of(task->transactions));
    bool read = task->system->read(store, l);
    if (!read)
        free(l->from);
    return read;
}

/* The next transaction can be done, and is all that changes. */
static bool goes_on(const struct task *task, unsigned number)
{
    static struct transaction t;
    struct ledger l;
    const struct system *s = task->system;
    void *store = s->open(task->dir, task->setting, task->transactions);

    make_transaction(number + 1, keys_of(task->transactions), &t);
    if (!store || !s->commit(store, &t))
        return ledger_complain(s->name, "recovered", "it takes no further transaction");
    s->close(store);
    store = s->open(task->dir, task->setting, task->transactions);
    if (!store || !look(task, store, &l))
        return ledger_complain(s->name, "recovered", "a further transaction damages it");
    s->close(store);
    bool right = l.last == number + 1 && ledger_whole(&l);
    free(l.from);
    return right || ledger_complain(s->name, "recovered", "a further transaction comes out wrong");
}

static int integrity(const struct task *task)
{
    struct ledger l;
    const struct system *s = task->system;
    void *store = s->open(task->dir, task->setting, task->transactions);

    if (!store || !look(task, store, &l))
        return STATUS_RECOVERY;
    s->close(store);
    bool right = ledger_whole(&l) && goes_on(task, l.last);
    free(l.from);
    return right ? 0 : STATUS_WRONG;
}

/* The last transaction that had been acknowledged when the power failed. */
static unsigned promised(void)
{
    const char *path = getenv("FLOTSAM_STDOUT");
    FILE *f = path ? fopen(path, "r") : NULL;
    unsigned number, last = 0;

    while (f && fscanf(f, "committed %u\n", &number) == 1)
        last = number;
    if (f)
        fclose(f);
    return last;
}

static int durability(const struct task *task)
{
    struct ledger l;
    const struct system *s = task->system;
    unsigned last = promised();

    if (!last)
        return 0;
    void *store = s->open(task->dir, task->setting, task->transactions);
    if (!store || !look(task, store, &l))
        return STATUS_WRONG; /* whatever the reason, what was acknowledged is not there */
    s->close(store);
    bool right = ledger_has(&l, last);
    free(l.from);
    return right ? 0 : STATUS_WRONG;
}

static int usage(const struct system *s)
{
    fprintf(stderr,
            "usage: %s setup|workload|integrity|durability SETTING TRANSACTIONS DIR\nsettings:",
            s->name);
    for (int i = 0; s->settings[i]; i++)
        fprintf(stderr, " %s", s->settings[i]);
    fputc('\n', stderr);
    return STATUS_USAGE;
}

int ledger_main(const struct system *s, int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const struct task *task);
    } commands[] = {{"setup", setup},
                    {"workload", workload},
                    {"integrity", integrity},
                    {"durability", durability}};
    struct task task = {.system = s};

    if (argc != 5)
        return usage(s);
    while (s->settings[task.setting] && strcmp(s->settings[task.setting], argv[2]) != 0)
        task.setting++;
    task.transactions = (unsigned)strtoul(argv[3], NULL, 10);
    task.dir = argv[4];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(commands[i].name, argv[1]) && s->settings[task.setting] && task.transactions)
            return commands[i].run(&task);
    return usage(s);
}
