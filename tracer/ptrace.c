/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The system-call recorder: follows every thread of a program from stop to stop.
 *
 * A watched call makes two stops: at its entry, where its rule looks at the arguments, the stack is
 * taken and the event begins; and at its exit, where the result is known and the event ends. What
 * runs between is the kernel, at full speed.
 */
#include "tracer/backend.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/clock.h"
#include "engine/log.h"
#include "tracer/guest.h"
#include "tracer/start.h"
#include "tracer/stores.h"
#include "tracer/threads.h"
#include "tracer/tracee.h"
#include "tracer/unwind_check.h"

static const long trace_options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD |
                                  PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                                  PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;

/* A call may wait for another thread after all (a lease, a FUSE file system of the program's own):
 * after this long the others no longer wait for its turn to end. */
enum { TURN_LIMIT_MS = 200 };

/* Set by signals: SIGTERM and SIGHUP ask us to stop, SIGALRM is the turn's limit. */
static volatile sig_atomic_t asked_to_stop, turn_over;

static void on_signal(int signal)
{
    if (signal == SIGALRM)
        turn_over = 1;
    else {
        asked_to_stop++;
        alarm(1); /* it may have come just before waitpid(), which another signal will end */
    }
}

static void resume(struct thread *th, int signal, bool stop_at_exit)
{
    th->state = stop_at_exit ? THREAD_IN_CALL : THREAD_RUNNING;
    /* It fails only when the thread was killed meanwhile, which waitpid() will tell. */
    ptrace(stop_at_exit ? PTRACE_SYSCALL : PTRACE_CONT, th->tid, NULL, (long)signal);
}

/* ---- events ---- */

uint32_t tracer_stack(struct tracer *t, struct thread *th, struct snapshot_along *along)
{
    if (t->stores)
        return th->announced.stack; /* what it has of its own is the tracer's */
    uint32_t stack = unwind(t->unwinder, th->process->space, th->tid, &th->registers, along);
    if (t->checker)
        unwind_check(t->checker, t->unwinder, th->tid, &th->registers);
    return stack;
}

uint64_t tracer_instant(struct tracer *t, struct thread *th, struct event *event)
{
    event->thread = th->number;
    event->time = clock_now() - t->started;
    event->entry = ++t->position;
    event->exit = ++t->position;
    uint64_t number = recording_begin(t->recording, event);
    recording_end(t->recording, number, event);
    return number;
}

static void begin_event(struct tracer *t, struct thread *th)
{
    struct event *event = &th->event;
    struct snapshot_along along = {0};
    event->thread = th->number;
    bool wanted = tracer_bytes_wanted(th, &along);
    event->stack = tracer_stack(t, th, wanted ? &along : NULL);
    if (wanted && !along.taken)
        buf_clear(&th->bytes);
    event->time = clock_now() - t->started;
    event->entry = ++t->position;
    th->event_number = recording_begin(t->recording, event);
}

static void end_event(struct tracer *t, struct thread *th)
{
    if (!th->event_number)
        return;
    th->event.exit = ++t->position;
    recording_end(t->recording, th->event_number, &th->event);
    th->event_number = 0;
}

/* ---- turns ---- */

static void start_call(struct tracer *t, struct thread *th);

