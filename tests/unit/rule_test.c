/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From a frame to its caller: expressions by hand, rules from tables that the assembler makes of
 * .cfi directives. The memory is this process's own.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "tests/unit/compile.h"
#include "tracer/rule.h"

/* Where it reads is no part of what is tested here: the snapshot fetches what is asked for. */
static struct snapshot memory;

static struct registers registers_of(uint64_t *stack)
{
    struct registers r = {.pc = 0x1000, .known = (1U << REG_COUNT) - 1};
    for (size_t i = 0; i < REG_COUNT; i++)
        r.value[i] = 100 + i;
    r.value[REG_RSP] = (uintptr_t)stack;
    memory = (struct snapshot){.tid = getpid()};
    return r;
}

struct expression {
    bool fails;
    uint64_t value;
    Dwarf_Op ops[8];
};

#define OP(name)                                                                                   \
    {                                                                                              \
        .atom = DW_OP_##name                                                                       \
    }
#define OPN(name, n)                                                                               \
    {                                                                                              \
        .atom = DW_OP_##name, .number = (Dwarf_Word)(n)                                            \
    }
#define OPNN(name, n, m)                                                                           \
    {                                                                                              \
        .atom = DW_OP_##name, .number = (n), .number2 = (Dwarf_Word)(m)                            \
    }
#define LEAST (UINT64_C(1) << 63)

static size_t length_of(const Dwarf_Op *ops)
{
    size_t n = 0;
    while (n < 8 && ops[n].atom)
        n++;
    return n;
}

static void check_expressions(const struct expression *e, size_t n, const struct registers *r,
                              const uint64_t *cfa)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t value = 0;
        bool ok = expression_value(e[i].ops, length_of(e[i].ops), r, &memory, cfa, 0x5000, &value);
        if (ok == e[i].fails || (ok && value != e[i].value))
            fail_msg("expression %zu: %s, %llx", i, ok ? "a value" : "none",
                     (unsigned long long)value);
    }
}

static void test_arithmetic(void **state)
{
    (void)state;
    struct registers r = registers_of(NULL);
    static const struct expression cases[] = {
        {.value = 31, .ops = {OP(lit31)}},
        {.value = (uint64_t)-5, .ops = {OPN(const1s, -5)}},
        {.value = 5, .ops = {OPN(const1s, -5), OP(abs)}},
        {.value = LEAST, .ops = {OPN(const8u, LEAST), OP(abs)}},
        {.value = (uint64_t)-7, .ops = {OP(lit7), OP(neg)}},
        {.value = ~UINT64_C(7), .ops = {OP(lit7), OP(not )}},
        {.value = 4, .ops = {OP(lit12), OP(lit6), OP(and)}},
        {.value = 14, .ops = {OP(lit12), OP(lit6), OP(or)}},
        {.value = 10, .ops = {OP(lit12), OP(lit6), OP(xor)}},
        {.value = 18, .ops = {OP(lit12), OP(lit6), OP(plus)}},
        {.value = 6, .ops = {OP(lit12), OP(lit6), OP(minus)}},
        {.value = 72, .ops = {OP(lit12), OP(lit6), OP(mul)}},
        {.value = 2, .ops = {OP(lit12), OP(lit6), OP(div)}},
        {.value = (uint64_t)-2, .ops = {OP(lit12), OPN(consts, -6), OP(div)}},
        {.value = LEAST, .ops = {OPN(constu, LEAST), OPN(consts, -1), OP(div)}},
        {.fails = true, .ops = {OP(lit12), OP(lit0), OP(div)}},
        {.value = 2, .ops = {OP(lit12), OP(lit5), OP(mod)}},
        {.fails = true, .ops = {OP(lit12), OP(lit0), OP(mod)}},
        {.value = 48, .ops = {OP(lit12), OP(lit2), OP(shl)}},
        {.value = 3, .ops = {OP(lit12), OP(lit2), OP(shr)}},
        {.value = (uint64_t)-2, .ops = {OPN(consts, -8), OP(lit2), OP(shra)}},
        {.value = 112, .ops = {OP(lit12), OPN(plus_uconst, 100)}},
        {.value = 1, .ops = {OPN(consts, -1), OP(lit0), OP(lt)}},
        {.value = 1, .ops = {OPN(consts, -1), OP(lit0), OP(le)}},
        {.value = 0, .ops = {OPN(consts, -1), OP(lit0), OP(gt)}},
        {.value = 0, .ops = {OPN(consts, -1), OP(lit0), OP(ge)}},
        {.value = 0, .ops = {OP(lit1), OP(lit2), OP(eq)}},
        {.value = 1, .ops = {OP(lit1), OP(lit2), OP(ne)}},
        {.value = 0x5010, .ops = {OPN(addr, 0x10)}}, /* of the module, so its bias is added */
    };
    check_expressions(cases, sizeof cases / sizeof *cases, &r, NULL);
}

