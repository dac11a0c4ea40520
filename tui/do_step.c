/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that step through the schedule in hand, and change it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "engine/mem.h"
#include "engine/report.h"
#include "tui/debugger.h"
#include "tui/words.h"
#include "views/change.h"
#include "views/output.h"
#include "views/stack.h"

/* ---- what is in hand ---- */

static void take_in_hand(struct debugger *d, char *what, uint64_t state, uint64_t bug)
{
    free(d->walking);
    d->walking = what;
    d->walking_state = state;
    d->walking_bug = bug;
    free(d->walking_cause);
    d->walking_cause = NULL;
    d->verdict_version = 0;
}

static bool begin(struct debugger *d, struct report_state *state, struct error *e)
{
    bool ok = report_state_fits(state, d->findings.analysis->graph) ||
              error_set(e, "it does not fit the trace; check the session again");

    ok = ok && walk_begin_state(d->walk, state, e);
    report_state_clear(state);
    return ok;
}

/* What the checker said when the bug was found. */
static void know_verdict(struct debugger *d, const json_t *checker)
{
    const json_t *output = json_object_get(checker, "output");
    const json_t *signal = json_object_get(checker, "signal");
    bool hung = json_is_true(json_object_get(checker, "timed_out"));

    if (d->task == TASK_TEST)
        return;
    verdict_clear(&d->verdict);
    d->verdict = (struct verdict){.kind = hung                      ? VERDICT_HUNG
                                          : json_is_integer(signal) ? VERDICT_CRASHED
                                                                    : VERDICT_INCONSISTENT,
                                  .exit = (int)json_integer_value(json_object_get(checker, "exit")),
                                  .signal = (int)json_integer_value(signal),
                                  .seconds = OUTPUT_UNTIMED};
    d->verdict_version = walk_version(d->walk);
    buf_clear(&d->output);
    buf_add(&d->output, json_string_value(output) ? json_string_value(output) : "",
            json_string_length(output));
    d->desks[DESK_output].stale = true;
}

bool debugger_walk_bug(struct debugger *d, uint64_t bug, struct error *e)
{
    struct report_state state;

    if (!debugger_need_check(d, e) ||
        !report_bug_state(d->findings.session, (uint32_t)bug, &state, e) || !begin(d, &state, e))
        return false;
    const char *cause = json_string_value(json_object_get(debugger_bug(d, bug), "cause"));
    take_in_hand(d, xasprintf("bug %" PRIu64, bug), 0, bug);
    d->walking_cause = cause ? xstrdup(cause) : NULL;
    know_verdict(d, json_object_get(debugger_bug(d, bug), "checker"));
    return true;
}

bool debugger_walk_state(struct debugger *d, uint64_t number, struct error *e)
{
    struct report_listed listed;

    if (!debugger_need_check(d, e) || !report_listed_state(d->findings.session, number, &listed, e))
        return false;
    enum verdict_kind verdict = listed.verdict;
    if (!begin(d, &listed.state, e))
        return false;
    take_in_hand(d, xasprintf("state %" PRIu64, number), number, 0);
    if (d->task == TASK_TEST) /* the output that comes is that of the state being tested */
        return true;
    verdict_clear(&d->verdict);
    d->verdict =
        (struct verdict){.kind = verdict, .exit = OUTPUT_UNTOLD, .seconds = OUTPUT_UNTIMED};
    d->verdict_version = walk_version(d->walk);
    buf_clear(&d->output); /* it was another state's; what this one's checker said was not kept */
    d->desks[DESK_output].stale = true;
    return true;
}

void debugger_walk_prefix(struct debugger *d, uint32_t last)
{
    walk_begin_prefix(d->walk, last);
    take_in_hand(d, xasprintf("everything up to op %" PRIu32, last), 0, 0);
}

void debugger_walked(struct debugger *d)
{
    struct cell words = {0};
    struct error e;

    if (change_words(&words, d->findings.analysis, d->walk, &e)) {
        if (words.text.n)
            debugger_say(d, "%s", words.text.at);
    } else
        debugger_complain(d, e.text);
    cell_free(&words);
    if (d->desk != DESK_schedule)
        debugger_go(d, DESK_schedule, NULL);
    struct pane *p = desk_main(debugger_desk(d));
    if (p->plain || !p->view)
        return;
    pane_again(p); /* the row of the crash lies elsewhere, and those behind it with it */
    pane_select(p, schedule_view_here(p->view));
}

