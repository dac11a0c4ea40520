/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What engine/type_step.c (instructions) and engine/type_memory.c (the frame and what is loaded and
 * stored) share.
 */
#ifndef ENGINE_TYPE_STEP_INSIDE_H
#define ENGINE_TYPE_STEP_INSIDE_H

#include "engine/type_step.h"

/* One instruction at work. */
struct doing {
    struct walk *w;
    struct flow_state *s;
    const struct insn *x;
    uint32_t i;
};

/* A number that nobody knows, set by this instruction. */
struct value step_unknown(struct doing *d, int location);

/* Whether it is a place in the frame. */
bool step_in_frame(const struct value *v);

/* The address of a part of the frame is made: of a variable, or of who knows how much. */
void step_escape(struct doing *d, int64_t offset);

/* Somebody else may have written to what the function lets others see. */
void step_forget_escaped(struct walk *w, struct flow_state *s);

struct value step_load_at(struct doing *d, struct value at, int64_t size, int location);
struct value step_load(struct doing *d, const struct operand *o, int location);

/* value NULL: it is not known what is stored. */
void step_store_at(struct doing *d, struct value at, int64_t size, const struct value *value);
void step_store(struct doing *d, const struct operand *o, const struct value *value);

#endif
