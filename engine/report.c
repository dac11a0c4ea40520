/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/report.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "engine/calls.h"
#include "engine/escape.h"
#include "engine/graph_session.h"
#include "engine/group.h"

enum { REPORT_VERSION = 1 };

json_t *report_string(const char *bytes)
{
    json_t *valid = json_string(bytes);
    if (valid)
        return valid;
    struct buf safe = {0};
    escape_add(&safe, bytes, strlen(bytes), ESCAPE_UTF8 | ESCAPE_KEEP_NEWLINES);
    valid = json_string(buf_string(&safe));
    buf_free(&safe);
    return valid ? valid : json_string("");
}

/* ---- ops ---- */

const char *report_op_kind(const struct op *op)
{
    static const char *const names[] = {"", "name", "size", "alloc", "data", "zero", "range"};
    return op->kind < sizeof names / sizeof *names ? names[op->kind] : "";
}

static json_t *stack_json(struct analysis *a, uint32_t stack)
{
    json_t *list = json_array();
    const struct frame *frames;
    size_t n = session_stack(a->session, stack, &frames);
    for (size_t i = 0; i < n; i++) {
        const struct location *at;
        size_t count = symbols_frame(a->symbols, &frames[i], &at);
        for (size_t k = 0; k < count; k++) {
            json_t *frame = json_object();
            json_object_set_new(frame, "function", report_string(at[k].function));
            json_object_set_new(frame, "file", report_string(at[k].file));
            json_object_set_new(frame, "line", json_integer(at[k].line));
            json_array_append_new(list, frame);
        }
    }
    return list;
}

static json_t *event_json(struct analysis *a, const struct event *event, uint64_t number,
                          bool stack)
{
    json_t *out = json_object();
    const struct location *where = symbols_stack(a->symbols, event->stack);
    json_object_set_new(out, "event", json_integer((json_int_t)number));
    json_object_set_new(out, "call", report_string(call_name(event->call)));
    json_object_set_new(out, "path", report_string(session_string(a->session, event->path)));
    if (event->other_path)
        json_object_set_new(out, "other_path",
                            report_string(session_string(a->session, event->other_path)));
    json_object_set_new(out, "offset", json_integer((json_int_t)event->offset));
    json_object_set_new(out, "size", json_integer((json_int_t)event->size));
    json_object_set_new(out, "function", report_string(where ? where->function : ""));
    json_object_set_new(out, "file", report_string(where ? where->file : ""));
    json_object_set_new(out, "line", json_integer(where ? where->line : 0));
    if (stack)
        json_object_set_new(out, "stack", stack_json(a, event->stack));
    return out;
}

json_t *report_op(struct analysis *a, uint32_t number, bool stack)
{
    const struct op *op = &a->graph->ops[number];
    struct event event = {0};
    session_event(a->session, op->event, &event, NULL);
    json_t *out = event_json(a, &event, op->event, stack);
    json_object_set_new(out, "op", json_integer(number));
    json_object_set_new(out, "kind", report_string(report_op_kind(op)));
    if (op->kind == OP_DATA || op->kind == OP_ALLOC || op->kind == OP_ZERO) {
        json_object_set_new(out, "offset", json_integer((json_int_t)op->offset));
        json_object_set_new(out, "size", json_integer((json_int_t)op->length));
    } else if (op->kind == OP_SIZE)
        json_object_set_new(out, "size", json_integer((json_int_t)op->size));
    return out;
}

json_t *report_event(struct analysis *a, uint64_t number, bool stack)
{
    struct event event = {0};
    session_event(a->session, number, &event, NULL);
    return event_json(a, &event, number, stack);
}

static json_t *print_json(struct analysis *a, uint64_t number)
{
    enum { MOST_SHOWN = 4096 };
    struct event event = {0};
    session_event(a->session, number, &event, NULL);
    json_t *out = event_json(a, &event, number, true);
    size_t size = event.size < MOST_SHOWN ? event.size : MOST_SHOWN;
    char *bytes = xcalloc(size + 1, 1);
    if (session_payload(a->session, event.payload, 0, bytes, size, NULL))
        json_object_set_new(out, "text", report_string(bytes));
    free(bytes);
    return out;
}

