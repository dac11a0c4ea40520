/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The stepper on the screen: ops, syncs and prints in the order in which they happened, the crash
 * where it comes; and in words what a choice brought with it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/debug_sample.h"
#include "views/change.h"
#include "views/schedule.h"
#include "views/stack.h"

struct shown {
    struct schedule_rows *rows;
    struct view *view;
};

static struct shown show(struct debug *d)
{
    struct shown s = {.rows = schedule_rows_new(d->analysis)};
    struct error e;
    bool done = false;

    s.view = schedule_view(s.rows, d->walk);
    assert_int_equal(s.view->ops->count(s.view), 0);
    assert_int_equal(schedule_view_here(s.view), 0);
    while (!done)
        assert_true(schedule_rows_settle(s.rows, 0, &done, &e));
    return s;
}

static void hide(struct shown *s)
{
    s->view->ops->close(s->view);
    schedule_rows_free(s->rows);
}

static void the_whole_run_has_no_crash_line(void **state)
{
    struct debug *d = *state;
    struct shown s = show(d);
    assert_string_equal(view_text(s.view), "1|* create   MANIFEST|.|new_db|\n"
                                           "2|* write    0+4096 alloc|MANIFEST|emit_record|\n"
                                           "2|* write    0+13|MANIFEST|emit_record|\n"
                                           "3|* create   tmp|.|set_current|\n"
                                           "4|* write    0+4096 alloc|tmp|set_current|\n"
                                           "4|* write    0+9|tmp|set_current|\n"
                                           "5|= fdatasync|tmp|set_current|\n"
                                           "6|* rename   tmp -> CURRENT|.|set_current|\n"
                                           "7|- print stdout \"saved\\n\"||main|\n"
                                           "8|* write    length 27|MANIFEST|emit_record|\n"
                                           "8|* write    13+14|MANIFEST|emit_record|\n"
                                           "9|= fdatasync|MANIFEST|main|\n");
    assert_int_equal(schedule_view_crash(s.view), 0);
    assert_int_equal(schedule_view_here(s.view), 11);
    hide(&s);
}

static void a_lost_op_moves_the_crash_and_marks_what_had_not_happened(void **state)
{
    struct debug *d = *state;
    struct shown s = show(d);
    uint32_t data = debug_op(d, 2) + 1;
    struct cell c = {0};
    struct error e;

    assert_true(walk_lose(d->walk, data));
    assert_string_equal(view_row(s.view, 3), "2|o write    0+13|MANIFEST|emit_record|lost");
    assert_int_equal(view_style(s.view, 3, "o write"), STYLE_OP_LOST);
    uint64_t crash = schedule_view_crash(s.view);
    assert_string_equal(view_row(s.view, crash), "|-- crash --|||");
    assert_int_equal(view_subject(s.view, crash).kind, SUBJECT_NONE);
    assert_string_equal(view_row(s.view, crash + 1), "9|= fdatasync|MANIFEST|main|");
    assert_int_equal(view_style(s.view, crash + 1, "fdatasync"), STYLE_OP_UNISSUED);
    schedule_count_words(&c, d->walk);
    cell_gap(&c);
    assert_true(schedule_crash_words(&c, d->analysis, d->walk, &e));
    assert_string_equal(buf_string(&c.text),
                        "7 of 9 ops persisted crash during 9 fdatasync MANIFEST");
    cell_free(&c);
    hide(&s);
}

/* It was chosen to be lost, and stays so when one steps on: no longer in flight, but lost. */
static void what_is_chosen_to_be_lost_looks_lost(void **state)
{
    struct debug *d = *state;
    struct shown s = show(d);

    walk_begin_prefix(d->walk, 0);
    assert_string_equal(view_row(s.view, 2),
                        "2|~ write    0+4096 alloc|MANIFEST|emit_record|in flight");
    walk_lose(d->walk, 1);
    assert_string_equal(view_row(s.view, 2),
                        "2|o write    0+4096 alloc|MANIFEST|emit_record|stays lost");
    assert_int_equal(view_style(s.view, 2, "stays lost"), STYLE_OP_LOST);
    hide(&s);
}

