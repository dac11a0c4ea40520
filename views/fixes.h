/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fixes: the syncs that are pretended, and what they would do to the bugs: gone, still there,
 * others in their place.
 */
#ifndef VIEWS_FIXES_H
#define VIEWS_FIXES_H

#include <jansson.h>

#include "engine/fix.h"
#include "views/view.h"

/* The list is read when it is opened. tried: the report of the last try (report_load_try), NULL
 * when there was none; it must outlive the view. */
struct view *fixes_view(struct session *s, const struct fix_list *list, const json_t *tried,
                        int columns);

#endif
