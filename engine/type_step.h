/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * type_step: what one instruction does to what is known (engine/type_state.h).
 */
#ifndef ENGINE_TYPE_STEP_H
#define ENGINE_TYPE_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/type_code.h"
#include "engine/type_scope.h"
#include "engine/type_state.h"

/* A part of the frame whose address the function hands out: calls may change what is there. */
struct escape {
    int64_t low, high;
};

/* One function while it is followed. */
struct walk {
    struct binary *binary;
    struct type_scopes *scopes;
    const struct scope *scope;
    struct code code;
    vec_of(struct escape) escapes;
    bool escaped_more;      /* since this was last set to false */
    const uint32_t *nearby; /* places of scope that are good somewhere in the block at work */
    size_t nearby_count;
};

/* Brings s from before the instruction to behind it. */
void step(struct walk *w, struct flow_state *s, uint32_t insn);

/* The address of a memory operand. */
struct value step_address(const struct flow_state *s, const struct operand *o, uint32_t insn);

/* The variable in memory that has the byte at a distance from the CFA, when the instruction at
 * `address` is about to be done; NULL for none. *from is where it begins. */
const struct place *step_variable(const struct walk *w, const struct flow_state *s,
                                  uint64_t address, int64_t offset, int64_t *from);

/* The object at a fixed address, as a pointer, when the form is one. */
bool step_static(struct walk *w, const struct value *v, struct value *out);

#endif
