/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the parts of engine/walk.h share: walk.c goes from place to place, walk_choose.c loses and
 * keeps ops and says what followed.
 */
#ifndef ENGINE_WALK_INSIDE_H
#define ENGINE_WALK_INSIDE_H

#include "engine/bits.h"
#include "engine/calls.h"
#include "engine/vec.h"
#include "engine/walk.h"

/* Ops that were chosen to be lost, ascending. Moments of a history share it. */
struct choice {
    size_t refs;
    size_t n;
    uint32_t ops[];
};

struct choice *choice_new(const uint32_t *ops, size_t n);

/* What a choice takes with it. */
struct closure {
    uint64_t *gone;   /* a bit an op, right below the limit */
    uint32_t limit;   /* from here on nothing can survive: something chosen was durable by then */
    uint64_t durable; /* the position of that; NEVER */
};

/* Whether an op has an edge from one of a set. Asked of op after op in long traces, with answers
 * that nobody could predict: it does without branches where it can. */
static inline bool led_to(const struct graph *g, const uint64_t *set, uint32_t op)
{
    bool led = false;

    for (uint32_t i = g->first[op], end = g->first[op + 1]; i < end; i++)
        led |= bits_has(set, g->edges[i].from);
    return led;
}

void closure_find(const struct graph *g, const struct choice *c, struct closure *out);

/* The same when out->gone is right already for the ops before one, and has nothing wrong behind it.
 * What `within` leaves is left here, too; NULL: anything may be gone. */
void closure_go_on(const struct graph *g, const struct choice *c, uint32_t from,
                   const struct closure *within, struct closure *out);

struct moment_in_hand {
    struct choice *choice;
    uint32_t end;    /* one behind the place: what was issued from here on did not survive */
    uint64_t pinned; /* the crash came no later; NEVER */
    uint64_t here;   /* the event where one stands */
    bool behind;     /* at the sync that is pretended after it */
};

/* Where a walk by syncs stops. */
struct walk_stop {
    uint64_t event;
    bool behind; /* at the sync that is pretended after it; else it is one */
};

struct walk {
    const struct graph *graph;
    const struct graph_source *source;
    vec_of(struct walk_stop) stops; /* in their order */
    struct moment_in_hand now;
    struct closure closure; /* of its choice */
    uint32_t last;
    uint32_t issued;
    uint64_t crash;
    size_t lost_count;
    vec_of(uint32_t) lost;
    bool lost_known;
    uint64_t version;
    vec_of(struct moment_in_hand) history;
    size_t place; /* of now in it */
    vec_of(struct walk_follow) follows;
    struct walk_news news;
};

bool walk_survives(const struct walk *w, uint32_t op);

/* The chosen op that is durable first, which stands in the way of what comes then; NO_OP. */
uint32_t walk_first_durable(const struct walk *w);

/* Makes a moment the one in hand, taking over its choice and its closure (NULL: to be worked out).
 * Says whether it is another than the one in hand. */
bool walk_enter(struct walk *w, struct moment_in_hand to, struct closure *closure);
void walk_tell(struct walk *w, enum walk_deed deed, enum walk_answer answer, uint32_t op);

#endif
