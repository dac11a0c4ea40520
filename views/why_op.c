/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/why_op.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/moment.h"
#include "views/op_words.h"
#include "views/sentence.h"

enum { OP, EVENT, WHAT, FUNCTION, SOURCE, RULE, REASON, COLUMNS };

struct why_op {
    struct view view;
    struct analysis *analysis;
    struct graph_step *steps;
    size_t n;               /* of steps; 0: the one need not come before the other */
    uint32_t before, after; /* as asked for */
    struct sentences sentences;
};

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [OP] = {.title = "op", .least = 4, .right = true},
        [EVENT] = {.title = "event", .least = 5, .right = true},
        [WHAT] = {.title = "what", .least = 16, .most = 60, .yields = 1},
        [FUNCTION] = {.title = "function", .least = 8, .most = 32, .yields = 4},
        [SOURCE] = {.title = "source", .least = 8, .most = 32, .yields = 3},
        [RULE] = {.title = "rule", .least = 6},
        [REASON] = {.title = "why it waits for the one above", .least = 20, .yields = 2},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    const struct why_op *w = (struct why_op *)v;
    return w->n ? w->n + 1 : 2;
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct why_op *w = (struct why_op *)v;
    struct analysis *a = w->analysis;
    uint32_t op = row == 1 ? w->before : w->n ? w->steps[row - 2].to : w->after;

    cell_add(&out->cells[OP], STYLE_NUMBER, "%" PRIu32, op);
    cell_add(&out->cells[EVENT], STYLE_NUMBER, "%" PRIu64, a->graph->ops[op].event);
    if (row > 1 && w->n) {
        enum model_rule rule = w->steps[row - 2].rule;
        cell_add(&out->cells[RULE], STYLE_FLAG, "%s", model_rule_name(rule));
        cell_add(&out->cells[REASON], STYLE_PLAIN, "%s", model_rule_reason(rule));
    }
    return op_what(&out->cells[WHAT], a, op, e) &&
           op_place(&out->cells[FUNCTION], &out->cells[SOURCE], a, op, e);
}

static bool detail(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                   struct error *e)
{
    (void)e;
    *more = false;
    return row != count(v) || sentences_detail(&((struct why_op *)v)->sentences, n, out, more);
}

static void close_view(struct view *v)
{
    struct why_op *w = (struct why_op *)v;

    sentences_free(&w->sentences);
    free(w->steps);
    free(w);
}

/* --- In prose ------------------------------------------------------------------------------ */

/* A sentence begins with a capital. */
static const char *op_word(const struct cell *c)
{
    size_t n = c->text.n;
    return !n || (n > 1 && c->text.at[n - 2] == '.') ? "Op" : "op";
}

/* "op 3 (write manifest-1 0+6 data)"; styles do not matter, the cell is only a text here. */
static bool add_op(struct cell *c, struct analysis *a, uint32_t op, struct error *e)
{
    cell_add(c, STYLE_PLAIN, "%s %" PRIu32 " (", op_word(c), op);
    bool ok = op_what(c, a, op, e);
    cell_add(c, STYLE_PLAIN, ")");
    return ok;
}

/* When it is durable, from its own syncs or from those of what must follow it. */
static bool add_durable(struct cell *c, struct why_op *w, uint32_t op, struct error *e)
{
    if (w->analysis->graph->durable[op] == NEVER) {
        cell_add(c, STYLE_PLAIN, "no sync ever makes op %" PRIu32 " durable", op);
        return true;
    }
    cell_add(c, STYLE_PLAIN, "%s %" PRIu32 " is durable once %s", op_word(c), op,
             op_durable(w->analysis, op) ? "event " : "the ");
    bool ok = op_durable_words(c, w->analysis, op, e);
    cell_add(c, STYLE_PLAIN, " has returned");
    return ok;
}

/* The event that issued it: of a copy, the sync that carried it. */
static uint64_t issuer(const struct why_op *w, uint32_t op)
{
    return moment_begun(w->analysis->session, w->analysis->graph->issued[op] + 1);
}

