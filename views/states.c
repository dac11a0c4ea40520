/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/states.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/moment.h"
#include "engine/report.h"
#include "engine/schedule.h"
#include "views/behaviours.h"
#include "views/op_words.h"

/* More lost ops than these are counted in a cell; JSON has all. */
enum { LOST_SHOWN = 8 };

struct states_table {
    struct view view;
    struct analysis *analysis;
    bool schedules;
};

enum { NUMBER, VERDICT, CRASH, BEHAVIOUR, LAST, LOST, COLUMNS };
enum { PERSISTED = BEHAVIOUR }; /* of schedules */

static const struct column *state_columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [NUMBER] = {.title = "#", .least = 4, .right = true},
        [VERDICT] = {.title = "verdict", .least = 10},
        [CRASH] = {.title = "crash at", .least = 5, .right = true},
        [BEHAVIOUR] = {.title = "behaviour", .least = 9, .most = 36, .yields = 2},
        [LAST] = {.title = "last to survive", .least = 12, .most = 48, .yields = 3},
        [LOST] = {.title = "lost, and what needs it", .least = 12, .yields = 1},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static const struct column *schedule_columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [NUMBER] = {.title = "#", .least = 4, .right = true},
        [VERDICT] = {.title = "verdict", .least = 10},
        [CRASH] = {.title = "crash at", .least = 5, .right = true},
        [PERSISTED] = {.title = "persisted", .least = 9, .right = true},
        [LAST] = {.title = "last to survive", .least = 12, .most = 48, .yields = 3},
        [LOST] = {.title = "all lost before it", .least = 12, .yields = 1},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    return report_state_count(((struct states_table *)v)->analysis->session);
}

/* --- Reading ------------------------------------------------------------------------------- */

/* The state, with all that its lost ops take along when it is a schedule. */
static bool read_state(struct states_table *t, uint64_t row, struct report_listed *out,
                       struct error *e)
{
    const struct analysis *a = t->analysis;

    if (!report_listed_state(a->session, row, out, e))
        return false;
    struct report_state *state = &out->state;
    if (!report_state_fits(state, a->graph) || !model_is(&a->graph->model, state->model) ||
        (out->behaviour != NO_BEHAVIOUR && out->behaviour >= a->behaviours->n)) {
        report_state_clear(state);
        return error_set(e, "%s: state %" PRIu64 " does not fit its trace; run flotsam check again",
                         session_path(a->session), row);
    }
    if (!t->schedules || !state->lost_count)
        return true;
    uint32_t base = state->lost[0], n = state->last - base + 1;
    struct schedule schedule = {state->last, (uint32_t)state->lost_count, state->lost};
    bool *gone = xcalloc(n, sizeof *gone);
    schedule_gone(a->graph, &schedule, gone);
    state->lost = xrealloc(state->lost, n * sizeof *state->lost);
    state->lost_count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (gone[i])
            state->lost[state->lost_count++] = base + i;
    free(gone);
    return true;
}

static uint64_t issued(const struct report_state *state)
{
    return state->last == NO_OP ? 0 : (uint64_t)state->last + 1;
}

/* --- Cells --------------------------------------------------------------------------------- */

static void add_verdict(struct cell *c, enum verdict_kind kind)
{
    enum style style = kind == VERDICT_NOT_RUN      ? STYLE_DIM
                       : kind == VERDICT_CONSISTENT ? STYLE_RESULT_GOOD
                                                    : STYLE_RESULT_BAD;
    cell_add(c, style, "%s", verdict_name(kind));
}

/* Positions that never come were kept as the largest number of the file's format. */
static bool at_end(const struct report_state *state)
{
    return state->told_until >= INT64_MAX;
}

static bool add_op(struct cell *c, struct analysis *a, uint32_t op, struct error *e)
{
    cell_add(c, STYLE_NUMBER, "%" PRIu64 " ", a->graph->ops[op].event);
    return op_what(c, a, op, e);
}

static bool add_lost(struct cell *c, struct analysis *a, const struct report_state *state,
                     struct error *e)
{
    for (size_t i = 0; i < state->lost_count && i < LOST_SHOWN; i++) {
        if (i)
            cell_add(c, STYLE_PLAIN, "; ");
        if (!add_op(c, a, state->lost[i], e))
            return false;
    }
    if (state->lost_count > LOST_SHOWN)
        cell_add(c, STYLE_DIM, "; %zu more", state->lost_count - LOST_SHOWN);
    if (!state->lost_count)
        cell_add(c, STYLE_DIM, "nothing");
    return true;
}