/* ---- steps ---- */

static bool step(struct debugger *d, const char *words, int direction, bool sync, struct error *e)
{
    uint64_t n;

    if (!debugger_need_analysis(d, e) || !words_number(words, 1, "a number of steps", &n, e))
        return false;
    if (!d->walking) {
        take_in_hand(d, xstrdup("the run"), 0, 0);
        walk_begin_prefix(d->walk, NO_OP);
    }
    e->text[0] = 0;
    int64_t steps = n > INT64_MAX ? INT64_MAX : (int64_t)n;
    steps *= direction;
    if (sync)
        walk_sync(d->walk, steps, e);
    else
        walk_step(d->walk, steps);
    if (e->text[0])
        return false;
    debugger_walked(d);
    return true;
}

bool do_step(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)after;
    return step(d, words, 1, false, e);
}

bool do_step_back(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)after;
    return step(d, words, -1, false, e);
}

bool do_sync(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)after;
    return step(d, words, 1, true, e);
}

bool do_sync_back(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)after;
    return step(d, words, -1, true, e);
}

static bool failing(struct debugger *d, int direction, struct error *e)
{
    if (!debugger_need_check(d, e))
        return false;
    struct session *s = d->findings.session;
    uint64_t from = d->walking_state ? d->walking_state
                    : direction > 0  ? 0
                                     : report_state_count(s) + 1;
    uint64_t to = report_next_bad(s, from, direction);
    if (!to)
        return error_set(e, from && from <= report_state_count(s)
                                ? "there is no further inconsistent state in this direction"
                                : "the last check found no inconsistent state");
    if (!debugger_walk_state(d, to, e))
        return false;
    debugger_walked(d);
    return true;
}

bool do_failing(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    return failing(d, 1, e);
}

bool do_failing_back(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    return failing(d, -1, e);
}

/* ---- choices ---- */

bool do_toggle(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct subject op;

    (void)after;
    if (!debugger_need_analysis(d, e) || !debugger_find(d, words, SUBJECT_OP, &op, e))
        return false;
    if (!d->walking)
        take_in_hand(d, xstrdup("the run"), 0, 0);
    walk_toggle(d->walk, (uint32_t)op.number);
    uint64_t row = desk_main(debugger_desk(d))->selected;
    bool here = d->desk == DESK_schedule;
    debugger_walked(d);
    /* One goes on choosing where one was. */
    struct pane *p = desk_main(debugger_desk(d));
    uint64_t found = p->view ? p->view->ops->find(p->view, &op) : 0;
    pane_select(p, found ? found : here ? row : p->selected);
    return true;
}

static bool undo(struct debugger *d, bool (*how)(struct walk *), const char *what, struct error *e)
{
    if (!debugger_need_analysis(d, e))
        return false;
    if (!how(d->walk))
        return error_set(e, "there is nothing to %s", what);
    debugger_walked(d);
    return true;
}

bool do_undo(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    return undo(d, walk_undo, "take back", e);
}

bool do_redo(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    return undo(d, walk_redo, "do again", e);
}

/* ---- frames ---- */

static bool frame(struct debugger *d, int direction, struct error *e)
{
    struct subject event;
    struct view *stack;

    if (!debugger_find(d, "", SUBJECT_EVENT, &event, e) ||
        !stack_view(&stack, d->session, d->symbols, event.number, e))
        return false;
    if (d->frame.event != event.number || !d->frame.row)
        d->frame = (struct frame_choice){event.number, stack_view_source(stack, 1, 1)};
    uint64_t to = d->frame.row;
    if (to)
        to = stack_view_source(stack, direction > 0 || to > 1 ? to + (uint64_t)direction : 0,
                               direction);
    stack->ops->close(stack);
    if (!to)
        return error_set(e, direction > 0 ? "no caller with source is left"
                                          : "this is the innermost function with source");
    d->frame.row = to;
    d->version++;
    return true;
}

bool do_frame_up(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    return frame(d, 1, e);
}

bool do_frame_down(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    return frame(d, -1, e);
}
