/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/type_scope.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/type_resolve.h"

enum {
    SCOPE_DEPTH_MAX = 64,  /* blocks in blocks */
    PLACES_MAX = 1 << 16,  /* of one function */
    MEMBERS_MAX = 1 << 20, /* functions and variables of one unit */
    RANGES_MAX = 1 << 12,  /* of one function or block */
    POINTER_SIZE = 8,
    DWARF_VECTORS = 17, /* number of the first vector register */
};

/* A function's or a variable's place. */
struct member {
    uint64_t low, high;
    Dwarf_Die die;
};

struct unit {
    vec_of(struct member) functions; /* by low; one a range */
    vec_of(struct member) variables; /* by low */
    struct map declared;             /* name to place in declarations + 1 */
    vec_of(Dwarf_Die) declarations;
};

struct type_scopes {
    struct type_info *info;
    struct binary *binary;
    struct map units; /* address of the unit's DIE to struct unit * */
    vec_of(struct unit *) owned;
};

struct type_scopes *scopes_open(struct type_info *in, struct binary *b)
{
    struct type_scopes *s = xcalloc(1, sizeof *s);

    s->info = in;
    s->binary = b;
    return s;
}

void scopes_close(struct type_scopes *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->owned.n; i++) {
        vec_free(&s->owned.at[i]->functions);
        vec_free(&s->owned.at[i]->variables);
        vec_free(&s->owned.at[i]->declarations);
        map_free(&s->owned.at[i]->declared);
        free(s->owned.at[i]);
    }
    vec_free(&s->owned);
    map_free(&s->units);
    free(s);
}

void scope_free(struct scope *f)
{
    vec_free(&f->ranges);
    vec_free(&f->places);
}

/* --- Expressions -------------------------------------------------------------------------- */

/* DWARF's numbers of the general registers to those of machine code. */
static bool general_register(uint64_t dwarf, uint8_t *out)
{
    static const uint8_t numbers[REG_COUNT] = {
        REG_AX, REG_DX, REG_CX, REG_BX, REG_SI, REG_DI, REG_BP, REG_SP,
        8,      9,      10,     11,     12,     13,     14,     15,
    };

    if (dwarf >= REG_COUNT)
        return false;
    *out = numbers[dwarf];
    return true;
}

/* A simple location: where one piece of a variable is. */
struct simple {
    enum { AT_NOWHERE, AT_REGISTER, AT_MEMORY, AT_FRAME_BASE, AT_FIXED } kind;
    uint8_t reg;
    int64_t offset;
    uint64_t address;
    bool is_value; /* register + offset is the variable itself */
};

static void simple_of_op(Dwarf_Attribute *a, const Dwarf_Op *op, struct simple *out)
{
    Dwarf_Attribute address;
    Dwarf_Addr value;

    *out = (struct simple){.kind = AT_NOWHERE};
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
        if (general_register(op->atom - DW_OP_reg0, &out->reg))
            out->kind = AT_REGISTER;
    } else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        if (general_register(op->atom - DW_OP_breg0, &out->reg))
            out->kind = AT_MEMORY;
        out->offset = (int64_t)op->number;
    } else if (op->atom == DW_OP_fbreg) {
        out->kind = AT_FRAME_BASE;
        out->offset = (int64_t)op->number;
    } else if (op->atom == DW_OP_call_frame_cfa) {
        out->kind = AT_MEMORY;
        out->reg = PLACE_FRAME;
    } else if (op->atom == DW_OP_addr) {
        out->kind = AT_FIXED;
        out->address = op->number;
    } else if ((op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index) &&
               dwarf_getlocation_attr(a, op, &address) == 0 &&
               dwarf_formaddr(&address, &value) == 0) {
        out->kind = AT_FIXED;
        out->address = value;
    }
}

/* What follows the first operation of a piece. Returns how many were read; what is not understood
 * makes the piece be nowhere. */
static size_t read_rest(const Dwarf_Op *ops, size_t n, struct simple *out)
{
    size_t i = 0;

    for (; i < n && ops[i].atom != DW_OP_piece && ops[i].atom != DW_OP_bit_piece; i++) {
        if (ops[i].atom == DW_OP_GNU_uninit)
            continue;
        if (ops[i].atom == DW_OP_stack_value)
            out->is_value = true;
        else if (ops[i].atom == DW_OP_plus_uconst && out->kind != AT_REGISTER)
            out->offset = (int64_t)((uint64_t)out->offset + ops[i].number);
        else
            out->kind = AT_NOWHERE;
    }
    return i;
}

