/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Losing and keeping ops by choice: what else changes with them, and by which edge.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/bits.h"
#include "engine/walk_inside.h"

static void follow(struct walk *w, uint32_t op, bool back, struct graph_step edge)
{
    if (w->follows.n < WALK_FOLLOWS)
        vec_push(&w->follows, (struct walk_follow){op, back, edge});
    if (back)
        w->news.back++;
    else
        w->news.gone++;
}

static void end_news(struct walk *w)
{
    w->news.follows = w->follows.at;
    w->news.follow_count = w->follows.n;
}

/* The choice with one op more. */
static struct choice *choice_with(const struct choice *c, uint32_t op)
{
    struct choice *more = choice_new(c->ops, c->n);
    size_t at = 0;

    more = xrealloc(more, sizeof *more + (c->n + 1) * sizeof *more->ops);
    while (at < c->n && c->ops[at] < op)
        at++;
    memmove(more->ops + at + 1, more->ops + at, (c->n - at) * sizeof *more->ops);
    more->ops[at] = op;
    more->n = c->n + 1;
    return more;
}

/* --- Losing -------------------------------------------------------------------------------- */

/* The op whose durability sets the crash; NO_OP when the state in hand began with an earlier one.
 */
static uint32_t what_sets_the_crash(const struct walk *w)
{
    const struct graph *g = w->graph;
    const struct choice *c = w->now.choice;

    for (size_t i = 0; i < c->n; i++)
        if (g->durable[c->ops[i]] == w->crash)
            return c->ops[i];
    for (uint32_t op = w->last + 1; op < g->n; op++)
        if (g->durable[op] == w->crash)
            return op;
    return NO_OP;
}

/* Survivors that a new closure takes, each with the edge that does: it leads from one that is gone
 * as well, down to the op that was chosen. */
static void tell_gone(struct walk *w, const struct closure *now, uint32_t chosen)
{
    const struct graph *g = w->graph;

    for (uint32_t op = chosen + 1; op <= w->last; op++) {
        if (op % BITS_WORD == 0 && op + BITS_WORD <= now->limit &&
            !(now->gone[op / BITS_WORD] & ~w->closure.gone[op / BITS_WORD])) {
            op += BITS_WORD - 1; /* none of these */
            continue;
        }
        if (!walk_survives(w, op) || (op < now->limit && !bits_has(now->gone, op)))
            continue;
        struct graph_step edge = {chosen, op, RULE_SYNCED};
        for (uint32_t i = g->first[op]; i < g->first[op + 1] && edge.rule == RULE_SYNCED; i++) {
            uint32_t from = g->edges[i].from;
            if (from >= now->limit || bits_has(now->gone, from))
                edge = (struct graph_step){from, op, (enum model_rule)g->edges[i].rule};
        }
        follow(w, op, false, edge);
    }
}

/* A survivor with the same effect: its original, or a copy that a sync carried. */
static uint32_t surviving_copy(const struct walk *w, uint32_t lost)
{
    const struct graph *g = w->graph;
    const struct op *ops = g->ops;
    uint32_t original = op_original(ops, lost);

    if (original != lost && walk_survives(w, original))
        return original;
    for (size_t i = 0; i < g->copy_count; i++)
        if (ops[g->copies[i]].carried == original && walk_survives(w, g->copies[i]))
            return g->copies[i];
    return NO_OP;
}

bool walk_lose(struct walk *w, uint32_t op)
{
    walk_tell(w, WALK_LOSE, WALK_DONE, op);
    if (op >= w->graph->n) {
        w->news.answer = WALK_NO_SUCH_OP;
        return false;
    }
    enum walk_mark mark = walk_mark(w, op);
    if (mark == WALK_LOST || walk_chosen(w, op)) {
        w->news.answer = WALK_ALREADY;
        return false;
    }
    if (mark == WALK_UNISSUED) {
        w->news.answer = WALK_NOT_ISSUED;
        w->news.because.from = what_sets_the_crash(w);
        w->news.because.to = op;
        return false;
    }
    if (mark == WALK_FLIGHT)
        w->news.answer = WALK_STAYS;
    struct moment_in_hand to = w->now;
    struct closure closure;
    to.choice = choice_with(w->now.choice, op);
    to.pinned = NEVER;
    closure_find(w->graph, to.choice, &closure);
    if (mark == WALK_PERSISTED)
        tell_gone(w, &closure, op);
    walk_enter(w, to, &closure);
    w->news.copy = surviving_copy(w, op);
    end_news(w);
    return true;
}

/* --- Keeping ------------------------------------------------------------------------------- */

/* Everything before this op is there, so that no choice need look further back. */
static uint32_t first_absent(const struct walk *w)
{
    const struct choice *c = w->now.choice;
    uint32_t behind = w->last + 1; /* NO_OP + 1 is 0 */

    return c->n && c->ops[0] < behind ? c->ops[0] : behind;
}

/* What an op needs of what may be absent, itself included, as bits. Of those that are not there,
 * tells which op needs each. What was durable when it was issued needs no other reason. */
