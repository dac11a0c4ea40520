/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/check.h"
#include "engine/clock.h"
#include "engine/config.h"
#include "engine/escape.h"
#include "engine/mem.h"
#include "engine/session_keep.h"
#include "tui/check.h"
#include "tui/commands.h"
#include "tui/options.h"
#include "tui/settings.h"

enum {
    OPTION_CHECKER = OPTION_LONG,
    OPTION_MODEL,
    OPTION_STORES,
    OPTION_STRATEGY,
    OPTION_BUDGET,
    OPTION_JOBS,
    OPTION_TIMEOUT,
    OPTION_SEED,
    OPTION_ACKNOWLEDGEMENTS,
};

static const struct command_option options[] = {
    {OPTION_CHECKER, "checker", "CMD",
     "the command that says whether a state is consistent (the target's, else the last given)"},
    {OPTION_MODEL, "model", "NAME",
     "ext4, xfs, btrfs, posix, ext4-paper or strict (the target's, else ext4)"},
    {OPTION_STORES, "stores", "auto|px86|eadr|pagecache",
     "what becomes of stores to mapped files (the target's, else auto)"},
    {OPTION_STRATEGY, "strategy", "NAME",
     "representative, all-behaviours, exhaustive, prefix, sync or random (the target's, else the "
     "first)"},
    {OPTION_BUDGET, "budget", "N",
     "states to go through at most, 0: no limit (the target's, else " EXPLORE_TEXT(
         EXPLORE_BUDGET) ")"},
    {OPTION_JOBS, "jobs", "N", "checkers at a time, 0: one a core (the target's, else 0)"},
    {OPTION_TIMEOUT, "timeout", "SEC",
     "seconds for one checker, 0: no limit (the target's, else " EXPLORE_TEXT(EXPLORE_TIMEOUT) ")"},
    {OPTION_SEED, "seed", "N", "for the strategy random (1)"},
    {OPTION_ACKNOWLEDGEMENTS, "acknowledgements", "yes|no",
     "whether verdicts depend on what was printed (the target's, else yes)"},
    {0},
};

/* ---- interruption and progress ---- */

static volatile sig_atomic_t interrupted; /* the signal that did it */

static void on_signal(int signal)
{
    interrupted = signal;
}

bool check_ended_by_person(void)
{
    return interrupted == SIGINT;
}

/* A person's, a machine's that has waited long enough, and that of a terminal that goes away. */
static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
enum { STOPPING_SIGNALS = sizeof stopping / sizeof *stopping };

/* What the caller ignores stays ignored, as nohup means it; but for SIGINT, which shells ignore in
 * all that they start in the background: whoever sends it there means it. */
static void hear_signals(struct sigaction before[STOPPING_SIGNALS])
{
    struct sigaction act = {.sa_handler = on_signal};

    interrupted = 0;
    for (size_t i = 0; i < STOPPING_SIGNALS; i++) {
        sigaction(stopping[i], NULL, &before[i]);
        if (stopping[i] == SIGINT || before[i].sa_handler != SIG_IGN)
            sigaction(stopping[i], &act, NULL);
    }
}

static void restore_signals(const struct sigaction before[STOPPING_SIGNALS])
{
    for (size_t i = 0; i < STOPPING_SIGNALS; i++)
        sigaction(stopping[i], &before[i], NULL);
}

/* On a terminal one line that changes, not more often than eyes can follow; elsewhere, where it
 * goes into some log, a line now and then. */
struct progress {
    bool changes;
    uint64_t began, next;
};

static const uint64_t between_changes = NANOSECONDS_PER_SECOND / 10,
                      between_lines = 30 * NANOSECONDS_PER_SECOND;

static struct progress progress_begin(void)
{
    bool changes = isatty(STDERR_FILENO);
    uint64_t now = clock_now();

    return (struct progress){changes, now, changes ? now : now + between_lines};
}

static bool show_progress(void *data, const struct explore_counts *c)
{
    struct progress *p = data;
    uint64_t now = clock_now();

    if (now <= p->next)
        return !interrupted;
    p->next = now + (p->changes ? between_changes : between_lines);
    fputs(p->changes ? "\r\033[K" : "flotsam: ", stderr);
    fprintf(stderr, "%" PRIu64, c->enumerated);
    if (c->expected > c->enumerated)
        fprintf(stderr, " of %" PRIu64, c->expected);
    fprintf(stderr, " states, %" PRIu64 " distinct, %" PRIu64 " inconsistent", c->distinct,
            c->inconsistent);
    if (c->expected > c->enumerated && c->enumerated && now - p->began > NANOSECONDS_PER_SECOND)
        fprintf(stderr, ", about %.0f s left",
                (double)(now - p->began) / (double)NANOSECONDS_PER_SECOND / (double)c->enumerated *
                    (double)(c->expected - c->enumerated));
    fputs(p->changes ? " " : "\n", stderr);
    return !interrupted;
}

