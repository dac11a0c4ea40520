/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * graph_route: a graph on a grid of character cells. Takes where dot would put the nodes and gives
 * each a box on the grid, and each edge a line of horizontal and vertical pieces from the right
 * side of one box to the left side of another.
 *
 * Nodes stand in ranks, from left to right; lines turn only in the channels between ranks. All
 * edges of one node begin as one line, which branches; no two edges end in the same place. So lines
 * never merge, where one crosses another it goes straight on, and what a person follows with a
 * finger is exactly what the graph says.
 *
 * A bar is a node that is alone in its rank: its lines end anywhere along it, and others cross it.
 */
#ifndef VIEWS_GRAPH_ROUTE_H
#define VIEWS_GRAPH_ROUTE_H

#include "engine/vec.h"
#include "views/graph_layout.h"

struct route_point {
    int x, y;
};

struct route_node {
    int width, height; /* of the box; of a bar, of its label, which has one row in the middle */
    bool bar;
};

struct route_edge {
    uint32_t from, to;
};

struct route_box {
    int x, y, width, height;
    int bar_top, bar_bottom; /* of a bar: the rows that it covers, in the middle of the box */
};

/* From just beside the first box to just beside the second; neighbours differ in x or in y. */
struct route_line {
    vec_of(struct route_point) at;
};

struct graph_route {
    struct route_box *boxes;
    struct route_line *lines;
    size_t n, edge_count;
    int width, height; /* of it all */
};

/* How high a box must be to take so many edges, each in a row between its borders. */
int route_height(size_t edges);

/* The row of a box, from its top, in which its edges leave. */
int route_port(int height);

/* The layout must be that of these nodes and edges, with edges in the same order; it may have more
 * edges, hidden ones, after them. */
struct graph_route *graph_route_make(const struct graph_layout *layout,
                                     const struct route_node *nodes, size_t n,
                                     const struct route_edge *edges, size_t edge_count);
void graph_route_free(struct graph_route *r);

#endif