/* --- A function's variables ---------------------------------------------------------------- */

/* One variable while it is being read. */
struct reading {
    struct type_scopes *scopes;
    struct scope *function;
    struct simple frame; /* the frame base; AT_NOWHERE when it is not understood */
};

static void add_place(struct reading *r, struct type *t, uint64_t skip, struct simple at,
                      uint64_t low, uint64_t high)
{
    struct place p = {.low = low, .high = high, .reg = at.reg, .offset = at.offset, .type = t};

    if (at.kind == AT_FRAME_BASE) {
        if (r->frame.kind == AT_NOWHERE)
            return;
        p.reg = r->frame.reg;
        p.offset = (int64_t)((uint64_t)at.offset + (uint64_t)r->frame.offset);
        at.kind = AT_MEMORY;
    }
    if (at.kind == AT_MEMORY && !at.is_value) {
        if (skip)
            return; /* pieces in memory: rare, and a field at a time */
        p.kind = PLACE_MEMORY;
    } else if ((at.kind == AT_REGISTER || (at.kind == AT_MEMORY && at.is_value)) &&
               at.reg != PLACE_FRAME) {
        if (!pointer_at_offset(t, skip, &p.value))
            return; /* a number: nothing to be known */
        p.value.offset = -at.offset;
        p.kind = PLACE_VALUE;
    } else {
        return;
    }
    if (low < high && r->function->places.n < PLACES_MAX)
        vec_push(&r->function->places, p);
}

static void add_expression(struct reading *r, Dwarf_Attribute *a, const Dwarf_Op *ops, size_t n,
                           struct type *t, uint64_t low, uint64_t high)
{
    uint64_t skip = 0;

    for (size_t i = 0; i < n; i++) {
        struct simple at = {.kind = AT_NOWHERE};
        if (ops[i].atom != DW_OP_piece) { /* an empty piece has no operation of its own */
            simple_of_op(a, &ops[i], &at);
            i += 1 + read_rest(ops + i + 1, n - i - 1, &at);
        }
        if (at.offset <= INT32_MAX && at.offset >= INT32_MIN)
            add_place(r, t, skip, at, low, high);
        if (i < n && ops[i].atom == DW_OP_piece)
            skip += ops[i].number;
        else if (i < n)
            return;
    }
}

typedef vec_of(struct code_range) range_list;

static void read_ranges(struct type_scopes *s, Dwarf_Die *die, range_list *out)
{
    Dwarf_Addr base, low, high, shift = binary_shift(s->binary);
    ptrdiff_t next = 0;

    while (out->n < RANGES_MAX && (next = dwarf_ranges(die, next, &base, &low, &high)) > 0) {
        if (low < high)
            vec_push(out, (struct code_range){low - shift, high - shift});
    }
}

static void add_variable(struct reading *r, Dwarf_Die *die, const range_list *scope)
{
    Dwarf_Attribute a;
    Dwarf_Op *ops;
    Dwarf_Addr base, low, high, shift = binary_shift(r->scopes->binary);
    ptrdiff_t next = 0;
    size_t n;

    struct type *t = type_of_attribute(r->scopes->info, die);
    if (!t || !dwarf_attr(die, DW_AT_location, &a))
        return;
    while ((next = dwarf_getlocations(&a, next, &base, &low, &high, &ops, &n)) > 0 &&
           r->function->places.n < PLACES_MAX) {
        if (low != 0 || high != (Dwarf_Addr)-1) {
            add_expression(r, &a, ops, n, t, low - shift, high - shift);
            continue;
        }
        for (size_t i = 0; i < scope->n; i++) /* one place for as long as the block lasts */
            add_expression(r, &a, ops, n, t, scope->at[i].low, scope->at[i].high);
    }
}

