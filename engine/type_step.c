/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Instructions that are not listed make what they write unknown, which is always right.
 */
#include "engine/type_step.h"

#include <Zydis/Zydis.h>
#include <string.h>

#include "engine/type_step_inside.h"

enum {
    INDEX_BITS = 32,
    WORD_BITS = 64,
};

/* --- Registers ---------------------------------------------------------------------------- */

static struct value read_operand(struct doing *d, const struct operand *o)
{
    switch (o->kind) {
    case OPERAND_REGISTER:
        return o->high || o->bits < INDEX_BITS ? step_unknown(d, LOCATION_OTHER + 1)
                                               : d->s->regs[o->reg];
    case OPERAND_VECTOR:
        return d->s->vectors[o->reg][0];
    case OPERAND_MEMORY:
        return step_load(d, o, LOCATION_OTHER + 1);
    case OPERAND_NUMBER:
        return value_number(o->number);
    default:
        return step_unknown(d, LOCATION_OTHER + 1);
    }
}

/* Results of 32 bits lose what made them addresses; smaller ones are part of a register. */
static void write_register(struct doing *d, const struct operand *o, struct value v)
{
    if (o->bits == INDEX_BITS && v.base == BASE_NONE) {
        struct value fresh = v.n == 1 && v.offset ? step_unknown(d, o->reg) : v;
        v = v.n == 1 && v.offset ? value_extended(v, fresh.terms[0].symbol) : v;
    } else if (o->bits != WORD_BITS) {
        v = step_unknown(d, o->reg);
    }
    d->s->regs[o->reg] = v;
}

static void write_operand(struct doing *d, const struct operand *o, struct value v)
{
    if (o->kind == OPERAND_REGISTER)
        write_register(d, o, v);
    else if (o->kind == OPERAND_MEMORY)
        step_store(d, o, &v);
}

/* --- Groups of instructions ---------------------------------------------------------------- */

/* Whatever else it does, what it writes is not known afterwards. */
static void step_default(struct doing *d)
{
    for (int r = 0; r < REG_COUNT; r++) {
        if (r != REG_SP && (d->x->writes & (UINT32_C(1) << r)))
            d->s->regs[r] = step_unknown(d, r);
        if (!(d->x->writes & (UINT32_C(1) << (REG_COUNT + r))))
            continue;
        for (int h = 0; h < VECTOR_WORDS; h++)
            d->s->vectors[r][h] = step_unknown(d, LOCATION_VECTOR + r * VECTOR_WORDS + h);
    }
    if (d->x->writes & (UINT32_C(1) << REG_SP))
        d->s->regs[REG_SP] = step_unknown(d, REG_SP);
    if (d->x->store.kind == OPERAND_MEMORY)
        step_store(d, &d->x->store, NULL);
}

static void step_arithmetic(struct doing *d)
{
    const struct operand *to = &d->x->operands[0], *by = &d->x->operands[1];
    uint32_t symbol = symbol_of_insn(d->i, to->reg == REG_NONE ? LOCATION_OTHER : to->reg);

    if (to->kind != OPERAND_REGISTER) {
        step_default(d);
        return;
    }
    struct value a = read_operand(d, to);
    struct value b = by->kind ? read_operand(d, by) : value_number(1);
    flow_state_forget_symbol(d->s, symbol);
    value_forget(&a, symbol);
    value_forget(&b, symbol);
    switch (d->x->mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_INC:
        a = value_add(a, b, symbol);
        break;
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_DEC:
        a = value_subtract(a, b, symbol);
        break;
    case ZYDIS_MNEMONIC_NEG:
        a = value_scale(a, -1, symbol);
        break;
    case ZYDIS_MNEMONIC_SHL:
        a = b.n == 0 && b.offset >= 0 && b.offset < INDEX_BITS
                ? value_scale(a, INT64_C(1) << b.offset, symbol)
                : value_symbol(symbol);
        break;
    default: /* imul r, r/m[, number] */
        if (d->x->operands[2].kind == OPERAND_NUMBER) {
            a = b;
            b = value_number(d->x->operands[2].number);
        }
        a = b.base == BASE_NONE && b.n == 0 ? value_scale(a, b.offset, symbol)
                                            : value_symbol(symbol);
        break;
    }
    write_register(d, to, a);
}

