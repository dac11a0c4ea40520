/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * backend: one way of watching a program. Adding one is a file with a struct backend and a line in
 * the table of record.c.
 */
#ifndef TRACER_BACKEND_H
#define TRACER_BACKEND_H

#include "tracer/files.h"
#include "tracer/record.h"

struct backend {
    const char *name;
    const char *summary;
    /* Whether all that it needs is there; e says what is not. */
    bool (*ready)(struct error *e);
    /* Runs options->argv to its end and puts what it does into the recording. False when the
     * program could not be started or followed. */
    bool (*run)(const struct record_options *options, struct recording *recording,
                struct files *files, struct record_result *result, struct error *e);
};

extern const struct backend backend_ptrace;
extern const struct backend backend_valgrind;

/* ptrace.c: what both do. */
struct trace_setup {
    const struct record_options *options;
    char **argv; /* what is executed */
    bool stores; /* it is a tracer of stores that runs options->argv: tracer/guest.h */
};
bool trace_program(const struct trace_setup *setup, struct recording *recording,
                   struct files *files, struct record_result *result, struct error *e);

#endif
