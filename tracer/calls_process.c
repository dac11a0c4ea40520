/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Calls on what a process has: descriptors, mappings, its directory and mask, its children; and
 * the calls that are refused.
 */
#include "tracer/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "engine/calls.h"

void leave_nothing(struct tracer *t, struct thread *th)
{
    (void)t, (void)th;
}

/* ---- descriptors ---- */

enum proceed enter_close(struct tracer *t, struct thread *th)
{
    if (th->syscall == SYS_close_range)
        return th->args[2] & CLOSE_RANGE_CLOEXEC ? PROCEED_IGNORE : PROCEED_WATCH;
    int fd = (int)th->args[0];
    struct descriptor d = tracer_descriptor(t, th, fd);
    descriptor_forget(th->process->descriptors, fd);
    if (d.kind != DESCRIPTOR_DATA)
        return descriptor_not_ours(d);
    tracer_about(t, th, fd, d.file);
    return PROCEED_RECORD;
}

void leave_close(struct tracer *t, struct thread *th)
{
    struct descriptors *all = th->process->descriptors;
    (void)t;
    if (th->syscall == SYS_close_range)
        descriptors_forget_range(all, (unsigned)th->args[0], (unsigned)th->args[1]);
    else
        descriptor_forget(all, th->event.fd);
}

/* dup, dup2, dup3, and fcntl, which the filter passes only with F_DUPFD* and F_SETFL. */
enum proceed enter_dup(struct tracer *t, struct thread *th)
{
    int fd = (int)th->args[0];
    if (th->syscall == SYS_fcntl && th->args[1] == F_SETFL)
        return PROCEED_WATCH;
    struct descriptor d = tracer_descriptor(t, th, fd);
    if (d.kind != DESCRIPTOR_DATA)
        return PROCEED_WATCH; /* the new number may have been a data file's until now */
    tracer_about(t, th, fd, d.file);
    return PROCEED_RECORD;
}

void leave_dup(struct tracer *t, struct thread *th)
{
    if (th->event.traits & EVENT_FAILED)
        return;
    if (th->syscall == SYS_fcntl && th->args[1] == F_SETFL)
        t->stale++;
    else
        descriptor_forget(th->process->descriptors, (int)th->event.result);
}

/* ---- mappings ---- */

/* A hole in the middle of a mapping leaves two. */
void tracer_unmap(struct process *p, uint64_t address, uint64_t size)
{
    uint64_t end = address + size;
    for (size_t i = 0; i < p->mappings.n;) {
        struct shared_mapping m = p->mappings.at[i];
        uint64_t m_end = m.address + m.size;
        if (end <= m.address || address >= m_end) {
            i++;
            continue;
        }
        p->mappings.at[i] = vec_last(&p->mappings);
        p->mappings.n--;
        if (m.address < address) {
            struct shared_mapping left = m;
            left.size = address - m.address;
            vec_push(&p->mappings, left);
        }
        if (end < m_end) {
            struct shared_mapping right = m;
            right.address = end;
            right.offset += end - m.address;
            right.size = m_end - end;
            vec_push(&p->mappings, right);
        }
    }
}

enum proceed enter_mmap(struct tracer *t, struct thread *th)
{
    const uint64_t *a = th->args;
    struct event *event = &th->event;
    enum proceed otherwise = a[2] & PROT_EXEC ? PROCEED_WATCH : PROCEED_IGNORE;
    if (!(a[3] & MAP_SHARED) || (a[3] & MAP_ANONYMOUS))
        return otherwise;
    struct descriptor d = tracer_descriptor(t, th, (int)a[4]);
    if (d.kind != DESCRIPTOR_DATA)
        return otherwise;
    tracer_about(t, th, (int)a[4], d.file);
    event->size = a[1];
    event->mode = (uint32_t)a[2];
    event->flags = (uint32_t)a[3];
    event->offset = a[5];
    return PROCEED_RECORD;
}

void leave_mmap(struct tracer *t, struct thread *th)
{
    struct event *event = &th->event;
    if (th->args[2] & PROT_EXEC)
        space_changed(th->process->space);
    if (!th->event_number || (event->traits & EVENT_FAILED))
        return;
    event->address = (uint64_t)event->result;
    tracer_unmap(th->process, event->address, event->size); /* MAP_FIXED */
    struct shared_mapping mapping = {event->address, event->size, event->offset, event->file,
                                     event->path};
    vec_push(&th->process->mappings, mapping);
    if (event->mode & PROT_WRITE) {
        event->traits |= EVENT_WRITABLE;
        t->result->mappings++;
    }
}

/* The first mapping that the range touches; the file's bytes behind it become the event's. */
static struct shared_mapping *touched(struct thread *th, uint64_t address, uint64_t size)
{
    struct event *event = &th->event;
    for (size_t i = 0; i < th->process->mappings.n; i++) {
        struct shared_mapping *m = &th->process->mappings.at[i];
        uint64_t from = address > m->address ? address : m->address;
        uint64_t to = address + size < m->address + m->size ? address + size : m->address + m->size;
        if (from >= to)
            continue;
        event->file = m->file;
        event->path = m->path;
        event->address = from;
        event->offset = m->offset + (from - m->address);
        event->size = to - from;
        return m;
    }
    return NULL;
}

