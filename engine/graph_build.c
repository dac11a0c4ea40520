/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The passes that make a graph: over the events, making ops and direct edges and noting syncs; over
 * the syncs, in the order in which they return; and backwards over the ops, because what must come
 * before something durable is durable.
 */
#include "engine/graph_inside.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct inode *builder_inode(struct builder *b, uint32_t file)
{
    while (b->inodes.n <= file)
        vec_push(&b->inodes, (struct inode){0});
    struct inode *inode = &b->inodes.at[file];
    if (!inode->known) {
        inode->known = true;
        inode->length = b->source->length(b->source->data, file);
        inode->created = inode->last_name = inode->sized = inode->resized = NO_OP;
        inode->flying = inode->filled = NO_OP;
        inode->changed.last = inode->changed.returned = NO_OP;
        inode->changed_data.last = inode->changed_data.returned = NO_OP;
    }
    return inode;
}

uint32_t builder_op(struct builder *b, struct op op)
{
    op.event = b->number;
    uint32_t number = (uint32_t)b->ops.n;
    vec_push(&b->ops, op);
    vec_push(&b->issued, b->event.entry);
    vec_push(&b->returned, b->event.exit);
    vec_push(&b->covered, NEVER);
    vec_push(&b->journal_at, b->journal);
    vec_push(&b->first, (uint32_t)b->edges.n);
    if (op.kind == OP_STORE)
        return number;
    if (b->model.program_order)
        builder_edge(b, b->last_call, RULE_PROGRAM);
    b->last_call = number;
    if (b->model.sync == SYNC_OWN_NAME && op.kind != OP_NAME) {
        vec_push(&builder_inode(b, op.file)->contents, number);
        builder_await_commit(b, number);
    }
    return number;
}

void builder_edge(struct builder *b, uint32_t from, enum model_rule rule)
{
    uint32_t to = (uint32_t)b->ops.n - 1;
    if (from == NO_OP || from == to)
        return;
    /* An edge twice does no harm; the few rules that name the same op do it one after another. */
    enum { LOOKED_AT = 8 };
    size_t first = b->first.at[to];
    if (b->edges.n - first > LOOKED_AT)
        first = b->edges.n - LOOKED_AT;
    for (size_t i = first; i < b->edges.n; i++)
        if (b->edges.at[i].from == from)
            return;
    vec_push(&b->edges, (struct graph_edge){from, rule});
}

void builder_cover(struct builder *b, uint32_t op, uint64_t exit)
{
    if (b->covered.at[op] > exit)
        b->covered.at[op] = exit;
}

uint32_t builder_edges_end(const struct builder *b, uint32_t op)
{
    return op + 1 < b->ops.n ? b->first.at[op + 1] : (uint32_t)b->edges.n;
}

/* ---- syncs ---- */

/* The later of two ops, either of which may be none. */
static uint32_t later(uint32_t a, uint32_t b)
{
    return a == NO_OP || (b != NO_OP && b > a) ? b : a;
}

/* Of those before it only what still ran when it came is kept one by one: never more than calls
 * that run at a time. */
static void note_change(const struct builder *b, struct changes *c, uint32_t op)
{
    uint32_t before = c->last;
    size_t kept = 0;

    c->last = op;
    if (before == NO_OP || b->ops.at[before].event == b->number)
        return;
    vec_push(&c->running, before);
    for (size_t i = 0; i < c->running.n; i++) {
        if (b->returned.at[c->running.at[i]] < b->event.entry)
            c->returned = later(c->returned, c->running.at[i]);
        else
            c->running.at[kept++] = c->running.at[i];
    }
    c->running.n = kept;
}

void builder_changed(struct builder *b, struct inode *inode, uint32_t op)
{
    note_change(b, &inode->changed, op);
    note_change(b, &inode->changed_data, op);
}

void builder_changed_name(struct builder *b, struct inode *inode, uint32_t op)
{
    note_change(b, &inode->changed, op);
}

