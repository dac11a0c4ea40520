/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pretended syncs: they change a graph as the same sync in the program would have, nobody's number
 * changes, a check with them is kept apart and says what became of the bugs, and the sync that is
 * proposed for a bug is tried before it is called verified.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "engine/check.h"
#include "engine/fix.h"
#include "engine/litmus.h"
#include "engine/moment.h"
#include "tests/unit/run_sample.h"

/* ---- the graph ---- */

static uint64_t random_state = 1;

static unsigned pick(unsigned n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % n;
}

enum { LINES = 14 };

/* A line of a program that is right wherever it stands: the files are there from the beginning. */
static char *random_line(bool sync)
{
    static const char *const files[] = {"a", "b", "d/c"};
    const char *file = files[pick(3)];
    if (sync || pick(5) == 0)
        switch (pick(4)) {
        case 0:
            return xasprintf("fsync %s\n", file);
        case 1:
            return xasprintf("fdatasync %s\n", file);
        case 2:
            return xasprintf("fsync %s\n", pick(2) ? "d" : ".");
        default:
            return xstrdup("sync\n");
        }
    switch (pick(5)) {
    case 0:
        return xasprintf("append %s %u 'x'\n", file, 1000 + 3000 * pick(4));
    case 1:
        return xasprintf("pwrite %s %u 5000 'y'\n", file, 2048 * pick(4));
    case 2:
        return xasprintf("truncate %s %u\n", file, 1500 * pick(6));
    case 3:
        return xasprintf("print 'said'\n");
    default: { /* another file takes its place, and its name for a while */
        unsigned n = pick(1000000);
        return xasprintf("create n%u\nappend n%u 4096 'n'\nrename n%u %s\n", n, n, n, file);
    }
    }
}

static struct litmus *parse(const char *text)
{
    struct litmus *l;
    struct error e;
    if (!litmus_parse(&l, text, "program", &e))
        fail_msg("%s\n%s", e.text, text);
    return l;
}

static struct graph *build(const char *name, const struct graph_source *source)
{
    struct model model;
    struct error e;
    struct graph *g = NULL;
    if (!model_find(name, &model, &e) || !graph_build(&g, &model, source, &e))
        fail_msg("%s", e.text);
    return g;
}

/* Event n of a litmus program is entered at 4n − 2 and returns at 4n. The position of the program
 * with the sync, which is its event number k + 1, in the one without. */
static uint64_t without_sync(uint64_t position, uint64_t k)
{
    if (position == NEVER)
        return NEVER;
    uint64_t event = (position + 3) / 4;
    return event <= k ? position : event == k + 1 ? 4 * k + 1 : position - 4;
}

static void same_graphs(const struct graph *pretended, const struct graph *real, uint64_t k,
                        const char *text)
{
    bool same = pretended->n == real->n;
    for (uint32_t i = 0; same && i < real->n; i++) {
        const struct op *a = &pretended->ops[i], *b = &real->ops[i];
        same = a->kind == b->kind && a->file == b->file && a->offset == b->offset &&
               a->flags == b->flags && a->event == (b->event > k ? b->event - 1 : b->event) &&
               pretended->issued[i] == without_sync(real->issued[i], k) &&
               pretended->durable[i] == without_sync(real->durable[i], k) &&
               pretended->first[i + 1] == real->first[i + 1];
        for (uint32_t m = real->first[i]; same && m < real->first[i + 1]; m++)
            same = pretended->edges[m].from == real->edges[m].from &&
                   pretended->edges[m].rule == real->edges[m].rule;
    }
    if (!same)
        fail_msg("under %s a sync pretended after event %d is not as a real one in\n%s",
                 real->model.name, (int)k, text);
}

/* Thousands of programs, with a sync at any place, really there or pretended. */
static void a_pretended_sync_is_as_good_as_a_real_one(void **state)
{
    static const char *const models[] = {"ext4", "xfs", "btrfs", "posix", "ext4-paper", "strict"};
    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct buf program = {0}, synced = {0};
        const char *model = models[round % 6];
        unsigned lines = 2 + pick(LINES), place = 1 + pick(lines - 1);
        buf_text(&program, "dir d\nfile a 4096 'A'\nfile b 9000 'B'\nfile d/c 100 'C'\n");
        buf_add(&synced, program.at, program.n);
        uint64_t k = 0;
        char *sync = random_line(true);
        for (unsigned i = 0; i < lines; i++) {
            char *line = random_line(false);
            buf_text(&program, line);
            if (i == place)
                buf_text(&synced, sync);
            buf_text(&synced, line);
            for (const char *at = line; i < place && (at = strchr(at, '\n')); at++)
                k++;
            free(line);
        }
        struct litmus *without = parse(buf_string(&program)), *with = parse(buf_string(&synced));
        const struct graph_source *real = litmus_source(with);
        struct event event;
        assert_true(real->event(real->data, k + 1, &event, NULL));
        struct fix fix = {.after = k, .file = event.file, .call = event.call};
        struct graph_source source = *litmus_source(without);
        source.fixes = &fix;
        source.fix_count = 1;
        struct graph *pretended = build(model, &source), *made = build(model, real);
        same_graphs(pretended, made, k, buf_string(&synced));
        assert_ptr_not_equal(graph_fix_at(pretended, 4 * k + 1), NULL);
        assert_ptr_equal(graph_fix_at(pretended, 4 * k), NULL);
        graph_free(pretended);
        graph_free(made);
        litmus_free(without);
        litmus_free(with);
        free(sync);
        buf_free(&program);
        buf_free(&synced);
    }
}

