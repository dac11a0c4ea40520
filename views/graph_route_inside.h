/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What graph_route.c (boxes, and rows between them) and graph_channel.c (lines between ranks)
 * share.
 */
#ifndef VIEWS_GRAPH_ROUTE_INSIDE_H
#define VIEWS_GRAPH_ROUTE_INSIDE_H

#include "views/graph_route.h"

/* Where the line of a node goes through a rank, or ends at its bar. */
struct stop {
    uint32_t source;
    bool arrives;
    int row;
};

/* A piece of the line of `source` in a channel: from a row on its left to a row on its right. A
 * vertical on a track leads from one to the other, or two do, by way of a row between them. */
struct wire {
    uint32_t source;
    int from, to;
    bool detours;
    int detour; /* that row */
    int track, second_track;
};

/* A rank of nodes, and the channel on its right. */
struct rank {
    double centre;  /* in the layout */
    int width;      /* of its widest box */
    int x, channel; /* where both begin on the grid */
    vec_of(uint32_t) nodes;
    vec_of(struct stop) stops;
    vec_of(struct wire) wires;
    int tracks;
};

/* Rows are dot's, rounded, until all is settled and they are numbered. */
struct router {
    const struct graph_layout *layout;
    const struct route_node *nodes;
    const struct route_edge *edges;
    size_t n, edge_count;
    struct route_box *boxes;
    struct rank *ranks;
    size_t rank_count;
    size_t *rank_of;
    size_t *ports;   /* of each edge: the row of the box in which it ends */
    int *label_row;  /* of each node */
    int top, bottom; /* rows in use */
    bool *used;
    int *rows; /* row − top to its number on the grid */
    int width, height;
};

/* The row in which the line of a node leaves a rank: its own, or one that it goes through. */
int router_row(const struct router *r, uint32_t source, size_t rank);

/* The row in which an edge ends. */
int router_arrival(const struct router *r, size_t edge);

/* Finds tracks for the wires of the channel after a rank. */
void channel_route(struct router *r, size_t rank);

/* The wire of a source that ends in a row. */
const struct wire *channel_wire(const struct rank *rank, uint32_t source, int to);

int channel_width(const struct rank *rank);
int channel_column(const struct rank *rank, int track);

#endif
