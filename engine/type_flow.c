/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/type_flow.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/type_resolve.h"
#include "engine/type_step.h"

enum {
    ROUNDS_MAX = 4,  /* beginnings anew because more of the frame turned out to be handed out */
    VISITS_MAX = 64, /* of a block, on average: what learns longer than that learns nothing */
    NEARBY_MAX = 1 << 20, /* places of all blocks together */
};

/* What is kept for each block besides its state. */
struct work {
    struct walk w;
    struct flow_state *states; /* at the beginning of each block */
    bool *waiting;
    uint32_t *places;    /* those good somewhere in a block, block after block */
    uint32_t *places_at; /* where each block's begin; one more than blocks */
};

/* --- What the debug info says --------------------------------------------------------------- */

static bool is_active(const struct place *p, uint64_t address)
{
    return address >= p->low && address < p->high;
}

/* What another variable in the same register means for a pointer that is to be declared. */
enum rival { RIVAL_NONE, RIVAL_BETTER, RIVAL_CONTRADICTS };

static enum rival rival_of(const struct value *v, const struct value *other)
{
    int64_t ours = v->offset, theirs = other->offset; /* of the register in each object */
    int64_t apart = theirs - ours;

    if (apart == 0 && type_same(other->pointee, v->pointee))
        return RIVAL_NONE;
    if (apart >= 0 && type_holds(other->pointee, (uint64_t)apart, v->pointee))
        return RIVAL_BETTER;
    if (apart <= 0 && type_holds(v->pointee, (uint64_t)-apart, other->pointee))
        return RIVAL_NONE;
    /* The register points to one of them, the other is made from it: slots behind a header, the end
     * of an array. */
    if ((ours == 0) != (theirs == 0))
        return theirs == 0 ? RIVAL_BETTER : RIVAL_NONE;
    bool overlap = apart < (int64_t)other->pointee->size && -apart < (int64_t)v->pointee->size;
    return overlap ? RIVAL_CONTRADICTS : RIVAL_NONE;
}

/* Two variables of unrelated types in one register, by a cast: which one an instruction means
 * cannot be told. When one lies in the other, the one around it says more. */
static enum rival worst_rival(const struct walk *w, const struct place *p, uint64_t address)
{
    enum rival worst = RIVAL_NONE;

    for (size_t i = 0; i < w->nearby_count; i++) {
        const struct place *q = &w->scope->places.at[w->nearby[i]];
        if (q == p || q->kind != PLACE_VALUE || q->reg != p->reg || !is_active(q, address) ||
            !type_is_struct(q->value.pointee) || q->value.pointee->size == 0 ||
            q->value.relative != p->value.relative)
            continue;
        enum rival r = rival_of(&p->value, &q->value);
        worst = r > worst ? r : worst;
    }
    return worst;
}

/* Where the pointer without its distance leads. */
static struct value without(struct value v, int64_t offset)
{
    v.offset = (int64_t)((uint64_t)v.offset - (uint64_t)offset);
    return v;
}

static void declare(struct walk *w, struct flow_state *s, const struct place *p, uint64_t address)
{
    struct value v = p->value, *now = &s->regs[p->reg];
    bool is_struct = type_is_struct(v.pointee);

    if (v.pointee->size == 0)
        return;
    if (now->base == BASE_FRAME)
        return;
    if (now->base == BASE_POINTER) {
        struct value begin = without(*now, v.offset);
        if (!is_struct || value_begins(&begin, v.pointee))
            return;
    }
    enum rival rival = is_struct ? worst_rival(w, p, address) : RIVAL_NONE;
    if (rival == RIVAL_CONTRADICTS && now->base == BASE_POINTER)
        *now = value_symbol(SYMBOL_ANY);
    if (rival != RIVAL_NONE)
        return; /* a better one will be declared, or was */
    int64_t zero;
    if (now->base == BASE_NONE && now->n == 1 && now->terms[0].stride == 1 &&
        now->terms[0].symbol != SYMBOL_ANY) {
        uint32_t symbol = now->terms[0].symbol;
        struct value meaning = without(v, now->offset);
        if (symbol < SYMBOL_FREE && meaning.offset == 0 && !meaning.relative)
            meaning.argument = (int8_t)(symbol - SYMBOL_ARGUMENT);
        flow_state_substitute(s, symbol, meaning);
    } else if (!(value_is_number(now, &zero) && zero == 0)) { /* NULL stays NULL */
        *now = v;
    }
}

