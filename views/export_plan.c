/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Labels are HTML-like ones; all text in them is escaped twice, against terminals and against HTML.
 */
#include "views/export_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "views/subgraph_words.h"

/* Columns; longer paths are cut in the middle, longer titles at the end. */
enum { PATH_COLUMNS = 48, WHAT_COLUMNS = 48, PLACE_COLUMNS = 48, TITLE_COLUMNS = 110 };

static char *take(struct buf *b)
{
    char *text = xstrdup(buf_string(b));

    buf_free(b);
    return text;
}

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
    buf_printf(html, "<BR/><FONT POINT-SIZE=\"" EXPORT_SMALL "\">%s", buf_string(&name.text));
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

static char *title_html(const struct subgraph *s)
{
    struct buf html = {0}, safe = {0};
    const char *session = session_path(s->analysis->session), *slash = strrchr(session, '/');

    escape_add(&safe, s->title ? s->title : "", s->title ? strlen(s->title) : 0, escape_locale());
    buf_text(&html, "<B>");
    add_html(&html, buf_string(&safe), TITLE_COLUMNS, false);
    buf_text(&html, "</B><BR ALIGN=\"LEFT\"/><FONT POINT-SIZE=\"" EXPORT_SMALL "\">");
    session = slash ? slash + 1 : session;
    buf_clear(&safe);
    escape_add(&safe, session, strlen(session), escape_locale());
    add_html(&html, buf_string(&safe), TITLE_COLUMNS, true);
    buf_printf(&html, ", model %s", s->analysis->graph->model.name);
    if (s->left_out)
        buf_printf(&html, ", %" PRIu64 " ops are left out", s->left_out);
    buf_text(&html, "<BR ALIGN=\"LEFT\"/></FONT>");
    buf_free(&safe);
    return take(&html);
}

static bool write_node(struct export_node *out, const struct subgraph *s, size_t i, struct error *e)
{
    struct cell name = {0};
    struct buf html = {0};

    node_name(&name, s, i);
    if (!s->nodes[i].event) /* several can be pretended after one event */
        cell_add(&name, STYLE_PLAIN, " (%zu)", i);
    bool ok = label_node(&html, s, i, e);
    out->name = xstrdup(buf_string(&name.text));
    out->html = take(&html);
    cell_free(&name);
    return ok;
}

static void *copy(const void *from, size_t n, size_t size)
{
    void *to = xcalloc(n + 1, size);

    if (n)
        memcpy(to, from, n * size);
    return to;
}

struct export_plan *export_plan_make(const struct subgraph *s, struct error *e)
{
    struct export_plan *p = xcalloc(1, sizeof *p);
    bool ok = true;

    p->graph = (struct subgraph){.nodes = copy(s->nodes, s->n, sizeof *s->nodes),
                                 .n = s->n,
                                 .edges = copy(s->edges, s->edge_count, sizeof *s->edges),
                                 .edge_count = s->edge_count};
    p->title = title_html(s);
    p->nodes = xcalloc(s->n + 1, sizeof *p->nodes);
    for (size_t i = 0; ok && i < s->n; i++)
        ok = write_node(&p->nodes[i], s, i, e);
    export_frames_choose(&p->frames, s);
    if (ok)
        return p;
    export_plan_free(p);
    return NULL;
}

void export_plan_free(struct export_plan *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->graph.n; i++) {
        free(p->nodes[i].name);
        free(p->nodes[i].html);
    }
    export_frames_free(&p->frames);
    free(p->graph.nodes);
    free(p->graph.edges);
    free(p->nodes);
    free(p->title);
    free(p);
}
