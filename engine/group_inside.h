/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What grouping and explaining share: a behaviour as labels with an order among them.
 */
#ifndef ENGINE_GROUP_INSIDE_H
#define ENGINE_GROUP_INSIDE_H

#include "engine/group.h"
#include "engine/map.h"
#include "engine/scratch.h"
#include "engine/vec.h"

/* An op of a behaviour with what must be equal for it to match another. No two ops of one behaviour
 * have the same label. */
struct label {
    uint64_t value;
    uint32_t op;
};

/* One kind of location of an environment. */
struct env_kind {
    uint64_t value;
    uint32_t op; /* an op there */
};

/* One behaviour at a time: filled by describe(), forgotten by the next. */
struct description {
    vec_of(uint32_t) actions;
    vec_of(struct label) labels;   /* in the order of ops */
    vec_of(uint32_t) ops;          /* of labels */
    vec_of(uint64_t) values;       /* of labels */
    vec_of(uint64_t) below;        /* graph_closure of ops */
    vec_of(struct env_kind) kinds; /* ascending, each once */
    uint64_t env_left_out;
    struct scratch events;     /* kind of event → how many so far */
    struct scratch locations;  /* locations and files of its own ops → label */
    struct scratch kinds_seen; /* to have each once */
};

/* Ops of one behaviour's kind, by label, with their order. */
struct shape {
    uint64_t function;
    uint64_t *labels; /* ascending */
    uint64_t *below;  /* rows and columns in the order of labels; NULL: too large to compare */
    uint64_t edges;
    uint64_t filter; /* a bit for each label, by its hash: what is not here is not there */
    uint32_t n;
    uint32_t variants;      /* signatures that have this shape */
    uint32_t first_variant; /* chained by variant.next */
};

/* What a signature has besides: its environment. */
struct variant {
    uint64_t *kinds; /* ascending */
    uint64_t filter;
    uint32_t n;
    uint32_t next; /* of the same shape, NO_VARIANT at the end */
};

#define NO_VARIANT UINT32_MAX

struct group_inside {
    const struct behaviours *list;
    const struct graph *g;
    struct environments *environments;
    struct group_options options;
    uint32_t *origin; /* of each op: a number for the call path and family it came by */
    struct description d;
    vec_of(struct shape) shapes;
    vec_of(struct variant) variants; /* by signature */
    struct map raw_shapes;           /* labels and order as issued → shape */
    struct map sorted_shapes;        /* the same by label → shape */
    struct map signatures;           /* (shape, environment) → signature */
};

/* Fills s->d with labels, order (unless it is too large) and environment of a behaviour. Returns
 * whether it is small enough. */
bool group_describe(struct group_inside *s, uint32_t behaviour);

/* Whether a set of kinds is part of another; both ascending. */
bool group_kinds_within(const uint64_t *kinds, size_t n, const uint64_t *all, size_t all_n,
                        size_t *missing);

static inline size_t group_words(size_t n)
{
    return (n + 63) / 64;
}

static inline bool group_bit(const uint64_t *rows, size_t n, size_t row, size_t column)
{
    return rows[row * group_words(n) + column / 64] >> (column % 64) & 1;
}

#endif
