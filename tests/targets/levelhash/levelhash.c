/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "levelhash.h"

enum { CHOICES = 2, BUCKETS = TOP + TOP / LEVELS };

static uint64_t bit(int slot)
{
    return UINT64_C(1) << slot;
}

/* The i-th bucket that a key may lie in: two of the top, then two of the bottom. */
static struct bucket *bucket_of(struct table *t, uint64_t key, int i)
{
    uint64_t n = i < CHOICES ? TOP : TOP / LEVELS;
    uint64_t hash = i % CHOICES ? key / n + key * 7 : key;
    return i < CHOICES ? &t->top[hash % n] : &t->bottom[hash % n];
}

static int free_slot(const struct bucket *b)
{
    for (int i = 0; i < SLOTS; i++)
        if (!(b->tokens & bit(i)))
            return i;
    return -1;
}

static int slot_of(const struct bucket *b, uint64_t key)
{
    for (int i = 0; i < SLOTS; i++)
        if ((b->tokens & bit(i)) && b->slot[i].key == key)
            return i;
    return -1;
}

static void insert_at(struct bucket *b, int slot, uint64_t key, uint64_t value)
{
    struct entry *e = &b->slot[slot];
    e->key = key;
    e->value = value; /* bug:value-inserted */
    /* The mistake: both lines are flushed, but only when the token is set already. */
    if (fixed)
        persist(e, sizeof *e);
    b->tokens |= bit(slot); /* bug:token-set */
    if (!fixed)
        flush(e, sizeof *e);
    persist(&b->tokens, sizeof b->tokens);
}

bool level_insert(struct table *t, uint64_t key, uint64_t value)
{
    for (int i = 0; i < LEVELS * CHOICES; i++) {
        struct bucket *b = bucket_of(t, key, i);
        int slot = free_slot(b);
        if (slot >= 0) {
            insert_at(b, slot, key, value);
            return true;
        }
    }
    return false;
}

static void move_to(struct bucket *b, int old, int slot, uint64_t value)
{
    struct entry *e = &b->slot[slot];
    e->key = b->slot[old].key;
    e->value = value;
    persist(e, sizeof *e);
    if (fixed)
        b->tokens = (b->tokens & ~bit(old)) | bit(slot);
    else {
        /* The mistake: one word, but two stores. Between them the key is in neither slot. */
        b->tokens &= ~bit(old); /* bug:token-cleared */
        b->tokens |= bit(slot);
    }
    persist(&b->tokens, sizeof b->tokens);
}

bool level_update(struct table *t, uint64_t key, uint64_t value)
{
    for (int i = 0; i < LEVELS * CHOICES; i++) {
        struct bucket *b = bucket_of(t, key, i);
        int old = slot_of(b, key), slot = free_slot(b);
        if (old >= 0 && slot >= 0) {
            move_to(b, old, slot, value);
            return true;
        }
    }
    return false;
}

static bool read_bucket(const struct bucket *b, int32_t values[KEYS])
{
    for (int i = 0; i < SLOTS; i++) {
        const struct entry *e = &b->slot[i];
        if (!(b->tokens & bit(i)))
            continue;
        if (e->key < 1 || e->key > KEYS || e->value == 0) {
            fprintf(stderr, "a slot in use has the key %d and the value %d\n", (int)e->key,
                    (int)e->value);
            return false;
        }
        if (values[e->key - 1]) {
            fprintf(stderr, "key %d is there twice\n", (int)e->key);
            return false;
        }
        values[e->key - 1] = (int32_t)e->value;
    }
    return true;
}

bool level_read(const struct table *t, int32_t values[KEYS])
{
    memset(values, 0, KEYS * sizeof *values);
    for (int i = 0; i < BUCKETS; i++)
        if (!read_bucket(i < TOP ? &t->top[i] : &t->bottom[i - TOP], values))
            return false;
    return true;
}

struct table *level_open(const char *dir)
{
    return map_in(dir, "table", sizeof(struct table));
}

void level_close(struct table *t)
{
    munmap(t, sizeof *t);
}
