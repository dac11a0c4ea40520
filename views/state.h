/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * state: the files that the schedule in hand leaves behind, beside those of the run without a crash
 * (with everything persisted that had been issued by then): each name that either has, its length,
 * and what differs. Names that come next in the run are there too: they are not missing, but not
 * yet made.
 */
#ifndef VIEWS_STATE_H
#define VIEWS_STATE_H

#include "engine/analysis.h"
#include "engine/walk_states.h"
#include "views/view.h"

/* All must outlive the view; the states are those of the walk. */
struct view *state_view(struct walk_states *states, struct analysis *a, const struct walk *w);

/* Goes on until the states are there and compared; the view has one row that says how far it is
 * meanwhile. To be called after every move of the walk. */
bool state_view_settle(struct view *v, uint64_t deadline, bool *done, struct error *e);

/* The version of the walk that its rows were last worked out for; 0: never. */
uint64_t state_view_version(const struct view *v);

/* The path of a row, for views/difference.h; NULL when it has none. Valid until the walk moves. */
const char *state_view_path(struct view *v, uint64_t row);

/* The first row that differs from what was expected, 0 when none does. */
uint64_t state_view_first(struct view *v);

#endif