/* The last change of the file that had returned when the sync began; a change under way at the
 * time promises nothing. */
static uint32_t last_change(const struct builder *b, uint32_t file, bool data_only)
{
    const struct inode *inode = &b->inodes.at[file];
    const struct changes *c = data_only ? &inode->changed_data : &inode->changed;
    if (c->last != NO_OP && b->returned.at[c->last] < b->event.entry)
        return c->last;
    uint32_t op = c->returned;
    for (size_t i = 0; i < c->running.n; i++)
        if (b->returned.at[c->running.at[i]] < b->event.entry)
            op = later(op, c->running.at[i]);
    return op;
}

static void note_sync(struct builder *b, uint32_t file, uint32_t change)
{
    struct sync_point sync = {b->event.entry, b->event.exit, file, NO_OP, false};
    if (b->model.sync == SYNC_JOURNAL && change != NO_OP)
        sync.journal = b->journal_at.at[change];
    vec_push(&b->syncs, sync);
    struct last_sync last = {(uint32_t)b->ops.n, sync.entry, sync.exit};
    if (file) {
        builder_inode(b, file)->synced = last.ops;
        builder_inode(b, file)->last_sync = last;
    } else {
        b->synced = last.ops;
        b->last_sync = last;
    }
}

/* Names that a sync of the directory makes durable by themselves. */
static void sync_entries(struct builder *b, uint32_t dir)
{
    struct inode *inode = builder_inode(b, dir);
    vec_of(uint32_t) carried = {0};
    size_t kept = 0;
    bool logs = false;
    for (size_t i = 0; i < inode->entries.n; i++) {
        uint32_t op = inode->entries.at[i];
        if (b->returned.at[op] >= b->event.entry)
            inode->entries.at[kept++] = op;
        else if (b->model.sync == SYNC_OWN_NAME) {
            vec_push(&carried, op);
            logs |= op >= b->synced;
        } else if (b->covered.at[op] > b->event.exit)
            b->covered.at[op] = b->event.exit;
    }
    inode->entries.n = kept;
    struct carrying c = {.names = carried.at, .n = carried.n, .after = NO_OP, .durable = true};
    builder_carry_names(b, &c);
    if (logs)
        builder_inode(b, dir)->logged = (uint32_t)b->ops.n;
    vec_free(&carried);
}

/* A sync of a file carries the names that it has, after these ops on its contents. */
static void sync_names(struct builder *b, uint32_t file, const uint32_t *contents, size_t n)
{
    struct inode *inode = builder_inode(b, file);
    vec_of(uint32_t) carried = {0};
    size_t kept = 0;
    for (size_t i = 0; i < inode->names.n; i++) {
        struct given_name name = inode->names.at[i];
        if (!builder_is_current(b, &name))
            continue;
        inode->names.at[kept++] = name;
        if (b->returned.at[name.op] < b->event.entry)
            vec_push(&carried, name.op);
    }
    inode->names.n = kept;
    struct carrying c = {.names = carried.at, .n = carried.n, .after = NO_OP, .durable = true};
    c.contents = contents;
    c.contents_n = n;
    builder_carry_names(b, &c);
    vec_free(&carried);
}

/* The same after all that had been done to its contents when the sync began. */
static void sync_contents_and_names(struct builder *b, uint32_t file)
{
    struct inode *inode = builder_inode(b, file);
    vec_of(uint32_t) contents = {0};
    size_t kept = 0;
    for (size_t i = 0; i < inode->contents.n; i++) {
        uint32_t op = inode->contents.at[i];
        if (b->returned.at[op] < b->event.entry)
            vec_push(&contents, op);
        else
            inode->contents.at[kept++] = op;
    }
    inode->contents.n = kept;
    sync_names(b, file, contents.at, contents.n);
    vec_free(&contents);
}

