/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The schedule in hand: whatever one does, the survivors are closed, the crash is where it must be,
 * and every reason that is given is an edge of the graph. Small cases say what each move means;
 * random ones compare with the definitions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "engine/calls.h"
#include "engine/schedule.h"
#include "engine/walk.h"
#include "engine/walk_states.h"
#include "tests/unit/litmus_sample.h"

struct hand {
    struct world world;
    struct action *actions;
    struct walk *walk;
};

/* The run in hand, with syncs that it did not make. */
static void take_up_pretending(struct hand *h, const char *text, const char *model,
                               const struct fix *fixes, size_t fix_count)
{
    struct error e;
    open_world(&h->world, text, model);
    struct graph_source source = *litmus_source(h->world.litmus);
    source.fixes = fixes;
    source.fix_count = fix_count;
    struct model found = h->world.graph->model;
    graph_free(h->world.graph);
    if (!graph_build(&h->world.graph, &found, &source, &e))
        fail_msg("%s", e.text);
    size_t n = litmus_events(h->world.litmus);
    h->actions = xcalloc(n + 1, sizeof *h->actions);
    for (size_t i = 0; i < n; i++) {
        const struct event *event = litmus_event(h->world.litmus, i + 1);
        size_t count;
        uint32_t first = graph_event_ops(h->world.graph, i + 1, &count);
        h->actions[i] =
            (struct action){i + 1, 1, 0, first, (uint32_t)count, event->call, event_syncs(event)};
    }
    h->walk = walk_new(h->world.graph, litmus_source(h->world.litmus), h->actions, n);
}

static void take_up(struct hand *h, const char *text, const char *model)
{
    take_up_pretending(h, text, model, NULL, 0);
}

static void put_down(struct hand *h)
{
    walk_free(h->walk);
    free(h->actions);
    close_world(&h->world);
}

/* The marks of all ops: P, L, F and U. */
static const char *marks(const struct hand *h)
{
    static char text[256];
    size_t n = h->world.graph->n;
    assert_true(n < sizeof text);
    for (uint32_t op = 0; op < n; op++)
        text[op] = "PLFU"[walk_mark(h->walk, op)];
    text[n] = '\0';
    return text;
}

/* --- What moves mean ----------------------------------------------------------------------- */

/* Names alone: create a, create b, fsync of the directory, create c, create d. Under posix names
 * persist in any order, and a sync of their directory makes them durable. */
static const char names[] = "create a\ncreate b\nfsync .\ncreate c\ncreate d\n";

static void the_whole_run_is_the_first_thing_in_hand(void **state)
{
    struct hand h;
    (void)state;
    take_up(&h, names, "posix");
    assert_string_equal(marks(&h), "PPPP");
    assert_int_equal(walk_last(h.walk), 3);
    assert_true(walk_crash(h.walk) == NEVER);
    put_down(&h);
}

static void stepping_back_leaves_ops_in_flight_and_then_unissued(void **state)
{
    struct hand h;
    (void)state;
    take_up(&h, names, "posix");
    assert_true(walk_step(h.walk, -1));
    assert_string_equal(marks(&h), "PPPF"); /* nothing makes d durable: the run may have ended */
    assert_true(walk_step(h.walk, -1));
    assert_true(walk_step(h.walk, -1)); /* without b the directory's sync had not returned */
    assert_string_equal(marks(&h), "PFUU");
    assert_int_equal(walk_here(h.walk), 1);
    assert_true(walk_step(h.walk, -1));
    assert_string_equal(marks(&h), "FFUU");
    assert_false(walk_step(h.walk, -1));
    assert_int_equal(walk_news(h.walk)->answer, WALK_AT_START);
    assert_true(walk_step(h.walk, 1));
    assert_string_equal(marks(&h), "PFUU");
    put_down(&h);
}

static void a_step_by_sync_stands_at_the_sync(void **state)
{
    struct hand h;
    struct error e;
    (void)state;
    take_up(&h, names, "posix");
    assert_true(walk_sync(h.walk, -1, &e));
    assert_int_equal(walk_here(h.walk), 3);
    assert_string_equal(marks(&h), "PPFF");
    assert_false(walk_sync(h.walk, -1, &e));
    assert_int_equal(walk_news(h.walk)->answer, WALK_AT_START);
    assert_true(walk_begin_prefix(h.walk, NO_OP));
    assert_true(walk_sync(h.walk, 1, &e));
    assert_int_equal(walk_here(h.walk), 3);
    assert_false(walk_sync(h.walk, 1, &e));
    assert_int_equal(walk_news(h.walk)->answer, WALK_AT_END);
    put_down(&h);
}

