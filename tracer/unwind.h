/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * unwind: the call stack of a stopped thread, as a stack number of the recording.
 *
 * The rules for going from a frame to its caller come from each module's .eh_frame (or
 * .debug_frame) through libdw, and are compiled once per code address and module; modules are
 * shared by all processes of the run. The result equals what libdw's own unwinder gives, at a few
 * per cent of its cost (unwind_check.h holds the two against each other).
 *
 * How a stack ends: at a frame whose return address is undefined or 0, or where it cannot be read.
 * A stack of more than UNWIND_DEPTH_MAX frames keeps the innermost ones (they say what was being
 * done) and leaves a notice in the recording.
 *
 * The rooms below: snapshot.h (the thread's memory), rule.h (from a frame to its caller), module.h
 * (where rules come from), maps.h (which module is where).
 */
#ifndef TRACER_UNWIND_H
#define TRACER_UNWIND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "engine/recording.h"
#include "tracer/snapshot.h"

/* Endless recursion must not cost a second an event; programs that mean to recurse this deep on
 * their way to a system call are rare. */
enum { UNWIND_DEPTH_MAX = 1024 };

/* Modules, their rules, and the stacks seen; one for a recording. */
struct unwinder;
struct unwinder *unwinder_new(struct recording *recording);
void unwinder_free(struct unwinder *u);

/* One address space: which module is mapped where. Read from /proc/PID/maps when needed. All
 * spaces are to be released before the unwinder is freed. */
struct space;
struct space *space_new(struct unwinder *u);    /* of a program that was just executed */
struct space *space_share(struct space *space); /* one more thread or vfork child lives in it */
struct space *space_copy(const struct space *space); /* of a forked child */
void space_release(struct space *space);

/* Code was mapped: the maps are read again at the next unwind. (They are also read again when a
 * stack leads to an address that they lack.) Cheap. */
void space_changed(struct space *space);

/* The stack of a thread that is stopped by ptrace with these registers; 0 when there is none. What
 * is wanted along with it may be NULL. */
uint32_t unwind(struct unwinder *u, struct space *space, pid_t tid,
                const struct user_regs_struct *registers, struct snapshot_along *along);

/* The stack that somebody else unwound: n addresses in the thread, innermost first, all but the
 * first of them return addresses. 0 for none. */
uint32_t unwind_given(struct unwinder *u, struct space *space, pid_t tid, const uint64_t *pcs,
                      size_t n);

/* The stack that the last unwind() gave, innermost frame first: its frames as they are in the
 * recording and, when pcs is not NULL, the same as addresses in the thread. Valid until the next
 * unwind(). */
size_t unwind_last(struct unwinder *u, const struct frame **frames, const uint64_t **pcs);

#endif
