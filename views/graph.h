/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * graph: the persistence graph as a table, a row an op: what it is, where it came from, the event
 * after which it is durable, and the ops that must persist just before it, with the rule. Row n is
 * op n − 1.
 */
#ifndef VIEWS_GRAPH_H
#define VIEWS_GRAPH_H

#include <jansson.h>

#include "engine/analysis.h"
#include "views/trace_filter.h"
#include "views/view.h"

/* Both must outlive the view; filter may be NULL, and goes by the events of ops. */
struct view *graph_view(struct analysis *a, struct trace_filter *filter);

/* A row as an object, which the caller owns; NULL on failure. */
json_t *graph_view_json(struct view *v, uint64_t row, struct error *e);

#endif
