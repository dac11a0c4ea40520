/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Traces by hand, for tests of behaviours and groups: stacks as text, and a graph with just the
 * edges and syncs that a test wants. Event e begins at position 2e and returns at 2e + 1.
 */
#ifndef TESTS_UNIT_GRAPH_SAMPLE_H
#define TESTS_UNIT_GRAPH_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/behaviour.h"
#include "engine/graph.h"
#include "engine/mem.h"
#include "engine/vec.h"

enum { SAMPLE_FRAMES = 512 };

/* A stack is "main:12 put:7": functions from the outermost in, each with its line. "-put:7" has no
 * source, "~write:1" is the system's besides. */
struct sample {
    vec_of(const char *) stacks; /* texts must outlive the sample */
    vec_of(struct action) actions;
    vec_of(struct op) ops;
    vec_of(uint64_t) durable; /* by the syncs that cover it */
    struct edge_list {
        struct sample_edge {
            uint32_t from, to;
        } * at;
        size_t n, cap;
    } edges;
    struct call_frame frames[SAMPLE_FRAMES];
    struct graph g;
};

static inline uint64_t sample_key(const char *text, size_t n)
{
    return XXH3_64bits(text, n);
}

static inline size_t sample_path(void *data, uint32_t stack, const struct call_frame **out)
{
    struct sample *s = data;
    size_t n = 0;
    for (const char *p = s->stacks.at[stack]; *p; p += strspn(p, " ")) {
        uint32_t flags = *p == '-' ? 0 : *p == '~' ? CALLTREE_SYSTEM : CALLTREE_SOURCE;
        p += *p == '-' || *p == '~';
        size_t name = strcspn(p, ":"), all = strcspn(p, " ");
        assert_true(n < SAMPLE_FRAMES);
        s->frames[n++] = (struct call_frame){.function = sample_key(p, name),
                                             .site = sample_key(p + name, all - name),
                                             .flags = flags};
        p += all;
    }
    *out = s->frames;
    return n;
}

static inline struct call_stacks sample_stacks(struct sample *s)
{
    return (struct call_stacks){s, sample_path};
}

static inline uint32_t sample_stack(struct sample *s, const char *text)
{
    for (uint32_t i = 0; i < s->stacks.n; i++)
        if (!strcmp(s->stacks.at[i], text))
            return i;
    vec_push(&s->stacks, text);
    return (uint32_t)s->stacks.n - 1;
}

/* An event without ops yet; sample_op gives it some. */
static inline struct action *sample_event(struct sample *s, uint64_t event, uint32_t thread,
                                          const char *stack, uint32_t call)
{
    vec_push(&s->actions, (struct action){.event = event,
                                          .thread = thread,
                                          .stack = sample_stack(s, stack),
                                          .first_op = (uint32_t)s->ops.n,
                                          .call = call});
    return &vec_last(&s->actions);
}

/* One op more of the latest event. */
static inline uint32_t sample_op(struct sample *s, uint8_t kind, uint32_t file, uint64_t block)
{
    struct action *a = &vec_last(&s->actions);
    vec_push(&s->ops, (struct op){.event = a->event,
                                  .offset = block * OP_BLOCK_SIZE,
                                  .length = OP_BLOCK_SIZE,
                                  .file = file,
                                  .kind = kind});
    a->op_count++;
    vec_push(&s->durable, NEVER);
    return (uint32_t)s->ops.n - 1;
}

static inline void sample_edge(struct sample *s, uint32_t from, uint32_t to)
{
    assert_true(from < to);
    vec_push(&s->edges, (struct sample_edge){from, to});
}

/* The latest event is a sync that covers one op. */
static inline void sample_sync(struct sample *s, uint32_t op)
{
    uint64_t exit = 2 * vec_last(&s->actions).event + 1;
    if (s->durable.at[op] > exit)
        s->durable.at[op] = exit;
}

/* Makes the graph of what is there: durable spreads backwards along edges. */
static inline const struct graph *sample_graph(struct sample *s)
{
    struct graph *g = &s->g;
    size_t n = s->ops.n;
    *g = (struct graph){.n = n, .ops = s->ops.at, .durable = s->durable.at};
    g->issued = xcalloc(n + 1, sizeof *g->issued);
    g->first = xcalloc(n + 2, sizeof *g->first);
    g->edges = xcalloc(s->edges.n + 1, sizeof *g->edges);
    for (size_t i = 0; i < s->edges.n; i++)
        g->first[s->edges.at[i].to + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        g->first[i] += g->first[i - 1];
    for (size_t i = 0; i < s->edges.n; i++)
        g->edges[g->first[s->edges.at[i].to + 1]++].from = s->edges.at[i].from;
    for (size_t i = n; i-- > 0;) {
        g->issued[i] = 2 * s->ops.at[i].event;
        for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++)
            if (g->durable[g->edges[k].from] > g->durable[i])
                g->durable[g->edges[k].from] = g->durable[i];
    }
    return g;
}

static inline struct behaviours *sample_behaviours(struct sample *s,
                                                   const struct behaviour_options *options)
{
    struct behaviours *list = NULL;
    struct error e;
    struct call_stacks stacks = sample_stacks(s);
    assert_true(behaviours_find(&list, s->actions.at, s->actions.n, &stacks, options, &e));
    return list;
}

static inline void sample_free(struct sample *s)
{
    vec_free(&s->stacks);
    vec_free(&s->actions);
    vec_free(&s->ops);
    vec_free(&s->durable);
    vec_free(&s->edges);
    free(s->g.issued);
    free(s->g.first);
    free(s->g.edges);
    *s = (struct sample){0};
}

#endif
