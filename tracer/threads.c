/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/threads.h"

#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/guest.h"

static uint64_t *slot(struct tracer *t, pid_t tid)
{
    return map_put(&t->threads, &tid, sizeof tid, NULL);
}

struct thread *thread_find(struct tracer *t, pid_t tid)
{
    uint64_t index = *slot(t, tid);
    return index ? t->all.at[index - 1] : NULL;
}

struct thread *thread_add(struct tracer *t, pid_t tid)
{
    struct thread *th = xcalloc(1, sizeof *th);
    th->tid = tid;
    th->place.fd = th->other.fd = -1;
    size_t free_place = 0;
    while (free_place < t->all.n && t->all.at[free_place])
        free_place++;
    if (free_place == t->all.n)
        vec_push(&t->all, th);
    else
        t->all.at[free_place] = th;
    *slot(t, tid) = free_place + 1;
    t->alive++;
    return th;
}

static struct process *process_new(struct tracer *t, pid_t pid, const struct process *parent)
{
    struct process *p = xcalloc(1, sizeof *p);
    p->pid = pid;
    p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    p->number = recording_process(t->recording, pid, parent ? parent->number : 0);
    return p;
}

static void process_release(struct tracer *t, struct process *p)
{
    if (--p->threads)
        return;
    if (p->pidfd >= 0)
        close(p->pidfd);
    guest_free(t, p->guest);
    space_release(p->space);
    descriptors_release(p->descriptors);
    vec_free(&p->mappings);
    free(p);
}

/* A forked child has copies of everything, except of what the flags say it shares. What its
 * parent's descriptors are it asks anew: that is always right. */
static struct process *process_fork(struct tracer *t, pid_t pid, struct process *parent,
                                    uint64_t flags)
{
    struct process *p = process_new(t, pid, parent);
    p->space = flags & CLONE_VM ? space_share(parent->space) : space_copy(parent->space);
    p->descriptors =
        flags & CLONE_FILES ? descriptors_share(parent->descriptors) : descriptors_new(&t->stale);
    for (size_t i = 0; i < parent->mappings.n; i++)
        vec_push(&p->mappings, parent->mappings.at[i]);
    p->guest = guest_copy(t, parent->guest, p);
    return p;
}

void thread_settle(struct tracer *t, struct thread *th, struct thread *parent, uint64_t flags)
{
    if (!parent) {
        th->process = process_new(t, th->tid, NULL);
        th->process->space = space_new(t->unwinder);
        th->process->descriptors = descriptors_new(&t->stale);
    } else if (flags & CLONE_THREAD)
        th->process = parent->process;
    else
        th->process = process_fork(t, th->tid, parent->process, flags);
    th->process->threads++;
    th->number = recording_thread(t->recording, th->process->number, th->tid);
}

struct thread *thread_execs(struct tracer *t, struct thread *th, pid_t former)
{
    if (former && former != th->tid) {
        struct thread *caller = thread_find(t, former);
        if (caller) { /* th is the leader that has vanished; its number lives on in the caller */
            pid_t tid = th->tid;
            thread_remove(t, th);
            *slot(t, tid) = *slot(t, former);
            *slot(t, former) = 0;
            th = caller;
            th->tid = tid;
        }
    }
    struct process *p = th->process;
    space_release(p->space);
    descriptors_release(p->descriptors);
    p->space = space_new(t->unwinder);
    p->descriptors = descriptors_new(&t->stale);
    p->mappings.n = 0;
    guest_free(t, p->guest);
    p->guest = NULL;
    th->announced.pending = false;
    return th;
}

void thread_call_over(struct thread *th)
{
    place_close(&th->place);
    place_close(&th->other);
}

void thread_remove(struct tracer *t, struct thread *th)
{
    uint64_t *index = slot(t, th->tid);
    if (*index && t->all.at[*index - 1] == th) {
        t->all.at[*index - 1] = NULL;
        *index = 0;
    }
    t->alive--;
    thread_call_over(th);
    if (th->process)
        process_release(t, th->process);
    buf_free(&th->bytes);
    free(th->exec_path);
    free(th);
}

void threads_free(struct tracer *t)
{
    for (size_t i = 0; i < t->all.n; i++)
        if (t->all.at[i])
            thread_remove(t, t->all.at[i]);
    vec_free(&t->all);
    vec_free(&t->waiting);
    vec_free(&t->guests);
    map_free(&t->threads);
    buf_free(&t->scratch);
    buf_free(&t->mark);
}
