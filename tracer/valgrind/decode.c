/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What Valgrind 3.19 decodes otherwise than a tracer of persistent stores needs:
 *   CLFLUSH             ends the block and throws away translations of 256 bytes: here it is a call
 *                       of a helper with the exact address, and the block goes on
 *   CLFLUSHOPT, CLWB    unknown: decoded as CLFLUSH, by changing a copy of their bytes
 *   CPUID               says that there is no CLWB and no CLFLUSHOPT, so that libraries fall back;
 *                       and that rep movs is fast, so that memset makes an event a byte
 *
 * The decoder and the CPUID helpers are wrapped by the linker (--wrap). Their types are not in the
 * headers for tools; rules.mk builds this against one version only.
 */
#include "tracer/valgrind/tool.h"

typedef struct {
    UInt len;
    enum { Dis_StopHere = 0x10, Dis_Continue } whatNext;
    enum { Dis_HintNone = 0x20, Dis_HintVerbose } hint;
    IRJumpKind jk_StopHere;
} DisResult;

DisResult __real_disInstr_AMD64(IRSB *irsb, const UChar *code, Long delta, Addr ip, VexArch arch,
                                const VexArchInfo *archinfo, const VexAbiInfo *abiinfo,
                                VexEndness endness, Bool sigill_diag);
DisResult __wrap_disInstr_AMD64(IRSB *irsb, const UChar *code, Long delta, Addr ip, VexArch arch,
                                const VexArchInfo *archinfo, const VexAbiInfo *abiinfo,
                                VexEndness endness, Bool sigill_diag);

/* ---- the bytes of an instruction ---- */

enum {
    INSTRUCTION_LONGEST = 15,
    ESCAPE = 0x0f,
    PREFIX_OPERAND = 0x66,
    PREFIX_DS = 0x3e, /* has no meaning in 64-bit code */
    OP_GROUP15 = 0xae,
    OP_MOVNTPS = 0x2b,
    OP_MOVNTI = 0xc3,
    OP_MOVNTDQ = 0xe7,
    OP_MASKMOVDQU = 0xf7,
    VEX2 = 0xc5,
    VEX3 = 0xc4,
    VEX3_MAP_MASK = 0x1f,
};

static Bool is_prefix(UChar byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
        return True;
    default:
        return (byte & 0xf0) == 0x40; /* REX */
    }
}

/* Where the opcode begins. Never looks past size bytes. */
static UInt skip_prefixes(const UChar *bytes, UInt size)
{
    UInt at = 0;
    while (at < size && is_prefix(bytes[at]))
        at++;
    return at;
}

Bool decode_is_nontemporal(const UChar *bytes, UInt size)
{
    UInt at = skip_prefixes(bytes, size);
    UChar op = 0;
    if (at + 1 < size && bytes[at] == ESCAPE)
        op = bytes[at + 1];
    else if (at + 2 < size && bytes[at] == VEX2)
        op = bytes[at + 2];
    else if (at + 3 < size && bytes[at] == VEX3 && (bytes[at + 1] & VEX3_MAP_MASK) == 1)
        op = bytes[at + 3];
    return op == OP_MOVNTPS || op == OP_MOVNTDQ || op == OP_MASKMOVDQU ||
           (op == OP_MOVNTI && bytes[at] == ESCAPE);
}

UInt decode_fence(const UChar *bytes, UInt size)
{
    UInt at = skip_prefixes(bytes, size);
    if (at + 2 >= size || bytes[at] != ESCAPE || bytes[at + 1] != OP_GROUP15)
        return FENCE_MFENCE;
    switch (bytes[at + 2] >> 3 & 7) {
    case 7:
        return FENCE_SFENCE;
    case 6:
        return FENCE_MFENCE;
    default:
        return 0;
    }
}

/* ---- flushes ---- */

/* FLUSH_* when the bytes are a flush; then copy is the same as CLFLUSH. Bytes are read one after
 * the other and only as far as needed: the next page may not be there. */
