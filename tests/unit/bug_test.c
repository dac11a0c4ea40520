/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From a run to its bugs, with checkers of one line: which states are gone through, which verdicts
 * are taken from the session, and what is left of an inconsistent state once it is shrunk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/check.h"
#include "tests/unit/run_sample.h"

/* One check of a run, and what it found. */
struct found {
    struct analysis *a;
    struct exploration *x;
    struct bugs *bugs;
    const struct explore_counts *counts;
    char *checker;
};

static void explore(struct found *out, struct run *f, const char *model,
                    struct explore_options options)
{
    struct error e;
    struct analysis_options analysis = {.behaviours = BEHAVIOUR_DEFAULTS};
    if (!f->s)
        run_end(f);
    out->checker = xasprintf("cd \"$FLOTSAM_DIR\" && { %s; }", options.checker);
    options.checker = out->checker;
    options.dir = f->data;
    options.cwd = f->top;
    options.jobs = 1;
    options.timeout = options.timeout > 0 ? options.timeout : 20;
    options.acknowledgements = true;
    if (!model_find(model, &analysis.model, &e) || !analysis_new(&out->a, f->s, &analysis, &e) ||
        !exploration_new(&out->x, out->a, &options, &e) || !exploration_run(out->x, &e) ||
        !bugs_find(&out->bugs, out->x, out->a, &e))
        fail_msg("%s", e.text);
    out->counts = exploration_counts(out->x);
}

static void done_with(struct found *found)
{
    bugs_free(found->bugs);
    exploration_free(found->x);
    analysis_free(found->a);
    free(found->checker);
}

static uint64_t event_of(const struct found *found, uint32_t op)
{
    return found->a->graph->ops[op].event;
}

/* The new contents are renamed into place before they are durable. */
static void a_rename_before_its_data_is_an_ordering_bug(void **state)
{
    struct run *f = *state;
    struct found found;
    uint32_t old = recording_file(f->r, FILE_REGULAR, "c");
    recording_image_file(f->r, old, FILE_REGULAR, 0644, 3, NULL);
    recording_image_name(f->r, FILE_ROOT, "c", old);
    recording_image_extent(f->r, old, 0, 3, recording_payload(f->r, "old", 3));
    uint32_t new = run_create(f, "n");
    uint64_t written = run_write(f, new, "new"), renamed = run_rename(f, new, "n", "c", old);
    run_sync(f);
    explore(&found, f, "posix",
            (struct explore_options){.strategy = STRATEGY_EXHAUSTIVE,
                                     .checker = "! test -e c || grep -q -e old -e new c"});
    assert_true(found.counts->complete);
    assert_int_equal(found.bugs->unexplained, 0);
    assert_int_equal(found.bugs->n, 1);
    const struct bug *b = &found.bugs->at[0];
    assert_int_equal(b->kind, BUG_ORDERING);
    assert_int_equal(event_of(&found, b->survived), renamed);
    assert_int_not_equal(b->lost_count, 0);
    for (size_t i = 0; i < b->lost_count; i++)
        assert_int_equal(event_of(&found, b->lost[i]), written);
    assert_int_equal(b->states, found.counts->inconsistent);
    assert_int_equal(b->verdict.exit, 1);
    done_with(&found);
}

/* "saved" is printed of something that no sync has made durable. */
static void an_early_acknowledgement_is_unpersisted(void **state)
{
    struct run *f = *state;
    struct found found;
    uint32_t file = run_create(f, "f");
    uint64_t written = run_write(f, file, "hello");
    uint64_t printed = run_print(f, "saved\n");
    run_sync(f);
    explore(&found, f, "ext4",
            (struct explore_options){.strategy = STRATEGY_EXHAUSTIVE,
                                     .checker =
                                         "! grep -q saved \"$FLOTSAM_STDOUT\" || grep -q hello f"});
    assert_int_equal(found.bugs->n, 1);
    const struct bug *b = &found.bugs->at[0];
    assert_int_equal(b->kind, BUG_UNPERSISTED);
    assert_int_equal(b->survived, NO_OP);
    assert_int_equal(b->told, printed);
    assert_int_not_equal(b->lost_count, 0);
    assert_int_equal(event_of(&found, b->lost[0]), written);
    assert_int_equal(b->states, found.counts->inconsistent);
    done_with(&found);
}

/* Two files that may persist in any order, of which the checker wants the first alone. Of nothing,
 * the second can be put back, and then the first too: nothing need be lost for it to fail. What is
 * put back must be tested together with all that was put back before, on either side of it. */
static void as_much_as_possible_is_put_back(void **state)
{
    struct run *f = *state;
    struct found found;
    run_create(f, "a");
    run_create(f, "b");
    run_print(f, "saved\n");
    explore(&found, f, "posix",
            (struct explore_options){
                .strategy = STRATEGY_PREFIX,
                .checker = "! test -s \"$FLOTSAM_STDOUT\" || { test -e a && ! test -e b; }"});
    assert_int_equal(found.bugs->unexplained, 0);
    assert_int_not_equal(found.bugs->n, 0);
    assert_int_equal(found.bugs->at[0].lost_count, 0);
    assert_int_equal(found.bugs->at[0].last, 1);
    done_with(&found);
}

