/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A bug on the screen, in the list and in full, and what a checker printed while it prints it.
 * Reports and checkers may say anything; what is shown steers no terminal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/report_sample.h"
#include "tests/unit/view_sample.h"
#include "engine/escape.h"
#include "views/bug.h"
#include "views/bugs.h"
#include "views/lines.h"
#include "views/output.h"

enum { WIDE = 100 };

static const json_t *bug_of(const json_t *report, size_t i)
{
    return json_array_get(json_object_get(report, "bugs"), i);
}

/* --- The list ------------------------------------------------------------------------------ */

static void the_list_has_where_and_status(void **state)
{
    json_t *report = sample_all();
    (void)state;
    json_object_set_new((json_t *)bug_of(report, 1), "status", json_string("duplicate"));
    json_object_set_new((json_t *)bug_of(report, 1), "duplicate_of", json_integer(1));
    json_object_set_new((json_t *)bug_of(report, 1), "note", json_string("seen before"));
    struct view *v = bugs_view_open(report, true);
    assert_string_equal(view_row(v, 1),
                        "1|ordering|CURRENT.new renamed to CURRENT, manifest-2 not written|"
                        "store.c:41|14|new");
    assert_string_equal(view_row(v, 2), "2|atomicity|manifest-2 written in part|store.c:23|1|"
                                        "duplicate of 1 +note");
    assert_int_equal(view_style(v, 2, "atomicity"), STYLE_DIM);
    v->ops->close(v);
    json_decref(report);
}

/* Another report is read while views of the one before are still there. */
static void views_outlive_the_report(void **state)
{
    json_t *report = sample_all();
    struct view *list = bugs_view_open(report, true),
                *full = bug_view(bug_of(report, 0), WIDE, true);
    struct subject line = {0};
    uint64_t n = list->ops->count(list);
    (void)state;
    json_decref(report);
    assert_int_equal(list->ops->count(list), n);
    assert_non_null(strstr(view_row(list, 1), "CURRENT.new renamed to CURRENT"));
    for (uint64_t row = 1; row <= full->ops->count(full) && line.kind != SUBJECT_LINE; row++)
        assert_true(full->ops->subject(full, row, &line, NULL));
    assert_int_equal(line.kind, SUBJECT_LINE);
    assert_non_null(strstr(line.path, "store.c"));
    list->ops->close(list);
    full->ops->close(full);
}

/* --- In full ------------------------------------------------------------------------------- */

static void a_bug_says_what_survived_what_was_lost_and_why_that_is_legal(void **state)
{
    json_t *report = sample_all();
    struct view *v = bug_view(bug_of(report, 0), WIDE, true);
    (void)state;
    assert_string_equal(
        view_text(v),
        "what|CURRENT.new renamed to CURRENT, manifest-2 not written\n"
        "survived|* rename CURRENT.new to CURRENT  ev 14\n"
        "|set_current store.c:41\n"
        "lost|o write manifest-2 0+64: data  ev 9\n"
        "|write_manifest store.c:23\n"
        "legal|no sync of manifest-2 has returned by then; under ext4 names do not wait for what "
        "is\n"
        "|written to files\n"
        "checker|exit status 1\n"
        "|CURRENT names manifest-2\n"
        "|manifest-2 is empty\n"
        "fix|fdatasync(manifest-2) after event 9, write_manifest store.c:23 and before event 14,\n"
        "|set_current store.c:41\n"
        "seen in|14 inconsistent states\n"
        "|behaviour 3 set_current\n"
        "|group 2\n"
        "status|new\n");
    v->ops->close(v);
    json_decref(report);
}

