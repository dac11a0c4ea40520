/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * type_words: stores and objects as people read them: "entry[3].valid = 1", and an object field by
 * field. All text is safe to be shown.
 */
#ifndef ENGINE_TYPE_WORDS_H
#define ENGINE_TYPE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/buf.h"
#include "engine/types.h"

/* A field that is not made of fields, or padding. */
struct type_leaf {
    const char *path; /* from the type walked: "slot[2].key"; as in the debug info, to be escaped */
    struct type *type;     /* NULL for padding. Arrays of char and unions are leaves */
    uint64_t offset, size; /* in the type walked */
    uint32_t bit, bits;    /* of a bit-field, as in type_field; else 0 */
};

/* Calls leaf for everything in an object of type t that touches the bytes from … to, by offset.
 * What lies in an array comes element by element. False when leaf returned false, which ends it.
 * O(what is handed out), and members on the way. */
bool type_walk(struct type *t, uint64_t from, uint64_t to,
               bool (*leaf)(void *data, const struct type_leaf *leaf), void *data);

/* Adds what bytes mean as a value of type t: numbers, 'c', "text", names of enum values, NULL and
 * 0x… for pointers, else bytes in hexadecimal. NULL is hexadecimal too. */
void type_value_words(struct buf *out, struct type *t, const void *bytes, size_t n);

/* The same for a leaf; `object` are the bytes of the object that was walked. */
void type_leaf_words(struct buf *out, const struct type_leaf *leaf, const void *object);

/* Adds what a store wrote: "entry[3].valid = 1", several fields with commas between them. When
 * `before` says what was there, fields that stayed as they were are left out. False, with nothing
 * added, when the answer has no type. */
bool types_store_words(const struct type_answer *a, uint64_t address, uint64_t size,
                       const void *bytes, const void *before, struct buf *out);

#endif
