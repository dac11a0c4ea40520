/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ledger: what the evaluated systems are given to keep, and whether they kept it. All get the same
 * numbered transactions; each puts a few keys and sometimes deletes one, and what it puts says
 * which transaction put it. So the contents of a store, whatever it is, tell after which
 * transaction it stands, and what must be there then.
 *
 * integrity   the store opens, passes its own check, stands exactly where it was after some
 *             transaction, 0 (nothing yet) included, and goes on from there
 * durability  nothing is missing of the transactions up to the last that was acknowledged
 *
 * A program for one system implements struct system and leaves main() to ledger_main:
 *
 *     NAME setup SETTING TRANSACTIONS DIR                     makes an empty store
 *     NAME workload SETTING TRANSACTIONS DIR
 *     NAME integrity|durability SETTING TRANSACTIONS DIR      the checkers of its crash states
 */
#ifndef EVAL_LEDGER_H
#define EVAL_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

enum {
    LEDGER_CHANGES = 4,   /* of a transaction at most */
    LEDGER_VALUE = 6000,  /* bytes of a value at most: some take more than a block */
    LEDGER_KEY_NAME = 16, /* bytes of a key's name, with its end */
};

struct change {
    unsigned key;
    char name[LEDGER_KEY_NAME];
    size_t size; /* 0: the key is deleted */
    char value[LEDGER_VALUE];
};

struct transaction {
    unsigned number; /* from 1 */
    unsigned count;
    struct change changes[LEDGER_CHANGES];
};

struct ledger;

/* Tells the ledger what the store has; name need not end with 0. */
void ledger_saw(struct ledger *l, const char *name, size_t name_size, const char *value,
                size_t value_size);

struct system {
    const char *name;
    const char *const *settings; /* ends with NULL */
    /* The store of that setting (an index) in dir, made if need be; NULL: said why. */
    void *(*open)(const char *dir, int setting, unsigned transactions);
    /* One transaction, all or nothing. False: said why. */
    bool (*commit)(void *store, const struct transaction *t);
    /* What else the setting does after that many transactions, reopening included; returns up to
     * which transaction the store may be held to its promise of durability. NULL: to all. */
    unsigned (*after)(void **store, unsigned number);
    /* Tells all contents by ledger_saw, after the system's own check. False: said why. */
    bool (*read)(void *store, struct ledger *l);
    void (*close)(void *store);
};

int ledger_main(const struct system *s, int argc, char **argv);

/* "NAME: WHAT: WHY" on standard error; always false. */
bool ledger_complain(const char *name, const char *what, const char *why);

#endif
