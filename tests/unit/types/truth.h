/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For programs whose stores are to be known for sure. They keep their objects in a region that is
 * write-protected: every store to it faults, is logged with its code address and callers, and is
 * then done by a single step. What the objects are follows from how they were allocated and from
 * offsetof; nothing of it comes from debug info.
 *
 * The log, one line each:
 *     T name size                                       a type
 *     F type field offset size element-size element     a field; element is a type's name or -
 *     A address size type                               an allocation: an array of the type, or
 *                                                       one with an open end when a + follows
 *     X address size                                    its end
 *     M number path                                     a module
 *     P address                                         where the pool of handles begins
 *     S address bytes(hex) module+address…              a store and its frames, innermost first
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRUTH_REGION = 1 << 20, TRUTH_BYTES = 64, TRUTH_FRAMES = 24, TRUTH_MODULES = 16 };

static char *truth_region, *truth_next;
static int truth_log;
static char *truth_stored;
static void *truth_frames[TRUTH_FRAMES];
static int truth_frame_count;
static void *truth_modules[TRUTH_MODULES];

static void truth_say(const char *format, ...)
{
    char line[4096];
    va_list arguments;

    va_start(arguments, format);
    int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (write(truth_log, line, (size_t)n) != n)
        _exit(3);
}

static void truth_protect(int protection)
{
    if (mprotect(truth_region, TRUTH_REGION, protection) != 0)
        _exit(3);
}

static int truth_module(const struct link_map *map, const char *path)
{
    for (int i = 0; i < TRUTH_MODULES; i++) {
        if (truth_modules[i] == (const void *)map)
            return i + 1;
        if (!truth_modules[i]) {
            truth_modules[i] = (void *)(uintptr_t)map;
            truth_say("M %d %s\n", i + 1, path);
            return i + 1;
        }
    }
    _exit(3);
}

static void truth_frame_text(char *out, size_t room, uintptr_t pc)
{
    Dl_info info;
    struct link_map *map = NULL;

    if (!dladdr1((void *)pc, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) {
        static struct link_map whole; /* a static program: all is in one file, as it was linked */
        map = &whole;
        info.dli_fname = "./prog";
    }
    int module = truth_module(map, info.dli_fname);
    snprintf(out, room, " %d+%lx", module, (unsigned long)(pc - map->l_addr));
}

/* The store is about to be done: let it. */
static void truth_fault(int number, siginfo_t *info, void *context)
{
    ucontext_t *c = (ucontext_t *)context;
    void *all[TRUTH_FRAMES + 8];
    int n = backtrace(all, TRUTH_FRAMES + 8);
    int first = 0;
    (void)number;

    truth_stored = (char *)info->si_addr;
    if (truth_stored < truth_region || truth_stored >= truth_region + TRUTH_REGION)
        _exit(4);
    while (first < n && (greg_t)(uintptr_t)all[first] != c->uc_mcontext.gregs[REG_RIP])
        first++;
    truth_frame_count = n - first < TRUTH_FRAMES ? n - first : TRUTH_FRAMES;
    memcpy(truth_frames, all + first, (size_t)truth_frame_count * sizeof *all);
    truth_protect(PROT_READ | PROT_WRITE);
    c->uc_mcontext.gregs[REG_EFL] |= 0x100; /* a trap behind the instruction */
}

static void truth_trap(int number, siginfo_t *info, void *context)
{
    ucontext_t *c = (ucontext_t *)context;
    char line[4096];
    size_t n;
    (void)number;
    (void)info;

    truth_protect(PROT_READ);
    c->uc_mcontext.gregs[REG_EFL] &= ~0x100;
    n = (size_t)snprintf(line, sizeof line, "S %lx ", (unsigned long)(uintptr_t)truth_stored);
    for (int i = 0; i < TRUTH_BYTES; i++) {
        int b = truth_stored + i < truth_region + TRUTH_REGION ? truth_stored[i] & 0xff : 0;
        n += (size_t)snprintf(line + n, sizeof line - n, "%02x", b);
    }
    for (int i = 0; i < truth_frame_count; i++) {
        truth_frame_text(line + n, sizeof line - n, (uintptr_t)truth_frames[i]);
        n += strlen(line + n);
    }
    truth_say("%s\n", line);
}

static void truth_begin(const char *log)
{
    void *warm[4];
    struct sigaction fault, trap;

    truth_log = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    truth_region = (char *)mmap(NULL, TRUTH_REGION, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (truth_log < 0 || truth_region == (char *)MAP_FAILED)
        _exit(3);
    truth_next = truth_region;
    backtrace(warm, 4); /* allocates the first time */
    memset(&fault, 0, sizeof fault);
    fault.sa_flags = SA_SIGINFO;
    trap = fault;
    fault.sa_sigaction = truth_fault;
    trap.sa_sigaction = truth_trap;
    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGTRAP, &trap, NULL);
}

/* Objects lie at distances that no type's size divides, so that a wrong base shows. */
static void *truth_allocate(const char *type, size_t size)
{
    enum { ALIGN = 64 };
    char *at = truth_next;

    truth_next += (size + 2 * ALIGN - 1) / ALIGN * ALIGN;
    if (truth_next > truth_region + TRUTH_REGION)
        _exit(5);
    truth_say("A %lx %lx %s\n", (unsigned long)(uintptr_t)at, (unsigned long)size, type);
    return at;
}

static inline void truth_release(void *at, size_t size)
{
    truth_say("X %lx %lx\n", (unsigned long)(uintptr_t)at, (unsigned long)size);
}

#define TYPE(type) truth_say("T %s %lx\n", #type, (unsigned long)sizeof(type))
#define TRUTH_FIELD(type, field, element_size, element)                                            \
    truth_say("F %s %s %lx %lx %lx %s\n", #type, #field, (unsigned long)offsetof(type, field),     \
              (unsigned long)sizeof(((type *)0)->field), (unsigned long)(element_size), element)
#define FIELD(type, field)          TRUTH_FIELD(type, field, sizeof(((type *)0)->field), "-")
#define ARRAY(type, field)          TRUTH_FIELD(type, field, sizeof(((type *)0)->field[0]), "-")
#define OBJECT(type, field, inner)  TRUTH_FIELD(type, field, sizeof(inner), #inner)
#define OBJECTS(type, field, inner) TRUTH_FIELD(type, field, sizeof(inner), #inner)

#define NEW(type)          ((type *)truth_allocate(#type, sizeof(type)))
#define NEW_ARRAY(type, n) ((type *)truth_allocate(#type, sizeof(type) * (n)))
#define NEW_OPEN(type, extra) ((type *)truth_allocate(#type "+", sizeof(type) + (extra)))
#define RELEASE(at)        truth_release(at, sizeof *(at))

#define NOINLINE __attribute__((noinline, noclone))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

#endif
