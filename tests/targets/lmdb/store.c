/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store.h"

enum { MAP_SIZE = 16 * 4096 };

static bool done(const char *what, int result)
{
    if (result)
        fprintf(stderr, "%s: %s\n", what, mdb_strerror(result));
    return result == 0;
}

bool store_put(struct store *s, int key, int32_t value)
{
    MDB_txn *txn;
    MDB_val k = {sizeof key, &key}, v = {sizeof value, &value};
    if (!done("begin", mdb_txn_begin(s->env, NULL, 0, &txn)))
        return false;
    if (!done("put", mdb_put(txn, s->dbi, &k, &v, 0))) {
        mdb_txn_abort(txn);
        return false;
    }
    return done("commit", mdb_txn_commit(txn)); /* bug:committed */
}

bool store_read(struct store *s, int32_t values[KEYS])
{
    MDB_txn *txn;
    bool ok = done("begin", mdb_txn_begin(s->env, NULL, MDB_RDONLY, &txn));
    if (!ok)
        return false;
    for (int key = 0; ok && key < KEYS; key++) {
        MDB_val k = {sizeof key, &key}, v;
        int result = mdb_get(txn, s->dbi, &k, &v);
        ok = result == MDB_NOTFOUND || done("get", result);
        values[key] = 0;
        if (!result && v.mv_size == sizeof *values)
            memcpy(&values[key], v.mv_data, sizeof *values);
    }
    mdb_txn_abort(txn);
    return ok;
}

static bool open_database(struct store *s)
{
    MDB_txn *txn;
    if (!done("begin", mdb_txn_begin(s->env, NULL, MDB_RDONLY, &txn)))
        return false;
    bool ok = done("database", mdb_dbi_open(txn, NULL, 0, &s->dbi));
    mdb_txn_abort(txn);
    return ok;
}

bool store_open(struct store *s, const char *dir)
{
    /* The mistake: MDB_NOMETASYNC leaves the meta page of the last transaction to the kernel.
     * Without MDB_WRITEMAP it is written at once, by a call that returns when it is durable. */
    unsigned flags = MDB_NOLOCK | (fixed ? 0 : MDB_WRITEMAP | MDB_NOMETASYNC);
    *s = (struct store){0};
    return done("environment", mdb_env_create(&s->env)) &&
           done("map", mdb_env_set_mapsize(s->env, MAP_SIZE)) &&
           done(dir, mdb_env_open(s->env, dir, flags, 0644)) && open_database(s);
}

void store_close(struct store *s)
{
    mdb_env_close(s->env);
}
