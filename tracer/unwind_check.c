/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/unwind_check.h"

#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/buf.h"
#include "engine/mem.h"
#include "tracer/memory.h"

/* x86-64's registers for unwinding, and how many address spaces libdw keeps open at a time. */
enum { REGISTERS = 17, VIEWS = 16 };

struct view {
    Dwfl *dwfl;
    uint64_t maps; /* hash of the code's lines in /proc/PID/maps */
};

struct found_frame {
    uint64_t pc, address;
    bool exact, in_module;
};

struct unwind_checker {
    struct view views[VIEWS];
    size_t next_view;
    uint64_t equal, different;
    struct buf first;

    /* The stack being taken by libdw. */
    Dwfl *dwfl;
    pid_t tid;
    const struct user_regs_struct *registers;
    size_t depth;
    struct found_frame frames[UNWIND_DEPTH_MAX];
};

struct unwind_checker *unwind_checker_new(void)
{
    return xcalloc(1, sizeof(struct unwind_checker));
}

void unwind_checker_free(struct unwind_checker *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < VIEWS; i++)
        dwfl_end(c->views[i].dwfl);
    buf_free(&c->first);
    free(c);
}

/* libdw insists on having it; threads are asked for by number, so there is none to go through. */
static pid_t next_thread(Dwfl *dwfl, void *data, void **thread)
{
    (void)dwfl, (void)data, (void)thread;
    return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *data, void **thread)
{
    (void)dwfl, (void)tid;
    *thread = data;
    return true;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *data)
{
    (void)dwfl;
    const struct unwind_checker *c = data;
    return memory_read(c->tid, address, result, sizeof *result);
}

static bool set_initial_registers(Dwfl_Thread *thread, void *data)
{
    const struct unwind_checker *c = data;
    const struct user_regs_struct *u = c->registers;
    const Dwarf_Word values[REGISTERS] = {u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi,
                                          u->rbp, u->rsp, u->r8,  u->r9,  u->r10, u->r11,
                                          u->r12, u->r13, u->r14, u->r15, u->rip};
    return dwfl_thread_state_registers(thread, 0, REGISTERS, values);
}

/* The recorder does not go looking for separate debug files, so libdw must not either. */
static int no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                        const char *file, const char *link, GElf_Word checksum, char **found)
{
    (void)module, (void)user, (void)name, (void)base;
    (void)file, (void)link, (void)checksum, (void)found;
    return -1;
}

static Dwfl *open_view(struct unwind_checker *c, pid_t tid)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_linux_proc_find_elf,
        .find_debuginfo = no_debuginfo,
    };
    static const Dwfl_Thread_Callbacks threads = {
        .next_thread = next_thread,
        .get_thread = get_thread,
        .memory_read = read_word,
        .set_initial_registers = set_initial_registers,
    };
    Dwfl *dwfl = dwfl_begin(&callbacks);
    dwfl_report_begin(dwfl);
    if (dwfl_linux_proc_report(dwfl, tid) != 0 || dwfl_report_end(dwfl, NULL, NULL) != 0 ||
        !dwfl_attach_state(dwfl, NULL, tid, &threads, c)) {
        dwfl_end(dwfl);
        return NULL;
    }
    return dwfl;
}

static uint64_t hash_of_maps(pid_t tid)
{
    char path[64], *line = NULL;
    size_t size = 0;
    ssize_t n;
    struct buf code = {0};
    snprintf(path, sizeof path, "/proc/%d/maps", (int)tid);
    FILE *f = fopen(path, "re");
    while (f && (n = getline(&line, &size, f)) > 0) {
        const char *permissions = strchr(line, ' ');
        if (permissions && strlen(permissions) > 3 && permissions[3] == 'x')
            buf_add(&code, line, (size_t)n);
    }
    if (f)
        fclose(f);
    free(line);
    uint64_t hash = XXH3_64bits(code.at, code.n);
    buf_free(&code);
    return hash;
}

/* libdw's idea of the address space as it is now; reporting it anew for each stack would take
 * milliseconds. */
