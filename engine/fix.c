/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/fix.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "engine/calls.h"
#include "engine/report.h"
#include "engine/session_keep.h"
#include "engine/vec.h"

/* Ids only go up, so that "undo the third" means the same before and after another was removed. */
static const char schema[] = "CREATE TABLE IF NOT EXISTS fixes ( -- syncs that are pretended\n"
                             "  id INTEGER PRIMARY KEY AUTOINCREMENT,\n"
                             "  after INTEGER NOT NULL, -- the event that it comes after\n"
                             "  call TEXT NOT NULL, -- fsync, fdatasync, sync, flush\n"
                             "  file INTEGER NOT NULL, -- what is synced; 0 for sync\n"
                             "  store INTEGER NOT NULL DEFAULT 0, -- the event that is flushed\n"
                             "  UNIQUE (after, call, file, store)\n"
                             ");";

static const uint16_t calls[] = {CALL_FSYNC, CALL_FDATASYNC, CALL_SYNC, CALL_FLUSH};

bool fix_call_find(const char *name, uint16_t *call, struct error *e)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(call_name(calls[i]), name) == 0) {
            *call = calls[i];
            return true;
        }
    return error_set(e, "%s cannot be pretended; fsync, fdatasync, sync and flush can", name);
}

static bool is_store(struct session *s, const struct fix *fix, struct error *e)
{
    struct event event;
    return session_event(s, fix->store, &event, e) &&
           ((event.call == CALL_STORE && event.file == fix->file) ||
            error_set(e, "event %llu is no store: it has no cache lines to flush",
                      (unsigned long long)fix->store));
}

bool fix_valid(struct session *s, const struct fix *fix, struct error *e)
{
    struct event event;
    struct file_info file;
    uint16_t call;
    if (!fix_call_find(call_name(fix->call), &call, e) || !session_event(s, fix->after, &event, e))
        return false;
    if (event.exit == UINT64_MAX)
        return error_set(e, "event %llu never returned: nothing can be synced after it",
                         (unsigned long long)fix->after);
    if (fix->call == CALL_SYNC)
        return !fix->file || error_set(e, "sync is of everything, not of one file");
    if (!fix->file || !session_file(s, fix->file, &file))
        return error_set(e, "there is no file %u to sync", (unsigned)fix->file);
    if (fix->call == CALL_FLUSH)
        return is_store(s, fix, e);
    if (file.kind != FILE_REGULAR && file.kind != FILE_DIRECTORY)
        return error_set(e,
                         "file %u is neither a regular file nor a directory: it cannot be synced",
                         (unsigned)fix->file);
    return true;
}

/* ---- the list of a session ---- */

