/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * expected: what a litmus file says in its comments of the states that it leaves:
 *
 *     #! files a b                   only these names are looked at
 *     #! MODEL seen STATE | STATE    seen on a real kernel; MODEL may have switches: ext4,name=no
 *     #! MODEL extra STATE: reason   the model allows it too, and why that is right
 *
 * Every file speaks of ext4, xfs and btrfs. When it says nothing of one of them with switches,
 * these allow nothing new, and what it says without them holds.
 *
 * When the program prints, states that can be left after that are meant: what a sync that had
 * returned promises. What may be left only before is held against real kernels, too:
 *
 *     #! MODEL before: reason        why some of that need not be seen
 */
#ifndef TESTS_KERNEL_EXPECTED_H
#define TESTS_KERNEL_EXPECTED_H

#include "engine/error.h"
#include "engine/model.h"
#include "engine/vec.h"

struct expected_state {
    char *model;
    char *state;  /* NULL: all that may be left only before something is printed */
    char *reason; /* NULL when it was seen */
    bool found;   /* for the caller */
};

struct expected {
    char *files; /* NULL for all */
    vec_of(struct expected_state) states;
};

/* All of a file; the caller frees it. */
bool expected_read_text(const char *path, char **out, struct error *e);

/* text: the litmus file; path: for messages. */
bool expected_read(struct expected *x, const char *text, const char *path, struct error *e);
void expected_free(struct expected *x);

bool expected_speaks_of(const struct expected *x, const char *model);

/* The state without names that do not matter; the caller frees it. */
char *expected_files(const struct expected *x, const char *state);

/* "ext4,auto_da_alloc=no" */
bool expected_model(const char *words, struct model *out, struct error *e);

#endif
