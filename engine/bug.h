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

/* A sync that would mend a bug, each time that the mistake was made. */
struct bug_fix {
    struct fix *at; /* by event; none when no sync mends it */
    size_t n;
    uint64_t before; /* the event that comes too early: the first one's */
    bool verified;   /* the states were checked again with it: */
    uint64_t states; /* so many, */
    uint64_t gone;   /* of which so many cannot come about any more, or are consistent then */
};

struct bug {
    uint32_t id; /* from 1 */
    enum bug_kind kind;
    uint64_t cause;    /* what its calls are and how they are reached: the same in another check */
    uint32_t survived; /* the op that should not be there; NO_OP when it is an acknowledgement */
    uint64_t told;     /* that acknowledgement's event, else 0 */
    uint32_t *lost;    /* what it lacks: the ops that nothing else lost comes before, ascending; or,
                          when nothing before it is lost, what a crash cut off the same call */
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
    bool repeated, differs; /* the checker was run on that state once more, and said otherwise */
    char *summary;          /* one line */
    char *rule;             /* why the model allows it */
    char *fix;              /* which sync, and where */
    struct bug_fix proposal;
};

struct bugs {
    struct bug *at;
    size_t n;
    uint64_t unexplained; /* states that did not fail again when they were shrunk */
    uint32_t *of_state;   /* for each state of the exploration: its bug's id, or 0 */
    size_t state_count;
    struct bug_occurrence { /* each time that a mistake was found, and where else it is made */
        uint32_t bug;       /* its id */
        uint32_t lost;      /* the first op that is lost; NO_OP when none is */
        uint32_t survived;  /* as in struct bug */
        uint64_t told;
    } * occurrences;
    size_t occurrence_count;
};

/* Finds causes state by state: what it finds depends on the order of the states alone, not on when
 * they are handed to it. */
struct bug_finder;
struct bug_finder *bug_finder_new(struct exploration *x, struct analysis *a);

/* The next state of the exploration, whose verdict must be known; a consistent one is fine. *fresh,
 * when it is given, is the bug that shows first in this state, valid until the next call, or
 * NULL. */
bool bug_finder_take(struct bug_finder *f, const struct explored *state, const struct bug **fresh,
                     struct error *e);

/* What was found; frees the finder, also when it fails. */
bool bug_finder_finish(struct bug_finder *f, struct bugs **out, struct error *e);
void bug_finder_free(struct bug_finder *f);

/* Finds the causes of all inconsistent states of an exploration that has run. */
bool bugs_find(struct bugs **out, struct exploration *x, struct analysis *a, struct error *e);
void bugs_free(struct bugs *b);

/* Has the checker run on each bug's state once more. One that answers otherwise looks at more than
 * the state. An interruption leaves the rest as it is. */
bool bugs_repeat(struct bugs *bugs, struct exploration *x, struct analysis *a, struct error *e);

/* bug_fix.c: has each bug's proposed sync pretended and the bug's states checked again with it; of
 * several syncs that may do, the cheapest that mends all of them is proposed from then on. Each one
 * costs a graph. An interruption leaves the rest unverified. */
bool bugs_verify(struct bugs *bugs, struct exploration *x, struct analysis *a, struct error *e);

#endif
