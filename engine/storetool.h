/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * storetool: where the tracer of stores is: a Valgrind tool that is built with flotsam
 * (tracer/valgrind), and Valgrind's own program that starts it.
 */
#ifndef ENGINE_STORETOOL_H
#define ENGINE_STORETOOL_H

#include <limits.h>
#include <stdbool.h>

#include "engine/error.h"

struct storetool {
    char folder[PATH_MAX];   /* what VALGRIND_LIB has to name */
    char launcher[PATH_MAX]; /* the program that starts the tool */
};

/* Beside the running program as it was built, or where make install puts it. False when one of the
 * two is missing; e says what to do, and out->launcher is "" when it is Valgrind. */
bool storetool_find(struct storetool *out, struct error *e);

#endif