static void add_variables(struct reading *r, Dwarf_Die *parent, const range_list *scope, int depth)
{
    Dwarf_Die child;

    if (depth > SCOPE_DEPTH_MAX || dwarf_child(parent, &child) != 0)
        return;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) {
            add_variable(r, &child, scope);
        } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
                   tag == DW_TAG_try_block || tag == DW_TAG_catch_block) {
            range_list inner = {0};
            read_ranges(r->scopes, &child, &inner);
            add_variables(r, &child, inner.n ? &inner : scope, depth + 1);
            vec_free(&inner);
        }
    } while (r->function->places.n < PLACES_MAX && dwarf_siblingof(&child, &child) == 0);
}

static void read_frame_base(struct reading *r, Dwarf_Die *die)
{
    Dwarf_Attribute a;
    Dwarf_Op *ops;
    size_t n;

    if (!dwarf_attr_integrate(die, DW_AT_frame_base, &a) || dwarf_getlocation(&a, &ops, &n) != 0 ||
        n == 0)
        return;
    simple_of_op(&a, &ops[0], &r->frame);
    read_rest(ops + 1, n - 1, &r->frame);
    if (r->frame.kind != AT_REGISTER && r->frame.kind != AT_MEMORY)
        r->frame.kind = AT_NOWHERE;
}

static int by_place(const void *a, const void *b)
{
    uint64_t x = ((const struct place *)a)->low, y = ((const struct place *)b)->low;

    return (x > y) - (x < y);
}

static void read_function(struct type_scopes *s, Dwarf_Die *die, struct scope *out)
{
    struct reading r = {.scopes = s, .function = out};
    range_list ranges = {0};
    Dwarf_Addr entry;

    read_ranges(s, die, &ranges);
    if (dwarf_entrypc(die, &entry) == 0) {
        for (size_t i = 1; i < ranges.n; i++) {
            struct code_range first = ranges.at[0];
            if (ranges.at[i].low != entry - binary_shift(s->binary))
                continue;
            ranges.at[0] = ranges.at[i];
            ranges.at[i] = first;
        }
    }
    read_frame_base(&r, die);
    add_variables(&r, die, &ranges, 0);
    if (out->places.n)
        qsort(out->places.at, out->places.n, sizeof *out->places.at, by_place);
    for (size_t i = 0; i < ranges.n; i++)
        vec_push(&out->ranges, ranges.at[i]);
    vec_free(&ranges);
}

/* --- Units -------------------------------------------------------------------------------- */

static int by_member(const void *a, const void *b)
{
    uint64_t x = ((const struct member *)a)->low, y = ((const struct member *)b)->low;

    return (x > y) - (x < y);
}

static void add_declaration(struct unit *u, Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute a;
    bool added;
    const char *name = dwarf_attr_integrate(die, attribute, &a) ? dwarf_formstring(&a) : NULL;

    if (!name)
        return;
    uint64_t *place = map_put(&u->declared, name, strlen(name), &added);
    if (added) {
        vec_push(&u->declarations, *die);
        *place = u->declarations.n;
    }
}

static void add_static(struct type_scopes *s, struct unit *u, Dwarf_Die *die)
{
    Dwarf_Attribute a;
    Dwarf_Op *ops;
    size_t n;
    struct simple at;

    add_declaration(u, die, DW_AT_name);
    if (!dwarf_attr(die, DW_AT_location, &a) || dwarf_getlocation(&a, &ops, &n) != 0 || n != 1)
        return;
    simple_of_op(&a, &ops[0], &at);
    struct type *t = at.kind == AT_FIXED ? type_of_attribute(s->info, die) : NULL;
    if (t && t->size) {
        uint64_t low = at.address - binary_shift(s->binary);
        vec_push(&u->variables, (struct member){low, low + t->size, *die});
    }
}

static void add_members(struct type_scopes *s, struct unit *u, Dwarf_Die *parent, int depth)
{
    Dwarf_Die child;

    if (depth > SCOPE_DEPTH_MAX || dwarf_child(parent, &child) != 0)
        return;
    do {
        switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram: {
            range_list ranges = {0};
            read_ranges(s, &child, &ranges);
            for (size_t i = 0; i < ranges.n; i++)
                vec_push(&u->functions,
                         (struct member){ranges.at[i].low, ranges.at[i].high, child});
            vec_free(&ranges);
            add_declaration(u, &child, DW_AT_name);
            add_declaration(u, &child, DW_AT_linkage_name);
            add_members(s, u, &child, depth + 1); /* static variables */
            break;
        }
        case DW_TAG_variable:
            add_static(s, u, &child);
            break;
        case DW_TAG_namespace:
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_lexical_block:
            add_members(s, u, &child, depth + 1);
            break;
        default:
            break;
        }
    } while (u->functions.n + u->declarations.n < MEMBERS_MAX &&
             dwarf_siblingof(&child, &child) == 0);
}

