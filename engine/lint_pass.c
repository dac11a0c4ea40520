/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/lint_pass.h"

#include <linux/mman.h>
#include <sys/mman.h>

#include "engine/extents.h"
#include "engine/map.h"
#include "engine/mem.h"
#include "engine/vec.h"

enum {
    PAGE = 4096,
    INSTRUCTION_MAX = 1024, /* bytes: no instruction stores more. What does is kept by range */
    PIECE = 1,              /* the payload of ranges that are only there or not */
};

/* A cache line of a file. */
struct line {
    uint64_t stored;  /* the last event that stored to it through the cache */
    uint64_t flushed; /* the last that flushed it, */
    uint32_t flusher; /* and its thread */
    uint64_t durable; /* stores up to this event are durable */
};

struct file {
    struct extents dirty;  /* pages changed since the last sync */
    struct extents filled; /* ranges stored to at once, by event */
    struct extents synced; /* ranges synced, by event */
    uint64_t synced_all;   /* the last event that synced all of it */
    uint64_t exit;         /* the position at which all changes so far have returned */
    bool resized, named;   /* since the last sync: size or blocks; names or mode */
    bool blind;            /* changed behind the trace's back */
    bool listed;           /* in the pass's list of changed files */
};

/* A flush that waits for a fence. */
struct waiting {
    uint32_t line;
    uint64_t event;
};

struct thread {
    vec_of(struct waiting) flushes;
    vec_of(uint32_t) nontemporal; /* stores, by place in the pass's list */
    bool ordering;                /* the next fence has something to order */
    unsigned depth;               /* of transactions */
    struct extents added;         /* to the outermost, by address */
};

struct stored {
    uint64_t event, offset;
    uint32_t file; /* by place */
    uint16_t size;
    bool nontemporal, durable; /* durable: of a non-temporal one */
};

struct lint_pass {
    enum lint_stores stores;
    bool has_stores, flushes, maps_sync;
    bool blind; /* some file is */
    void (*found)(void *data, enum lint_kind kind, uint64_t event);
    void *data;
    struct map file_places, line_places, thread_places; /* a place, plus 1 */
    vec_of(struct file) files;
    vec_of(struct line) lines;
    vec_of(struct thread) threads;
    vec_of(struct stored) stored;
    vec_of(uint32_t) changed; /* files, for what syncs all; some may have been synced since */
    uint64_t synced_all;      /* the last event that synced everything */
};

/* ---- what there is ---- */

static uint32_t file_place(struct lint_pass *p, uint32_t number)
{
    bool added;
    uint64_t *place = map_put(&p->file_places, &number, sizeof number, &added);
    if (added) {
        vec_push(&p->files, (struct file){0});
        *place = p->files.n;
    }
    return (uint32_t)*place - 1;
}

static struct file *file_at(struct lint_pass *p, uint32_t number)
{
    uint32_t place = file_place(p, number); /* may move them all */
    return &p->files.at[place];
}

/* Of the file at a place, the line by its number in the file. */
static uint32_t line_place(struct lint_pass *p, uint32_t file, uint64_t number)
{
    struct {
        uint64_t file, number;
    } key = {file, number};
    bool added;
    uint64_t *place = map_put(&p->line_places, &key, sizeof key, &added);
    if (added) {
        vec_push(&p->lines, (struct line){0});
        *place = p->lines.n;
    }
    return (uint32_t)*place - 1;
}

static struct line *line_at(struct lint_pass *p, uint32_t file, uint64_t number)
{
    uint32_t place = line_place(p, file, number);
    return &p->lines.at[place];
}

static struct thread *thread_at(struct lint_pass *p, uint32_t number)
{
    bool added;
    uint64_t *place = map_put(&p->thread_places, &number, sizeof number, &added);
    if (added) {
        vec_push(&p->threads, (struct thread){0});
        *place = p->threads.n;
    }
    return &p->threads.at[*place - 1];
}

/* Cuts an event's range to where ranges can lie; false when nothing is left. */
static bool range_of(uint64_t offset, uint64_t *size)
{
    if (offset >= EXTENTS_END - PAGE)
        return false;
    if (*size > EXTENTS_END - PAGE - offset)
        *size = EXTENTS_END - PAGE - offset;
    return *size > 0;
}

/* ---- changes and syncs ---- */