static void sync_file(struct builder *b, bool data_only)
{
    uint32_t file = b->event.file;
    builder_logged(b, file);
    builder_inode(b, file)->synced_at = (uint32_t)b->ops.n;
    if (b->model.sync == SYNC_OWN_NAME || b->model.sync == SYNC_OWN_ENTRIES) {
        sync_entries(b, file);
        if (b->model.sync == SYNC_OWN_NAME)
            sync_contents_and_names(b, file);
    }
    note_sync(b, file, last_change(b, file, data_only));
}

/* msync() is fdatasync() of a part of the file, or of all of it. */
static void sync_mapping(struct builder *b)
{
    const struct event *e = &b->event;
    if (!(e->flags & MS_SYNC))
        return;
    if (!e->offset && e->size >= builder_inode(b, e->file)->length) {
        sync_file(b, true);
        return;
    }
    builder_logged(b, e->file);
    builder_msync(b);
    builder_inode(b, e->file)->synced_at = (uint32_t)b->ops.n;
    if (b->model.sync == SYNC_OWN_NAME)
        sync_names(b, e->file, NULL, 0);
    struct sync_point sync = {e->entry, e->exit, e->file, NO_OP, true};
    uint32_t change = last_change(b, e->file, true);
    if (b->model.sync == SYNC_JOURNAL && change != NO_OP)
        sync.journal = b->journal_at.at[change];
    vec_push(&b->syncs, sync);
}

/* A write that returns durable: its own blocks, and what its file's change commits. */
static void sync_own_write(struct builder *b, uint32_t first)
{
    uint32_t end = (uint32_t)b->ops.n, changed = builder_inode(b, b->event.file)->changed_data.last;
    vec_of(uint32_t) written = {0};
    builder_logged(b, b->event.file);
    builder_inode(b, b->event.file)->synced_at = end;
    for (uint32_t op = first; op < end; op++) {
        /* A size that comes with other data would make that durable, too. */
        if (b->ops.at[op].kind != OP_SIZE || !(b->ops.at[op].flags & OP_EXTENDS))
            b->covered.at[op] = b->event.exit;
        if (b->ops.at[op].kind == OP_DATA) {
            builder_settle(b, op);
            vec_push(&written, op);
        }
    }
    if (b->model.sync == SYNC_OWN_NAME)
        sync_names(b, b->event.file, written.at, written.n);
    vec_free(&written);
    if (b->model.sync == SYNC_JOURNAL && changed != NO_OP && changed >= first) {
        uint32_t journal = b->journal_at.at[changed];
        if (journal != NO_OP && b->covered.at[journal] > b->event.exit)
            b->covered.at[journal] = b->event.exit;
    }
    if (b->model.sync == SYNC_EVERYTHING)
        note_sync(b, 0, NO_OP);
}

/* Each block of a call is followed by itself. No system call but a reflink or a punch reaches past
 * 2 GiB at once; a damaged session claims any size, and ops are counted in 32 bits. */
static const uint64_t event_blocks_max = UINT64_C(1) << 22;
static const size_t ops_max = (size_t)1 << 28;

static bool can_take(struct builder *b, struct error *e)
{
    const struct event *event = &b->event;
    uint64_t bytes = 0;
    if (event->traits & (EVENT_FAILED | EVENT_UNFINISHED))
        return true;
    if (event->call == CALL_WRITE || event->call == CALL_COPY || event->call == CALL_STORE)
        bytes = event->size;
    else if (event->call == CALL_FALLOCATE && event->file) {
        uint64_t length = builder_inode(b, event->file)->length;
        bool within = !builder_shifts(event) && event->size < length;
        bytes = builder_changes_range(event) ? (within ? event->size : length) : 0;
    }
    if (bytes / OP_BLOCK_SIZE > event_blocks_max)
        return error_set(e,
                         "event %llu changes %llu bytes of a file at once, more than can be "
                         "followed block by block (%llu GiB); record a run with smaller files",
                         (unsigned long long)b->number, (unsigned long long)bytes,
                         (unsigned long long)(event_blocks_max * OP_BLOCK_SIZE >> 30));
    if (b->ops.n > ops_max)
        return error_set(e,
                         "by event %llu the run has over %zu ops, more than can be worked with; "
                         "record a shorter one",
                         (unsigned long long)b->number, ops_max);
    return true;
}

