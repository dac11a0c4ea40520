/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/report.h"
#include "engine/report_words.h"
#include "tests/unit/report_sample.h"
#include "views/bugs.h"

/* A report of these bugs in that format; the caller frees it. */
static char *printed(const char *format, json_t *report)
{
    struct error e;
    struct buf out = {0};
    const struct report_format *f = report_format_find(format, &e);
    assert_non_null(report);
    assert_non_null(f);
    f->print(report, &out);
    json_decref(report);
    return out.at;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in:\n%s", part, text);
}

/* The same wherever lines are wrapped. */
static void has_words(const char *text, const char *part)
{
    char *line = xstrdup(text);
    for (char *c = line; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    has(line, part);
    free(line);
}

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" in:\n%s", part, text);
}

/* No control character but newlines, and no line past 100 columns. */
static void presentable(const char *text)
{
    while (*text) {
        char *line = xstrndup(text, strcspn(text, "\n"));
        for (const char *c = line; *c; c++)
            assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
        if (escape_width(line) > 100)
            fail_msg("a line of %d columns: %s", escape_width(line), line);
        text += strlen(line);
        text += *text == '\n';
        free(line);
    }
}

/* ---- text ---- */

static void check_bug(const char *bug, const char *expected)
{
    json_t *report = sample_report(bug);
    struct buf out = {0};
    assert_non_null(report);
    report_bug_text(report, json_array_get(json_object_get(report, "bugs"), 0), &out);
    assert_string_equal(buf_string(&out), expected);
    presentable(buf_string(&out));
    buf_free(&out);
    json_decref(report);
}

static void ordering_in_full(void **state)
{
    (void)state;
    check_bug(SAMPLE_ORDERING,
              "Bug 1: ordering — CURRENT.new renamed to CURRENT, manifest-2 not written\n"
              "\n"
              "  What survived:\n"
              "    event 14: rename CURRENT.new to CURRENT, in set_current store.c:41 (op 9)\n"
              "      #0  rename\n"
              "      #1  set_current /src/store.c:41\n"
              "      #2  main /src/workload.c:12\n"
              "\n"
              "  What was lost:\n"
              "    event 9: write manifest-2 0+64: data, in write_manifest store.c:23 (op 5)\n"
              "      #0  write\n"
              "      #1  write_manifest /src/store.c:23\n"
              "      #2  main /src/workload.c:11\n"
              "\n"
              "  Why it is legal: no sync of manifest-2 has returned by then; under ext4 names do "
              "not wait for what\n"
              "    is written to files\n"
              "\n"
              "  What the checker said: exit status 1, and it printed\n"
              "    | CURRENT names manifest-2\n"
              "    | manifest-2 is empty\n"
              "\n"
              "  What had been acknowledged: by then the program had printed (the last event that "
              "had begun is 15)\n"
              "    | opened\n"
              "\n"
              "  Proposed fix: fdatasync(manifest-2) after event 9, write_manifest store.c:23 and "
              "before event 14,\n"
              "    set_current store.c:41\n"
              "\n"
              "  Seen in: 14 inconsistent states; first in behaviour 3, the work of set_current "
              "(group 2); status:\n"
              "    new\n"
              "\n"
              "  How to reproduce: flotsam replay current.flotsam bug:1 DIR\n");
}

static void atomicity_in_full(void **state)
{
    (void)state;
    check_bug(SAMPLE_ATOMICITY,
              "Bug 2: atomicity — manifest-2 written in part\n"
              "\n"
              "  What survived:\n"
              "    event 9: write manifest-2 0+64: data, in write_manifest store.c:23 (op 5)\n"
              "      #0  write\n"
              "      #1  write_manifest /src/store.c:23\n"
              "      #2  main /src/workload.c:11\n"
              "\n"
              "  What was lost:\n"
              "    event 9: write manifest-2: length 64, in write_manifest store.c:23 (op 6)\n"
              "    event 9: write manifest-2 0+64: data, in write_manifest store.c:23 (op 5)\n"
              "      #0  write\n"
              "      #1  write_manifest /src/store.c:23\n"
              "      #2  main /src/workload.c:11\n"
              "\n"
              "  Why it is legal: under ext4 a call of several blocks can persist in part\n"
              "\n"
              "  What the checker said: exit status 3; it printed nothing\n"
              "\n"
              "  What had been acknowledged: nothing, the program had not printed anything yet\n"
              "\n"
              "  Proposed fix: write to a new file\n"
              "\n"
              "  Seen in: 1 inconsistent state; status: confirmed\n"
              "\n"
              "  How to reproduce: flotsam replay current.flotsam bug:2 DIR\n");
}

