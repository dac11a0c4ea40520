/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What explore.c (going through states), explore_units.c (which ones) and explore_prove.c (whether
 * the checker can be run) share.
 */
#ifndef ENGINE_EXPLORE_INSIDE_H
#define ENGINE_EXPLORE_INSIDE_H

#include "engine/environment.h"
#include "engine/explore.h"
#include "engine/group.h"
#include "engine/ideal.h"
#include "engine/map.h"
#include "engine/pool.h"
#include "engine/scene.h"
#include "engine/vec.h"

/* Something whose ideals are gone through: a behaviour with its environment, or the whole trace. */
struct unit {
    uint32_t behaviour; /* NO_BEHAVIOUR: the whole trace */
    uint32_t group;
    uint32_t ops; /* own ones, for the order of units */
    uint32_t first_op;
    bool done; /* no ideals left on this or a higher level */
};

/* What is kept only if the checker turns out to be one that can be run. */
struct held_verdict {
    struct verdict_key key;
    struct verdict verdict;
};

struct exploration {
    struct analysis *analysis;
    struct explore_options options;
    struct explore_counts counts;
    struct state_source source;
    struct stepper *stepper;
    struct told *told;
    struct verdicts *verdicts;
    struct pool *pool;
    vec_of(struct scene *) scenes;
    struct environments *environments;
    struct groups *groups;
    vec_of(struct unit) units;
    struct map seen; /* struct verdict_key → place in states, plus 1; 0: met when shrinking */
    vec_of(struct explored) states;
    size_t running;      /* checkers */
    size_t next_settled; /* states before this one have been handed on */
    uint64_t tests;      /* checkers run for exploration_test so far: see test_ticket */
    char *checker;       /* the command and the files that it names: see checker_identity */
    uint64_t left_out;   /* ops of environments beyond the limit */
    bool may_link;       /* some state may have a file with several names */
    bool stop;
    bool proven; /* the checker can be run; until then verdicts that do not look so are held */
    vec_of(struct held_verdict) held;
};

/* explore.c: a copy with lost ops of its own, which the caller frees. */
struct schedule exploration_keep(const struct schedule *s);

/* explore.c: one schedule: goes there, and has it checked when it is new. False on failure. */
bool exploration_visit(struct exploration *x, const struct schedule *s, const struct unit *unit,
                       struct error *e);
/* Waits for all checkers. */
bool exploration_drain(struct exploration *x, struct error *e);
/* Whether the budget or the person ends it. */
bool exploration_ended(struct exploration *x);

/* explore_prove.c: whether a verdict may be no verdict, but a checker that cannot be run. */
bool exploration_says_nothing(const struct exploration *x, const struct verdict *v);
/* Keeps it for the session, or holds it until that is known. */
bool exploration_keep_verdict(struct exploration *x, const struct verdict_key *key,
                              const struct verdict *v, struct error *e);
void exploration_drop_held(struct exploration *x);
/* To be asked before a state is handed on; may have the checker run, and moves the stepper then.
 * False when the checker cannot be run. */
bool exploration_prove(struct exploration *x, struct error *e);

/* explore_units.c: everything that the strategy asks for. */
bool exploration_units(struct exploration *x, struct error *e);
/* Counts what the whole trace allows. */
void exploration_count_possible(struct exploration *x);

#endif
