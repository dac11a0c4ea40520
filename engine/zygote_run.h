/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * zygote_run: inside the zygote, one run of the checker: mount, start, watch, kill, unmount,
 * empty. Nothing here allocates. For zygote.c only.
 */
#ifndef ENGINE_ZYGOTE_RUN_H
#define ENGINE_ZYGOTE_RUN_H

#include <stdbool.h>

#include "engine/zygote.h"

enum {
    /* For what the checker's process does before it executes the checker. */
    ZYGOTE_CHILD_STACK = 64 * 1024,
    /* What comes out of a pipe at once: as much as it holds. */
    ZYGOTE_DISCARD = 64 * 1024,
};

/* The process, as long as it lives. */
struct zygote_life {
    const struct zygote_plan *plan;
    int socket;
    int worker;          /* the worker's folder */
    int lower;           /* the crash state in it */
    int scratch;         /* the file system for what checkers write */
    int tmp;             /* what they have as TMPDIR */
    const char *options; /* of the overlay */
    pid_t checker;       /* while one runs: also the leader of its process group */
    bool links;          /* the overlay keeps the names of one file together */
    bool mounted;        /* the state is to be seen */
    bool stopping;       /* flotsam is gone, or has said so */
    _Alignas(16) char child_stack[ZYGOTE_CHILD_STACK];
    char discard[ZYGOTE_DISCARD];
};

/* Shows the crash state at the plan's dir, with a fresh layer for writes. NULL, or what failed
 * with errno; zygote_unmount is due in both cases. */
const char *zygote_mount(struct zygote_life *z, const struct zygote_request *request);

/* After a mount for hard links: whether the overlay can keep names of one file together. */
bool zygote_has_index(const struct zygote_life *z);

/* Takes the state away and empties the layer. False: something is left. */
bool zygote_unmount(struct zygote_life *z);

void zygote_run(struct zygote_life *z, const struct zygote_request *request,
                struct zygote_reply *reply);

/* Ends every process that checkers have left, and reaps them. */
void zygote_kill_all(struct zygote_life *z);

#endif
