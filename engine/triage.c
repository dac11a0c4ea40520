/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/triage.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/report.h"
#include "engine/session_keep.h"
#include "engine/vec.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS triage ( -- what people say of bugs\n"
    "  cause TEXT PRIMARY KEY, -- as the report's bugs have it\n"
    "  status TEXT NOT NULL, -- new, confirmed, duplicate, ignored\n"
    "  duplicate_of TEXT NOT NULL, -- the other one's cause, '' when it is none\n"
    "  note TEXT NOT NULL\n"
    ") WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS bookmarks ( -- marked places of the trace\n"
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "  event INTEGER NOT NULL,\n"
    "  place INTEGER NOT NULL, -- which of its ops, from 0; -1: the event itself\n"
    "  text TEXT NOT NULL\n"
    ");";

static const char *const names[] = {[TRIAGE_NEW] = "new",
                                    [TRIAGE_CONFIRMED] = "confirmed",
                                    [TRIAGE_DUPLICATE] = "duplicate",
                                    [TRIAGE_IGNORED] = "ignored"};

enum { STATUSES = sizeof names / sizeof *names };

const char *triage_status_name(enum triage_status status)
{
    return names[status];
}

bool triage_status_find(const char *name, enum triage_status *out, struct error *e)
{
    for (size_t i = 0; i < STATUSES; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (enum triage_status)i;
            return true;
        }
    return error_set(e, "a bug is new, confirmed, duplicate or ignored, not %s", name);
}

