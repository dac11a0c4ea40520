/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What each call on contents becomes under a model: its ops, and the direct edges into them.
 */
#include "engine/graph_inside.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks: who touched one last, and whether it is allocated ---- */

struct block_key {
    uint64_t block;
    uint64_t file;
};

/* A map's value: the last op on the block + 1, what it is, and the inode's epoch then. */
enum {
    BLOCK_ALLOCATED = 1,
    BLOCK_NEW = 2, /* … by an op that may not be on the disk yet */
};

struct block {
    uint32_t last; /* NO_OP */
    unsigned state;
};

static uint64_t block_pack(uint32_t last, unsigned state, uint32_t epoch)
{
    enum { STATE_SHIFT = 32, EPOCH_SHIFT = 34 };
    return (uint64_t)(last + 1) | (uint64_t)state << STATE_SHIFT | (uint64_t)epoch << EPOCH_SHIFT;
}

/* Whether a truncation has freed the block since the epoch. */
static bool block_cut(const struct inode *inode, uint64_t block, uint32_t epoch)
{
    size_t low = 0, high = inode->cuts.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (inode->cuts.at[middle].epoch > epoch)
            high = middle;
        else
            low = middle + 1;
    }
    return low < inode->cuts.n && inode->cuts.at[low].block <= block;
}

static struct block block_find(struct builder *b, uint32_t file, uint64_t number)
{
    const struct inode *inode = builder_inode(b, file);
    struct block_key key = {number, file};
    uint64_t *value = map_get(&b->blocks, &key, sizeof key);
    struct block found = {NO_OP, 0};
    uint32_t epoch = 0;
    if (value) {
        found.last = (uint32_t)*value - 1;
        found.state = (unsigned)(*value >> 32) & 3;
        epoch = (uint32_t)(*value >> 34);
    } else if (b->source->has_block(b->source->data, file, number))
        found.state = BLOCK_ALLOCATED;
    if (block_cut(inode, number, epoch))
        found.state = 0;
    return found;
}

static void block_set(struct builder *b, uint32_t file, uint64_t number, uint32_t last,
                      unsigned state)
{
    struct block_key key = {number, file};
    uint32_t epoch = builder_inode(b, file)->epoch;
    *map_put(&b->blocks, &key, sizeof key, NULL) = block_pack(last, state, epoch);
}

/* Blocks from this one on are free now. */
static void cut_blocks(struct inode *inode, uint64_t block)
{
    while (inode->cuts.n && vec_last(&inode->cuts).block >= block)
        inode->cuts.n--;
    vec_push(&inode->cuts, (struct cut){++inode->epoch, block});
}

uint32_t builder_block_last(struct builder *b, uint32_t file, uint64_t block)
{
    return block_find(b, file, block).last;
}

/* ---- edges that several kinds of op have ---- */

static bool journalled(const struct builder *b)
{
    return b->model.names == NAMES_JOURNAL;
}

void builder_into_journal(struct builder *b, uint32_t op)
{
    if (!journalled(b) || b->model.program_order)
        return;
    builder_edge(b, b->journal, RULE_JOURNAL);
    b->journal = b->journal_at.at[op] = op;
    builder_committed(b, op);
}

/* What is allocated or sized anew enters the journal at some time after the call: after what is
 * there by then, the file's creation and truncations among it. Later names need not wait for it. */
static void after_journal(struct builder *b, const struct inode *inode)
{
    if (b->model.sync != SYNC_JOURNAL)
        return;
    builder_edge(b, inode->created, RULE_CREATED);
    builder_edge(b, inode->resized, RULE_FILE);
    builder_edge(b, b->journal, RULE_JOURNAL);
}

/* An alloc or size of a file whose allocations and sizes keep their order. */
static void in_file_order(struct builder *b, struct inode *inode, uint32_t op)
{
    after_journal(b, inode);
    if (b->model.new_in_order)
        builder_edge(b, inode->sized, RULE_FILE);
    inode->sized = op;
    builder_changed(b, inode, op);
}

