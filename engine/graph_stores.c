/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What stores to mapped files become, and what flushes, fences and msync() make durable.
 *
 * The order in which the stores of all threads reached memory is that of the trace: the recorder
 * runs one thread at a time. Another run may have had another order, but this one was possible, and
 * so are the states that it could have left.
 *
 * `px86`: a store stays in its cache line until the line is flushed or the cache lets go of it, at
 * any time; then everything stored to the line by then goes. CLFLUSH has flushed when the next
 * instruction stores; CLFLUSHOPT and CLWB have when their thread's next fence has passed (SFENCE,
 * MFENCE, a LOCKed instruction). A system call is no fence: the kernel makes no such promise,
 * though most of its ways lead past one. A non-temporal store waits for its thread's fence, or for
 * a flush of its line, in no order but with stores to the same 8 bytes. More than 8 bytes are not
 * stored at once: each aligned 8 may come without the others. The file's blocks count as allocated
 * for good when they are stored to (MAP_SYNC, or a pool that was filled when it was made); its
 * length and name obey the model of the file system.
 *
 * `eadr`: what is in the caches survives, so that a store persists when it is made. Non-temporal
 * ones are in no cache, and wait as before.
 *
 * `pagecache`: the kernel writes a page at any time, with everything stored to it by then; it may
 * not change meanwhile (stable_pages). A page goes with the changes that write() and the like made
 * to its block. Stores behind the end of the file are never written.
 */
#include "engine/graph_inside.h"

#include <sys/mman.h>

enum { WORD = 8, SECTOR = 512 };

/* ---- which model a file is under ---- */

static void put_stores(struct builder *b, uint32_t file, enum model_stores stores)
{
    while (b->stores_of.n <= file)
        vec_push(&b->stores_of, STORES_PAGECACHE);
    b->stores_of.at[file] = (uint8_t)stores;
}

/* Looks through the whole run: a file that is flushed at its end is in persistent memory at its
 * beginning, too. Only runs that store to mapped files come here, once. */
bool builder_find_stores(struct builder *b, struct error *e)
{
    const struct graph_source *source = b->source;
    put_stores(b, 0, STORES_PAGECACHE);
    for (uint64_t i = 1; i <= source->events; i++) {
        struct event event;
        if (!source->event(source->data, i, &event, e) ||
            (i % INTERRUPT_EVERY == 0 && !interrupt_go_on(source->interrupt, e)))
            return false;
        bool maps_sync = event.call == CALL_MMAP && !(event.traits & EVENT_FAILED) &&
                         (event.flags & MAP_TYPE) == MAP_SHARED_VALIDATE &&
                         (event.flags & MAP_SYNC);
        if (event.call == CALL_FLUSH || maps_sync)
            put_stores(b, event.file, STORES_PX86);
    }
    return true;
}

static enum model_stores stores_of(const struct builder *b, uint32_t file)
{
    if (b->model.stores != STORES_AUTO)
        return b->model.stores;
    return file < b->stores_of.n ? b->stores_of.at[file] : STORES_PAGECACHE;
}

/* ---- cells ---- */

struct cell_key {
    uint64_t place, file;
};

static uint64_t cell_size(const struct builder *b, uint32_t file)
{
    if (stores_of(b, file) != STORES_PAGECACHE)
        return CACHE_LINE;
    return b->model.pages_change ? SECTOR : OP_BLOCK_SIZE;
}

static struct cell *cell_find(const struct builder *b, uint32_t file, uint64_t place)
{
    struct cell_key key = {place, file};
    const uint64_t *found = map_get(&b->cell_of, &key, sizeof key);
    return found ? &b->cells.at[*found] : NULL;
}

/* The cell, noted as dirty. */
static struct cell *cell_get(struct builder *b, uint32_t file, uint64_t place)
{
    struct cell_key key = {place, file};
    bool added;
    uint64_t *found = map_put(&b->cell_of, &key, sizeof key, &added);
    if (added) {
        *found = b->cells.n;
        vec_push(&b->cells, (struct cell){.place = place, .file = file});
        for (int w = 0; w < CACHE_LINE / WORD; w++)
            vec_last(&b->cells).words[w] = NO_OP;
    }
    struct cell *cell = &b->cells.at[*found];
    if (!cell->dirty)
        vec_push(&builder_inode(b, file)->dirty, (uint32_t)*found);
    cell->dirty = true;
    return cell;
}

