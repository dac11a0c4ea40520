/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/check.h"

#include "engine/clock.h"

static double seconds_since(uint64_t begin)
{
    return (double)(clock_now() - begin) / (double)NANOSECONDS_PER_SECOND;
}

static bool explore(struct analysis *a, const struct explore_options *options,
                    struct report_times *times, json_t **report, struct error *e)
{
    struct exploration *x = NULL;
    struct bugs *bugs = NULL;
    uint64_t begin = clock_now();
    bool done = exploration_new(&x, a, options, e) && exploration_run(x, e) &&
                bugs_find(&bugs, x, a, e) && exploration_flush(x, e);
    if (done) {
        times->check = seconds_since(begin);
        *report = report_build(a, x, bugs, options, times);
        done = report_store(a->session, *report, bugs, x, e);
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
    struct analysis_options analysis = {.model = options->model, .behaviours = BEHAVIOUR_DEFAULTS};
    struct report_times times;
    uint64_t begin = clock_now();
    if (!analysis_new(&a, s, &analysis, e))
        return false;
    times.analyse = seconds_since(begin);
    bool done = explore(a, &options->explore, &times, report, e);
    analysis_free(a);
    return done;
}