static void test_the_expression_stack(void **state)
{
    (void)state;
    struct registers r = registers_of(NULL);
    static const struct expression cases[] = {
        {.value = 0, .ops = {OP(lit3), OP(dup), OP(minus)}},
        {.value = 3, .ops = {OP(lit3), OP(lit4), OP(drop)}},
        {.value = 1, .ops = {OP(lit3), OP(lit4), OP(swap), OP(minus)}},
        {.value = 3, .ops = {OP(lit3), OP(lit4), OP(over)}},
        {.value = 1, .ops = {OP(lit1), OP(lit2), OP(lit3), OPN(pick, 2)}},
        {.fails = true, .ops = {OP(lit1), OPN(pick, 1)}},
        /* 1 2 3 becomes 3 1 2 */
        {.value = 2, .ops = {OP(lit1), OP(lit2), OP(lit3), OP(rot)}},
        {.value = 1, .ops = {OP(lit1), OP(lit2), OP(lit3), OP(rot), OP(drop)}},
        {.value = 3, .ops = {OP(lit1), OP(lit2), OP(lit3), OP(rot), OP(drop), OP(drop)}},
        {.fails = true, .ops = {OP(lit1), OP(lit2), OP(rot)}},
        {.fails = true, .ops = {OP(lit1), OP(plus)}},
        {.fails = true, .ops = {OP(neg)}},
        {.fails = true, .ops = {OP(swap)}},
        {.fails = true, .ops = {OP(nop)}}, /* leaves nothing */
        {.fails = true, .ops = {{0}}},
        {.fails = true, .ops = {OP(lit1), OP(push_object_address)}},
    };
    check_expressions(cases, sizeof cases / sizeof *cases, &r, NULL);
}

static void test_branches(void **state)
{
    (void)state;
    struct registers r = registers_of(NULL);
    uint64_t value;
    /* 0: lit0   1: bra +1 to 5   4: lit7   5: lit9   — not taken: both are pushed */
    Dwarf_Op ops[] = {{DW_OP_lit0, 0, 0, 0},
                      {DW_OP_bra, 1, 0, 1},
                      {DW_OP_lit7, 0, 0, 4},
                      {DW_OP_lit9, 0, 0, 5},
                      {DW_OP_nop, 0, 0, 6}};
    assert_true(expression_value(ops, 5, &r, &memory, NULL, 0, &value));
    assert_int_equal(value, 9);
    /* taken, over lit7 */
    ops[0].atom = DW_OP_lit1;
    ops[4].atom = DW_OP_drop;
    assert_false(expression_value(ops, 5, &r, &memory, NULL, 0, &value));
    /* for ever, and to nowhere */
    Dwarf_Op loop[] = {{DW_OP_lit1, 0, 0, 0}, {DW_OP_skip, (Dwarf_Word)-3, 0, 1}};
    assert_false(expression_value(loop, 2, &r, &memory, NULL, 0, &value));
    loop[1].number = 100;
    assert_false(expression_value(loop, 2, &r, &memory, NULL, 0, &value));
    /* a push each time round: the stack is bounded */
    loop[1].number = (Dwarf_Word)-4;
    assert_false(expression_value(loop, 2, &r, &memory, NULL, 0, &value));
}

