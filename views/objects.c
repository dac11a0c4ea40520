/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "views/trace_what.h"

enum { NUMBER, TYPE, PATH, OFFSET, SIZE, STORES, LOST, COLUMNS };

/* A row costs no more than this: of an object that is stored to all the time the last stores
 * before the crash tell enough. */
enum { LOOKED_AT = 4096 };

struct objects_table {
    struct view view;
    struct analysis *analysis;
    const struct stored_objects *objects;
    struct walk *walk;
};

void object_words(struct cell *c, struct analysis *a, const struct stored_object *o)
{
    const char *type = fields_type_name(a->fields, o->type);

    cell_escape(c, STYLE_FIELD, type, strlen(type));
    cell_add(c, STYLE_PLAIN, " at ");
    trace_path(c, a->session, 0, o->file);
    cell_add(c, STYLE_NUMBER, " %" PRIu64, o->offset);
}

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [NUMBER] = {.title = "#", .least = 4, .right = true},
        [TYPE] = {.title = "type", .least = 8, .most = 40, .yields = 1},
        [PATH] = {.title = "file", .least = 6, .most = 32, .yields = 2},
        [OFFSET] = {.title = "at", .least = 6, .right = true},
        [SIZE] = {.title = "size", .least = 5, .right = true},
        [STORES] = {.title = "stores", .least = 6, .right = true},
        [LOST] = {.title = "in this state", .least = 13, .yields = 3},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    return ((struct objects_table *)v)->objects->n;
}

/* Stores are numbered in the order in which they were issued: those after the crash are the last.
 */
static uint32_t issued(const struct objects_table *t, const struct stored_object *o)
{
    uint32_t low = 0, high = o->count, end = walk_issued(t->walk);

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (t->objects->ops[o->first + middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_marks(const struct objects_table *t, const struct stored_object *o, struct cell *c)
{
    uint32_t n = issued(t, o), lost = 0, flight = 0;

    for (uint32_t i = n; i > 0 && n - i < LOOKED_AT; i--) {
        enum walk_mark mark = walk_mark(t->walk, t->objects->ops[o->first + i - 1]);
        lost += mark == WALK_LOST;
        flight += mark == WALK_FLIGHT;
    }
    if (lost)
        cell_add(c, STYLE_OP_LOST, "%s %" PRIu32 " lost", glyph(GLYPH_LOST), lost);
    if (flight) {
        cell_gap(c);
        cell_add(c, STYLE_OP_FLIGHT, "%s %" PRIu32 " in flight", glyph(GLYPH_FLIGHT), flight);
    }
    if (!lost && !flight && n)
        cell_add(c, STYLE_OP_PERSISTED, "%s persisted", glyph(GLYPH_PERSISTED));
    if (!n)
        cell_add(c, STYLE_OP_UNISSUED, "%s not yet", glyph(GLYPH_UNISSUED));
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct objects_table *t = (struct objects_table *)v;
    const struct stored_object *o = &t->objects->at[row - 1];
    const char *type = fields_type_name(t->analysis->fields, o->type);

    (void)e;
    cell_add(&out->cells[NUMBER], STYLE_NUMBER, "%" PRIu64, row - 1);
    cell_escape(&out->cells[TYPE], STYLE_FIELD, type, strlen(type));
    trace_path(&out->cells[PATH], t->analysis->session, 0, o->file);
    cell_add(&out->cells[OFFSET], STYLE_NUMBER, "%" PRIu64, o->offset);
    cell_add(&out->cells[SIZE], STYLE_NUMBER, "%" PRIu64, o->size);
    cell_add(&out->cells[STORES], STYLE_NUMBER, "%" PRIu32, o->count);
    add_marks(t, o, &out->cells[LOST]);
    return true;
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    (void)v, (void)e;
    *out = (struct subject){.kind = SUBJECT_OBJECT, .number = row - 1};
    return true;
}

static uint64_t find(struct view *v, const struct subject *s)
{
    return s->kind == SUBJECT_OBJECT && s->number < count(v) ? s->number + 1 : 0;
}

struct view *objects_view(struct analysis *a, const struct stored_objects *objects,
                          struct walk *walk)
{
    static const struct view_ops ops = {
        .name = "objects",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = find,
        .close = view_close_plain,
    };
    struct objects_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->analysis = a;
    t->objects = objects;
    t->walk = walk;
    return &t->view;
}
