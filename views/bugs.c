/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/bugs.h"

#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "engine/report_words.h"

enum { NUMBER, KIND, WHAT, WHERE, STATES, STATUS, COLUMNS };

struct bugs_view {
    struct view view;
    json_t *bugs;
    bool kept;
};

static const struct column *columns(struct view *v, size_t *n)
{
    (void)v;
    static const struct column all[COLUMNS] = {
        [NUMBER] = {.title = "#", .least = 2, .right = true},
        [KIND] = {.title = "kind", .least = 11},
        [WHAT] = {.title = "what", .least = 20, .most = 80, .yields = 2},
        [WHERE] = {.title = "where", .least = 12, .most = 40, .yields = 1},
        [STATES] = {.title = "states", .least = 6, .right = true},
        [STATUS] = {.title = "status", .least = 6},
    };
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    return json_array_size(((struct bugs_view *)v)->bugs);
}

static void add_text(struct cell *c, enum style style, const json_t *o, const char *key)
{
    const json_t *text = json_object_get(o, key);
    if (json_string_length(text))
        cell_escape(c, style, json_string_value(text), json_string_length(text));
}

/* file:line; the function where there is no line. */
static void add_where(struct cell *c, const json_t *op)
{
    const char *file = json_string_value(json_object_get(op, "file"));

    if (!file || !*file || report_number(op, "line") <= 0) {
        add_text(c, STYLE_SOURCE_FUNCTION, op, "function");
        return;
    }
    const char *slash = strrchr(file, '/');
    file = slash ? slash + 1 : file;
    cell_escape(c, STYLE_SOURCE_LINE, file, strlen(file));
    cell_add(c, STYLE_SOURCE_LINE, ":%" JSON_INTEGER_FORMAT, report_number(op, "line"));
}

/* "new", "duplicate of 2", and whether somebody wrote a note. */
static void add_status(struct cell *c, const json_t *bug)
{
    add_text(c, STYLE_FLAG, bug, "status");
    if (json_is_integer(json_object_get(bug, "duplicate_of")))
        cell_add(c, STYLE_FLAG, " of %" JSON_INTEGER_FORMAT, report_number(bug, "duplicate_of"));
    if (report_has(bug, "note")) {
        cell_gap(c);
        cell_add(c, STYLE_MARKER, "+note");
    }
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    (void)e;
    const json_t *bug = json_array_get(((struct bugs_view *)v)->bugs, (size_t)row - 1);
    bool aside = report_set_aside(bug);
    cell_add(&out->cells[NUMBER], STYLE_NUMBER, "%" JSON_INTEGER_FORMAT, report_number(bug, "id"));
    add_text(&out->cells[KIND], aside ? STYLE_DIM : STYLE_RESULT_BAD, bug, "kind");
    add_text(&out->cells[WHAT], aside ? STYLE_DIM : STYLE_PLAIN, bug, "summary");
    add_where(&out->cells[WHERE], report_culprit(bug));
    cell_add(&out->cells[STATES], STYLE_NUMBER, "%" JSON_INTEGER_FORMAT,
             report_number(bug, "states"));
    add_status(&out->cells[STATUS], bug);
    return true;
}

static void close_view(struct view *v)
{
    json_decref(((struct bugs_view *)v)->bugs);
    free(v);
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    struct bugs_view *b = (struct bugs_view *)v;
    (void)e;
    if (b->kept) {
        *out = (struct subject){.kind = SUBJECT_BUG, .number = row};
        return true;
    }
    const json_t *culprit = report_culprit(json_array_get(b->bugs, (size_t)row - 1));
    json_int_t event = culprit ? report_number(culprit, "event") : 0;
    *out = (struct subject){.kind = event > 0 ? SUBJECT_EVENT : SUBJECT_NONE,
                            .number = event > 0 ? (uint64_t)event : 0};
    return true;
}

static uint64_t find(struct view *v, const struct subject *s)
{
    bool kept = ((struct bugs_view *)v)->kept;
    return kept && s->kind == SUBJECT_BUG && s->number <= count(v) ? s->number : 0;
}

struct view *bugs_view_open(const json_t *report, bool kept)
{
    static const struct view_ops ops = {
        .name = "bugs",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = find,
        .close = close_view,
    };
    struct bugs_view *b = xcalloc(1, sizeof *b);
    b->view.ops = &ops;
    b->kept = kept;
    b->bugs = json_incref(json_object_get(report, "bugs"));
    return &b->view;
}
