/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Arithmetic wraps as the machine's does. Strides beyond STRIDE_MAX belong to no array.
 */
#include "engine/type_value.h"

#include <stdlib.h>
#include <string.h>

#define STRIDE_MAX (INT64_C(1) << 40)

struct value value_number(int64_t n)
{
    return (struct value){.argument = -1, .offset = n};
}

struct value value_symbol(uint32_t symbol)
{
    return (struct value){.argument = -1, .n = 1, .terms = {{1, symbol}}};
}

struct value value_pointer(struct type *pointee, int64_t offset)
{
    return (struct value){
        .base = BASE_POINTER, .argument = -1, .pointee = pointee, .offset = offset};
}

struct value value_frame(int64_t offset)
{
    return (struct value){.base = BASE_FRAME, .argument = -1, .offset = offset};
}

static bool same_base(const struct value *a, const struct value *b)
{
    return a->base == b->base && a->argument == b->argument && a->relative == b->relative &&
           a->pointee == b->pointee;
}

static bool has_term(const struct value *v, struct term t)
{
    for (int i = 0; i < v->n; i++) {
        if (v->terms[i].stride == t.stride && v->terms[i].symbol == t.symbol)
            return true;
    }
    return false;
}

bool value_equal(const struct value *a, const struct value *b)
{
    if (!same_base(a, b) || a->offset != b->offset || a->n != b->n || a->folded != b->folded)
        return false;
    for (int i = 0; i < a->n; i++) {
        if (!has_term(b, a->terms[i]))
            return false;
    }
    return true;
}

static int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* Adds a term; false when there is no room or the stride is no stride. */
static bool add_term(struct value *v, struct term t)
{
    if (t.stride > STRIDE_MAX || t.stride < -STRIDE_MAX)
        return false;
    for (int i = 0; i < v->n && t.symbol != SYMBOL_ANY; i++) {
        if (v->terms[i].symbol != t.symbol)
            continue;
        v->terms[i].stride += t.stride;
        if (v->terms[i].stride == 0)
            v->terms[i] = v->terms[--v->n];
        return true;
    }
    if (t.symbol == SYMBOL_ANY) { /* any multiple and any multiple are any multiple */
        t.stride = llabs(t.stride);
        for (int i = 0; i < v->n; i++) {
            if (v->terms[i].symbol == SYMBOL_ANY && t.stride % v->terms[i].stride == 0) {
                v->folded = true;
                return true;
            }
        }
    }
    if (t.stride == 0)
        return true;
    if (v->n == VALUE_TERMS)
        return false;
    v->terms[v->n++] = t;
    return true;
}

static bool add_terms(struct value *v, const struct value *from)
{
    for (int i = 0; i < from->n; i++) {
        if (!add_term(v, from->terms[i]))
            return false;
    }
    return true;
}

/* A handle's distance plus where its pool lies, known only as a number, is the pointer itself. */
static bool is_pool_base(const struct value *v)
{
    return v->base == BASE_NONE && v->n == 1 && v->terms[0].stride == 1 && v->offset == 0;
}

struct value value_add(struct value a, struct value b, uint32_t symbol)
{
    if (a.base == BASE_NONE && b.base != BASE_NONE) {
        struct value swap = a;
        a = b;
        b = swap;
    }
    if (a.base == BASE_POINTER && a.relative &&
        (is_pool_base(&b) || (b.base == BASE_POINTER && !b.relative))) {
        a.relative = false;
        a.argument = -1;
        return a;
    }
    if (b.base == BASE_POINTER && b.relative)
        return value_add(b, a, symbol);
    if (b.base != BASE_NONE)
        return value_symbol(symbol);
    a.offset = plus(a.offset, b.offset);
    a.folded |= b.folded;
    return add_terms(&a, &b) ? a : value_symbol(symbol);
}

struct value value_subtract(struct value a, struct value b, uint32_t symbol)
{
    /* The same pointer on both sides cannot be told: PTR(T) is some T each time. */
    if (b.base != BASE_NONE)
        return value_symbol(symbol);
    return value_add(a, value_scale(b, -1, symbol), symbol);
}

struct value value_scale(struct value a, int64_t factor, uint32_t symbol)
{
    if (factor == 1)
        return a;
    if (a.base != BASE_NONE || factor > STRIDE_MAX || factor < -STRIDE_MAX)
        return value_symbol(symbol);
    struct value out = value_number(times(a.offset, factor));
    out.folded = a.folded;
    for (int i = 0; i < a.n; i++) {
        struct term t = {times(a.terms[i].stride, factor), a.terms[i].symbol};
        if (!add_term(&out, t))
            return value_symbol(symbol);
    }
    return out;
}

struct value value_extended(struct value v, uint32_t symbol)
{
    if (v.base != BASE_NONE)
        return value_symbol(symbol);
    int64_t stride = v.n == 1 ? llabs(v.terms[0].stride) : 0; /* INT64_MIN % -1 would trap */
    if (stride && v.offset != 0 && v.offset % stride == 0) {
        v.offset = 0;
        v.terms[0].symbol = symbol;
    }
    return v;
}