static void a_write_that_syncs_itself_is_a_sync_to_step_by(void **state)
{
    struct hand h;
    struct error e;
    (void)state;
    take_up(&h, "file f 4096 'x'\ncreate a\npwrite f 0 4096 'y' dsync\ncreate b\n", "posix");
    assert_true(walk_sync(h.walk, -1, &e));
    assert_int_equal(walk_here(h.walk), 2);
    put_down(&h);
}

static void losing_what_a_sync_made_durable_moves_the_crash_before_its_return(void **state)
{
    struct hand h;
    (void)state;
    take_up(&h, names, "posix");
    assert_true(walk_lose(h.walk, 0));
    assert_string_equal(marks(&h), "LPUU");
    const struct walk_news *news = walk_news(h.walk);
    assert_int_equal(news->gone, 2);
    assert_int_equal(news->follows[0].op, 2);
    assert_int_equal(news->follows[0].edge.from, 0);
    assert_int_equal(news->follows[0].edge.rule, RULE_SYNCED);
    assert_true(news->crash_was == NEVER);
    assert_true(walk_crash(h.walk) == litmus_event(h.world.litmus, 3)->exit);
    put_down(&h);
}

static void one_cannot_step_on_past_the_sync_of_something_lost(void **state)
{
    struct hand h;
    struct error e;
    (void)state;
    take_up(&h, names, "posix");
    walk_lose(h.walk, 0);
    assert_false(walk_step(h.walk, 1));
    const struct walk_news *news = walk_news(h.walk);
    assert_int_equal(news->answer, WALK_DURABLE);
    assert_int_equal(news->because.from, 0);
    assert_int_equal(news->because.to, 2);
    assert_false(walk_to(h.walk, 3));
    assert_int_equal(walk_news(h.walk)->answer, WALK_DURABLE);
    assert_true(walk_sync(h.walk, 1, &e) || walk_news(h.walk)->answer == WALK_AT_END);
    put_down(&h);
}

static void an_op_not_yet_issued_cannot_be_lost_and_the_crash_says_why(void **state)
{
    struct hand h;
    (void)state;
    take_up(&h, names, "posix");
    walk_lose(h.walk, 0);
    uint64_t version = walk_version(h.walk);
    assert_false(walk_lose(h.walk, 3));
    assert_int_equal(walk_news(h.walk)->answer, WALK_NOT_ISSUED);
    assert_int_equal(walk_news(h.walk)->because.from, 0);
    assert_true(walk_version(h.walk) == version);
    assert_false(walk_lose(h.walk, 4));
    assert_int_equal(walk_news(h.walk)->answer, WALK_NO_SUCH_OP);
    put_down(&h);
}

static void what_was_lost_for_its_sake_comes_back_with_it(void **state)
{
    struct hand h;
    (void)state;
    take_up(&h, names, "posix");
    walk_lose(h.walk, 0);
    assert_true(walk_toggle(h.walk, 0));
    assert_string_equal(marks(&h), "PPPP");
    assert_int_equal(walk_news(h.walk)->deed, WALK_KEEP);
    assert_int_equal(walk_news(h.walk)->back, 2);
    assert_false(walk_keep(h.walk, 0));
    assert_int_equal(walk_news(h.walk)->answer, WALK_ALREADY);
    put_down(&h);
}

static void an_op_in_flight_is_kept_alone(void **state)
{
    struct hand h;
    (void)state;
    take_up(&h, names, "posix");
    walk_begin_prefix(h.walk, 1);
    assert_string_equal(marks(&h), "PPFF");
    assert_true(walk_toggle(h.walk, 3));
    assert_string_equal(marks(&h), "PPLP");
    assert_int_equal(walk_news(h.walk)->passed, 1);
    assert_true(walk_chosen(h.walk, 2));
    put_down(&h);
}