static uint64_t *find_needed(struct walk *w, uint32_t kept)
{
    const struct graph *g = w->graph;
    uint64_t *needed = xcalloc(bits_words(g->n) + 1, sizeof *needed);
    uint32_t first = first_absent(w);

    bits_add(needed, kept);
    for (uint32_t op = kept + 1; op-- > first;) {
        if (!bits_has(needed, op) && g->durable[op] < g->issued[kept]) {
            bits_add(needed, op);
            if (!walk_survives(w, op))
                follow(w, op, true, (struct graph_step){op, kept, RULE_SYNCED});
        }
        for (uint32_t i = g->first[op]; i < g->first[op + 1] && bits_has(needed, op); i++) {
            uint32_t from = g->edges[i].from;
            if (bits_has(needed, from))
                continue;
            bits_add(needed, from);
            if (!walk_survives(w, from))
                follow(w, from, true,
                       (struct graph_step){from, op, (enum model_rule)g->edges[i].rule});
        }
    }
    return needed;
}

/* The choice without what is needed; and when the op lies behind the place, with what lies between
 * and is not needed: the first of each chain. And what it takes with it. */
static struct choice *choice_keeping(struct walk *w, const uint64_t *needed, uint32_t kept,
                                     struct closure *closure)
{
    const struct graph *g = w->graph;
    const struct choice *c = w->now.choice;
    uint32_t end = w->now.end;
    struct choice *out = xmalloc(sizeof *out + (c->n + g->n) * sizeof *out->ops);
    uint64_t *gone = xcalloc(bits_words(g->n) + 1, sizeof *gone);
    size_t next = 0;
    uint32_t op = first_absent(w);

    out->refs = 1;
    out->n = 0;
    for (; op < g->n && (op < kept || next < c->n); op++) {
        bool was = next < c->n && c->ops[next] == op, led_to = false;
        next += was;
        if (bits_has(needed, op))
            continue;
        for (uint32_t i = g->first[op]; i < g->first[op + 1] && !led_to; i++)
            led_to = bits_has(gone, g->edges[i].from);
        bool passed = op >= end && op < kept;
        if (was || (passed && !led_to))
            out->ops[out->n++] = op;
        if (was || passed || led_to)
            bits_add(gone, op);
        w->news.passed += passed;
    }
    closure->gone = gone;
    closure_go_on(g, out, op, closure);
    return xrealloc(out, sizeof *out + (out->n + 1) * sizeof *out->ops);
}

/* What a walk was before a move. */
struct before {
    uint32_t last;
    uint32_t first_absent;
    struct closure closure;
    uint32_t first_durable; /* of the chosen ops, the first to be durable; NO_OP */
};

static bool was_there(const struct before *b, uint32_t op)
{
    return b->last != NO_OP && op <= b->last && !bits_has(b->closure.gone, op);
}

/* What is there again because nothing lost keeps it away any more: something it follows by an edge
 * is there again, or what was durable when it was issued. */
static void tell_freed(struct walk *w, const uint64_t *needed, const struct before *b)
{
    const struct graph *g = w->graph;

    for (uint32_t op = b->first_absent; w->last != NO_OP && op <= w->last; op++) {
        size_t word = op / BITS_WORD;
        bool all_were = b->last != NO_OP && op + BITS_WORD <= b->last && !b->closure.gone[word];
        if (op % BITS_WORD == 0 && (all_were || w->closure.gone[word] == UINT64_MAX)) {
            op += BITS_WORD - 1; /* none of these changed, or none is there */
            continue;
        }
        if (was_there(b, op) || bits_has(needed, op) || !walk_survives(w, op))
            continue;
        struct graph_step edge = {b->first_durable, op, RULE_SYNCED};
        for (uint32_t i = g->first[op]; i < g->first[op + 1] && edge.rule == RULE_SYNCED; i++)
            if (!was_there(b, g->edges[i].from))
                edge = (struct graph_step){g->edges[i].from, op, (enum model_rule)g->edges[i].rule};
        follow(w, op, true, edge);
    }
}

bool walk_keep(struct walk *w, uint32_t op)
{
    walk_tell(w, WALK_KEEP, WALK_DONE, op);
    if (op >= w->graph->n) {
        w->news.answer = WALK_NO_SUCH_OP;
        return false;
    }
    if (walk_survives(w, op)) {
        w->news.answer = WALK_ALREADY;
        return false;
    }
    uint64_t *needed = find_needed(w, op);
    struct moment_in_hand to = w->now;
    struct before before = {w->last, first_absent(w), w->closure, walk_first_durable(w)};
    struct closure now;

    to.choice = choice_keeping(w, needed, op, &now);
    to.end = to.end > op + 1 ? to.end : op + 1;
    to.pinned = NEVER;
    w->closure.gone = NULL; /* still wanted here */
    walk_enter(w, to, &now);
    tell_freed(w, needed, &before);
    free(before.closure.gone);
    free(needed);
    end_news(w);
    return true;
}

bool walk_toggle(struct walk *w, uint32_t op)
{
    return op < w->graph->n && walk_survives(w, op) ? walk_lose(w, op) : walk_keep(w, op);
}
