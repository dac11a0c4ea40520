/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rule: how to get from a frame to its caller, at one code address.
 *
 * A rule is made once from what libdw says of the address (a Dwarf_Frame) and applied many times.
 * Almost all of it is "the frame begins at register + offset" and "the register was saved at
 * frame + offset"; general DWARF expressions (PLT entries, signal frames) are kept as they are and
 * evaluated. What a rule does is what libdw's unwinder does: a register that cannot be found is
 * unknown in the caller, and only an unknown return address ends the stack.
 */
#ifndef TRACER_RULE_H
#define TRACER_RULE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "tracer/snapshot.h"

/* x86-64, in DWARF's order. */
enum { REG_RBP = 6, REG_RSP = 7, REG_RIP = 16, REG_COUNT = 17 };

struct registers {
    uint64_t pc;
    uint64_t value[REG_COUNT];
    uint32_t known; /* a bit a register */
};

void registers_from_user(struct registers *r, const struct user_regs_struct *user);

struct rule;

/* NULL only when the frame's return address is in no register that x86-64 has. */
struct rule *rule_compile(Dwarf_Frame *frame);

/* For code that nothing is known of: the frame pointer, if it looks like one. */
const struct rule *rule_frame_pointer(void);

void rule_free(struct rule *rule);

/* The frame is one that the kernel made for a signal handler: the caller was interrupted, so its
 * pc is that of the next instruction, not of one after a call. */
bool rule_is_signal(const struct rule *rule);

/* Whether rule_apply looks at the bias. */
bool rule_wants_bias(const struct rule *rule);

/* Turns the registers of a frame into those of its caller; false when there is no caller. bias is
 * what to add to the module's addresses. */
bool rule_apply(const struct rule *rule, struct registers *r, struct snapshot *memory,
                uint64_t bias);

/* The value of a DWARF expression, as libdw's unwinder understands it: a pushed frame address
 * (DW_OP_call_frame_cfa) makes the result a place in memory to read, unless DW_OP_stack_value
 * follows. cfa is NULL when there is none. False on a bad expression or unreadable memory. */
bool expression_value(const Dwarf_Op *ops, size_t count, const struct registers *r,
                      struct snapshot *memory, const uint64_t *cfa, uint64_t bias, uint64_t *value);

#endif
