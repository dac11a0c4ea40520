/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A B-tree and a hash table of two levels, as persistent ones are written. */
#include "truth.h"

enum { ORDER = 4, SLOTS = 3, TOP = 8 };

typedef struct tree_node {
    int n;
    int is_leaf;
    uint64_t keys[2 * ORDER - 1];
    uint64_t values[2 * ORDER - 1];
    struct tree_node *child[2 * ORDER];
} tree_node;

typedef struct tree {
    tree_node *root;
    uint64_t height, count;
} tree;

typedef struct entry_t {
    uint8_t key[16];
    uint8_t value[15];
} entry_t;

typedef struct level_bucket {
    uint8_t token[SLOTS];
    entry_t slot[SLOTS];
} level_bucket;

typedef struct level_hash {
    level_bucket *buckets[2];
    uint64_t entries;
    uint64_t size[2];
    uint64_t seeds[2];
    uint8_t state;
} level_hash;

typedef struct log_entry {
    uint64_t offset;
    uint32_t length;
    uint16_t kind, valid;
} log_entry;

typedef struct log_head {
    uint64_t tail;
    log_entry entry[16];
} log_head;

static void describe(void)
{
    TYPE(tree_node), FIELD(tree_node, n), FIELD(tree_node, is_leaf), ARRAY(tree_node, keys);
    ARRAY(tree_node, values), ARRAY(tree_node, child);
    TYPE(tree), FIELD(tree, root), FIELD(tree, height), FIELD(tree, count);
    TYPE(entry_t), ARRAY(entry_t, key), ARRAY(entry_t, value);
    TYPE(level_bucket), ARRAY(level_bucket, token), OBJECTS(level_bucket, slot, entry_t);
    TYPE(level_hash), ARRAY(level_hash, buckets), FIELD(level_hash, entries);
    ARRAY(level_hash, size), ARRAY(level_hash, seeds), FIELD(level_hash, state);
    TYPE(log_entry), FIELD(log_entry, offset), FIELD(log_entry, length), FIELD(log_entry, kind);
    FIELD(log_entry, valid);
    TYPE(log_head), FIELD(log_head, tail), OBJECTS(log_head, entry, log_entry);
}

/* --- B-tree ---- */

static tree_node *node_new(int is_leaf)
{
    tree_node *n = NEW(tree_node);

    n->n = 0;
    n->is_leaf = is_leaf;
    for (int i = 0; i < 2 * ORDER; i++)
        n->child[i] = NULL;
    return n;
}

static void split_child(tree_node *x, int i, tree_node *y)
{
    tree_node *z = node_new(y->is_leaf);

    z->n = ORDER - 1;
    for (int j = 0; j < ORDER - 1; j++) {
        z->keys[j] = y->keys[j + ORDER];
        z->values[j] = y->values[j + ORDER];
    }
    if (!y->is_leaf) {
        for (int j = 0; j < ORDER; j++)
            z->child[j] = y->child[j + ORDER];
    }
    y->n = ORDER - 1;
    for (int j = x->n; j >= i + 1; j--)
        x->child[j + 1] = x->child[j];
    x->child[i + 1] = z;
    for (int j = x->n - 1; j >= i; j--) {
        x->keys[j + 1] = x->keys[j];
        x->values[j + 1] = x->values[j];
    }
    x->keys[i] = y->keys[ORDER - 1];
    x->values[i] = y->values[ORDER - 1];
    x->n = x->n + 1;
}

static void insert_nonfull(tree_node *x, uint64_t k, uint64_t v)
{
    int i = x->n - 1;

    if (x->is_leaf) {
        while (i >= 0 && x->keys[i] > k) {
            x->keys[i + 1] = x->keys[i];
            x->values[i + 1] = x->values[i];
            i--;
        }
        x->keys[i + 1] = k;
        x->values[i + 1] = v;
        x->n++;
    } else {
        while (i >= 0 && x->keys[i] > k)
            i--;
        i++;
        if (x->child[i]->n == 2 * ORDER - 1) {
            split_child(x, i, x->child[i]);
            if (k > x->keys[i])
                i++;
        }
        insert_nonfull(x->child[i], k, v);
    }
}

NOINLINE static void tree_insert(tree *t, uint64_t k, uint64_t v)
{
    tree_node *r = t->root;

    if (r->n == 2 * ORDER - 1) {
        tree_node *s = node_new(0);
        t->root = s;
        s->child[0] = r;
        t->height++;
        split_child(s, 0, r);
        insert_nonfull(s, k, v);
    } else {
        insert_nonfull(r, k, v);
    }
    t->count++;
}