/* Aligning the stack: the CFA itself is aligned to 16. */
static void step_and(struct doing *d)
{
    const struct operand *to = &d->x->operands[0], *by = &d->x->operands[1];

    if (to->kind == OPERAND_REGISTER && to->reg == REG_SP && by->kind == OPERAND_NUMBER &&
        step_in_frame(&d->s->regs[REG_SP]) && by->number < 0)
        d->s->regs[REG_SP].offset &= by->number;
    else
        step_default(d);
}

static void step_push(struct doing *d)
{
    struct value v = read_operand(d, &d->x->operands[0]);
    struct value top = value_add(d->s->regs[REG_SP], value_number(-WORD), SYMBOL_ANY);

    d->s->regs[REG_SP] = top;
    step_store_at(d, top, WORD, &v);
}

static void step_pop(struct doing *d, const struct operand *to)
{
    struct value top = d->s->regs[REG_SP];
    struct value v = step_load_at(d, top, WORD, LOCATION_OTHER + 1);

    d->s->regs[REG_SP] = value_add(top, value_number(WORD), SYMBOL_ANY);
    write_operand(d, to, v);
}

static void step_leave(struct doing *d)
{
    const struct operand rbp = {.kind = OPERAND_REGISTER, .reg = REG_BP, .bits = WORD_BITS};

    d->s->regs[REG_SP] = d->s->regs[REG_BP];
    step_pop(d, &rbp);
}

static void step_lea(struct doing *d)
{
    const struct operand *to = &d->x->operands[0];

    flow_state_forget_symbol(d->s,
                             symbol_of_insn(d->i, LOCATION_OTHER)); /* it may become the result */
    struct value v = step_address(d->s, &d->x->operands[1], d->i);

    if (step_in_frame(&v) && to->reg != REG_SP && to->reg != REG_BP)
        step_escape(d, v.offset);
    write_register(d, to, v);
}

static void step_move(struct doing *d)
{
    const struct operand *to = &d->x->operands[0], *from = &d->x->operands[1];
    struct value v = read_operand(d, from);

    /* mov rdi, rsp hands out a part of the frame as lea does. */
    if (step_in_frame(&v) && to->kind == OPERAND_REGISTER && to->reg != REG_SP && to->reg != REG_BP)
        step_escape(d, v.offset);
    write_operand(d, to, v);
}

static void step_extend(struct doing *d)
{
    const struct operand *to = &d->x->operands[0], *from = &d->x->operands[1];

    if (from->bits != INDEX_BITS) {
        step_default(d);
        return;
    }
    struct value v = read_operand(d, from), fresh = step_unknown(d, to->reg);
    value_forget(&v, fresh.terms[0].symbol);
    d->s->regs[to->reg] = value_extended(v, fresh.terms[0].symbol);
}

static void step_choose(struct doing *d) /* cmov */
{
    const struct operand *to = &d->x->operands[0];
    struct value a = d->s->regs[to->reg], b = read_operand(d, &d->x->operands[1]);
    struct value fresh = step_unknown(d, to->reg);

    value_forget(&a, fresh.terms[0].symbol);
    value_forget(&b, fresh.terms[0].symbol);
    write_register(d, to, value_merge(&a, &b, fresh.terms[0].symbol));
}

/* --- Vectors ------------------------------------------------------------------------------ */

static bool same_register(const struct operand *a, const struct operand *b)
{
    return a->kind == b->kind && a->reg == b->reg &&
           (a->kind == OPERAND_REGISTER || a->kind == OPERAND_VECTOR);
}

/* xor of a register with itself: zero. */
static void step_xor(struct doing *d)
{
    const struct operand *o = d->x->operands;
    bool three = o[2].kind != OPERAND_NONE;

    if (!same_register(&o[three ? 1 : 0], &o[three ? 2 : 1])) {
        step_default(d);
    } else if (o[0].kind == OPERAND_REGISTER) {
        d->s->regs[o[0].reg] = value_number(0);
    } else {
        for (int h = 0; h < VECTOR_WORDS; h++)
            d->s->vectors[o[0].reg][h] = value_number(0);
    }
}