static void set_turn_limit(bool on)
{
    struct itimerval timer = {0};
    if (on)
        timer.it_value.tv_usec = timer.it_interval.tv_usec = TURN_LIMIT_MS * 1000;
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void wait_for_turn(struct tracer *t, struct thread *th)
{
    th->state = THREAD_WAITING;
    if (!t->waiting.n && !t->turn_limited) {
        set_turn_limit(true);
        t->turn_limited = true;
    }
    vec_push(&t->waiting, th);
}

static void give_turns(struct tracer *t)
{
    while (t->waiting.n && !t->turn) {
        struct thread *next = t->waiting.at[0];
        t->waiting.n--;
        memmove(t->waiting.at, t->waiting.at + 1, t->waiting.n * sizeof *t->waiting.at);
        start_call(t, next);
    }
}

static void end_turn(struct tracer *t, struct thread *th)
{
    if (t->turn == th)
        t->turn = NULL;
    if (th->overtaken) {
        th->overtaken = false;
        t->overtaken--;
    }
    give_turns(t);
}

static void leave_queue(struct tracer *t, struct thread *th)
{
    for (size_t i = 0; i < t->waiting.n; i++)
        if (t->waiting.at[i] == th) {
            t->waiting.n--;
            memmove(t->waiting.at + i, t->waiting.at + i + 1,
                    (t->waiting.n - i) * sizeof *t->waiting.at);
            return;
        }
}

/* The one whose turn it is goes on, but the others wait no longer. While it does, none of the
 * changing calls that begin has a certain place in the order. */
static void overtake(struct tracer *t)
{
    struct thread *th = t->turn;
    log_info(RECORD, "thread %d holds its turn for long; the others go on", (int)th->tid);
    th->event.traits |= EVENT_OVERLAPPED;
    if (th->event_number) {
        th->overtaken = true;
        t->overtaken++;
    }
    t->turn = NULL;
    give_turns(t);
}

/* The timer ticks while somebody waits. One whole tick is granted before a turn is taken away. */
static void check_turn(struct tracer *t)
{
    turn_over = 0;
    t->turn_limited = t->waiting.n > 0;
    set_turn_limit(t->turn_limited);
    if (t->waiting.n && t->turn && clock_now() - t->turn_since > TURN_LIMIT_MS * NANOSECONDS_PER_MS)
        overtake(t);
}

/* ---- stops ---- */

static void tell_exec(struct tracer *t, struct thread *th)
{
    struct event event = {.call = CALL_EXEC, .fd = -1};
    event.syscall = (uint16_t)(t->stores ? SYS_execve : th->syscall);
    event.stack = t->executed ? th->stack : 0; /* the first one is our own doing */
    t->executed = true;
    if (th->exec_path)
        event.path = recording_string(t->recording, th->exec_path, strlen(th->exec_path));
    tracer_instant(t, th, &event);
}

static void start_call(struct tracer *t, struct thread *th)
{
    enum proceed proceed = th->proceed = th->rule->enter(t, th);
    log_debug(RECORD, "thread %d: enters system call %d (%#lx, %#lx, %#lx, %#lx): %s", (int)th->tid,
              th->syscall, th->args[0], th->args[1], th->args[2], th->args[3],
              proceed == PROCEED_IGNORE ? "ignored"
              : th->event.path          ? "ours"
                                        : "watched");
    if (proceed == PROCEED_IGNORE) {
        thread_call_over(th);
        resume(th, 0, false);
        return;
    }
    if (th->holds_turn && t->overtaken)
        th->event.traits |= EVENT_OVERLAPPED;
    if (proceed == PROCEED_RECORD)
        begin_event(t, th);
    if (th->holds_turn) {
        t->turn = th;
        t->turn_since = clock_now();
    }
    resume(th, 0, true);
}

/* A program begins in its tracer of stores: only now has it been executed. */
static void begin_guest(struct tracer *t, struct thread *th)
{
    guest_begins(t, th, th->args[1]);
    if (!th->exec_path)
        th->exec_path = xstrdup(t->options->argv[0]);
    tell_exec(t, th);
}

/* What a tracer of stores wrote before the thread stopped stands before what the thread does now.
 * True when the thread makes a call of the program's; otherwise it goes on. */
static bool look_at_guest(struct tracer *t, struct thread *th)
{
    bool asks = th->syscall == STORES_CALL;
    if (asks && th->args[0] == STORES_HELLO && !t->deaf)
        begin_guest(t, th);
    guest_take(t, th);
    if (asks && th->args[0] == STORES_FULL) {
        resume(th, 0, false); /* it fills the ring again while we work */
        guest_tell(t);
        return false;
    }
    guest_tell(t);
    if (!asks && !t->deaf && guest_is_announced(t, th))
        return true;
    resume(th, 0, false);
    return false;
}

static void at_entry(struct tracer *t, struct thread *th)
{
    struct user_regs_struct *r = &th->registers;
    if (ptrace(PTRACE_GETREGS, th->tid, NULL, r) != 0)
        return; /* killed; waitpid() will tell */
    struct error why;
    if (!t->deaf && recording_failed(t->recording, &why))
        t->deaf = true;
    th->syscall = r->orig_rax <= STORES_CALL ? (int)r->orig_rax : -1;
    uint64_t args[] = {r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9};
    memcpy(th->args, args, sizeof args);
    if (t->stores && !look_at_guest(t, th))
        return;
    const struct call_rule *rule =
        th->syscall >= 0 && th->syscall < SYSCALL_NUMBERS ? t->calls->by_number[th->syscall] : NULL;
    if (!rule || t->deaf) {
        resume(th, 0, false);
        return;
    }
    th->rule = rule;
    th->event = (struct event){.call = rule->call, .syscall = (uint16_t)th->syscall, .fd = -1};
    th->event_number = 0;
    th->holds_turn = rule->holds_turn;
    if (t->turn)
        wait_for_turn(t, th);
    else
        start_call(t, th);
}

/* The kernel's own codes for "interrupted, will be entered again": no program sees them. */
enum { RESTART_FIRST = 512, RESTART_LAST = 516 };

/* After these a file's length is no longer what its last append left. */
static void forget_size(struct tracer *t, const struct event *event)
{
    bool failed_write = event->call == CALL_WRITE && (event->traits & EVENT_FAILED);
    if (event->file && (failed_write || event->call == CALL_TRUNCATE || event->call == CALL_OPEN ||
                        event->call == CALL_FALLOCATE || event->call == CALL_COPY))
        files_set_size(t->files, event->file, -1);
}

static void finish_call(struct tracer *t, struct thread *th, int64_t result)
{
    th->event.result = result;
    log_debug(RECORD, "thread %d: leaves system call %d with %ld, event %lu", (int)th->tid,
              th->syscall, (long)result, th->event_number);
    if (result < 0 && result >= -SYSCALL_ERRNO_LAST)
        th->event.traits |= EVENT_FAILED;
    if (result <= -RESTART_FIRST && result >= -RESTART_LAST)
        th->event.result = -EINTR;
    if (!t->deaf && th->proceed != PROCEED_WAIT)
        th->rule->leave(t, th);
    if (th->event.call == CALL_MMAP || th->event.call == CALL_MUNMAP)
        guest_look_for(t, th);
    if (!t->deaf)
        tracer_check_set_id(t, th);
    forget_size(t, &th->event);
    end_event(t, th);
    thread_call_over(th);
}

static void at_exit_of_call(struct tracer *t, struct thread *th)
{
    if (th->state != THREAD_IN_CALL) {
        resume(th, 0, false);
        return;
    }
    errno = 0;
    long rax = ptrace(PTRACE_PEEKUSER, th->tid, offsetof(struct user_regs_struct, rax), NULL);
    if (errno)
        return; /* killed; waitpid() will tell */
    finish_call(t, th, rax);
    resume(th, 0, false);
    end_turn(t, th);
}

static void at_fork(struct tracer *t, struct thread *parent)
{
    unsigned long tid = 0;
    ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &tid);
    struct thread *child = thread_find(t, (pid_t)tid);
    bool stopped = child && child->state == THREAD_ORPHAN;
    if (!child)
        child = thread_add(t, (pid_t)tid);
    thread_settle(t, child, parent, parent->clone_flags);
    if (!t->deaf) {
        struct event event = {.call = CALL_FORK, .syscall = (uint16_t)parent->syscall, .fd = -1};
        event.flags = (uint32_t)parent->clone_flags;
        event.result = child->number;
        event.stack = parent->stack;
        tracer_instant(t, parent, &event);
    }
    if (stopped)
        resume(child, 0, false);
    resume(parent, 0, false);
}

