/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store: values in LMDB, one process at a time, with MDB_WRITEMAP. The file is LMDB's, `data.mdb`:
 * two meta pages, of which the one with the newer transaction counts, and copied pages.
 *
 * The fixed variant does without MDB_WRITEMAP: Debian's library stores the number of a transaction
 * into the mapped meta page before the last word of its root, so that from the third put on a page
 * that is written back between the two has a new number and an old root.
 */
#ifndef STORE_H
#define STORE_H

#include <lmdb.h>

#include "target.h"

struct store {
    MDB_env *env;
    MDB_dbi dbi;
};

/* Opens the store in dir, making it when there is none. */
bool store_open(struct store *s, const char *dir);
void store_close(struct store *s);

/* Gives a key from 0 to KEYS − 1 a value, in a transaction of its own; to be durable when it
 * returns true. */
bool store_put(struct store *s, int key, int32_t value);

/* Reads all values, 0 where there is none; false with a message when it cannot. */
bool store_read(struct store *s, int32_t values[KEYS]);

#endif