static void its_lines_are_about_what_they_name(void **state)
{
    json_t *report = sample_all();
    struct view *v = bug_view(bug_of(report, 0), WIDE, true);
    (void)state;
    assert_int_equal(view_subject(v, 2).kind, SUBJECT_OP);
    assert_int_equal(view_subject(v, 2).number, 9);
    assert_int_equal(view_subject(v, 3).kind, SUBJECT_LINE);
    assert_int_equal(view_subject(v, 3).number, 41);
    assert_string_equal(view_subject(v, 3).path, "/src/store.c");
    assert_int_equal(view_subject(v, 14).kind, SUBJECT_BEHAVIOUR);
    assert_int_equal(view_subject(v, 15).kind, SUBJECT_GROUP);
    for (uint64_t row = 1; row <= v->ops->count(v); row++) {
        struct subject s = view_subject(v, row);
        if (s.kind != SUBJECT_NONE)
            assert_int_equal(v->ops->find(v, &s), row);
    }
    v->ops->close(v);
    v = bug_view(bug_of(report, 2), WIDE, true); /* an acknowledgement has an event, no op */
    assert_int_equal(view_subject(v, 2).kind, SUBJECT_EVENT);
    assert_int_equal(view_subject(v, 2).number, 20);
    v->ops->close(v);
    json_decref(report);
}

static void a_narrow_pane_folds_and_loses_no_word(void **state)
{
    json_t *report = sample_all();
    (void)state;
    for (int width = 1; width < 60; width += 7) {
        struct view *v = bug_view(bug_of(report, 0), width, true);
        struct buf text = {0};
        for (uint64_t row = 1; row <= v->ops->count(v); row++) {
            const char *cells = strchr(view_row(v, row), '|') + 1;
            bool folded = view_style(v, row, cells) == STYLE_RULE;
            if (folded)
                assert_true(escape_width(cells) <= lines_room(width));
            if (folded)
                buf_printf(&text, "%s%s", text.n ? " " : "", cells);
        }
        assert_string_equal(buf_string(&text),
                            "no sync of manifest-2 has returned by then; under ext4 names do not "
                            "wait for what is written to files");
        buf_free(&text);
        v->ops->close(v);
    }
    json_decref(report);
}

/* A report is from somebody's session: any member may be missing, of another type or hostile. */
static void nothing_in_a_report_can_hurt(void **state)
{
    char *path = xcalloc(4001, 1);
    memset(path, 'p', 4000);
    char *text = xasprintf(
        "[{}, {'survived': 7, 'lost': {'a': 1}, 'checker': 'no', 'fix': 3, 'behaviour': []},"
        " {'survived': [null, {'op': -1, 'event': -5, 'line': -2, 'file': '/x'}], 'lost': ['a'],"
        "  'checker': {'output': '\\u001b[31mred\\u0007\\r\\n\\u202eabc'}, 'note': '\\u001b]0;x'},"
        " {'lost': [{'op': 1, 'event': 3, 'call': 'write', 'path': '%s\\u001b[2J'}],"
        "  'summary': '\\u6f22\\u5b57e\\u0301', 'duplicate_of': -4, 'status': '\\u0001'}, 5, null]",
        path);
    json_t *bugs = sample_json(text);
    (void)state;
    assert_non_null(bugs);
    for (size_t i = 0; i < json_array_size(bugs); i++) {
        struct view *v = bug_view(json_array_get(bugs, i), 40, true);
        assert_null(strchr(view_text(v), '\x1b'));
        v->ops->close(v);
    }
    json_t *report = json_pack("{s:O}", "bugs", bugs);
    struct view *list = bugs_view_open(report, true);
    view_text(list);
    list->ops->close(list);
    json_decref(report);
    json_decref(bugs);
    free(text);
    free(path);
}

static void many_lost_ops_are_counted(void **state)
{
    json_t *bug = sample_json("{'lost': []}"), *lost = json_object_get(bug, "lost");
    (void)state;
    for (int i = 0; i < 30; i++)
        json_array_append_new(
            lost, json_pack("{s:i, s:i, s:s}", "op", i, "event", i + 1, "call", "write"));
    struct view *v = bug_view(bug, WIDE, true);
    assert_non_null(strstr(view_text(v), "|o write  ev 20\n|and 10 more\n"));
    v->ops->close(v);
    json_decref(bug);
}