/* ---- runs ---- */

/* "hello" is written to f, "saved" printed, and only then everything synced. */
struct saved {
    uint32_t file;
    uint64_t created, written, printed, synced;
};

static struct saved save_early(struct run *f)
{
    struct saved s = {.created = 1};
    s.file = run_create(f, "f");
    s.written = run_write(f, s.file, "hello");
    s.printed = run_print(f, "saved\n");
    s.synced = run_sync(f);
    run_end(f);
    return s;
}

static const char saved_checker[] =
    "cd \"$FLOTSAM_DIR\" && { ! grep -q saved \"$FLOTSAM_STDOUT\" || grep -q hello f; }";

static json_t *check(struct run *f, const struct fix *fixes, size_t n, const char *checker,
                     const char *model)
{
    struct error e;
    json_t *report = NULL;
    struct check_options options = {.explore = {.strategy = STRATEGY_EXHAUSTIVE,
                                                .checker = checker,
                                                .dir = f->data,
                                                .cwd = f->top,
                                                .jobs = 1,
                                                .timeout = 20,
                                                .acknowledgements = true},
                                    .fixes = fixes,
                                    .fix_count = n,
                                    .verify = true};
    if (!model_find(model, &options.model, &e) || !check_run(f->s, &options, &report, &e))
        fail_msg("%s", e.text);
    return report;
}

static const json_t *first_bug(const json_t *report)
{
    return json_array_get(json_object_get(report, "bugs"), 0);
}

static json_int_t number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

/* What became of the only bug; "" when there is no comparison. */
static const char *outcome(const json_t *report)
{
    const json_t *bugs = json_object_get(json_object_get(report, "compared"), "bugs");
    const char *text = json_string_value(json_object_get(json_array_get(bugs, 0), "outcome"));
    return text ? text : "";
}

static void a_sync_helps_between_the_write_and_the_print_only(void **state)
{
    struct run *f = *state;
    struct saved s = save_early(f);
    json_t *real = check(f, NULL, 0, saved_checker, "ext4");
    assert_int_equal(json_array_size(json_object_get(real, "bugs")), 1);
    const struct {
        uint64_t after;
        const char *outcome;
    } cases[] = {{s.created, "still"}, {s.written, "gone"}, {s.printed, "still"}};
    for (size_t i = 0; i < 3; i++) {
        struct fix fix = {.after = cases[i].after, .file = s.file, .call = CALL_FSYNC};
        json_t *tried = check(f, &fix, 1, saved_checker, "ext4");
        assert_string_equal(outcome(tried), cases[i].outcome);
        assert_int_equal(json_array_size(json_object_get(tried, "fixes")), 1);
        json_decref(tried);
    }
    /* The report of the check is as it was; that of the last try is there too. */
    json_t *kept = report_load(f->s, NULL), *tried = report_load_try(f->s);
    assert_true(json_equal(json_object_get(kept, "bugs"), json_object_get(real, "bugs")));
    assert_null(json_object_get(kept, "compared"));
    assert_string_equal(outcome(tried), "still");
    struct error e;
    struct fix_list list;
    uint32_t id;
    struct fix early = {.after = s.created, .file = s.file, .call = CALL_FSYNC},
               last = {.after = s.printed, .file = s.file, .call = CALL_FSYNC};
    assert_true(fix_add(f->s, &early, &id, &e) && fixes_load(&list, f->s, &e));
    assert_false(fixes_are(&list, json_object_get(tried, "fixes")));
    fixes_free(&list);
    assert_true(fix_remove(f->s, id, &e) && fix_add(f->s, &last, &id, &e));
    assert_true(fixes_load(&list, f->s, &e));
    assert_true(fixes_are(&list, json_object_get(tried, "fixes")));
    fixes_free(&list);
    /* It was a try to mend what the check before it had found. */
    json_decref(check(f, NULL, 0, saved_checker, "ext4"));
    assert_null(report_load_try(f->s));
    json_decref(kept);
    json_decref(tried);
    json_decref(real);
}

