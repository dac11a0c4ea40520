/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A few hundred transactions on an LMDB environment without its lock file (which would be a shared
 * writable mapping) and without MDB_WRITEMAP: pages go out by pwrite and writev, the meta page by
 * a second descriptor opened with O_DSYNC. With "writemap" as a second argument they are stored to
 * the mapping, and the lock file is used.
 *
 *     lmdb DIR [writemap]
 */
#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRANSACTIONS = 300,
    PUTS = 12,
    KEYS = 1000,
    VALUE_MAX = 900,
    DELETE_EVERY = 3,
    ABORT_EVERY = 11,
    BIG_EVERY = 25, /* a value of several pages goes to overflow pages */
    BIG = 20000,
    MAP_SIZE = 64 << 20,
};

static uint64_t seed = 88172645463325252u;

static unsigned below(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % n);
}

static void must(const char *what, int rc)
{
    if (rc) {
        fprintf(stderr, "lmdb: %s: %s\n", what, mdb_strerror(rc));
        exit(1);
    }
}

static void transaction(MDB_env *env, int i)
{
    static char bytes[BIG];
    MDB_txn *txn;
    MDB_dbi dbi;

    must("begin", mdb_txn_begin(env, NULL, 0, &txn));
    must("open database", mdb_dbi_open(txn, NULL, 0, &dbi));
    for (int p = 0; p < PUTS; p++) {
        unsigned number = below(KEYS);
        MDB_val key = {sizeof number, &number};
        MDB_val value = {1 + below(VALUE_MAX), bytes};
        if (p == 0 && i % BIG_EVERY == 0)
            value.mv_size = BIG;
        memset(bytes, 'a' + (int)below(26), value.mv_size);
        must("put", mdb_put(txn, dbi, &key, &value, 0));
    }
    if (i % DELETE_EVERY == 0) {
        unsigned number = below(KEYS);
        MDB_val key = {sizeof number, &number};
        int rc = mdb_del(txn, dbi, &key, NULL);
        if (rc != MDB_NOTFOUND)
            must("delete", rc);
    }
    if (i % ABORT_EVERY == ABORT_EVERY - 1)
        mdb_txn_abort(txn);
    else
        must("commit", mdb_txn_commit(txn));
}

int main(int argc, char **argv)
{
    MDB_env *env;

    bool writemap = argc == 3 && strcmp(argv[2], "writemap") == 0;
    if (argc != 2 && !writemap) {
        fprintf(stderr, "usage: lmdb DIR [writemap]\n");
        return 2;
    }
    must("create", mdb_env_create(&env));
    must("map size", mdb_env_set_mapsize(env, MAP_SIZE));
    must("open", mdb_env_open(env, argv[1], writemap ? MDB_WRITEMAP : MDB_NOLOCK, 0644));
    for (int i = 0; i < TRANSACTIONS; i++)
        transaction(env, i);
    must("sync", mdb_env_sync(env, 1));
    mdb_env_close(env);
    printf("%d transactions\n", TRANSACTIONS);
    return 0;
}
