/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * RocksDB through its C API; see ledger.h.
 *
 *     sync         every write is synced
 *     unsynced     none is
 *     flush        no log; a flush now and then, up to which all is acknowledged
 *     compaction   synced, while another thread compacts everything now and then
 *     mmap         synced and flushed, with allow_mmap_writes: tables are written by stores to a
 *                  mapping
 */
#include <pthread.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>

#include "ledger.h"

enum { SYNC, UNSYNCED, FLUSH, COMPACTION, MMAP };

enum {
    WRITE_BUFFER = 256 << 10,
    LEVEL0_FILES = 2, /* compact when there are so many */
    FLUSH_EVERY = 4,
    COMPACT_EVERY = 6, /* begins; ends two thirds on */
    COMPACT_FOR = 4,
    LONG_RUN = 1000, /* flush and compact a hundredth as often */
    LONG_RARER = 100,
    QUIET = 3, /* errors only in its own log, which is no data */
};

static const char *const settings[] = {"sync", "unsynced", "flush", "compaction", "mmap", NULL};

struct store {
    rocksdb_t *db;
    int setting;
    unsigned rarer, flushed;
    bool compacting;
    pthread_t compaction;
};

static bool done(const char *what, char *error)
{
    if (!error)
        return true;
    ledger_complain("rocksdb", what, error);
    rocksdb_free(error);
    return false;
}

static void *open_store(const char *dir, int setting, unsigned transactions)
{
    char *error = NULL;
    struct store *s = calloc(1, sizeof *s);
    rocksdb_options_t *options = rocksdb_options_create();

    if (!s)
        abort();
    s->setting = setting;
    s->rarer = transactions < LONG_RUN ? 1 : LONG_RARER;
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_write_buffer_size(options, WRITE_BUFFER);
    rocksdb_options_set_level0_file_num_compaction_trigger(options, LEVEL0_FILES);
    rocksdb_options_set_info_log_level(options, QUIET);
    rocksdb_options_set_allow_mmap_writes(options, setting == MMAP);
    s->db = rocksdb_open(options, dir, &error);
    rocksdb_options_destroy(options);
    if (done("open", error))
        return s;
    free(s);
    return NULL;
}

static bool commit(void *store, const struct transaction *t)
{
    struct store *s = store;
    char *error = NULL;
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();

    for (unsigned i = 0; i < t->count; i++) {
        const struct change *c = &t->changes[i];
        if (c->size)
            rocksdb_writebatch_put(batch, c->name, sizeof "key000000" - 1, c->value, c->size);
        else
            rocksdb_writebatch_delete(batch, c->name, sizeof "key000000" - 1);
    }
    rocksdb_writeoptions_set_sync(options, s->setting != UNSYNCED && s->setting != FLUSH);
    rocksdb_writeoptions_disable_WAL(options, s->setting == FLUSH);
    rocksdb_write(s->db, options, batch, &error);
    rocksdb_writeoptions_destroy(options);
    rocksdb_writebatch_destroy(batch);
    return done("write", error);
}

static bool flush(struct store *s)
{
    char *error = NULL;
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(options, 1);
    rocksdb_flush(s->db, options, &error);
    rocksdb_flushoptions_destroy(options);
    return done("flush", error);
}

static void *compact(void *store)
{
    struct store *s = store;
    rocksdb_compact_range(s->db, NULL, 0, NULL, 0);
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

    if (s->setting == FLUSH || s->setting == MMAP) {
        if (number % (FLUSH_EVERY * s->rarer) == 0 && flush(s))
            s->flushed = number;
        return s->setting == FLUSH ? s->flushed : number;
    }
    if (s->setting == COMPACTION) {
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
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();

    rocksdb_readoptions_set_verify_checksums(options, 1);
    rocksdb_iterator_t *i = rocksdb_create_iterator(s->db, options);
    for (rocksdb_iter_seek_to_first(i); rocksdb_iter_valid(i); rocksdb_iter_next(i)) {
        size_t key_size, value_size;
        const char *key = rocksdb_iter_key(i, &key_size),
                   *value = rocksdb_iter_value(i, &value_size);
        ledger_saw(l, key, key_size, value, value_size);
    }
    rocksdb_iter_get_error(i, &error);
    rocksdb_iter_destroy(i);
    rocksdb_readoptions_destroy(options);
    return done("read", error);
}

static void close_store(void *store)
{
    struct store *s = store;
    end_compaction(s);
    rocksdb_close(s->db);
    free(s);
}

int main(int argc, char **argv)
{
    static const struct system rocksdb = {
        .name = "rocksdb",
        .settings = settings,
        .open = open_store,
        .commit = commit,
        .after = after,
        .read = read_store,
        .close = close_store,
    };
    return ledger_main(&rocksdb, argc, argv);
}