/* ---- bugs ---- */

static json_t *checker_json(const struct verdict *v)
{
    json_t *out = json_object();
    bool exited = !v->signal && v->kind != VERDICT_HUNG;
    json_object_set_new(out, "exit", exited ? json_integer(v->exit) : json_null());
    json_object_set_new(out, "signal", v->signal ? json_integer(v->signal) : json_null());
    json_object_set_new(out, "timed_out", json_boolean(v->kind == VERDICT_HUNG));
    json_object_set_new(out, "output", report_string(v->output ? v->output : ""));
    return out;
}

static json_t *behaviour_json(struct analysis *a, const struct bug *b)
{
    if (b->behaviour == NO_BEHAVIOUR)
        return json_null();
    json_t *out = json_object();
    json_object_set_new(out, "id", json_integer(b->behaviour));
    json_object_set_new(out, "name",
                        report_string(analysis_function(a, &a->behaviours->at[b->behaviour])));
    json_object_set_new(out, "group", b->group == NO_OP ? json_null() : json_integer(b->group));
    return out;
}

static json_t *bug_json(struct analysis *a, struct exploration *x, const struct bug *b)
{
    json_t *out = json_object(), *lost = json_array(), *survived = json_array();
    json_object_set_new(out, "id", json_integer(b->id));
    json_object_set_new(out, "kind", report_string(bug_kind_name(b->kind)));
    json_object_set_new(out, "summary", report_string(b->summary));
    for (size_t i = 0; i < b->lost_count; i++)
        json_array_append_new(lost, report_op(a, b->lost[i], true));
    if (b->survived != NO_OP)
        json_array_append_new(survived, report_op(a, b->survived, true));
    else if (b->told)
        json_array_append_new(survived, print_json(a, b->told));
    json_object_set_new(out, "lost", lost);
    json_object_set_new(out, "survived", survived);
    json_object_set_new(out, "rule", report_string(b->rule));
    json_object_set_new(out, "fix", report_string(b->fix));
    json_object_set_new(out, "behaviour", behaviour_json(a, b));
    json_object_set_new(out, "states", json_integer((json_int_t)b->states));
    json_object_set_new(out, "status", report_string("new"));
    json_object_set_new(out, "checker", checker_json(&b->verdict));
    struct told_until told = told_before(exploration_told(x), b->told_until);
    char *printed = xstrndup(told.printed, told.printed_size);
    json_object_set_new(out, "told", report_string(printed));
    free(printed);
    return out;
}

/* ---- the whole ---- */

static json_t *states_json(const struct explore_counts *c)
{
    json_t *out = json_object();
    json_object_set_new(out, "enumerated", json_integer((json_int_t)c->enumerated));
    json_object_set_new(out, "distinct", json_integer((json_int_t)c->distinct));
    json_object_set_new(out, "tested", json_integer((json_int_t)(c->tested + c->reused)));
    json_object_set_new(out, "inconsistent", json_integer((json_int_t)c->inconsistent));
    json_object_set_new(out, "complete", json_boolean(c->complete));
    return out;
}

static json_t *seconds_json(struct analysis *a, const struct explore_counts *c,
                            const struct report_times *times)
{
    json_t *out = json_object();
    const char *recorded = session_meta(a->session, "seconds");
    json_object_set_new(out, "record", json_real(recorded ? strtod(recorded, NULL) : 0));
    json_object_set_new(out, "analyse", json_real(times->analyse));
    json_object_set_new(out, "check", json_real(times->check));
    json_object_set_new(out, "checker", json_real(c->checker_seconds));
    return out;
}

static void set_meta(json_t *out, struct analysis *a, const char *key)
{
    const char *value = session_meta(a->session, key);
    json_object_set_new(out, key, report_string(value ? value : ""));
}