/* An object that lies where a register says, such as a large argument by value. */
static void declare_object(struct flow_state *s, const struct place *p)
{
    if (p->reg == PLACE_FRAME || !type_is_struct(p->type) || p->type->size == 0)
        return;
    struct value *now = &s->regs[p->reg];
    if (now->base == BASE_NONE && now->n == 1)
        *now = value_pointer(p->type, -p->offset);
}

static void declare_all(struct walk *w, struct flow_state *s, uint64_t address, bool at_start)
{
    for (size_t i = 0; i < w->nearby_count; i++) {
        const struct place *p = &w->scope->places.at[w->nearby[i]];
        if (!is_active(p, address) || (!at_start && p->low != address))
            continue;
        if (p->kind == PLACE_VALUE)
            declare(w, s, p, address);
        else
            declare_object(s, p);
    }
}

/* --- Edges -------------------------------------------------------------------------------- */

static bool is_zero_test(const struct insn *x, struct operand *tested)
{
    const struct operand *a = &x->operands[0], *b = &x->operands[1];

    *tested = *a;
    if (x->mnemonic == ZYDIS_MNEMONIC_TEST)
        return a->kind == OPERAND_REGISTER && b->kind == OPERAND_REGISTER && a->reg == b->reg &&
               a->bits == 64;
    return x->mnemonic == ZYDIS_MNEMONIC_CMP && b->kind == OPERAND_NUMBER && b->number == 0 &&
           a->bits == 64;
}

/* On the edge where a pointer was found to be NULL it is, and gives way where ways meet. */
static void learn_from_branch(const struct walk *w, struct flow_state *s, const struct block *b,
                              bool taken)
{
    const struct insn *last = &w->code.insns.at[b->end - 1];
    struct operand tested;

    if (b->end - b->first < 2 || last->flow != FLOW_BRANCH ||
        taken != (last->mnemonic == ZYDIS_MNEMONIC_JZ) ||
        (last->mnemonic != ZYDIS_MNEMONIC_JZ && last->mnemonic != ZYDIS_MNEMONIC_JNZ) ||
        !is_zero_test(last - 1, &tested))
        return;
    struct value null = value_number(0);
    if (tested.kind == OPERAND_REGISTER) {
        s->regs[tested.reg] = null;
    } else if (tested.kind == OPERAND_MEMORY) {
        struct value at = step_address(s, &tested, b->end - 1);
        if (at.base == BASE_FRAME && at.n == 0 && flow_state_slot(s, at.offset, WORD))
            flow_state_set_slot(s, at.offset, WORD, &null);
    }
}

/* --- Until nothing new is learnt ------------------------------------------------------------ */

static void enter_block(struct work *k, uint32_t block)
{
    k->w.nearby = k->places + k->places_at[block];
    k->w.nearby_count = k->places_at[block + 1] - k->places_at[block];
}

/* Does all instructions of a block; `visit` sees the state before each. */
static void do_block(struct work *k, uint32_t block, struct flow_state *s,
                     void (*visit)(struct work *k, struct flow_state *s, uint32_t insn, void *data),
                     void *data)
{
    const struct block *b = &k->w.code.blocks.at[block];

    enter_block(k, block);
    for (uint32_t i = b->first; i < b->end; i++) {
        declare_all(&k->w, s, k->w.code.insns.at[i].address, i == b->first);
        if (visit)
            visit(k, s, i, data);
        step(&k->w, s, i);
    }
}

static uint32_t next_waiting(const struct work *k, uint32_t from)
{
    uint32_t n = (uint32_t)k->w.code.blocks.n;

    for (uint32_t i = 0; i < n; i++) {
        if (k->waiting[(from + i) % n])
            return (from + i) % n;
    }
    return n;
}

