/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * state_block: what one block of a file holds. A block never changes: writing into one makes
 * another, which says what is different and keeps a reference to the one below. Its bytes are
 * found again from there whenever they are wanted; those used lately are kept. A block of nothing
 * but zeros is NULL.
 */
#ifndef ENGINE_STATE_BLOCK_H
#define ENGINE_STATE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/op.h"
#include "engine/state.h"

struct state_block;

/* Blocks with bytes at hand, those used last in front. Zero it but for source to begin. */
struct state_blocks {
    const struct state_source *source;
    struct state_block *first, *last;
    size_t n;
};

struct state_block *block_ref(struct state_block *b);
void block_unref(struct state_blocks *all, struct state_block *b);

/* A block like base (NULL: zeros), but with `length` bytes at `at` from the payload. The caller
 * owns a reference to *out, which is NULL when nothing but zeros is left. */
bool block_patch(struct state_blocks *all, struct state_block *base, uint32_t at, uint32_t length,
                 uint64_t payload, struct state_block **out, struct error *e);

/* A block with these OP_BLOCK_SIZE bytes, which it keeps for good. */
struct state_block *block_of_bytes(const unsigned char *bytes);

/* All OP_BLOCK_SIZE bytes of a block that is not NULL. Valid until the next call of this module. */
const unsigned char *block_bytes(struct state_blocks *all, struct state_block *b, struct error *e);

/* The hash of the first `length` bytes, the rest being taken as zeros: 0, 0 when all are. */
bool block_hash(struct state_blocks *all, struct state_block *b, uint32_t length,
                struct state_hash *out, struct error *e);

#endif
