/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Working out what the stores of a session wrote: the stores are handed to engine/types.h in the
 * order of the trace, a batch at a time, and the answers are turned into numbers and texts that
 * outlast the debug info.
 */
#include "engine/fields_inside.h"

#include <stdlib.h>
#include <string.h>

#include "engine/map.h"
#include "engine/type_words.h"
#include "engine/types.h"

/* Stores of one copy belong to one batch: it ends where the next store comes from elsewhere. */
enum { BATCH = 1 << 14, BATCH_MAX = 1 << 18 };

struct batched {
    struct type_store store;
    uint64_t event, offset, bytes; /* where the bytes are in the arena */
    uint32_t stack;
};

struct finder {
    struct fields *f;
    struct session *session;
    struct types *types;
    struct map texts;   /* → number */
    struct map type_of; /* struct type * → number */
    vec_of(struct batched) batch;
    struct buf arena; /* bytes that the batch stores */
};

static uint32_t add_text(struct finder *w, const char *text)
{
    bool added;
    uint64_t *number = map_put(&w->texts, text, strlen(text), &added);
    if (added) {
        vec_push(&w->f->text_at, w->f->texts.n);
        buf_add(&w->f->texts, text, strlen(text) + 1);
        *number = w->f->text_at.n;
    }
    return (uint32_t)*number;
}

/* ---- types ---- */

static bool add_leaf(void *data, const struct type_leaf *leaf)
{
    struct finder *w = data;
    struct field_type *type = &vec_last(&w->f->types);
    if (type->count == FIELDS_LEAVES_MAX)
        return false;
    struct field_leaf out = {.offset = leaf->offset,
                             .size = leaf->size,
                             .bit = leaf->bit,
                             .bits = leaf->bits,
                             .kind = leaf->type ? leaf->type->kind : TYPE_VOID,
                             .path = add_text(w, leaf->path)};
    vec_push(&w->f->leaves, out);
    type->count++;
    return true;
}

static uint32_t add_type(struct finder *w, struct type *type)
{
    bool added;
    if (!type)
        return 0;
    uint64_t *number = map_put(&w->type_of, &type, sizeof type, &added);
    if (!added)
        return (uint32_t)*number;
    *number = w->f->types.n + 1;
    uint32_t out = (uint32_t)*number;
    struct field_type t = {.size = type->size, .first = (uint32_t)w->f->leaves.n};
    t.name = add_text(w, type_name(type));
    vec_push(&w->f->types, t);
    type_walk(type, 0, type->size, add_leaf, w);
    return out;
}

static bool first_path(void *data, const struct type_leaf *leaf)
{
    struct buf *out = data;
    int inside = 0;
    for (const char *p = leaf->path; *p; p++) {
        inside += *p == '[';
        if (!inside)
            buf_char(out, *p);
        inside -= *p == ']' && inside;
    }
    return false;
}

/* "entry.key", whichever element of an array it is. */
static uint32_t add_field(struct finder *w, const struct type_answer *a)
{
    struct buf name = {0}, path = {0};
    uint32_t number = 0;
    if (a->type) {
        type_walk(a->type, a->member, a->member + 1, first_path, &path);
        buf_printf(&name, "%s%s%s", type_name(a->type), path.n ? "." : "", buf_string(&path));
        number = add_text(w, buf_string(&name));
    }
    buf_free(&path);
    buf_free(&name);
    return number;
}

/* ---- stores ---- */

/* Where an object begins in the file; addresses are those of one mapping. */
static uint64_t in_file(const struct batched *b, uint64_t instance)
{
    if (!instance || instance > b->store.address || b->store.address - instance > b->offset)
        return 0;
    return b->offset - (b->store.address - instance) + 1;
}

static void add_store(struct finder *w, const struct batched *b, const struct type_answer *a)
{
    struct buf text = {0};
    struct stored_field out = {.event = b->event,
                               .instance = in_file(b, a->instance),
                               .outer_instance = in_file(b, a->outer_instance),
                               .member = a->member,
                               .confidence = a->confidence};
    if (a->confidence == TYPE_UNKNOWN)
        return;
    out.type = add_type(w, a->type);
    out.outer = add_type(w, a->outer);
    out.field = add_field(w, a);
    types_path(a, b->store.address, b->store.size, &text);
    out.path = text.n ? add_text(w, buf_string(&text)) : 0;
    buf_clear(&text);
    if (out.path &&
        types_store_words(a, b->store.address, b->store.size, b->store.bytes, NULL, &text))
        out.words = add_text(w, buf_string(&text));
    vec_push(&w->f->stores, out);
    buf_free(&text);
}

static void finish_batch(struct finder *w)
{
    size_t n = w->batch.n;
    if (!n)
        return;
    struct type_store *stores = xcalloc(n, sizeof *stores);
    struct type_answer *answers = xcalloc(n, sizeof *answers);
    for (size_t i = 0; i < n; i++) {
        w->batch.at[i].store.bytes = w->arena.at + w->batch.at[i].bytes;
        stores[i] = w->batch.at[i].store;
    }
    types_stores(w->types, stores, n, answers);
    for (size_t i = 0; i < n; i++)
        add_store(w, &w->batch.at[i], &answers[i]);
    free(stores);
    free(answers);
    w->batch.n = 0;
    buf_clear(&w->arena);
}

static bool add_to_batch(struct finder *w, uint64_t number, const struct event *event,
                         struct error *e)
{
    struct batched b = {.event = number, .offset = event->offset, .stack = event->stack};
    if ((w->batch.n >= BATCH && vec_last(&w->batch).stack != event->stack) ||
        w->batch.n >= BATCH_MAX)
        finish_batch(w);
    b.bytes = w->arena.n;
    b.store = (struct type_store){
        .address = event->address,
        .size = event->size,
        .thread = event->thread,
        /* PMDK's handles count from the beginning of the pool's file. */
        .mapping = event->address >= event->offset ? event->address - event->offset : 0};
    b.store.frame_count = session_stack(w->session, event->stack, &b.store.frames);
    char *room = buf_room(&w->arena, event->size);
    if (!session_payload(w->session, event->payload, 0, room, event->size, e))
        return false;
    vec_push(&w->batch, b);
    return true;
}

static bool take_events(struct finder *w, const struct interrupt *interrupt, struct error *e)
{
    for (uint64_t i = 1; i <= session_event_count(w->session); i++) {
        struct event event;
        if (!session_event(w->session, i, &event, e) ||
            (i % INTERRUPT_EVERY == 0 && !interrupt_go_on(interrupt, e)))
            return false;
        if (event.traits & (EVENT_FAILED | EVENT_UNFINISHED))
            continue;
        if (event.call == CALL_STORE && !add_to_batch(w, i, &event, e))
            return false;
        if (event.call == CALL_MUNMAP || event.call == CALL_MREMAP) {
            finish_batch(w);
            uint64_t at = event.call == CALL_MUNMAP ? event.address : event.other_offset;
            types_expire(w->types, at, event.size);
        }
    }
    finish_batch(w);
    return true;
}

bool fields_find(struct fields *f, struct session *s, struct symbols *symbols,
                 const struct interrupt *interrupt, struct error *e)
{
    struct finder w = {.f = f, .session = s, .types = types_open(symbols_binary, symbols)};
    bool done = take_events(&w, interrupt, e);
    types_close(w.types);
    map_free(&w.texts);
    map_free(&w.type_of);
    vec_free(&w.batch);
    buf_free(&w.arena);
    return done;
}
