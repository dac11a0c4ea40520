/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/report.h"
#include "views/behaviours.h"
#include "views/group.h"

enum { NUMBER, FUNCTION, REPRESENTATIVE, MEMBERS, SIGNATURES, OPS, SCHEDULES, COLUMNS };

struct groups_table {
    struct view view;
    struct analysis *analysis;
    const struct groups *groups;
    struct column columns[COLUMNS];
};

static const struct column *columns(struct view *v, size_t *n)
{
    *n = COLUMNS;
    return ((struct groups_table *)v)->columns;
}

static void set_columns(struct groups_table *t)
{
    const struct column all[COLUMNS] = {
        [NUMBER] = {.title = "#", .least = 4, .right = true},
        [FUNCTION] = {.title = behaviour_column(t->analysis), .least = 12, .most = 60, .yields = 1},
        [REPRESENTATIVE] = {.title = "representative", .least = 6, .right = true},
        [MEMBERS] = {.title = "members", .least = 7, .right = true},
        [SIGNATURES] = {.title = "signatures", .least = 5, .right = true},
        [OPS] = {.title = "ops", .least = 5, .right = true},
        [SCHEDULES] = {.title = "schedules", .least = 9, .right = true},
    };
    memcpy(t->columns, all, sizeof all);
}

static uint64_t count(struct view *v)
{
    return ((struct groups_table *)v)->groups->n;
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct groups_table *t = (struct groups_table *)v;
    const struct group *g = &t->groups->at[row - 1];
    const struct behaviour *b = &t->analysis->behaviours->at[g->representative];
    struct ideals_total total = group_schedules(t->analysis, b);
    struct cell *schedules = &out->cells[SCHEDULES];

    (void)e;
    cell_add(&out->cells[NUMBER], STYLE_NUMBER, "%" PRIu64, row - 1);
    behaviour_words(&out->cells[FUNCTION], t->analysis, b);
    cell_add(&out->cells[REPRESENTATIVE], STYLE_NUMBER, "%" PRIu32, g->representative);
    cell_add(&out->cells[MEMBERS], STYLE_NUMBER, "%" PRIu32, g->members);
    cell_add(&out->cells[SIGNATURES], STYLE_NUMBER, "%" PRIu32, g->signatures);
    cell_add(&out->cells[OPS], STYLE_NUMBER, "%" PRIu32, b->ops);
    if (!total.count || total.known == IDEALS_BEYOND)
        cell_add(schedules, STYLE_DIM, total.count ? "very many" : "not counted");
    else
        cell_add(schedules, STYLE_NUMBER, "%s%" PRIu64,
                 total.known == IDEALS_EXACT ? "" : "at most ", total.count);
    return true;
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    (void)v, (void)e;
    *out = (struct subject){.kind = SUBJECT_GROUP, .number = row - 1};
    return true;
}

static uint64_t find(struct view *v, const struct subject *s)
{
    return s->kind == SUBJECT_GROUP && s->number < count(v) ? s->number + 1 : 0;
}

struct view *groups_view(struct analysis *a, const struct groups *groups)
{
    static const struct view_ops ops = {
        .name = "groups",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = find,
        .close = view_close_plain,
    };
    struct groups_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->analysis = a;
    t->groups = groups;
    set_columns(t);
    return &t->view;
}

json_t *groups_view_json(struct view *v, uint64_t row, struct error *e)
{
    struct groups_table *t = (struct groups_table *)v;
    const struct group *g = &t->groups->at[row - 1];
    const struct behaviour *b = &t->analysis->behaviours->at[g->representative];
    struct ideals_total total = group_schedules(t->analysis, b);
    bool known = total.count && total.known != IDEALS_BEYOND && total.count <= INT64_MAX;
    json_t *out = json_object();

    (void)e;
    json_object_set_new(out, "group", json_integer((json_int_t)row - 1));
    behaviour_set_work(out, t->analysis, b);
    json_object_set_new(out, "representative", json_integer(g->representative));
    json_object_set_new(out, "members", json_integer(g->members));
    json_object_set_new(out, "signatures", json_integer(g->signatures));
    json_object_set_new(out, "ops", json_integer(b->ops));
    json_object_set_new(out, "schedules",
                        known ? json_integer((json_int_t)total.count) : json_null());
    json_object_set_new(out, "schedules_exact", json_boolean(known && total.known == IDEALS_EXACT));
    return out;
}