/* An event that was still under way promises nothing: not to a sync that is made meanwhile. */
static void what_is_under_way_is_not_covered(void **state)
{
    struct run *f = *state;
    uint32_t file = run_create(f, "f"), other = run_create(f, "g");
    struct event slow = {.call = CALL_WRITE,
                         .thread = 1,
                         .file = file,
                         .size = 1,
                         .payload = recording_payload(f->r, "x", 1),
                         .entry = f->position,
                         .exit = f->position + 3};
    struct event fast = slow;
    fast.file = other;
    fast.entry++;
    fast.exit--;
    f->position += 4;
    uint64_t one = recording_begin(f->r, &slow), two = recording_begin(f->r, &fast);
    recording_end(f->r, two, &fast);
    recording_end(f->r, one, &slow);
    run_end(f);
    for (int late = 0; late < 2; late++) {
        struct fix fix = {.after = late ? one : two, .file = file, .call = CALL_FSYNC};
        struct analysis_options options = {
            .behaviours = BEHAVIOUR_DEFAULTS, .fixes = &fix, .fix_count = 1};
        struct analysis *a = NULL;
        struct error e;
        size_t n;
        if (!model_find("posix", &options.model, &e) || !analysis_new(&a, f->s, &options, &e))
            fail_msg("%s", e.text);
        uint64_t position = a->graph->fixes[0].position;
        uint32_t slow_op = graph_event_ops(a->graph, one, &n);
        assert_int_equal(a->graph->durable[slow_op], late ? position : NEVER);
        assert_int_equal(moment_returned(f->s, position), 0);
        assert_int_equal(moment_begun(f->s, position), two);
        analysis_free(a);
    }
}

