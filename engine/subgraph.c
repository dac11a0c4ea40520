/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/subgraph.h"

#include <stdlib.h>
#include <string.h>

#include "engine/bits.h"
#include "engine/mem.h"
#include "engine/vec.h"

void subgraph_free(struct subgraph *s)
{
    if (!s)
        return;
    free(s->nodes);
    free(s->edges);
    free(s->title);
    free(s);
}

/* ---- nodes ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The positions at which some of the ops become durable, ascending, each once. */
static size_t find_syncs(const struct graph *g, const uint32_t *ops, size_t n, uint64_t *out)
{
    size_t count = 0, kept = 0;

    for (size_t i = 0; i < n; i++)
        if (g->durable[ops[i]] != NEVER)
            out[count++] = g->durable[ops[i]];
    qsort(out, count, sizeof *out, by_value);
    for (size_t i = 0; i < count; i++)
        if (!kept || out[kept - 1] != out[i])
            out[kept++] = out[i];
    return kept;
}

static int by_position(const void *a, const void *b)
{
    const struct subgraph_node *x = a, *y = b;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return 0;
}

static void add_nodes(struct subgraph *s, const struct graph *g, const uint32_t *ops, size_t n,
                      const uint64_t *acks, size_t ack_count)
{
    uint64_t *syncs = xcalloc(n + 1, sizeof *syncs);
    size_t sync_count = find_syncs(g, ops, n, syncs);

    s->nodes = xcalloc(n + sync_count + ack_count + 1, sizeof *s->nodes);
    for (size_t i = 0; i < n; i++)
        s->nodes[s->n++] = (struct subgraph_node){.kind = SUBGRAPH_OP,
                                                  .op = ops[i],
                                                  .event = g->ops[ops[i]].event,
                                                  .file = g->ops[ops[i]].file,
                                                  .position = g->issued[ops[i]],
                                                  .behaviour = NO_BEHAVIOUR};
    for (size_t i = 0; i < sync_count; i++)
        s->nodes[s->n++] = (struct subgraph_node){
            .kind = SUBGRAPH_SYNC, .op = NO_OP, .position = syncs[i], .behaviour = NO_BEHAVIOUR};
    for (size_t i = 0; i < ack_count; i++)
        s->nodes[s->n++] = (struct subgraph_node){
            .kind = SUBGRAPH_ACK, .op = NO_OP, .position = acks[i], .behaviour = NO_BEHAVIOUR};
    qsort(s->nodes, s->n, sizeof *s->nodes, by_position);
    free(syncs);
}

/* ---- order ---- */

/* Whether one node comes before another because of time and syncs alone. */
static bool synced_before(const struct graph *g, const struct subgraph_node *a,
                          const struct subgraph_node *b)
{
    if (a->kind == SUBGRAPH_SYNC)
        return a->position < b->position;
    if (a->kind != SUBGRAPH_OP)
        return false;
    if (b->kind == SUBGRAPH_SYNC)
        return g->durable[a->op] <= b->position;
    return g->durable[a->op] < b->position;
}

/* Row i of the answer has the nodes that come before node i. */
static uint64_t *close_order(const struct subgraph *s, const struct graph *g, const uint32_t *ops,
                             size_t n)
{
    size_t words = bits_words(s->n), op_words = bits_words(n);
    uint64_t *below = xcalloc(s->n * words + 1, sizeof *below);
    uint64_t *op_below = xcalloc(n * op_words + 1, sizeof *op_below);
    size_t *place = xcalloc(n + 1, sizeof *place); /* of each op among the nodes */

    graph_closure(g, ops, n, op_below);
    for (size_t i = 0, k = 0; i < s->n; i++) {
        for (size_t j = 0; j < i; j++)
            if (synced_before(g, &s->nodes[j], &s->nodes[i]))
                bits_add(below + i * words, j);
        if (s->nodes[i].kind != SUBGRAPH_OP)
            continue;
        for (size_t j = 0; bits_find(op_below + k * op_words, op_words, &j); j++)
            bits_add(below + i * words, place[j]);
        place[k++] = i;
    }
    free(place);
    free(op_below);
    return below;
}

