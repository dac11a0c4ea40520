/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bookmarks: places that somebody wants to find again: an event or an op, and what was said of it.
 */
#ifndef VIEWS_BOOKMARKS_H
#define VIEWS_BOOKMARKS_H

#include "engine/analysis.h"
#include "engine/triage.h"
#include "views/view.h"

/* Both must outlive the view, which shows the list as it is when it is drawn. */
struct view *bookmarks_view(struct analysis *a, const struct bookmarks *list);

#endif