static void unpersisted_in_full(void **state)
{
    (void)state;
    check_bug(SAMPLE_UNPERSISTED,
              "Bug 3: unpersisted — an acknowledgement printed, manifest-2 not written\n"
              "\n"
              "  What survived:\n"
              "    event 20: print \"saved\\n\", in main workload.c:14\n"
              "      #0  main /src/workload.c:14\n"
              "\n"
              "  What was lost:\n"
              "    event 9: write manifest-2 0+64: data, in write_manifest store.c:23 (op 5)\n"
              "      #0  write\n"
              "      #1  write_manifest /src/store.c:23\n"
              "      #2  main /src/workload.c:11\n"
              "\n"
              "  Why it is legal: no sync of manifest-2 follows\n"
              "\n"
              "  What the checker said: exit status 1, and it printed\n"
              "    | lost\n"
              "\n"
              "  What had been acknowledged: by then the program had printed\n"
              "    | saved\n"
              "\n"
              "  Proposed fix: fdatasync(manifest-2) after event 9\n"
              "\n"
              "  Seen in: 2 inconsistent states; first in behaviour 0, the work of main; status: "
              "ignored\n"
              "\n"
              "  How to reproduce: flotsam replay current.flotsam bug:3 DIR\n");
}

static void recovery_in_full(void **state)
{
    (void)state;
    check_bug(SAMPLE_RECOVERY,
              "Bug 4: recovery — recovery fails after CURRENT.new renamed to CURRENT\n"
              "\n"
              "  What survived:\n"
              "    event 14: rename CURRENT.new to CURRENT, in set_current store.c:41 (op 9)\n"
              "      #0  rename\n"
              "      #1  set_current /src/store.c:41\n"
              "      #2  main /src/workload.c:12\n"
              "\n"
              "  What was lost: nothing that had been done before it\n"
              "\n"
              "  Why it is legal: nothing is lost\n"
              "\n"
              "  What the checker said: killed by SIGSEGV; it printed nothing\n"
              "\n"
              "  What had been acknowledged: nothing, the program had not printed anything yet\n"
              "\n"
              "  Proposed fix: recovery has to cope with this state\n"
              "\n"
              "  Seen in: 2 inconsistent states; status: new\n"
              "\n"
              "  How to reproduce: flotsam replay current.flotsam bug:4 DIR\n");
}

static void the_whole_begins_with_what_was_done(void **state)
{
    (void)state;
    char *text = printed("text", sample_report(SAMPLE_ORDERING ", " SAMPLE_RECOVERY));
    const char *expected = "./workload data was recorded in current.flotsam (24 events) and "
                           "checked under the model ext4, with\n"
                           "the strategy representative: 12 ops in 4 behaviours, which form 3 "
                           "groups. A crash could leave 96\n"
                           "different sets of ops. 40 states were enumerated, repetitions "
                           "included, of which 30 are distinct,\n"
                           "and 30 were tested with ./check {dir}; 16 are inconsistent, with 2 "
                           "causes (found by looking at 9\n"
                           "more states). Recording took 0.25s, the analysis 0.01s, checking "
                           "1.50s; all checkers together 2.75s.\n"
                           "Nothing that the strategy asks for was left out.\n"
                           "\n"
                           "To be known:\n"
                           "  - 2 calls of io_uring were refused\n";
    assert_memory_equal(text, expected, strlen(expected));
    has(text, "\n\nBug 4: recovery");
    presentable(text);
    free(text);
}

static void no_bugs_is_told_with_its_limits(void **state)
{
    (void)state;
    char *text = printed("text", sample_report(""));
    has_words(text, "; 0 are inconsistent. ");
    has(text, "\nNo inconsistent state was found. This is no proof: ");
    has_words(text, "the model ext4 allows");
    has_words(text, "Nothing that the strategy asks for was left out.");
    lacks(text, "budget");
    presentable(text);
    free(text);
}

static void what_was_cut_is_told(void **state)
{
    (void)state;
    char *text = printed("text", sample_json("{" SAMPLE_HEAD ", 'cut': 'the budget of 10 states',"
                                             " 'states': {'tested': 10, 'complete': false},"
                                             " 'bugs': []}"));
    has_words(text, "This is not complete: the budget of 10 states.");
    has_words(text, "was not counted. ");
    has_words(text, "a larger budget");
    free(text);
}

