/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Adds to each block the calls of the helpers. A helper is called after the store, so that it can
 * take the value from memory, whatever its size; and behind a comparison with the range of all
 * regions, so that other stores cost next to nothing.
 */
#include "tracer/valgrind/tool.h"

struct block {
    IRSB *out;
    IRType host_word;
    Addr pc;   /* of the instruction at work, */
    UInt size; /* and its length */
};

static IRExpr *assign(struct block *b, IRType type, IRExpr *e)
{
    IRTemp t = newIRTemp(b->out->tyenv, type);
    addStmtToIRSB(b->out, IRStmt_WrTmp(t, e));
    return IRExpr_RdTmp(t);
}

static IRExpr *number(UWord n)
{
    return mkIRExpr_HWord(n);
}

/* The unwinder reads these from the guest's state. */
IRDirty *tool_call(Int regparms, const HChar *name, void *helper, IRExpr **args)
{
    static const Int read[] = {offsetof(VexGuestAMD64State, guest_RSP),
                               offsetof(VexGuestAMD64State, guest_RBP),
                               offsetof(VexGuestAMD64State, guest_RIP)};
    IRDirty *d = unsafeIRDirty_0_N(regparms, name, VG_(fnptr_to_fnentry)(helper), args);
    d->nFxState = sizeof read / sizeof *read;
    for (Int i = 0; i < d->nFxState; i++) {
        VG_(memset)(&d->fxState[i], 0, sizeof d->fxState[i]);
        d->fxState[i].fx = Ifx_Read;
        d->fxState[i].offset = read[i];
        d->fxState[i].size = sizeof(ULong);
    }
    return d;
}

static IRExpr *load_word(struct block *b, const uint64_t *from)
{
    return assign(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, number((UWord)from)));
}

/* Whether the access may touch a region: an expression of type I1. */
static IRExpr *in_range(struct block *b, IRExpr *address)
{
    IRExpr *distance =
        assign(b, Ity_I64, IRExpr_Binop(Iop_Sub64, address, load_word(b, &tool_shared.low)));
    return assign(b, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, distance, load_word(b, &tool_shared.span)));
}

static IRExpr *both(struct block *b, IRExpr *x, IRExpr *y)
{
    IRExpr *x64 = assign(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, x));
    IRExpr *y64 = assign(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, y));
    IRExpr *all = assign(b, Ity_I64, IRExpr_Binop(Iop_And64, x64, y64));
    return assign(b, Ity_I1, IRExpr_Unop(Iop_64to1, all));
}

/* guard: NULL, or whether it happens at all. */
static void add_access(struct block *b, const HChar *name, void *helper, IRExpr *address, UWord how,
                       IRExpr *guard)
{
    IRExpr *near = in_range(b, address);
    IRDirty *d = tool_call(3, name, helper, mkIRExprVec_3(address, number(how), number(b->pc)));
    d->guard = guard ? both(b, guard, near) : near;
    addStmtToIRSB(b->out, IRStmt_Dirty(d));
}

static void add_store(struct block *b, IRExpr *address, UInt size, IRExpr *guard)
{
    Bool past_cache = decode_is_nontemporal((const UChar *)b->pc, b->size);
    UWord how = size | (past_cache ? (UWord)STORE_NT << HOW_FLAGS_SHIFT : 0);
    add_access(b, "helper_store", helper_store, address, how, guard);
}

static void add_load(struct block *b, IRExpr *address, UInt size, IRExpr *guard)
{
    if (tool_options.loads)
        add_access(b, "helper_load", helper_load, address, size, guard);
}

/* ---- LOCK ---- */

static IRExpr *equal(struct block *b, IRType type, IRTemp old, IRExpr *expected)
{
    IROp op = type == Ity_I8    ? Iop_CasCmpEQ8
              : type == Ity_I16 ? Iop_CasCmpEQ16
              : type == Ity_I32 ? Iop_CasCmpEQ32
                                : Iop_CasCmpEQ64;
    IRExpr *same = assign(b, Ity_I1, IRExpr_Binop(op, IRExpr_RdTmp(old), expected));
    return assign(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, same));
}

