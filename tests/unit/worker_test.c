/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The engine at work in another process: what it finds is told as it is found and is the same as
 * without it; it can be paused, ended and killed; nothing of it is left, and nobody waits for it.
 * This program is the worker, too, when it is called as one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/check.h"
#include "engine/clock.h"
#include "engine/fix.h"
#include "engine/triage.h"
#include "engine/worker.h"
#include "tests/unit/run_sample.h"

enum { PATIENCE = 60 }; /* seconds: so long for a machine that has other things to do */

/* Three files with a promise each, which are not kept; 30 states or so. */
static void make_run(struct run *f)
{
    static const char *const names[] = {"a", "b", "c"};
    for (size_t i = 0; i < 3; i++) {
        uint32_t file = run_create(f, names[i]);
        run_write(f, file, "hello");
        run_print(f, names[i]);
    }
    run_sync(f);
    run_end(f);
    assert_true(session_set_meta(f->s, "directory", f->data, NULL));
    assert_true(session_set_meta(f->s, "folder", f->top, NULL));
}

static const char keeps[] = "cd \"$FLOTSAM_DIR\"; for n in a b c; do ! grep -q $n "
                            "\"$FLOTSAM_STDOUT\" || grep -q hello $n || exit 1; done";

static struct worker *start(struct run *f)
{
    struct worker *w;
    struct error e;
    if (!worker_start(&w, f->path, NULL, &e))
        fail_msg("%s", e.text);
    return w;
}

static void wait_for_it(struct worker *w)
{
    struct pollfd fd = {.fd = worker_fd(w), .events = POLLIN};
    if (worker_has_unsent(w))
        fd.events |= POLLOUT;
    poll(&fd, 1, 100);
}

/* The next event of either kind; the others are thrown away. Fails when the job does, or time. */
static struct worker_event next_of(struct worker *w, enum worker_event_kind kind,
                                   enum worker_event_kind other)
{
    uint64_t end = clock_now() + PATIENCE * NANOSECONDS_PER_SECOND;
    struct worker_event event;
    while (clock_now() < end && !worker_died(w)) {
        while (worker_read(w, &event)) {
            if (event.kind == kind || event.kind == other)
                return event;
            if (event.kind == WORKER_FAILED)
                fail_msg("%s", event.text);
            worker_event_clear(&event);
        }
        wait_for_it(w);
    }
    fail_msg("it did not come; %s", worker_died(w) ? worker_died(w) : "the worker lives");
    return event;
}

static struct worker_event next(struct worker *w, enum worker_event_kind kind)
{
    return next_of(w, kind, kind);
}

static struct worker_check exhaustive(const char *checker)
{
    return (struct worker_check){
        .model = "posix", .strategy = "exhaustive", .checker = checker, .jobs = 2, .timeout = 20};
}

/* ---- checks ---- */

static void what_it_finds_is_told_as_it_is_found(void **state)
{
    struct run *f = *state;
    make_run(f);
    struct worker *w = start(f);
    struct worker_check check = exhaustive(keeps);
    uint32_t job = worker_check(w, &check);
    json_t *bugs = json_array(), *report = NULL;
    uint64_t last = 0, inconsistent = 0, progress = 0;
    while (!report) {
        struct worker_event event;
        while (!report && worker_read(w, &event)) {
            assert_int_equal(event.job, job);
            assert_int_not_equal(event.kind, WORKER_FAILED);
            progress += event.kind == WORKER_PROGRESS;
            if (event.kind == WORKER_STATE) {
                assert_true(event.number > last);
                assert_true(event.verdict > VERDICT_CONSISTENT);
                last = event.number;
                inconsistent++;
            }
            if (event.kind == WORKER_BUG)
                json_array_append(bugs, event.body);
            if (event.kind == WORKER_DONE)
                report = json_incref(event.body);
            worker_event_clear(&event);
        }
        assert_null(worker_died(w));
        wait_for_it(w);
    }
    assert_true(progress >= 2);
    json_t *kept = report_load(f->s, NULL);
    const json_t *states = json_object_get(report, "states"),
                 *found = json_object_get(report, "bugs");
    assert_int_equal(json_integer_value(json_object_get(states, "inconsistent")), inconsistent);
    assert_true(json_equal(json_object_get(kept, "bugs"), found));
    assert_true(json_array_size(found) > 0);
    assert_int_equal(json_array_size(bugs), json_array_size(found));
    for (size_t i = 0; i < json_array_size(bugs); i++)
        assert_true(json_equal(json_object_get(json_array_get(bugs, i), "cause"),
                               json_object_get(json_array_get(found, i), "cause")));
    worker_stop(w);
    json_decref(kept);
    json_decref(report);
    json_decref(bugs);
}