static bool read_rows(struct fix_list *out, struct session *s, sqlite3_stmt *select,
                      struct error *e)
{
    vec_of(struct fix) fixes = {0};
    vec_of(uint32_t) ids = {0};
    bool ok = true;
    int code;
    while (ok && (code = sqlite3_step(select)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(select, 2);
        sqlite3_int64 id = sqlite3_column_int64(select, 0), file = sqlite3_column_int64(select, 3);
        struct fix fix = {.after = (uint64_t)sqlite3_column_int64(select, 1),
                          .store = (uint64_t)sqlite3_column_int64(select, 4)};
        ok = id > 0 && id <= UINT32_MAX && file >= 0 && file <= UINT32_MAX &&
             fix_call_find(name ? name : "", &fix.call, NULL);
        fix.file = ok ? (uint32_t)file : 0;
        if (!ok || !fix_valid(s, &fix, NULL))
            ok = error_set(e, "%s: its list of pretended syncs is damaged", session_path(s));
        vec_push(&fixes, fix);
        vec_push(&ids, (uint32_t)id);
    }
    if (ok && code != SQLITE_DONE)
        ok = error_set(e, "%s: pretended syncs cannot be read: %s", session_path(s),
                       sqlite3_errmsg(session_db(s)));
    *out = (struct fix_list){fixes.at, ids.at, fixes.n};
    return ok;
}

/* Whether the session has ever had one. */
static bool has_table(struct session *s)
{
    sqlite3_stmt *select = NULL;
    bool there =
        sqlite3_prepare_v2(session_db(s), "SELECT 1 FROM sqlite_schema WHERE name = 'fixes'", -1,
                           &select, NULL) == SQLITE_OK &&
        sqlite3_step(select) == SQLITE_ROW;
    sqlite3_finalize(select);
    return there;
}

bool fixes_load(struct fix_list *out, struct session *s, struct error *e)
{
    sqlite3_stmt *select = NULL;
    *out = (struct fix_list){0};
    if (!has_table(s))
        return true;
    /* Sessions of earlier versions have no column for stores. */
    bool ok =
        sqlite3_prepare_v2(session_db(s),
                           "SELECT id, after, call, file, store FROM fixes "
                           "ORDER BY id",
                           -1, &select, NULL) == SQLITE_OK ||
        sqlite3_prepare_v2(session_db(s), "SELECT id, after, call, file, 0 FROM fixes ORDER BY id",
                           -1, &select, NULL) == SQLITE_OK ||
        error_set(e, "%s: pretended syncs cannot be read: %s", session_path(s),
                  sqlite3_errmsg(session_db(s)));
    ok = ok && read_rows(out, s, select, e);
    sqlite3_finalize(select);
    if (!ok)
        fixes_free(out);
    return ok;
}

void fixes_free(struct fix_list *list)
{
    free(list->at);
    free(list->ids);
    *list = (struct fix_list){0};
}

/* NULL when the session cannot be written. */
static sqlite3_stmt *prepare_insert(struct session *s, const char *sql)
{
    sqlite3 *db = session_db(s);
    sqlite3_stmt *insert = NULL;
    if (sqlite3_exec(db, schema, NULL, NULL, NULL) != SQLITE_OK)
        return NULL;
    /* It fails where the column is there. */
    sqlite3_exec(db, "ALTER TABLE fixes ADD COLUMN store INTEGER NOT NULL DEFAULT 0", NULL, NULL,
                 NULL);
    sqlite3_prepare_v2(db, sql, -1, &insert, NULL);
    return insert;
}

static int insert_fix(sqlite3_stmt *insert, const struct fix *fix)
{
    sqlite3_reset(insert);
    if (sqlite3_bind_int64(insert, 1, (sqlite3_int64)fix->after) != SQLITE_OK ||
        sqlite3_bind_text(insert, 2, call_name(fix->call), -1, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_bind_int64(insert, 3, fix->file) != SQLITE_OK ||
        sqlite3_bind_int64(insert, 4, (sqlite3_int64)fix->store) != SQLITE_OK)
        return SQLITE_ERROR;
    return sqlite3_step(insert);
}

bool fix_add(struct session *s, const struct fix *fix, uint32_t *id, struct error *e)
{
    if (!fix_valid(s, fix, e))
        return false;
    sqlite3_stmt *insert =
        prepare_insert(s, "INSERT INTO fixes (after, call, file, store) VALUES (?,?,?,?)");
    int code = insert ? insert_fix(insert, fix) : SQLITE_ERROR;
    if (code == SQLITE_DONE)
        *id = (uint32_t)sqlite3_last_insert_rowid(session_db(s));
    else if (code == SQLITE_CONSTRAINT)
        error_set(e, "that is pretended already");
    else
        session_not_kept(s, e);
    sqlite3_finalize(insert);
    return code == SQLITE_DONE;
}

bool fixes_add(struct session *s, const struct fix *fixes, size_t n, size_t *added, struct error *e)
{
    sqlite3 *db = session_db(s);
    *added = 0;
    for (size_t i = 0; i < n; i++)
        if (!fix_valid(s, &fixes[i], e))
            return false;
    sqlite3_stmt *insert = prepare_insert(
        s, "INSERT OR IGNORE INTO fixes (after, call, file, store) VALUES (?,?,?,?)");
    bool done = insert && sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    for (size_t i = 0; done && i < n; i++) {
        done = insert_fix(insert, &fixes[i]) == SQLITE_DONE;
        *added += done ? (size_t)sqlite3_changes(db) : 0;
    }
    sqlite3_finalize(insert);
    if (done && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
        return true;
    session_not_kept(s, e);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    *added = 0;
    return false;
}

bool fix_remove(struct session *s, uint32_t id, struct error *e)
{
    sqlite3 *db = session_db(s);
    sqlite3_stmt *remove = NULL;
    if (!has_table(s))
        return error_set(e, "nothing is pretended in %s", session_path(s));
    bool done =
        (sqlite3_prepare_v2(db, "DELETE FROM fixes WHERE id = ?", -1, &remove, NULL) == SQLITE_OK &&
         sqlite3_bind_int64(remove, 1, id) == SQLITE_OK && sqlite3_step(remove) == SQLITE_DONE) ||
        session_not_kept(s, e);
    if (done && !sqlite3_changes(db))
        done = error_set(e, "there is no pretended sync %u", (unsigned)id);
    sqlite3_finalize(remove);
    return done;
}

/* ---- words and documents ---- */

static const char *path_of(struct session *s, const struct fix *fix)
{
    struct file_info file;
    return fix->file && session_file(s, fix->file, &file) ? file.path : "";
}

void fix_words(struct buf *out, struct session *s, const struct fix *fix)
{
    buf_printf(out, "pretended %s", call_name(fix->call));
    if (fix->file)
        buf_printf(out, " of %s", path_of(s, fix));
    if (fix->call == CALL_FLUSH && fix->store != fix->after)
        buf_printf(out, " (the lines of event %llu)", (unsigned long long)fix->store);
    buf_printf(out, " after event %llu", (unsigned long long)fix->after);
}

json_t *fix_json(struct session *s, const struct fix *fix)
{
    json_t *out = json_object();
    json_object_set_new(out, "after", json_integer((json_int_t)fix->after));
    json_object_set_new(out, "call", json_string(call_name(fix->call)));
    json_object_set_new(out, "path", report_string(path_of(s, fix)));
    json_object_set_new(out, "file", json_integer(fix->file));
    if (fix->call == CALL_FLUSH)
        json_object_set_new(out, "store", json_integer((json_int_t)fix->store));
    return out;
}

bool fix_from_json(const json_t *json, struct fix *out)
{
    const char *call = json_string_value(json_object_get(json, "call"));
    json_int_t file = json_integer_value(json_object_get(json, "file"));
    *out = (struct fix){.after = (uint64_t)json_integer_value(json_object_get(json, "after")),
                        .file = (uint32_t)file,
                        .store = (uint64_t)json_integer_value(json_object_get(json, "store"))};
    return call && file >= 0 && file <= UINT32_MAX && fix_call_find(call, &out->call, NULL);
}

static bool is_among(const struct fix *fix, const json_t *fixes)
{
    for (size_t i = 0; i < json_array_size(fixes); i++) {
        struct fix at;
        if (fix_from_json(json_array_get(fixes, i), &at) && at.after == fix->after &&
            at.file == fix->file && at.store == fix->store && at.call == fix->call)
            return true;
    }
    return false;
}

bool fixes_are(const struct fix_list *list, const json_t *fixes)
{
    bool same = json_array_size(fixes) == list->n;
    for (size_t i = 0; same && i < list->n; i++)
        same = is_among(&list->at[i], fixes); /* no two of the list are alike */
    return same;
}
