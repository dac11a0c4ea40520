/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The passes that make a graph: over the events, making ops and direct edges and noting syncs; over
 * the syncs, in the order in which they return; and backwards over the ops, because what must come
 * before something durable is durable.
 */
#include "engine/graph_inside.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct inode *builder_inode(struct builder *b, uint32_t file)
{
    while (b->inodes.n <= file)
        vec_push(&b->inodes, (struct inode){0});
    struct inode *inode = &b->inodes.at[file];
    if (!inode->known) {
        inode->known = true;
        inode->length = b->source->length(b->source->data, file);
        inode->created = inode->named = inode->sized = inode->new_data = NO_OP;
        inode->called = inode->changed = inode->changed_data = NO_OP;
    }
    return inode;
}

uint32_t builder_op(struct builder *b, struct op op)
{
    op.event = b->number;
    op.ordinal = b->ordinal++;
    uint32_t number = (uint32_t)b->ops.n;
    vec_push(&b->ops, op);
    vec_push(&b->issued, b->event.entry);
    vec_push(&b->returned, b->event.exit);
    vec_push(&b->covered, NEVER);
    vec_push(&b->journal_at, b->journal);
    vec_push(&b->first, (uint32_t)b->edges.n);
    if (b->model.program_order && number)
        builder_edge(b, number - 1, RULE_PROGRAM);
    return number;
}

void builder_edge(struct builder *b, uint32_t from, enum model_rule rule)
{
    uint32_t to = (uint32_t)b->ops.n - 1;
    if (from == NO_OP || from == to)
        return;
    for (size_t i = b->first.at[to]; i < b->edges.n; i++)
        if (b->edges.at[i].from == from)
            return;
    vec_push(&b->edges, (struct graph_edge){from, rule});
}

/* ---- syncs ---- */

/* The last change of the file that had returned when the sync began; a change under way at the
 * time promises nothing. */
static uint32_t last_change(const struct builder *b, uint32_t file, bool data_only)
{
    const struct inode *inode = &b->inodes.at[file];
    uint32_t op = data_only ? inode->changed_data : inode->changed;
    return op != NO_OP && b->returned.at[op] < b->event.entry ? op : NO_OP;
}

static void note_sync(struct builder *b, uint32_t file, uint32_t change)
{
    struct sync_point sync = {b->event.entry, b->event.exit, file, NO_OP};
    if (b->model.sync == SYNC_JOURNAL && change != NO_OP)
        sync.journal = b->journal_at.at[change];
    vec_push(&b->syncs, sync);
    if (file)
        builder_inode(b, file)->synced = (uint32_t)b->ops.n;
}

/* Names that a sync of the directory makes durable by themselves. */
static void sync_entries(struct builder *b, uint32_t dir)
{
    size_t kept = 0;
    for (size_t i = 0; i < builder_inode(b, dir)->entries.n; i++) {
        uint32_t op = builder_inode(b, dir)->entries.at[i];
        if (b->returned.at[op] >= b->event.entry)
            builder_inode(b, dir)->entries.at[kept++] = op;
        else if (b->model.sync == SYNC_OWN_NAME)
            builder_carry_name(b, op);
        else if (b->covered.at[op] > b->event.exit)
            b->covered.at[op] = b->event.exit;
    }
    builder_inode(b, dir)->entries.n = kept;
}

/* A sync of a file carries its own name. */
static void sync_name(struct builder *b, uint32_t file)
{
    uint32_t op = builder_inode(b, file)->named;
    if (op != NO_OP && b->returned.at[op] < b->event.entry)
        builder_carry_name(b, op);
}

static void sync_file(struct builder *b, bool data_only)
{
    uint32_t file = b->event.file;
    builder_inode(b, file);
    if (b->model.sync == SYNC_OWN_NAME || b->model.sync == SYNC_OWN_ENTRIES) {
        sync_entries(b, file);
        if (b->model.sync == SYNC_OWN_NAME)
            sync_name(b, file);
    }
    note_sync(b, file, last_change(b, file, data_only));
}