static void a_check_can_be_paused_and_ended(void **state)
{
    struct run *f = *state;
    make_run(f);
    char *slow = xasprintf("sleep 0.05; %s", keeps);
    struct worker *w = start(f);
    struct worker_check check = exhaustive(slow);
    worker_check(w, &check);
    struct worker_event event = next(w, WORKER_PROGRESS);
    while (event.counts.tested == 0) {
        worker_event_clear(&event);
        event = next(w, WORKER_PROGRESS);
    }
    assert_string_equal(event.phase, "testing");
    assert_true(event.counts.expected > event.counts.enumerated);
    worker_event_clear(&event);
    worker_pause(w);
    event = next(w, WORKER_PROGRESS);
    while (!event.paused) {
        worker_event_clear(&event);
        event = next(w, WORKER_PROGRESS);
    }
    worker_event_clear(&event);
    uint64_t end = clock_now() + 400 * NANOSECONDS_PER_MS;
    while (clock_now() < end) {
        assert_false(worker_read(w, &event));
        wait_for_it(w);
    }
    worker_resume(w);
    event = next(w, WORKER_PROGRESS);
    assert_false(event.paused);
    worker_event_clear(&event);
    worker_halt(w);
    event = next(w, WORKER_DONE);
    const json_t *states = json_object_get(event.body, "states");
    assert_true(json_is_false(json_object_get(states, "complete")));
    worker_event_clear(&event);
    /* What was found is kept: the next one goes on there. */
    worker_check(w, &check);
    event = next(w, WORKER_DONE);
    assert_true(json_is_true(json_object_get(json_object_get(event.body, "states"), "complete")));
    worker_event_clear(&event);
    worker_stop(w);
    free(slow);
}

/* Who asks for a check and thinks better of it does not wait for it to begin. */
static void a_check_can_be_ended_and_paused_before_it_begins(void **state)
{
    struct run *f = *state;
    make_run(f);
    char *slow = xasprintf("sleep 0.05; %s", keeps);
    struct worker *w = start(f);
    struct worker_check check = exhaustive(slow);
    worker_check(w, &check);
    worker_halt(w);
    struct worker_event event = next_of(w, WORKER_FAILED, WORKER_DONE);
    assert_int_equal(event.kind, WORKER_FAILED);
    assert_string_equal(event.text, "interrupted");
    worker_event_clear(&event);
    check.checker = keeps;
    worker_check(w, &check);
    worker_pause(w);
    /* It may have begun before the word to pause arrived; it hangs here when it never pauses. */
    for (bool paused = false; !paused;) {
        event = next(w, WORKER_PROGRESS);
        paused = event.paused;
        worker_event_clear(&event);
    }
    worker_resume(w);
    event = next(w, WORKER_DONE);
    assert_true(json_is_true(json_object_get(json_object_get(event.body, "states"), "complete")));
    worker_event_clear(&event);
    worker_stop(w);
    free(slow);
}

static void a_try_is_a_check_with_syncs_pretended(void **state)
{
    struct run *f = *state;
    make_run(f);
    struct worker *w = start(f);
    struct worker_check check = exhaustive(keeps);
    check.model = "ext4";
    worker_check(w, &check);
    struct worker_event event = next(w, WORKER_DONE);
    size_t found = json_array_size(json_object_get(event.body, "bugs"));
    assert_true(found > 0);
    worker_event_clear(&event);
    const struct fix fixes[] = {{.after = 2, .call = CALL_SYNC},
                                {.after = 5, .call = CALL_SYNC},
                                {.after = 8, .call = CALL_SYNC}};
    check.fixes = fixes;
    check.fix_count = 3;
    worker_check(w, &check);
    event = next(w, WORKER_DONE);
    assert_int_equal(json_array_size(json_object_get(event.body, "bugs")), 0);
    const json_t *compared = json_object_get(json_object_get(event.body, "compared"), "bugs");
    assert_int_equal(json_array_size(compared), found);
    const char *outcome =
        json_string_value(json_object_get(json_array_get(compared, 0), "outcome"));
    assert_string_equal(outcome, "gone");
    worker_event_clear(&event);
    json_t *kept = report_load(f->s, NULL);
    assert_int_equal(json_array_size(json_object_get(kept, "bugs")), found);
    json_decref(kept);
    worker_stop(w);
}

