/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A subgraph as a graph of Graphviz: for people who look at it on paper. Labels are HTML-like ones.
 */
#include "views/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "views/export_plan.h"
#include "views/graphviz.h"
#include "views/subgraph_words.h"

/* Beyond so many edges their rules hide more than they say. */
enum { EDGE_LABELS_MAX = 60 };

#define FONT      "Helvetica,Arial,sans-serif"
#define SMALL     EXPORT_SMALL
#define PRINT_DPI "144"

/* How nodes look: in colour, and without. */
struct look {
    const char *fill, *line, *style, *shape;
    const char *says; /* for the legend */
};

static const struct look marks[] = {
    [MARK_NONE] = {"#f4f7fb", "#274b73", "filled", "box", "op"},
    [MARK_PERSISTED] = {"#dff2df", "#1b5e20", "filled", "box", "persisted: solid"},
    [MARK_LOST] = {"#fde0dc", "#b71c1c", "filled,dashed", "box", "lost: dashed"},
    [MARK_FLIGHT] = {"#fff6d6", "#8a6d00", "filled,dotted", "box",
                     "in flight at the crash: dotted"},
    [MARK_UNISSUED] = {"#ffffff", "#8a8a8a", "filled,dotted", "box", "not yet issued: dotted"},
};
static const struct look sync_look = {"#e3e3e3", "#333333", "filled", "box",
                                      "sync: what leads to it is durable when it returns"};
static const struct look fix_look = {"#ffffff", "#00697a", "filled,dashed", "box",
                                     "sync that is only pretended: dashed"};
static const struct look ack_look = {"#e6ecff", "#1a237e", "filled", "note",
                                     "what the program had told the world"};

static const struct look *look_of(const struct subgraph_node *node)
{
    if (node->kind == SUBGRAPH_SYNC)
        return node->event ? &sync_look : &fix_look;
    if (node->kind == SUBGRAPH_ACK)
        return &ack_look;
    return &marks[node->mark];
}

/* ---- text ---- */

/* An attribute that is HTML: the library tells it from text by how the string was made. */
static void set_html(Agraph_t *g, void *thing, const char *name, const char *html)
{
    char *text = agstrdup_html(g, (char *)(uintptr_t)html);

    graphviz_set(thing, name, "");
    agset(thing, (char *)(uintptr_t)name, text);
    agstrfree(g, text);
}

/* ---- nodes ---- */

static Agnode_t *add_node(Agraph_t *g, Agraph_t *frame, const struct subgraph_node *node,
                          const struct export_node *words)
{
    const struct look *look = look_of(node);
    Agnode_t *n = agnode(frame, words->name, 1);

    set_html(g, n, "label", words->html);
    graphviz_set(n, "shape", look->shape);
    graphviz_set(n, "style", look->style);
    graphviz_set(n, "fillcolor", look->fill);
    graphviz_set(n, "color", look->line);
    if (node->culprit)
        graphviz_set(n, "penwidth", "3");
    if (node->kind == SUBGRAPH_SYNC)
        graphviz_set(n, "peripheries", "2");
    return n;
}

static Agraph_t *add_frame(Agraph_t *around, const struct export_frame *frame)
{
    char name[32];

    snprintf(name, sizeof name, "cluster%" PRIu32, frame->behaviour);
    Agraph_t *g = agsubg(around, name, 1);
    graphviz_set(g, "label", frame->label);
    graphviz_set(g, "fontsize", "11");
    graphviz_set(g, "color", "#999999");
    graphviz_set(g, "style", "rounded");
    graphviz_set(g, "labeljust", "l");
    return g;
}

/* ---- edges ---- */

static void label_edge(Agedge_t *e, const struct subgraph_edge *edge)
{
    const char *rule = model_rule_name((enum model_rule)edge->rule);

    if (edge->through)
        graphviz_setf(e, "label", " %s (through %" PRIu32 " more)", rule, edge->through);
    else
        graphviz_setf(e, "label", " %s", rule); /* apart from its line */
}

