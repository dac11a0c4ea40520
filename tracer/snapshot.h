/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * snapshot: the memory of a stopped thread, word by word, with few system calls.
 *
 * The top of the stack is copied at once; what lies elsewhere (deep stacks, the stack that a
 * signal interrupted) is fetched in a second window when it is asked for. A snapshot is worth
 * nothing once the thread runs on.
 */
#ifndef TRACER_SNAPSHOT_H
#define TRACER_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* At most so much at a time. 4 KiB hold too few frames of large C++ programs; 16 KiB nearly always
 * do. */
enum { SNAPSHOT_WINDOW = 16 * 1024 };

struct snapshot_window {
    uint64_t start;
    size_t size; /* readable bytes from start; 0: the window is empty */
    unsigned char bytes[SNAPSHOT_WINDOW];
};

/* Zero it once; taking it again and again lets it learn how much of a stack is read. */
struct snapshot {
    pid_t tid;
    size_t reach;  /* how far above the stack pointer the last stacks were read, or a bit more */
    uint64_t used; /* and how far this one */
    struct snapshot_window stack, other;
};

/* Other bytes of the thread that are wanted at the same time: one system call instead of two, which
 * cost more than the bytes. */
struct snapshot_along {
    uint64_t address;
    void *bytes;
    size_t size;
    bool taken; /* set when all of them could be read */
};

/* Copies the stack from sp upwards, about as much as was of use in the snapshots before; along may
 * be NULL. Never fails: what cannot be read is simply not there. */
void snapshot_take(struct snapshot *s, pid_t tid, uint64_t sp, struct snapshot_along *along);

/* The eight bytes at address; false when the thread could not read them either. */
bool snapshot_word(struct snapshot *s, uint64_t address, uint64_t *value);

#endif
