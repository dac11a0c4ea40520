/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * op: the smallest thing that persists as a unit. A model (model.h) makes ops from events; the
 * graph (graph.h) says which must persist before which; a state (state.h) is what a set of them
 * leaves behind.
 *
 * Ops are numbered from 0 in the order in which they were issued: by their event's entry, and
 * inside an event in a fixed order. Edges never point backwards in it.
 */
#ifndef ENGINE_OP_H
#define ENGINE_OP_H

#include <stdint.h>

/* What real file systems allocate, write and tear by. Not BLOCK_SIZE: <linux/fs.h> has that. */
enum { OP_BLOCK_SIZE = 4096 };

enum op_kind {
    OP_NAME = 1, /* a change of directory entries or of an inode's mode: the event says which */
    OP_SIZE,     /* the file's length becomes `size`; with OP_EXTENDS: at least that, with
                    other data than that of its own write */
    OP_ALLOC,    /* a new block at `offset`, which reads as zeros; may set the length */
    OP_DATA,     /* `length` bytes at `offset` become those of `payload`; may set the length */
    OP_ZERO,     /* `length` bytes at `offset` become zeros: the tail of a truncated file */
    OP_RANGE,    /* fallocate that moves or frees blocks (punch, zero, collapse, insert): the event
                    says which; one op for the whole call */
    OP_STORE,    /* `length` bytes at `offset`, stored through a mapping, become those of `payload`:
                    as OP_DATA, but within one cache line or page */
};

enum {
    OP_EXTENDS = 1 << 0,    /* the length becomes at least `size` */
    OP_CARRIED = 1 << 1,    /* a copy that a sync carried past an edge: original is in `carried` */
    OP_IN_PLACE = 1 << 2,   /* over a block that is there: nothing else of the file changes */
    OP_PAST_CACHE = 1 << 3, /* OP_STORE by a non-temporal store */
    OP_PAGED = 1 << 4,      /* OP_STORE that goes with its page, not with its cache line */
    OP_REPLACED = 1 << 5,   /* OP_NAME of a rename over a file: no more than that file's name goes;
                               the rename itself is in `carried` */
};

struct op {
    uint64_t event;   /* the event whose effect it is; for a copy, that of its original */
    uint64_t offset;  /* in the file */
    uint64_t length;  /* in bytes: within one block, unless the model keeps whole calls together */
    uint64_t size;    /* OP_SIZE: the new length; with OP_EXTENDS: the least length */
    uint64_t payload; /* OP_DATA, OP_STORE: where its first byte is kept (stream.h), or
                         PAYLOAD_ZEROS */
    uint32_t file;    /* the inode */
    uint32_t carried; /* OP_CARRIED: the op that it is a copy of; OP_REPLACED: the rename */
    uint8_t kind;
    uint8_t flags;
};

/* What op numbers that mean "none" look like. */
#define NO_OP UINT32_MAX

/* What it is a copy of, or itself. */
static inline uint32_t op_original(const struct op *ops, uint32_t op)
{
    return ops[op].flags & OP_CARRIED ? ops[op].carried : op;
}

/* For qsort() of op numbers. */
static inline int op_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

#endif
