/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * wal: a table of numbers with a write-ahead log. A store is a folder:
 *
 *     table   the value of each key at the last checkpoint, overwritten in place
 *     log     puts since then, appended and synced one by one; empty after a checkpoint
 *
 * Recovery reads the table, then plays the sound records of the log. Playing one that the table
 * has already taken in changes nothing.
 */
#ifndef WAL_H
#define WAL_H

#include "target.h"

struct wal {
    const char *dir;
    int log, table; /* descriptors */
    int logged;     /* records in the log */
    uint32_t sequence;
    int32_t values[KEYS]; /* 0: absent */
};

/* Recovers the store in dir, without changing anything. */
void wal_read(struct wal *w, const char *dir);

/* Recovers it, or makes it, to work with. */
bool wal_open(struct wal *w, const char *dir);

/* Durable when it returns true. */
bool wal_put(struct wal *w, int key, int32_t value);
void wal_close(struct wal *w);

#endif
