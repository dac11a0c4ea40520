/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * levelhash: a hash table of two levels in persistent memory, without a log. It is one file,
 * `table`, of zeros at first; each key may lie in two buckets of either level. A bucket says in one
 * word which of its slots are in use, a bit each, and recovery believes it.
 */
#ifndef LEVELHASH_H
#define LEVELHASH_H

#include "mapped.h"

enum { SLOTS = 3, LEVELS = 2, TOP = 4 };

struct entry {
    uint64_t key; /* from 1 */
    uint64_t value;
};

struct bucket {
    _Alignas(LINE) uint64_t tokens; /* bit i: slot i is in use */
    _Alignas(LINE) struct entry slot[SLOTS];
};

struct table {
    struct bucket top[TOP];
    struct bucket bottom[TOP / LEVELS];
};

/* The table in dir, mapped; NULL with a message. */
struct table *level_open(const char *dir);
void level_close(struct table *t);

/* Adds a key that is not there; durable when it returns true, false when there is no room. */
bool level_insert(struct table *t, uint64_t key, uint64_t value);

/* Gives a key another value, by way of another slot of its bucket. False when the key is not there
 * or the bucket is full. */
bool level_update(struct table *t, uint64_t key, uint64_t value);

/* Reads all values, 0 for keys from 1 to KEYS that are not there; false with a message when the
 * table makes no sense. */
bool level_read(const struct table *t, int32_t values[KEYS]);

#endif