/* The same calls from the same places, each time to another file: one mistake, made three times. */
static void a_mistake_in_a_loop_is_one_bug(void **state)
{
    struct run *f = *state;
    struct found found;
    const char *const names[][2] = {{"n1", "c1"}, {"n2", "c2"}, {"n3", "c3"}};
    for (size_t i = 0; i < 3; i++) {
        uint32_t file = run_create(f, names[i][0]);
        run_write(f, file, "new");
        run_rename(f, file, names[i][0], names[i][1], 0);
        run_sync(f);
    }
    explore(&found, f, "posix",
            (struct explore_options){
                .strategy = STRATEGY_EXHAUSTIVE,
                .checker = "for c in c1 c2 c3; do ! test -e $c || grep -q new $c || exit 1; done"});
    assert_int_equal(found.bugs->n, 1);
    assert_int_equal(found.bugs->at[0].kind, BUG_ORDERING);
    assert_true(found.bugs->at[0].states >= 3);
    assert_int_equal(found.bugs->at[0].states, found.counts->inconsistent);
    done_with(&found);
}

/* Not even an op is needed for it, nor a call. */
static void the_state_before_the_run_can_be_inconsistent(void **state)
{
    struct found found;
    explore(&found, *state, "ext4",
            (struct explore_options){.strategy = STRATEGY_PREFIX, .checker = "exit 99"});
    assert_int_equal(found.counts->enumerated, 1);
    assert_int_equal(found.bugs->n, 1);
    assert_int_equal(found.bugs->at[0].kind, BUG_RECOVERY);
    assert_int_equal(found.bugs->at[0].last, NO_OP);
    assert_int_equal(found.bugs->at[0].told, 0);
    done_with(&found);
}

static void no_state_is_checked_twice(void **state)
{
    struct run *f = *state;
    struct found found;
    struct explore_options options = {.strategy = STRATEGY_PREFIX, .checker = "true"};
    run_write(f, run_create(f, "f"), "hello");
    explore(&found, f, "ext4", options);
    uint64_t distinct = found.counts->distinct;
    assert_true(distinct > 1);
    assert_int_equal(found.counts->tested, distinct);
    done_with(&found);
    explore(&found, f, "ext4", options);
    assert_int_equal(found.counts->tested, 0);
    assert_int_equal(found.counts->reused, distinct);
    done_with(&found);
    options.checker = "true ";
    explore(&found, f, "ext4", options);
    assert_int_equal(found.counts->tested, distinct);
    done_with(&found);
}

/* More time may make a consistent state of one whose checker hung; less cannot. */
static void more_time_has_hung_states_checked_again(void **state)
{
    struct run *f = *state;
    struct found found;
    struct explore_options options = {
        .strategy = STRATEGY_PREFIX, .checker = "sleep 0.5", .timeout = 0.1};
    explore(&found, f, "ext4", options);
    assert_int_equal(found.counts->inconsistent, 1);
    assert_int_equal(found.bugs->at[0].verdict.kind, VERDICT_HUNG);
    done_with(&found);
    options.timeout = 0.05;
    explore(&found, f, "ext4", options);
    assert_int_equal(found.counts->reused, 1);
    done_with(&found);
    options.timeout = 20;
    explore(&found, f, "ext4", options);
    assert_int_equal(found.counts->tested, 1);
    assert_int_equal(found.counts->inconsistent, 0);
    done_with(&found);
}

static bool stop_at_once(void *data, const struct explore_counts *counts)
{
    (void)data;
    return counts->enumerated < 2;
}

static void what_is_cut_short_says_so(void **state)
{
    struct run *f = *state;
    struct found found;
    struct explore_options options = {.strategy = STRATEGY_PREFIX, .checker = "true", .budget = 2};
    run_write(f, run_create(f, "f"), "hello");
    explore(&found, f, "ext4", options);
    assert_int_equal(found.counts->enumerated, 2);
    assert_false(found.counts->complete);
    assert_non_null(strstr(found.counts->cut, "2 states"));
    done_with(&found);
    options.budget = 0;
    options.progress = stop_at_once;
    explore(&found, f, "ext4", options);
    assert_true(found.counts->stopped);
    assert_false(found.counts->complete);
    assert_non_null(strstr(found.counts->cut, "interrupted"));
    done_with(&found);
}

/* Under btrfs an fdatasync of a new file has ops of its own: the name that it carries. It is a sync
 * all the same, and what was issued before it a state of its own. */
static void a_sync_that_has_ops_is_a_sync(void **state)
{
    struct run *f = *state;
    struct found found;
    run_create(f, "a");
    uint32_t file = run_create(f, "b");
    uint64_t synced = run_event(f, (struct event){.call = CALL_FDATASYNC, .file = file});
    run_create(f, "c");
    explore(&found, f, "btrfs",
            (struct explore_options){.strategy = STRATEGY_SYNC, .checker = "true"});
    const struct explored *states;
    size_t carried;
    graph_event_ops(found.a->graph, synced, &carried);
    assert_int_not_equal(carried, 0);
    assert_int_equal(exploration_states(found.x, &states), 2);
    assert_true(event_of(&found, states[0].schedule.last) < synced);
    done_with(&found);
}

