/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parts of graphs: they say exactly what the graph says of their ops, with no edge too many; and
 * neighbourhoods, against a search that knows no tricks.
 */
#include "tests/unit/graph_sample.h"

#include "engine/bits.h"
#include "engine/subgraph.h"

enum { CASES = 3000, OPS = 14 };

/* Up to OPS ops in as many events, with random edges, syncs and subsets. */
static void random_sample(struct sample *s, unsigned *seed)
{
    size_t n = (size_t)rand_r(seed) % OPS + 1;
    int edges = rand_r(seed) % 6 + 1, syncs = rand_r(seed) % 4;

    for (uint64_t event = 1; s->ops.n < n; event++) {
        bool sync = s->ops.n && rand_r(seed) % 4 < syncs;
        sample_event(s, event, 1, "main:1", sync ? CALL_FSYNC : CALL_WRITE);
        for (uint32_t op = 0; sync && op < s->ops.n; op++)
            if (rand_r(seed) % 2)
                sample_sync(s, op);
        for (int k = rand_r(seed) % 2; !sync && k >= 0 && s->ops.n < n; k--) {
            uint32_t op = sample_op(s, OP_DATA, 1, 0);
            for (uint32_t from = 0; from < op; from++)
                if (rand_r(seed) % 8 < edges - 1 && op - from < 6)
                    sample_edge(s, from, op);
        }
    }
}

static size_t random_ops(const struct graph *g, unsigned *seed, uint32_t *out)
{
    size_t n = 0;
    int keep = rand_r(seed) % 4 + 1;

    for (uint32_t i = 0; i < g->n; i++)
        if (rand_r(seed) % 4 < keep)
            out[n++] = i;
    return n;
}

/* All pairs that edges lead from and to, leaving one edge out (SIZE_MAX: none). */
static void reach(const struct subgraph *s, size_t without, bool *out)
{
    memset(out, 0, s->n * s->n * sizeof *out);
    for (size_t i = 0; i < s->edge_count; i++)
        out[s->edges[i].from * s->n + s->edges[i].to] |= i != without;
    for (size_t k = 0; k < s->n; k++)
        for (size_t i = 0; i < s->n; i++)
            for (size_t j = 0; j < s->n; j++)
                out[i * s->n + j] |= out[i * s->n + k] && out[k * s->n + j];
}

/* What a node says of another, by the definitions. */
static bool before(const struct graph *g, const struct subgraph_node *a,
                   const struct subgraph_node *b)
{
    if (a->kind == SUBGRAPH_OP && b->kind == SUBGRAPH_OP)
        return graph_before(g, a->op, b->op);
    if (a->kind == SUBGRAPH_SYNC)
        return a->position < b->position;
    return a->kind == SUBGRAPH_OP && (b->kind == SUBGRAPH_SYNC ? g->durable[a->op] <= b->position
                                                               : g->durable[a->op] < b->position);
}

static void edges_say_what_the_graph_says(void **state)
{
    (void)state;
    unsigned seed = 1;
    size_t syncs = 0, rules = 0;

    for (int c = 0; c < CASES; c++) {
        struct sample sample = {0};
        uint32_t ops[OPS];
        random_sample(&sample, &seed);
        const struct graph *g = sample_graph(&sample);
        size_t n = random_ops(g, &seed, ops);
        uint64_t ack = (uint64_t)(rand_r(&seed) % 30) * 2;
        struct subgraph *s = subgraph_order(g, ops, n, &ack, c % 3 == 0, false);
        bool *all = xcalloc(s->n * s->n + 1, sizeof *all), *less = xcalloc(s->n * s->n + 1, 1);

        reach(s, SIZE_MAX, all);
        for (size_t i = 0; i < s->n; i++)
            for (size_t j = 0; j < s->n; j++)
                assert_int_equal(all[i * s->n + j],
                                 i != j && before(g, &s->nodes[i], &s->nodes[j]));
        for (size_t k = 0; k < s->edge_count; k++) {
            const struct subgraph_edge *e = &s->edges[k];
            assert_true(e->from < e->to);
            assert_false(e->transitive);
            reach(s, k, less);
            assert_false(less[e->from * s->n + e->to]);
            rules += e->kind == SUBGRAPH_RULE;
        }
        for (size_t i = 0; i < s->n; i++)
            syncs += s->nodes[i].kind == SUBGRAPH_SYNC;
        free(all);
        free(less);
        subgraph_free(s);
        sample_free(&sample);
    }
    assert_true(syncs > CASES && rules > CASES); /* there was something to say */
}

