/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * record: one run of a program into one session file. Captures the data directory as it is, starts
 * the program under a backend, waits for it and everything it started, and completes the session
 * with symbols and sources.
 */
#ifndef TRACER_RECORD_H
#define TRACER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"

struct record_options {
    const char *session; /* the file to make */
    const char *dir;     /* the data directory, which must exist */
    const char *backend; /* a name from the table of backends, or "auto" */
    char **argv;         /* the program and its arguments, NULL at the end */
    /* Tells a person what is going on, one sentence at a time: what a trace of the program lacks
     * and what helps, whom the recording waits for. */
    void (*say)(const char *text);
    bool loads;         /* valgrind: tell of loads from mapped files too */
    bool plain_stores;  /* valgrind: stores without their stacks, which take most of the time */
    bool verify_stacks; /* hold every stack against libdw's own unwinder: slow, for tests */
};

struct record_result {
    uint64_t events;
    size_t carried;      /* bugs of which the session that was replaced said something */
    int status;          /* how the program ended, as wait() gives it */
    bool interrupted;    /* flotsam was told to stop, and ended the program */
    uint64_t mappings;   /* shared writable mappings of the data directory */
    uint64_t streamed;     /* bytes from the store tracer */
    uint64_t stores;     /* to those, where the backend sees them */
    bool stores_missing; /* there were such mappings, and the backend does not see stores */
    uint64_t unseen;     /* calls of processes that we may not look into */
    uint64_t stacks_same, stacks_different; /* with verify_stacks */
    char difference[512];                   /* the first difference, in words */
};

/* True when the recording is complete, whatever the program's own status. When it is false and
 * result->events is not 0, the session holds what was recorded up to the failure. */
bool record_run(const struct record_options *options, struct record_result *result,
                struct error *e);

/* The command that records the same again with the store tracer, as a shell takes it; the caller
 * frees it. NULL when there is no store tracer; e says why. */
char *record_stores_command(const struct record_options *options, struct error *e);

/* How a program ended, in words: "exited with status 3", "was killed by signal 11
 * (Segmentation fault)". */
void record_status_text(int status, char *text, int size);

#endif
