/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * map: byte strings to 64-bit numbers, by open addressing over xxHash. Keys are copied, and
 * shorter than 4 GiB. There is no removal: a caller that retires an entry sets its value to one that means nothing.
 */
#ifndef ENGINE_MAP_H
#define ENGINE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot;

struct map {
    struct map_slot *slots;
    size_t n, cap;
    struct map_block *blocks; /* the arena of keys, newest first */
};

void map_free(struct map *m);

/* The same where the values are pointers to allocated memory, which is freed too. */
void map_free_owned(struct map *m);

/* The value under key, or NULL. O(1). */
uint64_t *map_get(const struct map *m, const void *key, size_t size);

/* The value under key, added as 0 when it was not there; *added says which (may be NULL). The
 * pointer is valid until the next map_put. */
uint64_t *map_put(struct map *m, const void *key, size_t size, bool *added);

/* Calls visit for every entry, in no particular order. */
void map_each(const struct map *m,
              void (*visit)(const void *key, size_t size, uint64_t value, void *data), void *data);

#endif
