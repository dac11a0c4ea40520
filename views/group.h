/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * group: one group of behaviours: its representative, which is tested, and the others, which need
 * not be, because each of their states has its like among its own.
 */
#ifndef VIEWS_GROUP_H
#define VIEWS_GROUP_H

#include "engine/analysis.h"
#include "engine/group.h"
#include "engine/ideal.h"
#include "views/view.h"

/* The group must be there. All must outlive the view. Opening costs O(signatures of the group). */
struct view *group_view(struct analysis *a, const struct groups *groups, uint32_t group);

/* "set_current: 14 stands for 5 others; 120 of 144 schedules need no test". Counts the schedules of
 * GROUP_COUNTED signatures at the most; when there are more it says so. */
enum { GROUP_COUNTED = 16 };
void group_view_title(struct view *v, struct cell *c);

/* The schedules of a behaviour's own ops; count 0: not counted, it has too many ops. Takes about a
 * millisecond at the most. */
struct ideals_total group_schedules(struct analysis *a, const struct behaviour *b);

#endif