json_t *report_build(struct analysis *a, struct exploration *x, const struct bugs *bugs,
                     const struct explore_options *options, const struct report_times *times)
{
    const struct explore_counts *c = exploration_counts(x);
    const struct groups *groups = exploration_groups(x);
    json_t *out = json_object(), *list = json_array();
    json_object_set_new(out, "version", json_integer(REPORT_VERSION));
    json_object_set_new(out, "session", report_string(session_path(a->session)));
    set_meta(out, a, "program");
    set_meta(out, a, "directory");
    json_object_set_new(out, "checker", report_string(options->checker));
    json_object_set_new(out, "model", report_string(a->graph->model.name));
    json_object_set_new(out, "stores", json_null());
    json_object_set_new(out, "strategy", report_string(strategy_name(options->strategy)));
    json_object_set_new(out, "events", json_integer((json_int_t)session_event_count(a->session)));
    json_object_set_new(out, "ops", json_integer((json_int_t)a->graph->n));
    json_object_set_new(out, "behaviours", json_integer((json_int_t)a->behaviours->n));
    json_object_set_new(out, "groups", json_integer(groups ? (json_int_t)groups->n : 0));
    json_object_set_new(out, "states", states_json(c));
    json_object_set_new(out, "possible",
                        !c->possible              ? json_null()
                        : c->possible > INT64_MAX ? json_real((double)c->possible)
                                                  : json_integer((json_int_t)c->possible));
    json_object_set_new(out, "possible_exact", json_boolean(c->possible_exact));
    json_object_set_new(out, "shrinking", json_integer((json_int_t)c->shrinking));
    json_object_set_new(out, "seconds", seconds_json(a, c, times));
    if (!c->complete)
        json_object_set_new(out, "cut", report_string(c->cut));
    for (size_t i = 0; i < bugs->n; i++)
        json_array_append_new(list, bug_json(a, x, &bugs->at[i]));
    json_object_set_new(out, "bugs", list);
    return out;
}

/* ---- in the session ---- */

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS report ( -- what the last check found\n"
    "  id INTEGER PRIMARY KEY, -- always 1\n"
    "  json TEXT NOT NULL\n"
    ");"
    "CREATE TABLE IF NOT EXISTS bugs ( -- of the last check: how to make each one's state again\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  last INTEGER NOT NULL, -- op numbers from 0; -1: none\n"
    "  lost BLOB NOT NULL, -- 32-bit op numbers\n"
    "  told_until INTEGER NOT NULL,\n"
    "  model TEXT NOT NULL, -- whose op numbers they are\n"
    "  status TEXT NOT NULL, -- new, confirmed, duplicate, ignored\n"
    "  note TEXT NOT NULL\n"
    ");"
    "CREATE TABLE IF NOT EXISTS states ( -- distinct states of the last check, as they were met\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  last INTEGER NOT NULL, -- the last op that survived; -1: none\n"
    "  lost BLOB NOT NULL, -- 32-bit op numbers: those that take all other lost ones along\n"
    "  crash INTEGER NOT NULL, -- the position just before which the crash came\n"
    "  behaviour INTEGER NOT NULL, -- -1: none\n"
    "  grouped INTEGER NOT NULL, -- the group that it was met for; -1: none\n"
    "  verdict INTEGER NOT NULL, -- as in verdicts\n"
    "  model TEXT NOT NULL\n"
    ");";

/* Numbers that mean none are −1 in the tables. */
static sqlite3_int64 number_or_none(uint32_t n)
{
    return n == NO_OP ? -1 : (sqlite3_int64)n;
}

static bool store_bug(sqlite3_stmt *insert, const struct bug *b, const char *model)
{
    sqlite3_reset(insert);
    sqlite3_bind_int64(insert, 1, b->id);
    sqlite3_bind_int64(insert, 2, number_or_none(b->last));
    sqlite3_bind_blob(insert, 3, b->all_lost, (int)(b->all_lost_count * sizeof *b->all_lost),
                      SQLITE_STATIC);
    sqlite3_bind_int64(insert, 4, (sqlite3_int64)b->told_until);
    sqlite3_bind_text(insert, 5, model, -1, SQLITE_STATIC);
    return sqlite3_step(insert) == SQLITE_DONE;
}

static bool store_states(sqlite3 *db, const struct exploration *x, const char *model)
{
    sqlite3_stmt *insert = NULL;
    const struct explored *states;
    size_t n = exploration_states(x, &states);
    bool done = sqlite3_prepare_v2(db, "INSERT INTO states VALUES (?,?,?,?,?,?,?,?)", -1, &insert,
                                   NULL) == SQLITE_OK;
    for (size_t i = 0; done && i < n; i++) {
        const struct schedule *schedule = &states[i].schedule;
        uint64_t crash = states[i].crash > INT64_MAX ? INT64_MAX : states[i].crash;
        sqlite3_reset(insert);
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)i + 1);
        sqlite3_bind_int64(insert, 2, number_or_none(schedule->last));
        sqlite3_bind_blob(insert, 3, schedule->lost,
                          (int)(schedule->lost_count * sizeof *schedule->lost), SQLITE_STATIC);
        sqlite3_bind_int64(insert, 4, (sqlite3_int64)crash);
        sqlite3_bind_int64(insert, 5, number_or_none(states[i].behaviour));
        sqlite3_bind_int64(insert, 6, number_or_none(states[i].group));
        sqlite3_bind_int(insert, 7, states[i].verdict);
        sqlite3_bind_text(insert, 8, model, -1, SQLITE_STATIC);
        done = sqlite3_step(insert) == SQLITE_DONE;
    }
    sqlite3_finalize(insert);
    return done;
}