/* Where a sync keeps a file's contents whatever the journal has: they wait for what was cut or
 * moved before, and not for names. */
static void after_resize(struct builder *b, const struct inode *inode)
{
    if (b->model.sync == SYNC_OWN_NAME)
        builder_edge(b, inode->resized, RULE_FILE);
}

/* A change of contents that is journalled at the call; there, the names that follow wait for it. */
static void contents_journalled(struct builder *b, uint32_t op)
{
    if (b->model.sync == SYNC_OWN_NAME) {
        vec_push(&b->resizes, op);
        builder_committed(b, op);
    } else
        builder_into_journal(b, op);
}

/* A change of bytes of a block follows the last one, and stores to the same place. */
static void after_last(struct builder *b, uint32_t last, enum model_rule rule)
{
    const struct op *op = &vec_last(&b->ops);
    builder_edge(b, last, rule);
    builder_after_stores(b, op->file, op->offset, op->length, rule);
}

bool builder_store_into(struct builder *b, uint32_t file, uint64_t block, uint32_t since)
{
    struct block at = block_find(b, file, block);
    bool allocated = at.state & BLOCK_ALLOCATED;
    if (at.last != NO_OP && at.last >= since)
        builder_edge(b, at.last, RULE_BLOCK);
    if (!allocated) {
        after_journal(b, builder_inode(b, file));
        after_resize(b, builder_inode(b, file));
        block_set(b, file, block, at.last, BLOCK_ALLOCATED);
    }
    return allocated;
}

/* ---- writes ---- */

/* A part of a write that lies in one block, or all of it. */
struct piece {
    uint64_t offset, length, payload;
    bool extends;
};

static struct op data_op(uint32_t file, const struct piece *p)
{
    return (struct op){.kind = OP_DATA,
                       .file = file,
                       .offset = p->offset,
                       .length = p->length,
                       .payload = p->payload,
                       .size = p->offset + p->length};
}

/* Into a block that has no data yet: it is allocated, then written. */
static void write_new(struct builder *b, uint32_t file, const struct piece *p, struct block at)
{
    struct inode *inode = builder_inode(b, file);
    uint32_t alloc = NO_OP;
    if (b->model.alloc_shows) {
        struct op op = {.kind = OP_ALLOC, .file = file, .length = OP_BLOCK_SIZE};
        op.offset = p->offset - p->offset % OP_BLOCK_SIZE;
        op.size = p->offset + p->length;
        op.flags = p->extends ? OP_EXTENDS : 0;
        alloc = builder_op(b, op);
        in_file_order(b, inode, alloc);
    }
    struct op op = data_op(file, p);
    if (!b->model.alloc_shows && !b->model.size_after_data)
        op.flags = p->extends ? OP_EXTENDS : 0;
    uint32_t data = builder_op(b, op);
    if (alloc != NO_OP)
        builder_edge(b, alloc, RULE_ALLOC);
    else if (!b->model.size_after_data) {
        /* Data and allocation are one; a ranged sync takes a later block past an earlier one. */
        after_journal(b, inode);
        inode->sized = data;
        builder_changed(b, inode, data);
        vec_push(&inode->new_data, data);
    }
    after_last(b, at.last, RULE_BLOCK);
    if (b->model.size_after_data) {
        after_journal(b, inode);
        builder_changed(b, inode, data);
    }
    block_set(b, file, p->offset / OP_BLOCK_SIZE, data, BLOCK_ALLOCATED | BLOCK_NEW);
}

/* Whether the block's allocation may not be on the disk yet. Only a sync of the file tells that it
 * is: when something else committed it, it still counts as new. */
static bool alloc_pending(const struct builder *b, const struct inode *inode, struct block at)
{
    return (at.state & BLOCK_NEW) && at.last >= inode->synced && at.last >= b->synced;
}

