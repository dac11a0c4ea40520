/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bug: one bug of a report in full: what survived, what was lost, why that is legal, what the
 * checker said, what would mend it, and what people noted. Each line is about the op, the event or
 * the source line that it names.
 */
#ifndef VIEWS_BUG_H
#define VIEWS_BUG_H

#include <jansson.h>

#include "views/view.h"

/* A bug of a report (NULL: none is shown), which must outlive the view; for a pane of so many
 * columns. Where its numbers of ops and behaviours do not fit what is looked at, lines are about
 * events. */
struct view *bug_view(const json_t *bug, int columns, bool fits);

#endif
