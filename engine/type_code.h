/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * type_code: the instructions of one function, decoded by Zydis into what following values needs,
 * and its control-flow graph. Only code that can be reached from the entry or from a table of jumps
 * has blocks that lead somewhere: alignment between blocks is decoded, but nothing leads to it.
 */
#ifndef ENGINE_TYPE_CODE_H
#define ENGINE_TYPE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/binary_inside.h"
#include "engine/vec.h"

/* General registers by their number in machine code. */
enum {
    REG_AX,
    REG_CX,
    REG_DX,
    REG_BX,
    REG_SP,
    REG_BP,
    REG_SI,
    REG_DI,
    REG_COUNT = 16,
    REG_NONE = 0xff
};

enum operand_kind {
    OPERAND_NONE,
    OPERAND_REGISTER,
    OPERAND_VECTOR,
    OPERAND_MEMORY,
    OPERAND_NUMBER,
};

struct operand {
    uint8_t kind; /* enum operand_kind */
    uint8_t reg;
    uint8_t base, index, scale; /* of memory; REG_NONE when absent */
    bool elsewhere;             /* of memory: in another segment, or another kind of index */
    bool high;                  /* of a register: bits 8 to 15 */
    uint16_t bits;
    int64_t number; /* displacement; the address itself when relative to the instruction */
};

enum insn_flow {
    FLOW_NEXT,
    FLOW_JUMP,
    FLOW_BRANCH,
    FLOW_INDIRECT, /* a jump to where a register or memory says */
    FLOW_CALL,
    FLOW_STOP, /* return, trap, a call that does not return */
};

enum { INSN_OPERANDS = 3 };

struct insn {
    uint64_t address;
    uint64_t target;   /* of a direct jump or call; 0 for none */
    uint16_t mnemonic; /* ZydisMnemonic */
    uint8_t length;
    uint8_t flow;     /* enum insn_flow */
    uint32_t writes;  /* registers that it changes: general ones, then vectors from bit 16 */
    uint16_t callee;  /* of a call: place in code.callees + 1, 0 when not known */
    bool repeated;    /* rep */
    bool reads_store; /* what it stores is made of what was there */
    struct operand operands[INSN_OPERANDS]; /* those that are written out */
    struct operand store; /* where it writes memory; OPERAND_NONE when it does not */
};

struct block {
    uint32_t first, end;        /* instructions */
    uint32_t edges, edge_count; /* places in code.edges; of a branch, the untaken way is first */
};

struct code_range {
    uint64_t low, high;
};

struct code {
    uint64_t entry;
    uint32_t entry_block;
    vec_of(struct insn) insns; /* by address */
    vec_of(struct block) blocks;
    vec_of(uint32_t) edges; /* blocks */
    vec_of(char *) callees;
};

/* Decodes the ranges of a function, the entry's first. False when nothing could be decoded, or it
 * is longer than anybody would wait for. Free with code_free() in any case. */
bool code_read(struct code *c, struct binary *b, const struct code_range *ranges, size_t n);
void code_free(struct code *c);

/* The name of the function that is called at an address: through the table of imports, or as the
 * symbol table has it. NULL when unknown; the caller frees. */
char *code_callee(struct binary *b, uint64_t target);

/* The place of the instruction at an address; −1 for none. */
long code_find(const struct code *c, uint64_t address);

#endif
