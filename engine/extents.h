/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * extents: the contents of a file as pieces, each a range of the file and the place where its
 * bytes are kept. What no piece covers is a hole and reads as zeros. Pieces never overlap.
 *
 * A balanced tree by offset: every operation costs O(log n) in the number of pieces, besides the
 * pieces that it removes, copies or adds. Moving everything behind an offset (insert, collapse)
 * is O(log n) too.
 *
 * Offsets and sizes lie below EXTENTS_END, and so do their sums: the caller sees to that.
 */
#ifndef ENGINE_EXTENTS_H
#define ENGINE_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXTENTS_END (UINT64_C(1) << 63)

struct extent_node;

/* Zero it to begin: a file that is one hole. */
struct extents {
    struct extent_node *root;
};

struct extent {
    uint64_t offset, size; /* in the file */
    uint64_t payload;      /* as in engine/stream.h; PAYLOAD_ZEROS: allocated, all zeros */
    uint64_t from;         /* where in the payload the piece begins; 0 for PAYLOAD_ZEROS */
};

void extents_free(struct extents *x);

/* The range becomes `size` bytes of payload, beginning `from` bytes into it. */
void extents_write(struct extents *x, uint64_t offset, uint64_t size, uint64_t payload,
                   uint64_t from);

/* The range becomes a hole. */
void extents_clear(struct extents *x, uint64_t offset, uint64_t size);

/* Everything from offset on becomes a hole. */
void extents_cut(struct extents *x, uint64_t offset);

/* The holes in the range become zeros that are allocated. */
void extents_allocate(struct extents *x, uint64_t offset, uint64_t size);

/* Takes the range out; what lies behind moves down. */
void extents_collapse(struct extents *x, uint64_t offset, uint64_t size);

/* What lies at offset and behind moves up by size, leaving a hole; what would pass EXTENTS_END is
 * lost. */
void extents_insert(struct extents *x, uint64_t offset, uint64_t size);

/* The piece that holds offset, or else the first one behind it; false when there is none. */
bool extents_find(const struct extents *x, uint64_t offset, struct extent *out);

#endif