/* A statement of a session that may lack the tables: NULL then. */
static sqlite3_stmt *prepare(struct session *s, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(session_db(s), sql, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    return statement;
}

static const char *column_text(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text ? text : "";
}

/* ---- bugs ---- */

static const char *cause_of(const json_t *bug)
{
    const char *cause = json_string_value(json_object_get(bug, "cause"));
    return cause ? cause : "";
}

static const json_t *find_bug(const json_t *report, uint32_t id)
{
    size_t i;
    const json_t *bug;
    json_array_foreach(json_object_get(report, "bugs"), i, bug)
    {
        if (json_integer_value(json_object_get(bug, "id")) == (json_int_t)id)
            return bug;
    }
    return NULL;
}

static bool need_bug(struct session *s, const json_t *report, uint32_t id, const json_t **out,
                     struct error *e)
{
    *out = find_bug(report, id);
    return *out ||
           error_set(e, "%s has no bug %u; flotsam bugs lists them", session_path(s), (unsigned)id);
}

/* Whether following the duplicates from one bug on leads to another. */
static bool leads_to(const json_t *report, const json_t *from, uint32_t to)
{
    size_t steps = json_array_size(json_object_get(report, "bugs"));
    for (; from && steps; steps--) {
        json_int_t id = json_integer_value(json_object_get(from, "id"));
        if (id == (json_int_t)to)
            return true;
        from =
            find_bug(report, (uint32_t)json_integer_value(json_object_get(from, "duplicate_of")));
    }
    return false;
}

/* Both statements set what they name and leave the rest of a bug's row as it is. */
static bool write_row(struct session *s, const char *sql, const char *cause, const char *first,
                      const char *second, struct error *e)
{
    sqlite3_stmt *statement = NULL;
    bool done =
        sqlite3_exec(session_db(s), schema, NULL, NULL, NULL) == SQLITE_OK &&
        (statement = prepare(s, sql)) &&
        sqlite3_bind_text(statement, 1, cause, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_text(statement, 2, first, -1, SQLITE_STATIC) == SQLITE_OK &&
        (!second || sqlite3_bind_text(statement, 3, second, -1, SQLITE_STATIC) == SQLITE_OK) &&
        sqlite3_step(statement) == SQLITE_DONE;
    if (!done)
        session_not_kept(s, e);
    sqlite3_finalize(statement);
    return done;
}

bool triage_set(struct session *s, const json_t *report, uint32_t bug, enum triage_status status,
                uint32_t duplicate_of, struct error *e)
{
    const json_t *subject, *original = NULL;
    if (!need_bug(s, report, bug, &subject, e))
        return false;
    if (status == TRIAGE_DUPLICATE) {
        if (!need_bug(s, report, duplicate_of, &original, e))
            return false;
        if (leads_to(report, original, bug))
            return error_set(e, "bug %u cannot be a duplicate of itself, nor of its own duplicate",
                             (unsigned)bug);
    }
    return write_row(s,
                     "INSERT INTO triage VALUES (?1, ?2, ?3, '') ON CONFLICT (cause) "
                     "DO UPDATE SET status = ?2, duplicate_of = ?3",
                     cause_of(subject), names[status], original ? cause_of(original) : "", e);
}

bool triage_note(struct session *s, const json_t *bug, const char *note, struct error *e)
{
    return write_row(s,
                     "INSERT INTO triage VALUES (?1, 'new', '', ?2) ON CONFLICT (cause) "
                     "DO UPDATE SET note = ?2",
                     cause_of(bug), note, NULL, e);
}

/* The number of the bug that has a cause; 0: none has. */
static json_int_t find_cause(const json_t *bugs, const char *cause)
{
    size_t i;
    const json_t *bug;
    json_array_foreach(bugs, i, bug)
    {
        if (strcmp(cause_of(bug), cause) == 0)
            return json_integer_value(json_object_get(bug, "id"));
    }
    return 0;
}

static void merge_bug(json_t *bug, const json_t *bugs, sqlite3_stmt *select)
{
    enum triage_status status = TRIAGE_NEW;
    sqlite3_reset(select);
    sqlite3_bind_text(select, 1, cause_of(bug), -1, SQLITE_STATIC);
    if (sqlite3_step(select) != SQLITE_ROW ||
        !triage_status_find(column_text(select, 0), &status, NULL))
        return;
    json_int_t original = find_cause(bugs, column_text(select, 1));
    json_object_set_new(bug, "status", json_string(names[status]));
    if (status == TRIAGE_DUPLICATE && original)
        json_object_set_new(bug, "duplicate_of", json_integer(original));
    if (*column_text(select, 2))
        json_object_set_new(bug, "note", report_string(column_text(select, 2)));
}

void triage_merge(struct session *s, json_t *report)
{
    size_t i;
    json_t *bug, *bugs = json_object_get(report, "bugs");
    sqlite3_stmt *select =
        prepare(s, "SELECT status, duplicate_of, note FROM triage WHERE cause = ?");
    if (!select)
        return; /* nobody has said anything yet */
    json_array_foreach(bugs, i, bug) merge_bug(bug, bugs, select);
    sqlite3_finalize(select);
}

/* ---- bookmarks ---- */

bool bookmarks_load(struct bookmarks *out, struct session *s, struct error *e)
{
    vec_of(struct bookmark) list = {0};
    sqlite3_stmt *select =
        prepare(s, "SELECT id, event, place, text FROM bookmarks ORDER BY event, place, id");
    int code = SQLITE_DONE;
    while (select && (code = sqlite3_step(select)) == SQLITE_ROW) {
        sqlite3_int64 place = sqlite3_column_int64(select, 2);
        uint64_t event = (uint64_t)sqlite3_column_int64(select, 1);
        if (event < 1 || event > session_event_count(s)) /* somebody else's idea of the trace */
            continue;
        vec_push(&list,
                 (struct bookmark){.id = (uint32_t)sqlite3_column_int64(select, 0),
                                   .event = event,
                                   .place = place < 0 || place >= BOOKMARK_EVENT ? BOOKMARK_EVENT
                                                                                 : (uint32_t)place,
                                   .text = xstrdup(column_text(select, 3))});
    }
    sqlite3_finalize(select);
    *out = (struct bookmarks){list.at, list.n};
    if (code == SQLITE_DONE)
        return true;
    bookmarks_free(out);
    return error_set(e, "%s: bookmarks cannot be read: %s", session_path(s),
                     sqlite3_errmsg(session_db(s)));
}

void bookmarks_free(struct bookmarks *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->at[i].text);
    free(list->at);
    *list = (struct bookmarks){0};
}

bool bookmark_add(struct session *s, uint64_t event, uint32_t place, const char *text, uint32_t *id,
                  struct error *e)
{
    struct event there;
    sqlite3_stmt *insert = NULL;
    if (!session_event(s, event, &there, e))
        return false;
    bool done =
        sqlite3_exec(session_db(s), schema, NULL, NULL, NULL) == SQLITE_OK &&
        (insert = prepare(s, "INSERT INTO bookmarks (event, place, text) VALUES (?,?,?)")) &&
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)event) == SQLITE_OK &&
        sqlite3_bind_int64(insert, 2, place == BOOKMARK_EVENT ? -1 : (sqlite3_int64)place) ==
            SQLITE_OK &&
        sqlite3_bind_text(insert, 3, text ? text : "", -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(insert) == SQLITE_DONE;
    if (done)
        *id = (uint32_t)sqlite3_last_insert_rowid(session_db(s));
    else
        session_not_kept(s, e);
    sqlite3_finalize(insert);
    return done;
}

