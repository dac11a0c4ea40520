/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The frame, and what is loaded from memory and stored to it.
 */
#include <string.h>

#include "engine/type_resolve.h"
#include "engine/type_step_inside.h"

enum {
    FRAME_MAX = 1 << 28,  /* distances in a frame beyond this are no frame's */
    LOWEST_STATIC = 4096, /* no variable lies below: a distance, not an address */
    ESCAPES_MAX = 256,
};

struct value step_unknown(struct doing *d, int location)
{
    uint32_t symbol = symbol_of_insn(d->i, location);

    flow_state_forget_symbol(d->s, symbol);
    return value_symbol(symbol);
}

static bool is_near(int64_t offset)
{
    return offset > -FRAME_MAX && offset < FRAME_MAX;
}

bool step_in_frame(const struct value *v)
{
    return v->base == BASE_FRAME && is_near(v->offset);
}

/* --- Addresses ---------------------------------------------------------------------------- */

struct value step_address(const struct flow_state *s, const struct operand *o, uint32_t insn)
{
    uint32_t symbol = symbol_of_insn(insn, LOCATION_OTHER);
    struct value v = value_number(o->number);

    if (o->elsewhere)
        return value_symbol(symbol);
    if (o->index != REG_NONE)
        v = value_add(v, value_scale(s->regs[o->index], o->scale, symbol), symbol);
    if (o->base != REG_NONE)
        v = value_add(s->regs[o->base], v, symbol);
    return v;
}

bool step_static(struct walk *w, const struct value *v, struct value *out)
{
    if (v->base != BASE_NONE || v->offset < LOWEST_STATIC)
        return false;
    for (int i = 0; i < v->n; i++) {
        if (v->terms[i].stride == 1)
            return false; /* behind something unknown */
    }
    if (!scope_static(w->scopes, w->scope, (uint64_t)v->offset, out))
        return false;
    out->n = v->n;
    memcpy(out->terms, v->terms, sizeof out->terms);
    return true;
}

const struct place *step_variable(const struct walk *w, const struct flow_state *s,
                                  uint64_t address, int64_t offset, int64_t *from)
{
    for (size_t i = 0; i < w->nearby_count; i++) {
        const struct place *p = &w->scope->places.at[w->nearby[i]];
        if (p->kind != PLACE_MEMORY || address < p->low || address >= p->high)
            continue;
        *from = p->offset;
        if (p->reg != PLACE_FRAME) {
            const struct value *base = &s->regs[p->reg];
            if (!step_in_frame(base) || base->n)
                continue;
            *from += base->offset;
        }
        if (offset >= *from && (uint64_t)(offset - *from) < p->type->size)
            return p;
    }
    return NULL;
}

/* --- The frame ---------------------------------------------------------------------------- */

static bool is_escaped(const struct walk *w, const struct slot *slot)
{
    for (size_t i = 0; i < w->escapes.n; i++) {
        if (slot->offset < w->escapes.at[i].high &&
            slot->offset + slot->size > w->escapes.at[i].low)
            return true;
    }
    return false;
}

void step_forget_escaped(struct walk *w, struct flow_state *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->slots.n && w->escapes.n; i++) {
        if (!is_escaped(w, &s->slots.at[i]))
            s->slots.at[kept++] = s->slots.at[i];
    }
    if (w->escapes.n)
        s->slots.n = kept;
}

void step_escape(struct doing *d, int64_t offset)
{
    struct walk *w = d->w;
    struct escape e = {offset, FRAME_MAX};
    const struct place *p = step_variable(w, d->s, d->x->address, offset, &e.low);

    if (p)
        e.high = e.low + (int64_t)p->type->size;
    else
        e.low = offset;
    for (size_t i = 0; i < w->escapes.n; i++) {
        if (w->escapes.at[i].low <= e.low && w->escapes.at[i].high >= e.high)
            return;
    }
    if (w->escapes.n == ESCAPES_MAX)
        e = (struct escape){-FRAME_MAX, FRAME_MAX};
    vec_push(&w->escapes, e);
    w->escaped_more = true;
}