static void step_vector_move(struct doing *d)
{
    const struct operand *to = &d->x->operands[0], *from = &d->x->operands[1];

    if (to->kind == OPERAND_VECTOR && from->kind == OPERAND_VECTOR) {
        memcpy(d->s->vectors[to->reg], d->s->vectors[from->reg], sizeof d->s->vectors[0]);
    } else if (to->kind == OPERAND_VECTOR && from->kind == OPERAND_MEMORY) {
        for (int h = 0; h < VECTOR_WORDS; h++) {
            int location = LOCATION_VECTOR + to->reg * VECTOR_WORDS + h;
            struct operand half = *from;
            half.number += h * WORD;
            half.bits = WORD_BITS;
            d->s->vectors[to->reg][h] = step_load(d, &half, location);
        }
    } else if (to->kind == OPERAND_MEMORY && from->kind == OPERAND_VECTOR) {
        step_store(d, to, NULL);
        for (int h = 0; h < VECTOR_WORDS; h++) {
            struct operand half = *to;
            half.number += h * WORD;
            half.bits = WORD_BITS;
            step_store(d, &half, &d->s->vectors[from->reg][h]);
        }
    } else {
        step_default(d);
    }
}

/* movq and movd: the low word, the high one becomes zero. */
static void step_word_move(struct doing *d)
{
    const struct operand *to = &d->x->operands[0], *from = &d->x->operands[1];

    if (to->kind != OPERAND_VECTOR) {
        step_move(d);
        return;
    }
    struct value v = read_operand(d, from);
    d->s->vectors[to->reg][0] = v;
    d->s->vectors[to->reg][1] = value_number(0);
}

/* punpcklqdq: the low words of both. */
static void step_join_halves(struct doing *d)
{
    const struct operand *o = d->x->operands;
    bool three = o[2].kind != OPERAND_NONE;
    const struct operand *low = &o[three ? 1 : 0], *high = &o[three ? 2 : 1];

    if (high->kind != OPERAND_VECTOR) {
        step_default(d);
        return;
    }
    struct value b = d->s->vectors[high->reg][0];
    d->s->vectors[o[0].reg][0] = d->s->vectors[low->reg][0];
    d->s->vectors[o[0].reg][1] = b;
}

/* movhps: the high word from or to memory. */
static void step_high_half(struct doing *d)
{
    const struct operand *o = d->x->operands;

    if (o[0].kind == OPERAND_MEMORY && o[1].kind == OPERAND_VECTOR)
        step_store(d, &o[0], &d->s->vectors[o[1].reg][1]);
    else if (o[0].kind == OPERAND_VECTOR && o[1].kind == OPERAND_MEMORY)
        d->s->vectors[o[0].reg][1] =
            step_load(d, &o[1], LOCATION_VECTOR + o[0].reg * VECTOR_WORDS + 1);
    else
        step_default(d);
}

/* --- Calls -------------------------------------------------------------------------------- */

static bool is_direct(const char *name)
{
    return strcmp(name, "pmemobj_direct") == 0 || strcmp(name, "pmemobj_direct_inline") == 0;
}

/* Registers that a called function keeps. */
static bool is_kept(int r)
{
    return r == REG_BX || r == REG_SP || r == REG_BP || r >= 12;
}

static void step_call(struct doing *d)
{
    const char *name = d->x->callee ? d->w->code.callees.at[d->x->callee - 1] : NULL;
    struct value handle = d->s->regs[REG_SI]; /* the second word of an id passed by value */
    struct value results[RESULTS];
    bool has[RESULTS];

    for (int r = 0; r < REG_COUNT; r++) {
        if (!is_kept(r))
            d->s->regs[r] = step_unknown(d, r);
        for (int h = 0; h < VECTOR_WORDS; h++)
            d->s->vectors[r][h] = step_unknown(d, LOCATION_VECTOR + r * VECTOR_WORDS + h);
    }
    step_forget_escaped(d->w, d->s);
    if (name && is_direct(name) && handle.base == BASE_POINTER && handle.relative) {
        handle.relative = false;
        d->s->regs[REG_AX] = handle;
        return;
    }
    scope_results(d->w->scopes, d->w->scope, d->x->target, name, results, has);
    if (has[0])
        d->s->regs[REG_AX] = results[0];
    if (has[1])
        d->s->regs[REG_DX] = results[1];
}

/* --- All ---------------------------------------------------------------------------------- */

typedef void step_function(struct doing *d);

