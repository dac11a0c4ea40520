/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A persistent hash table on libpmemobj: inserts, updates and deletions, one transaction each, some
 * of them aborted, by two threads on tables of their own.
 *
 *     pmemobj DIR [TRANSACTIONS]
 *
 * With PMEM_IS_PMEM_FORCE=1 the library flushes lines as on persistent memory; without it calls
 * msync.
 */
#include <libpmemobj.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TRANSACTIONS = 10000,
    THREADS = 2,
    BUCKETS = 256,
    KEYS = 1000,
    ABORT_EVERY = 17,
    DELETE_EVERY = 5,
    POOL_SIZE = 32 << 20,
};

POBJ_LAYOUT_BEGIN(table);
POBJ_LAYOUT_ROOT(table, struct root)
POBJ_LAYOUT_TOID(table, struct entry)
POBJ_LAYOUT_END(table)

struct entry {
    uint64_t key, value;
    TOID(struct entry) next;
};

struct root {
    struct {
        uint64_t count;
        TOID(struct entry) bucket[BUCKETS];
    } tables[THREADS];
};

static PMEMobjpool *pool;

struct work {
    int number;
    long transactions;
};

static unsigned next_random(uint64_t *seed, unsigned n)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (unsigned)(*seed % n);
}

/* Inside a transaction: unlinks the key's entry, or gives it a value, or adds one. */
static void change(TOID(struct root) root, int table, uint64_t key, uint64_t value, int delete)
{
    TOID(struct entry) *at = &D_RW(root)->tables[table].bucket[key % BUCKETS];
    while (!TOID_IS_NULL(*at) && D_RO(*at)->key != key)
        at = &D_RW(*at)->next;
    if (!TOID_IS_NULL(*at) && !delete) {
        TX_ADD_FIELD(*at, value);
        D_RW(*at)->value = value;
        return;
    }
    if (TOID_IS_NULL(*at) && delete)
        return;
    pmemobj_tx_add_range_direct(at, sizeof *at);
    pmemobj_tx_add_range_direct(&D_RW(root)->tables[table].count, sizeof(uint64_t));
    if (delete) {
        TOID(struct entry) gone = *at;
        *at = D_RO(gone)->next;
        TX_FREE(gone);
        D_RW(root)->tables[table].count--;
        return;
    }
    TOID(struct entry) entry = TX_NEW(struct entry);
    D_RW(entry)->key = key;
    D_RW(entry)->value = value;
    D_RW(entry)->next = TOID_NULL(struct entry);
    *at = entry;
    D_RW(root)->tables[table].count++;
}

static void *run(void *data)
{
    const struct work *w = data;
    TOID(struct root) root = POBJ_ROOT(pool, struct root);
    uint64_t seed = 88172645463325252u + (uint64_t)w->number;
    for (volatile long i = 0; i < w->transactions; i++) {
        uint64_t key = next_random(&seed, KEYS), value = next_random(&seed, 1u << 30);
        TX_BEGIN(pool)
        {
            change(root, w->number, key, value, i % DELETE_EVERY == 0);
            if (i % ABORT_EVERY == ABORT_EVERY - 1)
                pmemobj_tx_abort(0);
        }
        TX_END
    }
    return NULL;
}

int main(int argc, char **argv)
{
    char path[4096];
    pthread_t threads[THREADS];
    struct work work[THREADS];

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: pmemobj DIR [TRANSACTIONS]\n");
        return 2;
    }
    long transactions = argc == 3 ? atol(argv[2]) : TRANSACTIONS;
    snprintf(path, sizeof path, "%s/pool", argv[1]);
    pool = pmemobj_open(path, POBJ_LAYOUT_NAME(table));
    if (!pool)
        pool = pmemobj_create(path, POBJ_LAYOUT_NAME(table), POOL_SIZE, 0644);
    if (!pool) {
        fprintf(stderr, "pmemobj: %s: %s\n", path, pmemobj_errormsg());
        return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        work[i] = (struct work){i, transactions / THREADS};
        if (pthread_create(&threads[i], NULL, run, &work[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pmemobj_close(pool);
    printf("%ld transactions\n", transactions);
    return 0;
}
