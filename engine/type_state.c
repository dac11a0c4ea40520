/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/type_state.h"

#include <string.h>

/* Symbols of meeting points have this bit; the block follows, then the location. */
#define SYMBOL_JOIN UINT32_C(0x80000000)

uint32_t symbol_of_insn(uint32_t insn, int location)
{
    return SYMBOL_FREE + (insn + 1) * LOCATIONS + (uint32_t)location;
}

static uint32_t symbol_of_block(uint32_t block, int location)
{
    return SYMBOL_JOIN | (block * LOCATIONS + (uint32_t)location);
}

void flow_state_enter(struct flow_state *s)
{
    static const uint8_t arguments[ARGUMENTS] = {REG_DI, REG_SI, REG_DX, REG_CX, 8, 9};

    s->reached = true;
    s->slots.n = 0;
    for (int r = 0; r < REG_COUNT; r++) {
        s->regs[r] = value_symbol(SYMBOL_FREE + (uint32_t)r);
        for (int w = 0; w < VECTOR_WORDS; w++)
            s->vectors[r][w] =
                value_symbol(SYMBOL_FREE + (uint32_t)(LOCATION_VECTOR + r * VECTOR_WORDS + w));
    }
    for (int i = 0; i < ARGUMENTS; i++)
        s->regs[arguments[i]] = value_symbol(SYMBOL_ARGUMENT + (uint32_t)i);
    s->regs[REG_SP] = value_frame(-WORD); /* the return address was pushed */
}

void flow_state_copy(struct flow_state *to, const struct flow_state *from)
{
    to->reached = from->reached;
    memcpy(to->regs, from->regs, sizeof to->regs);
    memcpy(to->vectors, from->vectors, sizeof to->vectors);
    to->slots.n = 0;
    for (size_t i = 0; i < from->slots.n; i++)
        vec_push(&to->slots, from->slots.at[i]);
}

void flow_state_free(struct flow_state *s)
{
    vec_free(&s->slots);
}

/* --- Symbols ------------------------------------------------------------------------------ */

void flow_state_forget_symbol(struct flow_state *s, uint32_t symbol)
{
    for (int r = 0; r < REG_COUNT; r++) {
        value_forget(&s->regs[r], symbol);
        for (int w = 0; w < VECTOR_WORDS; w++)
            value_forget(&s->vectors[r][w], symbol);
    }
    for (size_t i = 0; i < s->slots.n; i++)
        value_forget(&s->slots.at[i].value, symbol);
}

void flow_state_substitute(struct flow_state *s, uint32_t symbol, struct value meaning)
{
    for (int r = 0; r < REG_COUNT; r++) {
        s->regs[r] = value_substitute(s->regs[r], symbol, meaning);
        for (int w = 0; w < VECTOR_WORDS; w++)
            s->vectors[r][w] = value_substitute(s->vectors[r][w], symbol, meaning);
    }
    for (size_t i = 0; i < s->slots.n; i++)
        s->slots.at[i].value = value_substitute(s->slots.at[i].value, symbol, meaning);
}

/* --- Slots -------------------------------------------------------------------------------- */

static size_t first_slot_behind(const struct flow_state *s, int64_t offset)
{
    size_t low = 0, high = s->slots.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->slots.at[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct slot *flow_state_slot(struct flow_state *s, int64_t offset, int64_t size)
{
    size_t i = first_slot_behind(s, offset);

    return i < s->slots.n && s->slots.at[i].offset == offset && s->slots.at[i].size == size
               ? &s->slots.at[i]
               : NULL;
}

void flow_state_set_slot(struct flow_state *s, int64_t offset, int64_t size,
                         const struct value *value)
{
    size_t from = first_slot_behind(s, offset), to = from;

    if (from > 0 && s->slots.at[from - 1].offset + s->slots.at[from - 1].size > offset)
        from--;
    while (to < s->slots.n && s->slots.at[to].offset - offset < size)
        to++;
    size_t put = value && s->slots.n - (to - from) < SLOTS_MAX ? 1 : 0;
    size_t rest = s->slots.n - to;
    if (put > to - from) {
        vec_push(&s->slots, (struct slot){0});
        s->slots.n--;
    }
    if (rest)
        memmove(s->slots.at + from + put, s->slots.at + to, rest * sizeof *s->slots.at);
    s->slots.n = from + put + rest;
    if (put)
        s->slots.at[from] = (struct slot){offset, size, *value};
}

/* --- Meeting points ----------------------------------------------------------------------- */

/* Symbols of this block, seen from its own end, are those of the round before. */
static struct value last_round(struct value v, uint32_t block)
{
    for (int i = 0; i < v.n; i++) {
        uint32_t symbol = v.terms[i].symbol;
        if ((symbol & SYMBOL_JOIN) && (symbol & ~SYMBOL_JOIN) / LOCATIONS == block) {
            value_forget(&v, symbol);
            i = -1;
        }
    }
    return v;
}

static bool join_value(struct value *at, struct value other, uint32_t block, uint32_t symbol)
{
    other = last_round(other, block);
    struct value merged = value_merge(at, &other, symbol);
    if (value_equal(&merged, at))
        return false;
    *at = merged;
    return true;
}

/* Only what both know stays. */
static bool join_slots(struct flow_state *at, const struct flow_state *other, uint32_t block)
{
    bool changed = false;
    size_t kept = 0, k = 0;

    for (size_t i = 0; i < at->slots.n; i++) {
        struct slot *a = &at->slots.at[i];
        while (k < other->slots.n && other->slots.at[k].offset < a->offset)
            k++;
        if (k == other->slots.n || other->slots.at[k].offset != a->offset ||
            other->slots.at[k].size != a->size) {
            changed = true;
            continue;
        }
        changed |= join_value(&a->value, other->slots.at[k].value, block, SYMBOL_ANY);
        at->slots.at[kept++] = *a;
    }
    at->slots.n = kept;
    return changed;
}

bool flow_state_join(struct flow_state *at, const struct flow_state *other, uint32_t block)
{
    bool changed = false;

    if (!at->reached) {
        flow_state_copy(at, other);
        return true;
    }
    for (int r = 0; r < REG_COUNT; r++) {
        changed |= join_value(&at->regs[r], other->regs[r], block, symbol_of_block(block, r));
        for (int w = 0; w < VECTOR_WORDS; w++)
            changed |= join_value(&at->vectors[r][w], other->vectors[r][w], block,
                                  symbol_of_block(block, LOCATION_VECTOR + r * VECTOR_WORDS + w));
    }
    return join_slots(at, other, block) || changed;
}
