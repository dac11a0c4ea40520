/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * behaviour: the ops of one update behaviour, a line each; with their marks in the schedule in
 * hand. One write may have made hundreds of thousands.
 */
#ifndef VIEWS_BEHAVIOUR_H
#define VIEWS_BEHAVIOUR_H

#include "engine/analysis.h"
#include "engine/walk.h"
#include "views/view.h"

/* All must outlive the view; without a walk there are no marks. */
struct view *behaviour_view(struct analysis *a, uint32_t behaviour, const struct walk *walk);

#endif