/* What the block is after one op more on it. */
static unsigned state_after(const struct builder *b, const struct inode *inode, struct block at)
{
    return alloc_pending(b, inode, at) ? at.state : at.state & BLOCK_ALLOCATED;
}

/* The length that a piece makes the file have, as an op of its own. */
static void write_size(struct builder *b, uint32_t file, const struct piece *p, uint32_t data,
                       bool pending)
{
    struct inode *inode = builder_inode(b, file);
    struct op op = {.kind = OP_SIZE, .file = file, .size = p->offset + p->length};
    uint32_t size = builder_op(b, op);
    if (data != NO_OP)
        builder_edge(b, data, RULE_DATA_FIRST);
    in_file_order(b, inode, size);
    if (b->model.size_after_data)
        vec_push(&inode->growths, (struct growth){size, p->offset});
    /* Under ext4 the size of an append inside a block is journalled at the call, or when the block
     * is allocated if it is not yet; xfs logs it when the data is written. */
    if (!b->model.size_after_data && !pending)
        builder_into_journal(b, size);
}

static uint32_t write_over(struct builder *b, uint32_t file, const struct piece *p, struct block at)
{
    uint32_t data = builder_op(b, data_op(file, p));
    after_last(b, at.last, RULE_BLOCK);
    unsigned state = state_after(b, builder_inode(b, file), at);
    block_set(b, file, p->offset / OP_BLOCK_SIZE, data, BLOCK_ALLOCATED | state);
    return data;
}

/* Whether a write at the offset first fills the file's last block with zeros. */
static bool fills_last_block(const struct inode *inode, uint64_t offset)
{
    return inode->length % OP_BLOCK_SIZE && offset > inode->length;
}

static bool is_unsynced(const struct builder *b, const struct inode *inode, uint32_t op)
{
    return op != NO_OP && op >= inode->synced && op >= b->synced;
}

static void fly(struct builder *b, struct inode *inode, uint32_t data)
{
    inode->flying_more = is_unsynced(b, inode, inode->flying);
    inode->flying = data;
}

/* A new length that comes with other data than that of its own write. */
static void size_alone(struct builder *b, uint32_t file, uint64_t length)
{
    struct op op = {.kind = OP_SIZE, .flags = OP_EXTENDS, .file = file, .size = length};
    builder_op(b, op);
    after_resize(b, builder_inode(b, file));
}

/* The new length may come with data of an earlier write, of several with any, or with the last
 * block that a write past the end has filled. */
static void size_with_other(struct builder *b, uint32_t file, uint64_t offset, uint64_t length)
{
    struct inode *inode = builder_inode(b, file);
    bool flying = is_unsynced(b, inode, inode->flying);
    if (fills_last_block(inode, offset))
        inode->filled = (uint32_t)b->ops.n;
    bool filled = is_unsynced(b, inode, inode->filled);
    if (!flying && !filled)
        return;
    size_alone(b, file, length);
    if (!filled && !inode->flying_more)
        builder_edge(b, inode->flying, RULE_DATA_FIRST);
}

/* Data with the length that the file gets by it, or has by then. */
static struct op data_with_length(struct builder *b, uint32_t file, const struct piece *p)
{
    struct op op = data_op(file, p);
    uint64_t length = builder_inode(b, file)->length;
    op.flags = p->extends || b->model.size_with_any ? OP_EXTENDS : 0;
    op.size = p->extends || op.size > length ? op.size : length;
    return op;
}

/* Where blocks are written elsewhere and found once they are: one op has the data, and the length
 * that the file gets with it. */
static void write_elsewhere(struct builder *b, uint32_t file, const struct piece *p)
{
    struct inode *inode = builder_inode(b, file);
    struct block at = block_find(b, file, p->offset / OP_BLOCK_SIZE);
    if (p->extends)
        size_with_other(b, file, p->offset, p->offset + p->length);
    uint32_t data = builder_op(b, data_with_length(b, file, p));
    after_resize(b, inode);
    after_last(b, at.last, RULE_BLOCK);
    block_set(b, file, p->offset / OP_BLOCK_SIZE, data, BLOCK_ALLOCATED);
    fly(b, inode, data);
    if (p->extends)
        builder_changed(b, inode, data);
}

