/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * type_value: what is known of a 64-bit value while code is followed: a linear form
 *
 *     base + offset + Σ stride · symbol
 *
 * whose base is nothing, the frame of the function (its CFA), or a pointer to an object of a known
 * type, perhaps one that the function was given as its n-th argument. A symbol stands for a number
 * that nobody knows, always the same one while it has a name; SYMBOL_ANY stands for another one
 * each time. So PTR(entry) + 8 + 24·i is the second word of some element of an array of
 * entries, and 32·i + i is 33·i.
 */
#ifndef ENGINE_TYPE_VALUE_H
#define ENGINE_TYPE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/type_info.h"

enum {
    VALUE_TERMS = 4,
    ARGUMENTS = 6, /* that come in registers */
    SYMBOL_ANY = 0,
    SYMBOL_ARGUMENT = 1, /* what the first argument was on entry; then the others */
    SYMBOL_FREE = SYMBOL_ARGUMENT + ARGUMENTS,
};

enum value_base { BASE_NONE, BASE_FRAME, BASE_POINTER };

struct term {
    int64_t stride;
    uint32_t symbol;
};

struct value {
    uint8_t base;    /* enum value_base */
    uint8_t n;       /* terms */
    int8_t argument; /* of BASE_POINTER: which one it was on entry, −1 for none */
    bool relative;   /* of BASE_POINTER: a distance from some pool's start, to be added to that */
    bool folded; /* terms were put together: the offset may hold a part of what they stood for */
    int64_t offset;
    struct type *pointee; /* of BASE_POINTER */
    struct term terms[VALUE_TERMS];
};

struct value value_number(int64_t n);
struct value value_symbol(uint32_t symbol);
struct value value_pointer(struct type *pointee, int64_t offset);
struct value value_frame(int64_t offset);

static inline bool value_is_number(const struct value *v, int64_t *n)
{
    *n = v->offset;
    return v->base == BASE_NONE && v->n == 0;
}

bool value_equal(const struct value *a, const struct value *b);

/* Arithmetic. What cannot be a linear form becomes 1·symbol, the symbol being the caller's for
 * this place. */
struct value value_add(struct value a, struct value b, uint32_t symbol);
struct value value_subtract(struct value a, struct value b, uint32_t symbol);
struct value value_scale(struct value a, int64_t factor, uint32_t symbol);

/* The form of an index that was extended from 32 bits: i − 1 is just another index, so that its
 * constant cannot be mistaken for a part of an address. */
struct value value_extended(struct value v, uint32_t symbol);

/* What is true of both: a loop's pointer to elements of T stays one. The symbol is that of this
 * place and this meeting point. */
struct value value_merge(const struct value *a, const struct value *b, uint32_t symbol);

/* Which argument the form is a place behind of, −1 for none; *rest is the distance. */
int value_argument(const struct value *v, struct value *rest);

/* Puts what a symbol is known to be in its place. */
struct value value_substitute(struct value v, uint32_t symbol, struct value meaning);

/* The symbol gets another meaning: what was said with it becomes SYMBOL_ANY. */
void value_forget(struct value *v, uint32_t symbol);

#endif
