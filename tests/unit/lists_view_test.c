/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The smaller views: the overview, help, pretended syncs, bookmarks, one group, and two behaviours
 * side by side.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/debug_sample.h"
#include "tests/unit/report_sample.h"
#include "views/behaviour.h"
#include "views/bookmarks.h"
#include "views/fixes.h"
#include "views/group.h"
#include "views/help.h"
#include "views/overview.h"
#include "views/why.h"

enum { WIDE = 100, NARROW = 40 };

/* --- Overview ------------------------------------------------------------------------------ */

static const char *overview(const struct overview *o, int columns)
{
    struct view *v;
    struct error e;
    if (!overview_view(&v, o, columns, &e))
        fail_msg("%s", e.text);
    const char *text = view_text(v);
    v->ops->close(v);
    return text;
}

static void a_session_that_was_not_checked(void **state)
{
    struct debug *d = *state;
    struct overview o = {.session = d->run->s, .analysis = d->analysis};
    const char *text = overview(&o, WIDE);
    assert_non_null(strstr(text, "trace|9 events, 9 ops, "));
    assert_non_null(strstr(text, "model|ext4\n"));
    assert_non_null(strstr(text, "checked|not yet\n"));
    assert_null(strstr(text, "check|"));
}

static void a_check_that_runs_says_how_it_gets_on(void **state)
{
    struct debug *d = *state;
    struct overview_progress p = {.phase = "testing",
                                  .done = 50,
                                  .all = 200,
                                  .budget = 1000,
                                  .inconsistent = 3,
                                  .bugs = 1,
                                  .rate = 12.4,
                                  .seconds = 4,
                                  .seconds_left = 7503};
    struct overview o = {.session = d->run->s, .progress = &p};
    assert_non_null(strstr(overview(&o, NARROW), "check|testing\n"
                                                 "|#####.................. 25 %\n"
                                                 "states|50 of 200, budget 1000, 12 a second\n"
                                                 "time|4 s, about 2 h 5 min to go\n"
                                                 "found|3 inconsistent, 1 bug\n"));
    p = (struct overview_progress){.phase = "testing", .paused = true, .seconds_left = -1};
    assert_non_null(strstr(overview(&o, NARROW), "check|paused\nstates|0, 0 a second\ntime|0 s\n"));
}

static void what_was_found_and_what_must_be_known(void **state)
{
    struct debug *d = *state;
    json_t *report = sample_all();
    struct overview o = {.session = d->run->s, .report = report};
    json_object_set_new(json_object_get(report, "states"), "complete", json_false());
    json_object_set_new(report, "cut", json_string("the budget ended at 30 \x1b[2J states"));
    struct view *v;
    struct error e;
    assert_true(overview_view(&v, &o, WIDE, &e));
    const char *text = view_text(v);
    assert_non_null(strstr(text, "strategy|representative\nchecker|./check {dir}\n"));
    assert_non_null(strstr(text, "checked|30 states tested, 16 inconsistent\n"
                                 "cut|the budget ended at 30 \\x1b[2J states\n"
                                 "bugs|1 ordering: CURRENT.new renamed"));
    struct subject bug = {SUBJECT_BUG, 2, NULL};
    assert_int_equal(strncmp(view_row(v, v->ops->find(v, &bug)), "|2 atomicity: ", 14), 0);
    v->ops->close(v);
    json_decref(report);
}

/* --- Help ---------------------------------------------------------------------------------- */

static void help_stands_by_sections(void **state)
{
    static const struct help_entry entries[] = {
        {"Stepping", "s", "step", "an op on"},
        {"Stepping", "S", "back", "an op back"},
        {"Everywhere", "q", "quit", "back, or out"},
    };
    struct view *v = help_view(entries, 3);
    (void)state;
    assert_string_equal(view_text(v), "||Stepping\ns|step|an op on\nS|back|an op back\n"
                                      "||Everywhere\nq|quit|back, or out\n");
    v->ops->close(v);
    v = help_view(NULL, 0);
    assert_int_equal(v->ops->count(v), 0);
    v->ops->close(v);
}

/* --- Fixes and bookmarks ------------------------------------------------------------------- */

