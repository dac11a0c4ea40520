/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * export_clusters: behaviours as frames around their nodes, one inside the other as one was merged
 * from others. A frame that would say nothing new is left out: one around the same nodes as the one
 * inside it, and one around everything when there are others.
 */
#ifndef VIEWS_EXPORT_CLUSTERS_H
#define VIEWS_EXPORT_CLUSTERS_H

#include "engine/subgraph.h"
#include "engine/vec.h"

#define NO_FRAME SIZE_MAX

struct export_frame {
    uint32_t behaviour;
    char *label;  /* safe to show, for Graphviz */
    size_t outer; /* the frame around it, which stands before it; NO_FRAME: none */
};

struct export_frames {
    vec_of(struct export_frame) at;
    size_t *of; /* by node: the innermost, or NO_FRAME */
};

void export_frames_choose(struct export_frames *out, const struct subgraph *s);
void export_frames_free(struct export_frames *f);

#endif
