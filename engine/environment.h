/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * environment: the foreign ops that may be lost together with a behaviour's own: issued before its
 * last op, and not durable when its first was issued. They are varied one location at a time, so
 * they come by location: data, allocations, zeroing and moves by file and block; stores by cache
 * line, or by block where they go by page; sizes by file; names by directory entry.
 *
 * A trace that is never synced has every earlier op in every environment. So only the latest ones
 * are taken, up to a limit, and what was left out is counted (exactly, without a walk).
 */
#ifndef ENGINE_ENVIRONMENT_H
#define ENGINE_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

#include "engine/graph.h"

/* Ops that an environment takes in when nothing else is said: each is a location to vary, for
 * every schedule. The latest are the likeliest to matter. */
enum { ENVIRONMENT_MAX = 64 };

enum location_sort { LOCATION_BLOCK = 1, LOCATION_SIZE, LOCATION_ENTRY, LOCATION_CACHE_LINE };

struct environment_location {
    uint64_t place; /* the block or line, or the entry's key; 0 for a size */
    uint32_t file;  /* 0 for an entry */
    uint32_t sort;  /* enum location_sort */
    uint32_t last;  /* its latest op: environment.ops[last] */
    uint32_t count; /* of ops */
    uint32_t kinds; /* bit k: an op of kind k */
};

struct environment {
    uint32_t *ops;     /* the latest first */
    uint32_t *earlier; /* of ops[i], the op before it at its location: its index, or NO_OP */
    size_t n;          /* of ops */
    struct environment_location *locations; /* by their latest op, the latest first */
    size_t location_count;
    uint64_t left_out; /* ops beyond the limit */
};

/* A key for the directory entry that a name op changes (of two, the one that it makes); equal for
 * equal entries. */
typedef uint64_t environment_entry_fn(void *data, uint32_t op);

struct environments;

/* For asking after many behaviours. entry may be NULL: names then go by their file. The graph must
 * outlive it. O(n log n); less than a
 * byte an op besides 16 for each run of ops that become durable together. */
struct environments *environments_new(const struct graph *g, environment_entry_fn *entry,
                                      void *data);
void environments_free(struct environments *s);

/* The location of an op: place, file and sort are set. */
struct environment_location environment_locate(const struct environments *s, uint32_t op);

/* One number for a location, equal for equal ones. */
uint64_t environment_key(const struct environment_location *at);

/* The environment of the given ops (ascending, at least one), at most `limit` ops of it. The answer
 * is valid until the next call. O(limit + n) besides a search. */
const struct environment *environment_of(struct environments *s, const uint32_t *ops, size_t n,
                                         size_t limit);

#endif