static void test_registers_and_memory(void **state)
{
    (void)state;
    uint64_t stack[2] = {UINT64_C(0x1122334455667788), 42};
    uint64_t cfa = (uintptr_t)stack;
    struct registers r = registers_of(stack);
    r.known &= ~(1U << 3);
    const struct expression cases[] = {
        {.value = 105, .ops = {OP(reg5)}},
        {.value = 105, .ops = {OPN(regx, 5)}},
        {.value = 107, .ops = {OPN(breg5, 2)}},
        {.value = 103, .ops = {OPNN(bregx, 5, -2)}},
        {.fails = true, .ops = {OP(reg3)}},  /* not known */
        {.fails = true, .ops = {OP(reg17)}}, /* no such register */
        {.fails = true, .ops = {OPN(regx, UINT64_MAX)}},
        {.value = stack[0], .ops = {OPN(breg7, 0), OP(deref)}},
        {.value = 0x88, .ops = {OPN(breg7, 0), OPN(deref_size, 1)}},
        {.value = 0x55667788, .ops = {OPN(breg7, 0), OPN(deref_size, 4)}},
        {.fails = true, .ops = {OPN(breg7, 0), OPN(deref_size, 9)}},
        {.fails = true, .ops = {OP(lit8), OP(deref)}}, /* nothing is mapped there */
        /* a place by the frame address is read, a value is not */
        {.value = 42, .ops = {OP(call_frame_cfa), OPN(plus_uconst, 8)}},
        {.value = cfa + 8, .ops = {OP(call_frame_cfa), OPN(plus_uconst, 8), OP(stack_value)}},
    };
    check_expressions(cases, sizeof cases / sizeof *cases, &r, &cfa);
    uint64_t value;
    Dwarf_Op ops[] = {OP(call_frame_cfa)};
    assert_false(expression_value(ops, 1, &r, &memory, NULL, 0, &value));
}

/* Each function is one instruction long, under the directives of its case. */
static const char functions[] =
    "    .text\n"
    "    .macro case name\n"
    "    .globl \\name\n"
    "    .p2align 4\n"
    "\\name: .cfi_startproc\n"
    "    .endm\n"
    "    .macro end\n"
    "    nop\n"
    "    nop\n"
    "    .cfi_endproc\n"
    "    .endm\n"
    /* as at the first instruction of a function */
    "    case plain\n"
    "    end\n"
    "    case saved\n"
    "    .cfi_def_cfa rsp, 32\n"
    "    .cfi_offset rbx, -16\n"
    "    .cfi_offset rbp, -24\n"
    "    end\n"
    "    case framed\n"
    "    .cfi_def_cfa rbp, 16\n"
    "    .cfi_offset rbp, -16\n"
    "    end\n"
    "    case moved\n" /* the return address is in a register, a register's value is computed */
    "    .cfi_register rip, r11\n"
    "    .cfi_val_offset r12, -64\n"
    "    .cfi_undefined r13\n"
    "    .cfi_same_value rax\n"
    "    end\n"
    "    case last\n"
    "    .cfi_undefined rip\n"
    "    end\n"
    "    case handler\n"
    "    .cfi_signal_frame\n"
    "    end\n"
    /* DW_CFA_def_cfa_expression: breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus, as
       the linker writes it for the PLT */
    "    case plt\n"
    "    .cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22\n"
    "    end\n"
    /* DW_CFA_expression: rbx is saved where rsp + 8 points */
    "    case pointed\n"
    "    .cfi_escape 0x10, 3, 3, 0x77, 8, 0x06\n"
    "    end\n"
    /* DW_CFA_val_expression: rbx is rsp + 9 */
    "    case computed\n"
    "    .cfi_escape 0x16, 3, 2, 0x77, 9\n"
    "    end\n"
    /* the frame address by a register that will not be known */
    "    case lost\n"
    "    .cfi_def_cfa r9, 8\n"
    "    end\n";

struct tables {
    char *folder;
    int fd;
    Elf *elf;
    Dwarf_CFI *cfi;
};