bool report_store(struct session *s, json_t *report, const struct bugs *bugs,
                  const struct exploration *x, struct error *e)
{
    sqlite3 *db = session_db(s);
    sqlite3_stmt *document = NULL, *insert = NULL;
    char *json = json_dumps(report, JSON_COMPACT);
    const char *model = json_string_value(json_object_get(report, "model"));
    bool done = sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_exec(db, "BEGIN IMMEDIATE; DELETE FROM bugs; DELETE FROM states", NULL,
                             NULL, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(db, "REPLACE INTO report VALUES (1, ?)", -1, &document, NULL) ==
                    SQLITE_OK &&
                sqlite3_prepare_v2(db, "INSERT INTO bugs VALUES (?,?,?,?,?,'new','')", -1, &insert,
                                   NULL) == SQLITE_OK;
    if (done) {
        sqlite3_bind_text(document, 1, json, -1, SQLITE_STATIC);
        done = sqlite3_step(document) == SQLITE_DONE;
    }
    for (size_t i = 0; done && i < bugs->n; i++)
        done = store_bug(insert, &bugs->at[i], model);
    done = done && store_states(db, x, model);
    sqlite3_finalize(document);
    sqlite3_finalize(insert);
    done = done && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    if (!done) {
        error_set(e, "%s: the report cannot be kept: %s", session_path(s), sqlite3_errmsg(db));
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
    free(json);
    return done;
}

json_t *report_load(struct session *s, struct error *e)
{
    sqlite3_stmt *select = NULL;
    json_t *report = NULL;
    bool there = sqlite3_prepare_v2(session_db(s), "SELECT json FROM report WHERE id = 1", -1,
                                    &select, NULL) == SQLITE_OK &&
                 sqlite3_step(select) == SQLITE_ROW;
    if (there) {
        json_error_t why;
        report = json_loadb((const char *)sqlite3_column_text(select, 0),
                            (size_t)sqlite3_column_bytes(select, 0), 0, &why);
        if (!json_is_object(report) || !json_is_array(json_object_get(report, "bugs"))) {
            error_set(e, "%s: its report is damaged; run flotsam check again", session_path(s));
            json_decref(report);
            report = NULL;
        } else /* the session may have been moved since */
            json_object_set_new(report, "session", report_string(session_path(s)));
    } else
        error_set(e, "%s has not been checked yet: run flotsam check %s", session_path(s),
                  session_path(s));
    sqlite3_finalize(select);
    return report;
}

/* Columns: last, lost, a position, the model. */
static bool read_state(sqlite3_stmt *row, struct report_state *out)
{
    sqlite3_int64 last = sqlite3_column_int64(row, 0);
    const char *model = (const char *)sqlite3_column_text(row, 3);
    size_t size = (size_t)sqlite3_column_bytes(row, 1);
    if (!model)
        return false;
    *out = (struct report_state){.last = last < 0 ? NO_OP : (uint32_t)last,
                                 .lost = xcalloc(size / sizeof(uint32_t) + 1, sizeof(uint32_t)),
                                 .lost_count = size / sizeof(uint32_t),
                                 .told_until = (uint64_t)sqlite3_column_int64(row, 2),
                                 .model = xstrdup(model)};
    if (out->lost_count)
        memcpy(out->lost, sqlite3_column_blob(row, 1), out->lost_count * sizeof(uint32_t));
    return true;
}

static sqlite3_stmt *select_row(struct session *s, const char *sql, uint64_t id)
{
    sqlite3_stmt *select = NULL;
    if (sqlite3_prepare_v2(session_db(s), sql, -1, &select, NULL) == SQLITE_OK &&
        sqlite3_bind_int64(select, 1, (sqlite3_int64)id) == SQLITE_OK &&
        sqlite3_step(select) == SQLITE_ROW)
        return select;
    sqlite3_finalize(select);
    return NULL;
}

bool report_bug_state(struct session *s, uint32_t bug, struct report_state *out, struct error *e)
{
    sqlite3_stmt *row =
        select_row(s, "SELECT last, lost, told_until, model FROM bugs WHERE id = ?", bug);
    bool there = row && read_state(row, out);
    sqlite3_finalize(row);
    return there || error_set(e, "%s has no bug %u; flotsam bugs lists them", session_path(s), bug);
}

uint64_t report_state_count(struct session *s)
{
    sqlite3_stmt *row = select_row(s, "SELECT max(id) FROM states WHERE id > ?", 0);
    uint64_t n = row ? (uint64_t)sqlite3_column_int64(row, 0) : 0;
    sqlite3_finalize(row);
    return n;
}

bool report_listed_state(struct session *s, uint64_t number, struct report_listed *out,
                         struct error *e)
{
    sqlite3_stmt *row = select_row(s,
                                   "SELECT last, lost, crash, model, behaviour, grouped, verdict "
                                   "FROM states WHERE id = ?",
                                   number);
    bool there = row && read_state(row, &out->state);
    if (there) {
        sqlite3_int64 behaviour = sqlite3_column_int64(row, 4),
                      group = sqlite3_column_int64(row, 5);
        int verdict = sqlite3_column_int(row, 6);
        out->behaviour = behaviour < 0 ? NO_BEHAVIOUR : (uint32_t)behaviour;
        out->group = group < 0 ? NO_OP : (uint32_t)group;
        out->verdict = verdict < VERDICT_NOT_RUN || verdict > VERDICT_HUNG
                           ? VERDICT_NOT_RUN
                           : (enum verdict_kind)verdict;
    }
    sqlite3_finalize(row);
    return there || error_set(e, "%s has no state %llu; flotsam states lists them", session_path(s),
                              (unsigned long long)number);
}

void report_state_clear(struct report_state *state)
{
    free(state->lost);
    free(state->model);
    *state = (struct report_state){0};
}

bool report_state_fits(const struct report_state *state, const struct graph *g)
{
    if (state->last == NO_OP)
        return state->lost_count == 0;
    for (size_t i = 0; i < state->lost_count; i++)
        if (state->lost[i] > state->last || (i && state->lost[i] <= state->lost[i - 1]))
            return false;
    return state->last < g->n;
}

bool report_lay_out(struct session *s, const struct report_state *state, const char *dir,
                    struct layout_counts *counts, struct error *e)
{
    struct model model;
    struct graph_session *source = NULL;
    struct graph *g = NULL;
    struct stepper *stepper = NULL;
    struct state_source states = state_session_source(s);
    struct schedule schedule = {state->last, (uint32_t)state->lost_count, state->lost};
    bool done = model_find(state->model, &model, e) && graph_session_open(&source, s, e) &&
                graph_build(&g, &model, graph_session_source(source), e) &&
                stepper_new(&stepper, g, &states, e);
    if (done && !report_state_fits(state, g))
        done = error_set(e, "%s: its table of states is damaged; run flotsam check again",
                         session_path(s));
    done = done && stepper_go(stepper, &schedule, e) &&
           state_lay_out(stepper_state(stepper), dir, counts, e);
    stepper_free(stepper);
    graph_free(g);
    graph_session_close(source);
    return done;
}
