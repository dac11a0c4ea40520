/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The persistence graph: what each model makes of short programs, when ops are durable, the paper's
 * example, mistakes of earlier tools that are not to be repeated, and the questions that can be
 * asked of a graph against all pairs on random programs. And the notation the programs are in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/graph.h"
#include "engine/litmus.h"
#include "engine/litmus_states.h"
#include "engine/mem.h"

/* ---- programs and their graphs ---- */

struct made {
    struct litmus *litmus;
    struct graph *graph;
};

static struct graph *build(const char *model_name, const struct graph_source *source)
{
    struct model model;
    struct error e;
    struct graph *g = NULL;
    if (!model_find(model_name, &model, &e) || !graph_build(&g, &model, source, &e))
        fail_msg("%s", e.text);
    return g;
}

static struct made make(const char *model, const char *program)
{
    struct made m = {0};
    struct error e;
    if (!litmus_parse(&m.litmus, program, "program", &e))
        fail_msg("%s", e.text);
    m.graph = build(model, litmus_source(m.litmus));
    return m;
}

static void unmake(struct made *m)
{
    graph_free(m->graph);
    litmus_free(m->litmus);
}

/* Whether every op of one event must persist before every op of another. */
static bool event_before(const struct graph *g, uint64_t a, uint64_t b)
{
    size_t n, m;
    uint32_t first = graph_event_ops(g, a, &n), other = graph_event_ops(g, b, &m);
    assert_true(n && m);
    for (uint32_t i = first; i < first + n; i++)
        for (uint32_t k = other; k < other + m; k++)
            if (!graph_before(g, i, k))
                return false;
    return true;
}

static bool event_durable(const struct graph *g, uint64_t event)
{
    size_t n;
    uint32_t first = graph_event_ops(g, event, &n);
    assert_true(n);
    for (uint32_t i = first; i < first + n; i++)
        if (g->durable[i] == NEVER)
            return false;
    return true;
}

/* Event b of the program waits for event a, under the model. */
static void check_before(const char *model, const char *program, uint64_t a, uint64_t b, bool want)
{
    struct made m = make(model, program);
    if (event_before(m.graph, a, b) != want)
        fail_msg("%s: event %d %s wait for event %d of\n%s", model, (int)b,
                 want ? "should" : "should not", (int)a, program);
    unmake(&m);
}

static void check_durable(const char *model, const char *program, uint64_t event, bool want)
{
    struct made m = make(model, program);
    if (event_durable(m.graph, event) != want)
        fail_msg("%s: event %d %s be durable at the end of\n%s", model, (int)event,
                 want ? "should" : "should not", program);
    unmake(&m);
}

struct wanted {
    const char *text;
    bool printed, found;
};

static void look_for(void *data, const struct litmus_state *state)
{
    struct wanted *w = data;
    if (strcmp(state->text, w->text) == 0 && (!w->printed || *state->printed))
        w->found = true;
}

/* Whether the program may leave the state, printed: after it had printed something. */
static bool may_leave(const char *model, const char *program, const char *text, bool printed)
{
    struct made m = make(model, program);
    struct wanted w = {text, printed, false};
    struct error e;
    if (!litmus_states(m.litmus, m.graph, look_for, &w, &e))
        fail_msg("%s", e.text);
    unmake(&m);
    return w.found;
}

static const char *const all_models[] = {"ext4", "xfs", "btrfs", "posix", "ext4-paper", "strict"};
enum { MODELS = sizeof all_models / sizeof *all_models };

/* ---- rules ---- */

static void test_ops_of_a_new_block(void **state)
{
    (void)state;
    struct made m = make("ext4", "create a\nappend a 4096 'x'\n");
    const struct op *ops = m.graph->ops;
    assert_int_equal(m.graph->n, 3);
    assert_int_equal(ops[0].kind, OP_NAME);
    assert_int_equal(ops[1].kind, OP_ALLOC);
    assert_int_equal(ops[2].kind, OP_DATA);
    assert_int_equal(ops[1].size, 4096);
    assert_true(ops[1].flags & OP_EXTENDS);
    struct graph_step steps[2];
    assert_int_equal(graph_why(m.graph, 0, 2, steps, 2), 2);
    assert_int_equal(steps[0].rule, RULE_CREATED);
    assert_int_equal(steps[1].rule, RULE_ALLOC);
    unmake(&m);
    m = make("xfs", "create a\nappend a 4096 'x'\n");
    assert_int_equal(m.graph->ops[1].kind, OP_DATA);
    assert_int_equal(m.graph->ops[2].kind, OP_SIZE);
    assert_int_equal(graph_why(m.graph, 1, 2, steps, 2), 1);
    assert_int_equal(steps[0].rule, RULE_DATA_FIRST);
    unmake(&m);
}

