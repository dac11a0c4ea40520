/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/export.h"

#include <string.h>
#include <strings.h>

#include "engine/calls.h"
#include "engine/fix.h"
#include "engine/output.h"
#include "engine/report.h"
#include "engine/report_words.h"
#include "views/subgraph_words.h"

static const struct export_format formats[] = {
    {"dot", false, true, export_dot},
    {"svg", false, true, export_svg},
    {"png", true, true, export_png},
    {"json", false, false, export_json},
};

enum { FORMATS = sizeof formats / sizeof *formats };

static const char known[] = "dot, svg, png and json";

const struct export_format *export_format_find(const char *name, struct error *e)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    error_set(e, "there is no format %s; there are %s", name, known);
    return NULL;
}

const struct export_format *export_format_of(const char *path, struct error *e)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

    if (dot && !strcmp(dot, ".gv"))
        return &formats[0];
    for (size_t i = 0; dot && i < FORMATS; i++)
        if (!strcmp(formats[i].name, dot + 1))
            return &formats[i];
    error_set(e, "%s does not say the format; end its name in one of %s", path, known);
    return NULL;
}

bool export_is_picture(const char *path)
{
    static const char *const others[] = {".pdf",  ".ps",  ".eps",  ".gif", ".jpg",
                                         ".jpeg", ".bmp", ".webp", ".tif", ".tiff"};
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

    for (size_t i = 0; dot && i < sizeof others / sizeof *others; i++)
        if (!strcasecmp(dot, others[i]))
            return true;
    return export_format_of(path, NULL);
}

bool export_file(const struct subgraph *s, const char *path, const struct export_format *format,
                 struct error *e)
{
    struct buf bytes = {0};

    if (!format)
        format = export_format_of(path, e);
    bool ok = format && format->write(s, &bytes, e) && output_file(path, &bytes, "the graph", e);
    buf_free(&bytes);
    return ok;
}

/* ---- JSON ---- */

static json_t *node_json(const struct subgraph *s, size_t i)
{
    static const char *const types[] = {
        [SUBGRAPH_OP] = "op", [SUBGRAPH_SYNC] = "sync", [SUBGRAPH_ACK] = "print"};
    const struct subgraph_node *node = &s->nodes[i];
    const struct fix *fix = node->event ? NULL : graph_fix_at(s->analysis->graph, node->position);
    json_t *out = node->kind == SUBGRAPH_OP ? report_op(s->analysis, node->op, true)
                                            : report_event(s->analysis, node->event, true);

    json_object_set_new(out, "node", json_integer((json_int_t)i));
    json_object_set_new(out, "type", json_string(types[node->kind]));
    if (node->mark)
        json_object_set_new(out, "state", json_string(mark_word(node->mark)));
    if (fix) {
        json_object_set_new(out, "call", json_string(call_name(fix->call)));
        json_object_set_new(out, "pretended", fix_json(s->analysis->session, fix));
    }
    if (node->culprit)
        json_object_set_new(out, "culprit", json_true());
    if (node->behaviour != NO_BEHAVIOUR)
        json_object_set_new(out, "behaviour", json_integer(node->behaviour));
    return out;
}

static json_t *edge_json(const struct subgraph_edge *edge)
{
    static const char *const types[] = {[SUBGRAPH_RULE] = "rule",
                                        [SUBGRAPH_DURABLE] = "durable",
                                        [SUBGRAPH_AFTER] = "after",
                                        [SUBGRAPH_NEXT] = "next",
                                        [SUBGRAPH_MISSING] = "missing"};
    json_t *out = json_object();

    json_object_set_new(out, "from", json_integer(edge->from));
    json_object_set_new(out, "to", json_integer(edge->to));
    json_object_set_new(out, "type", json_string(types[edge->kind]));
    if (edge->kind == SUBGRAPH_RULE || edge->kind == SUBGRAPH_AFTER) {
        enum model_rule rule = (enum model_rule)edge->rule;
        json_object_set_new(out, "rule", json_string(model_rule_name(rule)));
        json_object_set_new(out, "reason", json_string(model_rule_reason(rule)));
    }
    json_object_set_new(out, "through", json_integer(edge->through));
    json_object_set_new(out, "transitive", json_boolean(edge->transitive));
    return out;
}

bool export_json(const struct subgraph *s, struct buf *out, struct error *e)
{
    json_t *all = json_object(), *nodes = json_array(), *edges = json_array();

    (void)e;
    json_object_set_new(all, "version", json_integer(1));
    json_object_set_new(all, "title", report_string(s->title ? s->title : ""));
    json_object_set_new(all, "session", report_string(session_path(s->analysis->session)));
    json_object_set_new(all, "model", json_string(s->analysis->graph->model.name));
    json_object_set_new(all, "left_out", json_integer((json_int_t)s->left_out));
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(nodes, node_json(s, i));
    for (size_t i = 0; i < s->edge_count; i++)
        json_array_append_new(edges, edge_json(&s->edges[i]));
    json_object_set_new(all, "nodes", nodes);
    json_object_set_new(all, "edges", edges);
    report_dump(out, all);
    json_decref(all);
    return true;
}
