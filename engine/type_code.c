/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/type_code.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"

enum {
    INSNS_MAX = 1 << 16, /* of one function: larger ones are not code that people wrote */
    TABLE_MAX = 1024,    /* entries of a table of jumps */
    TABLES_MAX = 256,
    EDGES_MAX = 1 << 18, /* between blocks: more are damage */
    CALLEES_MAX = UINT16_MAX - 1,
};

/* --- One instruction ---------------------------------------------------------------------- */

static uint8_t general(ZydisRegister r)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

    return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
               ? (uint8_t)(whole - ZYDIS_REGISTER_RAX)
               : REG_NONE;
}

static uint8_t vector(ZydisRegister r)
{
    ZydisRegisterClass c = ZydisRegisterGetClass(r);

    if (c != ZYDIS_REGCLASS_XMM && c != ZYDIS_REGCLASS_YMM && c != ZYDIS_REGCLASS_ZMM)
        return REG_NONE;
    int id = ZydisRegisterGetId(r);
    return id >= 0 && id < REG_COUNT ? (uint8_t)id : REG_NONE;
}

static void set_memory(struct operand *out, const ZydisDecodedOperandMem *m, uint64_t next)
{
    out->kind = OPERAND_MEMORY;
    out->base = out->index = REG_NONE;
    out->scale = m->scale;
    out->number = m->disp.has_displacement ? m->disp.value : 0;
    out->elsewhere = m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS;
    if (m->base == ZYDIS_REGISTER_RIP)
        out->number = (int64_t)(next + (uint64_t)out->number);
    else if (m->base != ZYDIS_REGISTER_NONE && (out->base = general(m->base)) == REG_NONE)
        out->elsewhere = true;
    if (m->index != ZYDIS_REGISTER_NONE && (out->index = general(m->index)) == REG_NONE)
        out->elsewhere = true; /* scattered by a vector */
}

static struct operand operand_of(const ZydisDecodedOperand *o, uint64_t next)
{
    struct operand out = {.bits = o->size, .base = REG_NONE, .index = REG_NONE, .reg = REG_NONE};

    switch (o->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
        out.high = o->reg.value >= ZYDIS_REGISTER_AH && o->reg.value <= ZYDIS_REGISTER_BH;
        if ((out.reg = general(o->reg.value)) != REG_NONE)
            out.kind = OPERAND_REGISTER;
        else if ((out.reg = vector(o->reg.value)) != REG_NONE)
            out.kind = OPERAND_VECTOR;
        break;
    case ZYDIS_OPERAND_TYPE_MEMORY:
        set_memory(&out, &o->mem, next);
        break;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        out.kind = OPERAND_NUMBER;
        out.number = o->imm.value.s;
        break;
    default:
        break;
    }
    return out;
}

static enum insn_flow flow_of(const ZydisDecodedInstruction *i, const struct insn *out)
{
    bool direct = out->operands[0].kind == OPERAND_NUMBER;

    switch (i->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return FLOW_BRANCH;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return direct ? FLOW_JUMP : FLOW_INDIRECT;
    case ZYDIS_CATEGORY_CALL:
        return FLOW_CALL;
    case ZYDIS_CATEGORY_RET:
        return FLOW_STOP;
    default:
        break;
    }
    switch (i->mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3:
        return FLOW_STOP;
    default:
        return FLOW_NEXT;
    }
}

/* What it writes: registers into the mask, memory but the stack's top as the store. */
static void note_writes(struct insn *out, const ZydisDecodedOperand *o, uint64_t next)
{
    if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
        return;
    struct operand x = operand_of(o, next);
    if (x.kind == OPERAND_REGISTER)
        out->writes |= UINT32_C(1) << x.reg;
    else if (x.kind == OPERAND_VECTOR)
        out->writes |= UINT32_C(1) << (REG_COUNT + x.reg);
    else if (x.kind == OPERAND_MEMORY && out->store.kind == OPERAND_NONE) {
        out->store = x;
        out->reads_store = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    }
}

