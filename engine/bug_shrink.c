/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/bug_inside.h"

#include <stdlib.h>
#include <string.h>

/* What a state consists of, in the order in which it came about: ops that survived, and what was
 * told. */
struct item {
    uint64_t position;
    uint32_t op;   /* NO_OP: something told */
    uint64_t told; /* its event */
};

struct shrinking {
    struct exploration *x;
    const struct graph *graph;
    vec_of(struct item) items;
    struct beginning *beginning;
    bool *survives;        /* by op, of the set at hand */
    uint32_t end;          /* one behind the last op of the state */
    vec_of(uint32_t) back; /* ops just put back */
    struct error *error;
};

static void collect_items(struct shrinking *s, const struct explored *state)
{
    const struct told *told = exploration_told(s->x);
    size_t next = 0;
    for (uint32_t op = 0; op < s->end; op++) {
        if (!s->survives[op])
            continue;
        uint64_t position = s->graph->issued[op];
        for (; next < told_count(told) && told_position(told, next) < position; next++)
            vec_push(&s->items,
                     (struct item){told_position(told, next), NO_OP, told_event(told, next)});
        vec_push(&s->items, (struct item){position, op, 0});
    }
    for (; next < told_count(told) && told_position(told, next) < state->crash; next++)
        vec_push(&s->items,
                 (struct item){told_position(told, next), NO_OP, told_event(told, next)});
}

/* The position just behind the first n items. */
static uint64_t position_behind(const struct shrinking *s, size_t n)
{
    return n ? s->items.at[n - 1].position + 1 : 0;
}

static uint32_t last_of(const struct shrinking *s, size_t n)
{
    while (n && s->items.at[n - 1].op == NO_OP)
        n--;
    return n ? s->items.at[n - 1].op : NO_OP;
}

static bool is_bad(struct shrinking *s, uint32_t last, uint64_t told_until, bool *bad)
{
    struct verdict v;
    if (!exploration_test(s->x, s->survives, last, told_until, &v, s->error))
        return false;
    *bad = verdict_is_bad(&v);
    verdict_clear(&v);
    return true;
}

/* Halves what lies between, in steps that grow from the end: inconsistency need not grow with the
 * items, and what an earlier one broke and a later one mended is another state's cause. */
static size_t next_try(size_t good, size_t bad, size_t *step)
{
    size_t tried = bad - good > 2 * *step ? bad - *step : (good + bad) / 2;
    *step *= 2;
    return tried;
}

/* Step 1: how many items it takes to be inconsistent: a place near the end where it begins. */
static bool first_bad(struct shrinking *s, size_t *count, bool *failed)
{
    size_t good = 0, bad = s->items.n, step = 1;
    bool is;
    if (!is_bad(s, last_of(s, bad), position_behind(s, bad), failed))
        return false;
    if (!*failed)
        return true;
    if (!s->beginning->known && !is_bad(s, NO_OP, 0, &s->beginning->bad))
        return false;
    s->beginning->known = true;
    if (s->beginning->bad) {
        *count = 0;
        return true;
    }
    while (bad - good > 1) {
        size_t tried = next_try(good, bad, &step);
        if (!is_bad(s, last_of(s, tried), position_behind(s, tried), &is))
            return false;
        if (is)
            bad = tried;
        else
            good = tried;
    }
    *count = bad;
    return true;
}

static bool ready(const struct shrinking *s, uint32_t op)
{
    for (uint32_t i = s->graph->first[op]; i < s->graph->first[op + 1]; i++)
        if (!s->survives[s->graph->edges[i].from])
            return false;
    return true;
}

/* Puts back as many lost ops from one on as are asked for, where what they need is there. Says
 * where it stopped; the ops are in s->back. */
static uint32_t put_back(struct shrinking *s, uint32_t op, uint32_t limit, size_t most)
{
    s->back.n = 0;
    for (; op < limit && s->back.n < most; op++) {
        if (s->survives[op] || !ready(s, op))
            continue;
        s->survives[op] = true;
        vec_push(&s->back, op);
    }
    return op;
}

/* Step 2: puts lost ops back as long as it stays inconsistent. None at or behind the limit
 * survives. Often next to all can be put back: so twice as many as the last time are tried at once,
 * and half as many when that is consistent, down to each alone. */
static bool restore(struct shrinking *s, uint32_t limit, uint64_t told_until)
{
    bool again = true;
    while (again) {
        size_t most = 1;
        again = false;
        for (uint32_t op = 0; op < limit;) {
            bool bad;
            uint32_t next = put_back(s, op, limit, most);
            if (!s->back.n)
                break;
            if (!is_bad(s, limit - 1, told_until, &bad))
                return false;
            for (size_t i = 0; i < s->back.n && !bad; i++)
                s->survives[s->back.at[i]] = false;
            again |= bad;
            if (bad || s->back.n == 1)
                op = next;
            most = bad ? 2 * most : s->back.n > 1 ? s->back.n / 2 : 1;
        }
    }
    return true;
}

/* Of an op that syncs carried one copy is enough: the others may be lost, but nothing is with them.
 */
static void take_lost(const struct shrinking *s, struct culprit *c, uint32_t limit)
{
    const struct op *ops = s->graph->ops;
    bool *done = xcalloc(limit + 1, sizeof *done);
    for (uint32_t op = 0; op < limit; op++)
        if (s->survives[op])
            done[op_original(ops, op)] = true;
    for (uint32_t op = 0; op < limit; op++) {
        if (s->survives[op])
            continue;
        vec_push(&c->all_lost, op);
        if (ready(s, op) && !done[op_original(ops, op)])
            vec_push(&c->lost, op);
    }
    free(done);
}

bool culprit_find(struct culprit *c, struct exploration *x, struct analysis *a,
                  struct beginning *beginning, const struct explored *state, const uint32_t *lost,
                  size_t lost_count, struct error *e)
{
    struct shrinking s = {.x = x, .graph = a->graph, .beginning = beginning, .error = e};
    size_t count = 0;
    *c = (struct culprit){.survived = NO_OP};
    s.end = state->schedule.last == NO_OP ? 0 : state->schedule.last + 1;
    s.survives = xcalloc(a->graph->n + 1, sizeof *s.survives);
    memset(s.survives, true, s.end * sizeof *s.survives);
    for (size_t i = 0; i < lost_count; i++)
        s.survives[lost[i]] = false;
    collect_items(&s, state);
    bool done = first_bad(&s, &count, &c->failed);
    if (done && c->failed) {
        uint64_t behind = position_behind(&s, count);
        uint32_t limit = count ? graph_issued_behind(s.graph, behind - 1) : 0;
        const struct item *item = count ? &s.items.at[count - 1] : NULL;
        c->survived = item ? item->op : NO_OP;
        c->told = item ? item->told : 0;
        /* Ops of the same event that come behind it were not issued yet. */
        if (c->survived != NO_OP && limit > c->survived + 1)
            limit = c->survived + 1;
        for (uint32_t op = limit; op < a->graph->n; op++)
            s.survives[op] = false;
        c->last = limit ? limit - 1 : NO_OP;
        c->told_until = behind;
        done = restore(&s, limit, behind);
        take_lost(&s, c, limit);
        done = done && exploration_test(x, s.survives, c->last, behind, &c->verdict, e);
        c->failed = done && verdict_is_bad(&c->verdict);
    }
    vec_free(&s.items);
    vec_free(&s.back);
    free(s.survives);
    return done;
}

void culprit_clear(struct culprit *c)
{
    vec_free(&c->lost);
    vec_free(&c->all_lost);
    verdict_clear(&c->verdict);
}
