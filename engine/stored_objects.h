/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stored_objects: the objects in mapped files that a run stored to, each with a number, from 0 in
 * the order of their first stores. An object is a type at a place of a file; one that lies in
 * another is an object of its own, and so is what lies around it (fields.h: instance,
 * outer_instance).
 */
#ifndef ENGINE_STORED_OBJECTS_H
#define ENGINE_STORED_OBJECTS_H

#include "engine/analysis.h"

#define NO_OBJECT UINT32_MAX

struct stored_object {
    uint64_t offset; /* where it begins in its file */
    uint64_t size;
    uint32_t file;
    uint32_t type;         /* of analysis->fields */
    uint32_t around;       /* the smallest object that it lies in, or NO_OBJECT */
    uint32_t first, count; /* the ops that are known to store into it, or into what lies in it: a
                              range of stored_objects.ops */
};

struct stored_objects {
    struct stored_object *at;
    size_t n;
    uint32_t *ops;   /* ascending for each object */
    uint32_t *inner; /* by op of the graph: the innermost object, or NO_OBJECT */
};

/* O(n log n), in ops. The caller frees it. Without stores, or without debug info, there are none.
 */
struct stored_objects *stored_objects_find(const struct analysis *a);
void stored_objects_free(struct stored_objects *o);

#endif
