/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bugs: a report's bugs as a table, a row each: what each is, where to look, how many states it
 * explains and what people made of it.
 */
#ifndef VIEWS_BUGS_H
#define VIEWS_BUGS_H

#include <jansson.h>

#include "views/view.h"

/* The caller closes it by its ops. It holds the bugs that it shows: the report may be gone before
 * it, since another is read when a check ends or a bug's status changes. Bugs of a check that still
 * runs are not kept in the session yet, where these numbers are those of others: a row of theirs is
 * about the event to look at first. */
struct view *bugs_view_open(const json_t *report, bool kept);

#endif
