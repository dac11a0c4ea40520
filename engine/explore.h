/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * explore: goes through the crash states of a trace by a strategy, has each distinct one checked,
 * and keeps the verdicts.
 *
 * States are enumerated by levels, breadth first: the prefixes of every behaviour that is to be
 * tested, then those with one op lost, then two, …; in each level small behaviours come first, so
 * that a budget reaches as many as it can. The order depends on nothing but the trace and the
 * options: two explorations agree. A state whose image and acknowledgements were seen before is not
 * checked again.
 */
#ifndef ENGINE_EXPLORE_H
#define ENGINE_EXPLORE_H

#include "engine/analysis.h"
#include "engine/schedule.h"
#include "engine/told.h"
#include "engine/verdict.h"

/* What holds where nothing else is said: states to enumerate, and seconds for one checker. */
#define EXPLORE_BUDGET  10000
#define EXPLORE_TIMEOUT 30

/* Such a number as text, for tables of defaults and for help. */
#define EXPLORE_TEXT_OF(number) #number
#define EXPLORE_TEXT(number)    EXPLORE_TEXT_OF(number)

enum strategy {
    STRATEGY_REPRESENTATIVE, /* one behaviour of each group */
    STRATEGY_ALL_BEHAVIOURS, /* every behaviour */
    STRATEGY_EXHAUSTIVE,     /* every set of ops of the whole trace */
    STRATEGY_PREFIX,         /* whatever was issued up to some op */
    STRATEGY_SYNC,           /* the same at syncs only */
    STRATEGY_RANDOM,         /* seeded */
};

/* False with the known names in the error. */
bool strategy_find(const char *name, enum strategy *out, struct error *e);
const char *strategy_name(enum strategy s);

struct explore_counts {
    uint64_t enumerated, distinct;
    uint64_t tested;        /* checkers run */
    uint64_t reused;        /* verdicts that the session had already */
    uint64_t inconsistent;  /* distinct states */
    uint64_t shrinking;     /* distinct states besides that it took to find causes */
    double checker_seconds; /* summed over runs */
    double checker_cpu;     /* likewise, what the processors were kept busy */
    double pool_cpu;        /* and what it took to run them */
    uint64_t units;         /* behaviours that were to be tested */
    uint64_t expected;      /* how many states will be enumerated, as far as it is known; 0: not */
    /* Sets of ops that the whole trace allows, before equal images are told apart; 0: not counted,
     * the trace is too long. */
    uint64_t possible;
    bool possible_exact; /* else it is an upper bound */
    bool complete;       /* nothing was cut short */
    bool stopped;        /* progress() said so */
    char cut[240];       /* what was cut short, in words */
};

struct exploration;

struct explore_options {
    enum strategy strategy;
    uint64_t budget; /* states to enumerate at most; 0: no limit */
    uint64_t seed;
    const char *checker;   /* a command, {dir} is the data directory */
    const char *dir;       /* where the program had its data */
    const char *cwd;       /* where the checker is run */
    int jobs;              /* 0: one a core */
    double timeout;        /* seconds for one checker */
    bool acknowledgements; /* verdicts depend on what was told */
    /* Each may be NULL. Called now and then, at least some twenty times a second, with the counts
     * so far; false stops the exploration cleanly. */
    bool (*progress)(void *data, const struct explore_counts *counts);
    /* Asked after that. While it says so nothing goes on, and everything found is on the disk; it
     * is asked again and again, and may take its time to answer. */
    bool (*paused)(void *data);
    /* Called with each distinct state of exploration_states() once its verdict is known, in the
     * order in which they were met. It may have others tested. An error ends the exploration. */
    bool (*settled)(void *data, struct exploration *x, size_t state, struct error *e);
    /* What a checker prints, as it comes; only for exploration_watch. */
    void (*output)(void *data, const char *bytes, size_t n);
    void *data;
};

/* One distinct state, in the order in which they were met. */
struct explored {
    struct schedule schedule; /* its lost ops are owned by the exploration */
    struct verdict_key key;
    uint64_t crash;     /* position */
    uint32_t behaviour; /* in analysis->behaviours, NO_BEHAVIOUR when it came by none */
    uint32_t group;     /* NO_OP when there is none */
    enum verdict_kind verdict;
};

bool exploration_new(struct exploration **out, struct analysis *a,
                     const struct explore_options *options, struct error *e);
void exploration_free(struct exploration *x);

bool exploration_run(struct exploration *x, struct error *e);

const struct explore_counts *exploration_counts(const struct exploration *x);
size_t exploration_states(const struct exploration *x, const struct explored **out);

/* Has any closed set of ops checked, with what had been told before a position; for finding causes.
 * survives[i] for i ≤ last. The verdict is the session's when it has one. */
bool exploration_test(struct exploration *x, const bool *survives, uint32_t last,
                      uint64_t told_until, struct verdict *out, struct error *e);

/* The same, with the checker run whatever is known, and its output handed on as it comes. */
bool exploration_watch(struct exploration *x, const bool *survives, uint32_t last,
                       uint64_t told_until, struct verdict *out, struct error *e);

/* Again, with the checker run whatever is known, and nothing kept of it: whether a verdict belongs
 * to the state. */
bool exploration_repeat(struct exploration *x, const bool *survives, uint32_t last,
                        uint64_t told_until, struct verdict *out, struct error *e);

/* Makes all verdicts so far durable. */
bool exploration_flush(struct exploration *x, struct error *e);

/* Where the exploration is; whoever moves it leaves it anywhere. */
struct stepper *exploration_stepper(struct exploration *x);
const struct told *exploration_told(const struct exploration *x);
struct groups *exploration_groups(const struct exploration *x); /* NULL but for representative */

#endif
