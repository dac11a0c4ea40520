/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What people say of bugs and where they put bookmarks: there again after the next check, whatever
 * number a bug has then, and after the death of the process that was told it is kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/check.h"
#include "engine/triage.h"
#include "tests/unit/run_sample.h"

/* Two promises that are not kept: "one" is printed before a is synced, "two" before b is. */
static void promise_twice(struct run *f)
{
    run_create(f, "a");
    run_event(f, (struct event){.call = CALL_PRINT,
                                .fd = 1,
                                .size = 4,
                                .payload = recording_payload(f->r, "one\n", 4),
                                .stack = run_stack(f, 0x5000)});
    run_sync(f);
    run_create(f, "b");
    run_event(f, (struct event){.call = CALL_PRINT,
                                .fd = 1,
                                .size = 4,
                                .payload = recording_payload(f->r, "two\n", 4),
                                .stack = run_stack(f, 0x6000)});
    run_sync(f);
    run_end(f);
}

#define KEEPS(word, file) "{ ! grep -q " word " \"$FLOTSAM_STDOUT\" || test -e " file "; }"

static const char of_both[] = "cd \"$FLOTSAM_DIR\" && " KEEPS("one", "a") " && " KEEPS("two", "b");
static const char of_two[] = "cd \"$FLOTSAM_DIR\" && " KEEPS("two", "b");

static void check(struct run *f, const char *checker, size_t bugs)
{
    struct error e;
    json_t *report = NULL;
    struct check_options options = {.explore = {.strategy = STRATEGY_EXHAUSTIVE,
                                                .checker = checker,
                                                .dir = f->data,
                                                .cwd = f->top,
                                                .jobs = 1,
                                                .timeout = 20,
                                                .acknowledgements = true}};
    if (!model_find("ext4", &options.model, &e) || !check_run(f->s, &options, &report, &e))
        fail_msg("%s", e.text);
    assert_int_equal(json_array_size(json_object_get(report, "bugs")), bugs);
    json_decref(report);
}

static void must(bool done, const struct error *e)
{
    if (!done)
        fail_msg("%s", e->text);
}

/* Bug `place` of the report, from 0, as it is loaded. */
static void expect(struct run *f, size_t place, const char *status, const char *note,
                   json_int_t duplicate_of)
{
    json_t *report = report_load(f->s, NULL);
    const json_t *bug = json_array_get(json_object_get(report, "bugs"), place);
    const char *said = json_string_value(json_object_get(bug, "note"));
    assert_string_equal(json_string_value(json_object_get(bug, "status")), status);
    assert_string_equal(said ? said : "", note);
    assert_int_equal(json_integer_value(json_object_get(bug, "duplicate_of")), duplicate_of);
    json_decref(report);
}

/* Of the session's report, as one who has just looked at it. */
static bool set(struct run *f, uint32_t bug, enum triage_status status, uint32_t duplicate_of,
                struct error *e)
{
    json_t *report = report_load(f->s, e);
    bool done = report && triage_set(f->s, report, bug, status, duplicate_of, e);
    json_decref(report);
    return done;
}

static bool note(struct run *f, size_t place, const char *text, struct error *e)
{
    json_t *report = report_load(f->s, e);
    bool done = report &&
                triage_note(f->s, json_array_get(json_object_get(report, "bugs"), place), text, e);
    json_decref(report);
    return done;
}

static void what_is_said_outlives_a_check(void **state)
{
    struct run *f = *state;
    struct error e;
    promise_twice(f);
    check(f, of_both, 2);
    expect(f, 0, "new", "", 0);
    must(note(f, 1, "seen in March", &e), &e);
    expect(f, 1, "new", "seen in March", 0);
    must(set(f, 1, TRIAGE_CONFIRMED, 0, &e), &e);
    must(set(f, 2, TRIAGE_DUPLICATE, 1, &e), &e);
    expect(f, 0, "confirmed", "", 0);
    expect(f, 1, "duplicate", "seen in March", 1);
    check(f, of_both, 2);
    expect(f, 0, "confirmed", "", 0);
    expect(f, 1, "duplicate", "seen in March", 1);
    /* The first one is not met: the second is the first now, and what it repeats is not there. */
    check(f, of_two, 1);
    expect(f, 0, "duplicate", "seen in March", 0);
    must(set(f, 1, TRIAGE_IGNORED, 0, &e), &e);
    check(f, of_both, 2);
    expect(f, 0, "confirmed", "", 0);
    expect(f, 1, "ignored", "seen in March", 0);
    must(note(f, 1, "", &e), &e);
    expect(f, 1, "ignored", "", 0);
}

/* What is said belongs to the bug that one saw, though a check has numbered them anew since then.
 */