static const struct graph_edge *direct_edge(const struct graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t i = g->first[to]; i < g->first[to + 1]; i++)
        if (g->edges[i].from == from)
            return &g->edges[i];
    return NULL;
}

/* Why an op must persist before another, where no sync shown lies between them. */
static void find_rule(struct subgraph_edge *edge, const struct graph *g, uint32_t from, uint32_t to)
{
    const struct graph_edge *direct = direct_edge(g, from, to);
    struct graph_step *steps;
    size_t n;

    if (direct) {
        edge->rule = (uint8_t)direct->rule;
        return;
    }
    n = graph_why(g, from, to, NULL, 0);
    steps = xcalloc(n + 1, sizeof *steps);
    graph_why(g, from, to, steps, n);
    edge->rule = (uint8_t)(n ? steps[n - 1].rule : RULE_SYNCED);
    edge->through = n ? (uint32_t)n - 1 : 0;
    free(steps);
}

static struct subgraph_edge make_edge(const struct subgraph *s, const struct graph *g, size_t from,
                                      size_t to)
{
    const struct subgraph_node *a = &s->nodes[from], *b = &s->nodes[to];
    struct subgraph_edge edge = {.from = (uint32_t)from, .to = (uint32_t)to, .rule = RULE_SYNCED};

    if (a->kind == SUBGRAPH_SYNC) {
        edge.kind = b->kind == SUBGRAPH_SYNC ? SUBGRAPH_NEXT : SUBGRAPH_AFTER;
    } else if (b->kind == SUBGRAPH_SYNC) {
        edge.kind = SUBGRAPH_DURABLE;
    } else {
        edge.kind = SUBGRAPH_RULE;
        find_rule(&edge, g, a->op, b->op);
    }
    return edge;
}

/* Of node i's predecessors, those that no other of them comes after: from the latest to the
 * earliest, each hides all that come before it. */
static void keep_nearest(const uint64_t *below, size_t words, size_t i, uint64_t *kept,
                         uint64_t *hidden)
{
    const uint64_t *row = below + i * words;

    memset(kept, 0, words * sizeof *kept);
    memset(hidden, 0, words * sizeof *hidden);
    for (size_t j = i; j-- > 0;) {
        if (!bits_has(row, j) || bits_has(hidden, j))
            continue;
        bits_add(kept, j);
        for (size_t w = 0; w < words; w++)
            hidden[w] |= below[j * words + w];
    }
}

static void add_edges(struct subgraph *s, const struct graph *g, const uint64_t *below,
                      bool transitive)
{
    size_t words = bits_words(s->n);
    uint64_t *kept = xcalloc(words + 1, sizeof *kept), *hidden = xcalloc(words + 1, sizeof *hidden);
    vec_of(struct subgraph_edge) edges = {0};

    for (size_t i = 0; i < s->n; i++) {
        keep_nearest(below, words, i, kept, hidden);
        for (size_t j = 0; j < i; j++) {
            bool op_to_op = s->nodes[i].kind == SUBGRAPH_OP && s->nodes[j].kind == SUBGRAPH_OP;
            bool implied = !bits_has(kept, j) && transitive && op_to_op &&
                           direct_edge(g, s->nodes[j].op, s->nodes[i].op);
            if (!bits_has(kept, j) && !implied)
                continue;
            struct subgraph_edge edge = make_edge(s, g, j, i);
            edge.transitive = implied;
            vec_push(&edges, edge);
        }
    }
    s->edges = edges.at;
    s->edge_count = edges.n;
    free(kept);
    free(hidden);
}

struct subgraph *subgraph_order(const struct graph *g, const uint32_t *ops, size_t n,
                                const uint64_t *acks, size_t ack_count, bool transitive)
{
    struct subgraph *s = xcalloc(1, sizeof *s);

    add_nodes(s, g, ops, n, acks, ack_count);
    uint64_t *below = close_order(s, g, ops, n);
    add_edges(s, g, below, transitive);
    free(below);
    return s;
}

/* ---- neighbourhoods ---- */

