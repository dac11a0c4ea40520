/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * PMDK: a B-tree and a hash map on the transactions of libpmemobj; see ledger.h. The settings whose
 * name ends in -forgets do not add one range to the transaction before it is changed: the place
 * that a new item is linked from.
 *
 * With PMEM_IS_PMEM_FORCE=1 the library flushes lines as on persistent memory; without it calls
 * msync.
 */
#include <libpmemobj.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"

enum { HASHMAP, BTREE, HASHMAP_FORGETS, BTREE_FORGETS };

enum {
    PATH_LENGTH = 4096,
    POOL_SMALL = 8 << 20, /* the least there is */
    POOL_LARGE = 64 << 20,
    LONG_RUN = 1000,
    BUCKETS = 8,
    ITEMS = 7, /* of a node of the tree; odd, so that one is in the middle */
};

static const char *const settings[] = {"hashmap", "btree", "hashmap-forgets", "btree-forgets",
                                       NULL};

POBJ_LAYOUT_BEGIN(eval);
POBJ_LAYOUT_ROOT(eval, struct root)
POBJ_LAYOUT_TOID(eval, struct entry)
POBJ_LAYOUT_TOID(eval, struct node)
POBJ_LAYOUT_TOID(eval, struct blob)
POBJ_LAYOUT_END(eval)

struct blob {
    uint64_t size;
    char bytes[];
};

struct entry {
    uint64_t key;
    TOID(struct blob) value;
    TOID(struct entry) next;
};

struct item {
    uint64_t key;
    TOID(struct blob) value; /* null: deleted */
};

struct node {
    uint64_t count;
    struct item items[ITEMS];
    TOID(struct node) below[ITEMS + 1]; /* null in leaves */
};

struct root {
    TOID(struct entry) buckets[BUCKETS];
    TOID(struct node) tree;
};

struct store {
    PMEMobjpool *pool;
    int setting;
};

static bool failed(const char *what)
{
    return ledger_complain("pmdk", what, pmemobj_errormsg());
}

static struct root *root_of(const struct store *s)
{
    TOID(struct root) root = POBJ_ROOT(s->pool, struct root);
    return D_RW(root);
}

/* ---- values; all of this runs inside a transaction, which a failure aborts ---- */

static TOID(struct blob) new_blob(const struct change *c)
{
    TOID(struct blob) blob = TX_ALLOC(struct blob, sizeof(struct blob) + c->size);
    D_RW(blob)->size = c->size;
    memcpy(D_RW(blob)->bytes, c->value, c->size);
    return blob;
}

/* Gives a place that holds a value another, or none. */
static void set_blob(TOID(struct blob) * at, const struct change *c)
{
    pmemobj_tx_add_range_direct(at, sizeof *at);
    if (!TOID_IS_NULL(*at))
        TX_FREE(*at);
    *at = c->size ? new_blob(c) : TOID_NULL(struct blob);
}

/* ---- the hash map ---- */

static void hashmap_change(const struct store *s, const struct change *c)
{
    TOID(struct entry) *at = &root_of(s)->buckets[c->key % BUCKETS];
    while (!TOID_IS_NULL(*at) && D_RO(*at)->key != c->key)
        at = &D_RW(*at)->next;
    if (!TOID_IS_NULL(*at) && c->size) {
        set_blob(&D_RW(*at)->value, c);
        return;
    }
    if (TOID_IS_NULL(*at) && !c->size)
        return;
    if (s->setting != HASHMAP_FORGETS)
        pmemobj_tx_add_range_direct(at, sizeof *at);
    if (!c->size) {
        TOID(struct entry) gone = *at;
        *at = D_RO(gone)->next;
        TX_FREE(D_RO(gone)->value);
        TX_FREE(gone);
        return;
    }
    TOID(struct entry) entry = TX_NEW(struct entry);
    D_RW(entry)->key = c->key;
    D_RW(entry)->value = new_blob(c);
    D_RW(entry)->next = TOID_NULL(struct entry);
    *at = entry;
}

static void saw(struct ledger *l, uint64_t key, const struct blob *blob)
{
    char name[LEDGER_KEY_NAME];
    snprintf(name, sizeof name, "key%06u", (unsigned)(key % 1000000));
    ledger_saw(l, name, strlen(name), blob->bytes, blob->size);
}

static void hashmap_read(const struct store *s, struct ledger *l)
{
    for (int b = 0; b < BUCKETS; b++)
        for (TOID(struct entry) e = root_of(s)->buckets[b]; !TOID_IS_NULL(e); e = D_RO(e)->next)
            saw(l, D_RO(e)->key, D_RO(D_RO(e)->value));
}

/* ---- the tree: full nodes are split on the way down; deleted keys stay without a value ---- */

static unsigned place_of(const struct node *n, uint64_t key)
{
    unsigned i = 0;
    while (i < n->count && n->items[i].key < key)
        i++;
    return i;
}

