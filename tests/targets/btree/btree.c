/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "btree.h"

static bool is_leaf(const struct node *n)
{
    return TOID_IS_NULL(n->child[0]);
}

/* Child i of a parent that is in the transaction is full: its upper half becomes a node of its own,
 * and the key between goes up. */
static void split_child(struct node *parent, uint64_t i)
{
    TOID(struct node) left = parent->child[i], right = TX_ZNEW(struct node);
    struct node *from = D_RW(left), *to = D_RW(right);
    for (int k = 0; k < LEAST - 1; k++)
        to->key[k] = from->key[LEAST + k];
    for (int k = 0; k < LEAST; k++)
        to->child[k] = from->child[LEAST + k];
    to->n = LEAST - 1;
    /* The mistake: without this nothing puts the number back, and nothing flushes it. */
    if (fixed)
        TX_ADD_FIELD(left, n);
    from->n = LEAST - 1; /* bug:node-cut */
    for (uint64_t k = parent->n; k > i; k--) {
        parent->key[k] = parent->key[k - 1];
        parent->child[k + 1] = parent->child[k];
    }
    parent->key[i] = from->key[LEAST - 1];
    parent->child[i + 1] = right;
    parent->n++;
}

static void insert_into(TOID(struct node) at, uint64_t key)
{
    struct node *n = D_RW(at);
    uint64_t i = n->n;
    TX_ADD(at);
    if (is_leaf(n)) {
        for (; i > 0 && key < n->key[i - 1]; i--)
            n->key[i] = n->key[i - 1];
        n->key[i] = key;
        n->n++;
        return;
    }
    while (i > 0 && key < n->key[i - 1])
        i--;
    if (D_RO(n->child[i])->n == MOST) {
        split_child(n, i);
        i += key > n->key[i];
    }
    insert_into(n->child[i], key);
}

/* The root grows by one level when it is full. */
static void insert_root(TOID(struct btree) tree, uint64_t key)
{
    TOID(struct node) root = D_RO(tree)->root;
    if (TOID_IS_NULL(root) || D_RO(root)->n == MOST) {
        TOID(struct node) top = TX_ZNEW(struct node);
        TX_ADD(tree);
        D_RW(tree)->root = top;
        if (!TOID_IS_NULL(root)) {
            D_RW(top)->child[0] = root;
            split_child(D_RW(top), 0);
        }
        root = top;
    }
    insert_into(root, key);
}

bool btree_insert(PMEMobjpool *pool, uint64_t key)
{
    volatile bool done = false;
    TOID(struct btree) tree = POBJ_ROOT(pool, struct btree);
    TX_BEGIN(pool)
    {
        insert_root(tree, key);
    }
    TX_ONCOMMIT /* bug:committed */
    {
        done = true;
    }
    TX_END
    return done;
}

static bool check_node(TOID(struct node) at, int depth, int *count, uint64_t *last)
{
    const struct node *n = D_RO(at);
    if (depth > MOST || n->n > MOST || n->n < 1) {
        fprintf(stderr, "a node has %d keys\n", (int)n->n);
        return false;
    }
    for (uint64_t i = 0; i <= n->n; i++) {
        if (!is_leaf(n) && !check_node(n->child[i], depth + 1, count, last))
            return false;
        if (i == n->n)
            break;
        if (n->key[i] <= *last) {
            fprintf(stderr, "key %d comes after key %d\n", (int)n->key[i], (int)*last);
            return false;
        }
        *last = n->key[i];
        ++*count;
    }
    return true;
}

bool btree_check(PMEMobjpool *pool, int *count, uint64_t *last)
{
    TOID(struct btree) tree = POBJ_ROOT(pool, struct btree);
    *count = 0;
    *last = 0;
    return TOID_IS_NULL(D_RO(tree)->root) || check_node(D_RO(tree)->root, 0, count, last);
}

void btree_force(char **argv)
{
    if (getenv("PMEM_IS_PMEM_FORCE"))
        return;
    setenv("PMEM_IS_PMEM_FORCE", "1", 1);
    execv(argv[0], argv);
    complain(argv[0]);
}

PMEMobjpool *btree_open(const char *dir)
{
    char path[PATH_LENGTH];
    PMEMobjpool *pool = pmemobj_open(path_in(path, dir, "pool"), POBJ_LAYOUT_NAME(btree));
    if (!pool)
        fprintf(stderr, "%s: %s\n", path, pmemobj_errormsg());
    return pool;
}

PMEMobjpool *btree_make(const char *dir)
{
    char path[PATH_LENGTH];
    PMEMobjpool *pool =
        pmemobj_create(path_in(path, dir, "pool"), POBJ_LAYOUT_NAME(btree), PMEMOBJ_MIN_POOL, 0644);
    if (!pool || OID_IS_NULL(pmemobj_root(pool, sizeof(struct btree)))) {
        fprintf(stderr, "%s: %s\n", path, pmemobj_errormsg());
        return NULL;
    }
    return pool;
}