void value_forget(struct value *v, uint32_t symbol)
{
    for (int i = 0; i < v->n; i++) {
        if (v->terms[i].symbol != symbol)
            continue;
        struct term t = {v->terms[i].stride, SYMBOL_ANY};
        v->terms[i] = v->terms[--v->n];
        add_term(v, t); /* there is room: one was just taken out */
        i--;
    }
}

int value_argument(const struct value *v, struct value *rest)
{
    if (v->base == BASE_POINTER && v->argument >= 0) {
        *rest = *v;
        rest->base = BASE_NONE;
        rest->argument = -1;
        rest->pointee = NULL;
        return v->argument;
    }
    for (int i = 0; i < v->n && v->base == BASE_NONE; i++) {
        struct term t = v->terms[i];
        if (t.stride != 1 || t.symbol < SYMBOL_ARGUMENT || t.symbol >= SYMBOL_FREE)
            continue;
        *rest = *v;
        rest->terms[i] = rest->terms[--rest->n];
        return (int)(t.symbol - SYMBOL_ARGUMENT);
    }
    return -1;
}

struct value value_substitute(struct value v, uint32_t symbol, struct value meaning)
{
    for (int i = 0; i < v.n && v.base == BASE_NONE; i++) {
        if (v.terms[i].stride != 1 || v.terms[i].symbol != symbol)
            continue;
        struct value rest = v;
        rest.terms[i] = rest.terms[--rest.n];
        struct value out = value_add(meaning, rest, SYMBOL_ANY);
        return out.base == meaning.base ? out : v;
    }
    return v;
}

/* --- Where ways meet ---------------------------------------------------------------------- */

static bool is_null(const struct value *v)
{
    int64_t n;

    return value_is_number(v, &n) && n == 0;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    a = llabs(a);
    b = llabs(b);
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Two numbers: what both have, and a multiple of what divides all differences, by a symbol of this
 * place. */
static struct value merge_numbers(const struct value *a, const struct value *b, uint32_t symbol)
{
    int64_t stride = llabs(b->offset / 2 - a->offset / 2) > STRIDE_MAX ? 1 : b->offset - a->offset;
    struct value out = value_number(a->offset);

    for (int i = 0; i < a->n; i++) {
        if (has_term(b, a->terms[i]) && a->terms[i].symbol != symbol)
            add_term(&out, a->terms[i]);
        else
            stride = common_divisor(stride, a->terms[i].stride);
    }
    for (int i = 0; i < b->n; i++) {
        if (!has_term(a, b->terms[i]) || b->terms[i].symbol == symbol)
            stride = common_divisor(stride, b->terms[i].stride);
    }
    out.folded = a->folded || b->folded || a->n > 1 || b->n > 1;
    stride = llabs(stride);
    if (stride && !add_term(&out, (struct term){stride > STRIDE_MAX ? 1 : stride, symbol}))
        return value_symbol(symbol);
    return out;
}

static struct value merge_pointers(const struct value *a, const struct value *b, uint32_t symbol)
{
    struct value out = *a;

    out.n = 0;
    if (a->argument != b->argument)
        out.argument = -1;
    if (a->pointee != b->pointee && !type_same(a->pointee, b->pointee))
        out.pointee = NULL;
    if (!out.pointee)
        return value_symbol(symbol);
    /* A handle's bits where a pointer can be as well: they are NULL's, or will not be followed. */
    out.relative = a->relative && b->relative;
    for (int i = 0; i < a->n; i++) {
        struct term t = a->terms[i];
        if (!has_term(b, t))
            t.symbol = SYMBOL_ANY;
        if (!add_term(&out, t))
            return value_symbol(symbol);
    }
    for (int i = 0; i < b->n; i++) {
        struct term t = {b->terms[i].stride, SYMBOL_ANY};
        if (!has_term(a, b->terms[i]) && !add_term(&out, t))
            return value_symbol(symbol);
    }
    int64_t apart = plus(b->offset, times(a->offset, -1));
    int before = out.n;
    bool folded = out.folded || b->folded;
    if (apart && !add_term(&out, (struct term){apart, SYMBOL_ANY}))
        return value_symbol(symbol);
    out.folded = folded; /* the difference of two places is no part of an index */
    if (out.n > before && b->offset < out.offset)
        out.offset = b->offset; /* the first of them, as an array's elements are counted from it */
    return out;
}

struct value value_merge(const struct value *a, const struct value *b, uint32_t symbol)
{
    if (value_equal(a, b))
        return *a;
    if (is_null(a) && b->base == BASE_POINTER)
        return *b;
    if (is_null(b) && a->base == BASE_POINTER)
        return *a;
    if (a->base != b->base || a->base == BASE_FRAME)
        return value_symbol(symbol);
    if (a->base == BASE_NONE)
        return merge_numbers(a, b, symbol);
    return merge_pointers(a, b, symbol);
}