static bool follow(struct work *k)
{
    struct code *c = &k->w.code;
    struct flow_state s = {0}, out = {0};
    size_t visits = 0, limit = c->blocks.n * VISITS_MAX;
    uint32_t block = c->entry_block;
    bool ok = true;

    for (size_t i = 0; i < c->blocks.n; i++)
        k->states[i].reached = k->waiting[i] = false;
    flow_state_enter(&k->states[block]);
    k->waiting[block] = true;
    while (ok && (block = next_waiting(k, block)) < c->blocks.n) {
        const struct block *b = &c->blocks.at[block];
        k->waiting[block] = false;
        flow_state_copy(&s, &k->states[block]);
        do_block(k, block, &s, NULL, NULL);
        for (uint32_t e = 0; e < b->edge_count; e++) {
            uint32_t to = c->edges.at[b->edges + e];
            flow_state_copy(&out, &s);
            if (b->edge_count == 2)
                learn_from_branch(&k->w, &out, b, e > 0);
            if (flow_state_join(&k->states[to], &out, to))
                k->waiting[to] = true;
        }
        ok = ++visits <= limit;
    }
    flow_state_free(&s);
    flow_state_free(&out);
    return ok;
}

/* --- What is kept --------------------------------------------------------------------------- */

static enum spot_fit fit_of(const struct insn *x)
{
    return x->reads_store ? FIT_PART : FIT_WHOLE;
}

static bool resolves(const struct value *v, const struct insn *x)
{
    struct type_spot spot;
    bool found = spot_of_value(v, x->store.bits / 8, fit_of(x), &spot);

    if (found)
        spot_free(&spot);
    return found;
}

/* When what a register points to does not reach as far as the store, a variable that is made from
 * the register may: slots behind a header. The only one that does is meant. */
static struct value by_other_variable(struct work *k, struct flow_state *s, uint32_t insn,
                                      struct value to)
{
    const struct insn *x = &k->w.code.insns.at[insn];
    struct value found = to;
    int count = 0;

    if (x->store.base == REG_NONE || resolves(&to, x))
        return to;
    struct value saved = s->regs[x->store.base];
    for (size_t i = 0; i < k->w.nearby_count; i++) {
        const struct place *p = &k->w.scope->places.at[k->w.nearby[i]];
        if (p->kind != PLACE_VALUE || p->reg != x->store.base || p->value.offset == 0 ||
            !is_active(p, x->address) || !type_is_struct(p->value.pointee))
            continue;
        s->regs[x->store.base] = p->value;
        struct value v = step_address(s, &x->store, insn);
        if (!resolves(&v, x) || (count && value_equal(&v, &found)))
            continue;
        found = v;
        count++;
    }
    s->regs[x->store.base] = saved;
    return count == 1 ? found : to;
}

static void keep(struct work *k, struct flow_state *s, uint32_t insn, void *data)
{
    static const uint8_t registers[ARGUMENTS] = {REG_DI, REG_SI, REG_DX, REG_CX, 8, 9};
    const struct insn *x = &k->w.code.insns.at[insn];
    struct flow *out = data;
    struct value object;

    if (x->flow == FLOW_CALL) {
        struct flow_call call = {.end = x->address + x->length, .target = x->target};
        if (x->callee)
            call.callee = k->w.code.callees.at[x->callee - 1];
        for (int i = 0; i < ARGUMENTS; i++) {
            call.arguments[i] = s->regs[registers[i]];
            if (step_static(&k->w, &call.arguments[i], &object))
                call.arguments[i] = object;
        }
        vec_push(&out->calls, call);
    } else if (x->store.kind == OPERAND_MEMORY && x->mnemonic != ZYDIS_MNEMONIC_PUSH) {
        struct flow_store store = {
            .address = x->address,
            .to = step_address(s, &x->store, insn),
            .size = x->store.bits / 8,
            .part = x->reads_store,
            .repeated = x->repeated,
        };
        if (store.to.base == BASE_FRAME)
            return;
        if (step_static(&k->w, &store.to, &object))
            store.to = object;
        store.to = by_other_variable(k, s, insn, store.to);
        vec_push(&out->stores, store);
    }
}

static void collect(struct work *k, struct flow *out)
{
    struct flow_state s = {0};

    for (uint32_t i = 0; i < k->w.code.blocks.n; i++) {
        if (!k->states[i].reached)
            continue;
        flow_state_copy(&s, &k->states[i]);
        do_block(k, i, &s, keep, out);
    }
    flow_state_free(&s);
    for (size_t i = 0; i < k->w.code.callees.n; i++)
        vec_push(&out->names, k->w.code.callees.at[i]);
    k->w.code.callees.n = 0;
}

