/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Some hundred transactions on an SQLite database: inserts, updates, deletes, a rollback, a
 * checkpoint where there is one, a vacuum.
 *
 *     sqlite DIR delete|truncate|persist|wal
 *
 * WAL goes with the exclusive locking mode, in which SQLite keeps its index in memory of its own
 * instead of in a shared mapping of a -shm file.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRANSACTIONS = 300,
    ROWS = 8,   /* inserted a transaction */
    TEXT = 300, /* characters in a row, so that the tree splits pages */
    ROLLBACK_EVERY = 10,
    CHECKPOINT_EVERY = 60,
    COMMAND_MAX = 512,
};

static void run(sqlite3 *db, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "sqlite: %s: %s\n", sql, message ? message : "?");
        exit(1);
    }
}

static void transaction(sqlite3 *db, int i)
{
    char sql[COMMAND_MAX];

    run(db, "BEGIN");
    for (int row = 0; row < ROWS; row++) {
        snprintf(sql, sizeof sql, "INSERT INTO t(k, v) VALUES(%d, printf('%%.*c', %d, '%c'))",
                 i * 7919 % 1000 + row, TEXT + i % 50, 'a' + (i + row) % 26);
        run(db, sql);
    }
    snprintf(sql, sizeof sql, "UPDATE t SET v = v || 'x' WHERE k %% 50 = %d", i % 50);
    run(db, sql);
    snprintf(sql, sizeof sql, "DELETE FROM t WHERE k %% 70 = %d", i % 70);
    run(db, sql);
    run(db, i % ROLLBACK_EVERY == ROLLBACK_EVERY - 1 ? "ROLLBACK" : "COMMIT");
}

int main(int argc, char **argv)
{
    char path[4096], sql[COMMAND_MAX];
    sqlite3 *db;

    if (argc != 3) {
        fprintf(stderr, "usage: sqlite DIR delete|truncate|persist|wal\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/data.db", argv[1]);
    if (sqlite3_open(path, &db) != SQLITE_OK) {
        fprintf(stderr, "sqlite: %s: %s\n", path, sqlite3_errmsg(db));
        return 1;
    }
    int wal = strcmp(argv[2], "wal") == 0;
    if (wal)
        run(db, "PRAGMA locking_mode = EXCLUSIVE");
    snprintf(sql, sizeof sql, "PRAGMA journal_mode = %s", argv[2]);
    run(db, sql);
    run(db, "PRAGMA cache_size = 20"); /* spills pages before the commit */
    run(db, "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, k INTEGER, v TEXT)");
    run(db, "CREATE INDEX IF NOT EXISTS t_k ON t(k)");
    for (int i = 0; i < TRANSACTIONS; i++) {
        transaction(db, i);
        if (wal && i % CHECKPOINT_EVERY == CHECKPOINT_EVERY - 1)
            run(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    }
    run(db, "VACUUM");
    if (sqlite3_close(db) != SQLITE_OK)
        return 1;
    printf("%d transactions\n", TRANSACTIONS);
    return 0;
}
