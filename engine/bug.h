/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bug: inconsistent states with one root cause. Each inconsistent state is shrunk with the checker
 * in the loop: to the first op or acknowledgement at which it is inconsistent, and then to as few
 * lost ops as possible. What is left is the culprit: what survived, and what it should not have
 * survived without. Culprits that the same calls make, by the same way from the function that they
 * have in common, are one bug with a count.
 */
#ifndef ENGINE_BUG_H
#define ENGINE_BUG_H

#include "engine/explore.h"

enum bug_kind { BUG_ORDERING = 1, BUG_ATOMICITY, BUG_UNPERSISTED, BUG_RECOVERY };

const char *bug_kind_name(enum bug_kind kind);

struct bug {
    uint32_t id; /* from 1 */
    enum bug_kind kind;
    uint32_t survived; /* the op that should not be there; NO_OP when it is an acknowledgement */
    uint64_t told;     /* that acknowledgement's event, else 0 */
    uint32_t *lost;    /* what it lacks: the ops that nothing else lost comes before; ascending */
    size_t lost_count;
    uint64_t states;    /* distinct inconsistent states that it explains */
    uint32_t behaviour; /* of the state that showed it; NO_BEHAVIOUR */
    uint32_t group;
    /* To make the state again: all ops up to last but these survived, and what had been told before
     * the position. */
    uint32_t last;
    uint32_t *all_lost;
    size_t all_lost_count;
    uint64_t told_until;
    struct verdict verdict;
    char *summary; /* one line */
    char *rule;    /* why the model allows it */
    char *fix;     /* which sync, and where */
};

struct bugs {
    struct bug *at;
    size_t n;
    uint64_t unexplained; /* states that did not fail again when they were shrunk */
};

/* Finds the causes of all inconsistent states of an exploration that has run. */
bool bugs_find(struct bugs **out, struct exploration *x, struct analysis *a, struct error *e);
void bugs_free(struct bugs *b);

#endif