/* What a person must know about the program that the thread now runs. */
static void look_at_program(struct tracer *t, const struct thread *th)
{
    char exe[64];
    struct stat st;
    const char *name = th->exec_path ? th->exec_path : "?";
    snprintf(exe, sizeof exe, "/proc/%d/exe", (int)th->tid);
    if (!start_is_native(exe))
        recording_notice(t->recording, "program that is not 64-bit x86: its calls are missing",
                         name);
    /* As root we could grant them; nobody else's tracee gets them. */
    uid_t we = geteuid();
    if (we && stat(exe, &st) == 0 && (st.st_mode & S_ISUID) && st.st_uid != we)
        recording_notice(t->recording, "program without its set-user-ID rights, since it is traced",
                         name);
}

/* A tracer of stores is executed in several steps, and tells when the program itself begins. */
static void at_exec(struct tracer *t, struct thread *th)
{
    unsigned long former = 0;
    ptrace(PTRACE_GETEVENTMSG, th->tid, NULL, &former);
    th = thread_execs(t, th, (pid_t)former);
    if (!t->stores) {
        look_at_program(t, th);
        if (!t->deaf)
            tell_exec(t, th);
    }
    resume(th, 0, false);
}

/* The thread is about to end. When it was inside a call, the kernel has finished with it and left
 * the result in the register, but there was no stop at the exit. */