static void write_piece(struct builder *b, uint32_t file, const struct piece *p)
{
    struct block at = block_find(b, file, p->offset / OP_BLOCK_SIZE);
    bool pending = alloc_pending(b, builder_inode(b, file), at);
    if (b->model.size_with_any)
        write_elsewhere(b, file, p);
    else if (!(at.state & BLOCK_ALLOCATED)) {
        write_new(b, file, p, at);
        if (p->extends && b->model.size_after_data)
            write_size(b, file, p, (uint32_t)b->ops.n - 1, pending);
    } else if (p->extends && !b->model.size_after_data) {
        write_size(b, file, p, NO_OP, pending);
        write_over(b, file, p, at);
    } else {
        uint32_t data = write_over(b, file, p, at);
        if (p->extends)
            write_size(b, file, p, data, pending);
        else
            b->ops.at[data].flags |= OP_IN_PLACE;
    }
}

/* A write past the end first fills the last block with zeros; where a size follows the data that is
 * written, that block alone may come, and be counted to its end. */
static void fill_last_block(struct builder *b, uint32_t file, uint64_t offset)
{
    const struct inode *inode = builder_inode(b, file);
    uint64_t length = inode->length, end = length - length % OP_BLOCK_SIZE + OP_BLOCK_SIZE;
    if (!b->model.size_after_data || !fills_last_block(inode, offset))
        return;
    struct piece p = {.offset = length, .length = (end < offset ? end : offset) - length};
    write_size(b, file, &p, block_find(b, file, length / OP_BLOCK_SIZE).last, false);
    vec_last(&b->ops).flags |= OP_EXTENDS;
}

/* One op for the whole call, with its length. */
static void write_whole(struct builder *b, uint32_t file, const struct piece *p)
{
    struct inode *inode = builder_inode(b, file);
    uint32_t data = builder_op(b, data_with_length(b, file, p));
    uint32_t before = NO_OP;
    after_resize(b, inode);
    if (p->extends && b->model.new_in_order) {
        builder_edge(b, inode->sized, RULE_NEW_DATA);
        inode->sized = data;
    }
    for (uint64_t k = p->offset / OP_BLOCK_SIZE; k * OP_BLOCK_SIZE < p->offset + p->length; k++) {
        struct block at = block_find(b, file, k);
        if (at.last != before)
            builder_edge(b, at.last, RULE_BLOCK);
        before = at.last;
        block_set(b, file, k, data, BLOCK_ALLOCATED);
    }
    builder_after_stores(b, file, p->offset, p->length, RULE_BLOCK);
    if (p->extends)
        builder_changed(b, inode, data);
    fly(b, inode, data);
}

/* Whether a write persists as a whole: by the model, or because it overwrites blocks none of which
 * waits to be written. One that meets such a block is taken up again behind it. */
static bool is_whole(struct builder *b, const struct piece *p)
{
    const struct event *e = &b->event;
    bool whole = b->model.whole_calls || (b->model.size_with_any && !p->extends);
    for (uint64_t k = p->offset / OP_BLOCK_SIZE;
         whole && !b->model.whole_calls && k * OP_BLOCK_SIZE < p->offset + p->length; k++) {
        struct block at = block_find(b, e->file, k);
        whole = (at.state & BLOCK_ALLOCATED) && !is_unsynced(b, builder_inode(b, e->file), at.last);
    }
    return whole;
}