static void list_changed(struct lint_pass *p, uint32_t place, const struct event *event)
{
    struct file *f = &p->files.at[place];
    if (event->exit > f->exit)
        f->exit = event->exit;
    if (!f->listed)
        vec_push(&p->changed, place);
    f->listed = true;
}

static bool covered(const struct extents *x, uint64_t from, uint64_t size)
{
    struct extent piece;
    uint64_t end = from + size;
    while (from < end && extents_find(x, from, &piece) && piece.offset <= from)
        from = piece.offset + piece.size;
    return from >= end;
}

static void change_pages(struct lint_pass *p, const struct event *event)
{
    uint64_t size = event->size, offset = event->offset - event->offset % PAGE;
    if (!range_of(event->offset, &size))
        return;
    uint32_t place = file_place(p, event->file);
    uint64_t end = event->offset + size;
    end += (PAGE - end % PAGE) % PAGE;
    if (!covered(&p->files.at[place].dirty, offset, end - offset))
        extents_write(&p->files.at[place].dirty, offset, end - offset, PIECE, 0);
    list_changed(p, place, event);
}

static void change_size(struct lint_pass *p, const struct event *event)
{
    uint32_t place = file_place(p, event->file);
    p->files.at[place].resized = true;
    list_changed(p, place, event);
}

static void change_names(struct lint_pass *p, const struct event *event)
{
    const uint32_t files[] = {event->file, event->other, event->dir, event->other_dir};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!files[i])
            continue;
        uint32_t place = file_place(p, files[i]);
        p->files.at[place].named = true;
        list_changed(p, place, event);
    }
}

static bool dirty_in(const struct extents *x, uint64_t offset, uint64_t size)
{
    struct extent first;
    return extents_find(x, offset, &first) && first.offset < offset + size;
}

static bool is_changed(const struct file *f)
{
    return f->resized || f->named || dirty_in(&f->dirty, 0, EXTENTS_END - 1);
}

/* All of a file is synced by an event that began at that position. What had not returned by then
 * stays changed. */
static void clear_file(struct file *f, uint64_t entry)
{
    if (f->exit > entry)
        return;
    extents_cut(&f->dirty, 0);
    f->resized = f->named = false;
}

static void take_fsync(struct lint_pass *p, uint64_t number, const struct event *event)
{
    struct file *f = file_at(p, event->file);
    if (!f->blind && !is_changed(f))
        p->found(p->data, LINT_SYNC_CLEAN, number);
    clear_file(f, event->entry);
    f->synced_all = number;
}

static void take_msync(struct lint_pass *p, uint64_t number, const struct event *event)
{
    uint64_t size = event->size;
    if (!(event->flags & MS_SYNC) || !range_of(event->offset, &size))
        return;
    struct file *f = file_at(p, event->file);
    if (!f->blind && !f->resized && !dirty_in(&f->dirty, event->offset, size))
        p->found(p->data, LINT_SYNC_CLEAN, number);
    extents_write(&f->synced, event->offset, size, number, 0);
    if (f->exit > event->entry)
        return;
    extents_clear(&f->dirty, event->offset, size);
    f->resized = false;
}

static void take_sync(struct lint_pass *p, uint64_t number, const struct event *event)
{
    bool any = p->blind;
    size_t kept = 0;
    for (size_t i = 0; i < p->changed.n; i++) {
        struct file *f = &p->files.at[p->changed.at[i]];
        any |= is_changed(f);
        clear_file(f, event->entry);
        f->listed = is_changed(f);
        if (f->listed)
            p->changed.at[kept++] = p->changed.at[i];
    }
    p->changed.n = kept;
    if (!any)
        p->found(p->data, LINT_SYNC_CLEAN, number);
    p->synced_all = number;
}

/* ---- stores, flushes, fences ---- */

static void make_fence(struct lint_pass *p, struct thread *t)
{
    for (size_t i = 0; i < t->flushes.n; i++) {
        struct line *l = &p->lines.at[t->flushes.at[i].line];
        if (t->flushes.at[i].event > l->durable)
            l->durable = t->flushes.at[i].event;
    }
    for (size_t i = 0; i < t->nontemporal.n; i++)
        p->stored.at[t->nontemporal.at[i]].durable = true;
    t->flushes.n = t->nontemporal.n = 0;
    t->ordering = false;
}