/* Nothing tested, or failures that did not come back, must not read as success anywhere. */
static void no_bugs_is_not_always_good(void **state)
{
    (void)state;
    static const char *const documents[] = {
        "{" SAMPLE_HEAD ", 'states': {'tested': 0, 'complete': true}, 'bugs': []}",
        "{" SAMPLE_HEAD ", 'states': {'tested': 5, 'inconsistent': 2}, 'bugs': []}",
        "{" SAMPLE_HEAD ", 'interrupted': true, 'cut': 'it was interrupted',"
        " 'states': {'tested': 5, 'inconsistent': 2, 'complete': false}, 'bugs': []}",
    };
    static const char *const said[] = {"nothing is known", "did not fail again",
                                       "interrupted before the cause"};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        char *text = printed("text", sample_json(documents[i]));
        lacks(text, "No inconsistent state was found");
        has_words(text, said[i]);
        free(text);
        text = printed("junit", sample_json(documents[i]));
        has(text, "tests=\"1\" failures=\"1\"");
        has(text, "<failure ");
        free(text);
        text = printed("sarif", sample_json(documents[i]));
        has_words(text, said[i]);
        free(text);
    }
}

/* How an output began and how it ended are shown, and how much is missing. */
static void long_output_is_cut_in_the_middle(void **state)
{
    (void)state;
    struct buf bug = {0};
    buf_text(&bug, "{'id': 1, 'kind': 'ordering', 'checker': {'exit': 1, 'output': '");
    for (int i = 1; i <= 100; i++)
        buf_printf(&bug, "line %d\\n", i);
    for (int i = 0; i < 150; i++)
        buf_char(&bug, 'x');
    buf_text(&bug, "'}}");
    char *text = printed("text", sample_report(bug.at));
    has(text, "    | line 6\n    (82 lines left out)\n    | line 89\n");
    presentable(text); /* the last line is folded */
    lacks(text, "line 88\n");
    free(text);
    buf_free(&bug);
}

static void many_lost_ops_are_cut(void **state)
{
    (void)state;
    struct buf bug = {0};
    buf_text(&bug, "{'id': 1, 'kind': 'atomicity', 'lost': [");
    for (int i = 0; i < 50; i++)
        buf_printf(&bug, "%s{'op': %d, 'event': 3, 'call': 'write', 'path': 'p'}", i ? "," : "", i);
    buf_text(&bug, "]}");
    char *text = printed("text", sample_report(bug.at));
    has(text, "(op 19)\n");
    has(text, "    (30 more; the report as JSON has all)\n");
    lacks(text, "(op 20)");
    free(text);
    buf_free(&bug);
}

