/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The part of engine/report.h that keeps reports in a session: that of the last check with its bugs
 * and states, and apart from it what was said of the last try of pretended syncs.
 */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "engine/fix.h"
#include "engine/graph_session.h"
#include "engine/report.h"
#include "engine/session_keep.h"
#include "engine/triage.h"
#include "engine/vec.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS report ( -- what the last check found\n"
    "  id INTEGER PRIMARY KEY, -- always 1\n"
    "  json TEXT NOT NULL\n"
    ");"
    "CREATE TABLE IF NOT EXISTS try_report ( -- and the last try since then of syncs\n"
    "  id INTEGER PRIMARY KEY, -- always 1\n"
    "  json TEXT NOT NULL\n"
    ");"
    "CREATE TABLE IF NOT EXISTS bugs ( -- of that check: how to make each one's state again\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  last INTEGER NOT NULL, -- op numbers from 0; -1: none\n"
    "  lost BLOB NOT NULL, -- 32-bit op numbers\n"
    "  told_until INTEGER NOT NULL, -- a position as it was recorded\n"
    "  model TEXT NOT NULL, -- whose op numbers they are\n"
    "  status TEXT NOT NULL, -- not used: the table triage has it\n"
    "  note TEXT NOT NULL -- likewise\n"
    ");"
    "CREATE TABLE IF NOT EXISTS states ( -- its distinct states, as they were met\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  last INTEGER NOT NULL, -- the last op that survived; -1: none\n"
    "  lost BLOB NOT NULL, -- 32-bit op numbers: those that take all other lost ones along\n"
    "  crash INTEGER NOT NULL, -- the position just before which the crash came, as recorded\n"
    "  behaviour INTEGER NOT NULL, -- -1: none\n"
    "  grouped INTEGER NOT NULL, -- the group that it was met for; -1: none\n"
    "  verdict INTEGER NOT NULL, -- as in verdicts\n"
    "  model TEXT NOT NULL\n"
    ");";

static bool execute(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    return sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK ? statement : NULL;
}

/* Numbers that mean none are −1 in the tables. */
static sqlite3_int64 number_or_none(uint32_t n)
{
    return n == NO_OP ? -1 : (sqlite3_int64)n;
}

/* Positions are kept as they were recorded; one that never comes as the largest number there is. */
static sqlite3_int64 kept_position(uint64_t position)
{
    uint64_t recorded = session_position_recorded(position);
    return recorded > INT64_MAX ? INT64_MAX : (sqlite3_int64)recorded;
}

static bool store_bug(sqlite3_stmt *insert, const struct bug *b, const char *model)
{
    sqlite3_reset(insert);
    sqlite3_bind_int64(insert, 1, b->id);
    sqlite3_bind_int64(insert, 2, number_or_none(b->last));
    sqlite3_bind_blob(insert, 3, b->all_lost, (int)(b->all_lost_count * sizeof *b->all_lost),
                      SQLITE_STATIC);
    sqlite3_bind_int64(insert, 4, kept_position(b->told_until));
    sqlite3_bind_text(insert, 5, model, -1, SQLITE_STATIC);
    return sqlite3_step(insert) == SQLITE_DONE;
}

static bool store_states(sqlite3 *db, const struct exploration *x, const char *model)
{
    const struct explored *states;
    size_t n = exploration_states(x, &states);
    sqlite3_stmt *insert = prepare(db, "INSERT INTO states VALUES (?,?,?,?,?,?,?,?)");
    bool done = insert;
    for (size_t i = 0; done && i < n; i++) {
        const struct schedule *schedule = &states[i].schedule;
        sqlite3_reset(insert);
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)i + 1);
        sqlite3_bind_int64(insert, 2, number_or_none(schedule->last));
        sqlite3_bind_blob(insert, 3, schedule->lost,
                          (int)(schedule->lost_count * sizeof *schedule->lost), SQLITE_STATIC);
        sqlite3_bind_int64(insert, 4, kept_position(states[i].crash));
        sqlite3_bind_int64(insert, 5, number_or_none(states[i].behaviour));
        sqlite3_bind_int64(insert, 6, number_or_none(states[i].group));
        sqlite3_bind_int(insert, 7, states[i].verdict);
        sqlite3_bind_text(insert, 8, model, -1, SQLITE_STATIC);
        done = sqlite3_step(insert) == SQLITE_DONE;
    }
    sqlite3_finalize(insert);
    return done;
}

static bool store_bugs(sqlite3 *db, const struct bugs *bugs, const char *model)
{
    sqlite3_stmt *insert = prepare(db, "INSERT INTO bugs VALUES (?,?,?,?,?,'','')");
    bool done = insert;
    for (size_t i = 0; done && i < bugs->n; i++)
        done = store_bug(insert, &bugs->at[i], model);
    sqlite3_finalize(insert);
    return done;
}

static bool store_document(sqlite3 *db, const char *replace_sql, const json_t *report)
{
    char *json = json_dumps(report, JSON_COMPACT);
    sqlite3_stmt *replace = prepare(db, replace_sql);
    bool done = json && replace &&
                sqlite3_bind_text(replace, 1, json, -1, SQLITE_STATIC) == SQLITE_OK &&
                sqlite3_step(replace) == SQLITE_DONE;
    sqlite3_finalize(replace);
    free(json);
    return done;
}

