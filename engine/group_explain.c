/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "engine/group_inside.h"
#include "engine/mem.h"

/* One of the two behaviours, kept while the other is described. */
struct side {
    uint64_t function;
    bool comparable;
    size_t n, kind_count;
    struct label *labels;
    uint64_t *below;
    uint64_t *next; /* of below, those with nothing in between */
    struct env_kind *kinds;
    uint32_t *match; /* the place of its match on the other side, or NO_OP */
    uint32_t *row;   /* its place in the list of matches */
};

static void *copy_of(const void *from, size_t n, size_t size)
{
    void *copy = xmalloc((n + 1) * size);
    if (n)
        memcpy(copy, from, n * size);
    return copy;
}

/* What must come before an op, without what must come before that. */
static uint64_t *reduce(const uint64_t *below, size_t n)
{
    size_t words = group_words(n);
    uint64_t *next = copy_of(below, n * words, sizeof *next);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t w = 0; group_bit(below, n, i, j) && w < words; w++)
                next[i * words + w] &= ~below[j * words + w];
    return next;
}

static struct side take_side(struct group_inside *s, uint32_t behaviour)
{
    const struct description *d = &s->d;
    struct side side = {.function = s->list->at[behaviour].function};
    side.comparable = group_describe(s, behaviour);
    side.n = d->labels.n;
    side.labels = copy_of(d->labels.at, d->labels.n, sizeof *side.labels);
    side.below = side.comparable ? copy_of(d->below.at, d->below.n, sizeof *side.below) : NULL;
    side.next = side.comparable ? reduce(side.below, side.n) : NULL;
    side.kinds = copy_of(d->kinds.at, d->kinds.n, sizeof *side.kinds);
    side.kind_count = d->kinds.n;
    side.match = xmalloc((side.n + 1) * sizeof *side.match);
    side.row = xmalloc((side.n + 1) * sizeof *side.row);
    return side;
}

static void free_side(struct side *side)
{
    free(side->labels);
    free(side->below);
    free(side->next);
    free(side->kinds);
    free(side->match);
    free(side->row);
}

/* For each op of `side`, the op of `other` with the same label. */
static void match_side(struct side *side, const struct side *other)
{
    struct scratch places = {0};
    scratch_clear(&places);
    for (size_t i = 0; i < other->n; i++)
        scratch_put(&places, other->labels[i].value, i);
    for (size_t i = 0; i < side->n; i++) {
        const uint64_t *place = scratch_get(&places, side->labels[i].value);
        side->match[i] = place ? (uint32_t)*place : NO_OP;
    }
    scratch_free(&places);
}

/* ---- the verdict ---- */

/* The first order, by op, that keeps rep from representing other; REPRESENTS when none does. */
static struct group_reason order_reason(const struct side *rep, const struct side *other,
                                        bool paper)
{
    for (size_t i = 0; i < rep->n; i++) {
        if (rep->match[i] == NO_OP)
            continue;
        for (size_t j = 0; j < i; j++) {
            if (!group_bit(rep->below, rep->n, i, j))
                continue;
            bool open = rep->match[j] == NO_OP;
            if (open ? paper : group_bit(other->below, other->n, rep->match[i], rep->match[j]))
                continue;
            return (struct group_reason){open ? GROUP_OPEN : GROUP_ORDER, rep->labels[j].op,
                                         rep->labels[i].op};
        }
    }
    return (struct group_reason){GROUP_REPRESENTS, NO_OP, NO_OP};
}

static struct group_reason environment_reason(const struct side *rep, const struct side *other)
{
    for (size_t i = 0, j = 0; i < other->kind_count; i++) {
        while (j < rep->kind_count && rep->kinds[j].value < other->kinds[i].value)
            j++;
        if (j == rep->kind_count || rep->kinds[j].value != other->kinds[i].value)
            return (struct group_reason){GROUP_ENVIRONMENT, NO_OP, other->kinds[i].op};
    }
    return (struct group_reason){GROUP_REPRESENTS, NO_OP, NO_OP};
}

