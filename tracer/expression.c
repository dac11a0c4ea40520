/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/rule.h"

#include <dwarf.h>

/* Beyond what any compiler emits; they bound what a damaged module can cost. */
enum { STACK_MAX = 64, STEPS_MAX = 4096, WORD_BITS = 64 };

struct machine {
    const struct registers *registers;
    struct snapshot *memory;
    const uint64_t *cfa;
    uint64_t bias;
    uint64_t stack[STACK_MAX];
    size_t depth;
    bool is_place; /* the result is an address to read the value from */
};

static bool push(struct machine *m, uint64_t value)
{
    if (m->depth == STACK_MAX)
        return false;
    m->stack[m->depth++] = value;
    return true;
}

static bool pop(struct machine *m, uint64_t *value)
{
    if (m->depth == 0)
        return false;
    *value = m->stack[--m->depth];
    return true;
}

static bool push_register(struct machine *m, uint64_t number, uint64_t offset)
{
    if (number >= REG_COUNT || !(m->registers->known & UINT32_C(1) << number))
        return false;
    return push(m, m->registers->value[number] + offset);
}

/* The stack's n topmost values move down by one, the topmost to the bottom of them. */
static bool roll(struct machine *m, size_t n)
{
    if (m->depth < n)
        return false;
    uint64_t *base = m->stack + m->depth - n;
    uint64_t top = base[n - 1];
    for (size_t i = n - 1; i > 0; i--)
        base[i] = base[i - 1];
    base[0] = top;
    return true;
}

static bool pick(struct machine *m, uint64_t index)
{
    return index < m->depth && push(m, m->stack[m->depth - 1 - index]);
}

static bool dereference(struct machine *m, uint64_t size)
{
    uint64_t address, value;
    if (size > sizeof value || !pop(m, &address) || !snapshot_word(m->memory, address, &value))
        return false;
    if (size < sizeof value)
        value &= (UINT64_C(1) << size * 8) - 1;
    return push(m, value);
}

static bool unary(struct machine *m, const Dwarf_Op *op)
{
    uint64_t a;
    if (!pop(m, &a))
        return false;
    switch (op->atom) {
    case DW_OP_abs:
        return push(m, (int64_t)a < 0 ? -a : a);
    case DW_OP_neg:
        return push(m, -a);
    case DW_OP_not:
        return push(m, ~a);
    default: /* DW_OP_plus_uconst */
        return push(m, a + op->number);
    }
}

static bool divide(struct machine *m, unsigned atom, uint64_t a, uint64_t b)
{
    if (b == 0)
        return false;
    if (atom == DW_OP_mod)
        return push(m, a % b);
    if (b == UINT64_MAX) /* −1, by which the least number cannot be divided */
        return push(m, -a);
    return push(m, (uint64_t)((int64_t)a / (int64_t)b));
}

static bool binary(struct machine *m, const Dwarf_Op *op)
{
    uint64_t a, b;
    if (!pop(m, &b) || !pop(m, &a))
        return false;
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    switch (op->atom) {
    case DW_OP_and:
        return push(m, a & b);
    case DW_OP_or:
        return push(m, a | b);
    case DW_OP_xor:
        return push(m, a ^ b);
    case DW_OP_plus:
        return push(m, a + b);
    case DW_OP_minus:
        return push(m, a - b);
    case DW_OP_mul:
        return push(m, a * b);
    case DW_OP_shl:
        return push(m, a << b % WORD_BITS);
    case DW_OP_shr:
        return push(m, a >> b % WORD_BITS);
    case DW_OP_shra:
        return push(m, (uint64_t)(sa >> b % WORD_BITS));
    case DW_OP_le:
        return push(m, sa <= sb);
    case DW_OP_ge:
        return push(m, sa >= sb);
    case DW_OP_eq:
        return push(m, sa == sb);
    case DW_OP_lt:
        return push(m, sa < sb);
    case DW_OP_gt:
        return push(m, sa > sb);
    case DW_OP_ne:
        return push(m, sa != sb);
    default: /* DW_OP_div, DW_OP_mod */
        return divide(m, op->atom, a, b);
    }
}

static bool execute(struct machine *m, const Dwarf_Op *op)
{
    uint64_t ignored;
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
        return push(m, op->atom - DW_OP_lit0);
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
        return push_register(m, op->atom - DW_OP_reg0, 0);
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        return push_register(m, op->atom - DW_OP_breg0, op->number);
    if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
        return push(m, op->number);
    switch (op->atom) {
    case DW_OP_addr:
        return push(m, op->number + m->bias);
    case DW_OP_regx:
        return push_register(m, op->number, 0);
    case DW_OP_bregx:
        return push_register(m, op->number, op->number2);
    case DW_OP_dup:
        return pick(m, 0);
    case DW_OP_over:
        return pick(m, 1);
    case DW_OP_pick:
        return pick(m, op->number);
    case DW_OP_drop:
        return pop(m, &ignored);
    case DW_OP_swap:
        return roll(m, 2);
    case DW_OP_rot:
        return roll(m, 3);
    case DW_OP_deref:
        return dereference(m, sizeof(uint64_t));
    case DW_OP_deref_size:
        return dereference(m, op->number);
    case DW_OP_abs:
    case DW_OP_neg:
    case DW_OP_not:
    case DW_OP_plus_uconst:
        return unary(m, op);
    case DW_OP_nop:
        return true;
    case DW_OP_call_frame_cfa:
        m->is_place = true;
        return m->cfa && push(m, *m->cfa);
    case DW_OP_stack_value:
        m->is_place = false;
        return true;
    default:
        if ((op->atom >= DW_OP_and && op->atom <= DW_OP_xor) ||
            (op->atom >= DW_OP_eq && op->atom <= DW_OP_ne))
            return binary(m, op);
        return false;
    }
}

/* Where a branch leads, as an index; count when it leads nowhere. Offsets are those of the
 * expression's bytes, and the branch itself takes three of them. */
static size_t branch_target(const Dwarf_Op *ops, size_t count, const Dwarf_Op *branch)
{
    uint64_t offset = branch->offset + 3 + (uint64_t)(int64_t)(int16_t)branch->number;
    size_t i = 0;
    while (i < count && ops[i].offset != offset)
        i++;
    return i;
}

static bool run(struct machine *m, const Dwarf_Op *ops, size_t count)
{
    size_t steps = 0;
    for (size_t i = 0; i < count; i++) {
        if (++steps > STEPS_MAX)
            return false;
        const Dwarf_Op *op = &ops[i];
        if (op->atom != DW_OP_bra && op->atom != DW_OP_skip) {
            if (!execute(m, op))
                return false;
            continue;
        }
        uint64_t condition = 1;
        if (op->atom == DW_OP_bra && !pop(m, &condition))
            return false;
        if (!condition)
            continue;
        size_t target = branch_target(ops, count, op);
        if (target == count)
            return false;
        i = target - 1; /* wraps at 0; the loop's increment undoes it */
    }
    return true;
}

bool expression_value(const Dwarf_Op *ops, size_t count, const struct registers *r,
                      struct snapshot *memory, const uint64_t *cfa, uint64_t bias, uint64_t *value)
{
    struct machine m = {.registers = r, .memory = memory, .cfa = cfa, .bias = bias};
    if (!run(&m, ops, count) || !pop(&m, value))
        return false;
    return !m.is_place || snapshot_word(memory, *value, value);
}