/* Ends a transaction in which all went well, or not. */
static bool finish(struct session *s, bool done, struct error *e)
{
    done = done && execute(session_db(s), "COMMIT");
    if (!done) {
        session_not_kept(s, e);
        execute(session_db(s), "ROLLBACK");
    }
    return done;
}

bool report_store(const json_t *report, const struct bugs *bugs, const struct analysis *a,
                  const struct exploration *x, struct error *e)
{
    sqlite3 *db = session_db(a->session);
    char *model = model_text(&a->graph->model);
    bool done = execute(db, schema) &&
                execute(db, "BEGIN IMMEDIATE; DELETE FROM bugs; DELETE FROM states;"
                            "DELETE FROM try_report") &&
                store_document(db, "REPLACE INTO report VALUES (1, ?)", report) &&
                store_bugs(db, bugs, model) && store_states(db, x, model);
    free(model);
    return finish(a->session, done, e);
}

bool report_store_try(const json_t *report, struct session *s, struct error *e)
{
    sqlite3 *db = session_db(s);
    return finish(s,
                  execute(db, schema) && execute(db, "BEGIN IMMEDIATE") &&
                      store_document(db, "REPLACE INTO try_report VALUES (1, ?)", report),
                  e);
}

/* Reports of older checks have no causes; what a bug is called by then stands for it. */
static void set_causes(json_t *report)
{
    size_t i;
    json_t *bug;
    json_array_foreach(json_object_get(report, "bugs"), i, bug)
    {
        const char *kind = json_string_value(json_object_get(bug, "kind"));
        const char *summary = json_string_value(json_object_get(bug, "summary"));
        if (json_is_string(json_object_get(bug, "cause")) || !kind || !summary)
            continue;
        char *cause = xasprintf("%s: %s", kind, summary);
        json_object_set_new(bug, "cause", json_string(cause));
        free(cause);
    }
}

/* NULL when there is none; one that is damaged is an error besides, which says what to do. */
static json_t *load(struct session *s, const char *sql, bool *damaged)
{
    json_t *report = NULL;
    sqlite3_stmt *select = prepare(session_db(s), sql);
    *damaged = false;
    if (select && sqlite3_step(select) == SQLITE_ROW) {
        json_error_t why;
        report = json_loadb((const char *)sqlite3_column_text(select, 0),
                            (size_t)sqlite3_column_bytes(select, 0), 0, &why);
        if (!json_is_object(report) || !json_is_array(json_object_get(report, "bugs"))) {
            *damaged = true;
            json_decref(report);
            report = NULL;
        } else { /* the session may have been moved since, and people have had their say */
            json_object_set_new(report, "session", report_string(session_path(s)));
            set_causes(report);
            triage_merge(s, report);
        }
    }
    sqlite3_finalize(select);
    return report;
}

json_t *report_load(struct session *s, struct error *e)
{
    bool damaged;
    json_t *report = load(s, "SELECT json FROM report WHERE id = 1", &damaged);
    if (damaged)
        error_set(e, "%s: its report is damaged; run flotsam check again", session_path(s));
    else if (!report)
        error_set(e, "%s has not been checked yet: run flotsam check %s", session_path(s),
                  session_path(s));
    return report;
}

json_t *report_load_try(struct session *s)
{
    bool damaged;
    return load(s, "SELECT json FROM try_report WHERE id = 1", &damaged);
}

/* Columns: last, lost, a position, the model. */
static bool read_state(sqlite3_stmt *row, struct report_state *out)
{
    sqlite3_int64 last = sqlite3_column_int64(row, 0), position = sqlite3_column_int64(row, 2);
    const char *model = (const char *)sqlite3_column_text(row, 3);
    size_t size = (size_t)sqlite3_column_bytes(row, 1);
    if (!model)
        return false;
    *out = (struct report_state){.last = last < 0 ? NO_OP : (uint32_t)last,
                                 .lost = xcalloc(size / sizeof(uint32_t) + 1, sizeof(uint32_t)),
                                 .lost_count = size / sizeof(uint32_t),
                                 .told_until = session_position((uint64_t)position),
                                 .model = xstrdup(model)};
    if (out->lost_count)
        memcpy(out->lost, sqlite3_column_blob(row, 1), out->lost_count * sizeof(uint32_t));
    return true;
}

static sqlite3_stmt *select_row(struct session *s, const char *sql, uint64_t id)
{
    sqlite3_stmt *select = prepare(session_db(s), sql);
    if (select && sqlite3_bind_int64(select, 1, (sqlite3_int64)id) == SQLITE_OK &&
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

uint64_t report_next_bad(struct session *s, uint64_t from, int step)
{
    static const char *const on = "SELECT id FROM states WHERE id > ? AND verdict > 1"
                                  " ORDER BY id LIMIT 1";
    static const char *const back = "SELECT id FROM states WHERE id < ? AND verdict > 1"
                                    " ORDER BY id DESC LIMIT 1";
    _Static_assert(VERDICT_CONSISTENT == 1, "the queries have the number");
    sqlite3_stmt *row = select_row(s, step > 0 ? on : back, from);
    uint64_t number = row ? (uint64_t)sqlite3_column_int64(row, 0) : 0;
    sqlite3_finalize(row);
    return number;
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
    bool done = model_find(state->model, &model, e) && graph_session_open(&source, s, e);
    if (done) {
        done = graph_build(&g, &model, graph_session_source(source), e) &&
               stepper_new(&stepper, g, &states, e);
    }
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
