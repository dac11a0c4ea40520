/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pool_store: the folder that a checker pool keeps its crash states in, in memory where there is
 * room. It is locked as long as the pool lives; folders that nobody has locked are left from a
 * flotsam that was killed, and the next one removes them.
 */
#ifndef ENGINE_POOL_STORE_H
#define ENGINE_POOL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"

struct pool_store {
    char *path; /* without symbolic links */
    int lock;   /* −1: there is none */
};

/* Makes a new folder in `work` (NULL: /dev/shm, $TMPDIR, /tmp, /var/tmp, whichever is the first
 * writable one with `room` bytes, or else with the most), outside of `outside` (NULL: anywhere). */
bool pool_store_open(struct pool_store *s, const char *work, const char *outside, uint64_t room,
                     struct error *e);

/* Which of n places it is by the bytes free in each, 0: it is none. n when none is one. */
size_t pool_store_best(const uint64_t *bytes, size_t n, uint64_t room);

/* Removes it. */
void pool_store_close(struct pool_store *s);

/* The place where a crash state appears, on the real file system. */
struct pool_place {
    char *path;    /* NULL: there is none */
    unsigned made; /* how many of its last components were missing */
    int hold;      /* a shared lock, −1: none needed */
};

/* Makes the directory with its parents. One that is empty is locked: were it removed by another
 * pool that had made it, the states that are mounted there would vanish. */
bool pool_place_open(struct pool_place *p, const char *path);

/* Removes what was made, as far as it is empty and nobody else's. */
void pool_place_close(struct pool_place *p);

#endif
