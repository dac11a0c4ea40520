/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/lint.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/calls.h"
#include "engine/mem.h"
#include "views/stack.h"
#include "views/trace_json.h"
#include "views/trace_what.h"

enum { COUNT, FINDING, EVENT, WHAT, FUNCTION, SOURCE, COLUMNS };

struct lint_table {
    struct view view;
    struct session *session;
    struct symbols *symbols;
    const struct fields *fields;
    const struct lint *lint;
};

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [COUNT] = {.title = "count", .least = 5, .right = true},
        [FINDING] = {.title = "finding", .least = 20, .most = 40, .yields = 1},
        [EVENT] = {.title = "first", .least = 5, .right = true},
        [WHAT] = {.title = "what", .least = 12, .most = 40, .yields = 3},
        [FUNCTION] = {.title = "function", .least = 8, .most = 32, .yields = 2},
        [SOURCE] = {.title = "source", .least = 8, .most = 32},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    return ((struct lint_table *)v)->lint->n;
}

static void add_event(struct cell *c, struct lint_table *t, uint64_t number,
                      const struct event *event)
{
    struct cell what = {0};

    cell_add(c, trace_call_style(event->call), "%s", call_name(event->call));
    trace_what(&what, t->session, t->fields, number, event);
    if (what.text.n)
        cell_gap(c);
    cell_copy(c, &what);
    cell_free(&what);
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct lint_table *t = (struct lint_table *)v;
    const struct lint_finding *f = &t->lint->at[row - 1];
    struct event event;

    if (!session_event(t->session, f->event, &event, e))
        return false;
    cell_add(&out->cells[COUNT], STYLE_NUMBER, "%" PRIu64, f->count);
    cell_add(&out->cells[FINDING], STYLE_WARNING, "%s", lint_kind_words(f->kind));
    cell_add(&out->cells[EVENT], STYLE_NUMBER, "%" PRIu64, f->event);
    add_event(&out->cells[WHAT], t, f->event, &event);
    const struct location *l = symbols_stack(t->symbols, f->stack);
    if (l)
        trace_location(t->session, l, &out->cells[FUNCTION],
                       location_has_source(l) ? &out->cells[SOURCE] : NULL);
    return true;
}

static bool detail(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                   struct error *e)
{
    struct lint_table *t = (struct lint_table *)v;

    (void)e;
    stack_line(t->session, t->symbols, t->lint->at[row - 1].stack, n, out, more);
    return true;
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    struct lint_table *t = (struct lint_table *)v;

    (void)e;
    *out = (struct subject){.kind = SUBJECT_EVENT, .number = t->lint->at[row - 1].event};
    return true;
}

static const struct view_ops ops = {
    .name = "lint",
    .columns = columns,
    .count = count,
    .seek = view_seek_all,
    .draw = draw,
    .detail = detail,
    .subject = subject,
    .find = view_find_nothing,
    .close = view_close_plain,
};

struct view *lint_view(struct session *s, struct symbols *sy, const struct fields *f,
                       const struct lint *l)
{
    struct lint_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->session = s;
    t->symbols = sy;
    t->fields = f;
    t->lint = l;
    return &t->view;
}

/* The event as `flotsam trace --json` has it. */
static json_t *event_json(struct lint_table *t, uint64_t number, struct error *e)
{
    struct trace_json *trace = trace_json_open(t->session, t->symbols, t->fields);
    struct buf text = {0};
    json_t *event = NULL;

    if (trace_json_event(trace, number, &text, e)) {
        event = json_loadb(text.at, text.n, 0, NULL);
        if (!event)
            error_set(e, "event %" PRIu64 " cannot be told in JSON", number);
    }
    buf_free(&text);
    trace_json_close(trace);
    return event;
}

json_t *lint_view_json(struct view *v, uint64_t row, struct error *e)
{
    static const char *const members[] = {"event",    "call", "path", "offset", "size",
                                          "field", "type", "stored", "instance", "confidence",
                                          "function", "file", "line", "stack"};
    struct lint_table *t = (struct lint_table *)v;
    const struct lint_finding *f = &t->lint->at[row - 1];
    json_t *event = event_json(t, f->event, e), *out;

    if (!event)
        return NULL;
    out = json_object();
    json_object_set_new(out, "kind", json_string(lint_kind_name(f->kind)));
    json_object_set_new(out, "words", json_string(lint_kind_words(f->kind)));
    json_object_set_new(out, "count", json_integer((json_int_t)f->count));
    json_object_set_new(out, "stores", json_string(lint_stores_name(t->lint->stores)));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (json_object_get(event, members[i]))
            json_object_set(out, members[i], json_object_get(event, members[i]));
    json_decref(event);
    return out;
}
