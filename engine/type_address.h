/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * type_address: which objects are known to be where. An object is known for sure when the code
 * that stored to it said so, or by hearsay when a pointer to it was stored. Objects in others are
 * part of them: the outermost is what is kept. An object that does not fit to what was known means
 * that the memory has been used anew.
 */
#ifndef ENGINE_TYPE_ADDRESS_H
#define ENGINE_TYPE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/extents.h"
#include "engine/type_info.h"
#include "engine/vec.h"

struct type_object {
    uint64_t address;
    struct type *type;
    bool hearsay;
};

/* Zero it to begin. */
struct type_objects {
    struct extents where; /* memory to pieces of objects: payload is a place in objects + 1 */
    vec_of(struct type_object) objects;
};

void objects_free(struct type_objects *o);

/* An object of type t is at an address. O(log n) and what it covers. */
void objects_add(struct type_objects *o, uint64_t address, struct type *t, bool hearsay);

/* The outermost object that has all of these bytes; NULL when none is known. Valid until the next
 * addition. O(log n) */
const struct type_object *objects_find(const struct type_objects *o, uint64_t address,
                                       uint64_t size);

void objects_expire(struct type_objects *o, uint64_t address, uint64_t size);

#endif