/* Nor is the name torn that it carries: what it went past is lost, and of itself nothing. */
static void a_name_that_a_sync_carried_is_whole(void **state)
{
    struct run *f = *state;
    struct found found;
    run_create(f, "a");
    uint32_t file = run_create(f, "b");
    uint64_t synced = run_event(f, (struct event){.call = CALL_FSYNC, .file = file});
    explore(&found, f, "btrfs",
            (struct explore_options){.strategy = STRATEGY_EXHAUSTIVE,
                                     .checker = "! test -e b || test -e a"});
    assert_int_equal(found.bugs->n, 1);
    const struct bug *b = &found.bugs->at[0];
    assert_int_equal(b->kind, BUG_ORDERING);
    assert_int_equal(b->lost_count, 1);
    assert_int_equal(event_of(&found, b->lost[0]), synced - 2);
    assert_int_equal(event_of(&found, b->survived), synced - 1);
    done_with(&found);
}

/* On the way to the last state lies one that is inconsistent too, half-way: that is not its cause.
 */
static void what_was_mended_hides_no_later_bug(void **state)
{
    struct run *f = *state;
    struct found found;
    run_create(f, "x");
    uint32_t file = run_create(f, "y");
    run_create(f, "a"); /* inconsistent without b */
    run_create(f, "b");
    run_create(f, "z");
    uint64_t renamed = run_rename(f, file, "y", "c", 0);
    explore(&found, f, "strict",
            (struct explore_options){.strategy = STRATEGY_PREFIX,
                                     .checker = "{ ! test -e a || test -e b; } && ! test -e c"});
    assert_int_equal(found.counts->inconsistent, 2);
    assert_int_equal(found.bugs->n, 2);
    bool seen = false;
    for (size_t i = 0; i < found.bugs->n; i++)
        seen |= event_of(&found, found.bugs->at[i].survived) == renamed;
    assert_true(seen);
    done_with(&found);
}

/* Causes that are looked for while states are gone through are those that are found afterwards. */
static void finding_causes_on_the_way_changes_nothing(void **state)
{
    struct run *f = *state;
    struct found found;
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[][2] = {{"n1", "c1"}, {"n2", "c2"}, {"n3", "c3"}};
        uint32_t file = run_create(f, names[i][0]);
        run_write(f, file, "new");
        run_rename(f, file, names[i][0], names[i][1], 0);
        run_print(f, i == 1 ? "two\n" : "more\n");
    }
    const char *const checker = "for c in c1 c2 c3; do ! test -e $c || grep -q new $c || exit 1; "
                                "done; ! grep -q two $FLOTSAM_STDOUT || test -e c2";
    explore(&found, f, "posix",
            (struct explore_options){.strategy = STRATEGY_EXHAUSTIVE, .checker = checker});
    struct report_times times = {0};
    struct error e;
    assert_true(bugs_repeat(found.bugs, found.x, found.a, &e));
    struct explore_options same = {.strategy = STRATEGY_EXHAUSTIVE, .checker = found.checker};
    json_t *after = report_build(found.a, found.x, found.bugs, &same, &times), *meanwhile;
    assert_true(json_array_size(json_object_get(after, "bugs")) >= 2);
    for (int jobs = 1; jobs <= 3; jobs += 2) {
        struct check_options options = {.explore = same};
        /* Another command, so that nothing is known of it. */
        char *again = xasprintf("%s %*s", found.checker, jobs, "");
        options.explore.checker = again;
        options.explore.dir = f->data;
        options.explore.cwd = f->top;
        options.explore.jobs = jobs;
        options.explore.timeout = 20;
        options.explore.acknowledgements = true;
        if (!model_find("posix", &options.model, &e) || !check_run(f->s, &options, &meanwhile, &e))
            fail_msg("%s", e.text);
        static const char *const keys[] = {"bugs", "states", "shrinking"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            assert_true(
                json_equal(json_object_get(meanwhile, keys[i]), json_object_get(after, keys[i])));
        json_decref(meanwhile);
        free(again);
    }
    json_decref(after);
    done_with(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        run_case(finding_causes_on_the_way_changes_nothing),
        run_case(a_rename_before_its_data_is_an_ordering_bug),
        run_case(an_early_acknowledgement_is_unpersisted),
        run_case(as_much_as_possible_is_put_back),
        run_case(a_mistake_in_a_loop_is_one_bug),
        run_case(the_state_before_the_run_can_be_inconsistent),
        run_case(no_state_is_checked_twice),
        run_case(more_time_has_hung_states_checked_again),
        run_case(what_is_cut_short_says_so),
        run_case(a_sync_that_has_ops_is_a_sync),
        run_case(a_name_that_a_sync_carried_is_whole),
        run_case(what_was_mended_hides_no_later_bug),
    };
    return cmocka_run_group_tests_name("bug", tests, NULL, NULL);
}