/* ---- what it found ---- */

static uint64_t count(const json_t *report, const char *name)
{
    const json_t *states = json_object_get(report, "states");
    return (uint64_t)json_integer_value(json_object_get(states, name));
}

static void tell(const json_t *report)
{
    size_t i;
    const json_t *bug, *bugs = json_object_get(report, "bugs");
    const char *cut = json_string_value(json_object_get(report, "cut"));
    uint64_t enumerated = count(report, "enumerated");
    printf("%" PRIu64 " state%s went through, %" PRIu64 " distinct, %" PRIu64 " inconsistent%s%s\n",
           enumerated, enumerated == 1 ? "" : "s", count(report, "distinct"),
           count(report, "inconsistent"), cut ? "; " : "", cut ? cut : "");
    bool kept = !json_is_false(json_object_get(report, "kept"));
    json_array_foreach(bugs, i, bug)
    {
        char *summary = escape_text(json_string_value(json_object_get(bug, "summary")));
        fputs("bug", stdout);
        if (kept) /* else the number is another one's in the session */
            printf(" %" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(bug, "id")));
        json_int_t states = json_integer_value(json_object_get(bug, "states"));
        printf(": %s: %s (%" JSON_INTEGER_FORMAT " state%s)\n",
               json_string_value(json_object_get(bug, "kind")), summary, states,
               states == 1 ? "" : "s");
        if (json_is_false(json_object_get(bug, "repeats")))
            puts("  but the checker said otherwise when it was run on the same state again: it "
                 "looks "
                 "at more than the state");
        free(summary);
    }
    if (!kept)
        puts("the check before had seen more: the session keeps its report, and the verdicts of "
             "both");
}

static void tell_all(const json_t *report)
{
    struct buf out = {0};
    report_text.print(report, &out);
    fwrite(buf_string(&out), 1, out.n, stdout);
    buf_free(&out);
}

/* Which model was taken for stores, when nobody has said which. */
static void say_stores(const json_t *report, enum model_stores asked)
{
    const char *taken = json_string_value(json_object_get(report, "stores"));
    if (taken && asked == STORES_AUTO)
        message("stores to mapped files: %s (%s; --stores takes another)", taken,
                strcmp(taken, model_stores_name(STORES_PAGECACHE)) == 0
                    ? "the program flushes no cache lines of them"
                    : "the program flushes cache lines of them, or maps them with MAP_SYNC");
}

int check_session(const char *path, struct check_options *check, enum check_telling telling)
{
    struct session *s;
    struct error e;
    json_t *report;
    if (!session_open(&s, path, &e))
        return command_failed(&e);
    if (!session_can_keep(s, &e) || !check_complete(check, s, &e)) {
        session_close(s);
        return command_failed(&e);
    }
    check->explore.progress = show_progress;
    struct progress progress = progress_begin();
    check->explore.data = &progress;
    struct sigaction before[STOPPING_SIGNALS];
    hear_signals(before);
    bool done = check_run(s, check, &report, &e);
    restore_signals(before);
    if (progress.changes)
        fputs("\r\033[K", stderr);
    int status = STATUS_FAILED;
    if (done) {
        say_stores(report, check->model.stores);
        bool is_empty = !json_integer_value(json_object_get(report, "ops"));
        if (is_empty)
            message(
                "the run changed nothing in %s; if that is a surprise, the program has its data "
                "elsewhere: record it with the right directory",
                check->explore.dir);
        if (telling == CHECK_TELLS_ALL)
            tell_all(report);
        else if (telling == CHECK_TELLS_SHORTLY)
            tell(report);
        status = count(report, "inconsistent") ? STATUS_FOUND : STATUS_DONE;
        /* Of a target, which is to test something each time. */
        if (status == STATUS_DONE && telling != CHECK_TELLS_SHORTLY && is_empty)
            status = STATUS_FAILED;
        json_decref(report);
    } else
        command_failed(&e);
    session_close(s);
    return interrupted ? STATUS_INTERRUPTED : status;
}

/* Options as they were given; NULL: not. */
struct given {
    const char *model, *stores, *strategy, *budget, *jobs, *timeout;
};

