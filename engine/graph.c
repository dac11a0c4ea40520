/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/graph.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/scratch.h"
#include "engine/vec.h"

void graph_free(struct graph *g)
{
    if (!g)
        return;
    free(g->ops);
    free(g->issued);
    free(g->durable);
    free(g->lacking);
    free(g->first);
    free(g->edges);
    free(g->event_first);
    free(g->fixes);
    free(g->copies);
    free(g);
}

const struct fix *graph_fix_at(const struct graph *g, uint64_t position)
{
    size_t low = 0, high = g->fix_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (g->fixes[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->fix_count && g->fixes[low].position == position ? &g->fixes[low].fix : NULL;
}

uint32_t graph_issued_from(const struct graph *g, uint64_t position)
{
    size_t low = 0, high = g->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (g->issued[middle] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

uint32_t graph_issued_behind(const struct graph *g, uint64_t position)
{
    return position == NEVER ? (uint32_t)g->n : graph_issued_from(g, position + 1);
}

uint32_t graph_event_ops(const struct graph *g, uint64_t event, size_t *count)
{
    if (event < 1 || event > g->events) {
        *count = 0;
        return NO_OP;
    }
    *count = g->event_first[event + 1] - g->event_first[event];
    return g->event_first[event];
}

static bool durable_before(const struct graph *g, uint32_t a, uint32_t b)
{
    return g->durable[a] < g->issued[b];
}

/* Walks back from b, no further than a, breadth first; via[x − a] is the edge that led to x from
 * the later side, plus 1. Returns whether a was reached. */
static bool walk_back(const struct graph *g, uint32_t a, uint32_t b, uint32_t *via)
{
    vec_of(uint32_t) queue = {0};
    bool found = false;
    vec_push(&queue, b);
    for (size_t head = 0; head < queue.n && !found; head++) {
        uint32_t at = queue.at[head];
        for (uint32_t i = g->first[at]; i < g->first[at + 1] && !found; i++) {
            uint32_t from = g->edges[i].from;
            /* What is durable before a is does not come after it. */
            if (from < a || via[from - a] || g->durable[from] < g->durable[a])
                continue;
            via[from - a] = i + 1;
            found = from == a;
            vec_push(&queue, from);
        }
    }
    vec_free(&queue);
    return found;
}

bool graph_before(const struct graph *g, uint32_t a, uint32_t b)
{
    if (a >= b)
        return false;
    if (durable_before(g, a, b))
        return true;
    if (g->first[b] == g->first[b + 1])
        return false;
    uint32_t *via = xcalloc(b - a + 1, sizeof *via);
    bool found = walk_back(g, a, b, via);
    free(via);
    return found;
}

/* The op that an edge leads to: the one whose range of edges it lies in. */
static uint32_t edge_target(const struct graph *g, uint32_t edge)
{
    size_t low = 0, high = g->n;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (g->first[middle] <= edge)
            low = middle;
        else
            high = middle;
    }
    while (g->first[low + 1] <= edge)
        low++;
    return (uint32_t)low;
}

size_t graph_why(const struct graph *g, uint32_t a, uint32_t b, struct graph_step *steps,
                 size_t max)
{
    if (a >= b)
        return 0;
    uint32_t *via = xcalloc(b - a + 1, sizeof *via);
    size_t n = 0;
    if (walk_back(g, a, b, via)) {
        for (uint32_t at = a; at != b;) {
            uint32_t edge = via[at - a] - 1;
            uint32_t to = edge_target(g, edge);
            if (n < max)
                steps[n] = (struct graph_step){at, to, (enum model_rule)g->edges[edge].rule};
            n++;
            at = to;
        }
    } else if (durable_before(g, a, b)) {
        if (max)
            steps[0] = (struct graph_step){a, b, RULE_SYNCED};
        n = 1;
    }
    free(via);
    return n;
}

/* ---- the order of a few ops ---- */

/* Ops that may lie on a way from one of the given to another. */
struct between {
    struct scratch index; /* op → its place in ops, once they are sorted */
    vec_of(uint32_t) ops;
};

/* Walks back from the ops. What comes before something is durable no later than it. So the walk
 * passes by what is durable before any of the ops is: nothing of them leads there; and by what was
 * durable when the op that follows it was issued: whatever leads there was, too, and that is
 * decided without a walk. */
static void find_between(const struct graph *g, const uint32_t *ops, size_t n, struct between *b)
{
    uint64_t earliest = NEVER;
    vec_of(uint32_t) todo = {0};
    scratch_clear(&b->index);
    for (size_t i = 0; i < n; i++) {
        if (g->durable[ops[i]] < earliest)
            earliest = g->durable[ops[i]];
        scratch_put(&b->index, ops[i], 0);
        vec_push(&b->ops, ops[i]);
        vec_push(&todo, ops[i]);
    }
    while (todo.n) {
        uint32_t to = todo.at[--todo.n];
        for (uint32_t i = g->first[to]; i < g->first[to + 1]; i++) {
            uint32_t from = g->edges[i].from;
            if (from < ops[0] || g->durable[from] < earliest || durable_before(g, from, to) ||
                scratch_get(&b->index, from))
                continue;
            scratch_put(&b->index, from, 0);
            vec_push(&b->ops, from);
            vec_push(&todo, from);
        }
    }
    vec_free(&todo);
    qsort(b->ops.at, b->ops.n, sizeof *b->ops.at, op_by_number);
    for (size_t i = 0; i < b->ops.n; i++)
        *scratch_get(&b->index, b->ops.at[i]) = i;
}

void graph_closure(const struct graph *g, const uint32_t *ops, size_t n, uint64_t *below)
{
    size_t words = (n + 63) / 64;
    memset(below, 0, n * words * sizeof *below);
    if (n < 2)
        return;
    struct between b = {0};
    find_between(g, ops, n, &b);
    /* reach: for each of them, which of the ops lead there. Filled from the first to the last. */
    uint64_t *reach = xcalloc(b.ops.n * words, sizeof *reach);
    size_t next = 0;
    for (size_t x = 0; x < b.ops.n; x++) {
        uint64_t *row = reach + x * words;
        uint32_t op = b.ops.at[x];
        for (uint32_t i = g->first[op]; i < g->first[op + 1]; i++) {
            const uint64_t *place = scratch_get(&b.index, g->edges[i].from);
            for (size_t w = 0; place && w < words; w++)
                row[w] |= reach[*place * words + w];
        }
        if (ops[next] != op)
            continue;
        memcpy(below + next * words, row, words * sizeof *row);
        for (size_t j = 0; j < next; j++)
            if (durable_before(g, ops[j], op))
                below[next * words + j / 64] |= UINT64_C(1) << (j % 64);
        row[next / 64] |= UINT64_C(1) << (next % 64);
        next++;
    }
    free(reach);
    scratch_free(&b.index);
    vec_free(&b.ops);
}