static void what_cannot_be_done_is_said(void **state)
{
    struct run *f = *state;
    make_run(f);
    struct worker *w = start(f);
    struct worker_check check = {0};
    worker_check(w, &check);
    struct worker_event event = {0};
    while (!worker_read(w, &event) || event.kind != WORKER_FAILED) {
        worker_event_clear(&event);
        wait_for_it(w);
    }
    assert_non_null(strstr(event.text, "no checker"));
    worker_event_clear(&event);
    assert_null(worker_died(w)); /* it takes the next job all the same */
    check = exhaustive(keeps);
    worker_check(w, &check);
    event = next(w, WORKER_DONE);
    worker_event_clear(&event);
    worker_stop(w);
}

/* ---- those who do not listen ---- */

/* What the worker says has hardly any room until it is read. */
#define NARROW "WORKER_TEST_NARROW"

static struct worker *start_narrow(struct run *f)
{
    setenv(NARROW, "1", 1);
    struct worker *w = start(f);
    unsetenv(NARROW);
    return w;
}

/* The report that a check leaves, seen without reading what the worker says of it. */
static json_t *wait_for_report(struct run *f)
{
    json_t *report = NULL;
    for (int i = 0; i < PATIENCE * 20 && !(report = report_load(f->s, NULL)); i++)
        poll(NULL, 0, 50);
    if (!report)
        fail_msg("the check does not end while nobody listens");
    return report;
}

static bool is_complete(const json_t *report)
{
    return json_is_true(json_object_get(json_object_get(report, "states"), "complete"));
}

static void a_check_ends_though_nobody_listens(void **state)
{
    struct run *f = *state;
    make_run(f);
    struct worker *w = start_narrow(f);
    struct worker_check check = exhaustive(keeps);
    worker_check(w, &check);
    json_t *kept = wait_for_report(f);
    assert_true(is_complete(kept));
    /* All that was found is told afterwards, in order. */
    size_t states = 0, bugs = 0;
    uint64_t last = 0;
    bool done = false;
    while (!done) {
        struct worker_event event;
        while (!done && worker_read(w, &event)) {
            assert_int_not_equal(event.kind, WORKER_FAILED);
            if (event.kind == WORKER_STATE) {
                assert_true(event.number > last);
                last = event.number;
                states++;
            }
            bugs += event.kind == WORKER_BUG;
            done = event.kind == WORKER_DONE;
            worker_event_clear(&event);
        }
        assert_null(worker_died(w));
        wait_for_it(w);
    }
    const json_t *counts = json_object_get(kept, "states");
    assert_true(states > 0);
    assert_int_equal(json_integer_value(json_object_get(counts, "inconsistent")), states);
    assert_int_equal(json_array_size(json_object_get(kept, "bugs")), bugs);
    worker_stop(w);
    json_decref(kept);
}

static void it_hears_those_who_do_not_listen(void **state)
{
    struct run *f = *state;
    make_run(f);
    char *slow = xasprintf("sleep 0.3; %s", keeps);
    struct worker *w = start_narrow(f);
    struct worker_check check = exhaustive(slow);
    worker_check(w, &check);
    poll(NULL, 0, 1000); /* twenty times, something is said */
    worker_pause(w);
    poll(NULL, 0, 500);
    /* What it is at now is told when there is room for it. */
    struct worker_event event = {0};
    while (!event.paused) {
        worker_event_clear(&event);
        event = next(w, WORKER_PROGRESS);
    }
    worker_event_clear(&event);
    worker_resume(w);
    poll(NULL, 0, 500);
    worker_halt(w);
    json_t *kept = wait_for_report(f);
    assert_false(is_complete(kept));
    json_decref(kept);
    event = next(w, WORKER_DONE);
    worker_event_clear(&event);
    worker_stop(w);
    free(slow);
}

/* ---- single states ---- */