static bool take_options(struct config *c, const struct given *given, struct error *e)
{
    const struct {
        const char *section, *name, *value, *origin;
    } options_given[] = {
        {"model", "stores", given->stores, "--stores"},
        {"explore", "strategy", given->strategy, "--strategy"},
        {"explore", "budget", given->budget, "--budget"},
        {"explore", "jobs", given->jobs, "--jobs"},
        {"explore", "timeout", given->timeout, "--timeout"},
    };
    enum strategy strategy;
    enum model_stores stores;
    config_next_layer(c);
    /* These say what names there are. */
    bool ok = (!given->model || settings_take_model(c, given->model, "--model", e)) &&
              (!given->stores || model_stores_find(given->stores, &stores, e)) &&
              (!given->strategy || strategy_find(given->strategy, &strategy, e));
    for (size_t i = 0; ok && i < sizeof options_given / sizeof *options_given; i++)
        ok = !options_given[i].value ||
             config_set(c, options_given[i].section, options_given[i].name, options_given[i].value,
                        options_given[i].origin, e);
    return ok;
}

/* How behaviours are found stays with the session, so that all who look at it find the same. */
static bool keep_behaviours(const struct config *c, struct session *s, struct error *e)
{
    const struct behaviour_options has = analysis_behaviours(s);
    char *max = xasprintf("%" PRIu64, c->behaviour_max), *gap = xasprintf("%" PRIu64, c->gap);
    bool done = (!c->behaviour_max || c->behaviour_max == has.max ||
                 session_set_meta(s, "behaviour_max", max, e)) &&
                (!c->gap || c->gap == has.gap || session_set_meta(s, "gap", gap, e));
    free(gap);
    free(max);
    return done;
}

static bool settle_with(struct config *c, struct session *s, const struct given *given,
                        struct check_options *check, struct error *e)
{
    struct explore_options *x = &check->explore;
    bool ok = settings_of_session(c, s, !given->model, e) && take_options(c, given, e) &&
              settings_model(c, &check->model, e) && strategy_find(c->strategy, &x->strategy, e) &&
              keep_behaviours(c, s, e);
    x->budget = c->budget;
    x->jobs = (int)c->jobs;
    x->timeout = (double)c->timeout;
    return ok;
}

/* What was not given is the environment's, else the target's, else the user's. */
static bool settle(const char *path, const struct given *given, struct check_options *check,
                   struct error *e)
{
    struct session *s;
    struct config c;
    if (!session_open(&s, path, e))
        return false;
    bool ok = settle_with(&c, s, given, check, e);
    config_free(&c);
    session_close(s);
    return ok;
}

static int run_check(int argc, char **argv)
{
    struct check_options check = {.explore = {.seed = 1, .acknowledgements = true}, .verify = true};
    struct given given = {0};
    struct error e;
    struct options o;
    uint64_t number;
    options_begin(&o, &command_check, argc, argv);
    while (options_next(&o)) {
        switch (o.id) {
        case OPTION_CHECKER:
            check.explore.checker = o.value;
            break;
        case OPTION_MODEL:
            given.model = o.value;
            break;
        case OPTION_STORES:
            given.stores = o.value;
            break;
        case OPTION_STRATEGY:
            given.strategy = o.value;
            break;
        case OPTION_BUDGET:
            if (options_number(&o, 0, UINT64_MAX, &number))
                given.budget = o.value;
            break;
        case OPTION_JOBS:
            if (options_number(&o, 0, 1024, &number))
                given.jobs = o.value;
            break;
        case OPTION_TIMEOUT:
            if (options_number(&o, 0, 86400, &number))
                given.timeout = o.value;
            break;
        case OPTION_SEED:
            options_number(&o, 0, UINT64_MAX, &check.explore.seed);
            break;
        case OPTION_ACKNOWLEDGEMENTS:
            check.told_given = true;
            check.explore.acknowledgements = options_choice(&o) == 0;
            break;
        }
    }
    if (o.ended || !options_count(&o, 0, 1))
        return o.status;
    char *session = command_session(o.argc ? o.argv[0] : NULL, &e);
    if (!session || !settle(session, &given, &check, &e)) {
        free(session);
        return command_failed(&e);
    }
    int status = check_session(session, &check, CHECK_TELLS_SHORTLY);
    free(session);
    return status;
}

const struct command command_check = {
    .name = "check",
    .run = run_check,
    .takes = TAKES_SESSION,
    .usage = "[S] [--checker CMD] [--model NAME] [--stores NAME] [--strategy NAME] [--budget N] "
             "[--jobs N]",
    .summary = "test the crash states of a recorded run",
    .details =
        "Goes through the states that a power failure could leave, runs the checker on each\n"
        "distinct one, and finds the cause of those that are inconsistent. What was found stays "
        "in\n"
        "the session; a check that was interrupted goes on where it stopped.\n"
        "\n"
        "What no option says is said by FLOTSAM_SECTION_KEY in the environment, else by the\n"
        "target's config, else by ~/.config/flotsam/config and /etc/xdg/flotsam/config.\n"
        "\n"
        "Exit status 0 when every state was consistent, 1 when some were not, 2 when it could not\n"
        "run, 130 when it was interrupted.",
    .options = options,
};
