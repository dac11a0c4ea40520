/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * source: a source file as it was when the run was recorded, with a mark on each line whose ops the
 * schedule in hand has persisted, lost or in flight; one line has several when its ops differ. A
 * row's details are its ops.
 */
#ifndef VIEWS_SOURCE_H
#define VIEWS_SOURCE_H

#include "engine/analysis.h"
#include "engine/walk.h"
#include "views/links.h"
#include "views/view.h"

/* The path as a struct location has it. All must outlive the view; without a walk (NULL) or before
 * links are settled there are no marks. A file that is not to be had has one row that says so. */
struct view *source_view(struct analysis *a, struct links *links, struct walk *walk,
                         const char *path);

/* The line of the frame that one looks at; 0: none. */
void source_view_current(struct view *v, uint32_t line);

/* The file's name, and what became of it since: "db.c  changed since the recording". */
void source_view_title(struct view *v, struct cell *c);

const char *source_view_path(struct view *v);

#endif
