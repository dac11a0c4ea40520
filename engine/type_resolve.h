/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * type_resolve: from a place in an object to the field that lies there.
 *
 * A linear form is resolved by matching its strides to the sizes of array elements, from the
 * outside in. What does not fit the type to the byte is not resolved: an answer is never a guess.
 */
#ifndef ENGINE_TYPE_RESOLVE_H
#define ENGINE_TYPE_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/buf.h"
#include "engine/type_value.h"

/* A place in an object of type `outer`, of which `holder` is the innermost struct or union that
 * has all of it. */
struct type_spot {
    struct type *outer;
    struct type *holder;    /* NULL when outer is no struct and has none */
    struct type *field;     /* what lies there, when one field does; else the first of several */
    uint64_t offset;        /* of the place in holder, indices that are not known taken as 0 */
    uint64_t member;        /* the same with all indices taken as 0: equal for equal fields */
    uint64_t holder_offset; /* of holder in outer, likewise */
    bool holder_known;      /* where holder begins follows from the place's address */
    bool outer_known;       /* and so does where outer begins */
    struct buf path;        /* from outer: "slots[].key[3]", [] for an index that is not known */
    size_t holder_path;     /* how much of it leads to holder */
};

enum spot_fit {
    FIT_WHOLE, /* whole fields */
    FIT_PART,  /* also a part of one: a byte of an int that is read and written back */
    FIT_ANY,   /* any bytes of the object: one of many stores of a copy */
};

/* Finds what `size` bytes at the form are part of. False when nothing fits. Free with spot_free().
 * O(depth · members). */
bool spot_of_value(const struct value *v, uint64_t size, enum spot_fit fit, struct type_spot *out);

/* The same for a known offset into an object of type t. */
bool spot_of_offset(struct type *t, uint64_t offset, uint64_t size, enum spot_fit fit,
                    struct type_spot *out);

void spot_free(struct type_spot *s);

/* The pointer that lies at the form, as a value: PTR(T), or a handle's relative one. False when
 * there is none. */
bool pointer_at_value(const struct value *v, struct value *out);

/* The same at an offset into an object of type t. */
bool pointer_at_offset(struct type *t, uint64_t offset, struct value *out);

/* Whether the form is where an object of type t begins. */
bool value_begins(const struct value *v, struct type *t);

/* Whether an object of type t begins at `offset` of an object of type outer. */
bool type_holds(struct type *outer, uint64_t offset, struct type *t);

#endif