/* To keep d, which is not yet issued, the sync must have returned: a and b come back. */
static void keeping_an_op_not_yet_issued_brings_back_what_was_durable_by_then(void **state)
{
    struct hand h;
    (void)state;
    take_up(&h, names, "posix");
    walk_begin_prefix(h.walk, NO_OP);
    assert_true(walk_keep(h.walk, 3));
    assert_string_equal(marks(&h), "PPLP");
    const struct walk_news *news = walk_news(h.walk);
    assert_int_equal(news->back, 2);
    assert_int_equal(news->follows[0].op, 1);
    assert_int_equal(news->follows[0].edge.rule, RULE_SYNCED);
    put_down(&h);
}

static void an_op_lost_at_the_end_stays_lost_when_one_steps_on(void **state)
{
    struct hand h;
    (void)state;
    take_up(&h, names, "posix");
    walk_begin_prefix(h.walk, 2);
    assert_true(walk_lose(h.walk, 2));
    assert_string_equal(marks(&h), "PPFF"); /* the same state: nothing behind it survived */
    assert_true(walk_chosen(h.walk, 2));
    assert_true(walk_step(h.walk, 1));
    assert_string_equal(marks(&h), "PPLP");
    assert_true(walk_step(h.walk, -1));
    assert_true(walk_lose(h.walk, 3)); /* in flight: not there anyway */
    assert_int_equal(walk_news(h.walk)->answer, WALK_STAYS);
    assert_false(walk_step(h.walk, 1));
    assert_int_equal(walk_news(h.walk)->answer, WALK_AT_END);
    put_down(&h);
}

static void undo_goes_back_and_redo_forth_until_something_new_is_done(void **state)
{
    struct hand h;
    (void)state;
    take_up(&h, names, "posix");
    assert_false(walk_undo(h.walk));
    walk_lose(h.walk, 0);
    walk_step(h.walk, -1);
    assert_string_equal(marks(&h), "FFUU");
    assert_true(walk_undo(h.walk));
    assert_string_equal(marks(&h), "LPUU");
    assert_true(walk_undo(h.walk));
    assert_string_equal(marks(&h), "PPPP");
    assert_true(walk_redo(h.walk));
    assert_true(walk_redo(h.walk));
    assert_false(walk_redo(h.walk));
    assert_string_equal(marks(&h), "FFUU");
    walk_undo(h.walk);
    walk_begin_run(h.walk);
    assert_false(walk_redo(h.walk));
    put_down(&h);
}

/* A bug's state says when the crash came: not as late as it could have. */
static void a_state_of_a_session_keeps_its_crash_until_something_changes(void **state)
{
    struct hand h;
    struct error e;
    uint32_t lost[] = {2};
    (void)state;
    take_up(&h, names, "posix");
    uint64_t told_until = litmus_event(h.world.litmus, 5)->entry + 1;
    struct report_state bug = {.last = 3, .lost = lost, .lost_count = 1, .told_until = told_until};
    assert_true(walk_begin_state(h.walk, &bug, &e));
    assert_true(walk_begin_state(h.walk, &bug, &e)); /* nothing changes, which is no failure */
    assert_string_equal(marks(&h), "PPLP");
    assert_true(walk_crash(h.walk) == told_until);
    struct report_state out;
    walk_export(h.walk, &out);
    assert_int_equal(out.last, 3);
    assert_int_equal(out.lost_count, 1);
    assert_int_equal(out.lost[0], 2);
    assert_true(out.told_until == told_until);
    assert_string_equal(out.model, "posix");
    report_state_clear(&out);
    walk_keep(h.walk, 2);
    assert_true(walk_crash(h.walk) == NEVER);
    bug.last = 100;
    assert_false(walk_begin_state(h.walk, &bug, &e));
    bug = (struct report_state){.last = 1, .model = (char *)"ext4"};
    assert_false(walk_begin_state(h.walk, &bug, &e));
    put_down(&h);
}

/* btrfs: fsync of a carries its name past the journal. Losing the original changes nothing then. */
static void a_copy_that_a_sync_carried_is_told_of(void **state)
{
    struct hand h;
    (void)state;
    take_up(&h, "create b\ncreate a\nappend a 10 'x'\nfsync a\n", "btrfs");
    const struct graph *g = h.world.graph;
    uint32_t copy = NO_OP;
    for (uint32_t op = 0; op < g->n; op++)
        if (g->ops[op].flags & OP_CARRIED)
            copy = op;
    assert_true(copy != NO_OP);
    assert_true(walk_lose(h.walk, g->ops[copy].carried));
    assert_int_equal(walk_mark(h.walk, copy), WALK_PERSISTED);
    assert_int_equal(walk_news(h.walk)->copy, copy);
    put_down(&h);
}

