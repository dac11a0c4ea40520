/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bugs: a report's bugs as a table, a row each: what each is, where to look, how many states it
 * explains and what people made of it.
 */
#ifndef VIEWS_BUGS_H
#define VIEWS_BUGS_H

#include <jansson.h>

#include "views/view.h"

/* The report must live as long as the view, which the caller closes by its ops. */
struct view *bugs_view_open(const json_t *report);

#endif
