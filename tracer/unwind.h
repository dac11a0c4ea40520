/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * unwind: the call stack of a stopped thread, as a stack number of the recording.
 *
 * The rules for going from a frame to its caller come from each module's .eh_frame (or
 * .debug_frame) through libdw, and are compiled once per code address and module; modules are
 * shared by all processes of the run. The result equals what libdw's own unwinder gives, at a few
 * per cent of its cost (unwind_check.h holds the two against each other).
 */
#ifndef TRACER_UNWIND_H
#define TRACER_UNWIND_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "engine/recording.h"

/* Modules, their rules, and the stacks seen; one for a recording. */
struct unwinder;
struct unwinder *unwinder_new(struct recording *recording);
void unwinder_free(struct unwinder *u);

/* One address space: which module is mapped where. Read from /proc/PID/maps when needed. */
struct space;
struct space *space_new(struct unwinder *u);       /* of a program that was just executed */
struct space *space_share(struct space *space);    /* one more thread or vfork child lives in it */
struct space *space_copy(const struct space *space); /* of a forked child */
void space_release(struct space *space);

/* Code was mapped: the maps are read again when the next stack needs an address they lack or at
 * the next unwind, whichever the implementation finds cheaper; no stack may be wrong by it. */
void space_changed(struct space *space);

/* The stack of a thread that is stopped by ptrace with these registers; 0 when there is none. */
uint32_t unwind(struct unwinder *u, struct space *space, pid_t tid,
                const struct user_regs_struct *registers);

#endif
