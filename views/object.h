/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * object: one object of a mapped file, field by field: the value in the run without a crash, that
 * in the state in hand, and what became of the store that wrote the field last. A row is about that
 * store.
 */
#ifndef VIEWS_OBJECT_H
#define VIEWS_OBJECT_H

#include "engine/stored_objects.h"
#include "engine/walk_states.h"
#include "views/view.h"

/* All must outlive the view. Looks once at all ops for those that touch the object, with or without
 * a type. */
struct view *object_view(struct analysis *a, const struct stored_objects *objects, uint32_t object,
                         struct walk *walk, struct walk_states *states);

/* Goes on until the states are there. To be called after every move of the walk. */
bool object_view_settle(struct view *v, uint64_t deadline, bool *done, struct error *e);

/* Which object it is. */
uint32_t object_view_number(struct view *v);

/* "bucket at table 128: without a crash, and in this state". */
void object_view_title(struct view *v, struct cell *c);

#endif
