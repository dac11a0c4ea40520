/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * objects: the objects that a run stored to, as a table: type, file, place, how many stores, and
 * what became of them in the schedule in hand. Row n is object n − 1.
 */
#ifndef VIEWS_OBJECTS_H
#define VIEWS_OBJECTS_H

#include "engine/stored_objects.h"
#include "engine/walk.h"
#include "views/view.h"

/* All must outlive the view. */
struct view *objects_view(struct analysis *a, const struct stored_objects *objects,
                          struct walk *walk);

/* "bucket at table 128". */
void object_words(struct cell *c, struct analysis *a, const struct stored_object *o);

#endif
