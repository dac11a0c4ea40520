/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * doctor: the checks of engine/doctor.h as a table, a row each. They run when the view is opened.
 */
#ifndef VIEWS_DOCTOR_H
#define VIEWS_DOCTOR_H

#include <stddef.h>

#include "views/view.h"

/* required and optional get how many of each kind are missing. The caller closes the view by its
 * ops. */
struct view *doctor_view_open(size_t *required, size_t *optional);

#endif