/* A write that returns durable: its own blocks, and what its file's change commits. */
static void sync_own_write(struct builder *b, uint32_t first, uint32_t pending_data)
{
    struct inode *inode = builder_inode(b, b->event.file);
    uint32_t end = (uint32_t)b->ops.n;
    bool changed = false;
    for (uint32_t op = first; op < end; op++) {
        /* Past blocks of the file that wait to be written: a copy goes alone. */
        if (b->ops.at[op].kind == OP_DATA && pending_data != NO_OP && b->model.new_in_order)
            builder_carry_data(b, op);
        else
            b->covered.at[op] = b->event.exit;
        changed |= b->ops.at[op].kind != OP_DATA || (b->ops.at[op].flags & OP_EXTENDS);
    }
    if (b->model.sync == SYNC_OWN_NAME)
        sync_name(b, b->event.file);
    if (b->model.sync == SYNC_JOURNAL && changed) {
        uint32_t journal = b->journal_at.at[inode->changed_data];
        if (journal != NO_OP && b->covered.at[journal] > b->event.exit)
            b->covered.at[journal] = b->event.exit;
    }
    if (b->model.sync == SYNC_EVERYTHING)
        note_sync(b, 0, NO_OP);
}

/* Data of new blocks that may be written later than what comes now. */
static uint32_t pending_new_data(struct builder *b, uint32_t file)
{
    const struct inode *inode = builder_inode(b, file);
    return inode->new_data != NO_OP && inode->new_data >= inode->synced ? inode->new_data : NO_OP;
}

/* sync_file_range writes blocks of a range ahead of others, and makes nothing durable. */
static void sync_range(struct builder *b)
{
    const struct event *e = &b->event;
    uint32_t last = pending_new_data(b, e->file);
    if (!b->model.new_in_order || last == NO_OP)
        return;
    uint64_t end = e->size ? e->offset + e->size : UINT64_MAX;
    const struct op *op = &b->ops.at[last];
    if (op->offset >= e->offset && op->offset < end && !(op->flags & OP_CARRIED)) {
        uint32_t copy = builder_carry_data(b, last);
        b->covered.at[copy] = NEVER;
    }
}

static void take_event(struct builder *b)
{
    const struct event *e = &b->event;
    b->ordinal = 0;
    if (e->traits & (EVENT_FAILED | EVENT_UNFINISHED))
        return;
    uint32_t first = (uint32_t)b->ops.n;
    switch (e->call) {
    case CALL_FSYNC:
        sync_file(b, false);
        break;
    case CALL_FDATASYNC:
        sync_file(b, true);
        break;
    case CALL_SYNC:
    case CALL_SYNCFS:
        note_sync(b, 0, NO_OP);
        break;
    case CALL_SYNC_RANGE:
        sync_range(b);
        break;
    default: {
        uint32_t pending = e->file ? pending_new_data(b, e->file) : NO_OP;
        builder_names(b);
        if (e->file)
            builder_contents(b);
        if ((e->traits & (EVENT_SYNC | EVENT_DSYNC)) && b->ops.n > first)
            sync_own_write(b, first, pending);
    }
    }
}

/* ---- durability ---- */

static int by_exit(const void *x, const void *y)
{
    const struct sync_point *a = x, *b = y;
    return a->exit < b->exit ? -1 : a->exit > b->exit;
}

static void cover(struct builder *b, uint32_t op, uint64_t exit)
{
    if (b->covered.at[op] > exit)
        b->covered.at[op] = exit;
}

/* Ops of contents by file, in issue order: file f's are by_file[start[f]] … */
struct by_file {
    uint32_t *start, *ops, *next;
};

static struct by_file sort_by_file(const struct builder *b)
{
    size_t files = b->inodes.n + 1;
    struct by_file s = {xcalloc(files + 1, sizeof *s.start), xcalloc(b->ops.n + 1, sizeof *s.ops),
                        xcalloc(files + 1, sizeof *s.next)};
    for (size_t i = 0; i < b->ops.n; i++)
        if (b->ops.at[i].kind != OP_NAME && !(b->ops.at[i].flags & OP_CARRIED))
            s.start[b->ops.at[i].file + 1]++;
    for (size_t f = 0; f < files; f++)
        s.start[f + 1] += s.start[f];
    memcpy(s.next, s.start, (files + 1) * sizeof *s.next);
    for (size_t i = 0; i < b->ops.n; i++)
        if (b->ops.at[i].kind != OP_NAME && !(b->ops.at[i].flags & OP_CARRIED))
            s.ops[s.next[b->ops.at[i].file]++] = (uint32_t)i;
    memcpy(s.next, s.start, (files + 1) * sizeof *s.next);
    return s;
}