static void take_fence(struct lint_pass *p, uint64_t number, const struct event *event)
{
    struct thread *t = thread_at(p, event->thread);
    if (event->flags != FENCE_LOCKED && !t->ordering &&
        (p->stores == LINT_AUTO || p->stores == LINT_PX86))
        p->found(p->data, LINT_FENCE_NOTHING, number);
    make_fence(p, t);
}

static void take_store(struct lint_pass *p, uint64_t number, const struct event *event)
{
    uint64_t size = event->size, offset = event->offset;
    bool nontemporal = event->flags & STORE_NT;
    struct thread *t = thread_at(p, event->thread);
    if (event->flags & STORE_LOCKED)
        make_fence(p, t);
    change_pages(p, event);
    if (!range_of(offset, &size))
        return;
    uint32_t file = file_place(p, event->file);
    if ((event->flags & STORE_KERNEL) || size > INSTRUCTION_MAX) {
        extents_write(&p->files.at[file].filled, offset, size, number, 0);
        return;
    }
    vec_push(&p->stored, (struct stored){.event = number,
                                         .offset = offset,
                                         .file = file,
                                         .size = (uint16_t)size,
                                         .nontemporal = nontemporal});
    if (nontemporal) {
        vec_push(&t->nontemporal, (uint32_t)p->stored.n - 1);
        t->ordering = true;
        return;
    }
    for (uint64_t at = offset / CACHE_LINE; at <= (offset + size - 1) / CACHE_LINE; at++)
        line_at(p, file, at)->stored = number;
}

/* The last event that stored to a line, by one instruction or by many bytes at once. */
static uint64_t last_stored(const struct file *f, const struct line *l, uint64_t offset)
{
    uint64_t last = l->stored;
    struct extent piece;
    for (uint64_t at = offset; extents_find(&f->filled, at, &piece); at = piece.offset + piece.size)
        if (piece.offset >= offset + CACHE_LINE)
            break;
        else if (piece.payload > last)
            last = piece.payload;
    return last;
}

static void flush_line(struct lint_pass *p, uint32_t file, const struct event *event, uint64_t at,
                       uint64_t number)
{
    struct thread *t = thread_at(p, event->thread);
    uint32_t place = line_place(p, file, at);
    struct line *l = &p->lines.at[place];
    if (last_stored(&p->files.at[file], l, at * CACHE_LINE) <= l->flushed) {
        if (l->durable >= l->flushed)
            p->found(p->data, LINT_FLUSH_CLEAN, number);
        else if (l->flusher == event->thread)
            p->found(p->data, LINT_FLUSH_TWICE, number);
        else
            t->ordering = true; /* another thread's flush: this one may return first */
    } else
        t->ordering = true;
    l->flushed = number;
    l->flusher = event->thread;
    if (event->flags == FLUSH_CLFLUSH)
        l->durable = number;
    else
        vec_push(&t->flushes, (struct waiting){place, number});
}

static void take_flush(struct lint_pass *p, uint64_t number, const struct event *event)
{
    uint64_t size = event->size;
    p->flushes = true;
    if (p->stores == LINT_EADR || p->stores == LINT_PAGECACHE)
        p->found(p->data, LINT_FLUSH_USELESS, number);
    else if (range_of(event->offset, &size))
        flush_line(p, file_place(p, event->file), event, event->offset / CACHE_LINE, number);
}

/* ---- transactions ---- */

static void take_marker(struct lint_pass *p, uint64_t number, const struct event *event)
{
    struct thread *t = thread_at(p, event->thread);
    uint64_t size = event->other_offset;
    switch (event->flags) {
    case MARK_TX_BEGIN:
        t->depth++;
        break;
    case MARK_TX_END:
        t->depth -= t->depth > 0;
        if (!t->depth)
            extents_cut(&t->added, 0);
        break;
    case MARK_TX_ADD:
        if (!t->depth || !range_of(event->address, &size))
            break;
        if (covered(&t->added, event->address, size))
            p->found(p->data, LINT_ADDED_TWICE, number);
        extents_write(&t->added, event->address, size, PIECE, 0);
        break;
    case MARK_TX_REMOVE:
        if (range_of(event->address, &size))
            extents_clear(&t->added, event->address, size);
        break;
    }
}

/* ---- the pass ---- */

struct lint_pass *lint_pass_new(enum lint_stores stores, bool has_stores,
                                void (*found)(void *data, enum lint_kind kind, uint64_t event),
                                void *data)
{
    struct lint_pass *p = xcalloc(1, sizeof *p);
    p->stores = stores;
    p->has_stores = has_stores;
    p->found = found;
    p->data = data;
    return p;
}