static void rows_and_what_they_are_about_lead_to_each_other(void **state)
{
    struct debug *d = *state;
    struct shown s = show(d);
    for (int crash = 0; crash < 2; crash++) {
        for (uint64_t row = 1; row <= s.view->ops->count(s.view); row++) {
            struct subject subject = view_subject(s.view, row);
            if (subject.kind != SUBJECT_NONE)
                assert_int_equal(s.view->ops->find(s.view, &subject), row);
            else
                assert_int_equal(row, schedule_view_crash(s.view));
        }
        walk_lose(d->walk, 0);
    }
    assert_int_equal(
        s.view->ops->find(s.view, &(struct subject){SUBJECT_EVENT, 4, NULL}),
        s.view->ops->find(s.view, &(struct subject){SUBJECT_OP, debug_op(d, 4), NULL}));
    assert_int_equal(s.view->ops->find(s.view, &(struct subject){SUBJECT_OP, 1000, NULL}), 0);
    assert_int_equal(s.view->ops->find(s.view, &(struct subject){SUBJECT_EVENT, 1000, NULL}), 0);
    hide(&s);
}

static void one_stands_at_a_sync_after_going_there(void **state)
{
    struct debug *d = *state;
    struct shown s = show(d);
    struct error e;
    walk_begin_prefix(d->walk, 0);
    assert_int_equal(schedule_view_here(s.view), 1);
    assert_true(walk_sync(d->walk, 1, &e));
    assert_string_equal(view_row(s.view, schedule_view_here(s.view)),
                        "5|= fdatasync|tmp|set_current|");
    hide(&s);
}

/* An fdatasync of MANIFEST after its first write would make it durable before the rename. */
static void a_pretended_sync_has_its_row_and_moves_the_crash(void **state)
{
    struct debug *d = *state;
    const struct fix fix = {.after = 2, .file = 2, .call = CALL_FDATASYNC};
    struct cell c = {0};
    struct error e;
    debug_record(d->run);
    d->fixes = &fix;
    d->fix_count = 1;
    debug_analyse(d, "ext4");
    struct shown s = show(d);
    static const char row[] = "|+ pretended fdatasync of MANIFEST after event 2|||";
    assert_string_equal(view_row(s.view, 4), row);
    assert_int_equal(view_style(s.view, 4, "pretended"), STYLE_PRETEND);
    assert_int_equal(view_subject(s.view, 4).kind, SUBJECT_NONE);
    assert_string_equal(view_detail(s.view, 3, 0), "op 2, durable when it returns: pretended "
                                                   "fdatasync of MANIFEST after event 2");
    /* Steps by syncs stop there, and go on from there. */
    walk_begin_prefix(d->walk, NO_OP);
    assert_true(walk_sync(d->walk, 1, &e));
    assert_int_equal(walk_here(d->walk), 2);
    assert_true(walk_at_pretended(d->walk));
    assert_int_equal(schedule_view_here(s.view), 4);
    assert_int_equal(walk_last(d->walk), 2);
    assert_true(walk_sync(d->walk, 1, &e));
    assert_false(walk_at_pretended(d->walk));
    assert_true(walk_sync(d->walk, -1, &e));
    assert_int_equal(schedule_view_here(s.view), 4);
    assert_true(walk_step(d->walk, -1));
    assert_false(walk_at_pretended(d->walk));
    walk_begin_run(d->walk);
    assert_true(walk_lose(d->walk, 2));
    assert_int_equal(schedule_view_crash(s.view), 4);
    assert_int_equal(strncmp(view_row(s.view, 5), row, sizeof row - 1), 0);
    assert_true(schedule_crash_words(&c, d->analysis, d->walk, &e));
    assert_string_equal(buf_string(&c.text),
                        "crash before pretended fdatasync of MANIFEST after event 2");
    cell_free(&c);
    hide(&s);
}

static void details_say_what_makes_it_durable_and_where_it_came_from(void **state)
{
    struct debug *d = *state;
    struct shown s = show(d);
    assert_string_equal(view_detail(s.view, 1, 0),
                        "op 0, durable when it returns: 5 fdatasync tmp");
    assert_string_equal(view_detail(s.view, 1, 1), "new_db db.c:21");
    assert_string_equal(view_detail(s.view, 1, 2), "main main.c:5");
    assert_string_equal(view_detail(s.view, 1, 3), "");
    hide(&s);
}

/* --- What a choice did --------------------------------------------------------------------- */

static const char *sentence(struct debug *d)
{
    static struct cell c;
    struct error e;
    cell_free(&c);
    assert_true(change_words(&c, d->analysis, d->walk, &e));
    return buf_string(&c.text);
}