static void an_empty_run_has_nothing_to_walk(void **state)
{
    struct hand h;
    struct error e;
    (void)state;
    take_up(&h, "print hello\n", "ext4");
    assert_int_equal(walk_last(h.walk), NO_OP);
    assert_false(walk_step(h.walk, 1));
    assert_false(walk_step(h.walk, -1));
    assert_false(walk_sync(h.walk, 1, &e));
    assert_false(walk_toggle(h.walk, 0));
    assert_int_equal(walk_counts(h.walk).persisted, 0);
    put_down(&h);
}

/* --- By the definitions -------------------------------------------------------------------- */

/* Every pair, both kinds of order. */
static void check_closed(const struct hand *h)
{
    const struct graph *g = h->world.graph;
    for (uint32_t a = 0; a < g->n; a++)
        for (uint32_t b = a + 1; b < g->n; b++)
            if (walk_mark(h->walk, b) == WALK_PERSISTED && graph_before(g, a, b))
                assert_int_equal(walk_mark(h->walk, a), WALK_PERSISTED);
}

static void check_marks(const struct hand *h)
{
    const struct graph *g = h->world.graph;
    struct walk *w = h->walk;
    uint32_t last = walk_last(w);
    struct walk_counts counts = {0}, said = walk_counts(w);
    size_t lost_count, seen = 0;
    const uint32_t *lost = walk_lost(w, &lost_count);
    uint64_t crash = NEVER;

    for (uint32_t op = 0; op < g->n; op++)
        if (walk_mark(w, op) != WALK_PERSISTED && g->durable[op] < crash)
            crash = g->durable[op];
    assert_true(walk_crash(w) == crash);
    struct schedule s = {last, (uint32_t)lost_count, lost};
    assert_true(walk_crash(w) == schedule_crash(g, &s));
    for (uint32_t op = 0; op < g->n; op++) {
        bool before = last != NO_OP && op < last;
        switch (walk_mark(w, op)) {
        case WALK_PERSISTED:
            assert_true(last != NO_OP && op <= last);
            assert_true(g->issued[op] <= crash); /* equal: by a sync that is pretended there */
            counts.persisted++;
            break;
        case WALK_LOST:
            assert_true(before && lost[seen++] == op);
            counts.lost++;
            break;
        case WALK_FLIGHT:
            assert_true(!before && op != last && g->issued[op] <= crash);
            counts.flight++;
            break;
        case WALK_UNISSUED:
            assert_true(!before && op != last && g->issued[op] > crash);
            counts.unissued++;
            break;
        }
        if (walk_chosen(w, op))
            assert_true(walk_mark(w, op) != WALK_PERSISTED);
    }
    assert_int_equal(seen, lost_count);
    assert_memory_equal(&counts, &said, sizeof counts);
    assert_true(last == NO_OP || walk_mark(w, last) == WALK_PERSISTED);
}

static bool has_edge(const struct graph *g, const struct graph_step *s)
{
    if (s->rule == RULE_SYNCED)
        return g->durable[s->from] < g->issued[s->to];
    for (uint32_t i = g->first[s->to]; i < g->first[s->to + 1]; i++)
        if (g->edges[i].from == s->from && g->edges[i].rule == s->rule)
            return true;
    return false;
}

/* Each follower once, changed as it says, by an edge of the graph whose other end changed too. */
static void check_follows(const struct hand *h, const bool *was)
{
    const struct graph *g = h->world.graph;
    const struct walk_news *news = walk_news(h->walk);
    size_t changed = 0;
    bool told[256] = {false};

    assert_int_equal(news->follow_count, news->gone + news->back);
    for (size_t i = 0; i < news->follow_count; i++) {
        const struct walk_follow *f = &news->follows[i];
        bool is = walk_mark(h->walk, f->op) == WALK_PERSISTED;
        assert_true(was[f->op] != is && f->back == is && !told[f->op]);
        told[f->op] = true;
        assert_true(has_edge(g, &f->edge));
        assert_true(f->edge.to == f->op || f->edge.from == f->op);
        uint32_t other = f->edge.to == f->op ? f->edge.from : f->edge.to;
        assert_true(was[other] != (walk_mark(h->walk, other) == WALK_PERSISTED));
    }
    for (uint32_t op = 0; op < g->n; op++)
        changed += was[op] != (walk_mark(h->walk, op) == WALK_PERSISTED);
    assert_int_equal(changed, news->follow_count + (news->answer == WALK_DONE));
}

