/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * start: brings a program to its first instruction under ptrace and the filter, with nothing else
 * about it changed: same process group, terminal, descriptors, signals and limits.
 */
#ifndef TRACER_START_H
#define TRACER_START_H

#include <sys/types.h>

#include "tracer/filter.h"

struct started {
    pid_t pid;
    int failure_fd; /* readable when exec failed: an errno; closed by a successful exec */
};

/* Forks, seizes the child with `options` of PTRACE_SETOPTIONS and lets it go on to exec. mark is
 * what FLOTSAM_MARK shall say. */
bool start_program(char **argv, const char *mark, const struct filter *filter, long options,
                   struct started *out, struct error *e);

/* Why exec failed, 0 when it did not. Asked once the child has executed or ended. */
int start_failure(const struct started *started);

/* The file that a command name means, by $PATH; NULL with an error that says what to do. The
 * caller frees it. Refuses what cannot be recorded: 32-bit programs. */
char *start_find_program(const char *name, struct error *e);

/* False when the file is an ELF program of another kind than 64-bit x86. */
bool start_is_native(const char *path);

#endif
