/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tracee: what the system-call recorder knows of the program it follows. Internal to the ptrace
 * backend: ptrace.c moves threads from stop to stop, calls*.c say what each system call does.
 *
 * What the kernel knows is asked of the kernel (working directory, offsets, modes, what a
 * descriptor refers to), not modelled; what is asked often is kept until a recorded call changes
 * it.
 *
 * Calls that change files hold the turn while they run: a thread that comes to the entry of a
 * watched call meanwhile waits. So the order in the trace is the order in which they took effect,
 * and what is found out at the entry of a call still holds when it runs.
 */
#ifndef TRACER_TRACEE_H
#define TRACER_TRACEE_H

#include <limits.h>
#include <sys/types.h>
#include <sys/user.h>

#include "engine/buf.h"
#include "engine/map.h"
#include "engine/recording.h"
#include "engine/vec.h"
#include "tracer/descriptors.h"
#include "tracer/files.h"
#include "tracer/memory.h"
#include "tracer/record.h"
#include "tracer/unwind.h"

struct tracer;
struct thread;
struct call_table;

/* Where a path leads, found out before the call runs. */
struct place {
    bool inside;   /* the entry's directory is part of the data */
    bool exists;   /* there is something of that name: st describes it, links not followed */
    bool found;    /* the path leads to something, links followed: target describes it */
    uint32_t dir;  /* the directory that has the entry */
    uint32_t file; /* what the entry is now, 0 when nothing of the data */
    uint32_t target_file;
    struct stat st, target;
    int fd;                  /* the directory, open (O_PATH); −1 when there is none */
    char name[NAME_MAX + 1]; /* the entry's name; "" when the path has none (".", "..", "/") */
};

/* A shared mapping of a data file. */
struct shared_mapping {
    uint64_t address, size, offset;
    uint32_t file;
    uint32_t path;
};

/* A system call that a tracer of stores says the program is about to make. */
struct announced {
    bool pending;
    bool made; /* and the kernel was asked for it */
    int syscall;
    uint64_t args[6];
    uint32_t stack;
};

struct process {
    pid_t pid;
    int pidfd;
    uint32_t number;
    int threads; /* how many live */
    struct space *space;
    struct descriptors *descriptors;
    vec_of(struct shared_mapping) mappings;
    struct guest *guest; /* NULL when no tracer of stores runs in it */
};

/* How to go on after the entry of a call. */
enum proceed {
    PROCEED_IGNORE, /* it does not matter: no stop at its exit */
    PROCEED_WAIT,   /* nor this one, but what it does depends on what others change meanwhile: it
                       runs in its turn */
    PROCEED_WATCH,  /* its leave handler wants to know the result, but it is no event */
    PROCEED_RECORD, /* it is an event */
};

struct call_rule {
    uint16_t call;   /* enum call */
    bool holds_turn; /* while it runs, no other watched call is entered */
    /* At the entry: fills thread->event. */
    enum proceed (*enter)(struct tracer *t, struct thread *th);
    /* At the exit: completes thread->event; event.result is set. */
    void (*leave)(struct tracer *t, struct thread *th);
};

enum thread_state {
    THREAD_RUNNING,
    THREAD_WAITING, /* at the entry of a call, while another one holds the turn */
    THREAD_IN_CALL, /* inside a call whose exit we want to see */
    THREAD_ORPHAN,  /* stopped, and we do not know yet who made it */
};

struct thread {
    pid_t tid;
    uint32_t number;
    enum thread_state state;
    struct process *process;
    struct user_regs_struct registers; /* at the entry */
    uint64_t args[6];
    int syscall;
    const struct call_rule *rule;
    bool holds_turn; /* as the rule says, unless the entry found that it need not */
    bool overtaken;  /* others no longer wait for it, but its event has not ended */
    enum proceed proceed;
    struct announced announced; /* of a guest */
    struct event event;
    uint64_t event_number; /* 0 when it is no event */
    /* What the entry found out, for the exit. */
    struct buf bytes; /* of a write, read together with the stack; empty when they were not */
    struct place place, other;
    /* Of a clone or an exec, whose event comes with a stop of another kind. */
    uint32_t stack;
    uint64_t clone_flags;
    char *exec_path;
};