/* --- A function ----------------------------------------------------------------------------- */

static size_t block_at(const struct code *c, uint64_t address)
{
    size_t low = 0, high = c->blocks.n;

    while (low < high) { /* the last that begins at or before it */
        size_t middle = low + (high - low) / 2;
        if (c->insns.at[c->blocks.at[middle].first].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

static uint64_t block_end(const struct code *c, size_t block)
{
    const struct insn *last = &c->insns.at[c->blocks.at[block].end - 1];

    return last->address + last->length;
}

/* Calls visit for each block that a place is good in, and the place. */
static bool list_places(struct work *k, const struct scope *f, bool fill)
{
    const struct code *c = &k->w.code;
    size_t total = 0;

    for (size_t i = 0; i < f->places.n; i++) {
        const struct place *p = &f->places.at[i];
        for (size_t b = block_at(c, p->low); b < c->blocks.n; b++) {
            if (c->insns.at[c->blocks.at[b].first].address >= p->high)
                break;
            if (block_end(c, b) <= p->low)
                continue;
            if (fill)
                k->places[k->places_at[b]++] = (uint32_t)i;
            else
                k->places_at[b + 1]++;
            if (++total > NEARBY_MAX)
                return false;
        }
    }
    return true;
}

static bool index_places(struct work *k, const struct scope *f)
{
    size_t n = k->w.code.blocks.n;

    k->places_at = xcalloc(n + 1, sizeof *k->places_at);
    if (!list_places(k, f, false))
        return false;
    for (size_t i = 0; i < n; i++)
        k->places_at[i + 1] += k->places_at[i];
    k->places = xcalloc(k->places_at[n] + 1, sizeof *k->places);
    list_places(k, f, true);
    for (size_t i = n; i > 0; i--) /* filling moved each to the next one's beginning */
        k->places_at[i] = k->places_at[i - 1];
    k->places_at[0] = 0;
    return true;
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = ((const struct flow_store *)a)->address;
    uint64_t y = ((const struct flow_store *)b)->address;

    return (x > y) - (x < y);
}

static int by_end(const void *a, const void *b)
{
    uint64_t x = ((const struct flow_call *)a)->end, y = ((const struct flow_call *)b)->end;

    return (x > y) - (x < y);
}

bool flow_run(struct flow *out, struct type_scopes *s, struct binary *b, const struct scope *f)
{
    struct work k = {.w = {.binary = b, .scopes = s, .scope = f}};

    *out = (struct flow){.entry = f->ranges.at[0].low};
    bool ok = code_read(&k.w.code, b, f->ranges.at, f->ranges.n) && index_places(&k, f);
    size_t blocks = k.w.code.blocks.n;
    k.states = xcalloc(blocks + 1, sizeof *k.states);
    k.waiting = xcalloc(blocks + 1, sizeof *k.waiting);
    for (int round = 0; ok; round++) {
        k.w.escaped_more = false;
        ok = follow(&k) && round < ROUNDS_MAX;
        if (!k.w.escaped_more)
            break;
    }
    if (ok)
        collect(&k, out);
    if (out->stores.n)
        qsort(out->stores.at, out->stores.n, sizeof *out->stores.at, by_address);
    if (out->calls.n)
        qsort(out->calls.at, out->calls.n, sizeof *out->calls.at, by_end);
    for (size_t i = 0; i < blocks; i++)
        flow_state_free(&k.states[i]);
    free(k.states);
    free(k.waiting);
    free(k.places);
    free(k.places_at);
    vec_free(&k.w.escapes);
    code_free(&k.w.code);
    return ok;
}

void flow_free(struct flow *f)
{
    for (size_t i = 0; i < f->names.n; i++)
        free(f->names.at[i]);
    vec_free(&f->names);
    vec_free(&f->stores);
    vec_free(&f->calls);
}

const struct flow_store *flow_store_at(const struct flow *f, uint64_t address)
{
    struct flow_store key = {.address = address};

    return f->stores.n ? bsearch(&key, f->stores.at, f->stores.n, sizeof key, by_address) : NULL;
}

const struct flow_call *flow_call_before(const struct flow *f, uint64_t end)
{
    struct flow_call key = {.end = end};

    return f->calls.n ? bsearch(&key, f->calls.at, f->calls.n, sizeof key, by_end) : NULL;
}
