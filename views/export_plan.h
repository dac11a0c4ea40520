/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * export_plan: what an exported picture says, worked out from the session and held apart from it,
 * so that a thread of its own can draw it while the session is used, or closed.
 */
#ifndef VIEWS_EXPORT_PLAN_H
#define VIEWS_EXPORT_PLAN_H

#include "engine/subgraph.h"
#include "views/export_clusters.h"

/* The font of what is said beside the main thing. */
#define EXPORT_SMALL "10"

struct export_node {
    char *name; /* unique among the nodes */
    char *html; /* its label */
};

struct export_plan {
    struct subgraph graph; /* nodes and edges only; nothing leads to the session */
    char *title;           /* HTML */
    struct export_node *nodes;
    struct export_frames frames;
};

/* NULL with an error when the session cannot be read. */
struct export_plan *export_plan_make(const struct subgraph *s, struct error *e);
void export_plan_free(struct export_plan *p);

#endif