enum proceed enter_munmap(struct tracer *t, struct thread *th)
{
    (void)t;
    return touched(th, th->args[0], th->args[1]) ? PROCEED_RECORD : PROCEED_IGNORE;
}

void leave_munmap(struct tracer *t, struct thread *th)
{
    (void)t;
    if (!(th->event.traits & EVENT_FAILED))
        tracer_unmap(th->process, th->args[0], th->args[1]);
}

enum proceed enter_mremap(struct tracer *t, struct thread *th)
{
    (void)t;
    if (!touched(th, th->args[0], th->args[1]))
        return PROCEED_IGNORE;
    th->event.flags = (uint32_t)th->args[3];
    th->event.other_offset = th->args[0];
    return PROCEED_RECORD;
}

void leave_mremap(struct tracer *t, struct thread *th)
{
    struct event *event = &th->event;
    (void)t;
    if (event->traits & EVENT_FAILED)
        return;
    tracer_unmap(th->process, th->args[0], th->args[1]);
    event->address = (uint64_t)event->result;
    event->size = th->args[2];
    tracer_unmap(th->process, event->address, event->size);
    struct shared_mapping moved = {event->address, event->size, event->offset, event->file,
                                   event->path};
    vec_push(&th->process->mappings, moved);
}

enum proceed enter_msync(struct tracer *t, struct thread *th)
{
    (void)t;
    th->event.flags = (uint32_t)th->args[2];
    return touched(th, th->args[0], th->args[1]) ? PROCEED_RECORD : PROCEED_IGNORE;
}

/* ---- directory, mask, children, programs ---- */

enum proceed enter_chdir(struct tracer *t, struct thread *th)
{
    if (th->syscall == SYS_fchdir)
        place_descriptor(t, th, (int)th->args[0], &th->place);
    else if (!place_resolve(t, th, AT_FDCWD, th->args[0], &th->place))
        return PROCEED_WAIT;
    uint32_t file = th->place.target_file ? th->place.target_file : th->place.file;
    if (!file)
        return PROCEED_WAIT; /* other threads' paths change their meaning all the same */
    th->event.file = file;
    th->event.path = files_path(t->files, file);
    return PROCEED_RECORD;
}

enum proceed enter_umask(struct tracer *t, struct thread *th)
{
    (void)t;
    th->event.mode = (uint32_t)th->args[0] & 0777u;
    return PROCEED_RECORD;
}

/* The child appears in a stop of its own; ptrace.c needs to know then what it shares. */
enum proceed enter_clone(struct tracer *t, struct thread *th)
{
    th->stack = tracer_stack(t, th, NULL);
    switch (th->syscall) {
    case SYS_clone:
        th->clone_flags = th->args[0];
        break;
    case SYS_clone3:
        th->clone_flags = 0;
        memory_read(th->tid, th->args[0], &th->clone_flags, sizeof th->clone_flags);
        break;
    case SYS_vfork:
        th->clone_flags = CLONE_VFORK | CLONE_VM;
        break;
    default:
        th->clone_flags = 0;
    }
    return PROCEED_IGNORE;
}

enum proceed enter_exec(struct tracer *t, struct thread *th)
{
    char path[PATH_MAX];
    uint64_t address = th->syscall == SYS_execveat ? th->args[1] : th->args[0];
    free(th->exec_path);
    th->exec_path = memory_path(th->tid, address, path) ? xstrdup(path) : NULL;
    th->stack = tracer_stack(t, th, NULL);
    return PROCEED_IGNORE;
}

/* Only root may look into a process whose program may be executed but not read, or that asked for
 * it (PR_SET_DUMPABLE). */
void tracer_unseen(struct tracer *t, const struct thread *th)
{
    t->result->unseen++;
    recording_notice(t->recording, "process that may not be looked into: its calls are missing",
                     th->exec_path ? th->exec_path : "?");
}

/* ---- refused ---- */

void tracer_notice_call(struct tracer *t, const struct thread *th, const char *kind)
{
    char *name = syscall_name((uint16_t)th->syscall);
    recording_notice(t->recording, kind, name ? name : "?");
    free(name);
}

/* Work handed to the kernel through memory cannot be followed call by call: the program is told
 * that the kernel has no such thing, and falls back to calls that can. */
enum proceed enter_refuse(struct tracer *t, struct thread *th)
{
    tracer_notice_call(t, th, NOTICE_REFUSED);
    struct user_regs_struct skip = th->registers;
    skip.orig_rax = UINT64_MAX;
    skip.rax = -(unsigned long long)ENOSYS;
    ptrace(PTRACE_SETREGS, th->tid, NULL, &skip);
    return PROCEED_IGNORE;
}
