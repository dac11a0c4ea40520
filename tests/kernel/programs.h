/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * programs: random litmus programs, and the shortest that still does what one does.
 */
#ifndef TESTS_KERNEL_PROGRAMS_H
#define TESTS_KERNEL_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

struct programs_shape {
    unsigned least, most; /* calls */
    bool ranges;          /* fallocate may punch and zero, too */
};

/* Calls over two or three files, in the notation of litmus.h; the names are a, b, d and d/c,
 * offsets and sizes multiples of 1024. The caller frees it. */
char *programs_random(uint64_t seed, const struct programs_shape *shape);

/* Leaves out lines as long as `keeps` says that what matters is still there; the caller frees the
 * rest. */
char *programs_shrink(const char *program, bool (*keeps)(void *data, const char *program),
                      void *data);

#endif
