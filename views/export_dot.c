/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A subgraph as a graph of Graphviz: for people who look at it on paper. Labels are HTML-like ones;
 * all text in them is escaped twice, against terminals and against HTML.
 */
#include "views/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "views/export_clusters.h"
#include "views/graphviz.h"
#include "views/subgraph_words.h"

/* Columns; longer paths are cut in the middle, longer titles at the end. */
enum { PATH_COLUMNS = 48, WHAT_COLUMNS = 48, PLACE_COLUMNS = 48, TITLE_COLUMNS = 110 };

/* Beyond so many edges their rules hide more than they say. */
enum { EDGE_LABELS_MAX = 60 };

#define FONT      "Helvetica,Arial,sans-serif"
#define SMALL     "10"
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

/* Safe text, for HTML; backslashes doubled, since \N would be the node's name here too. */
static void add_html(struct buf *out, const char *safe, int columns, bool middle)
{
    struct buf cut = {0}, doubled = {0};

    if (middle)
        escape_cut_middle(&cut, safe, columns, escape_locale());
    else
        escape_cut(&cut, safe, columns, escape_locale());
    for (const char *c = buf_string(&cut); *c; c++) {
        if (*c == '\\')
            buf_char(&doubled, *c);
        buf_char(&doubled, *c);
    }
    escape_xml(out, buf_string(&doubled));
    buf_free(&cut);
    buf_free(&doubled);
}

/* An attribute that is HTML: the library tells it from text by how the string was made. */
static void set_html(Agraph_t *g, void *thing, const char *name, const struct buf *html)
{
    char *text = agstrdup_html(g, (char *)(uintptr_t)buf_string(html));

    graphviz_set(thing, name, "");
    agset(thing, (char *)(uintptr_t)name, text);
    agstrfree(g, text);
}

/* ---- nodes ---- */

static void add_line(struct buf *html, const struct cell *c, int columns, bool middle)
{
    if (!c->text.n)
        return;
    buf_text(html, "<BR/>");
    add_html(html, buf_string(&c->text), columns, middle);
}

/* The call, the path, the source line. */
static bool label_node(struct buf *html, const struct subgraph *s, size_t i, struct error *e)
{
    const struct subgraph_node *node = &s->nodes[i];
    struct cell what = {0}, file = {0}, function = {0}, source = {0}, name = {0};
    bool ok = node_what(&what, s, i, e) && node_path(&file, s, i, e) &&
              node_place(&function, &source, s, i, e);

    node_name(&name, s, i);
    buf_text(html, "<B>");
    if (node->mark)
        buf_printf(html, "%s ", mark_sign(node->mark));
    add_html(html, buf_string(&what.text), WHAT_COLUMNS, false);
    buf_text(html, "</B>");
    add_line(html, &file, PATH_COLUMNS, true);
    if (source.text.n)
        cell_gap(&function);
    cell_text(&function, STYLE_PLAIN, buf_string(&source.text), source.text.n);
    buf_printf(html, "<BR/><FONT POINT-SIZE=\"" SMALL "\">%s", buf_string(&name.text));
    if (node->mark)
        buf_printf(html, ", %s", mark_word(node->mark));
    add_line(html, &function, PLACE_COLUMNS, true);
    buf_text(html, "</FONT>");
    cell_free(&what);
    cell_free(&file);
    cell_free(&function);
    cell_free(&source);
    cell_free(&name);
    return ok;
}