static bool decode(const ZydisDecoder *decoder, const uint8_t *bytes, size_t n, uint64_t address,
                   struct insn *out)
{
    ZydisDecodedInstruction i;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, bytes, n, &i, operands)))
        return false;
    *out = (struct insn){.address = address, .mnemonic = (uint16_t)i.mnemonic, .length = i.length};
    uint64_t next = address + i.length;
    for (int k = 0, shown = 0; k < i.operand_count; k++) {
        if (operands[k].visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && shown < INSN_OPERANDS)
            out->operands[shown++] = operand_of(&operands[k], next);
        note_writes(out, &operands[k], next);
    }
    out->repeated =
        i.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    out->flow = (uint8_t)flow_of(&i, out);
    if (out->flow != FLOW_NEXT && out->operands[0].kind == OPERAND_NUMBER)
        out->target = next + (uint64_t)out->operands[0].number;
    return true;
}

static ZydisDecoder new_decoder(void)
{
    ZydisDecoder d;

    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return d;
}

/* --- Calls -------------------------------------------------------------------------------- */

char *code_callee(struct binary *b, uint64_t target)
{
    enum { STUB_INSNS = 3 }; /* endbr64, jmp *slot */
    ZydisDecoder decoder = new_decoder();
    struct insn i;
    size_t n;

    const uint8_t *bytes = binary_bytes(b, target, &n);
    for (uint64_t at = target; bytes && at < target + STUB_INSNS * ZYDIS_MAX_INSTRUCTION_LENGTH;
         at += i.length) {
        if (at - target >= n || !decode(&decoder, bytes + (at - target), n - (at - target), at, &i))
            break;
        if (i.flow == FLOW_INDIRECT && i.operands[0].kind == OPERAND_MEMORY) {
            const char *name = binary_import(b, (uint64_t)i.operands[0].number);
            if (name)
                return xstrdup(name);
        }
        if (i.mnemonic != ZYDIS_MNEMONIC_ENDBR64)
            break;
    }
    return binary_symbol(b, target);
}

