/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * graph_detail: what there is to say about one node of a subgraph, in lines: what it is and from
 * where, when it is durable, and for each of its edges the rule and its reason.
 */
#ifndef VIEWS_GRAPH_DETAIL_H
#define VIEWS_GRAPH_DETAIL_H

#include "engine/subgraph.h"
#include "views/view.h"

/* The lines of the node that was asked for last; zero it to begin. */
struct graph_detail {
    bool known;
    vec_of(struct cell) lines;
};

/* To be called when another node is to be told of. */
void graph_detail_clear(struct graph_detail *d);

/* Line n, *more false when there is none. */
bool graph_detail_line(struct graph_detail *d, const struct subgraph *s, size_t node, size_t n,
                       struct cell *out, bool *more, struct error *e);

#endif
