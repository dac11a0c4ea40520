/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Contents of files. Blocks of zeros are not there, so nothing here costs more than the data that
 * is, however large the ranges.
 */
#include "engine/state_inside.h"

#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>

#include "engine/extents.h"
#include "engine/mem.h"

/* Blocks */

size_t leaf_from(const struct state_file *f, uint64_t block)
{
    size_t low = 0, high = f->leaves.n;
    if (high && f->leaves.at[high - 1]->first + LEAF_BLOCKS <= block)
        return high; /* appending */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->leaves.at[middle]->first + LEAF_BLOCKS <= block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct state_leaf *leaf_find(const struct state_file *f, uint64_t block)
{
    size_t i = leaf_from(f, block);
    return i < f->leaves.n && f->leaves.at[i]->first <= block ? f->leaves.at[i] : NULL;
}

static struct state_leaf *leaf_get(struct state_file *f, uint64_t block)
{
    size_t i = leaf_from(f, block);
    if (i < f->leaves.n && f->leaves.at[i]->first <= block)
        return f->leaves.at[i];
    struct state_leaf *leaf = xcalloc(1, sizeof *leaf);
    leaf->first = block - block % LEAF_BLOCKS;
    vec_push(&f->leaves, leaf);
    memmove(&f->leaves.at[i + 1], &f->leaves.at[i], (f->leaves.n - 1 - i) * sizeof f->leaves.at[0]);
    f->leaves.at[i] = leaf;
    return leaf;
}

static struct state_block *block_get(const struct state_file *f, uint64_t block)
{
    const struct state_leaf *leaf = leaf_find(f, block);
    return leaf ? leaf->blocks[block - leaf->first] : NULL;
}

/* The first block from this one on that is there. */
static bool block_next(const struct state_file *f, uint64_t from, uint64_t *out)
{
    for (size_t i = leaf_from(f, from); i < f->leaves.n; i++) {
        const struct state_leaf *leaf = f->leaves.at[i];
        unsigned slot = from > leaf->first ? (unsigned)(from - leaf->first) : 0;
        for (; slot < LEAF_BLOCKS; slot++) {
            if (leaf->blocks[slot]) {
                *out = leaf->first + slot;
                return true;
            }
        }
    }
    return false;
}

static uint32_t in_sight(uint64_t size, uint64_t block)
{
    uint64_t start = block * OP_BLOCK_SIZE;
    return size <= start                  ? 0
           : size - start < OP_BLOCK_SIZE ? (uint32_t)(size - start)
                                          : OP_BLOCK_SIZE;
}

uint32_t block_in_sight(const struct state_file *f, uint64_t block)
{
    return in_sight(f->size, block);
}

/* What a block adds to the sum of a file of that size. */
static bool block_item(struct state *s, uint64_t number, struct state_block *block, uint64_t size,
                       struct state_hash *out, struct error *e)
{
    if (!block_hash(&s->blocks, block, in_sight(size, number), out, e))
        return false;
    *out = hash_block_at(number, *out);
    return true;
}

static void put_block(struct state *s, struct state_file *f, uint64_t number,
                      struct state_block *block)
{
    struct state_leaf *leaf = leaf_get(f, number);
    leaf->blocks[number - leaf->first] = block;
    touch_block(s, f, leaf, (unsigned)(number - leaf->first));
}

bool change_block(struct state *s, struct state_file *f, uint64_t number, struct state_block *block,
                  struct error *e)
{
    struct state_block *old = block_get(f, number);
    struct state_hash before, after;
    if (old == block) {
        block_unref(&s->blocks, block);
        return true;
    }
    if (!block_item(s, number, old, f->size, &before, e) ||
        !block_item(s, number, block, f->size, &after, e)) {
        block_unref(&s->blocks, block);
        return false;
    }
    vec_push(&s->undo, (struct undo){UNDO_BLOCK, f, number, {.block = old}, f->sum});
    put_block(s, f, number, block);
    f->sum = hash_add(hash_subtract(f->sum, before), after);
    hash_file_changed(s, f);
    return true;
}

void undo_block(struct state *s, const struct undo *u)
{
    block_unref(&s->blocks, block_get(u->file, u->value));
    put_block(s, u->file, u->value, u->block);
    u->file->sum = u->sum;
    hash_file_changed(s, u->file);
}

/* Blocks that come into sight, go out of it, or are cut, when a size becomes another. */
static bool next_affected(const struct state_file *f, uint64_t a, uint64_t b, uint64_t from,
                          uint64_t *out)
{
    uint64_t first = (a < b ? a : b) / OP_BLOCK_SIZE, end = a < b ? b : a;
    return block_next(f, from > first ? from : first, out) && *out * OP_BLOCK_SIZE < end;
}

static void touch_affected(struct state *s, struct state_file *f, uint64_t a, uint64_t b)
{
    for (uint64_t at = 0; next_affected(f, a, b, at, &at); at++) {
        struct state_leaf *leaf = leaf_find(f, at);
        touch_block(s, f, leaf, (unsigned)(at - leaf->first));
    }
    touch_file(s, f);
}

bool change_size(struct state *s, struct state_file *f, uint64_t size, struct error *e)
{
    struct state_hash sum = f->sum;
    if (size == f->size)
        return true;
    for (uint64_t at = 0; next_affected(f, f->size, size, at, &at); at++) {
        struct state_hash before, after;
        struct state_block *block = block_get(f, at);
        if (!block_item(s, at, block, f->size, &before, e) ||
            !block_item(s, at, block, size, &after, e))
            return false;
        sum = hash_add(hash_subtract(sum, before), after);
    }
    vec_push(&s->undo, (struct undo){UNDO_SIZE, f, f->size, {NULL}, f->sum});
    touch_affected(s, f, f->size, size);
    f->size = size;
    f->sum = sum;
    hash_file_changed(s, f);
    return true;
}

void undo_size(struct state *s, const struct undo *u)
{
    struct state_file *f = u->file;
    touch_affected(s, f, f->size, u->value);
    f->size = u->value;
    f->sum = u->sum;
    hash_file_changed(s, f);
}

/* Ranges */

static bool range_ok(const struct state_file *f, uint64_t offset, uint64_t length, struct error *e)
{
    if (offset < EXTENTS_END && length < EXTENTS_END - offset)
        return true;
    return error_set(e, "file %u cannot reach from %llu for %llu bytes: the session is damaged",
                     f->number, (unsigned long long)offset, (unsigned long long)length);
}

/* Bytes of one block become those of the payload. */
static bool patch(struct state *s, struct state_file *f, uint64_t number, uint32_t at,
                  uint32_t length, uint64_t payload, struct error *e)
{
    struct state_block *block, *old = block_get(f, number);
    return block_patch(&s->blocks, old, at, length, payload, &block, e) &&
           change_block(s, f, number, block, e);
}

static bool write_zeros(struct state *s, struct state_file *f, uint64_t offset, uint64_t length,
                        struct error *e)
{
    uint64_t end = offset + length;
    for (uint64_t k = offset / OP_BLOCK_SIZE; block_next(f, k, &k) && k * OP_BLOCK_SIZE < end;
         k++) {
        uint64_t start = k * OP_BLOCK_SIZE;
        uint32_t at = offset > start ? (uint32_t)(offset - start) : 0;
        uint32_t stop = end - start < OP_BLOCK_SIZE ? (uint32_t)(end - start) : OP_BLOCK_SIZE;
        if (!patch(s, f, k, at, stop - at, PAYLOAD_ZEROS, e))
            return false;
    }
    return true;
}

bool data_write(struct state *s, struct state_file *f, uint64_t offset, uint64_t length,
                uint64_t payload, struct error *e)
{
    if (!range_ok(f, offset, length, e))
        return false;
    if (payload == PAYLOAD_ZEROS)
        return write_zeros(s, f, offset, length, e);
    for (uint64_t end = offset + length; offset < end;) {
        uint32_t at = offset % OP_BLOCK_SIZE, n = OP_BLOCK_SIZE - at;
        if (n > end - offset)
            n = (uint32_t)(end - offset);
        if (!patch(s, f, offset / OP_BLOCK_SIZE, at, n, payload, e))
            return false;
        offset += n;
        payload += n;
    }
    return true;
}

bool data_extend(struct state *s, struct state_file *f, uint64_t size, struct error *e)
{
    return range_ok(f, 0, size, e) && (size <= f->size || change_size(s, f, size, e));
}

bool data_resize(struct state *s, struct state_file *f, uint64_t size, struct error *e)
{
    return range_ok(f, 0, size, e) && write_zeros(s, f, size, EXTENTS_END - 1 - size, e) &&
           change_size(s, f, size, e);
}

/* Moving what lies behind an offset. Blocks are taken out first, with their places, and put back
 * into where they go: as they are when the shift is of whole blocks, otherwise byte by byte. */
struct taken {
    uint64_t number;
    struct state_block *block; /* a reference */
};

struct shift {
    vec_of(struct taken) taken;
    uint64_t from; /* the first byte that moves */
    uint64_t to;   /* where it goes */
};

static bool take_out(struct state *s, struct state_file *f, struct shift *shift, struct error *e)
{
    for (uint64_t k = shift->from / OP_BLOCK_SIZE; block_next(f, k, &k); k++)
        vec_push(&shift->taken, (struct taken){k, block_ref(block_get(f, k))});
    uint64_t low = shift->from < shift->to ? shift->from : shift->to;
    return write_zeros(s, f, low, EXTENTS_END - 1 - low, e);
}

static bool put_bytes(struct state *s, struct state_file *f, uint64_t offset,
                      const unsigned char *bytes, uint32_t length, struct error *e)
{
    while (length) {
        uint64_t number = offset / OP_BLOCK_SIZE;
        uint32_t at = offset % OP_BLOCK_SIZE,
                 n = OP_BLOCK_SIZE - at < length ? OP_BLOCK_SIZE - at : length;
        unsigned char whole[OP_BLOCK_SIZE] = {0};
        struct state_block *old = block_get(f, number);
        const unsigned char *below = old ? block_bytes(&s->blocks, old, e) : NULL;
        if (old && !below)
            return false;
        if (below)
            memcpy(whole, below, OP_BLOCK_SIZE);
        memcpy(whole + at, bytes, n);
        if (!change_block(s, f, number, block_of_bytes(whole), e))
            return false;
        offset += n;
        bytes += n;
        length -= n;
    }
    return true;
}

static bool put_back(struct state *s, struct state_file *f, const struct shift *shift,
                     const struct taken *taken, struct error *e)
{
    uint64_t start = taken->number * OP_BLOCK_SIZE;
    uint32_t skip = shift->from > start ? (uint32_t)(shift->from - start) : 0;
    uint64_t to = shift->to + (start + skip - shift->from);
    if (to >= EXTENTS_END - OP_BLOCK_SIZE) /* past where any file can reach */
        return true;
    if (!skip && to % OP_BLOCK_SIZE == 0)
        return change_block(s, f, to / OP_BLOCK_SIZE, block_ref(taken->block), e);
    unsigned char bytes[OP_BLOCK_SIZE];
    const unsigned char *found = block_bytes(&s->blocks, taken->block, e);
    if (!found)
        return false;
    memcpy(bytes, found, OP_BLOCK_SIZE);
    return put_bytes(s, f, to, bytes + skip, OP_BLOCK_SIZE - skip, e);
}

static bool move_data(struct state *s, struct state_file *f, uint64_t from, uint64_t to,
                      struct error *e)
{
    struct shift shift = {.from = from, .to = to};
    bool ok = take_out(s, f, &shift, e);
    for (size_t i = 0; i < shift.taken.n; i++) {
        ok = ok && put_back(s, f, &shift, &shift.taken.at[i], e);
        block_unref(&s->blocks, shift.taken.at[i].block);
    }
    vec_free(&shift.taken);
    return ok;
}

static bool collapse(struct state *s, struct state_file *f, uint64_t offset, uint64_t length,
                     struct error *e)
{
    uint64_t end = offset + length, inside = 0;
    if (f->size > offset)
        inside = (f->size < end ? f->size : end) - offset;
    return move_data(s, f, end, offset, e) && change_size(s, f, f->size - inside, e);
}

static bool insert(struct state *s, struct state_file *f, uint64_t offset, uint64_t length,
                   struct error *e)
{
    uint64_t size = offset < f->size ? f->size + length : f->size;
    return range_ok(f, size, 0, e) && move_data(s, f, offset, offset + length, e) &&
           change_size(s, f, size, e);
}

bool data_range(struct state *s, struct state_file *f, const struct event *event, struct error *e)
{
    uint64_t offset = event->offset, length = event->size;
    if (!range_ok(f, offset, length, e))
        return false;
    if (event->flags & FALLOC_FL_COLLAPSE_RANGE)
        return collapse(s, f, offset, length, e);
    if (event->flags & FALLOC_FL_INSERT_RANGE)
        return insert(s, f, offset, length, e);
    if (event->flags & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE) &&
        !write_zeros(s, f, offset, length, e))
        return false;
    return (event->flags & FALLOC_FL_KEEP_SIZE) || data_extend(s, f, offset + length, e);
}
