/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/vec.h"

/* Ops between two looks at the clock: some microseconds' work. */
enum { OPS_A_SLICE = 64 };

struct stepper {
    const struct graph *graph;
    struct state *state;
    struct state_source source;
    vec_of(uint32_t) applied; /* ascending */
    vec_of(size_t) marks;     /* the state before each of them */
    vec_of(uint32_t) lost;    /* of the schedule at hand, all of them, ascending */
    vec_of(uint32_t) wanted;  /* the same of the one to go to */
    uint32_t end;             /* up to here, exclusive, what is applied is the schedule at hand */
    uint32_t to;              /* one behind its last op; on the way there end is less */
    size_t skipped;           /* of the lost ops, how many lie below end */
    bool stale;               /* ops behind end are applied, of an earlier schedule */
    bool *gone;               /* while the closure is worked out: by op − base */
    size_t gone_room;
};

uint64_t schedule_crash(const struct graph *g, const struct schedule *s)
{
    size_t behind = s->last == NO_OP ? 0 : (size_t)s->last + 1;
    uint64_t crash = g->lacking[behind];
    /* What depends on a lost op is durable no earlier than that. */
    for (uint32_t i = 0; i < s->lost_count; i++)
        if (g->durable[s->lost[i]] < crash)
            crash = g->durable[s->lost[i]];
    return crash;
}

bool stepper_new(struct stepper **out, const struct graph *g, const struct state_source *source,
                 struct error *e)
{
    struct stepper *s = xcalloc(1, sizeof *s);
    s->graph = g;
    s->source = *source;
    if (!state_new(&s->state, &s->source, e)) {
        free(s);
        return false;
    }
    *out = s;
    return true;
}

void stepper_free(struct stepper *s)
{
    if (!s)
        return;
    state_free(s->state);
    vec_free(&s->applied);
    vec_free(&s->marks);
    vec_free(&s->lost);
    vec_free(&s->wanted);
    free(s->gone);
    free(s);
}

struct state *stepper_state(struct stepper *s)
{
    return s->state;
}

const uint32_t *stepper_lost(const struct stepper *s, size_t *count)
{
    *count = s->lost.n;
    return s->lost.at;
}

void schedule_gone(const struct graph *g, const struct schedule *s, bool *gone)
{
    uint32_t base = s->lost[0];
    memset(gone, 0, (s->last - base + 1) * sizeof *gone);
    for (uint32_t i = 0; i < s->lost_count; i++)
        gone[s->lost[i] - base] = true;
    for (uint32_t op = base; op <= s->last; op++)
        for (uint32_t i = g->first[op]; i < g->first[op + 1] && !gone[op - base]; i++)
            gone[op - base] = g->edges[i].from >= base && gone[g->edges[i].from - base];
}

/* All ops up to the end that the lost ones take with them, into s->wanted. */
static void find_lost(struct stepper *s, const struct schedule *to, uint32_t end)
{
    s->wanted.n = 0;
    if (!to->lost_count)
        return;
    uint32_t base = to->lost[0];
    size_t span = end - base;
    if (span > s->gone_room) {
        s->gone = xrealloc(s->gone, span * sizeof *s->gone);
        s->gone_room = span;
    }
    schedule_gone(s->graph, to, s->gone);
    for (uint32_t op = base; op < end; op++)
        if (s->gone[op - base])
            vec_push(&s->wanted, op);
}

/* The first op in which the schedule at hand and the wanted one differ. */
static uint32_t first_difference(const struct stepper *s, uint32_t end)
{
    uint32_t limit = end < s->end ? end : s->end;
    size_t i = 0;
    while (i < s->lost.n && i < s->wanted.n && s->lost.at[i] == s->wanted.at[i])
        i++;
    if (i < s->lost.n && s->lost.at[i] < limit)
        limit = s->lost.at[i];
    if (i < s->wanted.n && s->wanted.at[i] < limit)
        limit = s->wanted.at[i];
    return limit;
}

/* Takes back some of what is not wanted. Says whether nothing of it is left. */
static bool go_back(struct stepper *s, uint32_t to, size_t most)
{
    size_t n = s->applied.n;
    while (n && most-- && s->applied.at[n - 1] >= to)
        n--;
    if (n < s->applied.n)
        state_undo(s->state, s->marks.at[n]);
    s->applied.n = s->marks.n = n;
    return !n || s->applied.at[n - 1] < to;
}

static bool go_on(struct stepper *s, size_t most, struct error *e)
{
    for (; s->end < s->to && most--; s->end++) {
        while (s->skipped < s->lost.n && s->lost.at[s->skipped] < s->end)
            s->skipped++;
        if (s->skipped < s->lost.n && s->lost.at[s->skipped] == s->end)
            continue;
        size_t mark = state_mark(s->state);
        if (!state_apply(s->state, &s->graph->ops[s->end], s->end, e))
            return false;
        vec_push(&s->applied, s->end);
        vec_push(&s->marks, mark);
    }
    return true;
}

static void forget(struct stepper *s) /* no schedule's state: back to that of none */
{
    go_back(s, 0, SIZE_MAX);
    s->lost.n = 0;
    s->end = s->to = 0;
    s->stale = false;
}

/* Sets out for the schedule of s->wanted, from wherever it is. */
static void set_out(struct stepper *s, uint32_t end)
{
    s->end = first_difference(s, end);
    s->to = end;
    s->skipped = 0;
    s->stale = true;
    s->lost.n = 0;
    for (size_t i = 0; i < s->wanted.n; i++)
        vec_push(&s->lost, s->wanted.at[i]);
}

bool stepper_settle(struct stepper *s, uint64_t deadline, bool *done, struct error *e)
{
    *done = !s->stale && s->end == s->to;
    while (!*done) {
        if (s->stale)
            s->stale = !go_back(s, s->end, OPS_A_SLICE);
        if (!s->stale && !go_on(s, OPS_A_SLICE, e)) {
            forget(s);
            return false;
        }
        *done = !s->stale && s->end == s->to;
        if (deadline != UINT64_MAX && clock_now() >= deadline)
            break;
    }
    return true;
}

uint64_t stepper_left(const struct stepper *s)
{
    uint64_t back = s->stale && s->applied.n ? (uint64_t)vec_last(&s->applied) + 1 : s->end;
    return (back > s->end ? back - s->end : 0) + (s->to - s->end);
}

static bool go_all_the_way(struct stepper *s, struct error *e)
{
    bool done;
    return stepper_settle(s, UINT64_MAX, &done, e);
}

void stepper_aim(struct stepper *s, const struct schedule *to)
{
    uint32_t end = to->last == NO_OP ? 0 : to->last + 1;
    find_lost(s, to, end);
    set_out(s, end);
}

void stepper_aim_without(struct stepper *s, uint32_t last, const uint32_t *lost, size_t n)
{
    s->wanted.n = 0;
    for (size_t i = 0; i < n; i++)
        vec_push(&s->wanted, lost[i]);
    set_out(s, last == NO_OP ? 0 : last + 1);
}

bool stepper_go(struct stepper *s, const struct schedule *to, struct error *e)
{
    stepper_aim(s, to);
    return go_all_the_way(s, e);
}

bool stepper_go_set(struct stepper *s, const bool *survives, uint32_t last, struct error *e)
{
    uint32_t end = last == NO_OP ? 0 : last + 1;
    s->wanted.n = 0;
    for (uint32_t op = 0; op < end; op++)
        if (!survives[op])
            vec_push(&s->wanted, op);
    set_out(s, end);
    return go_all_the_way(s, e);
}