static step_function *function_of(uint16_t mnemonic)
{
    static const struct {
        uint16_t mnemonic;
        step_function *function;
    } table[] = {
        {ZYDIS_MNEMONIC_MOV, step_move},
        {ZYDIS_MNEMONIC_MOVNTI, step_move},
        {ZYDIS_MNEMONIC_LEA, step_lea},
        {ZYDIS_MNEMONIC_ADD, step_arithmetic},
        {ZYDIS_MNEMONIC_SUB, step_arithmetic},
        {ZYDIS_MNEMONIC_INC, step_arithmetic},
        {ZYDIS_MNEMONIC_DEC, step_arithmetic},
        {ZYDIS_MNEMONIC_NEG, step_arithmetic},
        {ZYDIS_MNEMONIC_SHL, step_arithmetic},
        {ZYDIS_MNEMONIC_AND, step_and},
        {ZYDIS_MNEMONIC_PUSH, step_push},
        {ZYDIS_MNEMONIC_LEAVE, step_leave},
        {ZYDIS_MNEMONIC_MOVSXD, step_extend},
        {ZYDIS_MNEMONIC_MOVSX, step_extend},
        {ZYDIS_MNEMONIC_MOVZX, step_extend},
        {ZYDIS_MNEMONIC_XOR, step_xor},
        {ZYDIS_MNEMONIC_PXOR, step_xor},
        {ZYDIS_MNEMONIC_XORPS, step_xor},
        {ZYDIS_MNEMONIC_XORPD, step_xor},
        {ZYDIS_MNEMONIC_VPXOR, step_xor},
        {ZYDIS_MNEMONIC_VXORPS, step_xor},
        {ZYDIS_MNEMONIC_MOVDQU, step_vector_move},
        {ZYDIS_MNEMONIC_MOVDQA, step_vector_move},
        {ZYDIS_MNEMONIC_MOVUPS, step_vector_move},
        {ZYDIS_MNEMONIC_MOVAPS, step_vector_move},
        {ZYDIS_MNEMONIC_MOVUPD, step_vector_move},
        {ZYDIS_MNEMONIC_MOVAPD, step_vector_move},
        {ZYDIS_MNEMONIC_VMOVDQU, step_vector_move},
        {ZYDIS_MNEMONIC_VMOVDQA, step_vector_move},
        {ZYDIS_MNEMONIC_VMOVUPS, step_vector_move},
        {ZYDIS_MNEMONIC_VMOVAPS, step_vector_move},
        {ZYDIS_MNEMONIC_MOVQ, step_word_move},
        {ZYDIS_MNEMONIC_VMOVQ, step_word_move},
        {ZYDIS_MNEMONIC_MOVLPS, step_default},
        {ZYDIS_MNEMONIC_MOVHPS, step_high_half},
        {ZYDIS_MNEMONIC_MOVHPD, step_high_half},
        {ZYDIS_MNEMONIC_PUNPCKLQDQ, step_join_halves},
        {ZYDIS_MNEMONIC_VPUNPCKLQDQ, step_join_halves},
        {ZYDIS_MNEMONIC_MOVLHPS, step_join_halves},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].mnemonic == mnemonic)
            return table[i].function;
    }
    return NULL;
}

void step(struct walk *w, struct flow_state *s, uint32_t insn)
{
    struct doing d = {w, s, &w->code.insns.at[insn], insn};
    const struct operand *o = d.x->operands;
    step_function *function = function_of(d.x->mnemonic);

    if (d.x->flow == FLOW_CALL) {
        step_call(&d);
    } else if (function) {
        function(&d);
    } else if (d.x->mnemonic == ZYDIS_MNEMONIC_POP) {
        step_pop(&d, &o[0]);
    } else if (d.x->mnemonic == ZYDIS_MNEMONIC_IMUL && o[1].kind != OPERAND_NONE) {
        step_arithmetic(&d);
    } else if (d.x->mnemonic >= ZYDIS_MNEMONIC_CMOVB && d.x->mnemonic <= ZYDIS_MNEMONIC_CMOVZ) {
        step_choose(&d);
    } else if (d.x->mnemonic == ZYDIS_MNEMONIC_CDQE) {
        struct value v = s->regs[REG_AX], fresh = step_unknown(&d, REG_AX);
        value_forget(&v, fresh.terms[0].symbol);
        s->regs[REG_AX] = value_extended(v, fresh.terms[0].symbol);
    } else if (d.x->flow == FLOW_NEXT) {
        step_default(&d);
    }
}