/* What the first check learnt is not asked again: a try runs a checker for new states alone. */
static void a_try_takes_the_verdicts_that_there_are(void **state)
{
    struct run *f = *state;
    struct saved s = save_early(f);
    /* Not by its name: a checker is another one when a file that it names has changed. */
    char *checker = xasprintf("echo >> '%s'/r''uns; %s", f->top, saved_checker);
    char *runs = xasprintf("%s/runs", f->top);
    json_decref(check(f, NULL, 0, checker, "ext4"));
    struct stat before, after;
    assert_int_equal(stat(runs, &before), 0);
    /* Every state that is possible with a sync at the end is possible without it. */
    struct fix fix = {.after = s.printed, .file = s.file, .call = CALL_FSYNC};
    json_decref(check(f, &fix, 1, checker, "ext4"));
    assert_int_equal(stat(runs, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    free(runs);
    free(checker);
}

static void check_proposal(const json_t *bug, const char *call, uint64_t after, uint64_t before)
{
    const json_t *fix = json_object_get(bug, "fix");
    assert_string_equal(json_string_value(json_object_get(fix, "call")), call);
    assert_int_equal(number(fix, "after"), after);
    assert_int_equal(number(fix, "before"), before);
    assert_true(json_is_true(json_object_get(fix, "verified")));
    assert_int_equal(number(fix, "states"), number(bug, "states"));
    assert_int_equal(number(fix, "gone"), number(bug, "states"));
}

static void the_proposed_sync_is_verified(void **state)
{
    static const char *const models[] = {"ext4", "xfs", "btrfs", "posix"};
    struct run *f = *state;
    struct saved s = save_early(f);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        json_t *report = check(f, NULL, 0, saved_checker, models[i]);
        const json_t *bug = first_bug(report);
        const char *call = json_string_value(json_object_get(json_object_get(bug, "fix"), "call"));
        check_proposal(bug, call, s.written, s.printed);
        /* The same sync, tried on the whole, leaves nothing of it. */
        struct fix fix;
        assert_true(fix_from_json(json_object_get(bug, "fix"), &fix));
        json_t *tried = check(f, &fix, 1, saved_checker, models[i]);
        /* posix: a synced file may lose its name, and then the print still says too much */
        bool changed = strcmp(models[i], "posix") == 0;
        assert_int_equal(json_array_size(json_object_get(tried, "bugs")), changed);
        assert_string_equal(outcome(tried), changed ? "changed" : "gone");
        json_decref(tried);
        json_decref(report);
    }
}

/* A mistake made three times needs the sync three times. */
static void a_sync_for_a_loop_is_made_in_each_turn(void **state)
{
    struct run *f = *state;
    const char *const names[][2] = {{"n1", "c1"}, {"n2", "c2"}, {"n3", "c3"}};
    for (size_t i = 0; i < 3; i++) {
        uint32_t file = run_create(f, names[i][0]);
        run_write(f, file, "new");
        run_rename(f, file, names[i][0], names[i][1], 0);
    }
    run_end(f);
    json_t *report = check(f, NULL, 0,
                           "cd \"$FLOTSAM_DIR\" && for c in c1 c2 c3; do ! test -e $c || "
                           "grep -q new $c || exit 1; done",
                           "posix");
    assert_int_equal(json_array_size(json_object_get(report, "bugs")), 1);
    check_proposal(first_bug(report), "fdatasync", 2, 3);
    assert_int_equal(number(json_object_get(first_bug(report), "fix"), "times"), 3);
    json_decref(report);
}

/* Two bytes that must change together: no sync makes one call of two. */
static void no_sync_is_proposed_for_what_none_mends(void **state)
{
    struct run *f = *state;
    run_create(f, "a");
    run_create(f, "b");
    run_end(f);
    json_t *report =
        check(f, NULL, 0, "cd \"$FLOTSAM_DIR\" && { ! test -e a || test -e b; }", "ext4");
    const json_t *fix = json_object_get(first_bug(report), "fix");
    assert_non_null(json_object_get(fix, "text"));
    assert_null(json_object_get(fix, "call"));
    assert_null(json_object_get(fix, "verified"));
    json_decref(report);
}

/* ---- the list ---- */

static void the_list_is_kept_with_the_session(void **state)
{
    struct run *f = *state;
    struct saved s = save_early(f);
    struct fix_list list;
    struct error e;
    uint32_t one, two, three;
    assert_true(fixes_load(&list, f->s, &e));
    assert_int_equal(list.n, 0);
    struct fix of_file = {.after = s.written, .file = s.file, .call = CALL_FDATASYNC};
    struct fix of_dir = {.after = s.printed, .file = FILE_ROOT, .call = CALL_FSYNC};
    struct fix of_all = {.after = s.created, .call = CALL_SYNC};
    assert_true(fix_add(f->s, &of_file, &one, &e));
    assert_false(fix_add(f->s, &of_file, &two, &e));
    assert_non_null(strstr(e.text, "already"));
    assert_true(fix_add(f->s, &of_dir, &two, &e));
    assert_true(fix_add(f->s, &of_all, &three, &e));
    assert_true(fix_remove(f->s, three, &e));
    assert_false(fix_remove(f->s, three, &e));
    session_close(f->s);
    if (!session_open(&f->s, f->path, &e) || !fixes_load(&list, f->s, &e))
        fail_msg("%s", e.text);
    assert_int_equal(list.n, 2);
    assert_int_equal(list.ids[0], one);
    assert_int_equal(list.at[1].after, of_dir.after);
    assert_int_equal(list.at[1].file, of_dir.file);
    assert_int_equal(list.at[1].call, of_dir.call);
    fixes_free(&list);
    uint32_t four;
    assert_true(fix_add(f->s, &of_all, &four, &e));
    assert_true(four > three); /* a number is not used again */
    struct buf words = {0};
    fix_words(&words, f->s, &of_file);
    assert_string_equal(buf_string(&words), "pretended fdatasync of f after event 2");
    buf_free(&words);
}

static void what_makes_no_sense_is_refused(void **state)
{
    struct run *f = *state;
    struct saved s = save_early(f);
    const struct {
        struct fix fix;
        const char *why;
    } cases[] = {
        {{.after = 99, .file = s.file, .call = CALL_FSYNC}, "no event 99"},
        {{.after = 0, .call = CALL_SYNC}, "no event 0"},
        {{.after = 1, .file = 77, .call = CALL_FSYNC}, "no file 77"},
        {{.after = 1, .call = CALL_FSYNC}, "no file 0"},
        {{.after = 1, .file = s.file, .call = CALL_SYNC}, "everything"},
        {{.after = 1, .file = s.file, .call = CALL_WRITE}, "write cannot be pretended"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error e;
        uint32_t id;
        assert_false(fix_add(f->s, &cases[i].fix, &id, &e));
        assert_non_null(strstr(e.text, cases[i].why));
    }
    /* Somebody else's list is not believed either. */
    struct error e;
    uint32_t id;
    struct fix good = {.after = 1, .call = CALL_SYNC};
    assert_true(fix_add(f->s, &good, &id, &e));
    sqlite3_exec(session_db(f->s), "UPDATE fixes SET file = 4000000000, call = 'fsync'", NULL, NULL,
                 NULL);
    struct fix_list list;
    assert_false(fixes_load(&list, f->s, &e));
    assert_non_null(strstr(e.text, "damaged"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pretended_sync_is_as_good_as_a_real_one),
        run_case(a_sync_helps_between_the_write_and_the_print_only),
        run_case(what_is_under_way_is_not_covered),
        run_case(a_try_takes_the_verdicts_that_there_are),
        run_case(the_proposed_sync_is_verified),
        run_case(a_sync_for_a_loop_is_made_in_each_turn),
        run_case(no_sync_is_proposed_for_what_none_mends),
        run_case(the_list_is_kept_with_the_session),
        run_case(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