static int tables_make(void **state)
{
    struct tables *t = xcalloc(1, sizeof *t);
    t->folder = folder_make();
    file_write(t->folder, "functions.s", functions);
    shell(t->folder, "cc -shared -nostdlib -o functions.so functions.s");
    char *path = path_in(t->folder, "functions.so");
    elf_version(EV_CURRENT);
    t->fd = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    assert_true(t->fd >= 0);
    t->elf = elf_begin(t->fd, ELF_C_READ, NULL);
    t->cfi = dwarf_getcfi_elf(t->elf);
    assert_non_null(t->cfi);
    *state = t;
    return 0;
}

static int tables_remove(void **state)
{
    struct tables *t = *state;
    dwarf_cfi_end(t->cfi);
    elf_end(t->elf);
    close(t->fd);
    folder_remove(t->folder);
    free(t);
    return 0;
}

static struct rule *rule_of(const struct tables *t, const char *function)
{
    Dwarf_Frame *frame;
    uint64_t address = symbol_address(t->folder, "functions.so", function);
    assert_int_equal(dwarf_cfi_addrframe(t->cfi, address, &frame), 0);
    struct rule *rule = rule_compile(frame);
    free(frame);
    assert_non_null(rule);
    return rule;
}

/* Applies the rule of a function; says whether there is a caller. */
static bool leave(const struct tables *t, const char *function, struct registers *r)
{
    struct rule *rule = rule_of(t, function);
    bool caller = rule_apply(rule, r, &memory, 0);
    rule_free(rule);
    return caller;
}

static void knows(const struct registers *r, unsigned reg, uint64_t value)
{
    assert_true(r->known >> reg & 1);
    assert_int_equal(r->value[reg], value);
}

enum { RBX = 3, R9 = 9, R11 = 11, R12 = 12, R13 = 13 };

static void test_a_frame_that_holds_only_its_return_address(void **state)
{
    uint64_t stack[] = {0xabc, 2, 3, 4};
    struct registers r = registers_of(stack);
    assert_true(leave(*state, "plain", &r));
    assert_int_equal(r.pc, 0xabc);
    knows(&r, REG_RSP, (uintptr_t)(stack + 1));
    knows(&r, REG_RBP, 106); /* a function keeps it unless it says otherwise */
    knows(&r, R12, 112);
    assert_false(r.known >> R11 & 1); /* but this one it may use as it likes */
}

static void test_saved_registers(void **state)
{
    uint64_t stack[] = {1, 0xb9, 0xb8, 0xabc, 5};
    struct registers r = registers_of(stack);
    assert_true(leave(*state, "saved", &r));
    assert_int_equal(r.pc, 0xabc);
    knows(&r, RBX, 0xb8);
    knows(&r, REG_RBP, 0xb9);
    knows(&r, REG_RSP, (uintptr_t)(stack + 4));
}

static void test_a_frame_pointer(void **state)
{
    uint64_t stack[] = {1, 2, 0xb9, 0xabc, 5};
    struct registers r = registers_of(stack);
    r.value[REG_RBP] = (uintptr_t)(stack + 2);
    assert_true(leave(*state, "framed", &r));
    assert_int_equal(r.pc, 0xabc);
    knows(&r, REG_RBP, 0xb9);
    knows(&r, REG_RSP, (uintptr_t)(stack + 4));
}

static void test_registers_that_moved(void **state)
{
    uint64_t stack[] = {1, 2};
    struct registers r = registers_of(stack);
    assert_true(leave(*state, "moved", &r));
    assert_int_equal(r.pc, 100 + R11);
    knows(&r, R12, (uintptr_t)(stack + 1) - 64);
    knows(&r, 0, 100);
    assert_false(r.known >> R13 & 1);
}

static void test_where_a_stack_ends(void **state)
{
    uint64_t stack[] = {0, 2};
    struct registers r = registers_of(stack);
    assert_false(leave(*state, "plain", &r)); /* the return address is 0 */
    stack[0] = 0xabc;
    r = registers_of(stack);
    assert_false(leave(*state, "last", &r)); /* it is undefined */
    r = registers_of(stack);
    r.value[REG_RSP] = 16;
    assert_false(leave(*state, "plain", &r)); /* it cannot be read */
    r = registers_of(stack);
    r.known &= ~(1U << R9);
    assert_false(leave(*state, "lost", &r)); /* nobody knows where it is */
}

