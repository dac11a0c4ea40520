/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Schedules: wherever a stepper comes from, it arrives at the same state; and the crash comes just
 * before the first sync that makes something lost durable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/schedule.h"
#include "tests/unit/litmus_sample.h"

static struct state_hash go(struct stepper *s, const struct schedule *to)
{
    struct error e;
    if (!stepper_go(s, to, &e))
        fail_msg("%s", e.text);
    return state_hash(stepper_state(s));
}

static struct state_hash from_scratch(const struct world *w, const struct schedule *to)
{
    struct error e;
    struct stepper *s;
    if (!stepper_new(&s, w->graph, &w->source, &e))
        fail_msg("%s", e.text);
    struct state_hash hash = go(s, to);
    stepper_free(s);
    return hash;
}

/* Any last op, and any ops before it that it does not need. */
static struct schedule random_schedule(const struct graph *g, uint32_t *lost, unsigned *seed)
{
    struct schedule s = {.last = NO_OP, .lost = lost};
    if (!g->n)
        return s;
    s.last = (uint32_t)rand_r(seed) % (uint32_t)g->n;
    for (uint32_t op = 0; op < s.last && s.lost_count < 3; op++) {
        bool free_of = rand_r(seed) % 3 == 0 && !graph_before(g, op, s.last);
        for (uint32_t i = 0; i < s.lost_count; i++)
            free_of = free_of && !graph_before(g, lost[i], op);
        if (free_of)
            lost[s.lost_count++] = op;
    }
    return s;
}

static void any_way_leads_to_the_same_state(void **state)
{
    static const char *const models[] = {"ext4", "xfs", "btrfs", "posix"};
    unsigned seed = 7;
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct world w;
        struct buf text = {0};
        struct stepper *s;
        struct error e;
        random_program(&text, &seed);
        open_world(&w, text.at, models[round % 4]);
        assert_true(stepper_new(&s, w.graph, &w.source, &e));
        for (int k = 0; k < 12; k++) {
            uint32_t lost[3];
            struct schedule to = random_schedule(w.graph, lost, &seed);
            struct state_hash here = go(s, &to), there = from_scratch(&w, &to);
            assert_int_equal(here.low, there.low);
            assert_int_equal(here.high, there.high);
        }
        stepper_free(s);
        close_world(&w);
        buf_free(&text);
    }
}

/* By the definition: the smallest durable position over everything that the schedule lacks. */
static uint64_t crash_by_definition(const struct graph *g, const struct schedule *s)
{
    uint64_t crash = NEVER;
    for (uint32_t op = 0; op < g->n; op++) {
        bool lacks = s->last == NO_OP || op > s->last;
        for (uint32_t i = 0; i < s->lost_count; i++)
            lacks |= op == s->lost[i] || graph_before(g, s->lost[i], op);
        if (lacks && g->durable[op] < crash)
            crash = g->durable[op];
    }
    return crash;
}

static void the_crash_is_as_late_as_the_survivors_allow(void **state)
{
    unsigned seed = 11;
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct world w;
        struct buf text = {0};
        random_program(&text, &seed);
        open_world(&w, text.at, round % 2 ? "ext4" : "posix");
        for (int k = 0; k < 12; k++) {
            uint32_t lost[3];
            struct schedule s = random_schedule(w.graph, lost, &seed);
            assert_int_equal(schedule_crash(w.graph, &s), crash_by_definition(w.graph, &s));
        }
        close_world(&w);
        buf_free(&text);
    }
}

static void what_needs_a_lost_op_goes_with_it(void **state)
{
    struct world w;
    struct stepper *s;
    struct error e;
    size_t n;
    (void)state;
    /* create (0), rename (1), mkdir (2): one journal. */
    open_world(&w, "create a\nrename a b\nmkdir d\n", "ext4");
    assert_int_equal(w.graph->n, 3);
    assert_true(stepper_new(&s, w.graph, &w.source, &e));
    uint32_t lost[] = {1};
    struct schedule to = {2, 1, lost};
    go(s, &to);
    const uint32_t *all = stepper_lost(s, &n);
    assert_int_equal(n, 2);
    assert_int_equal(all[0], 1);
    assert_int_equal(all[1], 2);
    stepper_free(s);
    close_world(&w);
}

/* Aimed at one schedule after the other and never given time, it still arrives at the last. */
static void slices_lead_to_the_same_state_wherever_they_are_cut(void **state)
{
    unsigned seed = 13;
    (void)state;
    for (int round = 0; round < 100; round++) {
        struct world w;
        struct buf text = {0};
        struct stepper *s;
        struct error e;
        for (int calls = 0; calls < 30; calls++)
            buf_printf(&text, "pwrite a %d 10 'x'\ncreate f%d\n", rand_r(&seed) % 900, calls);
        char *program = xasprintf("file a 4096 'O'\n%s", buf_string(&text));
        open_world(&w, program, "posix");
        assert_true(stepper_new(&s, w.graph, &w.source, &e));
        for (int k = 0; k < 12; k++) {
            uint32_t lost[3];
            struct schedule to = random_schedule(w.graph, lost, &seed);
            bool done = false;
            stepper_aim(s, &to);
            for (int slices = rand_r(&seed) % 3; slices > 0; slices--)
                assert_true(stepper_settle(s, 0, &done, &e));
            if (k % 3)
                continue; /* elsewhere, from where it is */
            while (!done)
                assert_true(stepper_settle(s, 0, &done, &e));
            assert_int_equal(stepper_left(s), 0);
            struct state_hash here = state_hash(stepper_state(s)), there = from_scratch(&w, &to);
            assert_int_equal(here.low, there.low);
            assert_int_equal(here.high, there.high);
        }
        stepper_free(s);
        close_world(&w);
        buf_free(&text);
        free(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_way_leads_to_the_same_state),
        cmocka_unit_test(slices_lead_to_the_same_state_wherever_they_are_cut),
        cmocka_unit_test(the_crash_is_as_late_as_the_survivors_allow),
        cmocka_unit_test(what_needs_a_lost_op_goes_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