/* Each op is covered by the first sync to return that began after it had returned. */
static void apply_syncs(struct builder *b)
{
    struct by_file s = sort_by_file(b);
    uint32_t all = 0;
    if (b->syncs.n)
        qsort(b->syncs.at, b->syncs.n, sizeof *b->syncs.at, by_exit);
    for (size_t i = 0; i < b->syncs.n; i++) {
        const struct sync_point *sync = &b->syncs.at[i];
        if (!sync->file || b->model.sync == SYNC_EVERYTHING) {
            for (; all < b->ops.n && b->returned.at[all] < sync->entry; all++)
                cover(b, all, sync->exit);
            continue;
        }
        if (sync->journal != NO_OP && b->returned.at[sync->journal] < sync->entry)
            cover(b, sync->journal, sync->exit);
        uint32_t *next = &s.next[sync->file];
        for (; *next < s.start[sync->file + 1] && b->returned.at[s.ops[*next]] < sync->entry;
             (*next)++)
            cover(b, s.ops[*next], sync->exit);
    }
    free(s.start);
    free(s.ops);
    free(s.next);
}

static struct graph *finish(struct builder *b)
{
    struct graph *g = xcalloc(1, sizeof *g);
    g->model = b->model;
    g->n = b->ops.n;
    vec_push(&b->first, (uint32_t)b->edges.n);
    g->ops = b->ops.at;
    g->issued = b->issued.at;
    g->durable = b->covered.at;
    g->first = b->first.at;
    g->edges = b->edges.at;
    g->lacking = xcalloc(g->n + 1, sizeof *g->lacking);
    for (size_t i = g->n; i-- > 0;)
        for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++)
            if (g->durable[g->edges[k].from] > g->durable[i])
                g->durable[g->edges[k].from] = g->durable[i];
    g->lacking[g->n] = NEVER;
    for (size_t i = g->n; i-- > 0;)
        g->lacking[i] = g->durable[i] < g->lacking[i + 1] ? g->durable[i] : g->lacking[i + 1];
    return g;
}

static void builder_free(struct builder *b, bool keep_arrays)
{
    for (size_t i = 0; i < b->inodes.n; i++) {
        vec_free(&b->inodes.at[i].cuts);
        vec_free(&b->inodes.at[i].entries);
    }
    vec_free(&b->inodes);
    vec_free(&b->returned);
    vec_free(&b->syncs);
    vec_free(&b->journal_at);
    map_free(&b->blocks);
    map_free(&b->entries);
    map_free(&b->copies);
    if (keep_arrays)
        return;
    vec_free(&b->ops);
    vec_free(&b->issued);
    vec_free(&b->covered);
    vec_free(&b->first);
    vec_free(&b->edges);
}

bool graph_build(struct graph **out, const struct model *model, const struct graph_source *source,
                 struct error *e)
{
    struct builder b = {.model = *model, .source = source, .journal = NO_OP};
    uint32_t *event_first = xcalloc(source->events + 2, sizeof *event_first);
    uint64_t end = 0;
    for (b.number = 1; b.number <= source->events; b.number++) {
        event_first[b.number] = (uint32_t)b.ops.n;
        if (!source->event(source->data, b.number, &b.event, e)) {
            free(event_first);
            builder_free(&b, false);
            return false;
        }
        if (b.event.exit != NEVER && b.event.exit > end)
            end = b.event.exit;
        take_event(&b);
    }
    event_first[source->events + 1] = (uint32_t)b.ops.n;
    apply_syncs(&b);
    struct graph *g = finish(&b);
    g->event_first = event_first;
    g->events = source->events;
    g->end = end;
    builder_free(&b, true);
    *out = g;
    return true;
}
