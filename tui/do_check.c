/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that have states checked, and that pretend syncs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/check.h"
#include "engine/clock.h"
#include "engine/explore.h"
#include "engine/fix.h"
#include "engine/mem.h"
#include "engine/report.h"
#include "tui/debugger.h"
#include "tui/settings.h"
#include "tui/task.h"
#include "tui/words.h"
#include "views/output.h"

static bool must_be_idle(const struct debugger *d, struct error *e)
{
    static const char *const names[] = {
        [TASK_CHECK] = "a check", [TASK_TRY] = "a try", [TASK_TEST] = "a checker"};

    if (d->saving)
        return error_set(e, "the session is being saved as another file; a moment");
    return d->task == TASK_NONE ||
           error_set(e, "%s is running; :stop ends it, and what it found is kept", names[d->task]);
}

/* ---- checking ---- */

/* One setting, KEY=VALUE; the value stays where it is. */
static bool read_setting(struct worker_check *c, const char **stores, const char *word,
                         struct error *e)
{
    const char *equals = strchr(word, '=');
    uint64_t n = 0;

    if (!equals)
        return error_set(
            e,
            "%s is no setting; write KEY=VALUE: model, stores, strategy, budget, jobs, "
            "timeout, seed, checker",
            word);
    size_t length = (size_t)(equals - word);
    const char *value = equals + 1;
#define IS(name) (length == sizeof(name) - 1 && !strncmp(word, name, length))
    if (IS("model"))
        c->model = value;
    else if (IS("stores"))
        *stores = value;
    else if (IS("strategy"))
        c->strategy = value;
    else if (IS("checker"))
        c->checker = value;
    else if (!IS("budget") && !IS("jobs") && !IS("timeout") && !IS("seed"))
        return error_set(
            e,
            "no setting is called %.*s; there are model, stores, strategy, budget, jobs, "
            "timeout, seed, checker",
            (int)length, word);
    else if (!words_number(value, 0, "a whole number from 0 on", &n, e))
        return error_prefix(e, "%.*s", (int)length, word);
    if (IS("budget"))
        c->budget = n;
    if (IS("jobs"))
        c->jobs = n > 1024 ? 1024 : (int)n;
    if (IS("timeout"))
        c->timeout = n ? (double)n : WORKER_NO_LIMIT;
    if (IS("seed"))
        c->seed = n;
#undef IS
    return true;
}

/* A model, or else the one in hand, with another for stores, as one text; the caller frees it. */
static char *model_with_stores(struct debugger *d, const char *model, const char *stores)
{
    char *in_hand = model ? NULL : model_text(&d->findings.analysis->graph->model);
    char *text = xasprintf("%s stores=%s", model ? model : in_hand, stores);

    free(in_hand);
    return text;
}

static const char CHECKER[] = "checker=";

/* The setting that begins here: a command with spaces, so what stands in quotes, or else the rest
 * of the line. The caller frees it. */
static char *take_checker(const char *setting, const char **words)
{
    const char *value = setting + sizeof CHECKER - 1;
    const char *end = *value == '\'' || *value == '"' ? strchr(value + 1, *value) : NULL;
    size_t n = end ? (size_t)(end - value - 1) : strlen(value);

    *words = end ? end + 1 : value + n;
    return xasprintf("%s%.*s", CHECKER, (int)n, end ? value + 1 : value);
}

static bool start_check(struct debugger *d, struct worker_check *c, const char *words,
                        struct error *e)
{
    vec_of(char *) kept = {0};
    const char *stores = NULL, *setting = words;
    char *word;
    bool ok = must_be_idle(d, e);