/* The last op on it + 1: what comes later than that is news to it. */
static uint32_t cell_since(const struct cell *cell)
{
    uint32_t since = cell->count ? cell->first + cell->count : 0;
    for (int w = 0; w < CACHE_LINE / WORD; w++)
        if (cell->words[w] != NO_OP && cell->words[w] >= since)
            since = cell->words[w] + 1;
    return since;
}

static void after_cell(struct builder *b, const struct cell *cell, enum model_rule rule)
{
    for (uint32_t i = 0; i < cell->count; i++)
        builder_edge(b, cell->first + i, rule);
}

/* Whatever was stored to it is durable: the last ops are, and those before must be. */
static void cover_cell(struct builder *b, const struct cell *cell, uint64_t position)
{
    for (uint32_t i = 0; i < cell->count; i++)
        builder_cover(b, cell->first + i, position);
    for (int w = 0; w < CACHE_LINE / WORD; w++)
        if (cell->words[w] != NO_OP)
            builder_cover(b, cell->words[w], position);
}

/* ---- stores ---- */

static struct unfenced *thread_of(struct builder *b)
{
    while (b->threads.n <= b->event.thread)
        vec_push(&b->threads, (struct unfenced){0});
    return &b->threads.at[b->event.thread];
}

static uint32_t store_op(struct builder *b, uint64_t offset, uint64_t length, uint8_t flags)
{
    const struct event *e = &b->event;
    struct op op = {.kind = OP_STORE, .file = e->file, .offset = offset, .length = length};
    op.flags = flags;
    op.payload = e->payload == PAYLOAD_ZEROS ? PAYLOAD_ZEROS : e->payload + (offset - e->offset);
    return builder_op(b, op);
}

/* What is stored at once, of a store into one line. */
static void store_part(struct builder *b, struct cell *cell, const struct cell *before,
                       uint64_t offset, uint64_t length)
{
    const struct event *e = &b->event;
    bool past_cache = e->flags & STORE_NT, eadr = stores_of(b, e->file) == STORES_EADR;
    uint32_t op = store_op(b, offset, length, past_cache ? OP_PAST_CACHE : 0);
    if (!past_cache && !eadr)
        after_cell(b, before, RULE_LINE);
    for (uint64_t w = offset / WORD; w * WORD < offset + length; w++) {
        uint32_t *word = &cell->words[w % (CACHE_LINE / WORD)];
        if (*word != NO_OP && (past_cache || (b->ops.at[*word].flags & OP_PAST_CACHE)))
            builder_edge(b, *word, RULE_WORD);
        *word = op;
    }
    builder_store_into(b, e->file, offset / OP_BLOCK_SIZE, cell_since(before));
    if (past_cache)
        vec_push(&thread_of(b)->ops, op);
    else if (eadr)
        builder_cover(b, op, e->exit);
}

static void store_line(struct builder *b, struct cell *cell, uint64_t from, uint64_t to)
{
    struct cell before = *cell;
    uint32_t first = (uint32_t)b->ops.n;
    if (to - from <= WORD)
        store_part(b, cell, &before, from, to - from);
    else
        for (uint64_t at = from, stop; at < to; at = stop) {
            stop = at - at % WORD + WORD;
            stop = stop < to ? stop : to;
            store_part(b, cell, &before, at, stop - at);
        }
    if (!(b->event.flags & STORE_NT)) {
        cell->first = first;
        cell->count = (uint32_t)b->ops.n - first;
    }
}

static void store_page(struct builder *b, struct cell *cell, uint64_t from, uint64_t to)
{
    uint32_t op = store_op(b, from, to - from, OP_PAGED);
    after_cell(b, cell, RULE_PAGE);
    if (builder_store_into(b, b->event.file, from / OP_BLOCK_SIZE, cell_since(cell)))
        b->ops.at[op].flags |= OP_IN_PLACE;
    cell->first = op;
    cell->count = 1;
}