static void contents_write(struct builder *b)
{
    const struct event *e = &b->event;
    struct inode *inode = builder_inode(b, e->file);
    uint64_t end = e->offset + e->size;
    inode->written = true;
    struct piece whole = {e->offset, e->size, e->payload, end > inode->length};
    fill_last_block(b, e->file, e->offset);
    if (is_whole(b, &whole))
        write_whole(b, e->file, &whole);
    else
        for (uint64_t at = e->offset; at < end;) {
            uint64_t stop = (at / OP_BLOCK_SIZE + 1) * OP_BLOCK_SIZE;
            stop = stop < end ? stop : end;
            struct piece p = {at, stop - at, e->payload, false};
            p.extends = stop > builder_inode(b, e->file)->length;
            if (p.payload != PAYLOAD_ZEROS)
                p.payload += at - e->offset;
            write_piece(b, e->file, &p);
            inode = builder_inode(b, e->file);
            if (p.extends)
                inode->length = stop;
            at = stop;
        }
    inode = builder_inode(b, e->file);
    if (end > inode->length)
        inode->length = end;
}

/* ---- lengths and ranges ---- */

/* What a call does at once waits for the data in its range that sizes wait for. A growth lies in
 * the file's last block or behind it, so they ascend by blocks; the range begins with one. */
static void after_growths(struct builder *b, struct inode *inode, uint64_t from, uint64_t to)
{
    size_t low = inode->growths_gone, high = inode->growths.n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (inode->growths.at[middle].offset < from)
            low = middle + 1;
        else
            high = middle;
    }
    size_t kept = low, next = low;
    uint64_t behind = (to - 1) / OP_BLOCK_SIZE;
    for (; next < inode->growths.n; next++) {
        struct growth growth = inode->growths.at[next];
        if (growth.offset / OP_BLOCK_SIZE > behind)
            break;
        if (growth.offset < to)
            builder_edge(b, growth.size, RULE_DATA_FIRST);
        else
            inode->growths.at[kept++] = growth;
    }
    if (kept == next)
        return;
    if (kept == inode->growths_gone) { /* as in a log that is punched from its front */
        inode->growths_gone = next;
        return;
    }
    memmove(inode->growths.at + kept, inode->growths.at + next,
            (inode->growths.n - next) * sizeof *inode->growths.at);
    inode->growths.n -= next - kept;
}

static void set_length(struct builder *b, uint32_t file, uint64_t length)
{
    struct inode *inode = builder_inode(b, file);
    uint64_t old = inode->length;
    if (length == old)
        return;
    uint64_t tail = length % OP_BLOCK_SIZE;
    if (length < old && tail && b->model.tail_shows) {
        struct block at = block_find(b, file, length / OP_BLOCK_SIZE);
        uint64_t block_end = length - tail + OP_BLOCK_SIZE;
        struct op op = {.kind = OP_ZERO, .file = file, .offset = length};
        op.length = (block_end < old ? block_end : old) - length;
        uint32_t zero = builder_op(b, op);
        after_last(b, at.last, RULE_BLOCK);
        block_set(b, file, length / OP_BLOCK_SIZE, zero, state_after(b, inode, at));
        inode = builder_inode(b, file);
    }
    struct op op = {.kind = OP_SIZE, .file = file, .size = length};
    uint32_t size = builder_op(b, op);
    after_resize(b, inode);
    if (b->model.size_with_any && tail) /* what the last block holds is written first */
        builder_edge(b, block_find(b, file, length / OP_BLOCK_SIZE).last, RULE_RANGE);
    in_file_order(b, inode, size);
    after_growths(b, inode, 0, length);
    inode->growths.n = inode->growths_gone = 0; /* the rest is cut off */
    contents_journalled(b, size);
    inode->resized = size;
    if (length < old)
        cut_blocks(inode, (length + OP_BLOCK_SIZE - 1) / OP_BLOCK_SIZE);
    inode->length = length;
}

bool builder_shifts(const struct event *e)
{
    return e->flags & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE);
}

bool builder_changes_range(const struct event *e)
{
    return builder_shifts(e) || (e->flags & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE));
}

