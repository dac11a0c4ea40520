/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * graph_drawing: one subgraph on its way to the screen: its words, what dot is to lay out, and,
 * once it is, the canvas with all boxes and lines. graph_picture.h is what others use.
 */
#ifndef VIEWS_GRAPH_DRAWING_H
#define VIEWS_GRAPH_DRAWING_H

#include "engine/subgraph.h"
#include "views/graph_canvas.h"
#include "views/graph_layout.h"
#include "views/graph_picture.h"
#include "views/graph_route.h"

/* What is written in and on a node's box. */
struct drawing_words {
    struct cell label, path, source, function;
};

struct drawing {
    struct subgraph *subgraph;
    struct drawing_words *words;
    struct route_node *nodes;
    struct route_edge *edges; /* those that are drawn */
    uint32_t *edge_of;        /* each one's place among those of the subgraph */
    size_t edge_count;
    struct graph_route *route; /* NULL until it is laid out */
    struct canvas *canvas;
};

/* Takes the subgraph over; NULL when the session cannot be read. */
struct drawing *drawing_new(struct subgraph *s, struct error *e);
void drawing_free(struct drawing *d);

/* What dot is to lay out. The caller frees both. */
void drawing_describe(const struct drawing *d, struct layout_node **nodes,
                      struct layout_edge **edges, size_t *edge_count);

/* Takes the result and makes the canvas. */
void drawing_lay_out(struct drawing *d, const struct graph_layout *layout);

/* Draws everything anew. */
void drawing_paint(struct drawing *d, size_t selected, enum picture_colour colour);

#endif
