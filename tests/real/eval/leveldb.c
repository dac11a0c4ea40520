/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * LevelDB through its C API; see ledger.h.
 *
 *     sync         every write is synced
 *     unsynced     none is
 *     compaction   synced, while another thread has the memtable written and tables compacted
 *     reopen       synced, closed and opened again now and then: its log is recovered by a new one
 */
#include <leveldb/c.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "ledger.h"

enum { SYNC, UNSYNCED, COMPACTION, REOPEN };

enum {
    WRITE_BUFFER = 64 << 10, /* the least that it takes: a table every hundred transactions */
    REOPEN_EVERY = 5,
    COMPACT_EVERY = 6, /* begins; ends two thirds on */
    COMPACT_FOR = 4,
    LONG_RUN = 1000, /* where tables come by themselves; reopen and compact a hundredth as often */
    LONG_RARER = 100,
};

static const char *const settings[] = {"sync", "unsynced", "compaction", "reopen", NULL};

struct store {
    leveldb_t *db;
    const char *dir;
    int setting;
    unsigned rarer;
    bool compacting;
    pthread_t compaction;
};

static bool done(const char *what, char *error)
{
    if (!error)
        return true;
    ledger_complain("leveldb", what, error);
    leveldb_free(error);
    return false;
}

static bool open_db(struct store *s)
{
    char *error = NULL;
    leveldb_options_t *options = leveldb_options_create();

    leveldb_options_set_create_if_missing(options, 1);
    leveldb_options_set_write_buffer_size(options, WRITE_BUFFER);
    s->db = leveldb_open(options, s->dir, &error);
    leveldb_options_destroy(options);
    return done("open", error);
}

static void *open_store(const char *dir, int setting, unsigned transactions)
{
    struct store *s = calloc(1, sizeof *s);

    if (!s)
        abort();
    s->dir = dir;
    s->setting = setting;
    s->rarer = transactions < LONG_RUN ? 1 : LONG_RARER;
    if (open_db(s))
        return s;
    free(s);
    return NULL;
}

static bool commit(void *store, const struct transaction *t)
{
    struct store *s = store;
    char *error = NULL;
    leveldb_writebatch_t *batch = leveldb_writebatch_create();
    leveldb_writeoptions_t *options = leveldb_writeoptions_create();

    for (unsigned i = 0; i < t->count; i++) {
        const struct change *c = &t->changes[i];
        if (c->size)
            leveldb_writebatch_put(batch, c->name, sizeof "key000000" - 1, c->value, c->size);
        else
            leveldb_writebatch_delete(batch, c->name, sizeof "key000000" - 1);
    }
    leveldb_writeoptions_set_sync(options, s->setting != UNSYNCED);
    leveldb_write(s->db, options, batch, &error);
    leveldb_writeoptions_destroy(options);
    leveldb_writebatch_destroy(batch);
    return done("write", error);
}

static void *compact(void *store)
{
    struct store *s = store;
    leveldb_compact_range(s->db, NULL, 0, NULL, 0);
    return NULL;
}

static void end_compaction(struct store *s)
{
    if (s->compacting)
        pthread_join(s->compaction, NULL);
    s->compacting = false;
}

static unsigned after(void **store, unsigned number)
{
    struct store *s = *store;

    if (s->setting == REOPEN && number % (REOPEN_EVERY * s->rarer) == 0) {
        leveldb_close(s->db);
        if (!open_db(s)) {
            free(s);
            *store = NULL;
        }
    } else if (s->setting == COMPACTION) {
        unsigned at = number % (COMPACT_EVERY * s->rarer);
        if (at == 0 && !s->compacting)
            s->compacting = pthread_create(&s->compaction, NULL, compact, s) == 0;
        else if (at == COMPACT_FOR)
            end_compaction(s);
    }
    return number;
}

static bool read_store(void *store, struct ledger *l)
{
    struct store *s = store;
    char *error = NULL;
    leveldb_readoptions_t *options = leveldb_readoptions_create();

    leveldb_readoptions_set_verify_checksums(options, 1);
    leveldb_iterator_t *i = leveldb_create_iterator(s->db, options);
    for (leveldb_iter_seek_to_first(i); leveldb_iter_valid(i); leveldb_iter_next(i)) {
        size_t key_size, value_size;
        const char *key = leveldb_iter_key(i, &key_size),
                   *value = leveldb_iter_value(i, &value_size);
        ledger_saw(l, key, key_size, value, value_size);
    }
    leveldb_iter_get_error(i, &error);
    leveldb_iter_destroy(i);
    leveldb_readoptions_destroy(options);
    return done("read", error);
}

static void close_store(void *store)
{
    struct store *s = store;
    end_compaction(s);
    leveldb_close(s->db);
    free(s);
}

int main(int argc, char **argv)
{
    static const struct system leveldb = {
        .name = "leveldb",
        .settings = settings,
        .open = open_store,
        .commit = commit,
        .after = after,
        .read = read_store,
        .close = close_store,
    };
    return ledger_main(&leveldb, argc, argv);
}