static void at_thread_end(struct tracer *t, struct thread *th)
{
    unsigned long status = 0;
    ptrace(PTRACE_GETEVENTMSG, th->tid, NULL, &status);
    leave_queue(t, th);
    if (t->stores && th->process) {
        guest_take(t, th);
        guest_tell(t);
    }
    if (th->state == THREAD_IN_CALL) {
        errno = 0;
        long rax = ptrace(PTRACE_PEEKUSER, th->tid, offsetof(struct user_regs_struct, rax), NULL);
        if (!errno && rax != -ENOSYS)
            finish_call(t, th, rax);
    }
    if (!t->deaf && th->process) {
        if (t->alive == 1)
            tracer_last_mark(t, th);
        struct event event = {.call = CALL_EXIT, .syscall = SYSCALL_NONE, .fd = -1};
        event.result = (int64_t)status;
        tracer_instant(t, th, &event);
    }
    resume(th, 0, false); /* an event that has not ended stays unfinished in the recording */
    end_turn(t, th);
}

/* From now on Ctrl-C is for us. */
static void let_interrupt(void)
{
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGINT, &act, NULL);
}

static void at_death(struct tracer *t, struct thread *th, int status)
{
    if (th->tid == t->program) {
        t->result->status = status;
        t->program_ended = true;
    }
    leave_queue(t, th);
    thread_call_over(th);
    end_turn(t, th);
    thread_remove(t, th);
    if (t->program_ended && t->alive && !t->left_behind) {
        t->left_behind = true;
        let_interrupt();
        t->options->say("the program has ended, but processes that it started still run: recording "
                        "goes on until they end (Ctrl-C ends them)");
    }
}

static void at_stop(struct tracer *t, struct thread *th, int status)
{
    int signal = WSTOPSIG(status);
    switch (status >> 16) {
    case PTRACE_EVENT_SECCOMP:
        at_entry(t, th);
        return;
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        at_fork(t, th);
        return;
    case PTRACE_EVENT_EXEC:
        at_exec(t, th);
        return;
    case PTRACE_EVENT_EXIT:
        at_thread_end(t, th);
        return;
    case PTRACE_EVENT_STOP:
        if (!th->process)
            th->state = THREAD_ORPHAN; /* until its parent's stop says whose child it is */
        else if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
            ptrace(PTRACE_LISTEN, th->tid, NULL, NULL); /* job control: it stays stopped */
        else
            resume(th, 0, false);
        return;
    default:
        break;
    }
    enum { SYSCALL_STOP = 0x80 };
    if (signal == (SIGTRAP | SYSCALL_STOP))
        at_exit_of_call(t, th);
    else
        resume(th, signal, false); /* the program's own signal: pass it on */
}

/* ---- the run ---- */

static void pass_on_request(struct tracer *t, int *asked)
{
    if (*asked == asked_to_stop)
        return;
    *asked = asked_to_stop;
    t->result->interrupted = true;
    for (size_t i = 0; i < t->all.n; i++) {
        struct thread *th = t->all.at[i];
        if (th && th->process && th->tid == th->process->pid)
            kill(th->tid, *asked > 1 || t->program_ended ? SIGKILL : SIGTERM);
    }
}