static void a_state_is_tested_and_its_output_arrives_meanwhile(void **state)
{
    struct run *f = *state;
    make_run(f);
    struct worker *w = start(f);
    const uint32_t lost[] = {0, 1, 2};
    struct worker_state test = {
        .last = 2,
        .lost = lost,
        .lost_count = 3,
        .told_until = NEVER,
        .model = "ext4",
        .checker = "echo one; sleep 1; cat \"$FLOTSAM_STDOUT\"; ls \"$FLOTSAM_DIR\"; exit 3"};
    uint64_t begin = clock_now();
    worker_test(w, &test);
    struct worker_event event = next(w, WORKER_OUTPUT);
    assert_string_equal(event.text, "one\n");
    assert_int_equal(event.text_size, 4);
    uint64_t first = clock_now() - begin;
    worker_event_clear(&event);
    event = next(w, WORKER_OUTPUT);
    /* Nothing survived, and a sync comes only at the end: all had been printed by then. */
    assert_string_equal(event.text, "abc");
    assert_true(clock_now() - begin > first + 500 * NANOSECONDS_PER_MS);
    worker_event_clear(&event);
    event = next(w, WORKER_VERDICT);
    assert_int_equal(event.verdict, VERDICT_INCONSISTENT);
    assert_int_equal(event.exit, 3);
    worker_event_clear(&event);
    test.lost_count = 1; /* a file cannot be there without its name */
    worker_test(w, &test);
    while (!worker_read(w, &event) || event.kind != WORKER_FAILED) {
        worker_event_clear(&event);
        wait_for_it(w);
    }
    assert_non_null(strstr(event.text, "cannot survive without op 0"));
    worker_event_clear(&event);
    worker_stop(w);
}

/* ---- death ---- */

/* Whether a process works in the test's folder, as checkers do. */
static bool any_checker(const struct run *f)
{
    DIR *proc = opendir("/proc");
    bool any = false;
    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        char *link = xasprintf("/proc/%s/cwd", entry->d_name), cwd[4096];
        ssize_t n = readlink(link, cwd, sizeof cwd - 1);
        cwd[n > 0 ? n : 0] = '\0';
        any |= n > 0 && strcmp(cwd, f->top) == 0;
        free(link);
    }
    closedir(proc);
    return any;
}

static char *read_line(const char *path)
{
    char line[4096] = "";
    FILE *file = fopen(path, "r");
    if (file && !fgets(line, sizeof line, file))
        *line = '\0';
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    return xstrdup(line);
}

/* A checker that says where the pool lies, and then takes long. */
static char *telltale(const struct run *f)
{
    return xasprintf("dirname \"$FLOTSAM_STDOUT\" >'%s/where.new'; mv '%s/where.new' '%s/where'; "
                     "sleep 1000",
                     f->top, f->top, f->top);
}

static void wait_for_checker(const struct run *f, char **pool)
{
    char *where = xasprintf("%s/where", f->top);
    for (int i = 0; i < PATIENCE * 20 && access(where, F_OK) != 0; i++)
        poll(NULL, 0, 50);
    *pool = read_line(where);
    assert_int_equal(access(*pool, F_OK), 0);
    free(where);
}

static void nothing_is_left(const struct run *f, const char *pool)
{
    for (int i = 0; i < PATIENCE * 20; i++) {
        if (access(pool, F_OK) != 0 && !any_checker(f))
            break;
        poll(NULL, 0, 50);
    }
    assert_false(any_checker(f));
    assert_int_not_equal(access(pool, F_OK), 0);
    char *mounts = xasprintf("! grep -qF '%s' /proc/self/mounts", f->top);
    assert_int_equal(system(mounts), 0);
    free(mounts);
}

/* A check under way, with a checker that does not end. */
static struct worker *start_endless(struct run *f, char **pool)
{
    make_run(f);
    char *checker = telltale(f);
    struct worker *w = start(f);
    struct worker_check check = exhaustive(checker);
    worker_check(w, &check);
    wait_for_checker(f, pool);
    free(checker);
    return w;
}

static void wait_for_death(struct worker *w)
{
    struct worker_event event;
    while (!worker_died(w)) {
        while (worker_read(w, &event))
            worker_event_clear(&event);
        wait_for_it(w);
    }
}

static void a_killed_worker_leaves_its_master_alive_and_nothing_behind(void **state)
{
    struct run *f = *state;
    char *pool;
    struct worker *w = start_endless(f, &pool);
    kill(worker_pid(w), SIGKILL);
    wait_for_death(w);
    assert_non_null(strstr(worker_died(w), "killed by"));
    worker_halt(w); /* to one that is not there: no harm */
    worker_stop(w);
    nothing_is_left(f, pool);
    free(pool);
    /* The session is as good as before, and another worker takes over. */
    w = start(f);
    struct worker_check check = exhaustive(keeps);
    worker_check(w, &check);
    struct worker_event event = next(w, WORKER_DONE);
    worker_event_clear(&event);
    worker_stop(w);
}

static void stopping_it_leaves_nothing_behind(void **state)
{
    struct run *f = *state;
    char *pool;
    struct worker *w = start_endless(f, &pool);
    worker_stop(w);
    nothing_is_left(f, pool);
    free(pool);
}

