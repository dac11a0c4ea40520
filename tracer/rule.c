/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/rule.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"

/* Where the caller's value of a register is, or the frame's address. */
struct place {
    enum {
        PLACE_NOWHERE,    /* cannot be known */
        PLACE_SAVED,      /* in memory, at frame address + offset */
        PLACE_FRAME,      /* is frame address + offset */
        PLACE_REGISTER,   /* is a register of this frame + offset */
        PLACE_EXPRESSION, /* by ops */
    } kind;
    uint8_t reg;  /* whose value it is; unused for the frame's address */
    uint8_t from; /* PLACE_REGISTER */
    uint64_t offset;
    Dwarf_Op *ops; /* PLACE_EXPRESSION: owned */
    size_t count;
};

struct rule {
    bool signal;
    bool frame_pointer; /* the rule for unknown code; nothing else is set */
    bool expressions;
    uint8_t return_reg; /* where the caller's pc is found */
    uint8_t places;
    uint32_t same; /* registers that the caller has the same value in; the rest are unknown to it */
    struct place cfa;
    struct place place[];
};

void registers_from_user(struct registers *r, const struct user_regs_struct *user)
{
    *r = (struct registers){
        .pc = user->rip,
        .value = {user->rax, user->rdx, user->rcx, user->rbx, user->rsi, user->rdi, user->rbp,
                  user->rsp, user->r8, user->r9, user->r10, user->r11, user->r12, user->r13,
                  user->r14, user->r15, user->rip},
        .known = (UINT32_C(1) << REG_COUNT) - 1,
    };
}

/* libdw gives "saved at" and "is" as operations on the frame address, and the frame address itself
 * as register + offset; whatever has another form stays an expression. */
static struct place place_from_ops(unsigned reg, const Dwarf_Op *ops, size_t count)
{
    struct place p = {.reg = (uint8_t)reg};
    size_t i = 0;
    if (count && ops[0].atom == DW_OP_call_frame_cfa) {
        p.kind = PLACE_SAVED;
        i = 1;
        if (i < count && ops[i].atom == DW_OP_plus_uconst)
            p.offset = ops[i++].number;
        if (i < count && ops[i].atom == DW_OP_stack_value) {
            p.kind = PLACE_FRAME;
            i++;
        }
    } else if (count && ops[0].atom == DW_OP_bregx && ops[0].number < REG_COUNT) {
        p.kind = PLACE_REGISTER;
        p.from = (uint8_t)ops[0].number;
        p.offset = ops[0].number2;
        i = 1;
    }
    if (count && i == count)
        return p;
    p.kind = count ? PLACE_EXPRESSION : PLACE_NOWHERE;
    p.count = count;
    if (count) {
        p.ops = xmalloc(count * sizeof *ops);
        memcpy(p.ops, ops, count * sizeof *ops);
    }
    return p;
}

static void compile_register(struct rule *rule, Dwarf_Frame *frame, unsigned reg)
{
    Dwarf_Op room[3], *ops;
    size_t count;
    if (dwarf_frame_register(frame, (int)reg, room, &ops, &count) != 0)
        return;
    if (count) {
        struct place p = place_from_ops(reg, ops, count);
        rule->expressions |= p.kind == PLACE_EXPRESSION;
        rule->place[rule->places++] = p;
    } else if (!ops) {
        rule->same |= UINT32_C(1) << reg;
    }
}

struct rule *rule_compile(Dwarf_Frame *frame)
{
    bool signal;
    int return_reg = dwarf_frame_info(frame, NULL, NULL, &signal);
    if (return_reg < 0 || return_reg >= REG_COUNT)
        return NULL;
    struct rule *rule = xcalloc(1, sizeof *rule + REG_COUNT * sizeof rule->place[0]);
    rule->signal = signal;
    rule->return_reg = (uint8_t)return_reg;
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_frame_cfa(frame, &ops, &count) == 0)
        rule->cfa = place_from_ops(0, ops, count);
    rule->expressions = rule->cfa.kind == PLACE_EXPRESSION;
    for (unsigned reg = 0; reg < REG_COUNT; reg++)
        compile_register(rule, frame, reg);
    return xrealloc(rule, sizeof *rule + rule->places * sizeof rule->place[0]);
}

const struct rule *rule_frame_pointer(void)
{
    static const struct rule rule = {.frame_pointer = true};
    return &rule;
}

void rule_free(struct rule *rule)
{
    if (!rule)
        return;
    for (size_t i = 0; i < rule->places; i++)
        free(rule->place[i].ops);
    free(rule->cfa.ops);
    free(rule);
}

bool rule_is_signal(const struct rule *rule)
{
    return rule->signal;
}

bool rule_wants_bias(const struct rule *rule)
{
    return rule->expressions;
}

static inline bool known(const struct registers *r, unsigned reg)
{
    return r->known >> reg & 1;
}

static inline bool place_value(const struct place *p, const struct registers *r,
                               struct snapshot *memory, const uint64_t *cfa, uint64_t bias,
                               uint64_t *value)
{
    switch (p->kind) {
    case PLACE_SAVED:
        return cfa && snapshot_word(memory, *cfa + p->offset, value);
    case PLACE_FRAME:
        if (cfa)
            *value = *cfa + p->offset;
        return cfa != NULL;
    case PLACE_REGISTER:
        *value = r->value[p->from] + p->offset;
        return known(r, p->from);
    case PLACE_EXPRESSION:
        return expression_value(p->ops, p->count, r, memory, cfa, bias, value);
    default:
        return false;
    }
}

/* Without a rule a frame is taken to begin with the saved frame pointer, if that leads upwards.
 * All other registers of the caller are then unknown. */
static bool apply_frame_pointer(struct registers *r, struct snapshot *memory)
{
    uint64_t fp = r->value[REG_RBP], caller_fp, pc;
    if (!known(r, REG_RBP) || fp == 0 || !snapshot_word(memory, fp + 8, &pc))
        return false;
    uint64_t sp = known(r, REG_RSP) ? r->value[REG_RSP] : 0;
    if (sp >= fp + 16 || pc == 0)
        return false;
    if (!snapshot_word(memory, fp, &caller_fp))
        caller_fp = 0;
    r->pc = pc;
    r->value[REG_RBP] = caller_fp;
    r->value[REG_RSP] = fp + 16;
    r->known = UINT32_C(1) << REG_RBP | UINT32_C(1) << REG_RSP;
    return true;
}

bool rule_apply(const struct rule *rule, struct registers *r, struct snapshot *memory,
                uint64_t bias)
{
    if (rule->frame_pointer)
        return apply_frame_pointer(r, memory);
    uint64_t frame_address, found[REG_COUNT];
    const uint64_t *cfa = NULL;
    if (place_value(&rule->cfa, r, memory, NULL, bias, &frame_address))
        cfa = &frame_address;
    /* All places are looked up by this frame's registers before any of them changes. */
    uint32_t now_known = r->known & rule->same;
    for (size_t i = 0; i < rule->places; i++) {
        const struct place *p = &rule->place[i];
        if (place_value(p, r, memory, cfa, bias, &found[i]))
            now_known |= UINT32_C(1) << p->reg;
    }
    for (size_t i = 0; i < rule->places; i++)
        r->value[rule->place[i].reg] = found[i];
    r->known = now_known;
    r->pc = r->value[rule->return_reg];
    return known(r, rule->return_reg) && r->pc != 0;
}
