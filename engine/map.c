/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/mem.h"

enum { FIRST_SLOTS = 64, BLOCK_SIZE = 64 * 1024 };

/* Traces have millions of them. */
struct map_slot {
    const void *key; /* NULL: empty */
    uint64_t value;
    uint32_t hash, size;
};

struct map_block {
    struct map_block *next;
    size_t used, cap;
    char bytes[];
};

static const void *keep_key(struct map *m, const void *key, size_t size)
{
    struct map_block *block = m->blocks;
    if (!block || block->cap - block->used < size + 1) {
        size_t cap = size + 1 > BLOCK_SIZE ? size + 1 : BLOCK_SIZE;
        block = xmalloc(sizeof *block + cap);
        block->next = m->blocks;
        block->used = 0;
        block->cap = cap;
        m->blocks = block;
    }
    char *copy = block->bytes + block->used;
    if (size)
        memcpy(copy, key, size);
    copy[size] = '\0';
    block->used += size + 1;
    return copy;
}

static struct map_slot *find(const struct map *m, const void *key, size_t size, uint32_t hash)
{
    size_t mask = m->cap - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct map_slot *s = &m->slots[i];
        if (!s->key)
            return s;
        if (s->hash == hash && s->size == size && memcmp(s->key, key, size) == 0)
            return s;
    }
}

static void grow(struct map *m)
{
    struct map old = *m;
    m->cap = old.cap ? old.cap * 2 : FIRST_SLOTS;
    m->slots = xcalloc(m->cap, sizeof *m->slots);
    for (size_t i = 0; i < old.cap; i++) {
        const struct map_slot *s = &old.slots[i];
        if (s->key)
            *find(m, s->key, s->size, s->hash) = *s;
    }
    free(old.slots);
}

uint64_t *map_get(const struct map *m, const void *key, size_t size)
{
    if (!m->cap)
        return NULL;
    struct map_slot *s = find(m, key, size, (uint32_t)XXH3_64bits(key, size));
    return s->key ? &s->value : NULL;
}

uint64_t *map_put(struct map *m, const void *key, size_t size, bool *added)
{
    if ((m->n + 1) * 4 > m->cap * 3)
        grow(m);
    uint32_t hash = (uint32_t)XXH3_64bits(key, size);
    struct map_slot *s = find(m, key, size, hash);
    bool fresh = !s->key;
    if (fresh) {
        *s = (struct map_slot){
            .key = keep_key(m, key, size), .hash = hash, .size = (uint32_t)size};
        m->n++;
    }
    if (added)
        *added = fresh;
    return &s->value;
}

void map_each(const struct map *m,
              void (*visit)(const void *key, size_t size, uint64_t value, void *data), void *data)
{
    for (size_t i = 0; i < m->cap; i++)
        if (m->slots[i].key)
            visit(m->slots[i].key, m->slots[i].size, m->slots[i].value, data);
}

static void free_value(const void *key, size_t size, uint64_t value, void *data)
{
    (void)key, (void)size, (void)data;
    free((void *)(uintptr_t)value);
}

void map_free_owned(struct map *m)
{
    map_each(m, free_value, NULL);
    map_free(m);
}

void map_free(struct map *m)
{
    while (m->blocks) {
        struct map_block *next = m->blocks->next;
        free(m->blocks);
        m->blocks = next;
    }
    free(m->slots);
    *m = (struct map){0};
}
