/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lsm: a log-structured merge tree of numbers, as small as one can be. A store is a folder:
 *
 *     log        puts that are in no table yet, appended and synced one by one
 *     table-N    what a flush or a compaction wrote, once and for all
 *     MANIFEST   versions, appended: which tables count, oldest first, and which puts they hold
 *
 * Recovery takes the last sound version, reads its tables, then plays the puts of the log that are
 * newer. A background thread flushes and compacts; whoever puts waits for it.
 */
#ifndef LSM_H
#define LSM_H

#include <pthread.h>

#include "target.h"

enum { TABLES = 4 };

struct lsm_version {
    uint32_t check;    /* of the rest */
    uint32_t sequence; /* the newest put that the tables hold */
    uint32_t next;     /* the number of the next table */
    uint32_t count;    /* tables */
    uint32_t tables[TABLES];
};

struct lsm {
    const char *dir;
    int log, manifest; /* descriptors */
    int logged;        /* puts since the last flush */
    uint32_t sequence;
    struct lsm_version version;
    int32_t values[KEYS]; /* 0: absent */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum { LSM_IDLE, LSM_WANTED, LSM_FAILED, LSM_CLOSING } work;
};

/* Opens the store in dir, making it when there is none; starts its thread. */
bool lsm_open(struct lsm *l, const char *dir);

/* Durable when it returns true. */
bool lsm_put(struct lsm *l, int key, int32_t value);
void lsm_close(struct lsm *l);

/* Reads without changing anything; false with a message when a table is missing or damaged. */
bool lsm_read(struct lsm *l, const char *dir);

#endif
