/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What fields.c (reading), fields_find.c (working it out) and fields_keep.c (the session's tables)
 * share. Nothing else includes it.
 */
#ifndef ENGINE_FIELDS_INSIDE_H
#define ENGINE_FIELDS_INSIDE_H

#include "engine/fields.h"
#include "engine/vec.h"

struct field_type {
    uint64_t size;
    uint32_t name;         /* text */
    uint32_t first, count; /* of its leaves */
};

struct fields {
    vec_of(struct stored_field) stores; /* by event */
    vec_of(struct field_type) types;    /* number − 1 */
    vec_of(struct field_leaf) leaves;
    struct buf texts;         /* one behind another, each ended by NUL */
    vec_of(uint64_t) text_at; /* number − 1 → place */
};

/* Everything, from the debug info of the modules. */
bool fields_find(struct fields *f, struct session *s, struct symbols *symbols,
                 const struct interrupt *interrupt, struct error *e);

/* False, with an error only in the second case, when the session has none, or it is damaged. */
enum fields_loaded { FIELDS_LOADED, FIELDS_ABSENT, FIELDS_DAMAGED };
enum fields_loaded fields_load(struct fields *f, struct session *s, struct error *e);
bool fields_keep(const struct fields *f, struct session *s, struct error *e);

void fields_clear(struct fields *f);

#endif
