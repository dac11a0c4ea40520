/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace_filter: which events of a trace to show. All conditions that are set must hold. Zero a
 * struct trace_filter for one that lets everything through.
 */
#ifndef VIEWS_TRACE_FILTER_H
#define VIEWS_TRACE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/map.h"
#include "engine/stream.h"
#include "engine/symbols.h"
#include "engine/vec.h"

struct trace_filter {
    const char *path;     /* glob over the paths of the file and the other file; without a slash
                             the last component may match too. NULL: any */
    const char *function; /* glob over every function of the stack; without :: the last component
                             may match too. NULL: any */
    uint32_t thread;      /* 0: any */
    uint64_t first, last; /* event numbers; 0: no limit */

    vec_of(uint16_t) calls;    /* enum call; with both empty any call passes */
    vec_of(uint16_t) syscalls; /* numbers on x86-64 */
    struct map stacks;         /* stack to 1 when function matched it, 2 when not */
};

/* Reads "write,rename,pwrite64": families (engine/stream.h) and system calls. A name that is both
 * means the family. An unknown name is an error with the nearest right one. */
bool trace_filter_calls(struct trace_filter *f, const char *list, struct error *e);

/* Reads "A..B", "A..", "..B" or "N". */
bool trace_filter_range(struct trace_filter *f, const char *text, struct error *e);

void trace_filter_free(struct trace_filter *f);

/* Whether an event passes. Cheap tests come first; the function's result is kept per stack. */
bool trace_filter_pass(struct trace_filter *f, struct session *s, struct symbols *sy,
                       uint64_t number, const struct event *event);

#endif
