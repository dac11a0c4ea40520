/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fields: which field of which object each store of a session wrote, and how the objects are laid
 * out. It is worked out from the program's debug info (engine/types.h) when a recording ends and
 * kept with the session, so that it is there on a machine that does not have the program.
 *
 * Types and texts have numbers, from 1; 0 is none. All text comes from debug info or from a
 * session: it is to be escaped before it is shown.
 */
#ifndef ENGINE_FIELDS_H
#define ENGINE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/buf.h"
#include "engine/error.h"
#include "engine/interrupt.h"
#include "engine/session.h"
#include "engine/symbols.h"

/* What a store event wrote. */
struct stored_field {
    uint64_t event;
    uint64_t instance, outer_instance; /* where the objects begin in the file, + 1; 0: not known */
    uint64_t member;                   /* of the field in its type, all indices taken as 0 */
    uint32_t type;                     /* the innermost struct or union; 0: not known */
    uint32_t outer;      /* the outermost that is known to lie around it; may be type itself */
    uint32_t path;       /* text: "slot[2].key", from the outermost type */
    uint32_t words;      /* text: "slot[2].key = 7"; 0 when there is no path */
    uint32_t field;      /* text: "entry.key": the type's name and the field's, without indices */
    uint32_t confidence; /* enum type_confidence */
};

/* A part of an object that is not made of parts. */
struct field_leaf {
    uint64_t offset, size;
    uint32_t bit, bits; /* of a bit-field; else 0 */
    uint32_t kind;      /* enum type_kind; TYPE_VOID for padding */
    uint32_t path;      /* text */
};

struct fields;

/* What the session has, or what can be worked out now, which is kept when it can be. A session
 * without stores has none. Fails when the session cannot be read, or when it is interrupted. */
bool fields_open(struct fields **out, struct session *s, struct symbols *symbols,
                 const struct interrupt *interrupt, struct error *e);
void fields_close(struct fields *f);

/* Works it out at the end of a recording. */
bool fields_capture(const char *path, struct error *e);

/* NULL when the event is no store, or nothing is known of it. O(log n). f may be NULL. */
const struct stored_field *fields_of(const struct fields *f, uint64_t event);
size_t fields_count(const struct fields *f);

/* Adds what a store wrote, from the outermost type on: "bucket.slot[2].key = 7"; "bucket.key" when
 * the place in the object is not known, nothing when not even that is. To be escaped. */
void fields_add_words(struct buf *out, const struct fields *f, const struct stored_field *at);

const char *fields_text(const struct fields *f, uint32_t text);
const char *fields_type_name(const struct fields *f, uint32_t type);
uint64_t fields_type_size(const struct fields *f, uint32_t type);
uint32_t fields_type_count(const struct fields *f);

/* The parts of a type in order of their offsets; at most FIELDS_LEAVES_MAX, the first ones. */
enum { FIELDS_LEAVES_MAX = 4096 };
size_t fields_leaves(const struct fields *f, uint32_t type, const struct field_leaf **out);

/* Adds what a leaf's bytes mean; `object` are those of the object, from its beginning. Names of
 * enum values are not known here. */
void field_leaf_words(struct buf *out, const struct field_leaf *leaf, const void *object);

#endif
