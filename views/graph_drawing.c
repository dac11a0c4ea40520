/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/graph_drawing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "views/subgraph_words.h"

/* Columns that texts get: boxes should be short, so that more than a few fit beside each other. */
enum { LABEL_MAX = 28, PATH_MAX = 24, SOURCE_MAX = 24, BOX_LEAST = 8 };

/* Columns of a box beside its label, and beside a text in its border: "│x│", "┌ x ┐". */
enum { SIDES = 2, BORDER_SIDES = 4 };

enum { FILE_STYLES = STYLE_FILE_6 - STYLE_FILE_1 + 1 };

/* ---- words ---- */

/* Replaces a text by one that fits. Where it must be cut it gets one style. */
static void fit(struct cell *c, int width, bool middle)
{
    struct buf cut = {0};

    if (escape_width(buf_string(&c->text)) <= width)
        return;
    enum style style = vec_last(&c->spans).style;
    if (middle)
        escape_cut_middle(&cut, buf_string(&c->text), width, escape_locale());
    else
        escape_cut(&cut, buf_string(&c->text), width, escape_locale());
    cell_clear(c);
    cell_text(c, style, buf_string(&cut), cut.n);
    buf_free(&cut);
}

static bool add_words(struct drawing_words *w, const struct subgraph *s, size_t i, struct error *e)
{
    const struct subgraph_node *node = &s->nodes[i];

    if (node->mark)
        cell_add(&w->label, mark_style(node->mark), "%s ", mark_sign(node->mark));
    if (node->kind == SUBGRAPH_OP)
        cell_add(&w->label, STYLE_NUMBER, "%" PRIu32 " ", node->op);
    else if (node->event)
        cell_add(&w->label, STYLE_NUMBER, "ev %" PRIu64 " ", node->event);
    if (!node_what(&w->label, s, i, e) || !node_path(&w->path, s, i, e) ||
        !node_place(&w->function, &w->source, s, i, e))
        return false;
    fit(&w->path, PATH_MAX, true);
    if (node->kind == SUBGRAPH_SYNC) { /* it has one row, and says all there */
        cell_gap(&w->label);
        cell_text(&w->label, STYLE_PATH, buf_string(&w->path.text), w->path.text.n);
        cell_clear(&w->path);
        fit(&w->label, LABEL_MAX + PATH_MAX, false);
    } else {
        fit(&w->label, LABEL_MAX, false);
    }
    fit(&w->source, SOURCE_MAX, true);
    return true;
}

static int text_width(const struct cell *c)
{
    return escape_width(buf_string(&c->text));
}

static int widest(int a, int b)
{
    return a > b ? a : b;
}

/* ---- boxes and edges ---- */

static bool is_drawn(const struct subgraph_edge *edge)
{
    /* Bars stand in order, and what follows one stands to its right: no line needs to say so. */
    return edge->kind != SUBGRAPH_AFTER && edge->kind != SUBGRAPH_NEXT;
}

static void size_node(struct drawing *d, size_t i)
{
    struct drawing_words *w = &d->words[i];
    struct route_node *node = &d->nodes[i];
    size_t in = 0;

    for (size_t k = 0; k < d->edge_count; k++)
        in += d->edges[k].to == i;
    node->bar = d->subgraph->nodes[i].kind == SUBGRAPH_SYNC;
    node->width = text_width(&w->label);
    node->height = route_height(node->bar ? 0 : in);
    if (node->bar)
        return;
    node->width = widest(node->width + SIDES, BOX_LEAST);
    if (w->path.text.n)
        node->width = widest(node->width, text_width(&w->path) + BORDER_SIDES);
    if (w->source.text.n)
        node->width = widest(node->width, text_width(&w->source) + BORDER_SIDES);
    fit(&w->function, node->width - SIDES, false);
}

struct drawing *drawing_new(struct subgraph *s, struct error *e)
{
    struct drawing *d = xcalloc(1, sizeof *d);
    bool ok = true;

    d->subgraph = s;
    d->words = xcalloc(s->n + 1, sizeof *d->words);
    d->nodes = xcalloc(s->n + 1, sizeof *d->nodes);
    d->edges = xcalloc(s->edge_count + 1, sizeof *d->edges);
    d->edge_of = xcalloc(s->edge_count + 1, sizeof *d->edge_of);
    for (size_t i = 0; i < s->edge_count; i++) {
        if (!is_drawn(&s->edges[i]))
            continue;
        d->edge_of[d->edge_count] = (uint32_t)i;
        d->edges[d->edge_count++] = (struct route_edge){s->edges[i].from, s->edges[i].to};
    }
    for (size_t i = 0; ok && i < s->n; i++) {
        ok = add_words(&d->words[i], s, i, e);
        size_node(d, i);
    }
    if (!ok) {
        drawing_free(d);
        d = NULL;
    }
    return d;
}