static Dwfl *view_of(struct unwind_checker *c, pid_t tid)
{
    uint64_t maps = hash_of_maps(tid);
    for (size_t i = 0; i < VIEWS; i++)
        if (c->views[i].dwfl && c->views[i].maps == maps)
            return c->views[i].dwfl;
    struct view *v = &c->views[c->next_view++ % VIEWS];
    dwfl_end(v->dwfl);
    *v = (struct view){open_view(c, tid), maps};
    return v->dwfl;
}

/* libdw names the nearest module for an address outside all of them; where tables fail, stacks can
 * end in such addresses, or in a module's data. */
static bool is_code(Elf *elf, uint64_t address)
{
    size_t n;
    if (!elf || elf_getphdrnum(elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_flags & PF_X &&
            address - p.p_vaddr < p.p_memsz)
            return true;
    }
    return false;
}

static int take_frame(Dwfl_Frame *frame, void *data)
{
    struct unwind_checker *c = data;
    struct found_frame f = {0};
    if (c->depth == UNWIND_DEPTH_MAX || !dwfl_frame_pc(frame, &f.pc, &f.exact) || f.pc == 0)
        return DWARF_CB_ABORT;
    /* A call may be the last instruction of its module: the module is that of the call. */
    uint64_t call = f.exact ? f.pc : f.pc - 1;
    Dwfl_Module *module = dwfl_addrmodule(c->dwfl, call);
    GElf_Addr bias = 0;
    Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;
    f.in_module = is_code(elf, call - bias);
    f.address = f.in_module ? f.pc - bias : f.pc;
    c->frames[c->depth++] = f;
    return DWARF_CB_OK;
}

static bool frames_equal(const struct found_frame *theirs, const struct frame *ours, uint64_t pc)
{
    return theirs->pc == pc && theirs->exact == (ours->flags == FRAME_EXACT) &&
           theirs->in_module == (ours->module != 0) && theirs->address == ours->address;
}

static void describe(struct buf *out, const struct unwind_checker *c, const struct frame *ours,
                     const uint64_t *pcs, size_t depth)
{
    buf_printf(out, "thread %d: %zu frames, by libdw %zu\n", (int)c->tid, depth, c->depth);
    for (size_t i = 0; i < depth || i < c->depth; i++) {
        bool equal = i < depth && i < c->depth && frames_equal(&c->frames[i], &ours[i], pcs[i]);
        buf_printf(out, "%c #%zu", equal ? ' ' : '!', i);
        if (i < depth)
            buf_printf(out, "  %016" PRIx64 " module %" PRIu32 " + %" PRIx64 "%s", pcs[i],
                       ours[i].module, ours[i].address, ours[i].flags ? " exact" : "");
        if (i < c->depth && !equal)
            buf_printf(out, "  by libdw %016" PRIx64 "%s + %" PRIx64 "%s", c->frames[i].pc,
                       c->frames[i].in_module ? " module" : " nowhere", c->frames[i].address,
                       c->frames[i].exact ? " exact" : "");
        buf_char(out, '\n');
    }
}

bool unwind_check(struct unwind_checker *c, struct unwinder *u, pid_t tid,
                  const struct user_regs_struct *registers)
{
    c->tid = tid;
    c->registers = registers;
    c->depth = 0;
    c->dwfl = view_of(c, tid);
    if (c->dwfl)
        dwfl_getthread_frames(c->dwfl, tid, take_frame, c);

    const struct frame *ours;
    const uint64_t *pcs;
    size_t depth = unwind_last(u, &ours, &pcs);
    bool equal = depth == c->depth;
    for (size_t i = 0; equal && i < depth; i++)
        equal = frames_equal(&c->frames[i], &ours[i], pcs[i]);
    if (equal) {
        c->equal++;
        return true;
    }
    if (c->different++ == 0)
        describe(&c->first, c, ours, pcs, depth);
    return false;
}

struct unwind_verdict unwind_checker_verdict(const struct unwind_checker *c)
{
    return (struct unwind_verdict){c->equal, c->different, buf_string(&c->first)};
}