/* Hops are counted in a byte, one for each op of the trace. */
enum { HOPS_MAX = UINT8_MAX - 2 };

struct found {
    uint32_t op, hops;
    uint64_t distance; /* in ops, to the nearest of the given */
};

struct nearest {
    const struct graph *g;
    const uint32_t *from;
    size_t n;
    uint8_t *hops; /* by op: how many edges away it is, and one; 0: not met */
    vec_of(struct found) found;
};

static uint64_t distance(const struct nearest *s, uint32_t op)
{
    uint64_t best = UINT64_MAX;

    for (size_t i = 0; i < s->n; i++) {
        uint64_t d = op > s->from[i] ? op - s->from[i] : s->from[i] - op;
        best = d < best ? d : best;
    }
    return best;
}

static bool meet(struct nearest *s, uint32_t op, uint32_t hops)
{
    if (s->hops[op])
        return false;
    s->hops[op] = (uint8_t)(hops + 1);
    vec_push(&s->found, (struct found){op, hops, distance(s, op)});
    return true;
}

/* The first edge from k on that leads away from an op so many hops away; `end` when there is none.
 * This is what takes the time: it goes over all edges of the trace. */
static uint32_t next_from(const struct nearest *s, uint32_t k, uint32_t end, uint32_t hops)
{
    const struct graph_edge *edges = s->g->edges;
    const uint8_t *met = s->hops, wanted = (uint8_t)(hops + 1);

    while (k < end && met[edges[k].from] != wanted)
        k++;
    return k;
}

/* The op that an edge leads to. */
static uint32_t edge_target(const struct graph *g, uint32_t edge)
{
    size_t low = 0, high = g->n - 1; /* the last op whose edges begin at or before it */

    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (g->first[middle] <= edge)
            low = middle;
        else
            high = middle - 1;
    }
    return (uint32_t)low;
}

/* One edge further out, in both directions. Only edges into an op are kept by the graph, so those
 * that lead on from the front are found by a pass over all. */
static bool widen(struct nearest *s, uint32_t hops, uint32_t low, uint32_t high)
{
    const struct graph *g = s->g;
    size_t before = s->found.n;
    uint32_t earliest = NO_OP, last = g->first[high < g->n ? high + 1 : g->n];

    for (size_t i = 0; i < before; i++) {
        uint32_t op = s->found.at[i].op;
        if (s->found.at[i].hops != hops)
            continue;
        earliest = op < earliest ? op : earliest;
        for (uint32_t k = g->first[op]; k < g->first[op + 1]; k++)
            if (g->edges[k].from >= low)
                meet(s, g->edges[k].from, hops + 1);
    }
    if (earliest == NO_OP)
        return false;
    for (uint32_t k = g->first[earliest]; (k = next_from(s, k, last, hops)) < last; k++)
        meet(s, edge_target(g, k), hops + 1);
    return s->found.n > before;
}

static int nearest_first(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->hops != y->hops)
        return x->hops < y->hops ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

size_t subgraph_nearest(const struct graph *g, const uint32_t *from, size_t n, unsigned hops,
                        uint32_t low, uint32_t high, uint32_t *out, size_t max, uint64_t *left_out)
{
    struct nearest s = {.g = g, .from = from, .n = n, .hops = xcalloc(g->n + 1, 1)};
    uint32_t far = hops < HOPS_MAX ? hops : HOPS_MAX;

    for (size_t i = 0; i < n; i++)
        meet(&s, from[i], 0);
    /* Past the limit nothing further out can be taken; what one hop more would add is not known. */
    for (uint32_t h = 0; h < far && s.found.n <= max && widen(&s, h, low, high); h++)
        ;
    qsort(s.found.at, s.found.n, sizeof *s.found.at, nearest_first);
    size_t taken = s.found.n < max ? s.found.n : max;
    for (size_t i = 0; i < taken; i++)
        out[i] = s.found.at[i].op;
    *left_out = s.found.n - taken;
    qsort(out, taken, sizeof *out, op_by_number);
    vec_free(&s.found);
    free(s.hops);
    return taken;
}
