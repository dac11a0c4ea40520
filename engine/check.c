/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/clock.h"
#include "engine/report_words.h"

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
    return report_store_try(report, a->session, e);
}

/* A checker that is given now, and can be run, stays with the session, for the debugger and the
 * next check, unless the session has its target's, and where that runs is here; a session that
 * cannot be written does without. */
static void keep_checker(struct session *s, const char *checker)
{
    const char *folder = session_meta(s, "folder");
    bool of_target = session_meta(s, "strategy") && folder && access(folder, X_OK) == 0;
    char *here = of_target ? NULL : realpath(".", NULL);

    if (here && session_set_meta(s, "checker", checker, NULL))
        session_set_meta(s, "folder", here, NULL);
    free(here);
}

/* One check: the causes are looked for while states are gone through. */
struct checking {
    const struct check_options *options;
    struct analysis *analysis;
    struct exploration *exploration;
    struct bug_finder *finder;
    bool keeps_checker; /* it is not the session's yet, and is to be */
};

static bool settled(void *data, struct exploration *x, size_t number, struct error *e)
{
    struct checking *c = data;
    const struct check_options *o = c->options;
    const struct explored *states;
    const struct bug *fresh;
    exploration_states(x, &states);
    if (c->keeps_checker)
        keep_checker(c->analysis->session, o->explore.checker);
    c->keeps_checker = false;
    if (o->inconsistent && states[number].verdict > VERDICT_CONSISTENT)
        o->inconsistent(o->explore.data, number + 1, &states[number]);
    if (!bug_finder_take(c->finder, &states[number], &fresh, e))
        return false;
    if (fresh && o->bug) {
        json_t *bug = report_bug(c->analysis, x, fresh);
        o->bug(o->explore.data, bug);
        json_decref(bug);
    }
    return true;
}

static bool progress(void *data, const struct explore_counts *counts)
{
    const struct explore_options *o = &((struct checking *)data)->options->explore;
    return !o->progress || o->progress(o->data, counts);
}

static bool paused(void *data)
{
    const struct explore_options *o = &((struct checking *)data)->options->explore;
    return o->paused && o->paused(o->data);
}

static bool find_bugs(struct checking *c, struct bugs **bugs, struct error *e)
{
    struct explore_options explore = c->options->explore;
    explore.settled = settled;
    explore.progress = progress;
    explore.paused = paused;
    explore.data = c;
    if (!exploration_new(&c->exploration, c->analysis, &explore, e))
        return false;
    c->finder = bug_finder_new(c->exploration, c->analysis);
    if (!exploration_run(c->exploration, e)) {
        bug_finder_free(c->finder);
        return false;
    }
    return bug_finder_finish(c->finder, bugs, e) &&
           (!c->options->verify || bugs_verify(*bugs, c->exploration, c->analysis, e)) &&
           (c->options->fix_count || bugs_repeat(*bugs, c->exploration, c->analysis, e)) &&
           exploration_flush(c->exploration, e);
}

/* Whether a check that was stopped has seen less than the session's report tells of: that stays, so
 * that nobody loses a list of bugs by beginning a check and thinking better of it. The verdicts are
 * kept in any case. */
static bool knows_less(struct session *s, const json_t *report, const struct exploration *x,
                       bool is_try)
{
    if (is_try || !exploration_counts(x)->stopped)
        return false;
    json_t *before = report_load(s, NULL);
    const json_t *had = json_object_get(before, "states"), *has = json_object_get(report, "states");
    bool less = before && report_number(has, "tested") < report_number(had, "tested");
    json_decref(before);
    return less;
}

static bool explore(struct analysis *a, const struct check_options *options,
                    struct report_times *times, json_t **report, struct error *e)
{
    struct checking c = {.options = options,
                         .analysis = a,
                         .keeps_checker = options->explore.checker && !options->explore.cwd};
    struct bugs *bugs = NULL;
    uint64_t begin = clock_now();
    bool done = find_bugs(&c, &bugs, e);
    if (done) {
        times->check = seconds_since(begin);
        *report = report_build(a, c.exploration, bugs, &options->explore, times);
        if (knows_less(a->session, *report, c.exploration, options->fix_count > 0))
            json_object_set_new(*report, "kept", json_false());
        else
            done = store(a, c.exploration, bugs, *report, options->fix_count > 0, e);
        if (!done) {
            json_decref(*report);
            *report = NULL;
        }
    }
    bugs_free(bugs);
    exploration_free(c.exploration);
    return done;
}

bool check_run(struct session *s, const struct check_options *options, json_t **report,
               struct error *e)
{
    struct analysis *a;
    struct analysis_options analysis = {.model = options->model,
                                        .behaviours = analysis_behaviours(s),
                                        .fixes = options->fixes,
                                        .fix_count = options->fix_count,
                                        .interrupt = options->interrupt};
    struct report_times times;
    uint64_t begin = clock_now();
    if (!analysis_new(&a, s, &analysis, e))
        return false;
    times.analyse = seconds_since(begin);
    bool done = explore(a, options, &times, report, e);
    analysis_free(a);
    return done;
}

uint64_t check_setting(struct session *s, const char *key, uint64_t otherwise)
{
    const char *text = session_meta(s, key);
    char *end = NULL;
    errno = 0;
    uint64_t n = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    return end && !*end && !errno ? n : otherwise;
}

bool check_complete(struct check_options *options, struct session *s, struct error *e)
{
    struct explore_options *x = &options->explore;
    const char *told = session_meta(s, "acknowledgements");
    x->dir = session_meta(s, "directory");
    if (!x->checker) { /* one that is given now is looked for here, and stays: keep_checker */
        x->checker = session_meta(s, "checker");
        x->cwd = session_meta(s, "folder");
    }
    if (told && !strcmp(told, "no") && !options->told_given)
        x->acknowledgements = false;
    if (!x->checker)
        return error_set(e, "no checker: give the command that recovers from a crash state and "
                            "says whether it is consistent, with --checker");
    return true;
}
