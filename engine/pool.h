/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pool: runs checkers on crash states, several at a time.
 *
 * Each worker owns a folder, its lower, which the caller turns into a crash state while the worker
 * is idle. The checker sees the state at the program's own path, may do with it whatever it likes,
 * and none of that reaches the lower: writes go to an overlay that is thrown away. A run costs the
 * same whatever the size of the state.
 *
 *     while ((w = pool_idle(pool)) >= 0) {
 *         … change pool_lower(pool, w) …
 *         pool_run(pool, w, &input, &e);
 *     }
 *     while (pool_wait(pool, &verdict, -1))
 *         …
 *
 * Whatever a checker does stays its own affair: every process that it started is killed when it
 * ends, what it writes is limited, what it prints is cut. Without the privileges for an overlay
 * the same is done in a user namespace; where there is none either, the state is copied for each
 * run to a private folder, and a checker that kills its parent may leave processes behind.
 *
 * If flotsam is killed, mounts, processes and folders go with it (a folder of which no process
 * knows yet, with the next pool). Not for several threads. A pool is best made before much memory
 * is used: its processes begin as copies of this one.
 */
#ifndef ENGINE_POOL_H
#define ENGINE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"

enum pool_way {
    POOL_AUTO, /* the first of these that works */
    POOL_ROOT, /* an overlay in a mount namespace */
    POOL_USER, /* the same in a user namespace: directories cannot be renamed (EXDEV) */
    POOL_COPY, /* a copy per run, not at the program's own path */
};

struct pool_options {
    const char *command;      /* for the shell; {dir} stands for the data directory */
    const char *dir;          /* the program's data directory, absolute; NULL: a private folder */
    const char *folder;       /* where the checker runs; NULL: the working directory */
    int jobs;                 /* workers; 0: one per processor */
    double timeout;           /* seconds for one run; 0: no limit */
    uint64_t memory_limit;    /* address space of a process of the checker; 0: no limit */
    uint64_t file_size_limit; /* of one file that the checker writes; 0: no limit */
    uint64_t disk_limit;      /* of all that one run writes to the state; 0: a share of memory */
    size_t output_limit;      /* how much of the output is kept; 0: POOL_OUTPUT_LIMIT */
    uint64_t room;            /* bytes that one lower may need; decides where they lie */
    const char *work;         /* where the lowers lie; NULL: engine/pool_store.h chooses */
    enum pool_way way;        /* for tests and for people who know better */
};

enum { POOL_OUTPUT_LIMIT = 64 * 1024 };

/* What the checker is told of the crash. */
struct pool_input {
    const void *printed; /* FLOTSAM_STDOUT's contents */
    size_t printed_size;
    const char *markers; /* FLOTSAM_MARKERS' contents; NULL: none */
    uint64_t crash_event;
    bool hard_links; /* some file of the state has several names */
    uint64_t ticket; /* the caller's, returned with the verdict */
};

enum pool_outcome {
    POOL_CONSISTENT,
    POOL_INCONSISTENT, /* any exit status but 0 */
    POOL_CRASHED,      /* by a signal */
    POOL_HUNG,         /* the time limit */
    POOL_NOT_RUN,      /* output says why: the fault is not the state's */
};

struct pool_verdict {
    uint64_t ticket;
    int worker;
    enum pool_outcome outcome;
    int exit_status; /* −1 when there is none */
    int signal;      /* 0 when there is none */
    bool timed_out;
    double seconds;
    double own_cpu, checker_cpu; /* seconds: what the pool took for it, and the checker itself */
    const char *output; /* both streams; a NUL follows. Valid until the worker's next run */
    size_t output_size;
    uint64_t printed; /* bytes in all; when more than kept, output ends in "… N bytes more" */
};

struct pool;

/* Fails before anything is run when the checker does not exist. Makes dir when it is missing, for
 * as long as the pool lives. Copies the options. */
bool pool_new(struct pool **out, const struct pool_options *options, struct error *e);

/* Kills what runs, and removes every trace. NULL is fine. */
void pool_free(struct pool *p);

enum pool_way pool_way(const struct pool *p);

int pool_workers(const struct pool *p);

/* A worker without a running checker, or −1. */
int pool_idle(const struct pool *p);

/* The folder that becomes the state. Empty at first; only its contents and its mode, owner and
 * times are the caller's, and only while the worker is idle. */
const char *pool_lower(const struct pool *p, int worker);

/* Where the worker's checkers see the state: FLOTSAM_DIR. */
const char *pool_dir(const struct pool *p, int worker);

/* Starts the checker on an idle worker's state. An error is not the state's fault. */
bool pool_run(struct pool *p, int worker, const struct pool_input *input, struct error *e);

/* The next verdict; its worker is idle then. Waits for at most timeout_ms (−1: for ever). False
 * when nothing runs, the time is up, or a signal came. */
bool pool_wait(struct pool *p, struct pool_verdict *out, int timeout_ms);

/* What the worker's checker has printed so far, while it runs; how many bytes is returned. They
 * stay where they are, and more follow. */
size_t pool_output(const struct pool *p, int worker, const char **out);

#endif
