/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/litmus_states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/map.h"
#include "engine/state.h"
#include "engine/vec.h"

/* ---- a litmus program as the source of states ---- */

static bool source_event(void *data, uint64_t number, struct event *out, struct error *e)
{
    (void)e;
    *out = *litmus_event(data, number);
    return true;
}

static const char *source_string(void *data, uint32_t id)
{
    return litmus_string(data, id);
}

static bool is_fill(uint64_t payload)
{
    return payload >> 63;
}

/* Bytes of the starting image have payloads of their own: the letter they are full of. */
static uint64_t fill_payload(char letter)
{
    return UINT64_C(1) << 63 | (unsigned char)letter;
}

static bool source_payload(void *data, uint64_t payload, uint64_t from, void *out, size_t size,
                           struct error *e)
{
    (void)e;
    if (payload == PAYLOAD_ZEROS)
        memset(out, 0, size);
    else if (is_fill(payload))
        memset(out, (int)(payload & 0xff), size);
    else
        litmus_payload(data, payload, from, out, size);
    return true;
}

static bool source_image(void *data, const struct image_visitor *visitor, void *visitor_data,
                         struct error *e)
{
    const struct litmus_file *files;
    size_t n = litmus_files(data, &files);
    (void)e;
    if (!visitor->file(visitor_data, FILE_ROOT, FILE_DIRECTORY, 0755, 0, NULL))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct litmus_file *f = &files[i];
        uint32_t mode = f->kind == FILE_DIRECTORY ? 0755 : 0644;
        if (!visitor->file(visitor_data, f->file, f->kind, mode, f->length, NULL))
            return false;
    }
    for (size_t i = 0; i < n; i++) {
        const struct litmus_file *f = &files[i];
        if (visitor->name && !visitor->name(visitor_data, f->dir, f->name, f->file))
            return false;
        if (f->length && visitor->extent &&
            !visitor->extent(visitor_data, f->file, 0, f->length, fill_payload(f->fill)))
            return false;
    }
    return true;
}

static enum file_kind source_kind(void *data, uint32_t file)
{
    (void)data, (void)file;
    return FILE_REGULAR; /* nothing is moved in here */
}

struct state_source litmus_state_source(const struct litmus *l)
{
    return (struct state_source){.data = (void *)(uintptr_t)l,
                                 .events = litmus_events(l),
                                 .event = source_event,
                                 .string = source_string,
                                 .payload = source_payload,
                                 .image = source_image,
                                 .kind = source_kind};
}

/* ---- a state in words ---- */

struct writing {
    struct state *state;
    struct buf text;
};

void litmus_write_bytes(struct buf *out, const char *bytes, size_t n)
{
    for (size_t at = 0, end; at < n; at = end) {
        for (end = at; end < n && bytes[end] == bytes[at];)
            end++;
        buf_printf(out, "%s%c%zu", at ? "," : "", bytes[at] ? bytes[at] : '0', end - at);
    }
}

static void write_contents(struct writing *w, const struct state_name *name)
{
    char *bytes = xmalloc(name->size + 1);
    struct error e;
    if (!state_read(w->state, name->file, 0, bytes, name->size, &e))
        memset(bytes, '?', name->size);
    litmus_write_bytes(&w->text, bytes, name->size);
    free(bytes);
}

static bool write_name(void *data, const struct state_name *name)
{
    struct writing *w = data;
    if (!*name->path)
        return true;
    if (w->text.n)
        buf_char(&w->text, ' ');
    buf_text(&w->text, name->path);
    if (name->kind == FILE_DIRECTORY)
        buf_char(&w->text, '/');
    else if (name->kind == FILE_SYMLINK)
        buf_printf(&w->text, "->%s", name->target);
    else {
        buf_char(&w->text, '=');
        write_contents(w, name);
    }
    return true;
}

/* ---- all of them ---- */

struct found {
    char *text, *printed;
    bool *survived;
    size_t kept; /* how many of them are set */
};

struct search {
    const struct litmus *litmus;
    const struct graph *graph;
    const uint64_t *below; /* graph_closure over all ops: one word a row suffices */
    struct state *state;
    bool survived[LITMUS_OPS_MAX];
    struct map seen;
    vec_of(struct found) found;
    struct error *error;
};