static void check_reason(const struct hand *h)
{
    const struct walk_news *news = walk_news(h->walk);
    const struct graph *g = h->world.graph;

    if (news->answer == WALK_DURABLE || news->answer == WALK_NOT_ISSUED) {
        assert_true(news->because.from != NO_OP);
        assert_true(walk_mark(h->walk, news->because.from) != WALK_PERSISTED);
        if (news->because.to != NO_OP)
            assert_true(g->durable[news->because.from] < g->issued[news->because.to]);
    }
}

/* The least change: what is lost by choice takes what must follow it, and nothing else. */
static void check_lost(const struct hand *h, uint32_t chosen, const bool *was)
{
    const struct graph *g = h->world.graph;
    for (uint32_t op = 0; op < g->n; op++) {
        bool goes = op == chosen || graph_before(g, chosen, op);
        assert_int_equal(walk_mark(h->walk, op) == WALK_PERSISTED, was[op] && !goes);
    }
}

/* What was there stays, and it and what it needs are there. */
static void check_kept(const struct hand *h, uint32_t chosen, const bool *was)
{
    const struct graph *g = h->world.graph;
    for (uint32_t op = 0; op < g->n; op++)
        if (was[op] || op == chosen || graph_before(g, op, chosen))
            assert_int_equal(walk_mark(h->walk, op), WALK_PERSISTED);
}

static void choose_at_random(struct hand *h, unsigned *seed)
{
    const struct graph *g = h->world.graph;
    uint32_t op = (uint32_t)rand_r(seed) % (uint32_t)g->n;
    bool was[256], chosen = walk_chosen(h->walk, op);
    enum walk_mark mark = walk_mark(h->walk, op);

    assert_true(g->n <= 256);
    for (uint32_t i = 0; i < g->n; i++)
        was[i] = walk_mark(h->walk, i) == WALK_PERSISTED;
    if (rand_r(seed) % 2) {
        bool changed = walk_lose(h->walk, op);
        assert_int_equal(changed, mark == WALK_PERSISTED || (mark == WALK_FLIGHT && !chosen));
        check_lost(h, changed ? op : NO_OP, was);
    } else {
        assert_int_equal(walk_keep(h->walk, op), mark != WALK_PERSISTED);
        check_kept(h, op, was);
    }
    if (walk_news(h->walk)->answer == WALK_DONE || walk_news(h->walk)->answer == WALK_STAYS)
        check_follows(h, was);
}

static bool take_steps(struct hand *h, bool sync, int64_t steps)
{
    struct error e;
    return sync ? walk_sync(h->walk, steps, &e) : walk_step(h->walk, steps);
}

/* Several steps at once lead where as many single ones do, say the same in the end, and are taken
 * back as one. */
static void check_steps(struct hand *h, bool sync, int64_t steps)
{
    uint32_t was = walk_last(h->walk);
    uint64_t stood = walk_here(h->walk);
    bool changed = take_steps(h, sync, steps);
    uint32_t last = walk_last(h->walk);
    uint64_t here = walk_here(h->walk);
    enum walk_answer answer = walk_news(h->walk)->answer;
    struct graph_step because = walk_news(h->walk)->because;
    if (changed) {
        assert_true(walk_undo(h->walk));
        assert_int_equal(walk_last(h->walk), was);
        assert_int_equal(walk_here(h->walk), stood);
    }
    for (int64_t i = steps < 0 ? -steps : steps; i > 0; i--)
        if (!take_steps(h, sync, steps < 0 ? -1 : 1))
            break;
    assert_int_equal(walk_last(h->walk), last);
    assert_int_equal(walk_here(h->walk), here);
    assert_int_equal(walk_news(h->walk)->answer, answer);
    assert_int_equal(walk_news(h->walk)->because.from, because.from);
}