static void add_edge(Agraph_t *g, Agnode_t **nodes, const struct subgraph_edge *edge, bool labels)
{
    char name[32];
    snprintf(name, sizeof name, "%d:%" PRIu32, edge->kind, edge->from);
    Agedge_t *e = agedge(g, nodes[edge->from], nodes[edge->to], name, 1);

    graphviz_set(e, "style", edge->transitive ? "dashed" : "solid");
    switch (edge->kind) {
    case SUBGRAPH_RULE:
        if (labels)
            label_edge(e, edge);
        break;
    case SUBGRAPH_DURABLE:
        graphviz_set(e, "color", "#777777");
        break;
    case SUBGRAPH_AFTER:
    case SUBGRAPH_NEXT:
        graphviz_set(e, "color", "#777777");
        graphviz_set(e, "style", "dotted");
        break;
    case SUBGRAPH_MISSING:
        graphviz_set(e, "color", "#b71c1c");
        graphviz_set(e, "fontcolor", "#b71c1c");
        graphviz_set(e, "style", "dashed");
        graphviz_set(e, "penwidth", "2");
        graphviz_set(e, "arrowhead", "empty");
        graphviz_set(e, "label", " nothing orders these");
        break;
    }
}

/* ---- title and legend ---- */

static bool has_mark(const struct subgraph *s, uint8_t kind, uint8_t mark)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->nodes[i].kind == kind && s->nodes[i].mark == mark)
            return true;
    return false;
}

static bool has_sync(const struct subgraph *s, bool made)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->nodes[i].kind == SUBGRAPH_SYNC && (s->nodes[i].event != 0) == made)
            return true;
    return false;
}

static bool has_edge(const struct subgraph *s, uint8_t kind)
{
    for (size_t i = 0; i < s->edge_count; i++)
        if (s->edges[i].kind == kind)
            return true;
    return false;
}

static void legend_row(struct buf *html, const struct look *look, const char *sign)
{
    const char *line = strchr(look->style, ',');
    buf_printf(html,
               "<TR><TD BGCOLOR=\"%s\" COLOR=\"%s\" STYLE=\"%s\" BORDER=\"1\" WIDTH=\"24\">%s</TD>"
               "<TD ALIGN=\"LEFT\">%s</TD></TR>",
               look->fill, look->line, line ? line + 1 : "solid", sign, look->says);
}

static void legend_line(struct buf *html, const char *sign, const char *colour, const char *says)
{
    buf_printf(html, "<TR><TD><FONT COLOR=\"%s\">%s</FONT></TD><TD ALIGN=\"LEFT\">%s</TD></TR>",
               colour, sign, says);
}

/* Only what there is in the picture. */
static void add_legend(Agraph_t *g, const struct subgraph *s)
{
    char name[] = "legend";
    Agnode_t *n = agnode(g, name, 1);
    struct buf html = {0};

    buf_text(&html, "<TABLE BORDER=\"0\" CELLBORDER=\"0\" CELLSPACING=\"3\">");
    for (uint8_t m = MARK_NONE; m <= MARK_UNISSUED; m++)
        if (has_mark(s, SUBGRAPH_OP, m))
            legend_row(&html, &marks[m], mark_sign(m));
    if (has_sync(s, true))
        legend_row(&html, &sync_look, "");
    if (has_sync(s, false))
        legend_row(&html, &fix_look, glyph(GLYPH_PRETEND));
    if (has_mark(s, SUBGRAPH_ACK, MARK_NONE))
        legend_row(&html, &ack_look, "");
    if (has_edge(s, SUBGRAPH_RULE))
        legend_line(&html, "&#8212;&#8212;&gt;", "#000000", "must persist before, by this rule");
    if (has_edge(s, SUBGRAPH_DURABLE))
        legend_line(&html, "&#8212;&#8212;&gt;", "#777777", "is durable once the sync has returned");
    if (has_edge(s, SUBGRAPH_AFTER))
        legend_line(&html, ". . . &gt;", "#777777", "was issued after the sync had returned");
    if (has_edge(s, SUBGRAPH_MISSING))
        legend_line(&html, "- - - &gt;", "#b71c1c", "nothing orders these: the bug, in bold boxes");
    buf_text(&html, "</TABLE>");
    set_html(g, n, "label", buf_string(&html));
    graphviz_set(n, "shape", "plaintext");
    graphviz_set(n, "fontsize", SMALL);
    buf_free(&html);
}

/* ---- the graph ---- */