/* Asked for them, every direct edge between the ops is there, marked when others imply it. */
static void implied_edges_can_be_shown(void **state)
{
    (void)state;
    unsigned seed = 2;
    size_t implied = 0;

    for (int c = 0; c < CASES; c++) {
        struct sample sample = {0};
        uint32_t ops[OPS];
        random_sample(&sample, &seed);
        const struct graph *g = sample_graph(&sample);
        size_t n = random_ops(g, &seed, ops);
        struct subgraph *few = subgraph_order(g, ops, n, NULL, 0, false);
        struct subgraph *all = subgraph_order(g, ops, n, NULL, 0, true);
        size_t direct = 0, found = 0, plain = 0;

        for (size_t i = 0; i < n; i++)
            for (uint32_t k = g->first[ops[i]]; k < g->first[ops[i] + 1]; k++)
                for (size_t j = 0; j < i; j++)
                    direct += g->edges[k].from == ops[j];
        for (size_t i = 0; i < all->edge_count; i++) {
            const struct subgraph_edge *e = &all->edges[i];
            found += e->kind == SUBGRAPH_RULE && !e->through;
            plain += !e->transitive;
            implied += e->transitive;
        }
        assert_int_equal(found, direct);
        assert_int_equal(plain, few->edge_count);
        subgraph_free(few);
        subgraph_free(all);
        sample_free(&sample);
    }
    assert_true(implied > CASES / 10);
}

/*   0 → 1 → 2 → 3, of which 1 and 2 are not shown */
static void hidden_steps_are_counted(void **state)
{
    (void)state;
    struct sample sample = {0};
    const uint32_t ends[] = {0, 3};

    for (uint64_t e = 1; e <= 4; e++) {
        sample_event(&sample, e, 1, "main:1", CALL_WRITE);
        sample_op(&sample, OP_DATA, 1, 0);
        if (e > 1)
            sample_edge(&sample, (uint32_t)e - 2, (uint32_t)e - 1);
    }
    struct subgraph *s = subgraph_order(sample_graph(&sample), ends, 2, NULL, 0, false);
    assert_int_equal(s->edge_count, 1);
    assert_int_equal(s->edges[0].kind, SUBGRAPH_RULE);
    assert_int_equal(s->edges[0].through, 2);
    subgraph_free(s);
    sample_free(&sample);
}

/* ---- neighbourhoods ---- */

/* How many edges away each op is from the given one, by widening as long as something changes. */
static void distances(const struct graph *g, uint32_t from, unsigned *out)
{
    for (size_t i = 0; i < g->n; i++)
        out[i] = i == from ? 0 : UINT32_MAX;
    for (size_t round = 0; round < g->n; round++)
        for (uint32_t to = 0; to < g->n; to++)
            for (uint32_t k = g->first[to]; k < g->first[to + 1]; k++) {
                uint32_t a = g->edges[k].from;
                if (out[a] != UINT32_MAX && out[a] + 1 < out[to])
                    out[to] = out[a] + 1;
                if (out[to] != UINT32_MAX && out[to] + 1 < out[a])
                    out[a] = out[to] + 1;
            }
}

static void the_nearest_come_first(void **state)
{
    (void)state;
    unsigned seed = 3;

    for (int c = 0; c < CASES; c++) {
        struct sample sample = {0};
        unsigned away[OPS], farthest = 0;
        uint32_t out[OPS];
        uint64_t left_out;
        random_sample(&sample, &seed);
        const struct graph *g = sample_graph(&sample);
        uint32_t from = (uint32_t)rand_r(&seed) % (uint32_t)g->n;
        unsigned hops = (unsigned)rand_r(&seed) % 4;
        size_t max = (size_t)rand_r(&seed) % OPS + 1, within = 0;
        distances(g, from, away);
        for (size_t i = 0; i < g->n; i++)
            within += away[i] <= hops;

        size_t n = subgraph_nearest(g, &from, 1, hops, 0, UINT32_MAX, out, max, &left_out);
        assert_int_equal(n, within < max ? within : max);
        assert_true(n + left_out <= within);
        assert_true(within <= max ? left_out == 0 : left_out > 0);
        bool taken[OPS] = {false};
        for (size_t i = 0; i < n; i++) {
            assert_true(i == 0 || out[i - 1] < out[i]);
            taken[out[i]] = true;
            farthest = away[out[i]] > farthest ? away[out[i]] : farthest;
        }
        assert_true(taken[from] && farthest <= hops);
        for (size_t i = 0; i < g->n; i++) /* what was left out is no nearer */
            assert_true(taken[i] || away[i] >= farthest || away[i] > hops);
        sample_free(&sample);
    }
}

static void neighbourhoods_keep_within_bounds(void **state)
{
    (void)state;
    struct sample sample = {0};
    const uint32_t middle = 5;
    uint32_t out[11];
    uint64_t left_out;

    for (uint64_t e = 1; e <= 11; e++) {
        sample_event(&sample, e, 1, "main:1", CALL_WRITE);
        sample_op(&sample, OP_DATA, 1, 0);
        if (e > 1)
            sample_edge(&sample, (uint32_t)e - 2, (uint32_t)e - 1);
    }
    const struct graph *g = sample_graph(&sample);
    assert_int_equal(subgraph_nearest(g, &middle, 1, 9, 4, 7, out, 11, &left_out), 4);
    assert_int_equal(out[0], 4);
    assert_int_equal(out[3], 7);
    assert_int_equal(subgraph_nearest(g, &middle, 1, 0, 0, 10, out, 11, &left_out), 1);
    assert_int_equal(out[0], 5);
    sample_free(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_say_what_the_graph_says),
        cmocka_unit_test(implied_edges_can_be_shown),
        cmocka_unit_test(hidden_steps_are_counted),
        cmocka_unit_test(the_nearest_come_first),
        cmocka_unit_test(neighbourhoods_keep_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