static void test_names_in_order(void **state)
{
    (void)state;
    const char *names = "mkdir d\nmkdir e\ncreate d/a\ncreate e/b\n";
    check_before("ext4", names, 3, 4, true);
    check_before("xfs", names, 3, 4, true);
    check_before("btrfs", names, 3, 4, true);
    check_before("strict", names, 3, 4, true);
    check_before("posix", names, 3, 4, false);
    check_before("ext4-paper", names, 3, 4, false);
    check_before("ext4-paper", "dir d\ncreate d/a\ncreate d/b\n", 1, 2, true);
    check_before("posix", "dir d\ncreate d/a\ncreate d/b\n", 1, 2, false);
    for (size_t i = 0; i < MODELS; i++) {
        /* No entry without its directory; but posix lets a synced directory lose its own name. */
        check_before(all_models[i], names, 1, 3, strcmp(all_models[i], "posix") != 0);
        check_before(all_models[i], "create a\nrename a b\n", 1, 2, true);
        check_before(all_models[i], "file a\nunlink a\ncreate a\n", 1, 2, true);
    }
}

static void test_strict_is_a_chain(void **state)
{
    (void)state;
    struct made m =
        make("strict", "file b 4096 'O'\ncreate a\nappend a 8192 'x'\npwrite b 0 9 'y'\n"
                       "rename a c\n");
    assert_int_equal(m.graph->n, 4);
    for (uint32_t i = 0; i + 1 < m.graph->n; i++)
        assert_true(graph_before(m.graph, i, i + 1));
    unmake(&m);
}

static void test_durable_positions(void **state)
{
    (void)state;
    /* positions: create 2–4, append 6–8, fsync 10–12, append 14–16 */
    struct made m = make("ext4", "create a\nappend a 4096 'x'\nfsync a\nappend a 4096 'y'\n");
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(m.graph->durable[i], 12);
        assert_true(graph_before(m.graph, i, 3));
    }
    assert_int_equal(m.graph->durable[3], NEVER);
    assert_int_equal(m.graph->issued[3], 14);
    assert_int_equal(m.graph->lacking[0], 12);
    assert_int_equal(m.graph->lacking[3], NEVER);
    assert_int_equal(m.graph->end, 16);
    unmake(&m);
}

/* Operations 1 to 3 write one block of f1, 4 writes f2, 5 syncs f2's data, 6 renames f2, 7 syncs.
 */
static void test_figure_4(void **state)
{
    (void)state;
    const char *program = "file f1 4096 'O'\nfile f2 4096 'O'\n"
                          "pwrite f1 0 10 'a'\npwrite f1 5 10 'b'\npwrite f1 0 20 'c'\n"
                          "pwrite f2 0 10 'd'\nfdatasync f2\nrename f2 f3\nsync\ncreate f4\n";
    struct made m = make("ext4-paper", program);
    const struct graph *g = m.graph;
    assert_true(event_before(g, 1, 2));
    assert_true(event_before(g, 2, 3));
    assert_true(event_before(g, 4, 6));
    for (uint64_t i = 1; i <= 3; i++) {
        assert_false(event_before(g, i, 4));
        assert_false(event_before(g, i, 6));
    }
    for (uint64_t i = 1; i <= 6; i++)
        assert_true(i == 5 || event_before(g, i, 8));
    unmake(&m);
    check_before("ext4-paper", "file f2 4096 'O'\npwrite f2 0 10 'd'\nrename f2 f3\n", 1, 2, false);
    check_before("ext4-paper", "file f2\nappend f2 10 'd'\nrename f2 f3\n", 1, 2, false);
}

/* ---- syncs of several threads ---- */

struct by_hand {
    const struct event *events;
    uint64_t length;
};

static bool hand_event(void *data, uint64_t number, struct event *out, struct error *e)
{
    (void)e;
    *out = ((const struct by_hand *)data)->events[number - 1];
    return true;
}

static uint64_t hand_length(void *data, uint32_t file)
{
    (void)file;
    return ((const struct by_hand *)data)->length;
}

static bool hand_block(void *data, uint32_t file, uint64_t block)
{
    return block * OP_BLOCK_SIZE < hand_length(data, file);
}

static struct event hand(enum call call, uint64_t entry, uint64_t exit)
{
    return (struct event){.call = (uint16_t)call,
                          .entry = entry,
                          .exit = exit,
                          .file = 2,
                          .size = call == CALL_WRITE ? OP_BLOCK_SIZE : 0};
}

static struct graph *build_by_hand(const char *model, const struct event *events, size_t n,
                                   uint64_t length)
{
    struct by_hand source = {events, length};
    struct graph_source graph_source = {.data = &source,
                                        .events = n,
                                        .event = hand_event,
                                        .length = hand_length,
                                        .has_block = hand_block};
    return build(model, &graph_source);
}