bool bookmark_remove(struct session *s, uint32_t id, struct error *e)
{
    sqlite3_stmt *remove = prepare(s, "DELETE FROM bookmarks WHERE id = ?");
    if (!remove)
        return error_set(e, "%s has no bookmarks", session_path(s));
    bool done =
        (sqlite3_bind_int64(remove, 1, id) == SQLITE_OK && sqlite3_step(remove) == SQLITE_DONE) ||
        session_not_kept(s, e);
    if (done && !sqlite3_changes(session_db(s)))
        done = error_set(e, "there is no bookmark %u", (unsigned)id);
    sqlite3_finalize(remove);
    return done;
}

void bookmark_of_op(const struct graph *g, uint32_t op, uint64_t *event, uint32_t *place)
{
    uint64_t low = 1, high = g->events;
    while (low < high) { /* the last event whose first op is not behind this one */
        uint64_t middle = low + (high - low + 1) / 2;
        if (g->event_first[middle] <= op)
            low = middle;
        else
            high = middle - 1;
    }
    *event = low;
    *place = op - g->event_first[low];
}

uint32_t bookmark_op(const struct graph *g, const struct bookmark *b)
{
    size_t n;
    uint32_t first = graph_event_ops(g, b->event, &n);
    return b->place < n ? first + b->place : NO_OP;
}

/* ---- into the session of a new recording ---- */

/* Nobody says something of more bugs; a hostile session may have rows without end. */
enum { CARRIED_MAX = 10000 };

static bool carry_row(sqlite3_stmt *row, sqlite3_stmt *insert)
{
    sqlite3_reset(insert);
    for (int i = 0; i < sqlite3_column_count(row); i++)
        sqlite3_bind_text(insert, i + 1, column_text(row, i), -1, SQLITE_TRANSIENT);
    return sqlite3_step(insert) == SQLITE_DONE;
}

static bool carry_rows(sqlite3_stmt *rows, sqlite3_stmt *insert, size_t *bugs)
{
    enum triage_status status;
    while (*bugs < CARRIED_MAX && sqlite3_step(rows) == SQLITE_ROW) {
        if (!triage_status_find(column_text(rows, 1), &status, NULL))
            continue;
        if (!carry_row(rows, insert))
            return false;
        ++*bugs;
    }
    return true;
}

bool triage_carry(struct session *from, struct sqlite3 *to, size_t *bugs)
{
    sqlite3_stmt *insert = NULL;
    sqlite3_stmt *rows = prepare(from, "SELECT cause, status, duplicate_of, note FROM triage "
                                       "WHERE status <> 'new' OR note <> ''");
    *bugs = 0;
    if (!rows)
        return true; /* nobody has said anything yet */
    bool done = sqlite3_exec(to, schema, NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(to, "REPLACE INTO triage VALUES (?,?,?,?)", -1, &insert, NULL) ==
                    SQLITE_OK &&
                carry_rows(rows, insert, bugs);
    sqlite3_finalize(insert);
    sqlite3_finalize(rows);
    return done;
}
