/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * why: two behaviours side by side: which op of one matches which of the other, the order that each
 * has, and why they are, or are not, in one group. An edge that only one side has is marked. The
 * last row's details say it all in prose.
 */
#ifndef VIEWS_WHY_H
#define VIEWS_WHY_H

#include "engine/analysis.h"
#include "engine/group.h"
#include "views/view.h"

/* Both behaviours must be there, and differ. The analysis and the groups must outlive the view. */
bool why_view(struct view **out, struct analysis *a, const struct groups *groups, uint32_t left,
              uint32_t right, struct error *e);

/* "#14 represents #31": the verdict alone; the last row's details say why. */
void why_view_verdict(struct view *v, struct cell *c);

#endif