/* Of a file, or of what the event itself writes. */
static bool is_sync(const struct event *e)
{
    return e->call == CALL_FSYNC || e->call == CALL_FDATASYNC || e->call == CALL_MSYNC ||
           (e->traits & (EVENT_SYNC | EVENT_DSYNC));
}

static void take_event(struct builder *b)
{
    const struct event *e = &b->event;
    if (e->traits & (EVENT_FAILED | EVENT_UNFINISHED)) {
        if (e->file && is_sync(e)) /* one that promised nothing may have done something */
            builder_logged(b, e->file);
        return;
    }
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
    case CALL_MSYNC:
        sync_mapping(b);
        break;
    case CALL_STORE:
        builder_store(b);
        break;
    case CALL_FLUSH:
        builder_flush(b);
        break;
    case CALL_FENCE:
        builder_fence(b, e->exit);
        break;
    case CALL_SYNC_RANGE: /* may write something ahead of other things, and makes nothing durable */
        break;
    default:
        builder_names(b);
        if (e->file)
            builder_contents(b);
        if ((e->traits & (EVENT_SYNC | EVENT_DSYNC)) && b->ops.n > first)
            sync_own_write(b, first);
    }
}

/* ---- pretended syncs ---- */

static int by_position(const void *x, const void *y)
{
    const struct placed_fix *a = x, *b = y;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* Each one lies at the free position behind the exit of its event. */
static bool place_fixes(struct builder *b, struct error *e)
{
    const struct graph_source *source = b->source;
    for (size_t i = 0; i < source->fix_count; i++) {
        const struct fix *fix = &source->fixes[i];
        struct event event;
        if (!source->event(source->data, fix->after, &event, e))
            return false;
        if (event.exit == NEVER)
            return error_set(e, "event %llu never returned: nothing can be synced after it",
                             (unsigned long long)fix->after);
        struct placed_fix placed = {.fix = *fix, .position = event.exit + 1};
        if (fix->call == CALL_FLUSH && !source->event(source->data, fix->store, &event, e))
            return false;
        placed.offset = fix->call == CALL_FLUSH ? event.offset : 0;
        placed.size = fix->call == CALL_FLUSH ? event.size : 0;
        vec_push(&b->fixes, placed);
    }
    if (b->fixes.n)
        qsort(b->fixes.at, b->fixes.n, sizeof *b->fixes.at, by_position);
    return true;
}

/* Makes the pretended syncs that come before a position and were not made yet. What they carry
 * belongs to the event before, as far as anybody asks which event's ops are which. */
static void take_fixes(struct builder *b, uint64_t position)
{
    for (; b->next_fix < b->fixes.n && b->fixes.at[b->next_fix].position < position;
         b->next_fix++) {
        const struct placed_fix *at = &b->fixes.at[b->next_fix];
        b->event = (struct event){.entry = at->position,
                                  .exit = at->position,
                                  .call = at->fix.call,
                                  .file = at->fix.file,
                                  .offset = at->offset,
                                  .size = at->size,
                                  .flags = at->fix.call == CALL_FLUSH ? FLUSH_CLFLUSH : 0};
        take_event(b);
    }
}

/* ---- durability ---- */

static int by_exit(const void *x, const void *y)
{
    const struct sync_point *a = x, *b = y;
    return a->exit < b->exit ? -1 : a->exit > b->exit;
}

static int by_return(const void *x, const void *y, void *returned)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    uint64_t at = ((const uint64_t *)returned)[a], bt = ((const uint64_t *)returned)[b];
    return at != bt ? (at < bt ? -1 : 1) : (a > b) - (a < b);
}