static void test_overlapping_syncs(void **state)
{
    (void)state;
    struct event events[] = {
        hand(CALL_WRITE, 1, 2),   hand(CALL_FSYNC, 3, 9), /* covers the first write only */
        hand(CALL_WRITE, 4, 5),                           /* while it runs */
        hand(CALL_FSYNC, 6, 7),  /* begins later, returns first: covers both */
        hand(CALL_WRITE, 8, 10), /* after the second has returned, while the first still runs */
        hand(CALL_WRITE, 11, 12),
    };
    for (int i = 0; i < 6; i++)
        events[i].offset = (uint64_t)i * OP_BLOCK_SIZE;
    struct graph *g =
        build_by_hand("ext4", events, sizeof events / sizeof *events, 8 * OP_BLOCK_SIZE);
    assert_int_equal(g->n, 4);
    assert_int_equal(g->durable[0], 7);
    assert_int_equal(g->durable[1], 7);
    assert_int_equal(g->durable[2], NEVER);
    assert_true(graph_before(g, 0, 2));
    assert_true(graph_before(g, 1, 2));
    assert_false(graph_before(g, 2, 3));
    graph_free(g);
}

/* A call that takes its time keeps no sync from what others had done by then. */
static void test_a_sync_while_an_older_write_runs(void **state)
{
    (void)state;
    static const enum call syncs[] = {CALL_FSYNC, CALL_SYNC};
    for (size_t m = 0; m < sizeof syncs / sizeof *syncs; m++) {
        struct event events[] = {hand(CALL_WRITE, 1, 9), hand(CALL_WRITE, 2, 3),
                                 hand(syncs[m], 4, 5)};
        events[1].offset = OP_BLOCK_SIZE;
        if (syncs[m] == CALL_SYNC)
            events[2].file = 0;
        struct graph *g =
            build_by_hand("ext4", events, sizeof events / sizeof *events, 8 * OP_BLOCK_SIZE);
        assert_int_equal(g->n, 2);
        assert_int_equal(g->durable[0], NEVER);
        assert_int_equal(g->durable[1], 5);
        graph_free(g);
    }
}

/* Neither from a change of the same file before it: what the journal has by then is committed. */
static void test_a_sync_while_a_later_write_runs(void **state)
{
    (void)state;
    static const char *const models[] = {"ext4", "xfs"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct event events[] = {hand(CALL_LINK, 1, 2),   hand(CALL_WRITE, 3, 12),
                                 hand(CALL_WRITE, 4, 13), hand(CALL_FSYNC, 6, 7),
                                 hand(CALL_LINK, 8, 9),   hand(CALL_FSYNC, 10, 11)};
        events[0].dir = events[4].dir = FILE_ROOT;
        events[0].name = 1;
        events[4].name = 2;
        events[1].offset = OP_BLOCK_SIZE;
        events[2].offset = (uint64_t)2 * OP_BLOCK_SIZE;
        struct graph *g =
            build_by_hand(models[m], events, sizeof events / sizeof *events, OP_BLOCK_SIZE);
        size_t n;
        assert_int_equal(g->durable[graph_event_ops(g, 1, &n)], 7);
        assert_int_equal(g->durable[graph_event_ops(g, 5, &n)], 11);
        for (uint64_t write = 2; write <= 3; write++)
            assert_int_equal(g->durable[graph_event_ops(g, write, &n)], NEVER);
        graph_free(g);
    }
}

/* Calls that overlap may return in another order than they took effect in: the sync waits for the
 * last that took effect, not for the last that was seen to return. */
static void test_a_sync_after_calls_that_returned_out_of_order(void **state)
{
    (void)state;
    static const uint64_t writes_end[] = {20, 11}; /* after the sync; before it */
    for (size_t i = 0; i < 2; i++) {
        struct event events[] = {hand(CALL_LINK, 1, 10), hand(CALL_LINK, 2, 3),
                                 hand(CALL_WRITE, 4, writes_end[i]), hand(CALL_FSYNC, 12, 13)};
        events[0].dir = events[1].dir = FILE_ROOT;
        events[0].name = 1;
        events[1].name = 2;
        events[2].offset = OP_BLOCK_SIZE;
        struct graph *g =
            build_by_hand("ext4", events, sizeof events / sizeof *events, OP_BLOCK_SIZE);
        size_t n;
        for (uint64_t link = 1; link <= 2; link++)
            assert_int_equal(g->durable[graph_event_ops(g, link, &n)], 13);
        assert_int_equal(g->durable[graph_event_ops(g, 3, &n)], i == 0 ? NEVER : 13);
        graph_free(g);
    }
}

/* btrfs: what is written while a sync of its file runs may be logged by it, and then waits for no
 * name; what is written after it does. */
