/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/task.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/interrupt.h"
#include "engine/mem.h"
#include "engine/session_keep.h"
#include "views/difference.h"
#include "views/object.h"
#include "views/output.h"
#include "views/state.h"

bool task_worker(struct debugger *d, struct error *e)
{
    if (d->worker && !worker_died(d->worker))
        return true;
    worker_stop(d->worker);
    d->worker = NULL;
    /* By now the path may be that of another recording, in which ops have other numbers. */
    return session_is_there(d->session, e) && worker_start(&d->worker, d->path, NULL, e);
}

/* ---- what it says ---- */

static struct view *output_in_sight(struct debugger *d)
{
    struct pane *p = desk_main(&d->desks[DESK_output]);

    return !d->desks[DESK_output].stale && !p->plain ? p->view : NULL;
}

static void take_output(struct debugger *d, const struct worker_event *event)
{
    struct view *v = output_in_sight(d);

    buf_add(&d->output, event->text, event->text_size);
    if (v)
        output_add(v, event->text, event->text_size);
}

static void take_verdict(struct debugger *d, const struct worker_event *event)
{
    verdict_clear(&d->verdict);
    d->verdict = (struct verdict){.kind = event->verdict,
                                  .exit = event->exit,
                                  .signal = event->signal,
                                  .seconds = event->seconds};
    d->verdict_version = d->tested_version;
    if (output_in_sight(d))
        output_end(output_in_sight(d), &d->verdict);
    const char *name = verdict_name(event->verdict);
    if (verdict_is_bad(&d->verdict) && event->verdict == VERDICT_INCONSISTENT)
        debugger_say(d, "the checker says: %s, exit status %d; o shows what it printed", name,
                     event->exit);
    else
        debugger_say(d, "the checker says: %s; o shows what it printed", name);
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

/* "bug 1 is gone, bug 2 is still there". */
static void tell_try(struct debugger *d, const json_t *report)
{
    const json_t *compared = json_object_get(report, "compared");
    const json_t *bugs = json_object_get(compared, "bugs"), *bug;
    struct buf out = {0};
    size_t i;

    json_array_foreach(bugs, i, bug)
    {
        const char *outcome = text_of(bug, "outcome");
        buf_printf(&out, "%sbug %" JSON_INTEGER_FORMAT " is %s", out.n ? ", " : "",
                   json_integer_value(json_object_get(bug, "id")),
                   !strcmp(outcome, "still") ? "still there" : outcome);
    }
    size_t fresh = json_array_size(json_object_get(compared, "new"));
    if (fresh)
        buf_printf(&out, "%s%zu more, hidden by others until now", out.n ? ", " : "", fresh);
    debugger_say(d, "with the pretended syncs: %s", out.n ? out.at : "there were no bugs before");
    buf_free(&out);
}

static void tell_check(struct debugger *d, const json_t *report, bool kept)
{
    size_t bugs = json_array_size(json_object_get(report, "bugs"));
    const json_t *states = json_object_get(report, "states");

    json_int_t distinct = json_integer_value(json_object_get(states, "distinct"));

    debugger_say(d, "checked: %" JSON_INTEGER_FORMAT " state%s, %zu bug%s%s%s%s", distinct,
                 distinct == 1 ? "" : "s", bugs, bugs == 1 ? "" : "s",
                 *text_of(report, "cut") ? "; " : "", text_of(report, "cut"),
                 kept ? "" : "; the check before had seen more, and its report stays");
}

/* Another report numbers its states anew, too. */
static void forget_state(struct debugger *d)
{
    if (!d->walking_state)
        return;
    d->walking_state = 0;
    free(d->walking);
    d->walking = xstrdup("a state of the check before");
}

/* What is shown beside the states of a check is of the model that they were checked under. */
static void follow_model(struct debugger *d, bool kept)
{
    if (!kept || !d->checking ||
        (d->loaded && model_is(&d->findings.analysis->graph->model, d->checking)))
        return;
    free(d->model);
    d->model = d->checking;
    d->checking = NULL;
    debugger_reload(d);
}

static void take_done(struct debugger *d, const struct worker_event *event)
{
    struct error e;
    bool kept = !json_is_false(json_object_get(event->body, "kept"));

    if (d->task == TASK_TRY)
        tell_try(d, event->body);
    else
        tell_check(d, event->body, kept);
    json_decref(d->tried);
    d->tried = d->task == TASK_TRY ? json_incref(event->body) : NULL;
    d->has_progress = d->paused = false;
    if (!debugger_refresh(d, &e))
        debugger_fail(d, e.text);
    if (d->task == TASK_CHECK && kept)
        forget_state(d);
    follow_model(d, kept);
}

/* The engine speaks to those who type options; here the way out is a command. */
static void fail_task(struct debugger *d, const char *text)
{
    const char *option = strstr(text, "with --checker");

    if (!option) {
        debugger_fail(d, text);
        return;
    }
    char *ours = xasprintf("%.*swith :check checker=COMMAND%s", (int)(option - text), text,
                           option + strlen("with --checker"));
    debugger_fail(d, ours);
    free(ours);
}

/* What ends before it has begun because it was asked to has not failed. */
static void take_failure(struct debugger *d, const struct worker_event *event)
{
    if (d->stopping && !strcmp(event->text, INTERRUPTED))
        debugger_say(d, "stopped before anything came of it");
    else
        fail_task(d, event->text);
}

/* Without a report: what was shown of it while it ran gives way to the one before. */
static void end_task(struct debugger *d)
{
    d->task = TASK_NONE;
    d->has_progress = d->paused = false;
    debugger_stale(d);
}

static void take_event(struct debugger *d, struct worker_event *event)
{
    switch (event->kind) {
    case WORKER_PROGRESS:
        worker_event_clear(&d->progress);
        d->progress = *event;
        *event = (struct worker_event){0};
        d->has_progress = true;
        break;
    case WORKER_BUG:
        json_array_append(d->found, event->body);
        d->desks[DESK_bugs].stale = true;
        break;
    case WORKER_OUTPUT:
        take_output(d, event);
        break;
    case WORKER_VERDICT:
        take_verdict(d, event);
        d->task = TASK_NONE;
        break;
    case WORKER_DONE:
        take_done(d, event);
        d->task = TASK_NONE;
        break;
    case WORKER_FAILED:
        take_failure(d, event);
        end_task(d);
        break;
    case WORKER_STATE:
    case WORKER_NOTHING:
        break;
    }
}

void task_take(struct debugger *d)
{
    struct worker_event event;

    if (!d->worker)
        return;
    while (worker_read(d->worker, &event)) {
        take_event(d, &event);
        worker_event_clear(&event);
        d->version++;
        d->desks[DESK_overview].stale = true;
    }
    if (worker_died(d->worker) && d->task != TASK_NONE) {
        char *why = xasprintf("%s; what was found is kept, and the next check goes on from there",
                              worker_died(d->worker));
        debugger_fail(d, why);
        free(why);
        end_task(d);
    }
}

bool task_progress(const struct debugger *d, struct overview_progress *out)
{
    const struct worker_event *p = &d->progress;

    if (d->task != TASK_CHECK && d->task != TASK_TRY)
        return false;
    *out = (struct overview_progress){.phase = "starting",
                                      .seconds = (double)(clock_now() - d->task_began) /
                                                 (double)NANOSECONDS_PER_SECOND,
                                      .paused = d->paused,
                                      .seconds_left = -1,
                                      .bugs = json_array_size(d->found)};
    if (!d->has_progress)
        return true;
    out->phase = p->phase ? p->phase : "testing";
    out->done = p->counts.enumerated;
    out->budget = d->budget;
    out->all = d->budget && (!p->counts.expected || p->counts.expected > d->budget)
                   ? d->budget
                   : p->counts.expected;
    out->inconsistent = p->counts.inconsistent;
    out->rate = p->rate;
    out->seconds_left = p->seconds_left;
    return true;
}

/* ---- the state in hand ---- */

/* Other rows than before: what differs is what one wants to see, and the difference follows. */
static void show_new_state(struct debugger *d, struct pane *p)
{
    uint64_t first = state_view_first(p->view), rows = p->view->ops->count(p->view);

    pane_again(p);
    if (first || p->selected > rows)
        pane_select(p, first ? first : rows);
    d->version++;
}

static bool settle_pane(struct debugger *d, struct pane *p, uint64_t deadline, bool *done,
                        struct error *e)
{
    *done = true;
    if (view_is(p->view, VIEW_DIFFERENCE))
        return difference_view_settle(p->view, deadline, done, e);
    if (view_is(p->view, VIEW_OBJECT))
        return object_view_settle(p->view, deadline, done, e);
    if (!view_is(p->view, VIEW_STATE))
        return true;
    uint64_t before = state_view_version(p->view);
    if (!state_view_settle(p->view, deadline, done, e))
        return false;
    p->settling = !*done;
    if (state_view_version(p->view) != before)
        show_new_state(d, p);
    return true;
}

bool task_settle_state(struct debugger *d, uint64_t deadline, bool *done, struct error *e)
{
    struct desk *desk = debugger_desk(d);

    *done = true;
    if (!d->walk_states)
        return true;
    for (int i = 0; *done && i <= desk->companions; i++)
        if (!settle_pane(d, &desk->panes[i], deadline, done, e))
            return false;
    return true;
}
