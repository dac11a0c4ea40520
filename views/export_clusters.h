/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * export_clusters: behaviours as frames around their nodes, one inside the other as one was merged
 * from others. A frame that would say nothing new is left out: one around the same nodes as the one
 * inside it, and one around everything when there are others.
 */
#ifndef VIEWS_EXPORT_CLUSTERS_H
#define VIEWS_EXPORT_CLUSTERS_H

#include "engine/subgraph.h"
#include "views/graphviz.h"

/* Adds the frames to g; out[i] is the innermost of node i, or g itself. */
void export_clusters(Agraph_t *g, const struct subgraph *s, Agraph_t **out);

#endif
