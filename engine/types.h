/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * types: which field of which object a store writes.
 *
 * The code that stores is followed from the entry of its function (engine/type_flow.h), once for
 * each function; what a code address stores to is then kept. Where that says nothing, or not which
 * object, what earlier stores told of the memory does (engine/type_address.h). No answer is a
 * guess: when in doubt a store has no type.
 *
 * An *instance* is one object in memory. A store has two: the innermost struct or union that has
 * the field, and the outermost that is known to lie around it (the composite type of §4.2.1); they
 * may be one. Types are compared by pointer: the same struct of two units or modules is one.
 *
 * Not safe for several threads at once.
 */
#ifndef ENGINE_TYPES_H
#define ENGINE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/binary.h"
#include "engine/buf.h"
#include "engine/stream.h"
#include "engine/type_info.h"

struct types;

/* How an answer was found, the best last. */
enum type_confidence {
    TYPE_UNKNOWN,    /* neither code nor address say */
    TYPE_BY_ADDRESS, /* an object that is known to be there has the field */
    TYPE_BY_FIELD,   /* the code says which field, but not which instance: an index is unknown. The
                        instance is given all the same when one is known to be there */
    TYPE_EXACT,      /* the code says which field and which instance */
};
const char *type_confidence_name(enum type_confidence c);

/* Hands out the binary of a module of a stack's frames, NULL when it cannot be had. It stays the
 * owner; the binaries must last until types_close(). */
typedef struct binary *types_binary(void *data, uint32_t module);

struct types *types_open(types_binary *binary_of, void *data);
void types_close(struct types *t);

/* A store of the trace. */
struct type_store {
    const struct frame *frames; /* innermost first; the first is exact */
    size_t frame_count;
    uint64_t address;
    uint64_t size;
    const void *bytes; /* what was written; NULL when that is not known */
    uint64_t mapping;  /* where the mapping it lies in begins, which PMDK's handles count from; 0
                          when that is not known */
    uint32_t thread;
};

struct type_answer {
    enum type_confidence confidence;
    struct type *type;  /* the innermost struct or union; NULL when unknown */
    struct type *field; /* what is written, the first of several; may be known when type is not */
    struct type *outer; /* the outermost type known to be around it; may be type itself */
    uint64_t instance, outer_instance; /* where they begin; 0 when not known */
    uint64_t offset;                   /* of the store in type; unknown indices taken as 0 */
    uint64_t member;                   /* of its field in type, all indices taken as 0: equal for
                                          stores to equal fields, whatever element they write */
    const char *path; /* when outer_instance is not known: from outer, [] for an unknown index. Ask
                         types_path() */
};

/* Answers for stores in the order of the trace. What they write is remembered for those to come.
 * Stores of one copy (memcpy and the like) are understood together, so they should not be split
 * between two calls. O(n log n), besides what is cold. */
void types_stores(struct types *t, const struct type_store *stores, size_t n,
                  struct type_answer *out);

/* Memory whose contents are no longer what they were: unmapped or freed. */
void types_expire(struct types *t, uint64_t address, uint64_t size);

/* The name of the field that a store wrote, from the outermost type and with indices:
 * "entry[3].valid"; "" when the answer has none. */
void types_path(const struct type_answer *a, uint64_t address, uint64_t size, struct buf *out);

/* What one code address stores to, by itself; cached. */
struct type_site {
    bool found;        /* whether the code could be followed to a store there */
    struct type *type; /* as in type_answer; NULL when the code does not say */
    struct type *field, *outer;
    uint64_t offset, member;
    uint64_t type_offset;             /* of type in outer, unknown indices taken as 0 */
    bool instance_known, outer_known; /* whether subtracting offsets from the address finds them */
    uint16_t size;
    const char *path;
};

/* For measuring: functions followed, code addresses asked for, and nanoseconds spent on it. */
struct type_cost {
    uint64_t functions, addresses, nanoseconds;
};
struct type_cost types_cost(const struct types *t);

#endif