static void fixes_say_which_bugs_they_mend(void **state)
{
    struct debug *d = *state;
    struct fix fix = {.after = 2, .file = 2, .call = CALL_FDATASYNC};
    uint32_t id = 1;
    struct fix_list list = {&fix, &id, 1};
    json_t *tried =
        sample_json("{'compared': {'complete': false, 'bugs': [{'id': 1, 'outcome':"
                    " 'gone', 'states': 12, 'states_now': 0}, {'id': 2, 'outcome':"
                    " 'still', 'states': 3, 'states_now': 2}, 7], 'new': [3]}, 'bugs': [{'id':"
                    " 3, 'kind': 'ordering', 'summary': 'too early'}]}");
    struct view *v = fixes_view(d->run->s, &list, tried, WIDE);
    assert_string_equal(view_row(v, 1),
                        "pretended|+ 1 pretended fdatasync of MANIFEST after event 2");
    assert_int_equal(view_subject(v, 1).kind, SUBJECT_EVENT);
    assert_string_equal(view_row(v, 3), "bugs|1 v gone: none of 12 states is left");
    assert_string_equal(view_row(v, 4), "|2 x still: 2 states, 3 before");
    assert_int_equal(view_subject(v, 4).number, 2);
    assert_non_null(strstr(view_text(v), "more|hidden by others until now: ordering: too early\n"
                                         "|not all states were tried: gone is not certain\n"));
    v->ops->close(v);
    json_decref(tried);
    list.n = 0;
    v = fixes_view(d->run->s, &list, NULL, WIDE);
    assert_string_equal(view_text(v), "pretended|nothing\n");
    v->ops->close(v);
}

static void bookmarks_are_events_or_ops(void **state)
{
    struct debug *d = *state;
    struct bookmark at[] = {{1, 2, 1, (char *)"the \x1b[31mculprit"}, {2, 7, 0, (char *)""}};
    struct bookmarks list = {at, 2};
    struct view *v = bookmarks_view(d->analysis, &list);
    assert_string_equal(view_text(v), "1|2|write MANIFEST 0+13 data|the \\x1b[31mculprit\n"
                                      "2|7|print stdout \"saved\\n\"|\n");
    assert_int_equal(view_subject(v, 1).kind, SUBJECT_OP);
    assert_int_equal(view_subject(v, 1).number, 2);
    assert_int_equal(view_subject(v, 2).kind, SUBJECT_EVENT);
    v->ops->close(v);
}

/* --- Groups -------------------------------------------------------------------------------- */

/* Many times the same: write and sync, by one function. Far enough apart to be tasks of their own.
 */
static void record_loop(struct debug *d)
{
    uint32_t file = debug_create(d->run, "log", 0x100);
    for (int i = 0; i < 6; i++) {
        debug_write(d->run, file, "log", (uint64_t)i * 4096, "record\n", 0x200);
        debug_fdatasync(d->run, file, "log", 0x800);
        for (int k = 0; k < 2 * BEHAVIOUR_GAP; k++)
            debug_print(d->run, ".");
    }
    debug_analyse(d, "ext4");
}

static void a_group_shows_who_stands_for_whom(void **state)
{
    struct debug *d = *state;
    struct environments *environments;
    struct group_options options = GROUP_DEFAULTS;
    struct cell c = {0};
    struct error e;
    record_loop(d);
    assert_true(analysis_environments(&environments, d->analysis, &e));
    struct groups *groups =
        groups_form(d->analysis->behaviours, d->analysis->graph, environments, &options);
    uint32_t largest = 0;
    for (uint32_t g = 0; g < groups->n; g++) {
        struct view *v = group_view(d->analysis, groups, g);
        bool seen = false;
        assert_int_equal(v->ops->count(v), groups->at[g].members);
        for (uint64_t row = 1; row <= v->ops->count(v); row++) {
            struct subject s = view_subject(v, row);
            assert_int_equal(s.kind, SUBJECT_BEHAVIOUR);
            assert_int_equal(v->ops->find(v, &s), row);
            bool representative = s.number == groups->at[g].representative;
            assert_int_equal(strstr(view_row(v, row), "representative") != NULL, representative);
            seen |= representative;
        }
        assert_true(seen);
        v->ops->close(v);
        largest = groups->at[g].members > groups->at[largest].members ? g : largest;
    }
    assert_true(groups->at[largest].members > 1);
    struct view *v = group_view(d->analysis, groups, largest);
    group_view_title(v, &c);
    assert_non_null(strstr(buf_string(&c.text), " stands for "));
    assert_non_null(strstr(buf_string(&c.text), " schedules saved"));
    cell_free(&c);
    v->ops->close(v);
    groups_free(groups);
    environments_free(environments);
}

