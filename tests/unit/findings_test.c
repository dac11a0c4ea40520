/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A session with all that is worked out from it, at once or in the background: the same either way,
 * with the report, what people said and what is pretended; and nobody waits for one that is not
 * wanted any more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "engine/check.h"
#include "engine/clock.h"
#include "engine/findings.h"
#include "engine/triage.h"
#include "tests/unit/run_sample.h"

enum { PATIENCE_MS = 60 * 1000, LONG_RUN = 60000 };

static void make_run(struct run *f, unsigned writes)
{
    uint32_t file = run_create(f, "f");
    for (unsigned i = 0; i < writes; i++)
        run_write(f, file, i % 2 ? "hello" : "world");
    run_print(f, "saved\n");
    run_sync(f);
    run_end(f);
}

static void check(struct run *f)
{
    struct error e;
    json_t *report = NULL;
    struct check_options options = {
        .explore = {.strategy = STRATEGY_PREFIX,
                    .checker = "! grep -q saved \"$FLOTSAM_STDOUT\" || test -s \"$FLOTSAM_DIR\"/f",
                    .dir = f->data,
                    .cwd = f->top,
                    .jobs = 1,
                    .timeout = 20,
                    .acknowledgements = true}};
    if (!model_find("ext4 dioread_lock=yes", &options.model, &e) ||
        !check_run(f->s, &options, &report, &e))
        fail_msg("%s", e.text);
    json_decref(report);
}

static struct findings finish(struct loading *l)
{
    struct pollfd fd = {.fd = loading_fd(l), .events = POLLIN};
    struct findings found;
    struct error e;
    assert_int_equal(poll(&fd, 1, PATIENCE_MS), 1);
    if (!findings_finish(l, &found, &e))
        fail_msg("%s", e.text);
    return found;
}

static void it_is_the_same_in_the_background(void **state)
{
    struct run *f = *state;
    struct findings now;
    struct error e;
    uint32_t id;
    make_run(f, 20);
    check(f);
    json_t *report = report_load(f->s, &e);
    assert_true(triage_set(f->s, report, 1, TRIAGE_IGNORED, 0, &e));
    json_decref(report);
    struct fix fix = {.after = 3, .call = CALL_SYNC};
    assert_true(fix_add(f->s, &fix, &id, &e));
    if (!findings_open(&now, f->path, NULL, &e) || !findings_group(&now, &e))
        fail_msg("%s", e.text);
    struct findings later =
        finish(findings_start(f->path, &(struct findings_options){.group = true}));
    assert_int_equal(later.analysis->graph->n, now.analysis->graph->n);
    assert_memory_equal(later.analysis->graph->durable, now.analysis->graph->durable,
                        now.analysis->graph->n * sizeof(uint64_t));
    assert_int_equal(later.analysis->behaviours->n, now.analysis->behaviours->n);
    assert_int_equal(later.groups->n, now.groups->n);
    /* The model of the check, with its switches; what was found and said; what is pretended. */
    char *model = model_text(&later.analysis->graph->model);
    assert_string_equal(model, "ext4 dioread_lock=yes");
    free(model);
    assert_true(json_equal(later.report, now.report));
    const json_t *bug = json_array_get(json_object_get(later.report, "bugs"), 0);
    assert_string_equal(json_string_value(json_object_get(bug, "status")), "ignored");
    assert_int_equal(later.fixes.n, 1);
    assert_int_equal(later.analysis->graph->fix_count, 0);
    findings_close(&later);
    /* Pretended, and under another model. */
    later = finish(
        findings_start(f->path, &(struct findings_options){.model = "posix", .pretend = true}));
    assert_string_equal(later.analysis->graph->model.name, "posix");
    assert_int_equal(later.analysis->graph->fix_count, 1);
    assert_null(later.groups);
    /* What is said meanwhile is there after a reload. */
    bug = json_array_get(json_object_get(later.report, "bugs"), 0);
    assert_true(triage_note(f->s, bug, "later", &e));
    assert_true(fix_remove(f->s, id, &e));
    assert_true(findings_reload(&later, &e));
    bug = json_array_get(json_object_get(later.report, "bugs"), 0);
    assert_string_equal(json_string_value(json_object_get(bug, "note")), "later");
    assert_int_equal(later.fixes.n, 0);
    findings_close(&later);
    findings_close(&now);
}

