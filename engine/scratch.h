/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * scratch: numbers to numbers, for tables that are filled and forgotten a million times: clearing
 * one costs nothing. Keys are 64-bit hashes or numbers that already stand for the thing.
 */
#ifndef ENGINE_SCRATCH_H
#define ENGINE_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/mem.h"

struct scratch_slot {
    uint64_t key, value;
    uint64_t age; /* filled in this round when it equals the table's */
};

struct scratch {
    struct scratch_slot *slots;
    size_t n, cap; /* cap is a power of two, or 0 */
    uint64_t age;
};

enum { SCRATCH_SLOTS = 64 };

/* Spreads the bits of a key: neighbours must not end in neighbouring slots. */
static inline uint64_t scratch_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static inline void scratch_clear(struct scratch *s)
{
    s->age++;
    s->n = 0;
}

static inline void scratch_free(struct scratch *s)
{
    free(s->slots);
    *s = (struct scratch){0};
}

static inline struct scratch_slot *scratch_slot(const struct scratch *s, uint64_t key)
{
    size_t i = scratch_mix(key) & (s->cap - 1);
    while (s->slots[i].age == s->age && s->slots[i].key != key)
        i = (i + 1) & (s->cap - 1);
    return &s->slots[i];
}

static inline void scratch_grow(struct scratch *s)
{
    struct scratch old = *s;
    s->cap = old.cap ? old.cap * 2 : SCRATCH_SLOTS;
    s->slots = xcalloc(s->cap, sizeof *s->slots);
    s->age = old.age ? old.age : 1;
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].age == old.age)
            *scratch_slot(s, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

/* The value under key, or NULL. */
static inline uint64_t *scratch_get(const struct scratch *s, uint64_t key)
{
    if (!s->n)
        return NULL;
    struct scratch_slot *slot = scratch_slot(s, key);
    return slot->age == s->age ? &slot->value : NULL;
}

/* The value under key, added as `fresh` when it was not there; valid until the next call. */
static inline uint64_t *scratch_put(struct scratch *s, uint64_t key, uint64_t fresh)
{
    if (2 * (s->n + 1) > s->cap)
        scratch_grow(s);
    struct scratch_slot *slot = scratch_slot(s, key);
    if (slot->age != s->age) {
        *slot = (struct scratch_slot){.key = key, .value = fresh, .age = s->age};
        s->n++;
    }
    return &slot->value;
}

#endif