/* What was printed before the crash: it comes just before the first sync that makes a lost op
 * durable returns. */
static void add_printed(const struct search *s, struct buf *out)
{
    uint64_t crash = NEVER;
    for (size_t i = 0; i < s->graph->n; i++)
        if (!s->survived[i] && s->graph->durable[i] < crash)
            crash = s->graph->durable[i];
    for (uint64_t n = 1; n <= litmus_events(s->litmus); n++) {
        const struct event *event = litmus_event(s->litmus, n);
        if (event->call != CALL_PRINT || event->exit >= crash)
            continue;
        litmus_payload(s->litmus, event->payload, 0, buf_room(out, event->size), event->size);
    }
}

static void take_state(struct search *s)
{
    struct writing w = {.state = s->state};
    struct buf printed = {0}, key = {0};
    state_walk(s->state, write_name, &w);
    if (!w.text.n)
        buf_text(&w.text, "(nothing)");
    add_printed(s, &printed);
    buf_printf(&key, "%s%c%s", buf_string(&w.text), '\n', buf_string(&printed));
    size_t kept = 0;
    for (size_t i = 0; i < s->graph->n; i++)
        kept += s->survived[i];
    bool added;
    uint64_t *place = map_put(&s->seen, key.at, key.n, &added); /* in found, plus 1 */
    if (added) {
        struct found found = {xstrdup(buf_string(&w.text)), xstrdup(buf_string(&printed)),
                              xcalloc(LITMUS_OPS_MAX, sizeof(bool)), 0};
        vec_push(&s->found, found);
        *place = s->found.n;
    }
    struct found *found = &s->found.at[*place - 1];
    if (added || found->kept < kept) {
        memcpy(found->survived, s->survived, sizeof s->survived);
        found->kept = kept;
    }
    buf_free(&w.text);
    buf_free(&printed);
    buf_free(&key);
}

/* Each op in turn is lost, or survives when all that must come before it has. */
static bool search_from(struct search *s, uint32_t op)
{
    if (op == s->graph->n) {
        take_state(s);
        return true;
    }
    s->survived[op] = false;
    if (!search_from(s, op + 1))
        return false;
    for (uint32_t i = 0; i < op; i++)
        if (s->below[op] >> i & 1 && !s->survived[i])
            return true;
    size_t mark = state_mark(s->state);
    if (!state_apply(s->state, &s->graph->ops[op], op, s->error))
        return false;
    s->survived[op] = true;
    bool done = search_from(s, op + 1);
    s->survived[op] = false;
    state_undo(s->state, mark);
    return done;
}

static int by_text(const void *x, const void *y)
{
    const struct found *a = x, *b = y;
    int order = strcmp(a->text, b->text);
    return order ? order : strcmp(a->printed, b->printed);
}

static void search_free(struct search *s)
{
    for (size_t i = 0; i < s->found.n; i++) {
        free(s->found.at[i].text);
        free(s->found.at[i].printed);
        free(s->found.at[i].survived);
    }
    vec_free(&s->found);
    map_free(&s->seen);
    state_free(s->state);
}

bool litmus_states(const struct litmus *l, const struct graph *g,
                   void (*visit)(void *data, const struct litmus_state *state), void *data,
                   struct error *e)
{
    if (g->n > LITMUS_OPS_MAX)
        return error_set(e,
                         "%zu ops are too many for a litmus program (at most %d): use fewer or "
                         "smaller writes",
                         g->n, LITMUS_OPS_MAX);
    struct state_source source = litmus_state_source(l);
    uint32_t ops[LITMUS_OPS_MAX];
    uint64_t below[LITMUS_OPS_MAX] = {0};
    struct search s = {.litmus = l, .graph = g, .below = below, .error = e};
    for (uint32_t i = 0; i < g->n; i++)
        ops[i] = i;
    graph_closure(g, ops, g->n, below);
    bool done = state_new(&s.state, &source, e) && search_from(&s, 0);
    if (done && s.found.n)
        qsort(s.found.at, s.found.n, sizeof *s.found.at, by_text);
    for (size_t i = 0; done && i < s.found.n; i++)
        visit(data, &(struct litmus_state){s.found.at[i].text, s.found.at[i].printed,
                                           s.found.at[i].survived});
    search_free(&s);
    return done;
}