static void add_behaviour(struct cell *c, struct analysis *a, uint32_t behaviour)
{
    if (behaviour == NO_BEHAVIOUR)
        return;
    cell_add(c, STYLE_NUMBER, "%" PRIu32 " ", behaviour);
    behaviour_words(c, a, &a->behaviours->at[behaviour]);
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct states_table *t = (struct states_table *)v;
    struct analysis *a = t->analysis;
    struct report_listed listed;

    if (!read_state(t, row, &listed, e))
        return false;
    struct report_state *state = &listed.state;
    cell_add(&out->cells[NUMBER], STYLE_NUMBER, "%" PRIu64, row);
    add_verdict(&out->cells[VERDICT], listed.verdict);
    if (at_end(state))
        cell_add(&out->cells[CRASH], STYLE_DIM, "end");
    else
        cell_add(&out->cells[CRASH], STYLE_NUMBER, "%" PRIu64,
                 moment_begun(a->session, state->told_until));
    if (t->schedules)
        cell_add(&out->cells[PERSISTED], STYLE_NUMBER, "%" PRIu64 " of %" PRIu64,
                 issued(state) - state->lost_count, issued(state));
    else
        add_behaviour(&out->cells[BEHAVIOUR], a, listed.behaviour);
    if (state->last == NO_OP)
        cell_add(&out->cells[LAST], STYLE_DIM, "nothing");
    bool ok = (state->last == NO_OP || add_op(&out->cells[LAST], a, state->last, e)) &&
              add_lost(&out->cells[LOST], a, state, e);
    report_state_clear(state);
    return ok;
}

static void close_view(struct view *v)
{
    free(v);
}

static struct view *open_view(struct analysis *a, const struct view_ops *ops, bool schedules)
{
    struct states_table *t = xcalloc(1, sizeof *t);

    t->view.ops = ops;
    t->analysis = a;
    t->schedules = schedules;
    return &t->view;
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    (void)v, (void)e;
    *out = (struct subject){.kind = SUBJECT_STATE, .number = row};
    return true;
}

static uint64_t find(struct view *v, const struct subject *s)
{
    return s->kind == SUBJECT_STATE && s->number <= count(v) ? s->number : 0;
}

struct view *states_view(struct analysis *a)
{
    static const struct view_ops ops = {
        .name = "states",
        .columns = state_columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = find,
        .close = close_view,
    };
    return open_view(a, &ops, false);
}

struct view *schedules_view(struct analysis *a)
{
    static const struct view_ops ops = {
        .name = "schedules",
        .columns = schedule_columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = find,
        .close = close_view,
    };
    return open_view(a, &ops, true);
}

/* --- JSON ---------------------------------------------------------------------------------- */

static json_t *number_or_null(uint32_t n)
{
    return n == NO_OP ? json_null() : json_integer(n);
}

json_t *states_view_json(struct view *v, uint64_t row, struct error *e)
{
    struct states_table *t = (struct states_table *)v;
    struct analysis *a = t->analysis;
    struct report_listed listed;

    if (!read_state(t, row, &listed, e))
        return NULL;
    struct report_state *state = &listed.state;
    json_t *out = json_object(), *lost = json_array();
    uint32_t b = listed.behaviour;
    json_object_set_new(out, "state", json_integer((json_int_t)row));
    json_object_set_new(out, "verdict", json_string(verdict_name(listed.verdict)));
    json_object_set_new(out, "crash_event",
                        json_integer((json_int_t)moment_begun(a->session, state->told_until)));
    json_object_set_new(out, "at_end", json_boolean(at_end(state)));
    json_object_set_new(out, "behaviour", number_or_null(b));
    if (b == NO_BEHAVIOUR)
        json_object_set_new(out, "function", json_string(""));
    else
        behaviour_set_work(out, a, &a->behaviours->at[b]);
    json_object_set_new(out, "group", number_or_null(listed.group));
    json_object_set_new(out, "last", number_or_null(state->last));
    if (t->schedules)
        json_object_set_new(out, "persisted",
                            json_integer((json_int_t)(issued(state) - state->lost_count)));
    for (size_t i = 0; i < state->lost_count; i++)
        json_array_append_new(lost, report_op(a, state->lost[i], false));
    json_object_set_new(out, "lost", lost);
    report_state_clear(state);
    return out;
}