static void test_contents_that_a_running_sync_may_log(void **state)
{
    (void)state;
    static const struct {
        enum call call;
        uint32_t traits;
        uint64_t exit;
        bool waits;
    } syncs[] = {{CALL_FSYNC, 0, 20, false},
                 {CALL_FSYNC, EVENT_UNFINISHED, NEVER, false},
                 {CALL_FSYNC, EVENT_FAILED, 20, false},
                 {CALL_WRITE, EVENT_DSYNC, 20, false},
                 {CALL_FSYNC, 0, 4, true}};
    for (size_t i = 0; i < sizeof syncs / sizeof *syncs; i++) {
        struct event events[] = {hand(CALL_LINK, 1, 2), hand(syncs[i].call, 3, syncs[i].exit),
                                 hand(CALL_WRITE, 5, 6)};
        events[0].dir = FILE_ROOT;
        events[0].name = 1;
        events[0].file = 3;
        events[1].traits = syncs[i].traits;
        if (syncs[i].call == CALL_WRITE)
            events[1].offset = OP_BLOCK_SIZE;
        struct graph *g =
            build_by_hand("btrfs", events, sizeof events / sizeof *events, OP_BLOCK_SIZE);
        size_t n;
        assert_int_equal(graph_before(g, graph_event_ops(g, 1, &n), graph_event_ops(g, 3, &n)),
                         syncs[i].waits);
        graph_free(g);
    }
}

/* btrfs: contents wait for a name however many truncations, each logged by a sync, came since. */
static void test_a_name_before_logged_truncations(void **state)
{
    (void)state;
    static const size_t rounds[] = {0, 7, 9, 255, 256, 257, 600};
    enum { MOST = 600 };
    struct event events[2 * MOST + 2];
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        size_t n = 1, ops;
        events[0] = hand(CALL_LINK, 1, 2);
        events[0].dir = FILE_ROOT;
        events[0].name = 1;
        events[0].file = 3;
        for (size_t k = 0; k < rounds[i]; k++) {
            events[n] = hand(CALL_TRUNCATE, 2 * n + 1, 2 * n + 2);
            events[n].size = k % 2 ? 0 : OP_BLOCK_SIZE;
            n++;
            events[n] = hand(CALL_FSYNC, 2 * n + 1, 2 * n + 2);
            n++;
        }
        events[n] = hand(CALL_WRITE, 2 * n + 1, 2 * n + 2);
        events[n].file = 3;
        n++;
        struct graph *g = build_by_hand("btrfs", events, n, 2 * OP_BLOCK_SIZE);
        assert_true(graph_before(g, graph_event_ops(g, 1, &ops), graph_event_ops(g, n, &ops)));
        assert_true(g->first[g->n] <= 4 * g->n);
        graph_free(g);
    }
}

/* btrfs: a name that was being made while everything was synced is not there for sure; what is
 * written after both waits for it. */
static void test_a_name_made_while_all_is_synced(void **state)
{
    (void)state;
    struct event events[] = {hand(CALL_LINK, 1, 5), hand(CALL_SYNC, 2, 4), hand(CALL_WRITE, 6, 7)};
    events[0].dir = FILE_ROOT;
    events[0].name = 1;
    events[0].file = 3;
    events[1].file = 0;
    struct graph *g = build_by_hand("btrfs", events, sizeof events / sizeof *events, OP_BLOCK_SIZE);
    size_t n;
    assert_int_equal(g->durable[graph_event_ops(g, 1, &n)], NEVER);
    assert_true(graph_before(g, graph_event_ops(g, 1, &n), graph_event_ops(g, 3, &n)));
    graph_free(g);
}

/* Truncations wait for one another: what comes behind has an edge, and not one from each. */
static void test_truncations_in_a_row(void **state)
{
    (void)state;
    enum { ROUNDS = 100 };
    struct event events[2 * ROUNDS];
    for (uint64_t i = 0; i < ROUNDS; i++) {
        events[2 * i] = hand(CALL_TRUNCATE, 4 * i + 1, 4 * i + 2);
        events[2 * i].size = i % 2 ? 0 : OP_BLOCK_SIZE;
        events[2 * i + 1] = hand(CALL_WRITE, 4 * i + 3, 4 * i + 4);
        events[2 * i + 1].file = 3;
    }
    struct graph *g =
        build_by_hand("btrfs", events, sizeof events / sizeof *events, 2 * OP_BLOCK_SIZE);
    size_t n;
    uint32_t first = graph_event_ops(g, 1, &n), last = graph_event_ops(g, 2 * ROUNDS, &n);
    assert_true(graph_before(g, first, last));
    assert_true(g->first[g->n] <= 4 * g->n);
    graph_free(g);
}

/* Under strict a sync of one file is one of all, but for stores; a later sync() has those as well.
 */
static void test_a_sync_of_all_after_that_of_another_file(void **state)
{
    (void)state;
    struct event events[] = {hand(CALL_STORE, 1, 2), hand(CALL_FSYNC, 3, 4), hand(CALL_SYNC, 5, 6)};
    events[0].size = 8;
    events[0].file = 3;
    events[2].file = 0;
    struct graph *g =
        build_by_hand("strict", events, sizeof events / sizeof *events, 8 * OP_BLOCK_SIZE);
    assert_int_equal(g->n, 1);
    assert_int_equal(g->durable[0], 6);
    graph_free(g);
}