static bool add_node(Agraph_t *g, Agraph_t *cluster, Agnode_t **out, const struct subgraph *s,
                     size_t i, struct error *e)
{
    const struct subgraph_node *node = &s->nodes[i];
    const struct look *look = look_of(node);
    struct cell name = {0};
    struct buf html = {0};

    node_name(&name, s, i);
    if (!node->event) /* several can be pretended after one event */
        cell_add(&name, STYLE_PLAIN, " (%zu)", i);
    Agnode_t *n = agnode(cluster, (char *)(uintptr_t)buf_string(&name.text), 1);
    bool ok = label_node(&html, s, i, e);
    set_html(g, n, "label", &html);
    graphviz_set(n, "shape", look->shape);
    graphviz_set(n, "style", look->style);
    graphviz_set(n, "fillcolor", look->fill);
    graphviz_set(n, "color", look->line);
    if (node->culprit)
        graphviz_set(n, "penwidth", "3");
    if (node->kind == SUBGRAPH_SYNC)
        graphviz_set(n, "peripheries", "2");
    buf_free(&html);
    cell_free(&name);
    *out = n;
    return ok;
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

static void set_title(Agraph_t *g, const struct subgraph *s)
{
    struct buf html = {0}, safe = {0};
    const char *session = session_path(s->analysis->session), *slash = strrchr(session, '/');

    escape_add(&safe, s->title ? s->title : "", s->title ? strlen(s->title) : 0, escape_locale());
    buf_text(&html, "<B>");
    add_html(&html, buf_string(&safe), TITLE_COLUMNS, false);
    buf_text(&html, "</B><BR ALIGN=\"LEFT\"/><FONT POINT-SIZE=\"" SMALL "\">");
    session = slash ? slash + 1 : session;
    buf_clear(&safe);
    escape_add(&safe, session, strlen(session), escape_locale());
    add_html(&html, buf_string(&safe), TITLE_COLUMNS, true);
    buf_printf(&html, ", model %s", s->analysis->graph->model.name);
    if (s->left_out)
        buf_printf(&html, ", %" PRIu64 " ops are left out", s->left_out);
    buf_text(&html, "<BR ALIGN=\"LEFT\"/></FONT>");
    set_html(g, g, "label", &html);
    buf_free(&html);
    buf_free(&safe);
}

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
        legend_line(&html, "-----&gt;", "#000000", "must persist before, by this rule");
    if (has_edge(s, SUBGRAPH_DURABLE))
        legend_line(&html, "-----&gt;", "#777777", "is durable once the sync has returned");
    if (has_edge(s, SUBGRAPH_AFTER))
        legend_line(&html, ". . . &gt;", "#777777", "was issued after the sync had returned");
    if (has_edge(s, SUBGRAPH_MISSING))
        legend_line(&html, "- - - &gt;", "#b71c1c", "nothing orders these: the bug, in bold boxes");
    buf_text(&html, "</TABLE>");
    set_html(g, n, "label", &html);
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

/* The caller closes it. Inside graphviz_enter(); NULL with an error. */
static Agraph_t *make_graph(const struct subgraph *s, struct error *e)
{
    char name[] = "flotsam";
    Agraph_t *g = agopen(name, Agdirected, NULL);
    Agnode_t **nodes = xcalloc(s->n + 1, sizeof *nodes);
    Agraph_t **clusters = xcalloc(s->n + 1, sizeof *clusters);
    bool ok = true;

    set_defaults(g);
    set_title(g, s);
    export_clusters(g, s, clusters);
    for (size_t i = 0; ok && i < s->n; i++)
        ok = add_node(g, clusters[i], &nodes[i], s, i, e);
    for (size_t i = 0; ok && i < s->edge_count; i++)
        add_edge(g, nodes, &s->edges[i], s->edge_count <= EDGE_LABELS_MAX);
    if (s->n)
        add_legend(g, s);
    free(nodes);
    free(clusters);
    if (!ok) {
        agclose(g);
        g = NULL;
    }
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

static bool write_graph(const struct subgraph *s, const char *render, struct buf *out,
                        struct error *e)
{
    struct graphviz z;

    graphviz_enter(&z);
    Agraph_t *g = make_graph(s, e);
    bool ok = g != NULL;
    if (ok && render && !strcmp(render, "png"))
        graphviz_set(g, "dpi", PRINT_DPI);
    if (ok)
        ok = render ? graphviz_render(&z, g, render, out, e) : write_dot(g, out, e);
    if (g)
        agclose(g);
    graphviz_leave(&z);
    return ok;
}

bool export_dot(const struct subgraph *s, struct buf *out, struct error *e)
{
    return write_graph(s, NULL, out, e);
}

bool export_svg(const struct subgraph *s, struct buf *out, struct error *e)
{
    return write_graph(s, "svg", out, e);
}

bool export_png(const struct subgraph *s, struct buf *out, struct error *e)
{
    return write_graph(s, "png", out, e);
}