static void follow(struct tracer *t)
{
    int asked = 0, status;
    while (t->alive) {
        pass_on_request(t, &asked);
        if (turn_over)
            check_turn(t);
        pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0) {
            if (errno == EINTR)
                continue;
            break; /* ECHILD: nobody is left */
        }
        struct thread *th = thread_find(t, tid);
        if (WIFSTOPPED(status))
            at_stop(t, th ? th : thread_add(t, tid), status);
        else if (th)
            at_death(t, th, status);
    }
}

struct signals {
    struct sigaction interrupt, quit, terminate, hangup, alarm;
};

static void take_signals(struct signals *old)
{
    struct sigaction act = {.sa_handler = on_signal}; /* no SA_RESTART: waitpid() must return */
    asked_to_stop = turn_over = 0;
    sigaction(SIGINT, NULL, &old->interrupt);
    sigaction(SIGQUIT, NULL, &old->quit);
    sigaction(SIGTERM, &act, &old->terminate);
    sigaction(SIGHUP, &act, &old->hangup);
    sigaction(SIGALRM, &act, &old->alarm);
}

static void give_back_signals(const struct signals *old)
{
    sigaction(SIGINT, &old->interrupt, NULL);
    sigaction(SIGQUIT, &old->quit, NULL);
    sigaction(SIGTERM, &old->terminate, NULL);
    sigaction(SIGHUP, &old->hangup, NULL);
    set_turn_limit(false); /* now that no handler can start the timer again */
    sigaction(SIGALRM, &old->alarm, NULL);
}

/* The file of marks has no name: it is gone with us, however we end. */
static int make_mark(char *path, size_t size)
{
    int fd = memfd_create("flotsam-mark", MFD_CLOEXEC);
    snprintf(path, size, "/proc/%d/fd/%d", (int)getpid(), fd);
    return fd;
}

static void run_started(struct tracer *t, const struct started *started)
{
    t->program = started->pid;
    t->started = clock_now();
    thread_settle(t, thread_add(t, started->pid), NULL, 0);
    follow(t);
}

bool trace_program(const struct trace_setup *setup, struct recording *recording,
                   struct files *files, struct record_result *result, struct error *e)
{
    const struct record_options *options = setup->options;
    struct filter filter;
    struct started started = {.failure_fd = -1};
    struct call_table calls;
    struct signals signals;
    struct tracer t = {.recording = recording,
                       .files = files,
                       .calls = &calls,
                       .options = options,
                       .result = result,
                       .stores = setup->stores};
    char mark[64];
    int mark_fd = make_mark(mark, sizeof mark);
    if (mark_fd < 0)
        return error_errno(e, "cannot make the file for markers");
    call_table_init(&calls);
    streams_init(&t.streams, mark_fd);
    t.unwinder = unwinder_new(recording);
    t.checker = options->verify_stacks && !setup->stores ? unwind_checker_new() : NULL;
    take_signals(&signals);
    bool done = filter_build(&filter, e) &&
                start_program(setup->argv, mark, &filter, trace_options, &started, e);
    if (done) {
        run_started(&t, &started);
        int why = start_failure(&started);
        close(started.failure_fd);
        errno = why;
        if (why)
            done = error_errno(e, "cannot execute %s", setup->argv[0]);
    }
    give_back_signals(&signals);
    if (t.checker) {
        struct unwind_verdict verdict = unwind_checker_verdict(t.checker);
        result->stacks_same = verdict.equal;
        result->stacks_different = verdict.different;
        snprintf(result->difference, sizeof result->difference, "%s", verdict.first);
    }
    unwind_checker_free(t.checker);
    unwinder_free(t.unwinder);
    threads_free(&t);
    filter_free(&filter);
    close(mark_fd);
    return done;
}

static bool ready(struct error *e)
{
    (void)e;
    return true; /* what it needs shows when the program is started */
}

static bool run(const struct record_options *options, struct recording *recording,
                struct files *files, struct record_result *result, struct error *e)
{
    struct trace_setup setup = {.options = options, .argv = options->argv};
    bool done = trace_program(&setup, recording, files, result, e);
    result->stores_missing = result->mappings != 0;
    return done;
}

const struct backend backend_ptrace = {
    .name = "ptrace",
    .summary = "system calls, by ptrace and a seccomp filter",
    .ready = ready,
    .run = run,
};
