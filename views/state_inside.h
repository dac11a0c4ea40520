/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the parts of views/state.h share: state_names.c keeps the names of a state, state.c compares
 * those of two.
 */
#ifndef VIEWS_STATE_INSIDE_H
#define VIEWS_STATE_INSIDE_H

#include "engine/state.h"
#include "engine/vec.h"

/* One name in one of the states. */
struct named {
    const char *path;
    uint32_t file;
    enum file_kind kind;
    uint32_t mode;
    uint64_t size;
    const char *target;
};

/* The names of one state, in the order of a walk. There may be very many: their texts are kept in
 * blocks, so that forgetting them takes no time. */
struct names {
    vec_of(struct named) at;
    vec_of(char *) blocks;
    char *next;              /* where the last block goes on, */
    size_t room;             /* and what is left of it */
    struct state_tour *tour; /* while they are collected; NULL: not begun, or done */
    bool all;                /* they are */
};

void names_clear(struct names *n);
void names_free(struct names *n);

/* What is kept of it is copied. */
void names_add(struct names *n, struct named name);

/* Goes on until all names of a state are there, but for the data directory's own: true then. Else
 * the deadline has come; the state must be the same in the next slice, or the names be cleared. */
bool names_collect(struct names *n, struct state *s, uint64_t deadline);

/* O(log n). */
bool names_have(const struct names *n, const char *path);

#endif
