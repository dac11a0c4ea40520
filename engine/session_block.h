/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * session_block: how event chunks and payload packs are packed into blobs, for both sides of a
 * session file. A block is one zstd frame that states its content size and carries a checksum;
 * data that does not compress is stored plainly by zstd itself.
 *
 * Before compression the records of a chunk become columns of 8-byte words, each word less the
 * one of the record before: positions and times grow steadily and most other words repeat.
 */
#ifndef ENGINE_SESSION_BLOCK_H
#define ENGINE_SESSION_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/buf.h"
#include "engine/stream.h"

struct packer;   /* what compressing needs, kept from block to block */
struct unpacker; /* likewise for reading */

struct packer *packer_new(void);
void packer_free(struct packer *p);

/* The block's bytes replace what is in out. count is at most EVENTS_PER_CHUNK, size PACK_SIZE. */
bool packer_events(struct packer *p, const struct event *records, size_t count, struct buf *out);
bool packer_bytes(struct packer *p, const void *bytes, size_t size, struct buf *out);

struct unpacker *unpacker_new(void);
void unpacker_free(struct unpacker *u);

/* False when the block is not exactly count records or size bytes, or is damaged. Never writes or
 * allocates more than that. */
bool unpacker_events(struct unpacker *u, const void *block, size_t block_size,
                     struct event *records, size_t count);
bool unpacker_bytes(struct unpacker *u, const void *block, size_t block_size, void *bytes,
                    size_t size);

#endif
