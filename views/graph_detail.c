/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/graph_detail.h"

#include <inttypes.h>

#include "views/op_words.h"
#include "views/subgraph_words.h"

void graph_detail_clear(struct graph_detail *d)
{
    for (size_t i = 0; i < d->lines.n; i++)
        cell_free(&d->lines.at[i]);
    vec_free(&d->lines);
    d->known = false;
}

static struct cell *new_line(struct graph_detail *d)
{
    vec_push(&d->lines, (struct cell){0});
    return &vec_last(&d->lines);
}

/* "op 3 write 0+6 manifest-1" */
static bool add_node(struct cell *c, const struct subgraph *s, size_t node, struct error *e)
{
    node_name(c, s, node);
    cell_gap(c);
    bool ok = node_what(c, s, node, e);
    cell_gap(c);
    return ok && node_path(c, s, node, e);
}

static bool tell_node(struct graph_detail *d, const struct subgraph *s, size_t node,
                      struct error *e)
{
    const struct subgraph_node *at = &s->nodes[node];
    struct cell *c = new_line(d), function = {0}, source = {0};

    bool ok = add_node(c, s, node, e);
    if (at->mark)
        cell_add(c, mark_style(at->mark), " %s %s", mark_sign(at->mark), mark_word(at->mark));
    if (at->kind == SUBGRAPH_OP)
        cell_add(c, STYLE_DIM, ", event %" PRIu64, at->event);
    ok = ok && node_place(&function, &source, s, node, e);
    if (ok && function.text.n) {
        c = new_line(d);
        cell_add(c, STYLE_SOURCE_FUNCTION, "%s", buf_string(&function.text));
        if (source.text.n)
            cell_add(c, STYLE_SOURCE_LINE, " %s", buf_string(&source.text));
    }
    if (at->behaviour != NO_BEHAVIOUR)
        cell_add(c, STYLE_DIM, ", behaviour %" PRIu32, at->behaviour);
    cell_free(&function);
    cell_free(&source);
    return ok;
}

static bool tell_durable(struct graph_detail *d, const struct subgraph *s, size_t node,
                         struct error *e)
{
    struct analysis *a = s->analysis;
    uint32_t op = s->nodes[node].op;

    if (s->nodes[node].kind != SUBGRAPH_OP)
        return true;
    struct cell *c = new_line(d);
    if (a->graph->durable[op] == NEVER) {
        cell_add(c, STYLE_WARNING, "no sync makes it durable for certain");
        return true;
    }
    cell_add(c, STYLE_PLAIN, "durable after %s", op_durable(a, op) ? "event " : "the ");
    return op_durable_words(c, a, op, e);
}

static void add_reason(struct cell *c, const struct subgraph_edge *edge, enum model_rule rule)
{
    switch (edge->kind) {
    case SUBGRAPH_DURABLE:
        cell_add(c, STYLE_PLAIN, "  the sync makes it durable, if nothing has before");
        break;
    case SUBGRAPH_AFTER:
        cell_add(c, STYLE_RULE, "  %s", model_rule_name(RULE_SYNCED));
        cell_add(c, STYLE_PLAIN, ": issued after the sync had returned");
        break;
    case SUBGRAPH_NEXT:
        cell_add(c, STYLE_PLAIN, "  one sync returned before the other");
        break;
    case SUBGRAPH_MISSING:
        cell_add(c, STYLE_EDGE_MISSING,
                 "  nothing orders them: the one can survive without the "
                 "other");
        break;
    default:
        cell_add(c, STYLE_RULE, "  %s", model_rule_name(rule));
        cell_add(c, STYLE_PLAIN, ": %s", model_rule_reason(rule));
        break;
    }
    if (edge->through)
        cell_add(c, STYLE_DIM, ", through %" PRIu32 " op%s not shown", edge->through,
                 edge->through == 1 ? "" : "s");
    if (edge->transitive)
        cell_add(c, STYLE_DIM, " (others imply it)");
}

static bool tell_edge(struct graph_detail *d, const struct subgraph *s,
                      const struct subgraph_edge *edge, size_t node, struct error *e)
{
    bool before = edge->to == node;
    struct cell *c = new_line(d);

    if (edge->kind == SUBGRAPH_MISSING)
        cell_add(c, STYLE_EDGE_MISSING, before ? "not after " : "not before ");
    else
        cell_add(c, before ? STYLE_EDGE_BEFORE : STYLE_EDGE_AFTER, before ? "after " : "before ");
    bool ok = add_node(c, s, before ? edge->from : edge->to, e);
    add_reason(new_line(d), edge, (enum model_rule)edge->rule);
    return ok;
}

static bool tell(struct graph_detail *d, const struct subgraph *s, size_t node, struct error *e)
{
    if (!tell_node(d, s, node, e) || !tell_durable(d, s, node, e))
        return false;
    for (size_t i = 0; i < s->edge_count; i++)
        if (s->edges[i].to == node && !tell_edge(d, s, &s->edges[i], node, e))
            return false;
    for (size_t i = 0; i < s->edge_count; i++)
        if (s->edges[i].from == node && !tell_edge(d, s, &s->edges[i], node, e))
            return false;
    return true;
}

bool graph_detail_line(struct graph_detail *d, const struct subgraph *s, size_t node, size_t n,
                       struct cell *out, bool *more, struct error *e)
{
    if (!d->known && !tell(d, s, node, e)) {
        graph_detail_clear(d);
        return false;
    }
    d->known = true;
    *more = n < d->lines.n;
    for (size_t i = 0; *more && i < d->lines.at[n].spans.n; i++) {
        const struct span *span = &d->lines.at[n].spans.at[i];
        cell_text(out, span->style, d->lines.at[n].text.at + span->begin, span->end - span->begin);
    }
    return true;
}
