/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/graph.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
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
    free(g);
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
            if (from < a || via[from - a])
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

void graph_closure(const struct graph *g, const uint32_t *ops, size_t n, uint64_t *below)
{
    size_t words = (n + 63) / 64;
    memset(below, 0, n * words * sizeof *below);
    if (n < 2)
        return;
    uint32_t base = ops[0];
    size_t span = ops[n - 1] - base + 1;
    /* reach[x]: which of the ops lead to x. Filled from the first to the last. */
    uint64_t *reach = xcalloc(span * words, sizeof *reach);
    size_t next = 0;
    for (size_t x = 0; x < span; x++) {
        uint64_t *row = reach + x * words;
        uint32_t op = base + (uint32_t)x;
        for (uint32_t i = g->first[op]; i < g->first[op + 1]; i++) {
            uint32_t from = g->edges[i].from;
            if (from < base)
                continue;
            const uint64_t *other = reach + (from - base) * words;
            for (size_t w = 0; w < words; w++)
                row[w] |= other[w];
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
}