static void a_choice_lists_what_followed_with_edge_and_rule(void **state)
{
    struct debug *d = *state;
    struct view *v = change_view(d->analysis, d->walk);
    assert_int_equal(v->ops->count(v), 0);
    assert_true(walk_lose(d->walk, debug_op(d, 6)));
    assert_string_equal(sentence(d),
                        "rename tmp -> CURRENT of event 6 is lost; 1 op that needs it goes with it;"
                        " now earlier: crash during 9 fdatasync MANIFEST");
    assert_string_equal(view_row(v, 1), "6|o rename tmp -> CURRENT||chosen");
    walk_undo(d->walk);
    assert_true(walk_lose(d->walk, debug_op(d, 3)));
    assert_non_null(strstr(sentence(d), "create tmp of event 3 is lost; "));
    assert_non_null(strstr(sentence(d), "go with it; now earlier: crash during 5 fdatasync tmp"));
    assert_string_equal(view_row(v, 2),
                        "4|~ write tmp 0+4096 alloc|created|needs create tmp of event 3");
    assert_int_equal(view_subject(v, 2).number, debug_op(d, 4));
    assert_non_null(
        strstr(view_text(v), "6|. rename tmp -> CURRENT|same-entry|needs create tmp of event 3\n"));
    assert_string_equal(view_detail(v, 2, 0), model_rule_reason(RULE_CREATED));
    v->ops->close(v);
}

static void what_is_impossible_is_said(void **state)
{
    struct debug *d = *state;
    walk_lose(d->walk, debug_op(d, 3));
    assert_false(walk_lose(d->walk, debug_op(d, 8)));
    assert_string_equal(sentence(d),
                        "write MANIFEST length 27 of event 8 cannot be lost: it is not issued yet."
                        " The crash comes first: create tmp of event 3 is not there, and is durable"
                        " when 5 fdatasync tmp returns. Keep that op, or step on");
    walk_to(d->walk, debug_op(d, 8));
    assert_string_equal(sentence(d),
                        "no further: create tmp of event 3 is lost, and is durable when 5 fdatasync"
                        " tmp returns: nothing issued after that can survive without it");
    walk_lose(d->walk, debug_op(d, 3));
    assert_string_equal(sentence(d), "create tmp of event 3 is lost already");
    walk_lose(d->walk, 4000);
    assert_string_equal(sentence(d), "there is no op 4000; the last is 8");
    walk_undo(d->walk);
    walk_undo(d->walk);
    assert_string_equal(sentence(d), "nothing to undo");
    walk_begin_prefix(d->walk, 0);
    walk_lose(d->walk, 1);
    assert_non_null(strstr(sentence(d), "was in flight and is not there anyway"));
}

static void keeping_says_what_came_back(void **state)
{
    struct debug *d = *state;
    struct view *v = change_view(d->analysis, d->walk);
    walk_begin_prefix(d->walk, NO_OP);
    assert_true(walk_keep(d->walk, debug_op(d, 6)));
    assert_non_null(strstr(sentence(d), "rename tmp -> CURRENT of event 6 is kept; "));
    assert_non_null(strstr(sentence(d), "come back with it; "));
    assert_non_null(strstr(view_text(v), " needs it\n"));
    v->ops->close(v);
}

/* --- Frames -------------------------------------------------------------------------------- */

static void a_stack_is_rows_that_are_about_lines(void **state)
{
    struct debug *d = *state;
    struct view *v;
    struct error e;
    assert_true(stack_view(&v, d->analysis->session, d->analysis->symbols, 6, &e));
    assert_string_equal(view_text(v), "0|set_current|db.c:131\n1|main|main.c:5\n");
    struct subject s = view_subject(v, 1);
    assert_int_equal(s.kind, SUBJECT_LINE);
    assert_int_equal(s.number, 131);
    assert_string_equal(s.path, "/src/db.c");
    assert_int_equal(stack_view_source(v, 1, 1), 1);
    assert_int_equal(stack_view_source(v, 3, 1), 0);
    v->ops->close(v);
    assert_false(stack_view(&v, d->analysis->session, d->analysis->symbols, 600, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        debug_case(the_whole_run_has_no_crash_line),
        debug_case(a_lost_op_moves_the_crash_and_marks_what_had_not_happened),
        debug_case(what_is_chosen_to_be_lost_looks_lost),
        debug_case(rows_and_what_they_are_about_lead_to_each_other),
        debug_case(one_stands_at_a_sync_after_going_there),
        cmocka_unit_test_setup_teardown(a_pretended_sync_has_its_row_and_moves_the_crash,
                                        debug_begin, debug_tear_down),
        debug_case(details_say_what_makes_it_durable_and_where_it_came_from),
        debug_case(a_choice_lists_what_followed_with_edge_and_rule),
        debug_case(what_is_impossible_is_said),
        debug_case(keeping_says_what_came_back),
        debug_case(a_stack_is_rows_that_are_about_lines),
    };
    setlocale(LC_ALL, "C");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