struct tracer {
    struct recording *recording;
    struct files *files;
    const struct call_table *calls;
    struct unwinder *unwinder;
    struct unwind_checker *checker; /* NULL unless stacks are verified */
    struct standard_streams streams;
    uint64_t stale; /* see descriptors.h */
    const struct record_options *options;
    struct record_result *result;
    struct map threads; /* pid_t → index into all, plus 1 */
    vec_of(struct thread *) all;
    size_t alive;
    vec_of(struct thread *) waiting; /* first come, first served */
    struct thread *turn;             /* whose turn it is: inside such a call */
    uint64_t turn_since;             /* as clock_now() gives it */
    size_t overtaken;                /* how many threads are */
    uint64_t position;
    uint64_t started; /* likewise */
    pid_t program;    /* the first process */
    bool executed;    /* the program itself runs */
    bool program_ended;
    bool left_behind;   /* and processes that it started go on */
    bool turn_limited;  /* the timer that limits a turn is running */
    bool deaf;          /* the session cannot be written any more: the program goes on unrecorded */
    struct buf scratch; /* bytes read from the program */
    struct buf mark;    /* of an unfinished line written to FLOTSAM_MARK */
    /* Only when stores are traced (guest.h): */
    bool stores;
    vec_of(struct guest *) guests;
    uint64_t told_at; /* the time of what the tracers say now */
};

/* The largest errno: a result from −this to −1 is an error. */
enum { SYSCALL_ERRNO_LAST = 4095 };

/* calls.c: the calls that are watched. */
enum { SYSCALL_NUMBERS = 512 }; /* x86-64 has fewer */
struct call_table {
    const struct call_rule *by_number[SYSCALL_NUMBERS]; /* NULL: not watched */
};
void call_table_init(struct call_table *table);
/* Calls visit for each watched system call. */
void call_each(void (*visit)(int syscall, void *data), void *data);

/* Handlers live with what they are about: calls_data.c, calls_copy.c, calls_names.c,
 * calls_process.c. */
enum proceed enter_write(struct tracer *t, struct thread *th);
enum proceed enter_copy(struct tracer *t, struct thread *th);
enum proceed enter_ftruncate(struct tracer *t, struct thread *th);
enum proceed enter_truncate(struct tracer *t, struct thread *th);
enum proceed enter_fallocate(struct tracer *t, struct thread *th);
enum proceed enter_sync(struct tracer *t, struct thread *th);
enum proceed enter_lseek(struct tracer *t, struct thread *th);
enum proceed enter_open(struct tracer *t, struct thread *th);
enum proceed enter_rename(struct tracer *t, struct thread *th);
enum proceed enter_link(struct tracer *t, struct thread *th);
enum proceed enter_symlink(struct tracer *t, struct thread *th);
enum proceed enter_unlink(struct tracer *t, struct thread *th);
enum proceed enter_make(struct tracer *t, struct thread *th);
enum proceed enter_chmod(struct tracer *t, struct thread *th);
enum proceed enter_close(struct tracer *t, struct thread *th);
enum proceed enter_dup(struct tracer *t, struct thread *th);
enum proceed enter_mmap(struct tracer *t, struct thread *th);
enum proceed enter_munmap(struct tracer *t, struct thread *th);
enum proceed enter_mremap(struct tracer *t, struct thread *th);
enum proceed enter_msync(struct tracer *t, struct thread *th);
enum proceed enter_chdir(struct tracer *t, struct thread *th);
enum proceed enter_umask(struct tracer *t, struct thread *th);
enum proceed enter_clone(struct tracer *t, struct thread *th);
enum proceed enter_exec(struct tracer *t, struct thread *th);
enum proceed enter_refuse(struct tracer *t, struct thread *th);
enum proceed enter_attribute(struct tracer *t, struct thread *th);
void leave_nothing(struct tracer *t, struct thread *th);
void leave_write(struct tracer *t, struct thread *th);
void leave_copy(struct tracer *t, struct thread *th);
void leave_lseek(struct tracer *t, struct thread *th);
void leave_open(struct tracer *t, struct thread *th);
void leave_rename(struct tracer *t, struct thread *th);
void leave_link(struct tracer *t, struct thread *th);
void leave_symlink(struct tracer *t, struct thread *th);
void leave_unlink(struct tracer *t, struct thread *th);
void leave_make(struct tracer *t, struct thread *th);
void leave_chmod(struct tracer *t, struct thread *th);
void leave_attribute(struct tracer *t, struct thread *th);
void leave_close(struct tracer *t, struct thread *th);
void leave_dup(struct tracer *t, struct thread *th);
void leave_mmap(struct tracer *t, struct thread *th);
void leave_munmap(struct tracer *t, struct thread *th);
void leave_mremap(struct tracer *t, struct thread *th);
void leave_chdir(struct tracer *t, struct thread *th);

