/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * graph_picture: a subgraph drawn in box characters, time from left to right. An op is a box: its
 * file in the border above, its source line in the border below. A sync is a bar: the lines of what
 * it makes durable end at it, and everything to its right was issued after it had returned. An
 * arrow leads from an op to one that must not persist before it.
 *
 * Dot lays it out in a thread of its own; meanwhile the picture before stays.
 */
#ifndef VIEWS_GRAPH_PICTURE_H
#define VIEWS_GRAPH_PICTURE_H

#include "engine/subgraph.h"
#include "views/view.h"

struct graph_picture;

#define NO_NODE SIZE_MAX

/* More nodes would keep dot busy for longer than anybody waits. */
enum { PICTURE_NODES_MAX = 400 };

/* NULL when the system gives no event descriptor. */
struct graph_picture *graph_picture_new(struct error *e);

/* Waits for a layout that is still being worked out. */
void graph_picture_free(struct graph_picture *p);

/* Shows another subgraph, which it takes over, as soon as it is laid out. An earlier one that was
 * still waiting is forgotten. */
bool graph_picture_show(struct graph_picture *p, struct subgraph *s, struct error *e);

/* Forgets what is shown and what is coming, before what the subgraphs were made from goes. */
void graph_picture_forget(struct graph_picture *p);

/* Becomes readable when a layout has ended: then poll. */
int graph_picture_fd(const struct graph_picture *p);

enum picture_state {
    PICTURE_READY,   /* nothing new */
    PICTURE_WAITING, /* a layout is being worked out */
    PICTURE_NEW,     /* it was, and what is to be drawn has changed */
    PICTURE_FAILED,  /* the error says why; the picture before stays */
};
enum picture_state graph_picture_poll(struct graph_picture *p, struct error *e);

/* The same, but waits; for tests. */
bool graph_picture_wait(struct graph_picture *p, struct error *e);

/* What is shown; NULL before the first. */
const struct subgraph *graph_picture_subgraph(const struct graph_picture *p);

/* ---- drawing ---- */

int graph_picture_width(const struct graph_picture *p);
int graph_picture_height(const struct graph_picture *p);

/* Appends row y from column x on, exactly `width` columns of it. Costs what is drawn. */
void graph_picture_row(const struct graph_picture *p, int y, int x, int width, struct cell *out);

enum picture_colour { PICTURE_BY_STATE, PICTURE_BY_FILE };
void graph_picture_colour(struct graph_picture *p, enum picture_colour by);

/* ---- nodes ---- */

struct picture_box {
    int x, y, width, height;
};

/* The node at a place, NO_NODE when there is none. */
size_t graph_picture_at(const struct graph_picture *p, int x, int y);
struct picture_box graph_picture_box(const struct graph_picture *p, size_t node);

/* The node of an op, NO_NODE when it is not shown. */
size_t graph_picture_find(const struct graph_picture *p, uint32_t op);

/* Lights a node, what comes just before and just after it, and the lines between them. A new
 * picture keeps the selection when it has the same op. */
void graph_picture_select(struct graph_picture *p, size_t node);
size_t graph_picture_selected(const struct graph_picture *p);

enum picture_direction { PICTURE_LEFT, PICTURE_RIGHT, PICTURE_UP, PICTURE_DOWN };

/* The nearest node in a direction, along an edge where there is one; the node itself when there is
 * none. From NO_NODE: the first. */
size_t graph_picture_neighbour(const struct graph_picture *p, size_t node,
                               enum picture_direction direction);

/* What the selected node is about: an op, or the event of a sync or an acknowledgement. */
void graph_picture_subject(const struct graph_picture *p, struct subject *out);

/* Line n of what there is to say about the selected node: what it is, and the rule of each of its
 * edges. *more is false, and the cell untouched, when there is no such line. */
bool graph_picture_detail(struct graph_picture *p, size_t n, struct cell *out, bool *more,
                          struct error *e);

/* The whole of it as a view with a row for each line, for dumps; it lives as long as the picture.
 */
struct view *graph_picture_view(struct graph_picture *p);

#endif