static bool say_must(struct why_op *w, struct cell *c, struct error *e)
{
    const struct graph *g = w->analysis->graph;
    bool ok = add_op(c, w->analysis, w->before, e);

    cell_add(c, STYLE_PLAIN, " must persist before ");
    ok = ok && add_op(c, w->analysis, w->after, e);
    cell_add(c, STYLE_PLAIN, ": under %s no crash leaves the second without the first. ",
             order_model(g, w->before, w->after));
    if (g->durable[w->before] < g->issued[w->after]) {
        ok = ok && add_durable(c, w, w->before, e);
        cell_add(c, STYLE_PLAIN, ", and the other was issued after that, by event %" PRIu64 ".",
                 issuer(w, w->after));
    } else {
        cell_add(c, STYLE_PLAIN, "This holds without any sync between them.");
    }
    return ok;
}

/* What the later op does wait for, since that is the next thing to ask. */
static void add_predecessors(struct cell *c, const struct graph *g, uint32_t op)
{
    uint32_t first = g->first[op], end = g->first[op + 1];

    if (first == end) {
        cell_add(c, STYLE_PLAIN, "; op %" PRIu32 " waits for no op by any rule", op);
        return;
    }
    cell_add(c, STYLE_PLAIN, "; op %" PRIu32 " waits for ", op);
    for (uint32_t i = first; i < end; i++)
        cell_add(c, STYLE_PLAIN, "%sop %" PRIu32 " (%s)", i > first ? ", " : "", g->edges[i].from,
                 model_rule_name((enum model_rule)g->edges[i].rule));
    cell_add(c, STYLE_PLAIN, ", and no chain of rules leads from there to the other");
}

static bool say_may(struct why_op *w, struct cell *c, struct error *e)
{
    const struct graph *g = w->analysis->graph;
    bool ok = add_op(c, w->analysis, w->before, e);

    cell_add(c, STYLE_PLAIN, " need not persist before ");
    ok = ok && add_op(c, w->analysis, w->after, e);
    if (w->before > w->after) {
        cell_add(c, STYLE_PLAIN, ", which was issued earlier. ");
        cell_add(c, STYLE_PLAIN,
                 graph_before(g, w->after, w->before)
                     ? "It is the other way round: op %" PRIu32 " must persist before op %" PRIu32
                       "; flotsam why-op with the two exchanged says why."
                     : "Nor must op %" PRIu32 " persist before op %" PRIu32
                       ": a crash may leave either without the other.",
                 w->after, w->before);
        return ok;
    }
    cell_add(c, STYLE_PLAIN, ": under %s a crash may lose the first and keep the second. Here ",
             order_model(g, w->before, w->after));
    ok = ok && add_durable(c, w, w->before, e);
    if (g->durable[w->before] != NEVER)
        cell_add(c, STYLE_PLAIN, ", and op %" PRIu32 " was issued before that, by event %" PRIu64,
                 w->after, issuer(w, w->after));
    add_predecessors(c, g, w->after);
    cell_add(c, STYLE_PLAIN, ".");
    return ok;
}

bool why_op_view(struct view **out, struct analysis *a, uint32_t before, uint32_t after,
                 struct error *e)
{
    static const struct view_ops ops = {
        .name = "why-op",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = detail,
        .subject = view_no_subject,
        .find = view_find_nothing,
        .close = close_view,
    };
    struct why_op *w = xcalloc(1, sizeof *w);
    struct cell said = {0};

    w->view.ops = &ops;
    w->analysis = a;
    w->before = before;
    w->after = after;
    w->n = graph_why(a->graph, before, after, NULL, 0);
    w->steps = xcalloc(w->n + 1, sizeof *w->steps);
    graph_why(a->graph, before, after, w->steps, w->n);
    bool ok = w->n ? say_must(w, &said, e) : say_may(w, &said, e);
    sentences_add(&w->sentences, buf_string(&said.text));
    cell_free(&said);
    if (ok)
        *out = &w->view;
    else
        close_view(&w->view);
    return ok;
}
