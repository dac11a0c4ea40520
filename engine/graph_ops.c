/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What each call becomes under a model: its ops, and the direct edges into them.
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

struct entry_key {
    uint32_t dir, name;
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

/* ---- edges that several kinds of op have ---- */

static bool journalled(const struct builder *b)
{
    return b->model.names == NAMES_JOURNAL;
}

/* The op goes into the journal now, after what is there. */
static void into_journal(struct builder *b, uint32_t op)
{
    if (!journalled(b) || b->model.program_order)
        return;
    builder_edge(b, b->journal, RULE_JOURNAL);
    b->journal = b->journal_at.at[op] = op;
}

/* Contents become findable only with the inode, where a sync of the file also keeps that; and what
 * is allocated or sized anew enters the journal after a truncation, which did at the call. */
static void after_creation(struct builder *b, const struct inode *inode)
{
    if (b->model.sync != SYNC_JOURNAL)
        return;
    builder_edge(b, inode->created, RULE_CREATED);
    builder_edge(b, inode->resized, RULE_FILE);
}

/* An alloc or size of a file whose allocations and sizes keep their order. */
static void in_file_order(struct builder *b, struct inode *inode, uint32_t op)
{
    after_creation(b, inode);
    if (b->model.new_in_order)
        builder_edge(b, inode->sized, RULE_FILE);
    inode->sized = op;
    inode->changed = inode->changed_data = op;
}

/* Where all calls on a file's contents keep their order. */
static void after_calls(struct builder *b, const struct inode *inode)
{
    if (b->model.file_in_order && inode->called != NO_OP)
        for (uint32_t from = inode->called_first; from <= inode->called; from++)
            builder_edge(b, from, RULE_FILE);
}

/* … and the op is the last call from now on. */
static void in_call_order(struct builder *b, struct inode *inode, uint32_t op)
{
    after_calls(b, inode);
    inode->called_first = inode->called = op;
    if (inode->journalled.n)
        vec_push(&inode->journalled, op);
}

/* Where a sync of the file carries its contents past the journal, it carries what follows too. */
static void contents_journalled(struct builder *b, struct inode *inode, uint32_t op)
{
    into_journal(b, op);
    if (b->model.sync == SYNC_OWN_NAME && !inode->journalled.n)
        vec_push(&inode->journalled, op);
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
    else if (!b->model.size_after_data)
        in_file_order(b, inode, data);
    builder_edge(b, at.last, RULE_BLOCK);
    if (b->model.new_in_order) {
        if (inode->new_data.n)
            builder_edge(b, vec_last(&inode->new_data), RULE_NEW_DATA);
        vec_push(&inode->new_data, data);
    }
    if (b->model.size_after_data) {
        after_creation(b, inode);
        inode->changed = inode->changed_data = data;
    }
    block_set(b, file, p->offset / OP_BLOCK_SIZE, data, BLOCK_ALLOCATED | BLOCK_NEW);
}

/* The length that a piece makes the file have, as an op of its own. */
static void write_size(struct builder *b, uint32_t file, const struct piece *p, uint32_t data)
{
    struct inode *inode = builder_inode(b, file);
    struct op op = {.kind = OP_SIZE, .file = file, .size = p->offset + p->length};
    uint32_t size = builder_op(b, op);
    if (data != NO_OP)
        builder_edge(b, data, RULE_DATA_FIRST);
    in_file_order(b, inode, size);
    if (b->model.size_after_data)
        vec_push(&inode->growths, (struct growth){size, p->offset});
    /* Under ext4 the size of an append inside a block is journalled at the call; xfs logs it when
     * the data is written. */
    if (!b->model.size_after_data)
        into_journal(b, size);
}

/* An append into a block whose allocation may not be on the disk yet goes as new blocks do. Only a
 * sync of the file tells that it is: when something else committed it, it still counts as new. */
static bool alloc_pending(const struct builder *b, const struct inode *inode, struct block at)
{
    return (at.state & BLOCK_NEW) && at.last >= inode->synced && at.last >= b->synced;
}

static uint32_t write_over(struct builder *b, uint32_t file, const struct piece *p,
                           struct block at)
{
    uint32_t data = builder_op(b, data_op(file, p));
    builder_edge(b, at.last, RULE_BLOCK);
    unsigned still_new = alloc_pending(b, builder_inode(b, file), at) ? BLOCK_NEW : 0;
    block_set(b, file, p->offset / OP_BLOCK_SIZE, data, BLOCK_ALLOCATED | still_new);
    return data;
}

static void write_piece(struct builder *b, uint32_t file, const struct piece *p)
{
    struct block at = block_find(b, file, p->offset / OP_BLOCK_SIZE);
    bool fresh = !(at.state & BLOCK_ALLOCATED);
    const struct inode *inode = builder_inode(b, file);
    if (fresh || (b->model.new_in_order && p->extends && alloc_pending(b, inode, at))) {
        write_new(b, file, p, at);
        if (p->extends && b->model.size_after_data)
            write_size(b, file, p, (uint32_t)b->ops.n - 1);
        return;
    }
    if (p->extends && !b->model.size_after_data) {
        write_size(b, file, p, NO_OP);
        write_over(b, file, p, at);
    } else {
        uint32_t data = write_over(b, file, p, at);
        if (p->extends)
            write_size(b, file, p, data);
    }
}

/* One op for the whole call, with its length. */
static void write_whole(struct builder *b, uint32_t file, const struct piece *p)
{
    struct inode *inode = builder_inode(b, file);
    struct op op = data_op(file, p);
    op.flags = p->extends ? OP_EXTENDS : 0;
    uint32_t data = builder_op(b, op);
    uint32_t before = NO_OP;
    in_call_order(b, inode, data);
    if (p->extends && b->model.new_in_order) {
        builder_edge(b, inode->sized, RULE_NEW_DATA);
        inode->sized = data;
    }
    for (uint64_t k = p->offset / OP_BLOCK_SIZE; k * OP_BLOCK_SIZE < p->offset + p->length; k++) {
        struct block at = block_find(b, file, k);
        if (at.last != before && !b->model.file_in_order)
            builder_edge(b, at.last, RULE_BLOCK);
        before = at.last;
        block_set(b, file, k, data, BLOCK_ALLOCATED);
    }
    if (p->extends)
        inode->changed = inode->changed_data = data;
}

/* A first write whose blocks may persist one without the other: each extends the file to its own
 * end, and what comes after the call waits for all of them. */
static void write_holes(struct builder *b, uint32_t file, const struct piece *whole)
{
    struct inode *inode = builder_inode(b, file);
    uint32_t first = (uint32_t)b->ops.n, op = NO_OP;
    for (uint64_t at = whole->offset; at < whole->offset + whole->length;) {
        uint64_t end = (at / OP_BLOCK_SIZE + 1) * OP_BLOCK_SIZE;
        uint64_t last = whole->offset + whole->length;
        struct piece p = {at, (end < last ? end : last) - at, whole->payload, true};
        if (p.payload != PAYLOAD_ZEROS)
            p.payload += at - whole->offset;
        struct op data = data_op(file, &p);
        data.flags = OP_EXTENDS;
        op = builder_op(b, data);
        after_calls(b, inode);
        if (inode->journalled.n)
            vec_push(&inode->journalled, op);
        block_set(b, file, at / OP_BLOCK_SIZE, op, BLOCK_ALLOCATED);
        at += p.length;
    }
    inode->called_first = first;
    inode->called = op;
    inode->changed = inode->changed_data = op;
}

static void contents_write(struct builder *b)
{
    const struct event *e = &b->event;
    struct inode *inode = builder_inode(b, e->file);
    uint64_t end = e->offset + e->size;
    struct piece whole = {e->offset, e->size, e->payload, end > inode->length};
    if (b->model.first_write_holes && inode->length == 0 && e->offset == 0 &&
        e->size > OP_BLOCK_SIZE)
        write_holes(b, e->file, &whole);
    else if (b->model.whole_calls)
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

/* A length that a call sets waits for the data below it that sizes wait for. */
static void after_growths(struct builder *b, struct inode *inode, uint64_t length)
{
    for (size_t i = 0; i < inode->growths.n; i++)
        if (inode->growths.at[i].offset < length)
            builder_edge(b, inode->growths.at[i].size, RULE_DATA_FIRST);
    inode->growths.n = 0;
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
        builder_edge(b, at.last, RULE_BLOCK);
        block_set(b, file, length / OP_BLOCK_SIZE, zero, at.state);
        inode = builder_inode(b, file);
    }
    struct op op = {.kind = OP_SIZE, .file = file, .size = length};
    uint32_t size = builder_op(b, op);
    in_call_order(b, inode, size);
    in_file_order(b, inode, size);
    after_growths(b, inode, length);
    contents_journalled(b, inode, size);
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

/* Punch, zero, collapse, insert: what the blocks hold is written first; one op does it all. */
static void change_range(struct builder *b)
{
    const struct event *e = &b->event;
    struct inode *inode = builder_inode(b, e->file);
    bool shifts = builder_shifts(e);
    uint64_t end = shifts ? inode->length : e->offset + e->size;
    uint64_t stop = end < inode->length ? end : inode->length;
    struct op op = {.kind = OP_RANGE, .file = e->file, .offset = e->offset, .length = e->size};
    uint32_t range = builder_op(b, op), before = NO_OP;
    in_call_order(b, inode, range);
    in_file_order(b, inode, range);
    after_growths(b, inode, UINT64_MAX);
    contents_journalled(b, inode, range);
    inode->resized = range;
    for (uint64_t k = e->offset / OP_BLOCK_SIZE; k * OP_BLOCK_SIZE < stop; k++) {
        struct block at = block_find(b, e->file, k);
        if (at.last != before && !b->model.file_in_order)
            builder_edge(b, at.last, RULE_RANGE);
        before = at.last;
        bool inner = k * OP_BLOCK_SIZE >= e->offset && (k + 1) * OP_BLOCK_SIZE <= end;
        unsigned state = !inner || shifts ? at.state : 0;
        block_set(b, e->file, k, range, state);
    }
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

/* ---- names ---- */

/* The entry's last change comes first; this op is its last from now on. */
static void touch_entry(struct builder *b, uint32_t dir, uint32_t name, uint32_t op)
{
    if (!dir)
        return;
    struct entry_key key = {dir, name};
    uint64_t *last = map_put(&b->entries, &key, sizeof key, NULL);
    builder_edge(b, (uint32_t)*last - 1, RULE_ENTRY);
    *last = (uint64_t)op + 1;
    struct inode *parent = builder_inode(b, dir);
    /* Where a sync of a directory keeps its entries and no more, its own name may be lost after
     * that, and what it holds with it. */
    if (b->model.sync != SYNC_OWN_ENTRIES)
        builder_edge(b, parent->created, RULE_PARENT);
    if (b->model.names == NAMES_SAME_FILE)
        builder_edge(b, parent->last_name, RULE_JOURNAL);
    /* Entries are what a directory holds: fdatasync of it is fsync. */
    parent->changed = parent->changed_data = parent->last_name = op;
    vec_push(&parent->entries, op);
}

/* A directory that goes was emptied before. */
static void after_entries(struct builder *b, uint32_t dir)
{
    struct inode *inode = builder_inode(b, dir);
    for (size_t i = 0; i < inode->entries.n; i++)
        builder_edge(b, inode->entries.at[i], RULE_ENTRY);
}

static bool makes_file(const struct event *e)
{
    return e->call == CALL_OPEN || e->call == CALL_MKDIR || e->call == CALL_MKNOD ||
           e->call == CALL_SYMLINK || (e->traits & EVENT_MOVED_IN);
}

static bool gives_name(const struct event *e)
{
    return makes_file(e) || e->call == CALL_LINK || e->call == CALL_RENAME;
}

/* Names of one file in order, where that is the rule. Contents are no names. */
static void file_names(struct builder *b, uint32_t file, uint32_t op)
{
    struct inode *inode = builder_inode(b, file);
    if (b->model.names == NAMES_SAME_FILE)
        builder_edge(b, inode->last_name, RULE_JOURNAL);
    inode->changed = inode->last_name = op;
}

static void own_inode(struct builder *b, uint32_t op)
{
    const struct event *e = &b->event;
    struct inode *inode = builder_inode(b, e->file);
    if (makes_file(e)) {
        inode->created = op;
        if (e->traits & EVENT_MOVED_IN)
            inode->length = e->size;
    } else
        builder_edge(b, inode->created, RULE_ENTRY);
    struct given_name name = {op, e->dir, e->name};
    if (e->call == CALL_RENAME)
        name = (struct given_name){op, e->other_dir, e->other_name};
    if (gives_name(e) && name.dir)
        vec_push(&inode->names, name);
    file_names(b, e->file, op);
}

/* Whether the event changes names at all. */
static bool changes_names(const struct event *e)
{
    switch (e->call) {
    case CALL_OPEN:
        return (e->traits & EVENT_CREATED) && e->name;
    case CALL_RENAME:
    case CALL_LINK:
    case CALL_SYMLINK:
    case CALL_UNLINK:
    case CALL_MKDIR:
    case CALL_RMDIR:
    case CALL_MKNOD:
    case CALL_CHMOD:
        return e->file != 0;
    default:
        return false;
    }
}

void builder_names(struct builder *b)
{
    const struct event *e = &b->event;
    if (!changes_names(e))
        return;
    bool no_op = e->call == CALL_RENAME && e->file == e->other; /* two names of one file */
    if (no_op)
        return;
    uint32_t op = builder_op(b, (struct op){.kind = OP_NAME, .file = e->file});
    if (e->call == CALL_RENAME && e->other && b->model.rename_allocates)
        builder_edge(b, builder_inode(b, e->file)->sized, RULE_RENAME_OVER);
    if (e->call == CALL_RMDIR)
        after_entries(b, e->file);
    if (e->call != CALL_CHMOD)
        touch_entry(b, e->dir, e->name, op);
    if (e->call == CALL_RENAME)
        touch_entry(b, e->other_dir, e->other_name, op);
    own_inode(b, op);
    if (e->other)
        file_names(b, e->other, op);
    into_journal(b, op);
}

/* ---- copies that a sync carries ---- */

/* It has the effect of the event that issued the original, wherever the sync comes from. */
static uint32_t copy_op(struct builder *b, uint32_t original)
{
    struct op op = b->ops.at[original];
    uint64_t event = op.event;
    op.flags |= OP_CARRIED;
    op.carried = original;
    uint32_t copy = builder_op(b, op);
    b->ops.at[copy].event = event;
    b->covered.at[copy] = b->event.exit;
    vec_push(&b->carried, copy);
    return copy;
}

/* What stands for an op from now on: its copy when it has one. */
static uint32_t copy_of(const struct builder *b, uint32_t op)
{
    const uint64_t *copy = map_get(&b->copies, &op, sizeof op);
    return copy ? (uint32_t)*copy : op;
}

static void set_copy(struct builder *b, uint32_t original, uint32_t copy)
{
    *map_put(&b->copies, &original, sizeof original, NULL) = copy;
}

/* The original's edges but for those of one rule; edges.at may move meanwhile. */
static void copy_edges(struct builder *b, uint32_t original, enum model_rule but)
{
    for (uint32_t i = b->first.at[original]; i < builder_edges_end(b, original); i++) {
        struct graph_edge edge = b->edges.at[i];
        if (edge.rule != (uint32_t)but)
            builder_edge(b, copy_of(b, edge.from), (enum model_rule)edge.rule);
    }
}

uint32_t builder_carry_data(struct builder *b, uint32_t original, uint32_t previous)
{
    uint32_t copy = copy_op(b, original);
    copy_edges(b, original, RULE_NEW_DATA);
    builder_edge(b, previous, RULE_NEW_DATA);
    set_copy(b, original, copy);
    const struct op *op = &b->ops.at[original];
    struct block at = block_find(b, op->file, op->offset / OP_BLOCK_SIZE);
    if (at.last == original)
        block_set(b, op->file, op->offset / OP_BLOCK_SIZE, copy, at.state);
    return copy;
}

bool builder_is_last(struct builder *b, uint32_t op)
{
    const struct op *data = &b->ops.at[op];
    struct block at = block_find(b, data->file, data->offset / OP_BLOCK_SIZE);
    return at.last == op && (at.state & BLOCK_ALLOCATED);
}

void builder_settle(struct builder *b, uint32_t op)
{
    const struct op *data = &b->ops.at[op];
    uint64_t number = data->offset / OP_BLOCK_SIZE;
    struct block at = block_find(b, data->file, number);
    if (at.state & BLOCK_NEW)
        block_set(b, data->file, number, at.last, BLOCK_ALLOCATED);
}

void builder_carry_journalled(struct builder *b, struct inode *inode, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t original = inode->journalled.at[i];
        uint32_t copy = copy_op(b, original);
        copy_edges(b, original, RULE_JOURNAL);
        set_copy(b, original, copy);
    }
    if (n && n == inode->journalled.n) {
        inode->called_first = copy_of(b, inode->called_first);
        inode->called = copy_of(b, inode->called);
    }
    for (size_t i = n; i < inode->journalled.n; i++)
        inode->journalled.at[i - n] = inode->journalled.at[i];
    inode->journalled.n -= n;
}

bool builder_is_current(const struct builder *b, const struct given_name *name)
{
    struct entry_key key = {name->dir, name->name};
    const uint64_t *last = map_get(&b->entries, &key, sizeof key);
    return last && (uint32_t)*last - 1 == name->op;
}

static bool of_entry(struct graph_edge edge)
{
    return edge.rule == RULE_PARENT || edge.rule == RULE_ENTRY;
}

void builder_carry_names(struct builder *b, const uint32_t *names, size_t n)
{
    vec_of(uint32_t) todo = {0}, found = {0};
    for (size_t i = 0; i < n; i++)
        vec_push(&todo, names[i]);
    while (todo.n) {
        uint32_t op = todo.at[--todo.n];
        bool added;
        map_put(&b->copies, &op, sizeof op, &added);
        if (!added)
            continue;
        vec_push(&found, op);
        for (uint32_t i = b->first.at[op]; i < builder_edges_end(b, op); i++)
            if (of_entry(b->edges.at[i]))
                vec_push(&todo, b->edges.at[i].from);
    }
    if (found.n)
        qsort(found.at, found.n, sizeof *found.at, op_by_number);
    uint32_t previous = NO_OP;
    for (size_t k = 0; k < found.n; k++) {
        uint32_t original = found.at[k], copy = copy_op(b, original);
        builder_edge(b, previous, RULE_JOURNAL);
        for (uint32_t i = b->first.at[original]; i < builder_edges_end(b, original); i++)
            if (of_entry(b->edges.at[i]))
                builder_edge(b, copy_of(b, b->edges.at[i].from),
                             (enum model_rule)b->edges.at[i].rule);
        set_copy(b, original, copy);
        previous = copy;
    }
    vec_free(&todo);
    vec_free(&found);
}
