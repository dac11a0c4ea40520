/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * graph_layout: where dot would put the nodes of a graph that is drawn in character cells, from
 * left to right, those of one lane together. Worked out in a thread of its own, from a plain
 * description, so that nobody waits who has a screen to keep alive.
 */
#ifndef VIEWS_GRAPH_LAYOUT_H
#define VIEWS_GRAPH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"

/* What belongs to no lane. */
#define NO_LANE UINT32_MAX

struct layout_node {
    int width, height; /* in cells */
    uint32_t lane;
};

struct layout_edge {
    uint32_t from, to; /* from lies to the left of to */
    bool hidden;       /* it only says so, and is not drawn */
};

/* The centre of a node, in cells from the top left corner. Nodes of one rank have the same x. */
struct layout_place {
    double x, y;
};

/* The way of an edge that is drawn: a line through some points, from left to right. */
struct layout_way {
    struct layout_place *at;
    size_t n;
};

struct graph_layout {
    struct layout_place *nodes;
    struct layout_way *ways;
    size_t n, edge_count;
};

void graph_layout_free(struct graph_layout *l);

/* At once, in the caller's thread. */
bool graph_layout_make(struct graph_layout **out, const struct layout_node *nodes, size_t n,
                       const struct layout_edge *edges, size_t edge_count, struct error *e);

/* ---- in a thread of its own ---- */

struct layout_job;

/* Copies what it is given. fd is an eventfd that becomes readable when the layout is there; it must
 * stay open as long as any job may be running. NULL when no thread can be had. */
struct layout_job *layout_job_start(const struct layout_node *nodes, size_t n,
                                    const struct layout_edge *edges, size_t edge_count, int fd,
                                    struct error *e);

/* Whether it has ended. */
bool layout_job_done(struct layout_job *job);
void layout_job_wait(struct layout_job *job);

/* The result, which the caller owns; NULL with an error when it failed. Once, after it has ended.
 */
struct graph_layout *layout_job_take(struct layout_job *job, struct error *e);

/* Ends it, or lets it end by itself when it is still running: nobody wants its result. */
void layout_job_drop(struct layout_job *job);

/* Waits until no job runs, dropped ones included: before the process ends, or fd is closed. */
void layout_jobs_wait(void);

#endif