static void test_a_failed_call_does_nothing(void **state)
{
    (void)state;
    struct event events[] = {hand(CALL_WRITE, 1, 2), hand(CALL_FSYNC, 3, 4)};
    events[1].traits = EVENT_FAILED;
    struct graph *g = build_by_hand("ext4", events, sizeof events / sizeof *events, OP_BLOCK_SIZE);
    assert_int_equal(g->durable[0], NEVER);
    graph_free(g);
}

/* ---- mistakes not to be repeated ---- */

static void test_small_write_inside_a_large_one(void **state)
{
    (void)state;
    const char *program = "file a 8192 'O'\npwrite a 100 10 'x'\npwrite a 0 4096 'y'\n";
    for (size_t i = 0; i < MODELS; i++)
        check_before(all_models[i], program, 1, 2, true);
}

static void test_truncating_open(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        assert_true(may_leave(all_models[i], "file a 4096 'O'\ncreate a\n", "a=", false));
        assert_false(may_leave(all_models[i], "file a 4096 'O'\ncreate a\nfsync a\nprint x\n",
                               "a=O4096", true));
    }
}

static void test_synced_write(void **state)
{
    (void)state;
    const char *synced = "file a 4096 'O'\npwrite a 0 4096 'x' dsync\nprint done\n";
    for (size_t i = 0; i < MODELS; i++) {
        assert_false(may_leave(all_models[i], synced, "a=O4096", true));
        assert_true(may_leave(all_models[i], synced, "a=O4096", false));
    }
}

static void test_fallocate_keeps_the_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        struct made m = make(all_models[i], "file a 4096 'O'\nfallocate a 4096 4096 keep\n");
        assert_int_equal(m.graph->n, 0);
        unmake(&m);
        assert_true(may_leave(all_models[i], "file a 4096 'O'\nfallocate a 4096 4096\n",
                              "a=O4096,04096", false));
    }
}

static void test_fsync_of_the_parent(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        check_durable(all_models[i], "dir d\ncreate d/a\n", 1, false);
        check_durable(all_models[i], "dir d\ncreate d/a\nsync\n", 1, true);
        assert_false(
            may_leave(all_models[i], "dir d\ncreate d/a\nfsync d\nprint done\n", "d/", true));
        /* A directory has no data to tell from the rest; SQLite syncs its directories so. */
        assert_false(
            may_leave(all_models[i], "file a\nunlink a\nfdatasync .\nprint done\n", "a=", true));
    }
    check_durable("posix", "create a\nfsync a\n", 1, false);
}

static void test_fsync_goes_by_the_inode(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++) {
        /* Synced by its new name, and by another one. */
        check_durable(all_models[i], "file a 4096 'O'\npwrite a 0 4096 'x'\nrename a b\nfsync b\n",
                      1, true);
        check_durable(all_models[i], "file a 4096 'O'\nlink a b\npwrite a 0 4096 'x'\nfsync b\n", 2,
                      true);
        if (strcmp(all_models[i], "strict") == 0)
            continue;
        /* Another file at the same path, maybe with the same descriptor. */
        check_durable(all_models[i],
                      "file a 4096 'O'\nlink a b\npwrite a 0 4096 'x'\nunlink a\ncreate a\n"
                      "append a 4096 'y'\nfsync a\n",
                      2, false);
    }
}

static void test_close_is_no_barrier(void **state)
{
    (void)state;
    struct event events[] = {hand(CALL_WRITE, 1, 2), hand(CALL_CLOSE, 3, 4),
                             hand(CALL_WRITE, 5, 6)};
    events[2].offset = OP_BLOCK_SIZE;
    static const char *const models[] = {"ext4", "xfs", "posix", "ext4-paper"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct graph *g =
            build_by_hand(models[i], events, sizeof events / sizeof *events, 2 * OP_BLOCK_SIZE);
        assert_int_equal(g->durable[0], NEVER);
        assert_false(graph_before(g, 0, 1));
        graph_free(g);
    }
}

static void test_sync_file_range_promises_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODELS; i++)
        check_durable(all_models[i], "file a 4096 'O'\npwrite a 0 4096 'x'\nsync_file_range a\n", 1,
                      false);
}

static void test_two_syncs_in_a_row(void **state)
{
    (void)state;
    const char *program =
        "file a 4096 'O'\nfile b 4096 'O'\npwrite a 0 4096 'x'\nfsync a\nfsync b\n"
        "pwrite b 0 4096 'y'\nfsync a\nfsync b\n";
    for (size_t i = 0; i < MODELS; i++) {
        check_before(all_models[i], program, 1, 4, true);
        check_durable(all_models[i], program, 4, true);
    }
}

