/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * states: the distinct crash states of the last check as a table, in the order in which they were
 * met; row n is state n. Seen as states: what the checker said, where the crash came, for which
 * behaviour, and which lost ops take the others along. Seen as schedules: how many ops persisted,
 * and every one that did not.
 */
#ifndef VIEWS_STATES_H
#define VIEWS_STATES_H

#include <jansson.h>

#include "engine/analysis.h"
#include "views/view.h"

/* The analysis must be under the model of the check, and outlive the view. */
struct view *states_view(struct analysis *a);
struct view *schedules_view(struct analysis *a);

/* A row of either. */
json_t *states_view_json(struct view *v, uint64_t row, struct error *e);

#endif
