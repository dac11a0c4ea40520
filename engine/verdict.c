/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/verdict.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/clock.h"
#include "engine/map.h"
#include "engine/mem.h"
#include "engine/session_keep.h"
#include "engine/vec.h"

/* Results that are so old are on the disk: a commit costs as much as several checkers, and one of
 * many results little more than one of few. Until then they are here and not in a transaction, for
 * others write to the session meanwhile. */
static const uint64_t flush_after = 400 * NANOSECONDS_PER_MS;

struct waiting {
    struct verdict_key key;
    struct verdict verdict;
};

struct verdicts {
    struct session *session;
    sqlite3 *db;
    sqlite3_stmt *find, *add;
    vec_of(struct waiting) waiting;
    struct map places; /* keys of those → place in waiting, plus 1 */
    struct map kept;   /* keys of those in the session: nearly all that are looked for are not */
    uint64_t since;    /* when the first of them came */
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
    session_not_kept(v->session, e);
    return error_prefix(e, "verdicts cannot be kept");
}

static void note_kept(struct verdicts *v, const void *key)
{
    *map_put(&v->kept, key, sizeof(struct verdict_key), NULL) = true;
}

/* What another flotsam adds meanwhile is not known: such a state is checked by both. */
static bool find_kept(struct verdicts *v)
{
    sqlite3_stmt *keys;
    int step = SQLITE_ERROR;
    if (sqlite3_prepare_v2(v->db, "SELECT key FROM verdicts", -1, &keys, NULL) == SQLITE_OK)
        while ((step = sqlite3_step(keys)) == SQLITE_ROW)
            if (sqlite3_column_bytes(keys, 0) == sizeof(struct verdict_key))
                note_kept(v, sqlite3_column_blob(keys, 0));
    sqlite3_finalize(keys);
    return step == SQLITE_DONE;
}

bool verdicts_open(struct verdicts **out, struct session *session, struct error *e)
{
    struct verdicts *v = xcalloc(1, sizeof *v);
    v->session = session;
    v->db = session_db(session);
    if (sqlite3_exec(v->db, schema, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(v->db,
                           "SELECT kind, exit, signal, seconds, output FROM verdicts WHERE key = ?",
                           -1, &v->find, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(v->db, "REPLACE INTO verdicts VALUES (?,?,?,?,?,?)", -1, &v->add,
                           NULL) != SQLITE_OK ||
        !find_kept(v)) {
        failed(v, e);
        verdicts_close(v, NULL);
        return false;
    }
    *out = v;
    return true;
}

static void forget_waiting(struct verdicts *v)
{
    for (size_t i = 0; i < v->waiting.n; i++)
        verdict_clear(&v->waiting.at[i].verdict);
    v->waiting.n = 0;
    map_free(&v->places);
    v->places = (struct map){0};
}

bool verdicts_close(struct verdicts *v, struct error *e)
{
    if (!v)
        return true;
    bool done = verdicts_flush(v, e);
    forget_waiting(v);
    vec_free(&v->waiting);
    map_free(&v->kept);
    sqlite3_finalize(v->find);
    sqlite3_finalize(v->add);
    free(v);
    return done;
}

static struct verdict verdict_copy(const struct verdict *from)
{
    struct verdict copy = *from;
    copy.output = xstrdup(from->output ? from->output : "");
    return copy;
}

bool verdicts_find(struct verdicts *v, const struct verdict_key *key, struct verdict *out)
{
    const uint64_t *place = map_get(&v->places, key, sizeof *key);
    if (place) {
        *out = verdict_copy(&v->waiting.at[*place - 1].verdict);
        return true;
    }
    if (!map_get(&v->kept, key, sizeof *key))
        return false;
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
    bool added;
    uint64_t *place = map_put(&v->places, key, sizeof *key, &added);
    if (!v->waiting.n)
        v->since = clock_now();
    if (added) {
        vec_push(&v->waiting, (struct waiting){*key, verdict_copy(verdict)});
        *place = v->waiting.n;
    } else {
        struct verdict *old = &v->waiting.at[*place - 1].verdict;
        verdict_clear(old);
        *old = verdict_copy(verdict);
    }
    return verdicts_flush_old(v, e);
}

static bool write_one(struct verdicts *v, const struct waiting *w)
{
    sqlite3_bind_blob(v->add, 1, &w->key, sizeof w->key, SQLITE_STATIC);
    sqlite3_bind_int(v->add, 2, w->verdict.kind);
    sqlite3_bind_int(v->add, 3, w->verdict.exit);
    sqlite3_bind_int(v->add, 4, w->verdict.signal);
    sqlite3_bind_double(v->add, 5, w->verdict.seconds);
    sqlite3_bind_blob(v->add, 6, w->verdict.output, (int)strlen(w->verdict.output), SQLITE_STATIC);
    bool done = sqlite3_step(v->add) == SQLITE_DONE;
    sqlite3_reset(v->add);
    return done;
}

bool verdicts_flush(struct verdicts *v, struct error *e)
{
    if (!v->waiting.n)
        return true;
    bool done = sqlite3_exec(v->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    for (size_t i = 0; done && i < v->waiting.n; i++)
        done = write_one(v, &v->waiting.at[i]);
    done = done && sqlite3_exec(v->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    if (!done) {
        failed(v, e);
        if (!sqlite3_get_autocommit(v->db))
            sqlite3_exec(v->db, "ROLLBACK", NULL, NULL, NULL);
        return false;
    }
    for (size_t i = 0; i < v->waiting.n; i++)
        note_kept(v, &v->waiting.at[i].key);
    forget_waiting(v);
    return true;
}

bool verdicts_flush_old(struct verdicts *v, struct error *e)
{
    return !v->waiting.n || clock_now() - v->since <= flush_after || verdicts_flush(v, e);
}