/* calls_data.c: the bytes that the thread's call is about to write, when they are one small piece;
 * false otherwise. */
bool tracer_bytes_wanted(struct thread *th, struct snapshot_along *along);

/* What was written to FLOTSAM_MARK without an end of line, when nobody is left to end it. */
void tracer_last_mark(struct tracer *t, struct thread *th);

/* calls_process.c: the kernel does not let us look into the thread's process. */
void tracer_unseen(struct tracer *t, const struct thread *th);
/* A notice about the thread's call. */
void tracer_notice_call(struct tracer *t, const struct thread *th, const char *kind);

/* calls_attributes.c: when the mode of the file that the thread's call is about is another than
 * before, that is an event of its own. */
void tracer_take_mode(struct tracer *t, struct thread *th, const struct stat *now);
/* The same for a call that may have taken set-ID bits from the file that it changed. */
void tracer_check_set_id(struct tracer *t, struct thread *th);

/* opened.c: what a descriptor number is to the thread. */
struct descriptor tracer_descriptor(struct tracer *t, struct thread *th, int fd);
/* Whom to ask about the thread's descriptors. */
struct asked tracer_asked(const struct thread *th);
/* How a call goes on whose descriptor is no data file: a number that is closed now may be open a
 * moment later, when another thread has opened a file. */
enum proceed descriptor_not_ours(struct descriptor d);
/* The thread's event is about the data file behind fd. */
void tracer_about(struct tracer *t, struct thread *th, int fd, uint32_t file);
/* What a description's flags (O_*) mean for a write by it: bits of event.traits. */
uint32_t descriptor_traits(uint32_t flags);
/* Reads from a file that the thread has open, whatever it was opened for. What is not there is
 * zeros; false when the file cannot be read. */
bool tracer_read_file(const struct thread *th, int fd, uint64_t offset, char *out, uint64_t size);

/* calls_process.c: a range is no longer mapped. */
void tracer_unmap(struct process *p, uint64_t address, uint64_t size);

/* ptrace.c: an event that begins and ends here and now (a fork, a marker, an exit). */
uint64_t tracer_instant(struct tracer *t, struct thread *th, struct event *event);
/* The stack of the thread at the entry of its call; other bytes along with it, or NULL. */
uint32_t tracer_stack(struct tracer *t, struct thread *th, struct snapshot_along *along);

/* place.c: where a path leads that the thread gives to a call, from dirfd (AT_FDCWD, or a
 * descriptor of the thread). False when the path cannot be read. A file that is there although no
 * recorded call put it there is adopted. Close every place with place_close. */
bool place_resolve(struct tracer *t, struct thread *th, int dirfd, uint64_t path,
                   struct place *out);
/* What a descriptor of the thread refers to; it has no directory and no name. */
void place_descriptor(struct tracer *t, struct thread *th, int fd, struct place *out);
/* Directory and name of the file that the thread has open as fd, by the kernel's word. */
void place_of_open_file(struct tracer *t, struct thread *th, int fd, struct place *out);
void place_close(struct place *p);
/* How a call goes on whose place is not inside: a path that leads nowhere now may lead inside a
 * moment later, when another thread has made the directory. */
enum proceed place_not_ours(const struct place *p);

/* adopt.c: files that come into the data directory from outside, with all they contain. */

/* A file that no recorded call put there enters the trace as an event of its own, and all below
 * it; why says how, as a notice. dirfd is the directory, open. Returns the file's number. */
uint32_t adopt(struct tracer *t, struct thread *th, uint32_t dir, int dirfd, const char *name,
               const struct stat *st, const char *why);
/* The thread's event (rename, link) brought entry `name`: completes it with the file's number and
 * contents; what is below it follows as events of their own. */
void adopt_moved(struct tracer *t, struct thread *th, uint32_t dir, int dirfd, const char *name);

#endif