/* --- Two levels ---- */

static uint64_t hash(const uint8_t *key, uint64_t seed)
{
    uint64_t h = seed;

    for (int i = 0; i < 16; i++)
        h = h * 31 + key[i];
    return h;
}

NOINLINE static level_hash *level_new(void)
{
    level_hash *l = NEW(level_hash);

    l->size[0] = TOP;
    l->size[1] = TOP / 2;
    l->seeds[0] = 7;
    l->seeds[1] = 11;
    l->buckets[0] = NEW_ARRAY(level_bucket, TOP);
    l->buckets[1] = NEW_ARRAY(level_bucket, TOP / 2);
    l->entries = 0;
    l->state = 1;
    return l;
}

NOINLINE static int level_insert(level_hash *l, const uint8_t *key, const uint8_t *value)
{
    for (int i = 0; i < 2; i++) {
        uint64_t f = hash(key, l->seeds[0]) % l->size[i], s = hash(key, l->seeds[1]) % l->size[i];
        for (int j = 0; j < SLOTS; j++) {
            if (l->buckets[i][f].token[j] == 0) {
                memcpy(l->buckets[i][f].slot[j].key, key, 16);
                memcpy(l->buckets[i][f].slot[j].value, value, 15);
                l->buckets[i][f].token[j] = 1;
                l->entries++;
                return 0;
            }
            if (l->buckets[i][s].token[j] == 0) {
                memcpy(l->buckets[i][s].slot[j].key, key, 16);
                memcpy(l->buckets[i][s].slot[j].value, value, 15);
                l->buckets[i][s].token[j] = 1;
                l->entries++;
                return 0;
            }
        }
    }
    return 1;
}

NOINLINE static int level_update(level_hash *l, const uint8_t *key, const uint8_t *value)
{
    for (int i = 0; i < 2; i++) {
        level_bucket *b = &l->buckets[i][hash(key, l->seeds[0]) % l->size[i]];
        for (int j = 0; j < SLOTS; j++) {
            if (b->token[j] != 1 || memcmp(b->slot[j].key, key, 16) != 0)
                continue;
            for (int k = 0; k < SLOTS; k++) {
                if (b->token[k] == 0) {
                    entry_t *e = &b->slot[k];
                    memcpy(e->key, key, sizeof e->key);
                    memcpy(e->value, value, sizeof e->value);
                    b->token[j] = 0;
                    b->token[k] = 1;
                    return 0;
                }
            }
            b->slot[j] = b->slot[(j + 1) % SLOTS];
            return 0;
        }
    }
    return 1;
}

NOINLINE static void level_expand(level_hash *l)
{
    level_bucket *fresh = NEW_ARRAY(level_bucket, TOP);

    memset(fresh, 0, sizeof *fresh * TOP);
    for (unsigned i = 0; i < TOP / 2; i++) {
        level_bucket *from = &l->buckets[1][i], *to = &fresh[i];
        *to = *from;
        fresh[i + TOP / 2].slot[1] = from->slot[0];
        fresh[i + TOP / 2].token[1] = from->token[0];
    }
    l->buckets[1] = l->buckets[0];
    l->buckets[0] = fresh;
    l->state = 2;
}

/* --- A log ---- */

NOINLINE static void append(log_head *l, uint64_t offset, uint32_t length)
{
    log_entry *e = &l->entry[l->tail % 16];

    e->valid = 0;
    e->offset = offset;
    e->length = length;
    e->kind = 3;
    e->valid = 1;
    l->tail++;
}

NOINLINE static void append_at(log_head *l, unsigned i, log_entry from)
{
    l->entry[i] = from;
    l->entry[i].valid = 1;
    l->tail = i + 1;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    truth_begin(argv[1]);
    describe();
    tree *t = NEW(tree);
    t->root = node_new(1);
    t->height = t->count = 0;
    for (uint64_t i = 0; i < 60; i++)
        tree_insert(t, (i * 7919) % 61, i);
    level_hash *l = level_new();
    for (unsigned i = 0; i < 20; i++) {
        uint8_t key[16] = {(uint8_t)i}, value[16] = {(uint8_t)(i * 3)};
        level_insert(l, key, value);
        level_update(l, key, value);
    }
    level_expand(l);
    log_head *log = NEW(log_head);
    for (unsigned i = 0; i < 20; i++)
        append(log, i, i * 2);
    for (unsigned i = 0; i < 5; i++)
        append_at(log, i, (log_entry){.offset = i});
    return 0;
}