void builder_store(struct builder *b)
{
    const struct event *e = &b->event;
    uint64_t length = builder_inode(b, e->file)->length, end = e->offset + e->size;
    enum model_stores stores = stores_of(b, e->file);
    uint64_t size = cell_size(b, e->file);
    /* A LOCKed instruction is a fence, and then stores. */
    if (e->flags & STORE_LOCKED)
        builder_fence(b, e->entry - 1);
    end = end < length ? end : length;
    b->stores |= e->offset < end ? 1U << stores : 0;
    for (uint64_t at = e->offset, stop; at < end; at = stop) {
        stop = at - at % size + size;
        stop = stop < end ? stop : end;
        struct cell *cell = cell_get(b, e->file, at / size);
        if (stores == STORES_PAGECACHE)
            store_page(b, cell, at, stop);
        else
            store_line(b, cell, at, stop);
    }
}

void builder_after_stores(struct builder *b, uint32_t file, uint64_t offset, uint64_t length,
                          enum model_rule rule)
{
    if (file >= b->inodes.n || !b->inodes.at[file].dirty.cap || !length)
        return;
    uint64_t size = cell_size(b, file);
    for (uint64_t place = offset / size; place * size < offset + length; place++) {
        const struct cell *cell = cell_find(b, file, place);
        if (cell)
            after_cell(b, cell, rule);
        for (int w = 0; cell && w < CACHE_LINE / WORD; w++)
            if (cell->words[w] != NO_OP && (b->ops.at[cell->words[w]].flags & OP_PAST_CACHE))
                builder_edge(b, cell->words[w], rule);
    }
}

/* ---- flushes, fences, msync ---- */

void builder_flush(struct builder *b)
{
    const struct event *e = &b->event;
    if (stores_of(b, e->file) != STORES_PX86 || !e->size)
        return;
    for (uint64_t line = e->offset / CACHE_LINE; line * CACHE_LINE < e->offset + e->size; line++) {
        const struct cell *cell = cell_find(b, e->file, line);
        if (cell && e->flags == FLUSH_CLFLUSH)
            cover_cell(b, cell, e->exit);
        for (int w = 0; cell && e->flags != FLUSH_CLFLUSH && w < CACHE_LINE / WORD; w++)
            if (cell->words[w] != NO_OP)
                vec_push(&thread_of(b)->ops, cell->words[w]);
    }
}

void builder_fence(struct builder *b, uint64_t position)
{
    struct unfenced *thread = thread_of(b);
    for (size_t i = 0; i < thread->ops.n; i++)
        builder_cover(b, thread->ops.at[i], position);
    thread->ops.n = 0;
}

/* Covers the cells of a range, going through the range or through what is dirty in the file,
 * whichever is less. */
static void cover_range(struct builder *b, uint32_t file, uint64_t from, uint64_t to)
{
    struct inode *inode = builder_inode(b, file);
    uint64_t size = cell_size(b, file);
    if ((to - from) / size < inode->dirty.n) {
        for (uint64_t place = from / size; place * size < to; place++) {
            const struct cell *cell = cell_find(b, file, place);
            if (cell)
                cover_cell(b, cell, b->event.exit);
        }
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < inode->dirty.n; i++) {
        struct cell *cell = &b->cells.at[inode->dirty.at[i]];
        bool inside = cell->place * size < to && (cell->place + 1) * size > from;
        if (inside)
            cover_cell(b, cell, b->event.exit);
        else
            inode->dirty.at[kept++] = inode->dirty.at[i];
        cell->dirty = !inside;
    }
    inode->dirty.n = kept;
}

void builder_msync(struct builder *b)
{
    const struct event *e = &b->event;
    const struct inode *inode = builder_inode(b, e->file);
    uint64_t from = e->offset - e->offset % OP_BLOCK_SIZE;
    uint64_t to = e->offset + e->size < inode->length ? e->offset + e->size : inode->length;
    to += (OP_BLOCK_SIZE - to % OP_BLOCK_SIZE) % OP_BLOCK_SIZE;
    if (from >= to)
        return;
    cover_range(b, e->file, from, to);
    inode = builder_inode(b, e->file);
    for (uint64_t k = from / OP_BLOCK_SIZE; inode->written && k * OP_BLOCK_SIZE < to; k++) {
        uint32_t last = builder_block_last(b, e->file, k);
        if (last != NO_OP && b->returned.at[last] < e->entry)
            builder_cover(b, last, e->exit);
    }
    if (inode->resized != NO_OP && b->returned.at[inode->resized] < e->entry)
        builder_cover(b, inode->resized, e->exit);
}
