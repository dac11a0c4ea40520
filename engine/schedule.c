/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "engine/vec.h"

struct stepper {
    const struct graph *graph;
    struct state *state;
    struct state_source source;
    vec_of(uint32_t) applied; /* ascending */
    vec_of(size_t) marks;     /* the state before each of them */
    vec_of(uint32_t) lost;    /* of the schedule at hand, all of them, ascending */
    vec_of(uint32_t) wanted;  /* the same of the one to go to */
    uint32_t end;             /* one behind the last op of the schedule at hand */
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

static void go_back(struct stepper *s, uint32_t to)
{
    size_t n = s->applied.n;
    while (n && s->applied.at[n - 1] >= to)
        n--;
    if (n < s->applied.n)
        state_undo(s->state, s->marks.at[n]);
    s->applied.n = s->marks.n = n;
}

static bool go_on(struct stepper *s, uint32_t from, uint32_t end, struct error *e)
{
    size_t lost = 0;
    for (uint32_t op = from; op < end; op++) {
        while (lost < s->wanted.n && s->wanted.at[lost] < op)
            lost++;
        if (lost < s->wanted.n && s->wanted.at[lost] == op)
            continue;
        size_t mark = state_mark(s->state);
        if (!state_apply(s->state, &s->graph->ops[op], op, e))
            return false;
        vec_push(&s->applied, op);
        vec_push(&s->marks, mark);
    }
    return true;
}

static bool go_to_wanted(struct stepper *s, uint32_t end, struct error *e)
{
    uint32_t from = first_difference(s, end);
    go_back(s, from);
    s->lost.n = 0;
    if (!go_on(s, from, end, e)) { /* no schedule's state: back to that of none */
        go_back(s, 0);
        s->end = 0;
        return false;
    }
    for (size_t i = 0; i < s->wanted.n; i++)
        vec_push(&s->lost, s->wanted.at[i]);
    s->end = end;
    return true;
}

bool stepper_go(struct stepper *s, const struct schedule *to, struct error *e)
{
    uint32_t end = to->last == NO_OP ? 0 : to->last + 1;
    find_lost(s, to, end);
    return go_to_wanted(s, end, e);
}

bool stepper_go_set(struct stepper *s, const bool *survives, uint32_t last, struct error *e)
{
    uint32_t end = last == NO_OP ? 0 : last + 1;
    s->wanted.n = 0;
    for (uint32_t op = 0; op < end; op++)
        if (!survives[op])
            vec_push(&s->wanted, op);
    return go_to_wanted(s, end, e);
}