    for (; ok && (word = words_next(&words)); setting = words) {
        vec_push(&kept, word);
        if (strncmp(word, CHECKER, sizeof CHECKER - 1) == 0) {
            word = take_checker(setting + strspn(setting, " \t"), &words);
            vec_push(&kept, word);
        }
        ok = read_setting(c, &stores, word, e);
    }
    if (ok && stores) {
        enum model_stores known;
        ok = model_stores_find(stores, &known, e) && (c->model || debugger_need_analysis(d, e));
    }
    if (ok && stores) {
        c->model = model_with_stores(d, c->model, stores);
        vec_push(&kept, (char *)(uintptr_t)c->model);
    }
    ok = ok && task_worker(d, e);
    if (ok) {
        json_decref(d->found);
        d->found = json_array();
        d->has_progress = d->paused = d->stopping = false;
        worker_check(d->worker, c);
        free(d->checking);
        d->checking = c->model ? xstrdup(c->model) : NULL;
        d->budget = c->budget;
        d->task_began = clock_now();
        d->task = c->fix_count ? TASK_TRY : TASK_CHECK;
        debugger_stale(d);
    }
    for (size_t i = 0; i < kept.n; i++)
        free(kept.at[i]);
    vec_free(&kept);
    return ok;
}

/* What the environment says, else the target, else the user's config. */
static bool settings_of(struct debugger *d, struct worker_check *out, struct error *e)
{
    struct config c;
    bool ok = settings_of_session(&c, d->session, false, e);

    *out = (struct worker_check){.budget = c.budget,
                                 .jobs = (int)c.jobs,
                                 .timeout = c.timeout ? (double)c.timeout : WORKER_NO_LIMIT,
                                 .seed = 1,
                                 .model = d->model};
    config_free(&c);
    return ok;
}

bool do_check(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct worker_check c;

    (void)after;
    if (!settings_of(d, &c, e) || !start_check(d, &c, words, e))
        return false;
    debugger_say(d, "checking; p halts it, the overview shows how far it is");
    return true;
}

bool do_pause(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    if (d->task == TASK_NONE)
        return error_set(e, "nothing is running");
    d->paused = !d->paused;
    (d->paused ? worker_pause : worker_resume)(d->worker);
    debugger_say(d, d->paused ? "paused; p goes on" : "going on");
    return true;
}

bool do_stop(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    if (d->task == TASK_NONE)
        return error_set(e, "nothing is running");
    worker_halt(d->worker);
    d->stopping = true;
    d->paused = false; /* also what was halted ends */
    debugger_say(d, "stopping; what was found is kept");
    return true;
}

bool do_test(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct report_state state;

    (void)words, (void)after;
    if (!debugger_need_analysis(d, e) || !must_be_idle(d, e))
        return false;
    if (!d->walking)
        return error_set(e, "no schedule is in hand: Enter on a bug or a state takes one, s steps");
    if (!task_worker(d, e))
        return false;
    walk_export(d->walk, &state);
    struct worker_state test = {.last = state.last,
                                .lost = state.lost,
                                .lost_count = state.lost_count,
                                .told_until = state.told_until,
                                .model = state.model};
    if (d->pretending) {
        test.fixes = d->findings.fixes.at;
        test.fix_count = d->findings.fixes.n;
    }
    worker_test(d->worker, &test);
    report_state_clear(&state);
    d->task = TASK_TEST;
    d->paused = d->stopping = false;
    d->tested_version = walk_version(d->walk);
    d->verdict_version = 0;
    verdict_clear(&d->verdict);
    buf_clear(&d->output);
    d->desks[DESK_output].stale = true;
    d->version++;
    debugger_say(d, "the checker runs on the state in hand; o shows what it says");
    return true;
}

/* ---- pretending ---- */

/* After a change of the list: the graph follows. */
static bool pretend(struct debugger *d, struct error *e)
{
    json_decref(d->tried); /* it was with others */
    d->tried = NULL;
    if (!debugger_refresh(d, e))
        return false;
    d->pretending = d->findings.fixes.n > 0;
    debugger_reload(d);
    return true;
}

static bool add_fix(struct debugger *d, const struct fix *fix, struct error *e)
{
    struct buf words = {0};
    uint32_t id;

    if (!must_be_idle(d, e) || !fix_add(d->findings.session, fix, &id, e))
        return false;
    fix_words(&words, d->findings.session, fix);
    debugger_say(d, "%s; T tries it, F lists, :unfix %" PRIu32 " takes it back", buf_string(&words),
                 id);
    buf_free(&words);
    return pretend(d, e);
}

