/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * doctor: tables of checks (engine/doctor.h) as one, a row each. They run when the view is opened.
 */
#ifndef VIEWS_DOCTOR_H
#define VIEWS_DOCTOR_H

#include "engine/doctor.h"
#include "views/view.h"

/* required and optional get how many of each kind are missing. The caller closes the view by its
 * ops. */
struct view *doctor_view_open(const struct doctor_table *tables, size_t n, size_t *required,
                              size_t *optional);

/* Whether Graphviz, as it is installed, lays graphs out and draws them. */
struct doctor_table doctor_pictures(void);

#endif