void drawing_free(struct drawing *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->subgraph->n; i++) {
        cell_free(&d->words[i].label);
        cell_free(&d->words[i].path);
        cell_free(&d->words[i].source);
        cell_free(&d->words[i].function);
    }
    free(d->words);
    free(d->nodes);
    free(d->edges);
    free(d->edge_of);
    graph_route_free(d->route);
    canvas_free(d->canvas);
    subgraph_free(d->subgraph);
    free(d);
}

/* ---- for dot ---- */

/* Whether a line leads from node i to a node of (low, high), or to it from one. */
static bool linked(const struct drawing *d, size_t i, size_t low, size_t high, bool to)
{
    for (size_t k = 0; k < d->edge_count; k++) {
        size_t here = to ? d->edges[k].to : d->edges[k].from;
        size_t there = to ? d->edges[k].from : d->edges[k].to;
        if (here == i && there > low && there < high)
            return true;
    }
    return false;
}

typedef vec_of(struct layout_edge) layout_edges;

/* What was issued before a sync returned stands left of it, everything else to its right: where no
 * line makes sure of that, an edge does that is not drawn. before is the sync before it, or
 * NO_NODE. */
static void hold_epoch(const struct drawing *d, size_t before, size_t sync, layout_edges *edges)
{
    size_t first = before == NO_NODE ? 0 : before + 1, n = d->subgraph->n;

    for (size_t i = first; i < sync && i < n; i++) {
        if (before != NO_NODE && !linked(d, i, before, sync, true))
            vec_push(edges, (struct layout_edge){(uint32_t)before, (uint32_t)i, true});
        if (sync < n && !linked(d, i, before == NO_NODE ? i : before, sync + 1, false))
            vec_push(edges, (struct layout_edge){(uint32_t)i, (uint32_t)sync, true});
    }
    if (before != NO_NODE && sync < n)
        vec_push(edges, (struct layout_edge){(uint32_t)before, (uint32_t)sync, true});
}

void drawing_describe(const struct drawing *d, struct layout_node **nodes,
                      struct layout_edge **edges, size_t *edge_count)
{
    const struct subgraph *s = d->subgraph;
    layout_edges all = {0};
    size_t before = NO_NODE;

    *nodes = xcalloc(s->n + 1, sizeof **nodes);
    for (size_t i = 0; i < s->n; i++)
        (*nodes)[i] =
            (struct layout_node){d->nodes[i].width, d->nodes[i].height,
                                 s->nodes[i].kind == SUBGRAPH_OP ? s->nodes[i].file : NO_LANE};
    for (size_t i = 0; i < d->edge_count; i++)
        vec_push(&all, (struct layout_edge){d->edges[i].from, d->edges[i].to, false});
    for (size_t i = 0; i <= s->n; i++) {
        if (i < s->n && s->nodes[i].kind != SUBGRAPH_SYNC)
            continue;
        hold_epoch(d, before, i, &all);
        before = i;
    }
    *edges = all.at;
    *edge_count = all.n;
}

void drawing_lay_out(struct drawing *d, const struct graph_layout *layout)
{
    d->route = graph_route_make(layout, d->nodes, d->subgraph->n, d->edges, d->edge_count);
    d->canvas = canvas_new(d->route->width, d->route->height);
}

/* ---- painting ---- */

enum light { DARK, BEFORE, AFTER, SELECTED };

static enum light *light_nodes(const struct subgraph *s, size_t selected)
{
    enum light *lights = xcalloc(s->n + 1, sizeof *lights);

    for (size_t i = 0; i < s->edge_count; i++) {
        const struct subgraph_edge *edge = &s->edges[i];
        if (edge->kind == SUBGRAPH_MISSING)
            continue;
        if (edge->to == selected)
            lights[edge->from] = BEFORE;
        if (edge->from == selected)
            lights[edge->to] = AFTER;
    }
    if (selected < s->n)
        lights[selected] = SELECTED;
    return lights;
}

/* The how-manieth file it is, by its first node. */
static size_t file_order(const struct subgraph *s, size_t node)
{
    size_t order = 0;

    for (size_t i = 0; i < s->n && s->nodes[i].file != s->nodes[node].file; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first &= s->nodes[k].file != s->nodes[i].file;
        order += first;
    }
    return order;
}

static enum style own_style(const struct drawing *d, size_t i, enum picture_colour colour)
{
    const struct subgraph_node *node = &d->subgraph->nodes[i];