static bool never_returns(const char *name)
{
    static const char *const names[] = {
        "abort",
        "exit",
        "_exit",
        "_Exit",
        "quick_exit",
        "__assert_fail",
        "__assert",
        "__stack_chk_fail",
        "err",
        "errx",
        "verr",
        "verrx",
        "longjmp",
        "siglongjmp",
        "__longjmp_chk",
        "__cxa_throw",
        "__cxa_rethrow",
        "_Unwind_Resume",
        "__fortify_fail",
        "__chk_fail",
        "pthread_exit",
        "__cxa_throw_bad_array_new_length",
        "std::terminate",
        "__assert_perror_fail",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return strstr(name, "__throw_") != NULL; /* those of the C++ library */
}

static void name_calls(struct code *c, struct binary *b)
{
    struct map known = {0}; /* target to callee */

    for (size_t i = 0; i < c->insns.n; i++) {
        struct insn *x = &c->insns.at[i];
        const struct operand *o = &x->operands[0];
        uint64_t target = x->target;
        bool slot = x->flow == FLOW_CALL && o->kind == OPERAND_MEMORY && o->base == REG_NONE &&
                    o->index == REG_NONE && !o->elsewhere;
        if (x->flow != FLOW_CALL || (!target && !slot) || c->callees.n == CALLEES_MAX)
            continue;
        if (slot)
            target = (uint64_t)o->number;
        bool added;
        uint64_t *callee = map_put(&known, &target, sizeof target, &added);
        if (added) {
            const char *import = slot ? binary_import(b, target) : NULL;
            char *name = slot ? import ? xstrdup(import) : NULL : code_callee(b, target);
            if (name)
                vec_push(&c->callees, name);
            *callee = name ? c->callees.n : 0;
        }
        x->callee = (uint16_t)*callee;
        if (x->callee && never_returns(c->callees.at[x->callee - 1]))
            x->flow = FLOW_STOP;
    }
    map_free(&known);
}

/* --- Finding instructions ------------------------------------------------------------------ */

/* The first instruction at or behind an address. */
static size_t find_from(const struct code *c, uint64_t address)
{
    size_t low = 0, high = c->insns.n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->insns.at[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

long code_find(const struct code *c, uint64_t address)
{
    size_t i = find_from(c, address);

    return i < c->insns.n && c->insns.at[i].address == address ? (long)i : -1;
}

/* --- Tables of jumps ---------------------------------------------------------------------- */

typedef vec_of(uint64_t) addresses;

/* A switch's table: 32-bit distances from its own start, or 64-bit addresses. */
static void read_table(const struct code *c, struct binary *b, uint64_t table, size_t width,
                       addresses *out)
{
    size_t n;
    const uint8_t *bytes = binary_bytes(b, table, &n);

    for (size_t i = 0; bytes && i < TABLE_MAX && (i + 1) * width <= n; i++) {
        int32_t distance;
        uint64_t target;
        memcpy(&distance, bytes + i * width, sizeof distance);
        memcpy(&target, bytes + i * width, width);
        if (width == sizeof distance)
            target = table + (uint64_t)(int64_t)distance;
        if (code_find(c, target) < 0)
            return;
        vec_push(out, target);
    }
}

/* Which table belongs to which jump is not asked: any may go to any, which costs precision only. */
static void find_tables(const struct code *c, struct binary *b, addresses *out)
{
    bool indirect = false;
    int tables = 0;

    for (size_t i = 0; i < c->insns.n; i++)
        indirect |= c->insns.at[i].flow == FLOW_INDIRECT;
    for (size_t i = 0; indirect && i < c->insns.n && tables < TABLES_MAX; i++) {
        const struct insn *x = &c->insns.at[i];
        for (int k = 0; k < INSN_OPERANDS; k++) {
            const struct operand *o = &x->operands[k];
            if (o->kind != OPERAND_MEMORY || o->base != REG_NONE || o->elsewhere)
                continue;
            if (x->mnemonic == ZYDIS_MNEMONIC_LEA)
                read_table(c, b, (uint64_t)o->number, sizeof(int32_t), out);
            else if (o->index != REG_NONE && o->scale == sizeof(uint64_t))
                read_table(c, b, (uint64_t)o->number, sizeof(uint64_t), out);
            tables++;
        }
    }
}

/* --- Blocks ------------------------------------------------------------------------------- */

static void mark(const struct code *c, bool *leader, uint64_t address)
{
    long i = code_find(c, address);

    if (i >= 0)
        leader[i] = true;
}

static bool ends_block(const struct insn *x)
{
    return x->flow != FLOW_NEXT && x->flow != FLOW_CALL;
}

static bool follows(const struct code *c, size_t i)
{
    return i + 1 < c->insns.n &&
           c->insns.at[i].address + c->insns.at[i].length == c->insns.at[i + 1].address;
}

static void cut_blocks(struct code *c, const addresses *tables, bool *leader, uint32_t *block_of)
{
    leader[0] = true;
    for (size_t i = 0; i < tables->n; i++)
        mark(c, leader, tables->at[i]);
    for (size_t i = 0; i < c->insns.n; i++) {
        const struct insn *x = &c->insns.at[i];
        if ((x->flow == FLOW_JUMP || x->flow == FLOW_BRANCH) && x->target)
            mark(c, leader, x->target);
        if (i + 1 < c->insns.n && (ends_block(x) || !follows(c, i)))
            leader[i + 1] = true;
    }
    mark(c, leader, c->entry);
    for (size_t i = 0; i < c->insns.n; i++) {
        if (leader[i])
            vec_push(&c->blocks, (struct block){.first = (uint32_t)i});
        vec_last(&c->blocks).end = (uint32_t)i + 1;
        block_of[i] = (uint32_t)c->blocks.n - 1;
    }
}

static void add_edge(struct code *c, struct block *b, uint32_t to)
{
    if (b->edge_count == 0)
        b->edges = (uint32_t)c->edges.n;
    vec_push(&c->edges, to);
    b->edge_count++;
}

static bool connect(struct code *c, const addresses *tables, const uint32_t *block_of)
{
    for (size_t i = 0; i < c->blocks.n; i++) {
        struct block *b = &c->blocks.at[i];
        const struct insn *last = &c->insns.at[b->end - 1];
        long target = last->target ? code_find(c, last->target) : -1;
        /* The one that follows comes first: type_flow.c knows branches by that. */
        if ((!ends_block(last) || last->flow == FLOW_BRANCH) && follows(c, b->end - 1))
            add_edge(c, b, (uint32_t)i + 1);
        if ((last->flow == FLOW_JUMP || last->flow == FLOW_BRANCH) && target >= 0)
            add_edge(c, b, block_of[target]);
        if (last->flow != FLOW_INDIRECT)
            continue;
        for (size_t k = 0; k < tables->n; k++)
            add_edge(c, b, block_of[code_find(c, tables->at[k])]);
        if (c->edges.n > EDGES_MAX)
            return false;
    }
    return true;
}

/* --- A function --------------------------------------------------------------------------- */

static int by_low(const void *a, const void *b)
{
    uint64_t x = ((const struct code_range *)a)->low, y = ((const struct code_range *)b)->low;

    return (x > y) - (x < y);
}

static bool decode_range(struct code *c, struct binary *b, const ZydisDecoder *decoder,
                         const struct code_range *r)
{
    size_t n;
    const uint8_t *bytes = binary_bytes(b, r->low, &n);

    if (!bytes || r->high <= r->low)
        return true;
    n = r->high - r->low < n ? r->high - r->low : n;
    for (size_t at = 0; at < n;) {
        struct insn x;
        if (c->insns.n == INSNS_MAX)
            return false;
        if (!decode(decoder, bytes + at, n - at, r->low + at, &x))
            break;
        vec_push(&c->insns, x);
        at += x.length;
    }
    return true;
}

/* Ranges that overlap are damage. */
static bool in_order(const struct code *c)
{
    for (size_t i = 1; i < c->insns.n; i++) {
        if (c->insns.at[i].address < c->insns.at[i - 1].address + c->insns.at[i - 1].length)
            return false;
    }
    return c->insns.n > 0;
}

bool code_read(struct code *c, struct binary *b, const struct code_range *ranges, size_t n)
{
    ZydisDecoder decoder = new_decoder();
    addresses tables = {0};

    *c = (struct code){0};
    if (n == 0)
        return false;
    c->entry = ranges[0].low;
    struct code_range *sorted = xcalloc(n, sizeof *sorted);
    memcpy(sorted, ranges, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_low);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        ok = decode_range(c, b, &decoder, &sorted[i]);
    free(sorted);
    if (!ok || !in_order(c))
        return false;
    name_calls(c, b);
    find_tables(c, b, &tables);
    bool *leader = xcalloc(c->insns.n, sizeof *leader);
    uint32_t *block_of = xcalloc(c->insns.n, sizeof *block_of);
    cut_blocks(c, &tables, leader, block_of);
    ok = connect(c, &tables, block_of);
    long entry = code_find(c, c->entry);
    c->entry_block = entry >= 0 ? block_of[entry] : 0;
    free(leader);
    free(block_of);
    vec_free(&tables);
    return ok;
}

void code_free(struct code *c)
{
    for (size_t i = 0; i < c->callees.n; i++)
        free(c->callees.at[i]);
    vec_free(&c->callees);
    vec_free(&c->insns);
    vec_free(&c->blocks);
    vec_free(&c->edges);
}
