/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/behaviour.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/mem.h"
#include "views/lines.h"
#include "views/op_words.h"
#include "views/schedule.h"

enum { LABEL, OP, COLUMNS };

struct behaviour_table {
    struct view view;
    struct analysis *analysis;
    const struct walk *walk; /* NULL: without marks */
    uint32_t *ops;           /* ascending */
    size_t n;
};

/* As views made of lines have them, beside which it stands. */
static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [LABEL] = {.title = "", .least = LINES_LABEL - 2, .most = LINES_LABEL - 2},
        [OP] = {.title = "", .least = LINES_LEAST, .yields = 1},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    return ((struct behaviour_table *)v)->n;
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct behaviour_table *t = (struct behaviour_table *)v;
    uint32_t op = t->ops[row - 1];
    struct cell *c = &out->cells[OP];

    cell_add(&out->cells[LABEL], STYLE_HEADING, "%s", row == 1 ? "ops" : "");
    if (t->walk) {
        schedule_mark(c, schedule_mark_of(t->walk, op));
        cell_gap(c);
    }
    cell_add(c, STYLE_NUMBER, "op %" PRIu32 " ", op);
    return op_what(c, t->analysis, op, e);
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    (void)e;
    *out = (struct subject){SUBJECT_OP, ((struct behaviour_table *)v)->ops[row - 1], NULL};
    return true;
}

static uint64_t find(struct view *v, const struct subject *s)
{
    const struct behaviour_table *t = (struct behaviour_table *)v;
    size_t low = 0, high = t->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->ops[middle] < s->number)
            low = middle + 1;
        else
            high = middle;
    }
    return s->kind == SUBJECT_OP && low < t->n && t->ops[low] == s->number ? low + 1 : 0;
}

static void close_view(struct view *v)
{
    struct behaviour_table *t = (struct behaviour_table *)v;

    free(t->ops);
    free(t);
}

struct view *behaviour_view(struct analysis *a, uint32_t behaviour, const struct walk *walk)
{
    static const struct view_ops ops = {
        .name = "behaviour",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = find,
        .close = close_view,
    };
    const struct behaviour *b = &a->behaviours->at[behaviour];
    struct behaviour_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->analysis = a;
    t->walk = walk;
    t->ops = xcalloc((size_t)b->ops + 1, sizeof *t->ops);
    t->n = behaviour_ops(a->behaviours, b, t->ops);
    return &t->view;
}