static void a_number_is_that_of_the_report_in_sight(void **state)
{
    struct run *f = *state;
    struct error e;
    promise_twice(f);
    check(f, of_both, 2);
    json_t *seen = report_load(f->s, &e);
    check(f, of_two, 1);
    must(triage_set(f->s, seen, 1, TRIAGE_CONFIRMED, 0, &e), &e);
    must(triage_note(f->s, json_array_get(json_object_get(seen, "bugs"), 0), "gone", &e), &e);
    must(triage_set(f->s, seen, 2, TRIAGE_DUPLICATE, 1, &e), &e);
    json_decref(seen);
    expect(f, 0, "duplicate", "", 0);
    check(f, of_both, 2);
    expect(f, 0, "confirmed", "gone", 0);
    expect(f, 1, "duplicate", "", 1);
}

static void nonsense_is_refused(void **state)
{
    struct run *f = *state;
    struct error e;
    enum triage_status status;
    promise_twice(f);
    assert_false(set(f, 1, TRIAGE_CONFIRMED, 0, &e));
    assert_non_null(strstr(e.text, "not been checked"));
    check(f, of_both, 2);
    assert_false(set(f, 3, TRIAGE_CONFIRMED, 0, &e));
    assert_non_null(strstr(e.text, "no bug 3"));
    assert_false(set(f, 1, TRIAGE_DUPLICATE, 1, &e));
    must(set(f, 2, TRIAGE_DUPLICATE, 1, &e), &e);
    assert_false(set(f, 1, TRIAGE_DUPLICATE, 2, &e));
    assert_false(triage_status_find("fixed", &status, &e));
}