/* A hole is made at the call, but after the data there, and after the sizes that wait for it. */
static void test_a_hole_follows_the_growths_of_its_own_range(void **state)
{
    (void)state;
    for (uint64_t block = 0; block < 4; block++) {
        char *program =
            xasprintf("create a\nappend a 4096 'x'\nappend a 4096 'y'\nappend a 4096 'z'\n"
                      "append a 4096 'w'\nfallocate a %d 4096 punch\nfallocate a 0 16384 punch\n",
                      (int)block * OP_BLOCK_SIZE);
        for (uint64_t append = 2; append < 6; append++) {
            check_before("xfs", program, append, 6, append == block + 2);
            check_before("xfs", program, append, 7, true);
        }
        free(program);
    }
}

static void test_what_was_never_synced_can_be_lost(void **state)
{
    (void)state;
    const char *program = "file a 4096 'O'\nfile b 4096 'O'\npwrite a 0 4096 'x'\n"
                          "pwrite b 0 4096 'y'\nfsync b\nprint done\n";
    for (size_t i = 0; i < MODELS; i++)
        assert_int_equal(may_leave(all_models[i], program, "a=O4096 b=y4096", true),
                         strcmp(all_models[i], "strict") != 0);
}

/* btrfs: a sync of a file speaks of that file and all its names, and of nothing else. */
static void test_own_names(void **state)
{
    (void)state;
    assert_true(may_leave("btrfs", "file f 4096 'O'\ncreate n\ntruncate f 100\nfsync f\nprint x\n",
                          "f=O100", true));
    const char *two = "create p\nlink p a\ncreate q\nrename q a\nfsync a\nfsync p\nprint x\n";
    assert_true(may_leave("btrfs", two, "a= p=", true));
    assert_false(may_leave("btrfs", two, "a=", true));
    assert_false(may_leave("btrfs", two, "p=", true));
}

/* btrfs: what was synced is in a log that any later sync writes, with what became of it since. */
static void test_what_the_log_has(void **state)
{
    (void)state;
#define SYNCED "mkdir d\ncreate a\nappend a 1024 'a'\nfsync a\n"
    assert_true(may_leave("btrfs", SYNCED "unlink a\nprint x\n", "(nothing)", true));
    assert_true(may_leave("btrfs", SYNCED "rename a b\nprint x\n", "b=a1024", true));
    assert_true(may_leave("btrfs", SYNCED "link a b\nprint x\n", "a=a1024 b=a1024", true));
    assert_false(may_leave("btrfs", SYNCED "create b\nprint x\n", "a=a1024 b=", true));
    assert_false(may_leave("ext4", SYNCED "rename a b\nprint x\n", "b=a1024", true));
    /* A sync of everything ends it. */
    const char *all = "create a\nfsync a\nsync\nmkdir d\nunlink a\nprint x\n";
    assert_false(may_leave("btrfs", all, "(nothing)", true));
    /* A new name that is in the log is durable when the file is synced again. */
    const char *again = SYNCED "rename a b\nappend b 1024 'b'\nfsync b\nprint x\n";
    assert_true(may_leave("btrfs", again, "b=a1024,b1024", true));
    assert_false(may_leave("btrfs", again, "a=a1024,b1024", true));
    /* A name goes there with the contents, not before them. */
    assert_false(may_leave("btrfs", SYNCED "print x\n", "a=", false));
#undef SYNCED
}

/* btrfs: the name that a rename replaces leaves the log at once; the rename comes with the journal,
 * unless its file is in the log, too. */
static void test_what_the_log_loses(void **state)
{
    (void)state;
    const char *unsynced = "create a\nfsync a\ncreate b\nrename b a\nprint x\n";
    const char *synced = "create a\nfsync a\ncreate b\nfsync b\nrename b a\nprint x\n";
    assert_true(may_leave("btrfs", unsynced, "(nothing)", true));
    assert_false(may_leave("ext4", unsynced, "(nothing)", true));
    assert_false(may_leave("btrfs", synced, "(nothing)", true));
    assert_false(may_leave("btrfs", synced, "b=", true));
}

/* ---- against all pairs ---- */

enum { PROGRAMS = 12000, MOST_OPS = 64 };

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % n;
}

static char *random_program(uint64_t *seed)
{
    struct buf b = {0};
    buf_text(&b, "file a 8192 'O'\nfile b 100 'P'\n");
    bool there[2] = {true, true};
    for (uint32_t lines = 3 + below(seed, 10); lines > 0; lines--) {
        uint32_t f = below(seed, 2);
        char name = (char)('a' + f);
        uint32_t what = there[f] ? 1 + below(seed, 8) : 0;
        if (what == 0)
            buf_printf(&b, "create %c\n", name);
        else if (what <= 3)
            buf_printf(&b, "pwrite %c %u %u 'x'%s\n", name, 2048 * below(seed, 5),
                       1 + 4096 * below(seed, 3), below(seed, 4) ? "" : " dsync");
        else if (what == 4)
            buf_printf(&b, "truncate %c %u\n", name, 1000 * below(seed, 10));
        else if (what == 5)
            buf_printf(&b, "unlink %c\n", name);
        else if (what == 6)
            buf_printf(&b, "rename %c %c\n", name, (char)('a' + 1 - f));
        else
            buf_printf(&b, "%s %c\n", below(seed, 2) ? "fsync" : "fdatasync", name);
        there[f] = what != 5 && what != 6;
        if (what == 6)
            there[1 - f] = true;
    }
    char *text = xstrdup(buf_string(&b));
    buf_free(&b);
    return text;
}