static void test_signal_frames(void **state)
{
    struct rule *handler = rule_of(*state, "handler"), *plain = rule_of(*state, "plain");
    assert_true(rule_is_signal(handler));
    assert_false(rule_is_signal(plain));
    rule_free(handler);
    rule_free(plain);
}

static void test_expressions_in_tables(void **state)
{
    uint64_t elsewhere = 0xb8;
    uint64_t stack[] = {0xabc, (uintptr_t)&elsewhere, 0xdef};
    struct registers r = registers_of(stack);
    assert_true(leave(*state, "pointed", &r));
    knows(&r, RBX, 0xb8);

    r = registers_of(stack);
    assert_true(leave(*state, "computed", &r));
    knows(&r, RBX, (uintptr_t)stack + 9);

    /* A PLT entry has pushed one word more from its eleventh byte on. */
    r = registers_of(stack);
    r.value[REG_RIP] = 0x1006;
    assert_true(leave(*state, "plt", &r));
    assert_int_equal(r.pc, 0xabc);
    r = registers_of(stack + 1);
    r.value[REG_RIP] = 0x100b;
    assert_true(leave(*state, "plt", &r));
    assert_int_equal(r.pc, 0xdef);
}

static void test_code_without_tables(void **state)
{
    (void)state;
    const struct rule *rule = rule_frame_pointer();
    uint64_t stack[] = {1, 0xb9, 0xabc, 4};
    struct registers r = registers_of(stack);
    r.value[REG_RBP] = (uintptr_t)(stack + 1);
    assert_true(rule_apply(rule, &r, &memory, 0));
    assert_int_equal(r.pc, 0xabc);
    knows(&r, REG_RBP, 0xb9);
    knows(&r, REG_RSP, (uintptr_t)(stack + 3));
    assert_false(r.known >> RBX & 1);

    assert_false(rule_apply(rule, &r, &memory, 0)); /* 0xb9 is no place to read */
    r = registers_of(stack + 3);
    r.value[REG_RBP] = (uintptr_t)(stack + 1);
    assert_false(rule_apply(rule, &r, &memory, 0)); /* it leads downwards */
    r = registers_of(stack);
    r.value[REG_RBP] = 0;
    assert_false(rule_apply(rule, &r, &memory, 0));
    r = registers_of(stack);
    r.known = 0;
    assert_false(rule_apply(rule, &r, &memory, 0));
}

/* The end of a mapping: what is there is read, what is beyond is not. */
static void test_a_stack_at_the_end_of_its_memory(void **state)
{
    (void)state;
    enum { PAGE = 4096 };
    char *room = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(room != MAP_FAILED);
    assert_int_equal(munmap(room + PAGE, PAGE), 0);
    uint64_t *last = (uint64_t *)(room + PAGE) - 1, value;
    *last = 0xabc;
    snapshot_take(&memory, getpid(), (uintptr_t)(last - 3), NULL);
    assert_true(snapshot_word(&memory, (uintptr_t)last, &value));
    assert_int_equal(value, 0xabc);
    assert_false(snapshot_word(&memory, (uintptr_t)last + 1, &value));
    assert_false(snapshot_word(&memory, (uintptr_t)(last + 1), &value));
    assert_true(snapshot_word(&memory, (uintptr_t)room, &value)); /* below the stack pointer */
    assert_false(snapshot_word(&memory, UINT64_MAX - 3, &value));
    assert_int_equal(munmap(room, PAGE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_the_expression_stack),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_registers_and_memory),
        cmocka_unit_test(test_a_frame_that_holds_only_its_return_address),
        cmocka_unit_test(test_saved_registers),
        cmocka_unit_test(test_a_frame_pointer),
        cmocka_unit_test(test_registers_that_moved),
        cmocka_unit_test(test_where_a_stack_ends),
        cmocka_unit_test(test_signal_frames),
        cmocka_unit_test(test_expressions_in_tables),
        cmocka_unit_test(test_code_without_tables),
        cmocka_unit_test(test_a_stack_at_the_end_of_its_memory),
    };
    return cmocka_run_group_tests(tests, tables_make, tables_remove);
}