static void take_open(struct lint_pass *p, const struct event *event)
{
    if (event->traits & EVENT_CREATED)
        change_names(p, event);
    if (event->traits & EVENT_TRUNCATED)
        change_size(p, event);
}

static void take_mmap(struct lint_pass *p, const struct event *event)
{
    if ((event->traits & EVENT_WRITABLE) && !p->has_stores)
        p->blind = file_at(p, event->file)->blind = true;
    if ((event->flags & MAP_TYPE) == MAP_SHARED_VALIDATE && (event->flags & MAP_SYNC))
        p->maps_sync = true;
}

void lint_pass_take(struct lint_pass *p, uint64_t number, const struct event *event)
{
    if (event->traits & (EVENT_FAILED | EVENT_UNFINISHED))
        return;
    switch ((enum call)event->call) {
    case CALL_OPEN:
        take_open(p, event);
        break;
    case CALL_WRITE:
    case CALL_COPY:
        if (!(event->traits & (EVENT_SYNC | EVENT_DSYNC)))
            change_pages(p, event);
        break;
    case CALL_TRUNCATE:
    case CALL_FALLOCATE:
        change_size(p, event);
        break;
    case CALL_RENAME:
    case CALL_LINK:
    case CALL_SYMLINK:
    case CALL_UNLINK:
    case CALL_MKDIR:
    case CALL_RMDIR:
    case CALL_MKNOD:
    case CALL_CHMOD:
        change_names(p, event);
        break;
    case CALL_FSYNC:
    case CALL_FDATASYNC:
        take_fsync(p, number, event);
        break;
    case CALL_MSYNC:
        take_msync(p, number, event);
        break;
    case CALL_SYNC:
    case CALL_SYNCFS:
        take_sync(p, number, event);
        break;
    case CALL_MMAP:
        take_mmap(p, event);
        break;
    case CALL_STORE:
        take_store(p, number, event);
        break;
    case CALL_FLUSH:
        take_flush(p, number, event);
        break;
    case CALL_FENCE:
        take_fence(p, number, event);
        break;
    case CALL_MARKER:
        take_marker(p, number, event);
        break;
    default:
        break;
    }
}

static bool was_synced(const struct lint_pass *p, const struct stored *s)
{
    const struct file *f = &p->files.at[s->file];
    struct extent piece;
    if (p->synced_all > s->event || f->synced_all > s->event)
        return true;
    uint64_t at = s->offset, end = s->offset + s->size;
    while (at < end && extents_find(&f->synced, at, &piece) && piece.offset <= at &&
           piece.payload > s->event)
        at = piece.offset + piece.size;
    return at >= end;
}

static bool was_flushed(struct lint_pass *p, const struct stored *s)
{
    if (s->nontemporal)
        return s->durable;
    for (uint64_t at = s->offset / CACHE_LINE; at <= (s->offset + s->size - 1) / CACHE_LINE; at++)
        if (line_at(p, s->file, at)->durable < s->event)
            return false;
    return true;
}

enum lint_stores lint_pass_end(struct lint_pass *p)
{
    enum lint_stores stores = p->stores;
    if (stores == LINT_AUTO)
        stores = p->flushes || p->maps_sync ? LINT_PX86 : LINT_PAGECACHE;
    for (size_t i = 0; stores != LINT_EADR && i < p->stored.n; i++) {
        const struct stored *s = &p->stored.at[i];
        if (!was_synced(p, s) && (stores == LINT_PAGECACHE || !was_flushed(p, s)))
            p->found(p->data, LINT_NEVER_DURABLE, s->event);
    }
    return stores;
}

void lint_pass_free(struct lint_pass *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->files.n; i++) {
        extents_free(&p->files.at[i].dirty);
        extents_free(&p->files.at[i].filled);
        extents_free(&p->files.at[i].synced);
    }
    for (size_t i = 0; i < p->threads.n; i++) {
        vec_free(&p->threads.at[i].flushes);
        vec_free(&p->threads.at[i].nontemporal);
        extents_free(&p->threads.at[i].added);
    }
    map_free(&p->file_places);
    map_free(&p->line_places);
    map_free(&p->thread_places);
    vec_free(&p->files);
    vec_free(&p->lines);
    vec_free(&p->threads);
    vec_free(&p->stored);
    vec_free(&p->changed);
    free(p);
}