static struct group_reason reason_for(const struct side *rep, const struct side *other, bool paper)
{
    if (rep->function != other->function)
        return (struct group_reason){GROUP_FUNCTION, NO_OP, NO_OP};
    for (size_t i = 0; i < other->n; i++)
        if (other->match[i] == NO_OP)
            return (struct group_reason){GROUP_UNMATCHED, NO_OP, other->labels[i].op};
    if (!rep->comparable || !other->comparable)
        return (struct group_reason){GROUP_TOO_LARGE, NO_OP, NO_OP};
    struct group_reason reason = order_reason(rep, other, paper);
    return reason.verdict == GROUP_REPRESENTS ? environment_reason(rep, other) : reason;
}

/* ---- the lists ---- */

static void list_matches(struct group_why *why, struct side *a, struct side *b)
{
    why->matches = xmalloc((a->n + b->n + 1) * sizeof *why->matches);
    for (size_t i = 0; i < a->n; i++) {
        uint32_t match = a->match[i];
        a->row[i] = (uint32_t)why->match_count;
        if (match != NO_OP) {
            b->row[match] = a->row[i];
            why->matched++;
        }
        why->matches[why->match_count++] =
            (struct group_match){a->labels[i].op, match == NO_OP ? NO_OP : b->labels[match].op};
    }
    for (size_t i = 0; i < b->n; i++) {
        if (b->match[i] != NO_OP)
            continue;
        b->row[i] = (uint32_t)why->match_count;
        why->matches[why->match_count++] = (struct group_match){NO_OP, b->labels[i].op};
    }
}

static void add_edge(struct group_why *why, struct group_edge edge)
{
    if (why->edge_count == GROUP_WHY_EDGES)
        why->edges_left_out++;
    else
        why->edges[why->edge_count++] = edge;
}

/* The edges of one side; those that both have come with A. Returns how many it has. */
static size_t list_edges(struct group_why *why, const struct side *side, const struct side *other,
                         bool second)
{
    size_t all = 0;
    const uint32_t here = second ? GROUP_EDGE_B : GROUP_EDGE_A;
    const uint32_t there = second ? GROUP_EDGE_A : GROUP_EDGE_B;
    const uint32_t next_here = second ? GROUP_EDGE_NEXT_B : GROUP_EDGE_NEXT_A;
    const uint32_t next_there = second ? GROUP_EDGE_NEXT_A : GROUP_EDGE_NEXT_B;
    for (size_t i = 0; i < side->n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (!group_bit(side->below, side->n, i, j))
                continue;
            all++;
            uint32_t mi = side->match[i], mj = side->match[j];
            bool matched = mi != NO_OP && mj != NO_OP;
            bool both = matched && group_bit(other->below, other->n, mi, mj);
            uint32_t flags = here | (both ? there : 0);
            flags |= group_bit(side->next, side->n, i, j) ? next_here : 0;
            flags |= both && group_bit(other->next, other->n, mi, mj) ? next_there : 0;
            bool drawn = flags & (GROUP_EDGE_NEXT_A | GROUP_EDGE_NEXT_B);
            if ((second && both) || !(drawn || (matched && !both)))
                continue;
            add_edge(why, (struct group_edge){side->row[j], side->row[i], flags});
        }
    }
    return all;
}

struct group_why *group_explain(const struct groups *groups, uint32_t a, uint32_t b)
{
    struct group_inside *s = groups->inside;
    struct group_why *why = xcalloc(1, sizeof *why);
    struct side left = take_side(s, a), right = take_side(s, b);
    match_side(&left, &right);
    match_side(&right, &left);
    why->a_represents_b = reason_for(&left, &right, s->options.paper);
    why->b_represents_a = reason_for(&right, &left, s->options.paper);
    list_matches(why, &left, &right);
    if (left.comparable && right.comparable) {
        why->edges = xmalloc(GROUP_WHY_EDGES * sizeof *why->edges);
        why->edges_a = list_edges(why, &left, &right, false);
        why->edges_b = list_edges(why, &right, &left, true);
    }
    free_side(&left);
    free_side(&right);
    return why;
}

void group_why_free(struct group_why *why)
{
    if (!why)
        return;
    free(why->matches);
    free(why->edges);
    free(why);
}
