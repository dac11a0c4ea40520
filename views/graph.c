/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/graph.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/report.h"
#include "views/op_words.h"
#include "views/store_words.h"

enum { OP, EVENT, KIND, PATH, PART, FUNCTION, SOURCE, DURABLE, AFTER, COLUMNS };

struct graph_table {
    struct view view;
    struct analysis *analysis;
    struct trace_filter *filter;
};

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [OP] = {.title = "op", .least = 4, .right = true},
        [EVENT] = {.title = "event", .least = 5, .right = true},
        [KIND] = {.title = "kind", .least = 5},
        [PATH] = {.title = "file", .least = 10, .most = 40, .yields = 2},
        [PART] = {.title = "part", .least = 6, .most = 60, .yields = 1},
        [FUNCTION] = {.title = "function", .least = 8, .most = 32, .yields = 5},
        [SOURCE] = {.title = "source", .least = 11, .most = 32, .yields = 3},
        [DURABLE] = {.title = "durable after", .least = 8, .most = 28, .yields = 4},
        [AFTER] = {.title = "must follow", .least = 10, .yields = 1},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    return ((struct graph_table *)v)->analysis->graph->n;
}

static bool seek(struct view *v, uint64_t *row, int step, struct error *e)
{
    struct graph_table *t = (struct graph_table *)v;
    struct analysis *a = t->analysis;

    for (; *row >= 1 && *row <= a->graph->n; *row += (uint64_t)step) {
        const struct op *op = &a->graph->ops[*row - 1];
        struct event event;
        if (!t->filter)
            return true;
        if (!session_event(a->session, op->event, &event, e))
            return false;
        if (trace_filter_pass(t->filter, a->session, a->symbols, op->event, &event))
            return true;
    }
    *row = 0;
    return true;
}

static void add_predecessors(struct cell *c, const struct graph *g, uint32_t op)
{
    for (uint32_t i = g->first[op]; i < g->first[op + 1]; i++) {
        if (i > g->first[op])
            cell_add(c, STYLE_PLAIN, ", ");
        cell_add(c, STYLE_NUMBER, "%" PRIu32, g->edges[i].from);
        cell_add(c, STYLE_FLAG, " %s", model_rule_name((enum model_rule)g->edges[i].rule));
    }
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct analysis *a = ((struct graph_table *)v)->analysis;
    uint32_t number = (uint32_t)row - 1;
    const struct op *op = &a->graph->ops[number];

    cell_add(&out->cells[OP], STYLE_NUMBER, "%" PRIu32, number);
    cell_add(&out->cells[EVENT], STYLE_NUMBER, "%" PRIu64, op->event);
    cell_add(&out->cells[KIND], op->kind == OP_NAME ? STYLE_CALL_NAME : STYLE_CALL_WRITE, "%s",
             report_op_kind(op));
    if (op->flags & OP_CARRIED)
        cell_add(&out->cells[KIND], STYLE_FLAG, " (copy of %" PRIu32 ")", op->carried);
    op_part(&out->cells[PART], op);
    if (op->kind == OP_STORE) {
        cell_gap(&out->cells[PART]);
        store_field(&out->cells[PART], a->fields, op->event);
    }
    add_predecessors(&out->cells[AFTER], a->graph, number);
    if (a->graph->durable[number] == NEVER)
        cell_add(&out->cells[DURABLE], STYLE_WARNING, "never");
    else if (!op_durable_words(&out->cells[DURABLE], a, number, e))
        return false;
    return op_path(&out->cells[PATH], a, number, e) &&
           op_place(&out->cells[FUNCTION], &out->cells[SOURCE], a, number, e);
}

static void close_view(struct view *v)
{
    free(v);
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    (void)v, (void)e;
    *out = (struct subject){.kind = SUBJECT_OP, .number = row - 1};
    return true;
}

static uint64_t find(struct view *v, const struct subject *s)
{
    return s->kind == SUBJECT_OP && s->number < count(v) ? s->number + 1 : 0;
}

struct view *graph_view(struct analysis *a, struct trace_filter *filter)
{
    static const struct view_ops ops = {
        .name = "graph",
        .columns = columns,
        .count = count,
        .seek = seek,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = find,
        .close = close_view,
    };
    struct graph_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->analysis = a;
    t->filter = filter;
    return &t->view;
}

json_t *graph_view_json(struct view *v, uint64_t row, struct error *e)
{
    struct analysis *a = ((struct graph_table *)v)->analysis;
    const struct graph *g = a->graph;
    uint32_t op = (uint32_t)row - 1;
    uint64_t durable = op_durable(a, op);
    json_t *out = report_op(a, op, false), *before = json_array();

    (void)e;
    json_object_set_new(out, "durable", durable ? json_integer((json_int_t)durable) : json_null());
    if (g->ops[op].flags & OP_CARRIED)
        json_object_set_new(out, "copy_of", json_integer(g->ops[op].carried));
    for (uint32_t i = g->first[op]; i < g->first[op + 1]; i++) {
        json_t *edge = json_object();
        json_object_set_new(edge, "op", json_integer(g->edges[i].from));
        json_object_set_new(edge, "rule",
                            json_string(model_rule_name((enum model_rule)g->edges[i].rule)));
        json_array_append_new(before, edge);
    }
    json_object_set_new(out, "predecessors", before);
    return out;
}
