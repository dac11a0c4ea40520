/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * zygote: the small process beside flotsam that starts a worker's checkers, one at a time, each on
 * the crash state that lies in the worker's folder. It lives in a mount and a process namespace of
 * its own, where that is allowed: an overlay over the crash state appears at the program's own
 * path and takes all that the checker writes, and nothing that the checker starts outlives the
 * run. engine/pool.h is its only user.
 *
 * Folders, made by the pool:
 *
 *     TOP/WORKER/lower      the crash state
 *     TOP/WORKER/about      what the checker may read besides; appears at TOP in the namespace,
 *                           read-only, and so hides the crash states of all workers; but for
 *     TOP/WORKER/about/tmp  the checker's TMPDIR, empty at the beginning of each run
 *     TOP/WORKER/copy       where an overlay does not do: the copy that the checker works on
 *
 * The process ends when its socket does, so that nothing is left of a flotsam that was killed: it
 * kills what runs, unmounts, and removes the pool's folder. (A parent-death signal would be
 * tied to the thread that made it, and could not clean up.) It never allocates: flotsam may have
 * several threads, and what their locks are like in the copy is not known.
 */
#ifndef ENGINE_ZYGOTE_H
#define ENGINE_ZYGOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/error.h"
#include "engine/pool.h"

/* What does not change from run to run. It must stay until zygote_start returns; the process has
 * its own copy, apart from output. */
struct zygote_plan {
    enum pool_way way;        /* not POOL_AUTO */
    const char *top, *worker; /* absolute paths */
    const char *dir;          /* where the state appears */
    const char *made;         /* a path of which flotsam made */
    unsigned made_parts;      /* that many of the last components */
    const char *folder;       /* the checker's working directory */
    const char *path;         /* what to execute */
    char *const *argv;
    char *const *environment;
    char *crash_event; /* "FLOTSAM_CRASH_EVENT=…" in environment, with room for a number */
    size_t crash_event_size;
    double timeout;                                     /* seconds; 0: none */
    uint64_t memory_limit, file_size_limit, disk_limit; /* bytes; 0: none */
    char *output;                                       /* shared memory of output_limit bytes */
    size_t output_limit;
    _Atomic uint64_t *kept; /* shared too: how many of them the checker that runs has filled */
};

enum { ZYGOTE_WHAT_MAX = 96 };

struct zygote_request {
    uint64_t crash_event;
    bool hard_links; /* the state has files with several names */
    bool copied;     /* show the copy and not the state itself */
    bool stop;       /* run nothing, end */
};

struct zygote_reply {
    int error;                  /* an errno: the checker was not run */
    char what[ZYGOTE_WHAT_MAX]; /* that failed then */
    int status;                 /* as of waitpid */
    bool timed_out;
    bool links; /* in the first one */
    bool worn;  /* something could not be put right: start another zygote */
    double seconds;
    double own_cpu,
        checker_cpu;        /* seconds: of the zygote for this run, and of all that ran in it */
    uint64_t kept, printed; /* bytes of output */
};

struct zygote {
    enum pool_way way;
    bool links; /* an overlay keeps the names of one file together; else use a copy */
    pid_t pid;
    int socket; /* −1: not running. Replies arrive here, one per request */
};

/* Returns when the process is ready, or cannot be: an error that says why this way is closed. */
bool zygote_start(struct zygote *z, const struct zygote_plan *plan, struct error *e);

/* False when the process is gone. */
bool zygote_send(struct zygote *z, const struct zygote_request *request);
bool zygote_receive(struct zygote *z, struct zygote_reply *reply);

/* Kills what runs and waits until all of it is gone. The worker's folder stays. */
void zygote_stop(struct zygote *z);

#endif