static void it_ends_with_its_master(void **state)
{
    struct run *f = *state;
    int tell[2];
    make_run(f);
    char *checker = telltale(f), *pool;
    assert_int_equal(pipe(tell), 0);
    pid_t master = fork();
    if (master == 0) {
        struct worker_check check = exhaustive(checker);
        struct worker *w = start(f);
        pid_t pid = worker_pid(w);
        worker_check(w, &check);
        if (write(tell[1], &pid, sizeof pid) == sizeof pid)
            for (;;)
                pause();
        _exit(1);
    }
    pid_t pid = 0;
    assert_int_equal(read(tell[0], &pid, sizeof pid), sizeof pid);
    close(tell[0]);
    close(tell[1]);
    wait_for_checker(f, &pool);
    kill(master, SIGKILL);
    waitpid(master, NULL, 0);
    nothing_is_left(f, pool);
    free(checker);
    free(pool);
}

static void a_session_that_cannot_be_opened_is_told(void **state)
{
    struct run *f = *state;
    struct worker *w;
    char *none = xasprintf("%s/none.flotsam", f->top);
    assert_true(worker_start(&w, none, NULL, NULL));
    wait_for_death(w);
    assert_non_null(strstr(worker_died(w), "status 2"));
    assert_non_null(strstr(worker_died(w), "none.flotsam"));
    worker_stop(w);
    free(none);
}

/* ---- one session, two processes ---- */

static void people_write_while_it_checks(void **state)
{
    struct run *f = *state;
    struct error e;
    make_run(f);
    struct worker *w = start(f);
    struct worker_check check = exhaustive(keeps);
    worker_check(w, &check);
    struct worker_event event = next(w, WORKER_DONE);
    worker_event_clear(&event);
    char *slow = xasprintf("sleep 0.02; %s", keeps);
    check = exhaustive(slow);
    worker_check(w, &check);
    uint32_t id;
    uint64_t longest = 0, written = 0;
    bool done = false;
    json_t *report = report_load(f->s, NULL);
    while (!done) {
        uint64_t begin = clock_now();
        if (!triage_set(f->s, report, 1, TRIAGE_CONFIRMED, 0, &e) ||
            !bookmark_add(f->s, 1, BOOKMARK_EVENT, "here", &id, &e))
            fail_msg("%s", e.text);
        longest = clock_now() - begin > longest ? clock_now() - begin : longest;
        written++;
        while (worker_read(w, &event)) {
            done |= event.kind == WORKER_DONE;
            if (event.kind == WORKER_FAILED)
                fail_msg("%s", event.text);
            worker_event_clear(&event);
        }
        assert_null(worker_died(w));
        poll(NULL, 0, 5);
    }
    worker_stop(w);
    print_message("%d notes while it checked, the slowest took %d ms\n", (int)written,
                  (int)(longest / NANOSECONDS_PER_MS));
    struct bookmarks list;
    assert_true(bookmarks_load(&list, f->s, &e));
    assert_int_equal(list.n, written);
    bookmarks_free(&list);
    json_decref(report);
    report = report_load(f->s, &e);
    const json_t *bug = json_array_get(json_object_get(report, "bugs"), 0);
    assert_string_equal(json_string_value(json_object_get(bug, "status")), "confirmed");
    json_decref(report);
    free(slow);
}

int main(int argc, char **argv)
{
    struct error e;
    if (argc == 3 && strcmp(argv[1], "worker") == 0) {
        int least = 1;
        if (getenv(NARROW))
            setsockopt(STDOUT_FILENO, SOL_SOCKET, SO_SNDBUF, &least, sizeof least);
        if (worker_serve(argv[2], STDIN_FILENO, STDOUT_FILENO, &e))
            return 0;
        fprintf(stderr, "%s\n", e.text);
        return 2;
    }
    const struct CMUnitTest tests[] = {
        run_case(what_it_finds_is_told_as_it_is_found),
        run_case(a_check_can_be_paused_and_ended),
        run_case(a_check_can_be_ended_and_paused_before_it_begins),
        run_case(a_try_is_a_check_with_syncs_pretended),
        run_case(what_cannot_be_done_is_said),
        run_case(a_check_ends_though_nobody_listens),
        run_case(it_hears_those_who_do_not_listen),
        run_case(a_state_is_tested_and_its_output_arrives_meanwhile),
        run_case(a_killed_worker_leaves_its_master_alive_and_nothing_behind),
        run_case(stopping_it_leaves_nothing_behind),
        run_case(it_ends_with_its_master),
        run_case(a_session_that_cannot_be_opened_is_told),
        run_case(people_write_while_it_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