/* An index is named anew when it is read, so that what is made of it can be compared. */
static struct value named(struct doing *d, struct value v, int location)
{
    for (int i = 0; i < v.n && v.base == BASE_NONE; i++) {
        if (v.terms[i].symbol == SYMBOL_ANY) {
            struct value fresh = step_unknown(d, location);
            return v.n == 1
                       ? value_add(value_number(v.offset),
                                   value_scale(fresh, v.terms[0].stride, fresh.terms[0].symbol),
                                   fresh.terms[0].symbol)
                       : fresh;
        }
    }
    return v;
}

/* A variable that is declared as a pointer to T is one, whatever it was made from. */
static bool declared_pointer(struct doing *d, int64_t offset, struct value *out)
{
    int64_t from;
    const struct place *p = step_variable(d->w, d->s, d->x->address, offset, &from);

    return p && pointer_at_offset(p->type, (uint64_t)(offset - from), out);
}

static struct value load_slot(struct doing *d, int64_t offset, int64_t size, int location)
{
    struct slot *slot = flow_state_slot(d->s, offset, size);
    struct value pointer;

    if (size == WORD && declared_pointer(d, offset, &pointer)) {
        bool better =
            slot && slot->value.base == BASE_POINTER &&
            (!type_is_struct(pointer.pointee) || value_begins(&slot->value, pointer.pointee));
        if (better)
            return slot->value;
        uint32_t symbol = slot && slot->value.base == BASE_NONE && slot->value.n == 1 &&
                                  slot->value.terms[0].stride == 1 && slot->value.offset == 0
                              ? slot->value.terms[0].symbol
                              : SYMBOL_ANY;
        if (symbol >= SYMBOL_ARGUMENT && symbol < SYMBOL_FREE && !pointer.relative)
            pointer.argument = (int8_t)(symbol - SYMBOL_ARGUMENT);
        return pointer;
    }
    struct value v = slot ? named(d, slot->value, location) : step_unknown(d, location);
    flow_state_set_slot(d->s, offset, size, &v);
    return v;
}

/* --- Memory ------------------------------------------------------------------------------- */

/* What the loader puts at a fixed address: where a variable of another module is. */
static bool imported(struct doing *d, const struct value *at, struct value *out)
{
    int64_t address;

    if (!value_is_number(at, &address) || address < LOWEST_STATIC)
        return false;
    const char *name = binary_import(d->w->binary, (uint64_t)address);
    return name && scope_named(d->w->scopes, d->w->scope, name, out);
}

struct value step_load_at(struct doing *d, struct value at, int64_t size, int location)
{
    struct value pointer, object;

    if (step_in_frame(&at))
        return at.n ? step_unknown(d, location) : load_slot(d, at.offset, size, location);
    if (size != WORD)
        return step_unknown(d, location);
    if (at.base == BASE_NONE) {
        if (imported(d, &at, &pointer))
            return pointer;
        if (step_static(d->w, &at, &object))
            at = object;
    }
    return pointer_at_value(&at, &pointer) ? pointer : step_unknown(d, location);
}

struct value step_load(struct doing *d, const struct operand *o, int location)
{
    return step_load_at(d, step_address(d->s, o, d->i), o->bits / 8, location);
}

void step_store_at(struct doing *d, struct value at, int64_t size, const struct value *value)
{
    if (!step_in_frame(&at)) {
        step_forget_escaped(d->w, d->s);
        return;
    }
    if (at.n == 0) {
        flow_state_set_slot(d->s, at.offset, size, value);
        return;
    }
    int64_t from;
    const struct place *p = step_variable(d->w, d->s, d->x->address, at.offset, &from);
    if (p)
        flow_state_set_slot(d->s, from, (int64_t)p->type->size, NULL);
    else
        d->s->slots.n = 0;
}

void step_store(struct doing *d, const struct operand *o, const struct value *value)
{
    step_store_at(d, step_address(d->s, o, d->i), o->bits / 8, value);
}