static void set_defaults(Agraph_t *g)
{
    graphviz_set(g, "rankdir", "TB");   /* labels are wide and chains are long: this fits a page */
    graphviz_set(g, "newrank", "true"); /* else edges between clusters could lead backwards */
    graphviz_set(g, "labelloc", "t");
    graphviz_set(g, "labeljust", "l");
    graphviz_set(g, "fontname", FONT);
    graphviz_set(g, "fontsize", "16");
    graphviz_set(g, "charset", "UTF-8");
    graphviz_set(g, "nodesep", "0.3");
    graphviz_set(g, "ranksep", "0.5");
    graphviz_set(g, "bgcolor", "white");
    static const char *const node[][2] = {
        {"fontname", FONT}, {"fontsize", "12"}, {"fontcolor", "black"}, {"margin", "0.12,0.06"}};
    static const char *const edge[][2] = {
        {"fontname", FONT}, {"fontsize", SMALL}, {"arrowsize", "0.8"}};
    for (size_t i = 0; i < sizeof node / sizeof *node; i++)
        agattr(g, AGNODE, (char *)(uintptr_t)node[i][0], (char *)(uintptr_t)node[i][1]);
    for (size_t i = 0; i < sizeof edge / sizeof *edge; i++)
        agattr(g, AGEDGE, (char *)(uintptr_t)edge[i][0], (char *)(uintptr_t)edge[i][1]);
}

/* The caller closes it. Inside graphviz_enter(). */
static Agraph_t *make_graph(const struct export_plan *p)
{
    char name[] = "flotsam";
    Agraph_t *g = agopen(name, Agdirected, NULL);
    const struct subgraph *s = &p->graph;
    Agnode_t **nodes = xcalloc(s->n + 1, sizeof *nodes);
    Agraph_t **frames = xcalloc(p->frames.at.n + 1, sizeof *frames);

    set_defaults(g);
    set_html(g, g, "label", p->title);
    for (size_t i = 0; i < p->frames.at.n; i++) {
        const struct export_frame *frame = &p->frames.at.at[i];
        frames[i] = add_frame(frame->outer == NO_FRAME ? g : frames[frame->outer], frame);
    }
    for (size_t i = 0; i < s->n; i++) {
        size_t frame = p->frames.of[i];
        nodes[i] = add_node(g, frame == NO_FRAME ? g : frames[frame], &s->nodes[i], &p->nodes[i]);
    }
    for (size_t i = 0; i < s->edge_count; i++)
        add_edge(g, nodes, &s->edges[i], s->edge_count <= EDGE_LABELS_MAX);
    if (s->n)
        add_legend(g, s);
    free(nodes);
    free(frames);
    return g;
}

static bool write_dot(Agraph_t *g, struct buf *out, struct error *e)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    bool ok = f && agwrite(g, f) == 0;

    ok = f && fclose(f) == 0 && ok;
    if (ok)
        buf_add(out, text, n);
    free(text);
    return ok || error_errno(e, "cannot write the graph");
}

bool export_draw(const struct export_plan *p, const char *format, struct buf *out, struct error *e)
{
    struct graphviz z;
    bool render = strcmp(format, "dot") != 0;

    graphviz_enter(&z);
    Agraph_t *g = make_graph(p);
    if (!strcmp(format, "png"))
        graphviz_set(g, "dpi", PRINT_DPI);
    bool ok = render ? graphviz_render(&z, g, format, out, e) : write_dot(g, out, e);
    agclose(g);
    graphviz_leave(&z);
    return ok;
}

static bool plan_and_draw(const struct subgraph *s, const char *format, struct buf *out,
                          struct error *e)
{
    struct export_plan *p = export_plan_make(s, e);
    bool ok = p && export_draw(p, format, out, e);

    export_plan_free(p);
    return ok;
}

bool export_dot(const struct subgraph *s, struct buf *out, struct error *e)
{
    return plan_and_draw(s, "dot", out, e);
}

bool export_svg(const struct subgraph *s, struct buf *out, struct error *e)
{
    return plan_and_draw(s, "svg", out, e);
}

bool export_png(const struct subgraph *s, struct buf *out, struct error *e)
{
    return plan_and_draw(s, "png", out, e);
}