static void move_at_random(struct hand *h, unsigned *seed)
{
    int64_t steps = (rand_r(seed) % 2 ? 1 : -1) * (1 + rand_r(seed) % 3);

    switch (rand_r(seed) % 8) {
    case 0:
        check_steps(h, true, steps);
        break;
    case 1:
        walk_undo(h->walk);
        break;
    case 2:
        walk_redo(h->walk);
        break;
    case 3:
        walk_to(h->walk, (uint32_t)rand_r(seed) % (uint32_t)h->world.graph->n);
        break;
    case 4:
    case 5:
        check_steps(h, false, steps);
        break;
    default:
        choose_at_random(h, seed);
        break;
    }
}

/* The program with another file of so many bytes, written before and behind all it does. */
static void surround(struct buf *text, unsigned bytes)
{
    struct buf whole = {0};
    const char *calls = strstr(text->at, "file b");

    calls = strchr(calls, '\n') + 1;
    buf_add(&whole, text->at, (size_t)(calls - text->at));
    buf_printf(&whole, "create d\nappend d %u 'q'\n%sappend d %u 'r'\n", bytes, calls, bytes);
    buf_free(text);
    *text = whole;
}

static void do_whatever(unsigned seed, int rounds, unsigned surrounding)
{
    static const char *const models[] = {"ext4", "xfs", "btrfs", "posix", "strict", "ext4-paper"};

    for (int round = 0; round < rounds; round++) {
        struct hand h;
        struct buf text = {0};
        random_program(&text, &seed);
        if (surrounding)
            surround(&text, surrounding);
        take_up(&h, text.at, models[round % 6]);
        for (int move = 0; move < 40 && h.world.graph->n; move++) {
            move_at_random(&h, &seed);
            check_closed(&h);
            check_marks(&h);
            check_reason(&h);
        }
        put_down(&h);
        buf_free(&text);
    }
}

static void whatever_one_does_it_is_a_schedule(void **state)
{
    (void)state;
    do_whatever(5, 600, 0);
}

/* Sets of ops are gone through by words of 64. */
static void also_where_many_ops_are_alike(void **state)
{
    enum { BLOCKS = 40, BLOCK = 4096 };

    (void)state;
    do_whatever(7, 120, BLOCKS * BLOCK);
}

/* Syncs that are pretended at one place carry ops at the very position at which others are durable.
 */
static void also_where_syncs_are_pretended(void **state)
{
    static const char *const models[] = {"btrfs", "ext4", "posix", "xfs"};
    unsigned seed = 3;
    (void)state;
    for (int round = 0; round < 400; round++) {
        struct hand h;
        struct buf text = {0};
        struct litmus *l;
        struct error e;
        random_program(&text, &seed);
        assert_true(litmus_parse(&l, buf_string(&text), "test", &e));
        uint64_t after = 1 + (unsigned)rand_r(&seed) % litmus_events(l);
        uint32_t file = litmus_event(l, after)->file;
        litmus_free(l);
        struct fix fixes[] = {{after, file ? file : FILE_ROOT, CALL_FSYNC, 0},
                              {after, FILE_ROOT, CALL_FSYNC, 0},
                              {after, 0, CALL_SYNC, 0}};
        take_up_pretending(&h, text.at, models[round % 4], fixes, 1 + (unsigned)round % 3);
        for (int move = 0; move < 40 && h.world.graph->n; move++) {
            move_at_random(&h, &seed);
            check_closed(&h);
            check_marks(&h);
            check_reason(&h);
        }
        put_down(&h);
        buf_free(&text);
    }
}

/* To lose something and keep it again changes nothing, and undo restores every moment. */
static void undo_restores_every_moment(void **state)
{
    unsigned seed = 9;
    (void)state;
    for (int round = 0; round < 200; round++) {
        enum { MOVES = 20 };
        struct hand h;
        struct buf text = {0};
        char *seen[MOVES + 1];
        size_t n = 0;
        random_program(&text, &seed);
        take_up(&h, text.at, round % 2 ? "ext4" : "posix");
        seen[n++] = xstrdup(marks(&h));
        while (n <= MOVES && h.world.graph->n) {
            uint64_t version = walk_version(h.walk);
            choose_at_random(&h, &seed);
            if (walk_version(h.walk) == version)
                walk_step(h.walk, n % 2 ? 1 : -1);
            if (walk_version(h.walk) == version)
                break;
            seen[n++] = xstrdup(marks(&h));
        }
        for (size_t i = n - 1; i-- > 0;) {
            assert_true(walk_undo(h.walk));
            assert_string_equal(marks(&h), seen[i]);
        }
        for (size_t i = 1; i < n; i++) {
            assert_true(walk_redo(h.walk));
            assert_string_equal(marks(&h), seen[i]);
        }
        for (size_t i = 0; i < n; i++)
            free(seen[i]);
        put_down(&h);
        buf_free(&text);
    }
}

