/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pool_store: the folder that a checker pool keeps its crash states in, in memory where there is
 * room. It is locked as long as the pool lives; folders that nobody has locked are left from a
 * flotsam that was killed, and the next one removes them.
 */
#ifndef ENGINE_POOL_STORE_H
#define ENGINE_POOL_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/error.h"

struct pool_store {
    char *path; /* without symbolic links */
    int lock;   /* −1: there is none */
};

/* Makes a new folder in `work` (NULL: /dev/shm, $TMPDIR, /tmp, whichever is first writable with
 * `room` bytes), outside of `outside` (NULL: anywhere). */
bool pool_store_open(struct pool_store *s, const char *work, const char *outside, uint64_t room,
                     struct error *e);

/* Removes it. */
void pool_store_close(struct pool_store *s);

/* Makes the directory with its parents; *made says how many components were missing. */
bool pool_store_make(const char *path, unsigned *made);

/* Removes the last `made` components again, as far as they are empty. */
void pool_store_unmake(const char *path, unsigned made);

#endif