static void sessions_are_quoted_for_a_shell(void **state)
{
    (void)state;
    static const struct {
        const char *session, *command;
    } cases[] = {
        {"a/b-1.flotsam", "flotsam replay a/b-1.flotsam bug:7 DIR"},
        {"it's mine", "flotsam replay 'it'\\''s mine' bug:7 DIR"},
        {"$(reboot)", "flotsam replay '$(reboot)' bug:7 DIR"},
        {"-o", "flotsam replay ./-o bug:7 DIR"},
        {"a\033'\\", "flotsam replay $'a\\x1b\\'\\\\' bug:7 DIR"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *report = json_pack("{s:s}", "session", cases[i].session);
        json_t *bug = json_pack("{s:i}", "id", 7);
        struct buf out = {0};
        report_add_replay(&out, report, bug);
        assert_string_equal(buf_string(&out), cases[i].command);
        buf_free(&out);
        json_decref(report);
        json_decref(bug);
    }
}

static void verdicts_in_words(void **state)
{
    (void)state;
    static const struct {
        const char *checker, *words;
    } cases[] = {
        {"{'exit': 1}", "exit status 1"},
        {"{'exit': 99}", "exit status 99, recovery itself failed"},
        {"{'exit': null, 'signal': 6}", "killed by SIGABRT"},
        {"{'exit': null, 'signal': 4000}", "killed by signal 4000"},
        {"{'exit': null, 'signal': null, 'timed_out': true}", "not done within the time limit (timeout)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *bug = json_pack("{s:o}", "checker", sample_json(cases[i].checker));
        struct buf out = {0};
        report_add_verdict(&out, bug);
        assert_string_equal(buf_string(&out), cases[i].words);
        buf_free(&out);
        json_decref(bug);
    }
}

/* ---- what others wrote ---- */

/* Escape sequences, a bidirectional override, XML's and SARIF's own syntax. */
#define HOSTILE "\\u001b[31m\\u202e]]><b>&\\u007f\\u0085\\uffff{0}[x](http://h)\\u0001"

static json_t *hostile(void)
{
    return sample_report(
        "{'id': 1, 'kind': '" HOSTILE "', 'summary': '" HOSTILE "', 'rule': '" HOSTILE
        "', 'fix': '" HOSTILE "', 'status': '" HOSTILE "', 'told': '" HOSTILE
        "', 'behaviour': {'name': '" HOSTILE "'}, 'checker': {'output': '" HOSTILE "\\n" HOSTILE
        "'}, 'survived': [{'call': 'print', 'text': '" HOSTILE "'}], 'lost': [{'call': '" HOSTILE
        "', 'kind': '" HOSTILE "', 'path': '" HOSTILE "', 'other_path': '" HOSTILE
        "', 'function': '" HOSTILE "', 'file': '/" HOSTILE
        "', 'line': 3, 'stack': [{'function': '" HOSTILE "', 'file': '" HOSTILE
        "', 'line': 4}]}]}");
}

static void safe_bytes(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        assert_true((*c >= 0x20 || *c == '\n') && *c != 0x7f);
    lacks(text, "\xe2\x80\xae"); /* the override */
    lacks(text, "\xc2\x85");     /* a C1 control */
    lacks(text, "\xef\xbf\xbf"); /* what XML forbids */
}

static void hostile_text_is_escaped_everywhere(void **state)
{
    (void)state;
    static const char *const formats[] = {"text", "json", "sarif", "junit"};
    for (size_t i = 0; i < 4; i++) {
        char *text = printed(formats[i], hostile());
        safe_bytes(text);
        free(text);
    }
}

static void xml_syntax_is_escaped(void **state)
{
    (void)state;
    char *text = printed("junit", hostile());
    lacks(text, "]]>");
    lacks(text, "<b>");
    has(text, "]]&gt;&lt;b&gt;&amp;");
    free(text);
}

static void sarif_syntax_is_escaped(void **state)
{
    (void)state;
    char *text = printed("sarif", hostile());
    json_t *log = json_loads(text, 0, NULL);
    json_t *result, *run = json_array_get(json_object_get(log, "runs"), 0);
    result = json_array_get(json_object_get(run, "results"), 0);
    const char *words =
        json_string_value(json_object_get(json_object_get(result, "message"), "text"));
    assert_non_null(words);
    has(words, "{{0}}");
    lacks(words, "](");
    assert_null(json_object_get(result, "ruleIndex")); /* no kind that we know */
    has(text, "\"uri\": \"file:///%1B%5B31m");
    json_decref(log);
    free(text);
}

/* A damaged session can hold any JSON: nothing may crash on it. */
static void any_document_can_be_printed(void **state)
{
    (void)state;
    static const char *const documents[] = {
        "{}",
        "{'bugs': 3, 'states': [], 'seconds': 'x', 'notices': {}}",
        "{'bugs': [null, 1, 'x', [], {}], 'notices': [null, 3]}",
        "{'bugs': [{'id': 'x', 'kind': 7, 'survived': {}, 'lost': [null, 1, {'stack': [null]}],"
        " 'checker': [], 'behaviour': 4}], 'session': 5, 'states': {'tested': 'x'}}",
        "{'bugs': [{'lost': [{'file': '', 'line': -4, 'offset': -1, 'kind': 'data'}]}],"
        " 'possible': 1e300}",
    };
    static const char *const formats[] = {"text", "json", "sarif", "junit"};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        for (size_t k = 0; k < 4; k++)
            free(printed(formats[k], sample_json(documents[i])));
}

/* ---- SARIF ---- */

static json_t *sarif_results(json_t *report, json_t **log)
{
    char *text = printed("sarif", report);
    *log = json_loads(text, 0, NULL);
    free(text);
    json_t *results = json_object_get(json_array_get(json_object_get(*log, "runs"), 0), "results");
    assert_true(json_is_array(results));
    return results;
}

static int line_of(const json_t *location)
{
    int line = 0;
    json_unpack((json_t *)location, "{s:{s:{s:i}}}", "physicalLocation", "region", "startLine",
                &line);
    return line;
}

static void sarif_has_a_result_for_each_bug(void **state)
{
    (void)state;
    json_t *log, *results = sarif_results(sample_all(), &log), *result;
    static const char *const kinds[] = {"ordering", "atomicity", "unpersisted", "recovery"};
    size_t i;
    assert_int_equal(json_array_size(results), 4);
    json_array_foreach(results, i, result)
    {
        assert_string_equal(json_string_value(json_object_get(result, "ruleId")), kinds[i]);
        assert_int_equal(json_integer_value(json_object_get(result, "ruleIndex")), i);
        /* Only what somebody ignored is suppressed. */
        assert_int_equal(json_object_get(result, "suppressions") != NULL, i == 2);
    }
    json_decref(log);
}

static void sarif_locates_what_survived_and_what_was_lost(void **state)
{
    (void)state;
    json_t *log, *result = json_array_get(sarif_results(sample_report(SAMPLE_ORDERING), &log), 0),
                 *flow;
    assert_int_equal(line_of(json_array_get(json_object_get(result, "locations"), 0)), 41);
    assert_int_equal(line_of(json_array_get(json_object_get(result, "relatedLocations"), 0)), 23);
    assert_int_equal(
        json_unpack(result, "{s:[{s:[{s:o}]}]}", "codeFlows", "threadFlows", "locations", &flow),
        0);
    assert_int_equal(json_array_size(flow), 2); /* the lost write came first */
    assert_int_equal(line_of(json_object_get(json_array_get(flow, 0), "location")), 23);
    assert_int_equal(line_of(json_object_get(json_array_get(flow, 1), "location")), 41);
    json_t *frames = json_object_get(json_object_get(json_array_get(flow, 1), "stack"), "frames");
    assert_int_equal(json_array_size(frames), 3);
    json_decref(log);
}

static const char *fingerprint(const json_t *result)
{
    const char *text = json_string_value(
        json_object_get(json_object_get(result, "partialFingerprints"), "flotsamCulprit/v1"));
    assert_non_null(text);
    return text;
}

static json_t *bug_of(const char *kind, const char *function, int line, const char *path, int lost)
{
    json_t *ops = json_array();
    for (int i = 0; i < lost; i++)
        json_array_append_new(ops,
                              json_pack("{s:i, s:s, s:s, s:s, s:i, s:[{s:s, s:i}]}", "event",
                                        line + i, "call", "write", "path", path, "file", "f.c",
                                        "line", line, "stack", "function", function, "line", line));
    return json_pack("{s:s, s:o}", "kind", kind, "lost", ops);
}

/* Lines, numbers, file names and how often a loop's op was lost change from run to run. */
static void fingerprints_go_by_functions(void **state)
{
    (void)state;
    json_t *log, *report = sample_report("");
    json_t *bugs = json_object_get(report, "bugs");
    json_array_append_new(bugs, bug_of("ordering", "save", 10, "log.1", 1));
    json_array_append_new(bugs, bug_of("ordering", "save", 12, "log.2", 3));
    json_array_append_new(bugs, bug_of("ordering", "load", 10, "log.1", 1));
    json_array_append_new(bugs, bug_of("atomicity", "save", 10, "log.1", 1));
    json_t *results = sarif_results(report, &log);
    const char *first = fingerprint(json_array_get(results, 0));
    const char *again = fingerprint(json_array_get(results, 1));
    const char *other = fingerprint(json_array_get(results, 2));
    const char *kind = fingerprint(json_array_get(results, 3));
    size_t n = strcspn(first, ":");
    assert_int_equal(n, 16);
    assert_memory_equal(first, again, n);
    assert_string_equal(first + n, ":1");
    assert_string_equal(again + n, ":2");
    assert_memory_not_equal(first, other, n);
    assert_memory_not_equal(first, kind, n);
    json_decref(log);
}

/* ---- JUnit ---- */

static void junit_fails_for_bugs_and_skips_what_is_ignored(void **state)
{
    (void)state;
    char *text = printed("junit", sample_all());
    has(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites ");
    has(text, "tests=\"4\" failures=\"3\" errors=\"0\" skipped=\"1\"");
    has(text, "<testcase classname=\"flotsam.ordering\" name=\"set_current: CURRENT.new renamed");
    has(text, "<property name=\"states.tested\" value=\"30\"/>");
    has(text, "      <skipped message=\"ignored\"/>\n");
    has(text, "#1  write_manifest /src/store.c:23\n");
    free(text);
}

static void junit_passes_without_bugs(void **state)
{
    (void)state;
    char *text = printed("junit", sample_report(""));
    has(text, "tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\" time=\"1.510\"");
    has(text, "<testcase classname=\"flotsam\" name=\"no inconsistent state\" time=\"0\"/>");
    lacks(text, "<failure");
    free(text);
}

/* ---- the others ---- */

/* What people said, and whether the proposed sync was tried. */
static void triage_and_tries_are_told(void **state)
{
    (void)state;
    const char *bugs = "{'id': 1, 'kind': 'ordering', 'summary': 'one', 'rule': 'r', 'states': 4,"
                       " 'status': 'duplicate', 'duplicate_of': 2, 'note': 'see March',"
                       " 'lost': [], 'survived': [], 'checker': {'exit': 1, 'signal': null,"
                       " 'timed_out': false, 'output': ''}, 'cause': 'abc',"
                       " 'fix': {'text': 'sync it', 'call': 'fsync', 'verified': true,"
                       " 'states': 4, 'gone': 4}},"
                       "{'id': 2, 'kind': 'ordering', 'summary': 'two', 'rule': 'r', 'states': 1,"
                       " 'status': 'new', 'lost': [], 'survived': [], 'checker': {'exit': 1,"
                       " 'signal': null, 'timed_out': false, 'output': ''},"
                       " 'fix': {'text': 'sync more', 'verified': false, 'states': 1, 'gone': 0}}";
    char *text = printed("text", sample_report(bugs));
    has_words(text, "status: duplicate of bug 2");
    has_words(text, "Note: see March");
    has_words(text, "Proposed fix: sync it (tried: it rules out 4 of its 4 states)");
    has_words(text, "Proposed fix: sync more (tried: it rules out 0 of its 1 state)");
    free(text);
    char *sarif = printed("sarif", sample_report(bugs));
    has(sarif, "\"note\": \"see March\"");
    has(sarif, "\"duplicate_of\": 2");
    has(sarif, "Proposed fix: sync it (tried: it rules out 4 of its 4 states)");
    free(sarif);
}

static void json_is_the_document(void **state)
{
    (void)state;
    json_t *report = sample_all();
    char *text = printed("json", json_incref(report));
    json_t *again = json_loads(text, 0, NULL);
    assert_true(json_equal(report, again));
    json_decref(report);
    json_decref(again);
    free(text);
}

static void unknown_formats_are_told(void **state)
{
    (void)state;
    struct error e;
    assert_null(report_format_find("xml", &e));
    assert_string_equal(e.text,
                        "no report format is called xml; there are text, json, sarif, junit");
}

static void bugs_are_rows(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "2", "atomicity", "manifest-2 written in part", "store.c:23", "1", "confirmed",
    };
    struct error e;
    struct row row = {0};
    uint64_t at = 5;
    json_t *report = sample_all();
    struct view *v = bugs_view_open(report, true);
    assert_int_equal(v->ops->count(v), 4);
    assert_true(v->ops->draw(v, 2, &row, &e));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(buf_string(&row.cells[i].text), expected[i]);
    assert_true(v->ops->seek(v, &at, 1, &e));
    assert_int_equal(at, 0);
    row_free(&row);
    v->ops->close(v);
    json_decref(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordering_in_full),
        cmocka_unit_test(atomicity_in_full),
        cmocka_unit_test(unpersisted_in_full),
        cmocka_unit_test(recovery_in_full),
        cmocka_unit_test(the_whole_begins_with_what_was_done),
        cmocka_unit_test(no_bugs_is_told_with_its_limits),
        cmocka_unit_test(what_was_cut_is_told),
        cmocka_unit_test(no_bugs_is_not_always_good),
        cmocka_unit_test(long_output_is_cut_in_the_middle),
        cmocka_unit_test(many_lost_ops_are_cut),
        cmocka_unit_test(sessions_are_quoted_for_a_shell),
        cmocka_unit_test(verdicts_in_words),
        cmocka_unit_test(hostile_text_is_escaped_everywhere),
        cmocka_unit_test(xml_syntax_is_escaped),
        cmocka_unit_test(sarif_syntax_is_escaped),
        cmocka_unit_test(any_document_can_be_printed),
        cmocka_unit_test(sarif_has_a_result_for_each_bug),
        cmocka_unit_test(sarif_locates_what_survived_and_what_was_lost),
        cmocka_unit_test(fingerprints_go_by_functions),
        cmocka_unit_test(junit_fails_for_bugs_and_skips_what_is_ignored),
        cmocka_unit_test(junit_passes_without_bugs),
        cmocka_unit_test(triage_and_tries_are_told),
        cmocka_unit_test(json_is_the_document),
        cmocka_unit_test(unknown_formats_are_told),
        cmocka_unit_test(bugs_are_rows),
    };
    setlocale(LC_ALL, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
