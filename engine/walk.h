/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * walk: the schedule in hand. A person stands somewhere in the run and says which ops are lost;
 * what follows from that is worked out here: what else must be lost with them, when the crash must
 * have come, and why.
 *
 * A walk is a place and a choice. Everything issued up to the place survived, but for the chosen
 * ops and for all that must not persist before them. So the survivors are closed whatever is
 * chosen, a step keeps what was chosen, and what was lost only for the sake of an op comes back
 * with it.
 *
 * Ops are marked as people see them: those behind the last survivor were in flight when they had
 * been issued before the crash, and were not issued yet otherwise. The crash comes as late as the
 * survivors allow (schedule_crash), unless the walk began at a state whose crash came earlier; that
 * holds until something is changed.
 *
 * Moves cost O(ops / 64). A choice looks at the edges of what is absent before or after it, which for
 * the first op of a long run may be all; of the rest only at bits. Every move can be undone.
 */
#ifndef ENGINE_WALK_H
#define ENGINE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/behaviour.h"
#include "engine/graph.h"
#include "engine/report.h"

struct walk;

/* The graph with the source that it was built from, and the actions (analysis.h), whose syncs a
 * walk can go to. All must outlive the walk. It begins as the whole run. */
struct walk *walk_new(const struct graph *g, const struct graph_source *source,
                      const struct action *actions, size_t action_count);
void walk_free(struct walk *w);

/* --- Moves --------------------------------------------------------------------------------- */

/* Each says whether something changed; walk_news() says what, or why not. */

/* Beginnings: everything survived; everything up to an op (NO_OP: nothing did); a state that a
 * session holds, which must be of this graph's model: that one is false only when it cannot be. */
bool walk_begin_run(struct walk *w);
bool walk_begin_prefix(struct walk *w, uint32_t last);
bool walk_begin_state(struct walk *w, const struct report_state *state, struct error *e);

/* Steps keep what was chosen: so many ops that can survive further (> 0), or back from the last
 * survivor (< 0); so many syncs, made or pretended, everything issued until the last of them returned
 * included; to an op. Several steps are one move. Where there are fewer, it goes as far as it can,
 * and says why no further; but to no sync before one that cannot be gone to. */
bool walk_step(struct walk *w, int64_t steps);
bool walk_sync(struct walk *w, int64_t steps, struct error *e);
bool walk_to(struct walk *w, uint32_t op);

/* Choices: an op is lost, with all that needs it; or it is kept, with all that it needs, and what
 * was passed over on the way to an op in flight stays lost. Toggling does what is not the case. */
bool walk_lose(struct walk *w, uint32_t op);
bool walk_keep(struct walk *w, uint32_t op);
bool walk_toggle(struct walk *w, uint32_t op);

/* Steps and choices since the beginning, the last WALK_UNDO_MAX of them. */
enum { WALK_UNDO_MAX = 1000 };
bool walk_undo(struct walk *w);
bool walk_redo(struct walk *w);

/* --- What is the case ---------------------------------------------------------------------- */

enum walk_mark {
    WALK_PERSISTED,
    WALK_LOST,     /* issued before the last survivor, and not there */
    WALK_FLIGHT,   /* issued after it, before the crash */
    WALK_UNISSUED, /* the crash came first */
};

/* O(1). */
enum walk_mark walk_mark(const struct walk *w, uint32_t op);

/* Whether it was chosen to be lost, so that it stays lost wherever one goes. O(log n). */
bool walk_chosen(const struct walk *w, uint32_t op);

struct walk_counts {
    size_t persisted, lost, flight, unissued;
};
struct walk_counts walk_counts(const struct walk *w);

uint32_t walk_last(const struct walk *w);  /* the last survivor, or NO_OP */
uint64_t walk_crash(const struct walk *w); /* the position just before which it came; NEVER */
uint64_t walk_here(const struct walk *w);  /* the event where one stands; 0 before the first */
/* Whether it is the sync that is only pretended after that event. */
bool walk_at_pretended(const struct walk *w);

/* The first op that had not been issued at the crash; the graph's n when all had. */
uint32_t walk_issued(const struct walk *w);

/* All lost ops, ascending. Valid until the next move. */
const uint32_t *walk_lost(struct walk *w, size_t *n);

/* Another number after each change, for those who keep what they worked out. Never 0. */
uint64_t walk_version(const struct walk *w);

/* What it takes to check the state: last, all that is lost, what had been told. The caller clears
 * it with report_state_clear. */
void walk_export(struct walk *w, struct report_state *out);

/* --- What a move did, and why -------------------------------------------------------------- */

enum walk_deed { WALK_BEGIN, WALK_STEP, WALK_LOSE, WALK_KEEP, WALK_UNDO, WALK_REDO };

enum walk_answer {
    WALK_DONE,
    WALK_STAYS,      /* lose: it was in flight, not there anyway; it stays lost from now on */
    WALK_ALREADY,    /* it is so */
    WALK_NO_SUCH_OP, /* the trace has no such op */
    WALK_NOT_ISSUED, /* lose: the crash comes before it is issued. because.from: the op that would
                        be durable otherwise, NO_OP when the state itself began there */
    WALK_DURABLE,    /* step: because.from is lost, and durable before because.to was issued (NO_OP:
                        before the sync returns that was asked for) */
    WALK_AT_START,   /* nothing before it */
    WALK_AT_END,     /* nothing behind it */
};

/* An op that changed along with the one that was chosen. */
struct walk_follow {
    uint32_t op;
    bool back;              /* it is there again; false: it is gone */
    struct graph_step edge; /* lose: edge.to is the op, which needs edge.from. keep: either
                               edge.from is the op, which edge.to needs; or edge.to is, and
                               edge.from, without which it could not be, is there again */
};

/* As many are listed, the nearest to the chosen op first; the rest is counted. */
enum { WALK_FOLLOWS = 1000 };

struct walk_news {
    enum walk_deed deed;
    enum walk_answer answer;
    uint32_t op;               /* that was chosen, or that one stands at; NO_OP */
    struct graph_step because; /* see answer */
    const struct walk_follow *follows;
    size_t follow_count;
    size_t gone, back;  /* all ops that changed besides, listed or not */
    size_t passed;      /* keep: ops in flight before it that stay lost */
    uint64_t crash_was; /* the position of the crash before the move */
    uint32_t copy;      /* lose: an op that a sync carried, with the same effect, which survives */
};

/* Of the last move. Valid until the next. */
const struct walk_news *walk_news(const struct walk *w);

#endif