/* It stored when what was there was what it expected. */
static void add_locked(struct block *b, const IRCAS *cas)
{
    IRType type = typeOfIRExpr(b->out->tyenv, cas->dataLo);
    UInt size = sizeofIRType(type) * (cas->dataHi ? 2 : 1);
    IRExpr *done = equal(b, type, cas->oldLo, cas->expdLo);
    if (cas->dataHi)
        done = assign(b, Ity_I64,
                      IRExpr_Binop(Iop_And64, done, equal(b, type, cas->oldHi, cas->expdHi)));
    IRExpr *shifted =
        assign(b, Ity_I64, IRExpr_Binop(Iop_Shl64, done, IRExpr_Const(IRConst_U8(HOW_DONE_SHIFT))));
    IRExpr *how = assign(b, Ity_I64, IRExpr_Binop(Iop_Or64, shifted, number(size)));
    add_load(b, cas->addr, size, NULL);
    IRDirty *d =
        tool_call(3, "helper_locked", helper_locked, mkIRExprVec_3(cas->addr, how, number(b->pc)));
    addStmtToIRSB(b->out, IRStmt_Dirty(d));
}

/* ---- the rest ---- */

/* Helpers of Valgrind's own that stand for instructions such as fxsave. */
static void add_dirty(struct block *b, const IRDirty *d)
{
    if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
        add_store(b, d->mAddr, d->mSize, d->guard);
    if (d->mFx == Ifx_Read || d->mFx == Ifx_Modify)
        add_load(b, d->mAddr, d->mSize, d->guard);
}

static void add_fence(struct block *b)
{
    UInt kind = decode_fence((const UChar *)b->pc, b->size);
    if (kind)
        addStmtToIRSB(b->out, IRStmt_Dirty(tool_call(2, "helper_fence", helper_fence,
                                                     mkIRExprVec_2(number(kind), number(b->pc)))));
}

static void add_load_guarded(struct block *b, const IRLoadG *load)
{
    IRType result, loaded;
    typeOfIRLoadGOp(load->cvt, &result, &loaded);
    add_load(b, load->addr, sizeofIRType(loaded), load->guard);
}

static void add_for(struct block *b, const IRStmt *s)
{
    const IRExpr *data;
    switch (s->tag) {
    case Ist_Store:
        add_store(b, s->Ist.Store.addr,
                  sizeofIRType(typeOfIRExpr(b->out->tyenv, s->Ist.Store.data)), NULL);
        break;
    case Ist_StoreG:
        add_store(b, s->Ist.StoreG.details->addr,
                  sizeofIRType(typeOfIRExpr(b->out->tyenv, s->Ist.StoreG.details->data)),
                  s->Ist.StoreG.details->guard);
        break;
    case Ist_WrTmp:
        data = s->Ist.WrTmp.data;
        if (data->tag == Iex_Load)
            add_load(b, data->Iex.Load.addr, sizeofIRType(data->Iex.Load.ty), NULL);
        break;
    case Ist_LoadG:
        add_load_guarded(b, s->Ist.LoadG.details);
        break;
    case Ist_CAS:
        add_locked(b, s->Ist.CAS.details);
        break;
    case Ist_Dirty:
        add_dirty(b, s->Ist.Dirty.details);
        break;
    case Ist_MBE:
        if (s->Ist.MBE.event == Imbe_Fence)
            add_fence(b);
        break;
    default:
        break;
    }
}

/* What the decoder does not know ends a block. ud2 is meant to. */
static void add_unknown(struct block *b, const IRSB *in)
{
    static const UChar ud2[] = {0x0f, 0x0b};
    if (in->jumpkind != Ijk_NoDecode || in->next->tag != Iex_Const)
        return;
    Addr pc = in->next->Iex.Const.con->Ico.U64;
    if (VG_(memcmp)((const void *)pc, ud2, sizeof ud2) != 0)
        addStmtToIRSB(b->out, IRStmt_Dirty(tool_call(1, "helper_unknown", helper_unknown,
                                                     mkIRExprVec_1(number(pc)))));
}

IRSB *tool_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                      const VexGuestExtents *extents, const VexArchInfo *archinfo, IRType word,
                      IRType host_word)
{
    struct block b = {.out = deepCopyIRSBExceptStmts(in), .host_word = host_word};
    (void)closure, (void)layout, (void)extents, (void)archinfo, (void)word;
    for (Int i = 0; i < in->stmts_used; i++) {
        IRStmt *s = in->stmts[i];
        if (s->tag == Ist_IMark) {
            b.pc = s->Ist.IMark.addr;
            b.size = s->Ist.IMark.len;
        }
        addStmtToIRSB(b.out, s);
        add_for(&b, s);
    }
    add_unknown(&b, in);
    return b.out;
}