/* --- What a checker prints ----------------------------------------------------------------- */

static void lines_come_in_pieces(void **state)
{
    struct view *v = output_view();
    (void)state;
    assert_int_equal(v->ops->count(v), 0);
    output_note(v, "running");
    output_add(v, "open fai", 8);
    assert_string_equal(view_text(v), "1|open fai\n|running\n");
    output_add(v, "led\n\nno entry", 13);
    assert_string_equal(view_text(v), "1|open failed\n2|\n3|no entry\n|running\n");
    struct verdict bad = {.kind = VERDICT_INCONSISTENT, .exit = 1, .seconds = 0.25};
    output_end(v, &bad);
    assert_string_equal(view_row(v, 4), "|x inconsistent: exit status 1 after 0.25s");
    assert_int_equal(view_style(v, 4, "inconsistent"), STYLE_VERDICT_BAD);
    v->ops->close(v);
}

static void of_an_ending_only_what_is_known_is_said(void **state)
{
    static const struct {
        struct verdict verdict;
        const char *words;
    } cases[] = {
        {{.kind = VERDICT_CRASHED, .signal = 11}, "x crashed: killed by SIGSEGV after 0.00s"},
        {{.kind = VERDICT_HUNG, .seconds = 30}, "x hung: not done within the time limit (timeout)"},
        {{.kind = VERDICT_INCONSISTENT, .exit = 1, .seconds = OUTPUT_UNTIMED},
         "x inconsistent: exit status 1, in the last check"},
        {{.kind = VERDICT_CONSISTENT, .exit = OUTPUT_UNTOLD, .seconds = OUTPUT_UNTIMED},
         "v consistent, by the last check, which keeps no more; x runs it again"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct view *v = output_view();
        output_end(v, &cases[i].verdict);
        assert_string_equal(view_row(v, 1) + 1, cases[i].words);
        v->ops->close(v);
    }
}

static void whatever_a_checker_prints_is_safe_and_finite(void **state)
{
    struct view *v = output_view();
    (void)state;
    static const char hostile[] = "\x1b[2J\x1b]0;title\x07\r\xff\xfe\x80 \xe2\x80\xae ok\0 nul\n";
    output_add(v, hostile, sizeof hostile - 1);
    assert_non_null(strstr(view_row(v, 1), "\\x1b[2J"));
    assert_non_null(strstr(view_row(v, 1), " nul"));
    for (int i = 0; i < 3 * OUTPUT_LINE_MAX; i++)
        output_add(v, "x", 1);
    assert_int_equal(v->ops->count(v), 4);
    output_add(v, "\n", 1);
    for (int i = 0; i < OUTPUT_LINES_MAX; i++)
        output_add(v, "\n", 1);
    assert_int_equal(v->ops->count(v), OUTPUT_LINES_MAX + 1);
    assert_string_equal(view_row(v, OUTPUT_LINES_MAX + 1), "|and 4 lines more");
    v->ops->close(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_has_where_and_status),
        cmocka_unit_test(views_outlive_the_report),
        cmocka_unit_test(a_bug_says_what_survived_what_was_lost_and_why_that_is_legal),
        cmocka_unit_test(its_lines_are_about_what_they_name),
        cmocka_unit_test(a_narrow_pane_folds_and_loses_no_word),
        cmocka_unit_test(nothing_in_a_report_can_hurt),
        cmocka_unit_test(many_lost_ops_are_counted),
        cmocka_unit_test(lines_come_in_pieces),
        cmocka_unit_test(of_an_ending_only_what_is_known_is_said),
        cmocka_unit_test(whatever_a_checker_prints_is_safe_and_finite),
    };
    setlocale(LC_ALL, "C");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
