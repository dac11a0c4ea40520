/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * groups: which behaviour stands for which, as a table: a group's function, its representative, how
 * many behaviours and signatures it has, and how many schedules of its own ops the representative
 * allows, where that is cheap to count. Row n is group n − 1.
 */
#ifndef VIEWS_GROUPS_H
#define VIEWS_GROUPS_H

#include <jansson.h>

#include "engine/analysis.h"
#include "engine/group.h"
#include "views/view.h"

/* Both must outlive the view. */
struct view *groups_view(struct analysis *a, const struct groups *groups);
json_t *groups_view_json(struct view *v, uint64_t row, struct error *e);

#endif