/* Direct edges and what was durable before, then everything that follows by Warshall. */
static void all_pairs(const struct graph *g, bool before[MOST_OPS][MOST_OPS])
{
    memset(before, 0, sizeof(bool[MOST_OPS][MOST_OPS]));
    for (uint32_t b = 0; b < g->n; b++) {
        for (uint32_t i = g->first[b]; i < g->first[b + 1]; i++) {
            assert_true(g->edges[i].from < b);
            before[g->edges[i].from][b] = true;
        }
        for (uint32_t a = 0; a < b; a++)
            before[a][b] |= g->durable[a] < g->issued[b];
    }
    for (uint32_t k = 0; k < g->n; k++)
        for (uint32_t a = 0; a < g->n; a++)
            for (uint32_t b = 0; before[a][k] && b < g->n; b++)
                before[a][b] |= before[k][b];
}

static void check_why(const struct graph *g, uint32_t a, uint32_t b, bool want)
{
    struct graph_step steps[MOST_OPS];
    size_t n = graph_why(g, a, b, steps, MOST_OPS);
    assert_int_equal(n > 0, want);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(steps[i].from, i ? steps[i - 1].to : a);
        bool reason =
            steps[i].rule == RULE_SYNCED && g->durable[steps[i].from] < g->issued[steps[i].to];
        for (uint32_t k = g->first[steps[i].to]; k < g->first[steps[i].to + 1]; k++)
            reason |= g->edges[k].from == steps[i].from && g->edges[k].rule == steps[i].rule;
        assert_true(reason);
    }
    assert_true(!n || steps[n - 1].to == b);
}

static void check_graph(const struct graph *g, uint64_t *seed)
{
    static bool before[MOST_OPS][MOST_OPS];
    all_pairs(g, before);
    for (uint32_t a = 0; a < g->n; a++)
        for (uint32_t b = 0; b < g->n; b++) {
            if (a == b)
                continue;
            assert_int_equal(graph_before(g, a, b), before[a][b]);
            check_why(g, a, b, before[a][b]);
            /* What must come before something durable is durable. */
            if (before[a][b])
                assert_true(g->durable[a] <= g->durable[b] || g->durable[a] < g->issued[b]);
        }
    uint32_t some[MOST_OPS];
    uint64_t rows[MOST_OPS];
    size_t n = 0;
    for (uint32_t i = 0; i < g->n; i++)
        if (below(seed, 3))
            some[n++] = i;
    graph_closure(g, some, n, rows);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            assert_int_equal(rows[i] >> j & 1, before[some[j]][some[i]]);
}

static void test_questions_against_all_pairs(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < PROGRAMS; i++) {
        char *program = random_program(&seed);
        struct made m = make(all_models[i % MODELS], program);
        if (m.graph->n <= MOST_OPS)
            check_graph(m.graph, &seed);
        unmake(&m);
        free(program);
    }
}

/* ---- the notation ---- */

static void test_notation(void **state)
{
    (void)state;
    struct made m = make("ext4", "# nothing\n\n  dir d # a folder\nfile d/a 10 'O'\n"
                                 "append d/a 5 'x'  # five\r\nsymlink to l\nprint done\n");
    assert_int_equal(litmus_events(m.litmus), 3);
    const struct event *e = litmus_event(m.litmus, 1);
    assert_int_equal(e->call, CALL_WRITE);
    assert_int_equal(e->offset, 10);
    assert_int_equal(e->size, 5);
    assert_string_equal(litmus_string(m.litmus, e->path), "d/a");
    assert_string_equal(litmus_line(m.litmus, 1), "append d/a 5 'x'");
    assert_int_equal(litmus_event(m.litmus, 2)->call, CALL_SYMLINK);
    const struct litmus_file *files;
    assert_int_equal(litmus_files(m.litmus, &files), 2);
    assert_string_equal(files[1].name, "a");
    assert_int_equal(files[1].dir, files[0].file);
    unmake(&m);
}

