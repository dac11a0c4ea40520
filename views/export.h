/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * export: a subgraph as a picture for a document (svg, png), as text for Graphviz (dot), or as data
 * (json). Pictures say everything twice: what is lost is red and dashed, what persisted is green
 * and solid, so that they can be printed.
 *
 * The JSON:
 *
 *   { "version": 1, "title": "bug 2: …", "session": "…", "model": "ext4", "left_out": 0,
 *     "nodes": [ { "node": 0, "type": "op|sync|print", …, "state": "persisted|lost|in flight|not
 * yet issued", "culprit": true, "behaviour": 3 } ], "edges": [ { "from": 0, "to": 1, "type":
 * "rule|durable|after|next|missing", "rule": "journal", "reason": "…", "through": 0, "transitive":
 * false } ] }
 *
 * A sync that is only pretended has no event; "pretended" says what it is (engine/fix.h).
 * Nodes have the members of the contract's OP besides. from and to are nodes; state is there when
 * there is a schedule, rule and reason when a rule of the model makes the edge.
 */
#ifndef VIEWS_EXPORT_H
#define VIEWS_EXPORT_H

#include "engine/buf.h"
#include "engine/subgraph.h"

/* A way to write a subgraph down. Adding one is a function and a line in the table. */
struct export_format {
    const char *name;
    bool binary; /* nothing for a terminal */
    bool drawn;  /* by Graphviz, which takes its time */
    bool (*write)(const struct subgraph *s, struct buf *out, struct error *e);
};

/* NULL with the known names in the error. */
const struct export_format *export_format_find(const char *name, struct error *e);

/* By the suffix of a file's name; .gv is dot too. */
const struct export_format *export_format_of(const char *path, struct error *e);

/* Whether a name asks for a picture, be it one in a format that cannot be written. */
bool export_is_picture(const char *path);

/* Writes a file, as a whole; format NULL: by its suffix. */
bool export_file(const struct subgraph *s, const char *path, const struct export_format *format,
                 struct error *e);

/* Draws what was planned (views/export_plan.h): dot, svg or png. From any thread. */
struct export_plan;
bool export_draw(const struct export_plan *p, const char *format, struct buf *out, struct error *e);

bool export_dot(const struct subgraph *s, struct buf *out, struct error *e);
bool export_svg(const struct subgraph *s, struct buf *out, struct error *e);
bool export_png(const struct subgraph *s, struct buf *out, struct error *e);
bool export_json(const struct subgraph *s, struct buf *out, struct error *e);

#endif
