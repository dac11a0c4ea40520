/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * guest: a process that runs inside a tracer of stores, from the recorder's side (tracer/stores.h
 * says how the two talk).
 *
 * The tracer's records are taken from the process's memory at every stop and become events before
 * the stop itself is looked at. Calls of a guest count only when the tracer announced them: the
 * others are the tracer's own. The stack of an announced call is the announced one.
 *
 * The program shares its memory with the tracer, and may have damaged what is read here: nothing in
 * a record is trusted.
 */
#ifndef TRACER_GUEST_H
#define TRACER_GUEST_H

#include "tracer/tracee.h"

struct guest;

/* A tracer has begun in the thread's process (STORES_HELLO) and keeps its ring at this address. */
void guest_begins(struct tracer *t, struct thread *th, uint64_t address);
/* The parent's guest as its forked child has it. NULL for NULL. */
struct guest *guest_copy(struct tracer *t, const struct guest *parent, struct process *child);
void guest_free(struct tracer *t, struct guest *guest);

/* Takes what the tracers have written: of the thread's process, and of those that store to the same
 * files. The process may go on when it is done; what was taken becomes events with guest_tell. */
void guest_take(struct tracer *t, struct thread *th);
void guest_tell(struct tracer *t);

/* Whether the call that the thread is about to make is the one announced. Then it gets the number
 * and the arguments that the program gave. */
bool guest_is_announced(struct tracer *t, struct thread *th);

/* The process's mappings have changed: its tracer learns what to look for. */
void guest_look_for(struct tracer *t, struct thread *th);

/* guest_records.c: one record of a guest, as events. bytes: what follows it, all there. False when
 * it makes no sense. */
struct stores_record;
bool guest_record(struct tracer *t, struct guest *g, const struct stores_record *r,
                  const void *bytes);

/* What guest_records.c needs to know of it. */
struct guest {
    struct process *process;
    uint64_t address;       /* of struct stores_shared in the process */
    uint64_t taken;         /* bytes taken from the ring so far */
    uint64_t position;      /* in the ring's row of bytes: what `waiting` begins with */
    struct buf waiting;     /* taken, not yet told */
    size_t told;            /* of waiting */
    pid_t tid;              /* who did what the next records tell, */
    uint32_t thread;        /* and the same as a number of the recording */
    size_t mapping;         /* the one that was touched last */
    vec_of(uint32_t) stack; /* the tracer's stack numbers, divided by 4, to the recording's */
    bool damaged;
};

#endif
