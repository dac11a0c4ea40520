/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/state.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/state_inside.h"

/* A session as source */

static bool session_source_event(void *data, uint64_t number, struct event *out, struct error *e)
{
    return session_event(data, number, out, e);
}

static const char *session_source_string(void *data, uint32_t id)
{
    return session_string(data, id);
}

static bool session_source_payload(void *data, uint64_t payload, uint64_t from, void *out,
                                   size_t size, struct error *e)
{
    return session_payload(data, payload, from, out, size, e);
}

static bool session_source_image(void *data, const struct image_visitor *visitor,
                                 void *visitor_data, struct error *e)
{
    return session_image(data, visitor, visitor_data, e);
}

static enum file_kind session_source_kind(void *data, uint32_t file)
{
    struct file_info info;
    return session_file(data, file, &info) ? info.kind : 0;
}

struct state_source state_session_source(struct session *s)
{
    return (struct state_source){
        .data = s,
        .events = session_event_count(s),
        .event = session_source_event,
        .string = session_source_string,
        .payload = session_source_payload,
        .image = session_source_image,
        .kind = session_source_kind,
    };
}

/* The starting image */

struct start {
    struct state *state;
    struct error e; /* of a visitor: the walk knows only that one stopped it */
    bool stopped;
};

static bool stop_if_failed(struct start *start, bool ok)
{
    start->stopped = !ok;
    return ok;
}

static bool start_file(void *data, uint32_t file, enum file_kind kind, uint32_t mode, uint64_t size,
                       const char *target)
{
    struct start *start = data;
    struct state *s = start->state;
    if (file == FILE_ROOT) {
        change_mode(s, s->files.at[0], mode);
        return true;
    }
    if (!file || kind < FILE_REGULAR || kind > FILE_OTHER || file_find(s, file))
        return stop_if_failed(start, error_set(&start->e, "file %u makes no sense", file));
    struct state_file *f = file_make(s, file, kind, mode, target, 0);
    return kind != FILE_REGULAR || stop_if_failed(start, data_extend(s, f, size, &start->e));
}

static bool start_name(void *data, uint32_t dir, const char *name, uint32_t file)
{
    struct start *start = data;
    struct state_file *d = file_find(start->state, dir), *f = file_find(start->state, file);
    if (!d || !f)
        return stop_if_failed(start, error_set(&start->e, "a name leads to no file"));
    return stop_if_failed(start, name_assign(start->state, d, name, f, &start->e));
}

static bool start_extent(void *data, uint32_t file, uint64_t offset, uint64_t size,
                         uint64_t payload)
{
    struct start *start = data;
    struct state_file *f = file_find(start->state, file);
    if (!f || f->kind != FILE_REGULAR)
        return stop_if_failed(start, error_set(&start->e, "file %u has no contents", file));
    return stop_if_failed(start, data_write(start->state, f, offset, size, payload, &start->e));
}

/* There is no way back to before the image. */
static void forget_undo(struct state *s)
{
    for (size_t i = 0; i < s->undo.n; i++)
        if (s->undo.at[i].kind == UNDO_BLOCK)
            block_unref(&s->blocks, s->undo.at[i].block);
    s->undo.n = 0;
}

bool state_new(struct state **out, const struct state_source *source, struct error *e)
{
    static const struct image_visitor visitor = {start_file, start_name, start_extent};
    enum { ROOT_MODE = 0700 };
    struct state *s = xcalloc(1, sizeof *s);
    s->source = *source;
    s->blocks.source = &s->source;
    s->step = 1;
    touched_init(&s->files_touched);
    touched_init(&s->entries_touched);
    file_make(s, FILE_ROOT, FILE_DIRECTORY, ROOT_MODE, NULL, 0);
    struct start start = {.state = s};
    if (source->image(source->data, &visitor, &start, e)) {
        forget_undo(s);
        *out = s;
        return true;
    }
    if (start.stopped)
        error_set(e, "the starting image is damaged: %s", start.e.text);
    state_free(s);
    return false;
}

static void free_file(struct state *s, struct state_file *f)
{
    for (size_t i = 0; i < f->leaves.n; i++) {
        for (unsigned slot = 0; slot < LEAF_BLOCKS; slot++)
            block_unref(&s->blocks, f->leaves.at[i]->blocks[slot]);
        free(f->leaves.at[i]);
    }
    vec_free(&f->leaves);
    vec_free(&f->entries);
    map_free(&f->index_of);
    free(f->target);
    free(f);
}

