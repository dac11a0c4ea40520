/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-or-later
 *
 * stores: how a tracer of stores, which runs inside the program (tracer/valgrind), and the
 * recorder, which runs outside (tracer/guest.h), talk to each other.
 *
 * Who says what. System calls are seen by the recorder itself, by ptrace, as without a tracer:
 * everything that it knows of inodes, offsets and names holds. The tracer adds what only it can
 * see: stores, flushes and fences with their stacks; and before each system call of the program
 * that the recorder watches, the program's stack and the arguments that the program gave (the
 * tracer makes calls of its own, which are not the program's, and may make others in its place).
 *
 * How. The tracer writes records into a ring in its own memory, struct stores_shared. The recorder
 * reads it with process_vm_readv at every stop, before it looks at the call that stopped: so all
 * that was stored before a call stands before it in the trace. When the ring is full, or when the
 * recorder must look at once, the tracer makes a system call that does not exist, STORES_CALL,
 * which stops it as any watched call does. No descriptor, no pipe and no file is needed that the
 * program could see.
 *
 * Between processes. Each has a ring of its own; a counter in memory that all of them share
 * (--clock) gives every record its place among those of the others.
 *
 * The header needs nothing but <stdint.h>, so that a tracer without a C library can include it.
 */
#ifndef TRACER_STORES_H
#define TRACER_STORES_H

#include <stdint.h>

#include "engine/stream.h"

#define STORES_VERSION UINT64_C(1)

/* rdi: enum stores_reason; rsi: the address of struct stores_shared. */
#define STORES_CALL 26220

enum stores_reason {
    STORES_HELLO = 1, /* the tracer begins; nothing of the program has run */
    STORES_FULL,      /* the ring has no room left; the tracer may go on as soon as it has */
    STORES_LOOK,      /* mappings changed: regions must be right before the tracer goes on */
};

enum {
    STORES_RING = 1 << 20, /* bytes; a power of two */
    STORES_REGIONS_MAX = 256,
    STORES_SYSCALLS = 512,
    STORES_WIDEST = 64,      /* no single access has more bytes, but for whole register files */
    STORES_SLACK = 1024,     /* nor have those (xsave with AVX) */
    STORES_FRAMES_MAX = 500, /* what Valgrind unwinds at most */
    STORES_PIECE = 32 << 10, /* longer ranges that the kernel wrote come in several records */
};

enum stores_kind {
    STORES_PAD,    /* the rest of the ring up to its end has no meaning */
    STORES_THREAD, /* what follows was done by the thread whose kernel number is `address` */
    STORES_STACK,  /* stack number `stack` of this process is: size bytes of addresses, uint64_t,
                      innermost first; all but the first are return addresses */
    STORES_STORE,  /* address, size and the bytes; flags STORE_* */
    STORES_LOAD,   /* address, size */
    STORES_FLUSH,  /* address; flags FLUSH_* */
    STORES_FENCE,  /* flags FENCE_* */
    STORES_CALL_BEGINS, /* address: a system call's number; its six arguments */
    STORES_CALL_ENDS,   /* address: its number; its result as one uint64_t */
    STORES_MARK,        /* flags MARK_*; address, and a uint64_t: how many bytes from there */
    STORES_UNKNOWN,     /* address of an instruction that the tracer cannot run; its bytes */
};

/* Followed by what its kind says, padded to a multiple of eight bytes. */
struct stores_record {
    uint8_t kind;
    uint8_t flags;
    uint16_t size;
    uint32_t stack; /* 0: not known */
    uint64_t sequence;
    uint64_t address;
};

struct stores_region {
    uint64_t start, end;
};

struct stores_shared {
    uint64_t version;
    uint64_t head; /* bytes that the tracer has ever written */
    uint64_t tail; /* bytes that the recorder has ever taken */

    /* From the recorder: where an access matters. One at address a may touch a region only when
     * a - low < span (unsigned; STORES_SLACK is in it). Regions are sorted and do not overlap, but
     * may hold more than they should. */
    uint64_t low, span;
    uint64_t region_count;
    struct stores_region regions[STORES_REGIONS_MAX];
    uint8_t watched[STORES_SYSCALLS / 8]; /* system calls to announce, a bit each */

    uint8_t ring[STORES_RING];
};

#endif
