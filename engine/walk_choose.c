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
    size_t words = bits_words(w->graph->n) + 1;
    closure.gone = xmalloc(words * sizeof *closure.gone);
    memcpy(closure.gone, w->closure.gone, words * sizeof *closure.gone);
    closure_go_on(w->graph, to.choice, op, NULL, &closure);
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

/* Of a word of bits, the ops that are not there, when `gone` are lost of those up to the last. */
static uint64_t absent_word(uint32_t last, const uint64_t *gone, size_t word)
{
    uint32_t behind = last + 1; /* NO_OP + 1 is 0 */
    size_t base = word * BITS_WORD;

    if (base >= behind)
        return UINT64_MAX;
    return behind - base < BITS_WORD ? gone[word] | UINT64_MAX << (behind - base) : gone[word];
}

/* The previous op that is not there, no earlier than the first. */
static bool find_absent_before(const struct walk *w, uint32_t first, uint32_t *op)
{
    while (*op > first) {
        uint32_t at = *op - 1, in_word = at % BITS_WORD;
        uint64_t word = absent_word(w->last, w->closure.gone, at / BITS_WORD);
        word <<= BITS_WORD - 1 - in_word;
        *op = word ? at - (uint32_t)__builtin_clzll(word) : at - in_word;
        if (word)
            return *op >= first;
    }
    return false;
}

/* Tells of what an op needs directly, as the bits gather it. */
static void tell_needed(struct walk *w, uint64_t *needed, uint32_t op)
{
    const struct graph *g = w->graph;

    for (uint32_t i = g->first[op]; i < g->first[op + 1]; i++) {
        uint32_t from = g->edges[i].from;
        if (bits_has(needed, from) || walk_survives(w, from))
            continue;
        bits_add(needed, from);
        follow(w, from, true, (struct graph_step){from, op, (enum model_rule)g->edges[i].rule});
    }
}

/* What an op needs of what is absent, itself included, as bits; what is there needs nothing that is
 * not. Tells which op needs each, as long as that is listed; behind that, what was durable when the
 * op was issued needs no other reason, and neither does what that needs. */
static uint64_t *find_needed(struct walk *w, uint32_t kept)
{
    const struct graph *g = w->graph;
    uint64_t *needed = xcalloc(bits_words(g->n) + 1, sizeof *needed);
    uint64_t issued = g->issued[kept], count = 0;
    uint32_t first = first_absent(w), op = kept + 1;

    bits_add(needed, kept);
    while (w->follows.n < WALK_FOLLOWS && find_absent_before(w, first, &op)) {
        if (!bits_has(needed, op) && g->durable[op] < issued) {
            bits_add(needed, op);
            follow(w, op, true, (struct graph_step){op, kept, RULE_SYNCED});
        }
        if (bits_has(needed, op))
            tell_needed(w, needed, op);
    }
    while (find_absent_before(w, first, &op)) {
        if (g->durable[op] < issued)
            bits_add(needed, op);
        else if (bits_has(needed, op))
            for (uint32_t i = g->first[op]; i < g->first[op + 1]; i++)
                bits_add(needed, g->edges[i].from);
    }
    for (size_t word = first / BITS_WORD; word <= kept / BITS_WORD; word++) {
        uint64_t back = needed[word] & absent_word(w->last, w->closure.gone, word);
        count += bits_count(&back, 1);
    }
    w->news.back = count - 1; /* but for itself */
    return needed;
}

/* The choice without what is needed; and when the op lies behind the place, with what lies between
 * and is not needed: the first of each chain. And what it takes with it: where nothing lies
 * between, only what was gone before. */
static struct choice *choice_keeping(struct walk *w, const uint64_t *needed, uint32_t kept,
                                     struct closure *closure)
{
    const struct graph *g = w->graph;
    const struct choice *c = w->now.choice;
    struct choice *out = xmalloc(sizeof *out + (c->n + g->n) * sizeof *out->ops);
    uint64_t *gone = xcalloc(bits_words(g->n) + 1, sizeof *gone);
    uint32_t first = first_absent(w), stop = kept;
    size_t next = 0, n = 0, passed = 0;

    if (c->n && c->ops[c->n - 1] >= stop)
        stop = c->ops[c->n - 1] + 1;
    for (size_t word = first / BITS_WORD; word < bits_words(stop); word++) {
        uint64_t left = absent_word(w->last, w->closure.gone, word) & ~needed[word];
        for (; left; left &= left - 1) {
            uint32_t op = (uint32_t)(word * BITS_WORD) + (uint32_t)__builtin_ctzll(left);
            if (op >= stop)
                break;
            while (next < c->n && c->ops[next] < op)
                next++;
            bool was = next < c->n && c->ops[next] == op;
            bool passes = op >= w->now.end && op < kept;
            bool follows = led_to(g, gone, op);
            out->ops[n] = op;
            n += was | (passes & !follows);
            gone[word] |= (uint64_t)(was | passes | follows) << (op % BITS_WORD);
            passed += passes;
        }
    }
    out->refs = 1;
    out->n = n;
    w->news.passed = passed;
    closure->gone = gone;
    closure_go_on(g, out, stop, passed ? NULL : &w->closure, closure);
    return xrealloc(out, sizeof *out + (n + 1) * sizeof *out->ops);
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
    size_t end = bits_words((uint32_t)(w->last + 1));

    for (size_t word = b->first_absent / BITS_WORD; word < end; word++) {
        uint64_t freed = absent_word(b->last, b->closure.gone, word) & ~needed[word] &
                         ~absent_word(w->last, w->closure.gone, word);
        for (; freed; freed &= freed - 1) {
            uint32_t op = (uint32_t)(word * BITS_WORD) + (uint32_t)__builtin_ctzll(freed);
            struct graph_step edge = {b->first_durable, op, RULE_SYNCED};
            for (uint32_t i = g->first[op]; i < g->first[op + 1] && edge.rule == RULE_SYNCED; i++)
                if (!was_there(b, g->edges[i].from))
                    edge = (struct graph_step){g->edges[i].from, op,
                                               (enum model_rule)g->edges[i].rule};
            follow(w, op, true, edge);
        }
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
    bool changed = walk_enter(w, to, &now);
    if (changed) {
        tell_freed(w, needed, &before);
        free(before.closure.gone);
    } else
        w->closure = before.closure;
    free(needed);
    end_news(w);
    return changed;
}

bool walk_toggle(struct walk *w, uint32_t op)
{
    return op < w->graph->n && walk_survives(w, op) ? walk_lose(w, op) : walk_keep(w, op);
}