void state_free(struct state *s)
{
    if (!s)
        return;
    forget_undo(s);
    vec_free(&s->undo);
    for (size_t i = 0; i < s->files.n; i++)
        free_file(s, s->files.at[i]);
    for (size_t i = 0; i < s->entries.n; i++) {
        free((char *)s->entries.at[i]->name);
        free(s->entries.at[i]);
    }
    vec_free(&s->files);
    vec_free(&s->entries);
    vec_free(&s->linked);
    vec_free(&s->stale);
    vec_free(&s->applied);
    map_free(&s->numbers);
    map_free(&s->births);
    free(s);
}

/* Applying and undoing */

static bool was_applied(const struct state *s, uint32_t op)
{
    return op / 64 < s->applied.n && s->applied.at[op / 64] >> op % 64 & 1;
}

static void note_applied(struct state *s, uint32_t op)
{
    if (was_applied(s, op))
        return;
    while (s->applied.n <= op / 64)
        vec_push(&s->applied, 0);
    s->applied.at[op / 64] |= UINT64_C(1) << op % 64;
    vec_push(&s->undo, (struct undo){.kind = UNDO_APPLIED, .value = op});
}

static bool apply_contents(struct state *s, const struct op *op, struct error *e)
{
    struct state_file *f = file_get(s, op->file, e);
    struct event v;
    if (!f)
        return false;
    if (f->kind != FILE_REGULAR)
        return true;
    bool extends = op->flags & OP_EXTENDS;
    switch (op->kind) {
    case OP_SIZE:
        return extends ? data_extend(s, f, op->size, e) : data_resize(s, f, op->size, e);
    case OP_ALLOC:
        return !extends || data_extend(s, f, op->size, e);
    case OP_DATA:
    case OP_STORE:
        return data_write(s, f, op->offset, op->length, op->payload, e) &&
               (!extends || data_extend(s, f, op->size, e));
    case OP_ZERO:
        return data_write(s, f, op->offset, op->length, PAYLOAD_ZEROS, e);
    case OP_RANGE:
        return s->source.event(s->source.data, op->event, &v, e) && data_range(s, f, &v, e);
    default:
        return error_set(e, "an op of kind %u is not known", op->kind);
    }
}

bool state_apply(struct state *s, const struct op *op, uint32_t number, struct error *e)
{
    size_t mark = s->undo.n;
    bool carried = op->flags & OP_CARRIED;
    bool skip = (carried || op->flags & OP_REPLACED) && was_applied(s, op->carried);
    s->step++;
    note_applied(s, number);
    if (carried)
        note_applied(s, op->carried);
    if (skip || (!op->file && op->kind != OP_NAME))
        return true;
    if (op->kind == OP_NAME ? name_apply(s, op, e) : apply_contents(s, op, e))
        return true;
    state_undo(s, mark);
    return false;
}

size_t state_mark(const struct state *s)
{
    return s->undo.n;
}

void state_undo(struct state *s, size_t mark)
{
    s->step++;
    while (s->undo.n > mark) {
        struct undo u = s->undo.at[--s->undo.n];
        switch (u.kind) {
        case UNDO_MADE: /* whatever it was given is taken back already */
            u.file->exists = false;
            touch_file(s, u.file);
            break;
        case UNDO_MODE:
            u.file->mode = (uint32_t)u.value;
            touch_file(s, u.file);
            hash_file_changed(s, u.file);
            break;
        case UNDO_SIZE:
            undo_size(s, &u);
            break;
        case UNDO_BLOCK:
            undo_block(s, &u);
            break;
        case UNDO_ENTRY:
            set_entry(s, u.entry, u.file);
            break;
        case UNDO_APPLIED:
            s->applied.at[u.value / 64] &= ~(UINT64_C(1) << u.value % 64);
            break;
        }
    }
}

bool state_read(struct state *s, uint32_t file, uint64_t offset, void *out, size_t size,
                struct error *e)
{
    const struct state_file *f = file_find(s, file);
    if (!f || f->kind != FILE_REGULAR)
        return error_set(e, "file %u has no contents in this state", file);
    memset(out, 0, size);
    for (char *to = out; size && offset < f->size;) {
        uint32_t at = offset % OP_BLOCK_SIZE, n = OP_BLOCK_SIZE - at;
        n = n < f->size - offset ? n : (uint32_t)(f->size - offset);
        n = n < size ? n : (uint32_t)size;
        const struct state_leaf *leaf = leaf_find(f, offset / OP_BLOCK_SIZE);
        struct state_block *block =
            leaf ? leaf->blocks[offset / OP_BLOCK_SIZE - leaf->first] : NULL;
        const unsigned char *bytes = block ? block_bytes(&s->blocks, block, e) : NULL;
        if (block && !bytes)
            return false;
        if (bytes)
            memcpy(to, bytes + at, n);
        to += n;
        offset += n;
        size -= n;
    }
    return true;
}