static void test_mistakes_in_the_notation(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"create a\nfoo", "p:2: there is no such call: foo"},
        {"creat a", "p:1: there is no call creat; is it create?"},
        {"create", "p:1: wrong number of words after: create"},
        {"create a b", "p:1: wrong number of words after: create"},
        {"\n\nunlink a", "p:3: there is no such file: a"},
        {"create d/a", "p:1: there is no such directory: d/a"},
        {"create a\nmkdir a", "p:2: it is there already: a"},
        {"create a\nrmdir a", "p:2: it is not a directory: a"},
        {"mkdir a\nunlink a", "p:2: it is a directory: a"},
        {"create a\npwrite a x 1 'x'", "p:2: not a number: x"},
        {"create a\npwrite a 0 1 x", "p:2: a letter in quotes is wanted, like 'x', not: x"},
        {"create a\nappend a 1 'x' fast", "p:2: dsync or sync may stand here, not: fast"},
        {"create a\nappend a 99999999999 'x'", "p:2: too large for a litmus program: 99999999999"},
        {"file a 99999999999999999999 'x'",
         "p:1: too large for a litmus program: 99999999999999999999"},
        {"create a\nfile b", "p:2: what is there before the run comes before the calls: file"},
        {"file a 10", "p:1: a length wants a letter after: 10"},
        {"file a\nfallocate a 0 1 all", "p:2: keep, punch or zero may stand here, not: all"},
        {"file a\nsync_file_range a 1", "p:2: an offset wants a size after: 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct litmus *litmus = NULL;
        struct error e;
        assert_false(litmus_parse(&litmus, cases[i].text, "p", &e));
        assert_string_equal(e.text, cases[i].error);
    }
}

/* ---- what cannot be followed ---- */

static bool huge_event(void *data, uint64_t number, struct event *out, struct error *e)
{
    (void)number, (void)e;
    *out = *(const struct event *)data;
    return true;
}

static uint64_t huge_length(void *data, uint32_t file)
{
    (void)data, (void)file;
    return INT64_MAX;
}

static bool no_block(void *data, uint32_t file, uint64_t block)
{
    (void)data, (void)file, (void)block;
    return false;
}

/* Sessions can say anything, and zeros take no room in them: an error at once, not after all blocks
 * of it. What is only a length costs nothing. */
static void test_huge_calls(void **state)
{
    struct event write = {.entry = 1, .exit = 2, .file = 2, .size = INT64_MAX, .call = CALL_WRITE};
    struct event punch = write, allocate = write;
    punch.call = allocate.call = CALL_FALLOCATE;
    punch.flags = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    const struct {
        struct event *event;
        bool fits;
    } cases[] = {{&write, false}, {&punch, false}, {&allocate, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph_source source = {.data = cases[i].event,
                                      .events = 1,
                                      .event = huge_event,
                                      .length = huge_length,
                                      .has_block = no_block};
        struct graph *g = NULL;
        struct model model;
        struct error e;
        assert_true(model_find("ext4", &model, &e));
        assert_int_equal(graph_build(&g, &model, &source, &e), cases[i].fits);
        if (!cases[i].fits)
            assert_non_null(strstr(e.text, "event 1 "));
        graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_huge_calls),
        cmocka_unit_test(test_ops_of_a_new_block),
        cmocka_unit_test(test_names_in_order),
        cmocka_unit_test(test_strict_is_a_chain),
        cmocka_unit_test(test_durable_positions),
        cmocka_unit_test(test_figure_4),
        cmocka_unit_test(test_overlapping_syncs),
        cmocka_unit_test(test_a_sync_while_an_older_write_runs),
        cmocka_unit_test(test_a_sync_while_a_later_write_runs),
        cmocka_unit_test(test_a_sync_after_calls_that_returned_out_of_order),
        cmocka_unit_test(test_contents_that_a_running_sync_may_log),
        cmocka_unit_test(test_a_name_before_logged_truncations),
        cmocka_unit_test(test_a_name_made_while_all_is_synced),
        cmocka_unit_test(test_truncations_in_a_row),
        cmocka_unit_test(test_a_sync_of_all_after_that_of_another_file),
        cmocka_unit_test(test_a_failed_call_does_nothing),
        cmocka_unit_test(test_small_write_inside_a_large_one),
        cmocka_unit_test(test_truncating_open),
        cmocka_unit_test(test_synced_write),
        cmocka_unit_test(test_fallocate_keeps_the_size),
        cmocka_unit_test(test_fsync_of_the_parent),
        cmocka_unit_test(test_fsync_goes_by_the_inode),
        cmocka_unit_test(test_close_is_no_barrier),
        cmocka_unit_test(test_sync_file_range_promises_nothing),
        cmocka_unit_test(test_two_syncs_in_a_row),
        cmocka_unit_test(test_a_hole_follows_the_growths_of_its_own_range),
        cmocka_unit_test(test_what_was_never_synced_can_be_lost),
        cmocka_unit_test(test_own_names),
        cmocka_unit_test(test_what_the_log_has),
        cmocka_unit_test(test_what_the_log_loses),
        cmocka_unit_test(test_questions_against_all_pairs),
        cmocka_unit_test(test_notation),
        cmocka_unit_test(test_mistakes_in_the_notation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