static UInt as_clflush(const UChar *bytes, UChar copy[INSTRUCTION_LONGEST])
{
    UInt at = 0;
    Bool operand = False;
    while (at < INSTRUCTION_LONGEST - 3 && is_prefix(bytes[at])) {
        if (bytes[at] == 0xf0 || bytes[at] == 0xf2 || bytes[at] == 0xf3)
            return 0;
        operand = operand || bytes[at] == PREFIX_OPERAND;
        copy[at] = bytes[at] == PREFIX_OPERAND ? PREFIX_DS : bytes[at];
        at++;
    }
    if (bytes[at] != ESCAPE || bytes[at + 1] != OP_GROUP15)
        return 0;
    UChar modrm = bytes[at + 2];
    UInt reg = modrm >> 3 & 7;
    if (modrm >> 6 == 3 || !(reg == 7 || (reg == 6 && operand)))
        return 0;
    copy[at++] = ESCAPE;
    copy[at++] = OP_GROUP15;
    copy[at++] = modrm | 7 << 3;
    UInt sib = (modrm & 7) == 4, displacement = modrm >> 6 == 1 ? 1 : modrm >> 6 == 2 ? 4 : 0;
    if (modrm >> 6 == 0 && ((modrm & 7) == 5 || (sib && (bytes[at] & 7) == 5)))
        displacement = 4;
    UInt rest = sib + displacement;
    if (at + rest > INSTRUCTION_LONGEST)
        return 0; /* too many prefixes: the processor would not take it either */
    VG_(memcpy)(copy + at, bytes + at, rest);
    return !operand ? FLUSH_CLFLUSH : reg == 7 ? FLUSH_CLFLUSHOPT : FLUSH_CLWB;
}

/* CLFLUSH leaves the range for the cache's owner in two pseudo-registers. Its exact address is the
 * operand of the masking. */
static IRExpr *flushed_address(const IRSB *irsb, const IRStmt *put)
{
    IRExpr *data = put->Ist.Put.data;
    for (Int i = irsb->stmts_used - 1; data->tag == Iex_RdTmp && i >= 0; i--) {
        const IRStmt *s = irsb->stmts[i];
        if (s->tag == Ist_WrTmp && s->Ist.WrTmp.tmp == data->Iex.RdTmp.tmp)
            data = s->Ist.WrTmp.data;
    }
    tl_assert(data->tag == Iex_Binop && data->Iex.Binop.op == Iop_And64);
    return data->Iex.Binop.arg1;
}

static void replace_flush(IRSB *irsb, Int first, UInt kind, Addr pc)
{
    Bool replaced = False;
    for (Int i = first; i < irsb->stmts_used; i++) {
        IRStmt *s = irsb->stmts[i];
        if (s->tag != Ist_Put)
            continue;
        if (s->Ist.Put.offset == offsetof(VexGuestAMD64State, guest_CMSTART)) {
            IRExpr **args =
                mkIRExprVec_3(flushed_address(irsb, s), mkIRExpr_HWord(kind), mkIRExpr_HWord(pc));
            irsb->stmts[i] = IRStmt_Dirty(tool_call(3, "helper_flush", helper_flush, args));
            replaced = True;
        } else if (s->Ist.Put.offset == offsetof(VexGuestAMD64State, guest_CMLEN))
            irsb->stmts[i] = IRStmt_NoOp();
    }
    tl_assert(replaced);
}

DisResult __wrap_disInstr_AMD64(IRSB *irsb, const UChar *code, Long delta, Addr ip, VexArch arch,
                                const VexArchInfo *archinfo, const VexAbiInfo *abiinfo,
                                VexEndness endness, Bool sigill_diag)
{
    UChar copy[INSTRUCTION_LONGEST];
    UInt kind = as_clflush(code + delta, copy);
    if (!kind)
        return __real_disInstr_AMD64(irsb, code, delta, ip, arch, archinfo, abiinfo, endness,
                                     sigill_diag);
    Int first = irsb->stmts_used;
    DisResult result = __real_disInstr_AMD64(irsb, copy - delta, delta, ip, arch, archinfo, abiinfo,
                                             endness, sigill_diag);
    if (result.whatNext != Dis_StopHere || result.jk_StopHere != Ijk_InvalICache)
        return result;
    replace_flush(irsb, first, kind, ip);
    result.whatNext = Dis_Continue;
    result.jk_StopHere = Ijk_INVALID;
    return result;
}

/* ---- CPUID ---- */

enum {
    LEAF_FEATURES = 7,
    EBX_ERMS = 1 << 9,
    EBX_CLFLUSHOPT = 1 << 23,
    EBX_CLWB = 1 << 24,
};

static void correct_features(VexGuestAMD64State *st, UInt leaf, UInt subleaf)
{
    if (leaf != LEAF_FEATURES || subleaf != 0)
        return;
    st->guest_RBX = (st->guest_RBX & ~(ULong)EBX_ERMS) | EBX_CLFLUSHOPT | EBX_CLWB;
}

#define WRAP_CPUID(name)                                                                           \
    void __real_##name(VexGuestAMD64State *st);                                                    \
    void __wrap_##name(VexGuestAMD64State *st);                                                    \
    void __wrap_##name(VexGuestAMD64State *st)                                                     \
    {                                                                                              \
        UInt leaf = st->guest_RAX, subleaf = st->guest_RCX;                                        \
        __real_##name(st);                                                                         \
        correct_features(st, leaf, subleaf);                                                       \
    }

WRAP_CPUID(amd64g_dirtyhelper_CPUID_avx2)
WRAP_CPUID(amd64g_dirtyhelper_CPUID_avx_and_cx16)
