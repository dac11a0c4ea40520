/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/verdict.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/clock.h"
#include "engine/mem.h"

/* Results that are a tenth of a second old are on the disk: a commit costs more than a checker. */
static const uint64_t flush_after = 100 * NANOSECONDS_PER_MS;

struct verdicts {
    sqlite3 *db;
    sqlite3_stmt *find, *add;
    bool open; /* a transaction */
    uint64_t opened;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS verdicts ( -- what checkers said of crash states\n"
    "  key BLOB PRIMARY KEY, -- hash of image, acknowledgements and checker\n"
    "  kind INTEGER NOT NULL, -- 1 consistent, 2 inconsistent, 3 crashed, 4 hung\n"
    "  exit INTEGER NOT NULL,\n"
    "  signal INTEGER NOT NULL,\n"
    "  seconds REAL NOT NULL,\n"
    "  output BLOB NOT NULL\n"
    ") WITHOUT ROWID;";

const char *verdict_name(enum verdict_kind kind)
{
    static const char *const names[] = {"not run", "consistent", "inconsistent", "crashed", "hung"};
    return names[kind];
}

void verdict_clear(struct verdict *v)
{
    free(v->output);
    *v = (struct verdict){0};
}

struct verdict_key verdict_key(struct state_hash image, uint64_t acknowledged, const char *checker)
{
    return (struct verdict_key){
        {image.low, image.high, acknowledged, XXH3_64bits(checker, strlen(checker))}};
}

static bool failed(struct verdicts *v, struct error *e)
{
    return error_set(e, "verdicts cannot be kept in the session: %s", sqlite3_errmsg(v->db));
}

bool verdicts_open(struct verdicts **out, struct session *session, struct error *e)
{
    struct verdicts *v = xcalloc(1, sizeof *v);
    v->db = session_db(session);
    if (sqlite3_exec(v->db, schema, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(v->db,
                           "SELECT kind, exit, signal, seconds, output FROM verdicts WHERE key = ?",
                           -1, &v->find, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(v->db, "REPLACE INTO verdicts VALUES (?,?,?,?,?,?)", -1, &v->add,
                           NULL) != SQLITE_OK) {
        failed(v, e);
        verdicts_close(v, NULL);
        return false;
    }
    *out = v;
    return true;
}

bool verdicts_close(struct verdicts *v, struct error *e)
{
    if (!v)
        return true;
    bool done = verdicts_flush(v, e);
    sqlite3_finalize(v->find);
    sqlite3_finalize(v->add);
    free(v);
    return done;
}

bool verdicts_find(struct verdicts *v, const struct verdict_key *key, struct verdict *out)
{
    sqlite3_bind_blob(v->find, 1, key, sizeof *key, SQLITE_STATIC);
    bool found = sqlite3_step(v->find) == SQLITE_ROW;
    if (found) {
        sqlite3_int64 kind = sqlite3_column_int64(v->find, 0);
        found = kind >= VERDICT_CONSISTENT && kind <= VERDICT_HUNG;
        const void *output = sqlite3_column_blob(v->find, 4);
        size_t size = (size_t)sqlite3_column_bytes(v->find, 4);
        *out = (struct verdict){.kind = (enum verdict_kind)kind,
                                .exit = sqlite3_column_int(v->find, 1),
                                .signal = sqlite3_column_int(v->find, 2),
                                .seconds = sqlite3_column_double(v->find, 3),
                                .output = found ? xstrndup(output ? output : "", size) : NULL};
    }
    sqlite3_reset(v->find);
    return found;
}

bool verdicts_add(struct verdicts *v, const struct verdict_key *key, const struct verdict *verdict,
                  struct error *e)
{
    if (!v->open) {
        if (sqlite3_exec(v->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
            return failed(v, e);
        v->open = true;
        v->opened = clock_now();
    }
    const char *output = verdict->output ? verdict->output : "";
    sqlite3_bind_blob(v->add, 1, key, sizeof *key, SQLITE_STATIC);
    sqlite3_bind_int(v->add, 2, verdict->kind);
    sqlite3_bind_int(v->add, 3, verdict->exit);
    sqlite3_bind_int(v->add, 4, verdict->signal);
    sqlite3_bind_double(v->add, 5, verdict->seconds);
    sqlite3_bind_blob(v->add, 6, output, (int)strlen(output), SQLITE_STATIC);
    bool done = sqlite3_step(v->add) == SQLITE_DONE || failed(v, e);
    sqlite3_reset(v->add);
    if (done && clock_now() - v->opened > flush_after)
        done = verdicts_flush(v, e);
    return done;
}

bool verdicts_flush(struct verdicts *v, struct error *e)
{
    if (!v->open)
        return true;
    v->open = false;
    return sqlite3_exec(v->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK || failed(v, e);
}
