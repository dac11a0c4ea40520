/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * SQLite, by journal mode and synchronous; see ledger.h.
 *
 * WAL goes with the exclusive locking mode, in which SQLite keeps the index of its log in memory of
 * its own instead of in a shared mapping of a -shm file; what it writes to the database and the log
 * is the same.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"

enum {
    PATH_LENGTH = 4096,
    COMMAND_LENGTH = 200,
    CACHE_PAGES = 10, /* few, so that some pages are written before the commit */
    WAL_PAGES = 25,   /* checkpoint after that many: also in short runs */
};

static const char *const settings[] = {
    "DELETE-OFF", "DELETE-NORMAL", "DELETE-FULL",   "DELETE-EXTRA", "WAL-OFF", "WAL-NORMAL",
    "WAL-FULL",   "MEMORY-FULL",   "TRUNCATE-FULL", "PERSIST-FULL", NULL,
};

static bool failed(sqlite3 *db, const char *what)
{
    return ledger_complain("sqlite", what, sqlite3_errmsg(db));
}

static bool run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK || failed(db, sql);
}

/* "MODE-SYNCHRONOUS". */
static bool configure(sqlite3 *db, const char *setting)
{
    char sql[COMMAND_LENGTH];
    const char *dash = strchr(setting, '-');
    snprintf(sql, sizeof sql,
             "PRAGMA locking_mode = %s; PRAGMA journal_mode = %.*s; PRAGMA synchronous = %s;"
             "PRAGMA cache_size = %d; PRAGMA wal_autocheckpoint = %d",
             strncmp(setting, "WAL", 3) == 0 ? "EXCLUSIVE" : "NORMAL", (int)(dash - setting),
             setting, dash + 1, CACHE_PAGES, WAL_PAGES);
    return run(db, sql);
}

static void *open_store(const char *dir, int setting, unsigned transactions)
{
    char path[PATH_LENGTH];
    sqlite3 *db;

    (void)transactions;
    snprintf(path, sizeof path, "%s/data.db", dir);
    if (sqlite3_open(path, &db) == SQLITE_OK && configure(db, settings[setting]) &&
        run(db, "CREATE TABLE IF NOT EXISTS t(k TEXT PRIMARY KEY, v BLOB)"))
        return db;
    failed(db, path);
    sqlite3_close(db);
    return NULL;
}

static bool change(sqlite3 *db, const struct change *c)
{
    sqlite3_stmt *s;
    const char *sql =
        c->size ? "INSERT OR REPLACE INTO t VALUES(?, ?)" : "DELETE FROM t WHERE k = ?";

    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return failed(db, sql);
    sqlite3_bind_text(s, 1, c->name, -1, SQLITE_STATIC);
    if (c->size)
        sqlite3_bind_blob(s, 2, c->value, (int)c->size, SQLITE_STATIC);
    sqlite3_step(s);
    return sqlite3_finalize(s) == SQLITE_OK || failed(db, sql);
}

static bool commit(void *store, const struct transaction *t)
{
    sqlite3 *db = store;

    if (!run(db, "BEGIN"))
        return false;
    for (unsigned i = 0; i < t->count; i++)
        if (!change(db, &t->changes[i]))
            return false;
    return run(db, "COMMIT");
}

static bool passes_own_check(sqlite3 *db)
{
    sqlite3_stmt *s;
    const char *sql = "PRAGMA integrity_check";

    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return failed(db, sql);
    bool row = sqlite3_step(s) == SQLITE_ROW;
    const char *said = row ? (const char *)sqlite3_column_text(s, 0) : sqlite3_errmsg(db);
    bool passed = said && !strcmp(said, "ok");
    if (!passed)
        ledger_complain("sqlite", sql, said);
    sqlite3_finalize(s);
    return passed;
}

static bool read_store(void *store, struct ledger *l)
{
    sqlite3 *db = store;
    sqlite3_stmt *s;

    if (!passes_own_check(db))
        return false;
    if (sqlite3_prepare_v2(db, "SELECT k, v FROM t", -1, &s, NULL) != SQLITE_OK)
        return failed(db, "SELECT");
    while (sqlite3_step(s) == SQLITE_ROW)
        ledger_saw(l, (const char *)sqlite3_column_text(s, 0), (size_t)sqlite3_column_bytes(s, 0),
                   sqlite3_column_blob(s, 1), (size_t)sqlite3_column_bytes(s, 1));
    return sqlite3_finalize(s) == SQLITE_OK || failed(db, "SELECT");
}

static void close_store(void *store)
{
    sqlite3_close(store);
}

int main(int argc, char **argv)
{
    static const struct system sqlite = {
        .name = "sqlite",
        .settings = settings,
        .open = open_store,
        .commit = commit,
        .read = read_store,
        .close = close_store,
    };
    return ledger_main(&sqlite, argc, argv);
}