/* Whether an op is a write to more than the blocks of a range. */
static bool is_wider(const struct builder *b, uint32_t op, uint64_t from, uint64_t to)
{
    const struct op *data = op == NO_OP ? NULL : &b->ops.at[op];
    return data && data->kind == OP_DATA &&
           (data->offset / OP_BLOCK_SIZE < from / OP_BLOCK_SIZE ||
            (data->offset + data->length - 1) / OP_BLOCK_SIZE > (to - 1) / OP_BLOCK_SIZE);
}

/* Punch, zero, collapse, insert: what the blocks hold is written first, which may tear a write that
 * is whole otherwise; one op does it all. */
static void change_range(struct builder *b)
{
    const struct event *e = &b->event;
    struct inode *inode = builder_inode(b, e->file);
    bool shifts = builder_shifts(e);
    uint64_t end = shifts ? inode->length : e->offset + e->size;
    uint64_t stop = end < inode->length ? end : inode->length;
    struct op op = {.kind = OP_RANGE, .file = e->file, .offset = e->offset, .length = e->size};
    uint32_t range = builder_op(b, op), before = NO_OP;
    after_resize(b, inode);
    if (shifts || end > inode->length)
        in_file_order(b, inode, range);
    else { /* journalled at the call, whatever of other blocks waits to be allocated */
        after_journal(b, inode);
        builder_changed(b, inode, range);
    }
    after_growths(b, inode, e->offset - e->offset % OP_BLOCK_SIZE, shifts ? UINT64_MAX : end);
    contents_journalled(b, range);
    inode->resized = range;
    for (uint64_t k = e->offset / OP_BLOCK_SIZE; k * OP_BLOCK_SIZE < stop; k++) {
        struct block at = block_find(b, e->file, k);
        bool torn = b->model.size_with_any && is_wider(b, at.last, e->offset, end);
        if (at.last != before && !torn)
            builder_edge(b, at.last, RULE_RANGE);
        before = at.last;
        bool inner = k * OP_BLOCK_SIZE >= e->offset && (k + 1) * OP_BLOCK_SIZE <= end;
        unsigned state = !inner || shifts ? at.state & BLOCK_ALLOCATED : 0;
        block_set(b, e->file, k, range, state);
    }
    if (stop > e->offset)
        builder_after_stores(b, e->file, e->offset, stop - e->offset, RULE_RANGE);
    inode = builder_inode(b, e->file);
    if (e->flags & FALLOC_FL_COLLAPSE_RANGE)
        inode->length -= e->size < inode->length ? e->size : inode->length;
    else if (e->flags & FALLOC_FL_INSERT_RANGE)
        inode->length += e->size;
    else if (!(e->flags & FALLOC_FL_KEEP_SIZE) && e->offset + e->size > inode->length)
        inode->length = e->offset + e->size;
}

static void contents_fallocate(struct builder *b)
{
    const struct event *e = &b->event;
    if (builder_changes_range(e)) {
        change_range(b);
        return;
    }
    /* Plain allocation shows nothing but a new length. */
    uint64_t end = e->offset + e->size;
    if (!(e->flags & FALLOC_FL_KEEP_SIZE) && end > builder_inode(b, e->file)->length)
        set_length(b, e->file, end);
}

void builder_contents(struct builder *b)
{
    const struct event *e = &b->event;
    switch (e->call) {
    case CALL_WRITE:
    case CALL_COPY:
        if (e->size)
            contents_write(b);
        break;
    case CALL_TRUNCATE:
        set_length(b, e->file, e->size);
        break;
    case CALL_OPEN:
        if (e->traits & EVENT_TRUNCATED)
            set_length(b, e->file, 0);
        break;
    case CALL_FALLOCATE:
        contents_fallocate(b);
        break;
    default:
        break;
    }
}

void builder_settle(struct builder *b, uint32_t op)
{
    const struct op *data = &b->ops.at[op];
    uint64_t number = data->offset / OP_BLOCK_SIZE;
    struct block at = block_find(b, data->file, number);
    if (at.state & BLOCK_NEW)
        block_set(b, data->file, number, at.last, BLOCK_ALLOCATED);
}
