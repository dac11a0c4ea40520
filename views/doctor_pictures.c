/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the graph view and exports need of Graphviz, found by drawing a small graph: its layouts and
 * formats are plugins, which may be missing though the library is there.
 */
#include <string.h>

#include "engine/escape.h"
#include "views/doctor.h"
#include "views/graphviz.h"

static bool draw(const char *format, struct buf *picture, struct error *e)
{
    struct graphviz z;

    graphviz_enter(&z);
    Agraph_t *g = agmemread("digraph { a -> b }");
    bool ok = g ? graphviz_render(&z, g, format, picture, e)
                : error_set(e, "Graphviz cannot read a graph");
    if (g)
        agclose(g);
    graphviz_leave(&z);
    return ok;
}

static bool probe(const char *format, const char *works, struct buf *found)
{
    struct buf picture = {0};
    struct error e;
    bool ok = draw(format, &picture, &e);
    const char *text = ok ? works : e.text;

    escape_add(found, text, strlen(text), escape_locale());
    buf_free(&picture);
    return ok;
}

/* "plain" is where the nodes lie: nothing but the layout. */
static bool probe_layout(struct buf *found)
{
    return probe("plain", "dot lays graphs out", found);
}

static bool probe_svg(struct buf *found)
{
    return probe("svg", "can be drawn", found);
}

static bool probe_png(struct buf *found)
{
    return probe("png", "can be drawn", found);
}

#define REMEDY "apt install --reinstall libgvc6; unset GVBINDIR"

static const struct doctor_check checks[] = {
    {"graph layout", "the debugger's graphs, exports", false, probe_layout, REMEDY},
    {"svg pictures", "flotsam export", false, probe_svg, REMEDY},
    {"png pictures", "flotsam export", false, probe_png, REMEDY},
};

struct doctor_table doctor_pictures(void)
{
    return (struct doctor_table){checks, sizeof checks / sizeof *checks};
}