/* What the report proposes for the bug at hand, at all the places where the mistake is made. */
static bool add_proposed(struct debugger *d, struct error *e)
{
    struct subject bug;

    if (d->walking_bug && d->desk == DESK_schedule)
        bug = (struct subject){.kind = SUBJECT_BUG, .number = d->walking_bug};
    else if (!debugger_find(d, "", SUBJECT_BUG, &bug, e))
        return false;
    const json_t *proposal = json_object_get(debugger_bug(d, bug.number), "fix");
    const json_t *places = json_object_get(proposal, "places"), *place;
    vec_of(struct fix) fixes = {0};
    struct fix fix;
    size_t i, added, given = json_array_size(places);
    json_int_t times = json_integer_value(json_object_get(proposal, "times"));

    if (!must_be_idle(d, e))
        return false;
    if (!given)
        return error_set(e,
                         "no sync is proposed for bug %" PRIu64 "; fix fsync, fdatasync or "
                         "dirsync pretends one after the selected event",
                         bug.number);
    json_array_foreach(places, i, place)
    {
        if (fix_from_json(place, &fix))
            vec_push(&fixes, fix);
    }
    bool done = fixes_add(d->findings.session, fixes.at, fixes.n, &added, e);
    vec_free(&fixes);
    if (!done)
        return false;
    if (added && times > (json_int_t)given) {
        debugger_say(d,
                     "syncs are pretended at the first %zu of %" JSON_INTEGER_FORMAT
                     " places of bug %" PRIu64 "; its later states stay",
                     given, times, bug.number);
        return pretend(d, e);
    }
    if (added) {
        debugger_say(d,
                     "%zu sync%s pretended for bug %" PRIu64 "; T tries, F lists, :unfix takes "
                     "all back",
                     added, added == 1 ? " is" : "s are", bug.number);
        return pretend(d, e);
    }
    return error_set(e, "what bug %" PRIu64 " proposes is pretended already; T tries it",
                     bug.number);
}

/* The directory that an event changes an entry of, else the file's own. */
static uint32_t directory_of(const struct event *event)
{
    return event->other_dir ? event->other_dir : event->dir ? event->dir : FILE_ROOT;
}

bool do_fix(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct fix fix = {0};
    struct event event;
    struct subject at;

    (void)after;
    if (!debugger_need_analysis(d, e))
        return false;
    if (!*words)
        return add_proposed(d, e);
    char *call = words_next(&words);
    bool directory = !strcmp(call, "dirsync");
    bool ok =
        directory || fix_call_find(call, &fix.call, NULL) ||
        error_set(e, "%s cannot be pretended; fsync, fdatasync, dirsync, sync and flush can", call);
    free(call);
    if (!ok || !debugger_find(d, words, SUBJECT_EVENT, &at, e) ||
        !session_event(d->findings.session, at.number, &event, e))
        return false;
    fix.after = at.number;
    fix.store = !directory && fix.call == CALL_FLUSH ? at.number : 0;
    if (directory)
        fix.call = CALL_FSYNC;
    fix.file = fix.call == CALL_SYNC ? 0 : directory ? directory_of(&event) : event.file;
    return add_fix(d, &fix, e);
}

bool do_unfix(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    uint64_t id;
    struct fix_list *list = &d->findings.fixes;

    (void)after;
    if (!debugger_need_analysis(d, e) || !must_be_idle(d, e))
        return false;
    if (!list->n)
        return error_set(e, "nothing is pretended");
    if (*words) {
        if (!words_number(words, 0, "a number of the list (F)", &id, e) ||
            !fix_remove(d->findings.session, (uint32_t)id, e))
            return false;
    }
    bool ok = true;
    for (size_t i = 0; !*words && i < list->n && ok; i++)
        ok = fix_remove(d->findings.session, list->ids[i], e);
    if (!pretend(d, ok ? e : NULL) || !ok)
        return false;
    debugger_say(d, d->pretending ? "taken back" : "nothing is pretended any more");
    return true;
}

bool do_try(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct worker_check c;

    (void)words, (void)after;
    if (!debugger_need_check(d, e) || !settings_of(d, &c, e))
        return false;
    if (!d->findings.fixes.n)
        return error_set(e, "nothing is pretended yet: f adds what a bug proposes");
    c.fixes = d->findings.fixes.at;
    c.fix_count = d->findings.fixes.n;
    if (!start_check(d, &c, "", e))
        return false;
    debugger_say(d, "checking again with the pretended syncs");
    return true;
}
