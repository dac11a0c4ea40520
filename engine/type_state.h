/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * type_state: what is known at one point of a function: the value of each register, of the halves
 * of the vector registers, and of places in the frame.
 */
#ifndef ENGINE_TYPE_STATE_H
#define ENGINE_TYPE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/type_code.h"
#include "engine/type_value.h"
#include "engine/vec.h"

enum { WORD = 8, VECTOR_WORDS = 2, SLOTS_MAX = 256 };

/* Something in the frame, at a distance from the CFA. */
struct slot {
    int64_t offset;
    int64_t size;
    struct value value;
};

struct flow_state {
    bool reached;
    struct value regs[REG_COUNT];
    struct value vectors[REG_COUNT][VECTOR_WORDS];
    vec_of(struct slot) slots; /* by offset; they do not overlap */
};

/* Symbols: one for each register and half that an instruction sets, and for each at each block
 * where ways meet. */
enum {
    LOCATION_VECTOR = REG_COUNT,
    LOCATION_OTHER = REG_COUNT + REG_COUNT * VECTOR_WORDS, /* what is in no register yet */
    LOCATIONS = 64,
};
uint32_t symbol_of_insn(uint32_t insn, int location);

/* What is known on entry to a function, by the calling convention. */
void flow_state_enter(struct flow_state *s);
void flow_state_copy(struct flow_state *to, const struct flow_state *from);
void flow_state_free(struct flow_state *s);

/* Brings what is known on another way to the beginning of a block; true when that changed what is
 * known there. */
bool flow_state_join(struct flow_state *at, const struct flow_state *other, uint32_t block);

/* Every value's symbol is forgotten, as it is about to mean something else. */
void flow_state_forget_symbol(struct flow_state *s, uint32_t symbol);

/* A symbol is found to be something. */
void flow_state_substitute(struct flow_state *s, uint32_t symbol, struct value meaning);

/* The slot that is exactly there, or NULL. */
struct slot *flow_state_slot(struct flow_state *s, int64_t offset, int64_t size);

/* Sets a slot, or (with value NULL) forgets what overlaps it. */
void flow_state_set_slot(struct flow_state *s, int64_t offset, int64_t size,
                         const struct value *value);

#endif