static void behaviours_stand_side_by_side(void **state)
{
    struct debug *d = *state;
    struct environments *environments;
    struct group_options options = GROUP_DEFAULTS;
    struct cell c = {0};
    struct error e;
    struct view *v;
    record_loop(d);
    assert_true(analysis_environments(&environments, d->analysis, &e));
    struct groups *groups =
        groups_form(d->analysis->behaviours, d->analysis->graph, environments, &options);
    uint32_t n = (uint32_t)d->analysis->behaviours->n;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            if (a == b)
                continue;
            assert_true(why_view(&v, d->analysis, groups, a, b, &e));
            struct group_why *why = group_explain(groups, a, b);
            for (uint32_t i = 0; i < why->match_count; i++) {
                const struct group_match *m = &why->matches[i];
                bool both = m->a != NO_OP && m->b != NO_OP;
                assert_int_equal(view_style(v, i + 1, "="),
                                 both ? STYLE_MATCHED : (enum style)STYLE_COUNT);
                assert_int_equal(view_subject(v, i + 1).number, m->a != NO_OP ? m->a : m->b);
            }
            why_view_verdict(v, &c);
            bool one = why->a_represents_b.verdict == GROUP_REPRESENTS ||
                       why->b_represents_a.verdict == GROUP_REPRESENTS;
            assert_int_equal(strstr(buf_string(&c.text), "not represent") == NULL, one);
            cell_free(&c);
            group_why_free(why);
            v->ops->close(v);
        }
    groups_free(groups);
    environments_free(environments);
}

/* --- One behaviour ------------------------------------------------------------------------- */

static size_t memory(void)
{
    struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
}

/* It is opened anew for every row that is selected, and for all that happens while a check runs:
 * that must not take longer for one write of a gigabyte. */
static void ops_are_words_only_when_they_are_drawn(void **state)
{
    enum { BLOCKS = 2048, BLOCK = 4096, NUMBERS = 8 };
    struct debug *d = *state;
    uint32_t file = debug_create(d->run, "big", 0x100);
    run_event(d->run, (struct event){.call = CALL_WRITE,
                                     .file = file,
                                     .path = run_string(d->run, "big"),
                                     .size = BLOCKS * BLOCK,
                                     .result = BLOCKS * BLOCK,
                                     .payload = PAYLOAD_ZEROS,
                                     .stack = debug_stack(d->run, 0x200)});
    debug_analyse(d, "ext4");
    size_t before = memory();
    struct view *v = behaviour_view(d->analysis, d->analysis->behaviours->n - 1, NULL);
    uint64_t n = v->ops->count(v);
    assert_true(n > BLOCKS);
    assert_true(memory() < before + n * NUMBERS + BLOCK);
    for (uint64_t row = 1; row <= n; row++) {
        struct subject s = view_subject(v, row);
        assert_int_equal(s.kind, SUBJECT_OP);
        assert_int_equal(v->ops->find(v, &s), row);
    }
    assert_int_equal(v->ops->find(v, &(struct subject){SUBJECT_OP, d->analysis->graph->n, NULL}),
                     0);
    assert_int_equal(v->ops->find(v, &(struct subject){SUBJECT_EVENT, 2, NULL}), 0);
    assert_string_equal(view_row(v, 1), "ops|op 1 write big 0+4096 alloc");
    assert_string_equal(view_row(v, n), "|op 4096 write big 8384512+4096 data");
    v->ops->close(v);
    walk_lose(d->walk, (uint32_t)d->analysis->graph->n - 1);
    v = behaviour_view(d->analysis, d->analysis->behaviours->n - 1, d->walk);
    assert_string_equal(view_row(v, 1), "ops|*  op 1 write big 0+4096 alloc");
    assert_int_equal(view_style(v, 1, "*"), STYLE_OP_PERSISTED);
    v->ops->close(v);
}

#define own_case(function) cmocka_unit_test_setup_teardown(function, debug_begin, debug_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        debug_case(a_session_that_was_not_checked),
        debug_case(a_check_that_runs_says_how_it_gets_on),
        debug_case(what_was_found_and_what_must_be_known),
        cmocka_unit_test(help_stands_by_sections),
        debug_case(fixes_say_which_bugs_they_mend),
        debug_case(bookmarks_are_events_or_ops),
        own_case(a_group_shows_who_stands_for_whom),
        own_case(behaviours_stand_side_by_side),
        own_case(ops_are_words_only_when_they_are_drawn),
    };
    setlocale(LC_ALL, "C");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
