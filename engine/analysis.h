/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * analysis: everything that is worked out before the first checker runs. A session and a model give
 * the graph; the graph, the stacks and what stores wrote give the behaviours.
 */
#ifndef ENGINE_ANALYSIS_H
#define ENGINE_ANALYSIS_H

#include "engine/behaviour.h"
#include "engine/environment.h"
#include "engine/fields.h"
#include "engine/graph.h"
#include "engine/session.h"
#include "engine/symbols.h"

struct analysis {
    struct session *session;
    struct symbols *symbols;
    struct graph_session *source;
    struct graph *graph;
    struct action *actions; /* events that have ops or are syncs */
    size_t action_count;
    struct fields *fields;         /* what stores wrote; empty when there are none */
    struct action_object *objects; /* of each action; NULL when there are no stores */
    size_t store_count, typed_count; /* stores with ops, and those whose type is known */
    struct behaviours *behaviours;
    struct path_table *paths; /* the stacks' call paths, for the behaviours */
    struct call_stacks stacks;
    struct name_entries *entries; /* which directory entries name ops change; made when asked for */
};

struct analysis_options {
    struct model model;
    struct behaviour_options behaviours;
    const struct fix *fixes; /* syncs that are pretended; valid ones (fix.h) */
    size_t fix_count;
    const struct interrupt *interrupt; /* looked at meanwhile; NULL: nobody asks */
};

/* How behaviours are found in a session: as its target's config says, else as by default. */
struct behaviour_options analysis_behaviours(struct session *s);

/* The session must stay open as long as the analysis. */
bool analysis_new(struct analysis **out, struct session *session,
                  const struct analysis_options *options, struct error *e);
void analysis_free(struct analysis *a);

/* For asking after the environments of behaviours, names by directory entry. The caller frees it,
 * before the analysis. */
bool analysis_environments(struct environments **out, struct analysis *a, struct error *e);

/* The name of a behaviour's function or type, as people know it. */
const char *analysis_function(const struct analysis *a, const struct behaviour *b);

/* The object whose stores a behaviour is; false when it is that of a function. */
struct analysis_object {
    uint64_t offset; /* where it begins in its file */
    uint32_t file;
    uint32_t type; /* of analysis->fields */
};
bool analysis_object(const struct analysis *a, const struct behaviour *b,
                     struct analysis_object *out);

/* Adds whose work a behaviour is: "set_current", "type bucket at table 128". To be escaped. */
void analysis_add_work(struct buf *out, const struct analysis *a, const struct behaviour *b);

#endif