/* All ops in the order in which their calls returned, and of those of contents each file's by
 * themselves: file f's are of_file[start[f]] … */
struct returned_ops {
    uint32_t *ops, *start, *of_file, *next;
};

static bool is_content(const struct op *op)
{
    return op->kind != OP_NAME && !(op->flags & OP_CARRIED);
}

static struct returned_ops sort_by_return(const struct builder *b)
{
    size_t files = b->file_count + 1;
    struct returned_ops s = {
        xcalloc(b->ops.n + 1, sizeof *s.ops), xcalloc(files + 1, sizeof *s.start),
        xcalloc(b->ops.n + 1, sizeof *s.of_file), xcalloc(files + 1, sizeof *s.next)};
    bool sorted = true; /* as long as no two calls run at the same time */
    for (uint32_t i = 0; i < b->ops.n; i++) {
        s.ops[i] = i;
        sorted = sorted && (!i || b->returned.at[i - 1] <= b->returned.at[i]);
        if (is_content(&b->ops.at[i]))
            s.start[b->ops.at[i].file + 1]++;
    }
    if (!sorted)
        qsort_r(s.ops, b->ops.n, sizeof *s.ops, by_return, b->returned.at);
    for (size_t f = 0; f < files; f++)
        s.start[f + 1] += s.start[f];
    memcpy(s.next, s.start, (files + 1) * sizeof *s.next);
    for (size_t i = 0; i < b->ops.n; i++)
        if (is_content(&b->ops.at[s.ops[i]]))
            s.of_file[s.next[b->ops.at[s.ops[i]].file]++] = s.ops[i];
    memcpy(s.next, s.start, (files + 1) * sizeof *s.next);
    return s;
}

/* Whether a sync of everything makes an op durable. Where that of one file stands for it, it still
 * does not take stores along that were made to other files. */
static bool is_synced_by_all(const struct builder *b, const struct sync_point *sync,
                             const struct op *op)
{
    if (sync->file && op->kind == OP_STORE)
        return false;
    return !b->model.sync_by_log || !(op->flags & OP_IN_PLACE);
}

/* Each op is covered by the first sync to return that began after it had returned. What the sync of
 * one file leaves out of everything, a later sync of everything still finds. */
