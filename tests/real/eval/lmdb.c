/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * LMDB, by the flags of its environment; see ledger.h. Without its lock file, which is a shared
 * mapping and no part of the data.
 */
#include <lmdb.h>
#include <stdio.h>
#include <string.h>

#include "ledger.h"

enum {
    MAP_SMALL = 1 << 20,
    MAP_LARGE = 64 << 20,
    MANY_TRANSACTIONS = 1000,
};

static const char *const settings[] = {"default",  "NOMETASYNC",        "NOSYNC",
                                       "WRITEMAP", "WRITEMAP-MAPASYNC", NULL};
static const unsigned flags[] = {0, MDB_NOMETASYNC, MDB_NOSYNC, MDB_WRITEMAP,
                                 MDB_WRITEMAP | MDB_MAPASYNC};

static bool done(const char *what, int rc)
{
    return !rc || ledger_complain("lmdb", what, mdb_strerror(rc));
}

static void *open_store(const char *dir, int setting, unsigned transactions)
{
    MDB_env *env;
    size_t size = transactions < MANY_TRANSACTIONS ? MAP_SMALL : MAP_LARGE;

    if (!done("create", mdb_env_create(&env)))
        return NULL;
    if (done("map size", mdb_env_set_mapsize(env, size)) &&
        done("open", mdb_env_open(env, dir, flags[setting] | MDB_NOLOCK, 0644)))
        return env;
    mdb_env_close(env);
    return NULL;
}

static bool change(MDB_txn *txn, MDB_dbi dbi, const struct change *c)
{
    MDB_val key = {strlen(c->name), (char *)c->name}, value = {c->size, (char *)c->value};
    if (c->size)
        return done("put", mdb_put(txn, dbi, &key, &value, 0));
    int rc = mdb_del(txn, dbi, &key, NULL);
    return rc == MDB_NOTFOUND || done("delete", rc);
}

static bool commit(void *store, const struct transaction *t)
{
    MDB_txn *txn;
    MDB_dbi dbi;

    if (!done("begin", mdb_txn_begin(store, NULL, 0, &txn)))
        return false;
    bool ok = done("open database", mdb_dbi_open(txn, NULL, 0, &dbi));
    for (unsigned i = 0; ok && i < t->count; i++)
        ok = change(txn, dbi, &t->changes[i]);
    if (ok)
        return done("commit", mdb_txn_commit(txn));
    mdb_txn_abort(txn);
    return false;
}

/* LMDB has no check of its own: all that can be asked of it is to reach what it counts. */
static bool read_all(MDB_txn *txn, struct ledger *l)
{
    MDB_dbi dbi;
    MDB_cursor *cursor;
    MDB_stat stat;
    MDB_val key, value;
    size_t seen = 0;
    int rc;

    if (!done("open database", mdb_dbi_open(txn, NULL, 0, &dbi)) ||
        !done("count", mdb_stat(txn, dbi, &stat)) ||
        !done("cursor", mdb_cursor_open(txn, dbi, &cursor)))
        return false;
    while ((rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0 && seen <= stat.ms_entries) {
        ledger_saw(l, key.mv_data, key.mv_size, value.mv_data, value.mv_size);
        seen++;
    }
    mdb_cursor_close(cursor);
    if (rc != MDB_NOTFOUND)
        return done("read", rc);
    return seen == stat.ms_entries ||
           ledger_complain("lmdb", "read", "not as many entries as it counts");
}

static bool read_store(void *store, struct ledger *l)
{
    MDB_txn *txn;

    if (!done("begin", mdb_txn_begin(store, NULL, MDB_RDONLY, &txn)))
        return false;
    bool ok = read_all(txn, l);
    mdb_txn_abort(txn);
    return ok;
}

static void close_store(void *store)
{
    mdb_env_close(store);
}

int main(int argc, char **argv)
{
    static const struct system lmdb = {
        .name = "lmdb",
        .settings = settings,
        .open = open_store,
        .commit = commit,
        .read = read_store,
        .close = close_store,
    };
    return ledger_main(&lmdb, argc, argv);
}