    if (node->kind == SUBGRAPH_SYNC)
        return STYLE_CALL_SYNC;
    if (node->kind == SUBGRAPH_ACK)
        return STYLE_ACK;
    if (colour == PICTURE_BY_FILE)
        return (enum style)(STYLE_FILE_1 + file_order(d->subgraph, i) % FILE_STYLES);
    return node->mark ? mark_style(node->mark) : STYLE_PLAIN;
}

static enum style border_style(enum light light, enum style own)
{
    switch (light) {
    case BEFORE:
        return STYLE_EDGE_BEFORE;
    case AFTER:
        return STYLE_EDGE_AFTER;
    case SELECTED:
        return STYLE_SELECTED;
    default:
        return own;
    }
}

static void paint_box(struct drawing *d, size_t i, enum light light, enum style own)
{
    const struct drawing_words *w = &d->words[i];
    const struct route_box *box = &d->route->boxes[i];
    enum style style = light == SELECTED ? STYLE_SELECTED : STYLE_COUNT;
    int inside = box->width - SIDES, bottom = box->y + box->height - 1;
    int port = box->y + route_port(box->height);

    canvas_box(d->canvas, box, d->subgraph->nodes[i].culprit, border_style(light, own));
    if (w->path.text.n) {
        struct cell gap = {0};
        cell_add(&gap, STYLE_PLAIN, " ");
        int width = text_width(&w->path);
        canvas_text(d->canvas, box->x + 1, box->y, 1, &gap, style);
        canvas_text(d->canvas, box->x + 2, box->y, width, &w->path, style);
        canvas_text(d->canvas, box->x + 2 + width, box->y, 1, &gap, style);
        cell_free(&gap);
    }
    if (w->source.text.n) {
        int width = text_width(&w->source), x = box->x + box->width - 2 - width;
        struct cell gap = {0};
        cell_add(&gap, STYLE_PLAIN, " ");
        canvas_text(d->canvas, x - 1, bottom, 1, &gap, style);
        canvas_text(d->canvas, x, bottom, width, &w->source, style);
        canvas_text(d->canvas, x + width, bottom, 1, &gap, style);
        cell_free(&gap);
    }
    canvas_text(d->canvas, box->x + 1, port, inside, &w->label, style);
    /* Boxes that several edges lead to have a row to spare. */
    if (port + 1 < bottom)
        canvas_text(d->canvas, box->x + 1, port + 1, inside, &w->function, style);
}

static void paint_bar(struct drawing *d, size_t i, enum light light)
{
    const struct route_box *box = &d->route->boxes[i];
    int row = box->y + route_port(box->height);
    bool made = d->subgraph->nodes[i].event; /* or pretended */
    enum style style = border_style(light, made ? STYLE_CALL_SYNC : STYLE_PRETEND);

    canvas_bar(d->canvas, box->x + box->width / 2, box->bar_top, box->bar_bottom, style);
    canvas_text(d->canvas, box->x, row, box->width, &d->words[i].label,
                light == SELECTED ? STYLE_SELECTED : STYLE_COUNT);
}

static enum style line_style(const struct subgraph_edge *edge, size_t selected)
{
    if (edge->kind == SUBGRAPH_MISSING)
        return STYLE_EDGE_MISSING;
    if (edge->to == selected)
        return STYLE_EDGE_BEFORE;
    if (edge->from == selected)
        return STYLE_EDGE_AFTER;
    return edge->transitive ? STYLE_DIM : STYLE_EDGE;
}

/* Lines that are lit lie on top. */
static void paint_lines(struct drawing *d, size_t selected, bool lit)
{
    for (size_t i = 0; i < d->edge_count; i++) {
        const struct subgraph_edge *edge = &d->subgraph->edges[d->edge_of[i]];
        bool is_lit = edge->to == selected || edge->from == selected;
        if (is_lit == lit)
            canvas_line(d->canvas, &d->route->lines[i], line_style(edge, selected),
                        edge->kind == SUBGRAPH_MISSING ? CANVAS_BROKEN : 0);
    }
}

void drawing_paint(struct drawing *d, size_t selected, enum picture_colour colour)
{
    const struct subgraph *s = d->subgraph;
    enum light *lights = light_nodes(s, selected);

    canvas_clear(d->canvas);
    for (size_t i = 0; i < s->n; i++)
        if (!d->nodes[i].bar)
            paint_box(d, i, lights[i], own_style(d, i, colour));
    paint_lines(d, selected, false);
    paint_lines(d, selected, true);
    for (size_t i = 0; i < s->n; i++)
        if (d->nodes[i].bar)
            paint_bar(d, i, lights[i]);
    free(lights);
}
