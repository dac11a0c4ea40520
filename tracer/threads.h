/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * threads: the threads and processes of the program that live, and what they share.
 */
#ifndef TRACER_THREADS_H
#define TRACER_THREADS_H

#include "tracer/tracee.h"

struct thread *thread_find(struct tracer *t, pid_t tid);

/* A thread that made itself known; whose it is comes with thread_settle. */
struct thread *thread_add(struct tracer *t, pid_t tid);

/* The thread was made by parent with these CLONE_* flags; parent NULL: the first of all. */
void thread_settle(struct tracer *t, struct thread *th, struct thread *parent, uint64_t flags);

/* A thread executes a program: its process has only this one now, which takes over the process's
 * number (tid), whatever its own was before (former). Returns it. */
struct thread *thread_execs(struct tracer *t, struct thread *th, pid_t former);

/* Lets go of what a call's entry found out. */
void thread_call_over(struct thread *th);

void thread_remove(struct tracer *t, struct thread *th);
void threads_free(struct tracer *t);

#endif