static void an_unchecked_session_has_no_report(void **state)
{
    struct run *f = *state;
    make_run(f, 3);
    struct findings found = finish(findings_start(f->path, &(struct findings_options){0}));
    assert_null(found.report);
    assert_non_null(found.analysis);
    findings_close(&found);
}

static void a_failure_is_told_at_the_end(void **state)
{
    struct run *f = *state;
    struct findings found;
    struct error e;
    make_run(f, 3);
    char *none = xasprintf("%s/none.flotsam", f->top);
    struct loading *l = findings_start(none, &(struct findings_options){0});
    assert_false(findings_finish(l, &found, &e));
    assert_non_null(strstr(e.text, "none.flotsam"));
    findings_close(&found);
    l = findings_start(f->path, &(struct findings_options){.model = "ext5"});
    assert_false(findings_finish(l, &found, &e));
    assert_non_null(strstr(e.text, "no model ext5"));
    findings_close(&found);
    free(none);
}

/* Cancelling does not wait, and what was begun ends soon: at any moment of it. */
static void nobody_waits_for_what_is_not_wanted(void **state)
{
    struct run *f = *state;
    make_run(f, LONG_RUN);
    uint64_t begin = clock_now();
    struct findings found =
        finish(findings_start(f->path, &(struct findings_options){.group = true}));
    uint64_t whole = clock_now() - begin;
    findings_close(&found);
    uint64_t longest = 0;
    for (uint64_t part = 0; part < 8; part++) {
        struct loading *l = findings_start(f->path, &(struct findings_options){.group = true});
        poll(NULL, 0, (int)(whole * part / 8 / NANOSECONDS_PER_MS));
        begin = clock_now();
        findings_cancel(l);
        longest = clock_now() - begin > longest ? clock_now() - begin : longest;
    }
    print_message("it takes %d ms; the slowest cancellation %d us\n",
                  (int)(whole / NANOSECONDS_PER_MS), (int)(longest / 1000));
    assert_true(longest < whole / 2);
    findings_cancel(NULL);
}

/* Each thing that looks at the interrupt gives up when it is asked at its first look, its second, …
 * and leaves nothing behind that a sanitizer would find. */
struct patience {
    unsigned looks;
};

static bool impatient(void *data)
{
    struct patience *p = data;
    return p->looks-- == 0;
}

static void it_can_be_interrupted_anywhere(void **state)
{
    struct run *f = *state;
    make_run(f, 5000);
    bool done = false;
    unsigned looks = 0;
    for (; !done; looks++) {
        struct patience patience = {looks};
        struct interrupt interrupt = {impatient, &patience};
        struct analysis_options options = {.behaviours = {.max = 64, .gap = 10},
                                           .interrupt = &interrupt};
        struct group_options how = GROUP_DEFAULTS;
        struct analysis *a = NULL;
        struct environments *environments = NULL;
        struct groups *groups = NULL;
        struct error e = {.text = ""};
        assert_true(model_find("ext4", &options.model, &e));
        how.interrupt = &interrupt;
        if (analysis_new(&a, f->s, &options, &e)) {
            assert_true(analysis_environments(&environments, a, &e));
            groups = groups_form(a->behaviours, a->graph, environments, &how);
            done = groups;
            groups_free(groups);
            environments_free(environments);
            analysis_free(a);
        } else
            assert_string_equal(e.text, "interrupted");
    }
    assert_true(looks > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        run_case(it_is_the_same_in_the_background), run_case(an_unchecked_session_has_no_report),
        run_case(a_failure_is_told_at_the_end),     run_case(nobody_waits_for_what_is_not_wanted),
        run_case(it_can_be_interrupted_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
