/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "engine/moment.h"
#include "views/lines.h"
#include "views/op_words.h"

/* More followers than these are counted. */
enum { FOLLOWERS_SHOWN = 200, STEPS_SHOWN = 32 };

static struct subject about_op(uint32_t op)
{
    return (struct subject){.kind = SUBJECT_OP, .number = op};
}

/* "op 3 write manifest-1 0+6 data  same-block", and the reason in the row below. */
static bool add_edge(struct lines *l, const char *label, struct analysis *a, uint32_t op,
                     enum model_rule rule, int columns, struct error *e)
{
    struct cell *c = lines_add(l, label, about_op(op));

    cell_add(c, STYLE_NUMBER, "op %" PRIu32 " ", op);
    if (!op_what(c, a, op, e))
        return false;
    cell_add(c, STYLE_RULE, "  %s", model_rule_name(rule));
    lines_fold(l, "", STYLE_DIM, model_rule_reason(rule), lines_room(columns), about_op(op));
    return true;
}

static bool add_before(struct lines *l, struct analysis *a, uint32_t op, int columns,
                       struct error *e)
{
    const struct graph *g = a->graph;
    const char *label = "after";

    if (g->first[op] == g->first[op + 1])
        cell_add(lines_add(l, label, (struct subject){0}), STYLE_DIM,
                 "nothing by a rule of its own");
    for (uint32_t i = g->first[op]; i < g->first[op + 1]; i++, label = "")
        if (!add_edge(l, label, a, g->edges[i].from, (enum model_rule)g->edges[i].rule, columns, e))
            return false;
    lines_gap(l);
    return true;
}

/* Edges are kept at their ends: those that begin here are looked for among what was issued before
 * the op was durable. */
static bool add_after(struct lines *l, struct analysis *a, uint32_t op, int columns,
                      struct error *e)
{
    const struct graph *g = a->graph;
    const char *label = "before";
    size_t shown = 0, left_out = 0;

    for (uint32_t to = op + 1; to < g->n && g->issued[to] < g->durable[op]; to++) {
        for (uint32_t i = g->first[to]; i < g->first[to + 1]; i++) {
            if (g->edges[i].from != op)
                continue;
            if (shown == FOLLOWERS_SHOWN) {
                left_out++;
                continue;
            }
            shown++;
            if (!add_edge(l, label, a, to, (enum model_rule)g->edges[i].rule, columns, e))
                return false;
            label = "";
        }
    }
    if (left_out)
        cell_add(lines_add(l, "", (struct subject){0}), STYLE_DIM, "and %zu more", left_out);
    if (!shown)
        cell_add(lines_add(l, label, (struct subject){0}), STYLE_DIM,
                 "nothing by a rule of its own");
    lines_gap(l);
    return true;
}

/* Copies look like what they are copies of. */
static void add_carried(struct lines *l, const struct analysis *a, uint32_t op, int columns)
{
    const struct op *o = &a->graph->ops[op];

    if (!(o->flags & OP_CARRIED))
        return;
    char *text =
        xasprintf("op %" PRIu32 " once more: a sync writes what it did to a log, past what "
                  "else waits; either of the two is enough",
                  o->carried);
    lines_fold(l, "carried", STYLE_DIM, text, lines_room(columns), about_op(o->carried));
    free(text);
}

static bool add_durable(struct lines *l, struct analysis *a, uint32_t op, struct error *e)
{
    uint64_t event = op_durable(a, op);
    struct cell *c = lines_add(l, "durable",
                               (struct subject){event ? SUBJECT_EVENT : SUBJECT_NONE, event, NULL});

    if (a->graph->durable[op] == NEVER) {
        cell_add(c, STYLE_WARNING, "never");
        cell_add(c, STYLE_DIM, ": no sync covers it");
        return true;
    }
    cell_add(c, STYLE_PLAIN, "when ");
    bool ok = !event || event_words(c, a, event, e);
    if (!event)
        cell_add(c, STYLE_PRETEND, "a pretended sync");
    cell_add(c, STYLE_PLAIN, " has returned");
    return ok;
}

struct view *rules_of_op(struct analysis *a, uint32_t op, int columns, struct error *e)
{
    struct lines *l = lines_new("rules");
    struct cell *c = lines_add(l, "op", about_op(op));

    cell_add(c, STYLE_NUMBER, "%" PRIu32 " ", op);
    bool ok = op_what(c, a, op, e);
    add_carried(l, a, op, columns);
    lines_gap(l);
    ok = ok && add_before(l, a, op, columns, e) && add_after(l, a, op, columns, e) &&
         add_durable(l, a, op, e);
    struct view *v = lines_view(l);
    if (ok)
        return v;
    v->ops->close(v);
    return NULL;
}

/* ---- of a bug ---- */

static bool is_op(const struct analysis *a, const json_t *o, uint32_t *op)
{
    const json_t *number = json_object_get(o, "op");

    if (!json_is_integer(number) || json_integer_value(number) < 0 ||
        (uint64_t)json_integer_value(number) >= a->graph->n)
        return false;
    *op = (uint32_t)json_integer_value(number);
    return true;
}

/* One lost op beside what survived it: when it would be durable, and that no rule orders them. */
static bool add_pair(struct lines *l, struct analysis *a, uint32_t lost, uint32_t survived,
                     int columns, struct error *e)
{
    struct graph_step steps[STEPS_SHOWN];
    struct cell *c = lines_add(l, "lost", about_op(lost));

    cell_add(c, STYLE_NUMBER, "op %" PRIu32 " ", lost);
    bool ok = op_what(c, a, lost, e);
    add_carried(l, a, lost, columns);
    if (!ok || !add_durable(l, a, lost, e))
        return false;
    if (survived == NO_OP)
        return true;
    c = lines_add(l, "survived", about_op(survived));
    cell_add(c, STYLE_NUMBER, "op %" PRIu32 " ", survived);
    if (!op_what(c, a, survived, e))
        return false;
    size_t n = graph_why(a->graph, lost, survived, steps, STEPS_SHOWN);
    c = lines_add(l, "order", (struct subject){0});
    if (!n) {
        cell_add(c, STYLE_EDGE_MISSING, "none");
        cell_add(c, STYLE_PLAIN, ": no rule of %s and no sync orders them",
                 order_model(a->graph, lost, survived));
    }
    for (size_t i = 0; i < n && i < STEPS_SHOWN; i++)
        if (!add_edge(l, i ? "" : "by", a, steps[i].to, steps[i].rule, columns, e))
            return false;
    lines_gap(l);
    return true;
}

struct view *rules_of_bug(struct analysis *a, const json_t *bug, int columns, struct error *e)
{
    struct lines *l = lines_new("rules");
    const char *rule = json_string_value(json_object_get(bug, "rule"));
    const json_t *lost = json_object_get(bug, "lost"), *op;
    uint32_t survived = NO_OP, number;
    bool ok = bug != NULL || error_set(e, "there is no such bug");
    size_t i;

    if (rule) {
        char *safe = escape_text(rule);
        lines_fold(l, "legal", STYLE_PLAIN, safe, lines_room(columns), (struct subject){0});
        free(safe);
        lines_gap(l);
    }
    is_op(a, json_array_get(json_object_get(bug, "survived"), 0), &survived);
    json_array_foreach(lost, i, op)
    {
        if (ok && is_op(a, op, &number))
            ok = add_pair(l, a, number, survived, columns, e);
    }
    struct view *v = lines_view(l);
    if (ok)
        return v;
    v->ops->close(v);
    return NULL;
}