static void make_room(struct node *n, unsigned at)
{
    memmove(&n->items[at + 1], &n->items[at], (n->count - at) * sizeof *n->items);
    memmove(&n->below[at + 2], &n->below[at + 1], (n->count - at) * sizeof *n->below);
    n->count++;
}

/* The node below place `at`, which is full, becomes two, with its middle item above them. */
static void split(TOID(struct node) above, unsigned at)
{
    TOID(struct node) full = D_RO(above)->below[at];
    TOID(struct node) right = TX_ZNEW(struct node);
    TX_ADD(above);
    TX_ADD(full);
    struct node *n = D_RW(full), *r = D_RW(right), *a = D_RW(above);
    unsigned middle = ITEMS / 2;
    r->count = ITEMS - middle - 1;
    memcpy(r->items, &n->items[middle + 1], r->count * sizeof *r->items);
    memcpy(r->below, &n->below[middle + 1], (r->count + 1) * sizeof *r->below);
    n->count = middle;
    make_room(a, at);
    a->items[at] = n->items[middle];
    a->below[at + 1] = right;
}

static TOID(struct node) tree_root(struct root *root)
{
    if (!TOID_IS_NULL(root->tree) && D_RO(root->tree)->count < ITEMS)
        return root->tree;
    TOID(struct node) top = TX_ZNEW(struct node);
    D_RW(top)->below[0] = root->tree;
    pmemobj_tx_add_range_direct(&root->tree, sizeof root->tree);
    root->tree = top;
    if (!TOID_IS_NULL(D_RO(top)->below[0]))
        split(top, 0);
    return top;
}

static void tree_change(const struct store *s, const struct change *c)
{
    TOID(struct node) node = tree_root(root_of(s));
    for (;;) {
        unsigned at = place_of(D_RO(node), c->key);
        if (at < D_RO(node)->count && D_RO(node)->items[at].key == c->key) {
            set_blob(&D_RW(node)->items[at].value, c);
            return;
        }
        TOID(struct node) below = D_RO(node)->below[at];
        if (TOID_IS_NULL(below)) {
            if (!c->size)
                return;
            if (s->setting != BTREE_FORGETS)
                TX_ADD(node);
            make_room(D_RW(node), at);
            D_RW(node)->items[at].key = c->key;
            D_RW(node)->items[at].value = new_blob(c);
            return;
        }
        if (D_RO(below)->count == ITEMS)
            split(node, at);
        else
            node = below;
    }
}

static bool tree_read(TOID(struct node) node, struct ledger *l, uint64_t *next)
{
    if (TOID_IS_NULL(node))
        return true;
    const struct node *n = D_RO(node);
    if (n->count > ITEMS)
        return ledger_complain("pmdk", "tree", "a node has more items than fit");
    for (unsigned i = 0; i <= n->count; i++) {
        if (!tree_read(n->below[i], l, next))
            return false;
        if (i == n->count)
            break;
        if (n->items[i].key < *next)
            return ledger_complain("pmdk", "tree", "keys are not in order");
        *next = n->items[i].key + 1;
        if (!TOID_IS_NULL(n->items[i].value))
            saw(l, n->items[i].key, D_RO(n->items[i].value));
    }
    return true;
}

/* ---- the system ---- */

static bool is_tree(const struct store *s)
{
    return s->setting == BTREE || s->setting == BTREE_FORGETS;
}

static void *open_store(const char *dir, int setting, unsigned transactions)
{
    char path[PATH_LENGTH];
    struct store *s = calloc(1, sizeof *s);
    size_t size = transactions < LONG_RUN ? POOL_SMALL : POOL_LARGE;

    if (!s)
        abort();
    snprintf(path, sizeof path, "%s/pool", dir);
    s->setting = setting;
    s->pool = pmemobj_open(path, POBJ_LAYOUT_NAME(eval));
    if (!s->pool)
        s->pool = pmemobj_create(path, POBJ_LAYOUT_NAME(eval), size, 0644);
    if (s->pool && root_of(s))
        return s;
    failed(path);
    free(s);
    return NULL;
}

static bool commit(void *store, const struct transaction *t)
{
    const struct store *s = store;
    volatile bool ok = true;

    TX_BEGIN(s->pool)
    {
        for (unsigned i = 0; i < t->count; i++) {
            if (is_tree(s))
                tree_change(s, &t->changes[i]);
            else
                hashmap_change(s, &t->changes[i]);
        }
    }
    TX_ONABORT
    {
        ok = failed("transaction");
    }
    TX_END
    return ok;
}

static bool read_store(void *store, struct ledger *l)
{
    const struct store *s = store;
    uint64_t next = 0;

    if (is_tree(s))
        return tree_read(root_of(s)->tree, l, &next);
    hashmap_read(s, l);
    return true;
}

static void close_store(void *store)
{
    struct store *s = store;
    pmemobj_close(s->pool);
    free(s);
}

int main(int argc, char **argv)
{
    static const struct system pmdk = {
        .name = "pmdk",
        .settings = settings,
        .open = open_store,
        .commit = commit,
        .read = read_store,
        .close = close_store,
    };
    return ledger_main(&pmdk, argc, argv);
}