static struct unit *unit_of(struct type_scopes *s, uint64_t address)
{
    Dwarf_Die die;
    bool added;

    if (!binary_unit(s->binary, address, &die))
        return NULL;
    uint64_t *known = map_put(&s->units, &die.addr, sizeof die.addr, &added);
    if (!added)
        return (struct unit *)(uintptr_t)*known;
    struct unit *u = xcalloc(1, sizeof *u);
    *known = (uint64_t)(uintptr_t)u;
    vec_push(&s->owned, u);
    add_members(s, u, &die, 0);
    if (u->functions.n)
        qsort(u->functions.at, u->functions.n, sizeof *u->functions.at, by_member);
    if (u->variables.n)
        qsort(u->variables.at, u->variables.n, sizeof *u->variables.at, by_member);
    return u;
}

/* The last that begins at or before the address, when it reaches that far. */
static struct member *member_at(struct member *at, size_t n, uint64_t address)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (at[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < at[low - 1].high ? &at[low - 1] : NULL;
}

const void *scopes_function(struct type_scopes *s, uint64_t address)
{
    struct unit *u = unit_of(s, address);
    struct member *f = u ? member_at(u->functions.at, u->functions.n, address) : NULL;

    return f ? f->die.addr : NULL;
}

bool scopes_find(struct type_scopes *s, uint64_t address, struct scope *out)
{
    struct unit *u = unit_of(s, address);
    struct member *f = u ? member_at(u->functions.at, u->functions.n, address) : NULL;

    *out = (struct scope){0};
    if (!f)
        return false;
    out->unit = u;
    read_function(s, &f->die, out);
    return out->ranges.n > 0;
}

/* --- Fixed addresses and results ----------------------------------------------------------- */

bool scope_static(struct type_scopes *s, const struct scope *f, uint64_t address, struct value *out)
{
    struct unit *u = f->unit;
    struct member *v = member_at(u->variables.at, u->variables.n, address);

    if (v) {
        *out = value_pointer(type_of_attribute(s->info, &v->die), (int64_t)(address - v->low));
        return true;
    }
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(s->binary->module, address + s->binary->bias, &offset,
                                            &symbol, NULL, NULL, NULL);
    if (!name || !scope_named(s, f, name, out) || offset >= out->pointee->size)
        return false;
    out->offset = (int64_t)offset;
    return true;
}

static Dwarf_Die *declared(const struct scope *f, const char *name)
{
    struct unit *u = f->unit;
    uint64_t *place = map_get(&u->declared, name, strlen(name));

    return place ? &u->declarations.at[*place - 1] : NULL;
}

bool scope_named(struct type_scopes *s, const struct scope *f, const char *name, struct value *out)
{
    Dwarf_Die *die = declared(f, name);
    struct type *t =
        die && dwarf_tag(die) == DW_TAG_variable ? type_of_attribute(s->info, die) : NULL;

    if (!t)
        return false;
    *out = value_pointer(t, 0);
    return true;
}

void scope_results(struct type_scopes *s, const struct scope *f, uint64_t target, const char *name,
                   struct value out[RESULTS], bool has[RESULTS])
{
    struct unit *u = target ? unit_of(s, target) : NULL;
    struct member *m = u ? member_at(u->functions.at, u->functions.n, target) : NULL;
    Dwarf_Die *die = m && m->low == target ? &m->die : name ? declared(f, name) : NULL;
    struct type *t =
        die && dwarf_tag(die) == DW_TAG_subprogram ? type_of_attribute(s->info, die) : NULL;

    for (int i = 0; i < RESULTS; i++) {
        /* What is larger than the registers is returned in memory, its address in the first. */
        bool in_registers = t && t->size <= RESULTS * POINTER_SIZE;
        has[i] = in_registers && pointer_at_offset(t, (uint64_t)i * POINTER_SIZE, &out[i]);
        if (i == 0 && type_is_struct(t) && !in_registers && t->size) {
            out[0] = value_pointer(t, 0);
            has[0] = true;
        }
    }
}
