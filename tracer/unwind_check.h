/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * unwind_check: holds unwind() against libdw's own unwinder, stack by stack.
 *
 * For tests and for people who doubt a stack: it costs many times what unwind() does. libdw finds
 * the modules, reads the memory and interprets the unwind tables by itself; nothing is shared with
 * unwind() but the thread's registers. Two stacks are equal when they have the same addresses, the
 * same frames are exact (FRAME_EXACT), and each address lies in its module at the same place.
 */
#ifndef TRACER_UNWIND_CHECK_H
#define TRACER_UNWIND_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "tracer/unwind.h"

struct unwind_checker;
struct unwind_checker *unwind_checker_new(void);
void unwind_checker_free(struct unwind_checker *c);

/* To be called right after unwind(u, …, tid, registers), while the thread is still stopped. True
 * when libdw gives the stack that unwind() gave. */
bool unwind_check(struct unwind_checker *c, struct unwinder *u, pid_t tid,
                  const struct user_regs_struct *registers);

struct unwind_verdict {
    uint64_t equal, different;
    const char *first; /* the first difference, several lines; "" when there is none */
};

/* What has been found so far; the text lives as long as the checker. */
struct unwind_verdict unwind_checker_verdict(const struct unwind_checker *c);

#endif