/* --- The states ---------------------------------------------------------------------------- */

static struct state_hash reach(struct hand *h, const bool *survives, uint32_t last)
{
    struct stepper *s;
    struct error e;
    assert_true(stepper_new(&s, h->world.graph, &h->world.source, &e));
    assert_true(stepper_go_set(s, survives, last, &e));
    struct state_hash hash = state_hash(stepper_state(s));
    stepper_free(s);
    return hash;
}

static void assert_state(struct state *state, struct state_hash wanted)
{
    assert_non_null(state);
    struct state_hash hash = state_hash(state);
    assert_memory_equal(&hash, &wanted, sizeof hash);
}

static void the_states_follow_in_slices(void **state)
{
    unsigned seed = 21;
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct hand h;
        struct buf text = {0};
        struct error e;
        random_program(&text, &seed);
        take_up(&h, text.at, round % 2 ? "ext4" : "xfs");
        uint32_t n = (uint32_t)h.world.graph->n;
        struct walk_states *s = walk_states_new(h.walk, h.world.graph, &h.world.source);
        for (int move = 0; move < 20 && n; move++) {
            bool done = false, there[256], all[256];
            uint32_t issued = 0;
            move_at_random(&h, &seed);
            while (!done) {
                assert_true(walk_states_percent(s) >= 0 && walk_states_percent(s) <= 100);
                assert_true(walk_states_settle(s, 0, &done, &e));
            }
            assert_int_equal(walk_states_percent(s), 100);
            for (uint32_t op = 0; op < n; op++) {
                there[op] = walk_mark(h.walk, op) == WALK_PERSISTED;
                all[op] = walk_mark(h.walk, op) != WALK_UNISSUED;
                issued += all[op];
            }
            assert_state(walk_states_hand(s), reach(&h, there, walk_last(h.walk)));
            assert_state(walk_states_whole(s), reach(&h, all, issued - 1));
        }
        walk_states_free(s);
        put_down(&h);
        buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_run_is_the_first_thing_in_hand),
        cmocka_unit_test(stepping_back_leaves_ops_in_flight_and_then_unissued),
        cmocka_unit_test(a_step_by_sync_stands_at_the_sync),
        cmocka_unit_test(a_write_that_syncs_itself_is_a_sync_to_step_by),
        cmocka_unit_test(losing_what_a_sync_made_durable_moves_the_crash_before_its_return),
        cmocka_unit_test(one_cannot_step_on_past_the_sync_of_something_lost),
        cmocka_unit_test(an_op_not_yet_issued_cannot_be_lost_and_the_crash_says_why),
        cmocka_unit_test(what_was_lost_for_its_sake_comes_back_with_it),
        cmocka_unit_test(an_op_in_flight_is_kept_alone),
        cmocka_unit_test(keeping_an_op_not_yet_issued_brings_back_what_was_durable_by_then),
        cmocka_unit_test(an_op_lost_at_the_end_stays_lost_when_one_steps_on),
        cmocka_unit_test(undo_goes_back_and_redo_forth_until_something_new_is_done),
        cmocka_unit_test(a_state_of_a_session_keeps_its_crash_until_something_changes),
        cmocka_unit_test(a_copy_that_a_sync_carried_is_told_of),
        cmocka_unit_test(an_empty_run_has_nothing_to_walk),
        cmocka_unit_test(whatever_one_does_it_is_a_schedule),
        cmocka_unit_test(also_where_many_ops_are_alike),
        cmocka_unit_test(also_where_syncs_are_pretended),
        cmocka_unit_test(undo_restores_every_moment),
        cmocka_unit_test(the_states_follow_in_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