static void apply_syncs(struct builder *b)
{
    struct returned_ops s = sort_by_return(b);
    uint32_t all[] = {0, 0}; /* by whether the sync is that of one file */
    if (b->syncs.n)
        qsort(b->syncs.at, b->syncs.n, sizeof *b->syncs.at, by_exit);
    for (size_t i = 0; i < b->syncs.n; i++) {
        const struct sync_point *sync = &b->syncs.at[i];
        if (!sync->file || b->model.sync == SYNC_EVERYTHING) {
            uint32_t *next = &all[sync->file != 0];
            for (; *next < b->ops.n && b->returned.at[s.ops[*next]] < sync->entry; (*next)++)
                if (is_synced_by_all(b, sync, &b->ops.at[s.ops[*next]]))
                    builder_cover(b, s.ops[*next], sync->exit);
            if (!sync->file)
                continue;
        }
        if (sync->journal != NO_OP && b->returned.at[sync->journal] < sync->entry)
            builder_cover(b, sync->journal, sync->exit);
        if (sync->ranged)
            continue;
        uint32_t *next = &s.next[sync->file];
        for (; *next < s.start[sync->file + 1] && b->returned.at[s.of_file[*next]] < sync->entry;
             (*next)++)
            builder_cover(b, s.of_file[*next], sync->exit);
    }
    free(s.ops);
    free(s.start);
    free(s.of_file);
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

/* What only making ops needs: after the pass over the events it is room for what comes. */
static void forget_files(struct builder *b)
{
    for (size_t i = 0; i < b->inodes.n; i++) {
        vec_free(&b->inodes.at[i].cuts);
        vec_free(&b->inodes.at[i].names);
        vec_free(&b->inodes.at[i].growths);
        vec_free(&b->inodes.at[i].changed.running);
        vec_free(&b->inodes.at[i].changed_data.running);
        vec_free(&b->inodes.at[i].new_data);
        vec_free(&b->inodes.at[i].entries);
        vec_free(&b->inodes.at[i].dirty);
        vec_free(&b->inodes.at[i].contents);
        vec_free(&b->inodes.at[i].waiting);
    }
    for (size_t i = 0; i < b->threads.n; i++)
        vec_free(&b->threads.at[i].ops);
    vec_free(&b->threads);
    vec_free(&b->cells);
    vec_free(&b->stores_of);
    map_free(&b->cell_of);
    b->file_count = b->inodes.n;
    vec_free(&b->inodes);
    vec_free(&b->resizes);
    vec_free(&b->journal_at);
    map_free(&b->blocks);
    map_free(&b->entries);
}

static void forget_syncs(struct builder *b)
{
    vec_free(&b->returned);
    vec_free(&b->order);
    vec_free(&b->last_names);
    vec_free(&b->late);
    vec_free(&b->syncs);
    map_free(&b->copies);
    /* Of a long trace many small pieces were freed; the analysis goes on with large ones. */
    enum { LONG_TRACE = 1 << 16 };
    if (b->ops.n >= LONG_TRACE)
        malloc_trim(0);
}

static void builder_free(struct builder *b)
{
    forget_files(b);
    forget_syncs(b);
    vec_free(&b->ops);
    vec_free(&b->issued);
    vec_free(&b->covered);
    vec_free(&b->first);
    vec_free(&b->edges);
    vec_free(&b->fixes);
    vec_free(&b->carried);
}

/* Goes through the events, and the pretended syncs between them. */
static bool take_all(struct builder *b, uint32_t *event_first, uint64_t *end, struct error *e)
{
    const struct graph_source *source = b->source;
    for (b->number = 1; b->number <= source->events; b->number++) {
        struct event event;
        if (!source->event(source->data, b->number, &event, e) ||
            (b->number % INTERRUPT_EVERY == 0 && !interrupt_go_on(source->interrupt, e)))
            return false;
        take_fixes(b, event.entry);
        b->event = event;
        event_first[b->number] = (uint32_t)b->ops.n;
        if (!can_take(b, e) || (event.call == CALL_STORE && !b->stores_of.n &&
                                b->model.stores == STORES_AUTO && !builder_find_stores(b, e)))
            return false;
        if (event.exit != NEVER && event.exit > *end)
            *end = event.exit;
        take_event(b);
    }
    take_fixes(b, NEVER);
    event_first[source->events + 1] = (uint32_t)b->ops.n;
    return true;
}

bool graph_build(struct graph **out, const struct model *model, const struct graph_source *source,
                 struct error *e)
{
    struct builder b = {.model = *model, .source = source, .journal = NO_OP, .last_call = NO_OP};
    b.newest = NO_OP;
    uint32_t *event_first = xcalloc(source->events + 2, sizeof *event_first);
    uint64_t end = 0;
    if (!place_fixes(&b, e) || !take_all(&b, event_first, &end, e)) {
        free(event_first);
        builder_free(&b);
        return false;
    }
    builder_never_logged(&b);
    forget_files(&b);
    apply_syncs(&b);
    builder_commits(&b);
    forget_syncs(&b);
    struct graph *g = finish(&b);
    g->event_first = event_first;
    g->events = source->events;
    g->end = end;
    g->stores = b.stores;
    g->fixes = b.fixes.at;
    g->fix_count = b.fixes.n;
    g->copies = b.carried.at;
    g->copy_count = b.carried.n;
    *out = g;
    return true;
}
