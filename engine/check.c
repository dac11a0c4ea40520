/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/check.h"

#include "engine/clock.h"

static double seconds_since(uint64_t begin)
{
    return (double)(clock_now() - begin) / (double)NANOSECONDS_PER_SECOND;
}

/* What a try found, beside what the check without it did. */
static void compare(struct session *s, json_t *report)
{
    json_t *checked = report_load(s, NULL);
    if (checked)
        json_object_set_new(report, "compared", report_compare(checked, report));
    json_decref(checked);
}

static bool store(struct analysis *a, struct exploration *x, const struct bugs *bugs,
                  json_t *report, bool is_try, struct error *e)
{
    if (!is_try)
        return report_store(report, bugs, a, x, e);
    compare(a->session, report);
    return report_store_try(report, bugs, a, x, e);
}

static bool explore(struct analysis *a, const struct check_options *options,
                    struct report_times *times, json_t **report, struct error *e)
{
    struct exploration *x = NULL;
    struct bugs *bugs = NULL;
    uint64_t begin = clock_now();
    bool done = exploration_new(&x, a, &options->explore, e) && exploration_run(x, e) &&
                bugs_find(&bugs, x, a, e) && (!options->verify || bugs_verify(bugs, x, a, e)) &&
                exploration_flush(x, e);
    if (done) {
        times->check = seconds_since(begin);
        *report = report_build(a, x, bugs, &options->explore, times);
        done = store(a, x, bugs, *report, options->fix_count > 0, e);
        if (!done) {
            json_decref(*report);
            *report = NULL;
        }
    }
    bugs_free(bugs);
    exploration_free(x);
    return done;
}

bool check_run(struct session *s, const struct check_options *options, json_t **report,
               struct error *e)
{
    struct analysis *a;
    struct analysis_options analysis = {.model = options->model,
                                        .behaviours = BEHAVIOUR_DEFAULTS,
                                        .fixes = options->fixes,
                                        .fix_count = options->fix_count};
    struct report_times times;
    uint64_t begin = clock_now();
    if (!analysis_new(&a, s, &analysis, e))
        return false;
    times.analyse = seconds_since(begin);
    bool done = explore(a, options, &times, report, e);
    analysis_free(a);
    return done;
}
