/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * behaviours: the update behaviours of a trace as a table: function or type, thread, ops, events,
 * the groups that it is in, and what was done to it (merged from smaller ones, cut). Row n is
 * behaviour n − 1.
 */
#ifndef VIEWS_BEHAVIOURS_H
#define VIEWS_BEHAVIOURS_H

#include <jansson.h>

#include "engine/analysis.h"
#include "engine/group.h"
#include "views/view.h"

/* Both must outlive the view. */
struct view *behaviours_view(struct analysis *a, const struct groups *groups);
json_t *behaviours_view_json(struct view *v, uint64_t row, struct error *e);

/* Whose work a behaviour is: "set_current", or of stores "type bucket at table 128". */
void behaviour_words(struct cell *c, struct analysis *a, const struct behaviour *b);

/* The same as members: function, which is null where there are type, instance and path. */
void behaviour_set_work(json_t *out, struct analysis *a, const struct behaviour *b);

/* The title of a column of them. */
const char *behaviour_column(const struct analysis *a);

#endif
