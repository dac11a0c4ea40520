/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For the unwinder's tests: runs a program under a small tracer, stops it at the entry of every
 * system call of every thread and process it makes, unwinds there, and has libdw do the same.
 *
 * A program asks for single steps with getsid(STEP_PLEASE): its stacks are then compared at each
 * of the next instructions, whatever code they lead through.
 */
#ifndef TESTS_UNIT_STOPS_H
#define TESTS_UNIT_STOPS_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/unit/compile.h"
#include "tracer/unwind.h"
#include "tracer/unwind_check.h"

enum { STEP_PLEASE = -4242, STEPS = 1500, TRACEES_MAX = 64 };

struct tracee {
    pid_t tid;
    struct space *space; /* NULL: its parent has not yet said that it made it */
    bool waiting;        /* stopped, until its parent says so */
    bool fresh;          /* its first stop is only the tracer's doing */
    bool maps_code;
    int steps; /* left to go singly */
};

struct stops {
    struct unwinder *unwinder;
    struct unwind_checker *checker;
    struct tracee tracees[TRACEES_MAX];
    size_t n;
    size_t deepest, signal_frames;
    int status; /* of the program itself */
    /* May be NULL: called after each unwind, with what it gave. */
    void (*look)(struct stops *s, const struct user_regs_struct *registers, uint32_t stack);
};

static inline struct tracee *stops_tracee(struct stops *s, pid_t tid)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->tracees[i].tid == tid)
            return &s->tracees[i];
    assert_true(s->n < TRACEES_MAX);
    s->tracees[s->n] = (struct tracee){.tid = tid};
    return &s->tracees[s->n++];
}

static inline void stops_resume(struct tracee *t, int signal)
{
    ptrace(t->steps > 0 ? PTRACE_SINGLESTEP : PTRACE_SYSCALL, t->tid, NULL, (void *)(long)signal);
}

static inline void stops_unwind(struct stops *s, struct tracee *t)
{
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, t->tid, NULL, &registers) != 0)
        return;
    uint32_t stack = unwind(s->unwinder, t->space, t->tid, &registers, NULL);
    unwind_check(s->checker, s->unwinder, t->tid, &registers);
    const struct frame *frames;
    size_t depth = unwind_last(s->unwinder, &frames, NULL);
    if (depth > s->deepest)
        s->deepest = depth;
    for (size_t i = 2; i < depth; i++)
        s->signal_frames += frames[i].flags == FRAME_EXACT && frames[i - 1].flags == FRAME_EXACT;
    if (s->look)
        s->look(s, &registers, stack);
}

static inline void stops_at_call(struct stops *s, struct tracee *t)
{
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof info, &info) <= 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        t->maps_code = info.entry.nr == SYS_mmap && info.entry.args[2] & PROT_EXEC;
        if (info.entry.nr == SYS_getsid && (int)info.entry.args[0] == STEP_PLEASE)
            t->steps = STEPS;
        stops_unwind(s, t);
    } else if (t->maps_code) {
        space_changed(t->space);
    }
}

static inline void stops_at_event(struct stops *s, struct tracee *t, int event)
{
    unsigned long child_tid = 0;
    if (event == PTRACE_EVENT_EXEC) {
        space_release(t->space);
        t->space = space_new(s->unwinder);
        return;
    }
    ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &child_tid);
    struct space *space = t->space;
    struct tracee *child = stops_tracee(s, (pid_t)child_tid);
    child->space = event == PTRACE_EVENT_FORK ? space_copy(space) : space_share(space);
    child->fresh = !child->waiting;
    if (child->waiting)
        stops_resume(child, 0);
    child->waiting = false;
}

static inline void stops_at_stop(struct stops *s, struct tracee *t, int status)
{
    int signal = WSTOPSIG(status), event = status >> 16;
    if (!t->space) {
        t->waiting = true;
        return;
    }
    if (t->steps > 0 && signal == SIGTRAP && !event) {
        t->steps--;
        stops_unwind(s, t);
        signal = 0;
    } else if (signal == (SIGTRAP | 0x80)) {
        stops_at_call(s, t);
        signal = 0;
    } else if (event) {
        pid_t tid = t->tid;
        stops_at_event(s, t, event);
        t = stops_tracee(s, tid);
        signal = 0;
    } else if (t->fresh && signal == SIGSTOP) {
        t->fresh = false;
        signal = 0;
    }
    stops_resume(t, signal);
}

static inline void stops_loop(struct stops *s, pid_t program)
{
    int status;
    pid_t tid;
    while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        struct tracee *t = stops_tracee(s, tid);
        if (WIFSTOPPED(status)) {
            stops_at_stop(s, t, status);
            continue;
        }
        if (tid == program)
            s->status = status;
        space_release(t->space);
        *t = s->tracees[--s->n];
    }
}

/* Runs it in the folder until it and all its children have ended. */
static inline void stops_run(struct stops *s, const char *folder, char *const argv[])
{
    s->checker = unwind_checker_new();
    pid_t program = fork();
    assert_true(program >= 0);
    if (program == 0) {
        unsetenv("LD_BIND_NOW");
        if (!freopen("/dev/null", "w", stdout) || chdir(folder) != 0 ||
            ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(120);
        raise(SIGSTOP);
        execv(argv[0], argv);
        _exit(121);
    }
    int status;
    assert_int_equal(waitpid(program, &status, 0), program);
    assert_true(WIFSTOPPED(status));
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    assert_int_equal(ptrace(PTRACE_SETOPTIONS, program, NULL, (void *)options), 0);
    struct tracee *t = stops_tracee(s, program);
    t->space = space_new(s->unwinder);
    stops_resume(t, 0);
    stops_loop(s, program);
}

#endif
