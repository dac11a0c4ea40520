/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/bookmarks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/calls.h"
#include "engine/mem.h"
#include "views/op_words.h"
#include "views/trace_what.h"

enum { NUMBER, EVENT, WHAT, TEXT, COLUMNS };

struct bookmarks_table {
    struct view view;
    struct analysis *analysis;
    const struct bookmarks *list;
};

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [NUMBER] = {.title = "#", .least = 2, .right = true},
        [EVENT] = {.title = "event", .least = 5, .right = true},
        [WHAT] = {.title = "what", .least = 16, .most = 48, .yields = 2},
        [TEXT] = {.title = "note", .least = 12, .yields = 1},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    return ((struct bookmarks_table *)v)->list->n;
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct bookmarks_table *t = (struct bookmarks_table *)v;
    const struct bookmark *b = &t->list->at[row - 1];
    uint32_t op = bookmark_op(t->analysis->graph, b);

    cell_add(&out->cells[NUMBER], STYLE_NUMBER, "%" PRIu32, b->id);
    cell_add(&out->cells[EVENT], STYLE_NUMBER, "%" PRIu64, b->event);
    cell_escape(&out->cells[TEXT], STYLE_MARKER, b->text, strlen(b->text));
    if (op != NO_OP)
        return op_what(&out->cells[WHAT], t->analysis, op, e);
    struct event event;
    if (!session_event(t->analysis->session, b->event, &event, e))
        return false;
    cell_add(&out->cells[WHAT], trace_call_style(event.call), "%s ", call_name(event.call));
    trace_what(&out->cells[WHAT], t->analysis->session, t->analysis->fields, b->event, &event);
    return true;
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    struct bookmarks_table *t = (struct bookmarks_table *)v;
    const struct bookmark *b = &t->list->at[row - 1];
    uint32_t op = bookmark_op(t->analysis->graph, b);

    (void)e;
    *out = op != NO_OP ? (struct subject){SUBJECT_OP, op, NULL}
                       : (struct subject){SUBJECT_EVENT, b->event, NULL};
    return true;
}

struct view *bookmarks_view(struct analysis *a, const struct bookmarks *list)
{
    static const struct view_ops ops = {
        .name = "bookmarks",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = view_find_nothing,
        .close = view_close_plain,
    };
    struct bookmarks_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->analysis = a;
    t->list = list;
    return &t->view;
}