/* A report from before there were causes: the words that it has for a bug do instead. */
static void old_reports_can_be_triaged(void **state)
{
    struct run *f = *state;
    struct error e;
    promise_twice(f);
    check(f, of_both, 2);
    assert_int_equal(sqlite3_exec(session_db(f->s),
                                  "UPDATE report SET json = json_remove(json, '$.bugs[0].cause', "
                                  "'$.bugs[1].cause')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    must(set(f, 2, TRIAGE_CONFIRMED, 0, &e), &e);
    expect(f, 0, "new", "", 0);
    expect(f, 1, "confirmed", "", 0);
}

/* The child is killed the moment it has said that everything is kept. */
static void a_killed_process_loses_nothing_that_it_said_was_kept(void **state)
{
    struct run *f = *state;
    struct error e;
    int done[2];
    promise_twice(f);
    check(f, of_both, 2);
    json_t *report = report_load(f->s, &e);
    session_close(f->s);
    f->s = NULL;
    assert_int_equal(pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        struct session *s;
        uint32_t id;
        const json_t *bug = json_array_get(json_object_get(report, "bugs"), 0);
        bool ok = session_open(&s, f->path, NULL) &&
                  triage_set(s, report, 1, TRIAGE_CONFIRMED, 0, NULL) &&
                  triage_note(s, bug, "kept", NULL) &&
                  bookmark_add(s, 2, BOOKMARK_EVENT, "here", &id, NULL);
        if (write(done[1], ok ? "y" : "n", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    char answer;
    assert_int_equal(read(done[0], &answer, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    json_decref(report);
    close(done[0]);
    close(done[1]);
    assert_int_equal(answer, 'y');
    must(session_open(&f->s, f->path, &e), &e);
    expect(f, 0, "confirmed", "kept", 0);
    struct bookmarks list;
    must(bookmarks_load(&list, f->s, &e), &e);
    assert_int_equal(list.n, 1);
    bookmarks_free(&list);
}

/* The same program, recorded once more into the file of the session before. */
static void begin_again(struct run *f)
{
    struct error e;
    session_close(f->s);
    f->s = NULL;
    f->position = 1;
    must(recording_create(&f->r, f->path, &e), &e);
    recording_file(f->r, FILE_DIRECTORY, ".");
    recording_image_file(f->r, FILE_ROOT, FILE_DIRECTORY, 0755, 0, NULL);
    recording_thread(f->r, recording_process(f->r, 1, 0), 1);
}

static void what_is_said_outlives_a_new_recording(void **state)
{
    struct run *f = *state;
    struct error e;
    uint32_t id;
    struct bookmarks list;
    promise_twice(f);
    check(f, of_both, 2);
    begin_again(f);
    assert_int_equal(recording_carried(f->r), 0); /* nobody has said anything */
    promise_twice(f);
    check(f, of_both, 2);
    must(set(f, 1, TRIAGE_CONFIRMED, 0, &e), &e);
    must(set(f, 2, TRIAGE_DUPLICATE, 1, &e), &e);
    must(note(f, 1, "seen in March", &e), &e);
    must(bookmark_add(f->s, 1, BOOKMARK_EVENT, "here", &id, &e), &e);
    begin_again(f);
    assert_int_equal(recording_carried(f->r), 2);
    promise_twice(f);
    check(f, of_both, 2);
    expect(f, 0, "confirmed", "", 0);
    expect(f, 1, "duplicate", "seen in March", 1);
    must(bookmarks_load(&list, f->s, &e), &e); /* those marked events that are no more */
    assert_int_equal(list.n, 0);
    bookmarks_free(&list);
    /* What was taken back is nothing that is said. */
    must(set(f, 2, TRIAGE_NEW, 0, &e), &e);
    must(note(f, 1, "", &e), &e);
    begin_again(f);
    assert_int_equal(recording_carried(f->r), 1);
}

/* Neither a recorder that fails nor one that is killed takes it along. */
static void what_is_said_outlives_a_recording_that_fails(void **state)
{
    struct run *f = *state;
    struct error e;
    promise_twice(f);
    check(f, of_both, 2);
    must(note(f, 1, "seen in March", &e), &e);
    begin_again(f);
    recording_abandon(f->r, true);
    begin_again(f);
    assert_int_equal(recording_carried(f->r), 1);
    recording_abandon(f->r, false);
    pid_t child = fork();
    if (child == 0) {
        begin_again(f);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    begin_again(f);
    assert_int_equal(recording_carried(f->r), 1);
    promise_twice(f);
    check(f, of_both, 2);
    expect(f, 1, "new", "seen in March", 0);
}

static void a_damaged_session_stops_no_recording(void **state)
{
    struct run *f = *state;
    struct error e;
    char rubbish[4096];
    promise_twice(f);
    check(f, of_both, 2);
    must(note(f, 1, "seen in March", &e), &e);
    session_close(f->s);
    f->s = NULL;
    FILE *file = fopen(f->path, "r+");
    memset(rubbish, 'x', sizeof rubbish);
    fseek(file, sizeof rubbish, SEEK_SET); /* the first page says what it is */
    for (int i = 0; i < 30; i++)
        fwrite(rubbish, 1, sizeof rubbish, file);
    fclose(file);
    begin_again(f);
    promise_twice(f);
    check(f, of_both, 2);
    expect(f, 1, "new", "", 0);
}

static void bookmarks_mark_events_and_ops(void **state)
{
    struct run *f = *state;
    struct error e;
    struct bookmarks list;
    uint32_t one, two, file = run_create(f, "f");
    uint64_t written = run_write(f, file, "hello");
    run_end(f);
    must(bookmarks_load(&list, f->s, &e), &e);
    assert_int_equal(list.n, 0);
    assert_false(bookmark_remove(f->s, 1, &e));
    must(bookmark_add(f->s, written, 1, "the data", &two, &e), &e);
    must(bookmark_add(f->s, 1, BOOKMARK_EVENT, NULL, &one, &e), &e);
    assert_false(bookmark_add(f->s, 99, BOOKMARK_EVENT, "", &one, &e));
    must(bookmarks_load(&list, f->s, &e), &e);
    assert_int_equal(list.n, 2);
    assert_int_equal(list.at[0].event, 1);
    assert_int_equal(list.at[0].place, BOOKMARK_EVENT);
    assert_string_equal(list.at[0].text, "");
    assert_string_equal(list.at[1].text, "the data");
    /* Which op that is depends on the model; each one finds its own. */
    static const char *const models[] = {"ext4", "ext4-paper"};
    for (size_t i = 0; i < 2; i++) {
        struct analysis_options options = {.behaviours = BEHAVIOUR_DEFAULTS};
        struct analysis *a = NULL;
        uint64_t event;
        uint32_t place;
        must(model_find(models[i], &options.model, &e) && analysis_new(&a, f->s, &options, &e), &e);
        for (uint32_t op = 0; op < a->graph->n; op++) {
            bookmark_of_op(a->graph, op, &event, &place);
            assert_int_equal(event, a->graph->ops[op].event);
            struct bookmark b = {.event = event, .place = place};
            assert_int_equal(bookmark_op(a->graph, &b), op);
        }
        assert_int_equal(bookmark_op(a->graph, &list.at[1]) == NO_OP, i == 1);
        assert_int_equal(bookmark_op(a->graph, &list.at[0]), NO_OP);
        analysis_free(a);
    }
    bookmarks_free(&list);
    must(bookmark_remove(f->s, two, &e), &e);
    assert_false(bookmark_remove(f->s, two, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        run_case(what_is_said_outlives_a_check),
        run_case(a_number_is_that_of_the_report_in_sight),
        run_case(nonsense_is_refused),
        run_case(old_reports_can_be_triaged),
        run_case(a_killed_process_loses_nothing_that_it_said_was_kept),
        run_case(what_is_said_outlives_a_new_recording),
        run_case(what_is_said_outlives_a_recording_that_fails),
        run_case(a_damaged_session_stops_no_recording),
        run_case(bookmarks_mark_events_and_ops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
