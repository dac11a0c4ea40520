/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * why_op: why one op must persist before another, as the shortest chain of ops between them, each
 * with the rule that makes it wait for the one above; or, when it need not, why it may be lost
 * while the other survives. The last row's details say it in prose.
 */
#ifndef VIEWS_WHY_OP_H
#define VIEWS_WHY_OP_H

#include "engine/analysis.h"
#include "views/view.h"

/* Both ops must be in the graph, and differ. The analysis must outlive the view. */
bool why_op_view(struct view **out, struct analysis *a, uint32_t before, uint32_t after,
                 struct error *e);

#endif
