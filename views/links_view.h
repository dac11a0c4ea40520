/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * links_view: everything that a row is connected with, a line each, by what kind it is of.
 */
#ifndef VIEWS_LINKS_VIEW_H
#define VIEWS_LINKS_VIEW_H

#include "engine/findings.h"
#include "views/links.h"

/* The first LINKS_SHOWN of each kind; NULL with an error. */
enum { LINKS_SHOWN = 20 };
struct view *links_view(struct links *l, struct findings *f, const struct subject *s,
                        struct error *e);

#endif
