/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/type_address.h"

#include "engine/type_resolve.h"

/* Objects inside a larger one that are looked at when that is added; more are taken as used anew.
 */
enum { INSIDE_MAX = 64 };

void objects_free(struct type_objects *o)
{
    extents_cut(&o->where, 0);
    extents_free(&o->where);
    vec_free(&o->objects);
}

static bool is_memory(uint64_t address, uint64_t size)
{
    return size > 0 && size <= TYPE_SIZE_MAX && address > 0 && address < EXTENTS_END - size;
}

static struct type_object *object_of(const struct type_objects *o, const struct extent *piece)
{
    return &o->objects.at[piece->payload - 1];
}

/* The piece that has the byte at an address. */
static bool piece_at(const struct type_objects *o, uint64_t address, struct extent *out)
{
    return extents_find(&o->where, address, out) && out->offset <= address;
}

/* Bytes of a char array: room in which a program keeps objects of its own. */
static bool is_room(struct type *t, uint64_t offset)
{
    struct type_spot spot;

    if (!spot_of_offset(t, offset, 1, FIT_WHOLE, &spot))
        return false;
    bool room = spot.field->size == 1 && spot.path.n && spot.path.at[spot.path.n - 1] == ']';
    spot_free(&spot);
    return room;
}

/* Forgets the pieces of one object. */
static void forget(struct type_objects *o, uint64_t payload)
{
    struct type_object *gone = &o->objects.at[payload - 1];
    uint64_t at = gone->address, end = at + gone->type->size;
    struct extent piece;

    while (at < end && extents_find(&o->where, at, &piece) && piece.offset < end) {
        if (piece.payload == payload)
            extents_clear(&o->where, piece.offset, piece.size);
        at = piece.offset + piece.size;
    }
}

/* What the new object means for one that it touches. */
enum meeting {
    MEETING_PART_OF_OLD,
    MEETING_IN_ROOM_OF_OLD,
    MEETING_HOLDS_OLD,
    MEETING_ROOM_FOR_OLD,
    MEETING_CONTRADICTS
};

static enum meeting meet(const struct type_object *old, const struct type_object *new)
{
    if (new->address >= old->address) {
        uint64_t offset = new->address - old->address;
        if (type_holds(old->type, offset, new->type))
            return MEETING_PART_OF_OLD;
        if (new->type->size < old->type->size && is_room(old->type, offset))
            return MEETING_IN_ROOM_OF_OLD;
    }
    if (old->address >= new->address) {
        uint64_t offset = old->address - new->address;
        if (type_holds(new->type, offset, old->type))
            return MEETING_HOLDS_OLD;
        if (old->type->size < new->type->size && is_room(new->type, offset))
            return MEETING_ROOM_FOR_OLD;
    }
    return MEETING_CONTRADICTS;
}

static void put(struct type_objects *o, const struct type_object *object)
{
    vec_push(&o->objects, *object);
    extents_write(&o->where, object->address, object->type->size, o->objects.n, 0);
}

void objects_add(struct type_objects *o, uint64_t address, struct type *t, bool hearsay)
{
    struct type_object new = {address, t, hearsay};
    vec_of(struct type_object) inside = {0};
    vec_of(uint64_t) outdated = {0};
    struct extent piece;
    uint64_t at = address;
    bool known = false;

    if (!t || !is_memory(address, t->size))
        return;
    for (; !known && at < address + t->size && extents_find(&o->where, at, &piece) &&
           piece.offset < address + t->size;
         at = piece.offset + piece.size) {
        struct type_object *old = object_of(o, &piece);
        switch (meet(old, &new)) {
        case MEETING_PART_OF_OLD:
            known = true;
            old->hearsay &= hearsay;
            break;
        case MEETING_ROOM_FOR_OLD:
            if (inside.n < INSIDE_MAX)
                vec_push(&inside, *old);
            break;
        case MEETING_CONTRADICTS:
            known = hearsay && !old->hearsay; /* hearsay is not heard against knowledge */
            if (!known)
                vec_push(&outdated, piece.payload);
            break;
        default:
            break;
        }
    }
    if (!known) {
        for (size_t i = 0; i < outdated.n; i++)
            forget(o, outdated.at[i]);
        put(o, &new);
        for (size_t i = 0; i < inside.n; i++)
            put(o, &inside.at[i]);
    }
    vec_free(&inside);
    vec_free(&outdated);
}

const struct type_object *objects_find(const struct type_objects *o, uint64_t address,
                                       uint64_t size)
{
    struct extent piece;

    if (!is_memory(address, size) || !piece_at(o, address, &piece))
        return NULL;
    const struct type_object *object = object_of(o, &piece);
    return address + size <= object->address + object->type->size ? object : NULL;
}

void objects_expire(struct type_objects *o, uint64_t address, uint64_t size)
{
    struct extent piece;

    if (address >= EXTENTS_END)
        return;
    if (size > EXTENTS_END - address)
        size = EXTENTS_END - address;
    uint64_t end = address + size;
    while (address < end && extents_find(&o->where, address, &piece) && piece.offset < end) {
        address = piece.offset + piece.size; /* of an object that lost a part nothing is left */
        forget(o, piece.payload);
    }
}
