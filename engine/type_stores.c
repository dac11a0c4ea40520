/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From what the code says to what a store is: the copies that several stores make together, and
 * what is known of the memory.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/types.h"
#include "engine/types_inside.h"

enum {
    COPY_STORES_MAX = 1 << 16, /* stores that are taken together */
    FOREIGN_MAX = 64,          /* stores of other threads in between */
    POINTER_SIZE = 8,
};

/* --- What is known of the memory ------------------------------------------------------------- */

/* What lies at a place of a type; kept, as stores come to the same places again and again. */
struct known_spot {
    bool found;
    struct type *holder, *field;
    uint64_t offset, member, holder_offset;
    struct type *pointee; /* of a pointer that is all of it; NULL for none */
    bool relative;        /* it counts from the mapping's beginning */
};

static void look_at(struct types *t, struct type *type, uint64_t offset, uint64_t size,
                    struct known_spot *out)
{
    struct type_spot spot;
    struct value pointer;

    out->found = spot_of_offset(type, offset, size, FIT_PART, &spot) ||
                 spot_of_offset(type, offset, size, FIT_ANY, &spot);
    if (!out->found)
        return;
    out->holder = types_canonical(t, spot.holder);
    out->field = types_canonical(t, spot.field);
    out->offset = spot.offset;
    out->member = spot.member;
    out->holder_offset = spot.holder_offset;
    spot_free(&spot);
    if (size == POINTER_SIZE && pointer_at_offset(type, offset, &pointer) &&
        type_is_struct(pointer.pointee) && pointer.pointee->size) {
        out->pointee = types_canonical(t, pointer.pointee);
        out->relative = pointer.relative;
    }
}

static const struct known_spot *known_spot(struct types *t, struct type *type, uint64_t offset,
                                           uint64_t size)
{
    struct {
        const struct type *type;
        uint64_t offset, size;
    } key = {type, offset, size};
    bool added;
    uint64_t *value = map_put(&t->known, &key, sizeof key, &added);

    if (added) {
        struct known_spot *k = xcalloc(1, sizeof *k);
        *value = (uint64_t)(uintptr_t)k;
        look_at(t, type, offset, size, k);
    }
    return (const struct known_spot *)(uintptr_t)*value;
}

/* Fills in the object that is known around the store; false when none is, or it says otherwise. */
static bool ask_objects(struct types *t, const struct type_store *s, struct type_answer *a)
{
    const struct type_object *object = objects_find(&t->objects, s->address, s->size);

    if (!object)
        return false;
    const struct known_spot *k = known_spot(t, object->type, s->address - object->address, s->size);
    if (!k->found || !k->holder || (a->type && k->holder != a->type) ||
        (a->instance && a->instance != object->address + k->holder_offset))
        return false;
    a->type = k->holder;
    a->outer = types_canonical(t, object->type);
    a->outer_instance = object->address;
    a->instance = object->address + k->holder_offset;
    a->offset = k->offset;
    a->member = k->member;
    if (!a->field || a->confidence == TYPE_UNKNOWN)
        a->field = k->field;
    return true;
}

/* The pointers that are stored tell what they point to. */
static void hear(struct types *t, const struct type_store *s, const struct type_answer *a)
{
    for (uint64_t at = 0; s->bytes && a->instance && at + POINTER_SIZE <= s->size;
         at += POINTER_SIZE) {
        bool outer = a->outer_instance != 0;
        const struct known_spot *k =
            known_spot(t, outer ? a->outer : a->type,
                       s->address + at - (outer ? a->outer_instance : a->instance), POINTER_SIZE);
        uint64_t pointer;
        memcpy(&pointer, (const char *)s->bytes + at, sizeof pointer);
        if (!k->pointee || !pointer || (k->relative && !s->mapping))
            continue;
        objects_add(&t->objects, k->relative ? s->mapping + pointer : pointer, k->pointee, true);
    }
}

static void finish(struct types *t, const struct type_store *s, const struct type_site *site,
                   struct type_answer *a)
{
    *a = (struct type_answer){.field = site->field, .path = ""};
    if (site->type) {
        a->confidence = site->instance_known ? TYPE_EXACT : TYPE_BY_FIELD;
        a->type = site->type;
        a->outer = site->outer;
        a->offset = site->offset;
        a->member = site->member;
        a->path = site->path;
    }
    if (a->confidence == TYPE_EXACT) {
        a->instance = s->address - site->offset;
        if (site->outer_known)
            a->outer_instance = a->instance - site->type_offset;
        /* What is for sure: the outermost object whose place is. */
        objects_add(&t->objects, site->outer_known ? a->outer_instance : a->instance,
                    site->outer_known ? site->outer : site->type, false);
    }
    if (ask_objects(t, s, a) && a->confidence == TYPE_UNKNOWN)
        a->confidence = TYPE_BY_ADDRESS;
    hear(t, s, a);
}

/* --- Copies ---------------------------------------------------------------------------------- */

/* The stores of one or more copies by one call site, in the order of the trace. */
struct copy {
    const struct site *site;
    const struct type_store *stores;
    vec_of(size_t) members; /* places in stores */
};

/* Where one store of a copy goes: `from` is where the copy begins, `length` all that it wrote. */
static bool resolve_part(struct types *t, const struct copy *c, const struct type_store *s,
                         uint64_t from, uint64_t length, struct type_site *out)
{
    struct value v = c->site->to;
    struct type_spot spot;
    struct type *object = v.base == BASE_POINTER ? v.pointee : NULL;

    if (!object || object->size == 0 || v.relative)
        return false;
    uint64_t skip = s->address - from;
    uint64_t size = s->size < length - skip ? s->size : length - skip; /* the rest is masked out */
    if (v.offset == 0 && length > object->size) { /* several objects in a row, whole ones */
        if (length % object->size != 0)
            return false;
        skip %= object->size;
        size = size < object->size - skip ? size : object->size - skip;
    }
    v.offset = (int64_t)((uint64_t)v.offset + skip);
    if (!spot_of_value(&v, size, FIT_ANY, &spot))
        return false;
    types_describe(t, &spot, out);
    spot_free(&spot);
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct type_store *x = *(const struct type_store *const *)a;
    const struct type_store *y = *(const struct type_store *const *)b;

    return (x->address > y->address) - (x->address < y->address);
}

/* Bytes without a gap between them. */
struct stretch {
    uint64_t low, high;
};

/* Finds the stretches that the stores make together, by address. */
static struct stretch *find_stretches(const struct copy *c, size_t *n)
{
    size_t count = c->members.n;
    const struct type_store **sorted = xcalloc(count, sizeof *sorted);
    struct stretch *out = xcalloc(count, sizeof *out);

    *n = 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &c->stores[c->members.at[i]];
    qsort(sorted, count, sizeof *sorted, by_address);
    for (size_t i = 0; i < count; i++) {
        uint64_t low = sorted[i]->address, high = low + sorted[i]->size;
        if (*n && low <= out[*n - 1].high)
            out[*n - 1].high = high > out[*n - 1].high ? high : out[*n - 1].high;
        else
            out[(*n)++] = (struct stretch){low, high};
    }
    free(sorted);
    return out;
}

static const struct stretch *stretch_of(const struct stretch *all, size_t n, uint64_t address)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return &all[low - 1];
}

static void finish_copy(struct types *t, const struct copy *c, struct type_answer *out)
{
    size_t n;
    struct stretch *stretches = find_stretches(c, &n);

    for (size_t i = 0; i < c->members.n; i++) {
        const struct type_store *s = &c->stores[c->members.at[i]];
        const struct stretch *whole = stretch_of(stretches, n, s->address);
        uint64_t from = whole->low, length = whole->high - whole->low;
        struct type_site site = {.path = ""};
        bool whole_copies = true;
        if (c->site->length) { /* one copy after the other, each to behind the last */
            whole_copies = length % c->site->length == 0;
            length = c->site->length;
            from += (s->address - from) / length * length;
        }
        if (!whole_copies || !resolve_part(t, c, s, from, length, &site))
            site = (struct type_site){.path = ""};
        finish(t, s, &site, &out[c->members.at[i]]);
    }
    free(stretches);
}

/* Takes the stores from `first` on that belong to it: those that follow in its thread, by the same
 * call. */
static void gather(struct types *t, struct copy *c, size_t first, size_t n, bool *done)
{
    const struct type_store *stores = c->stores;
    int foreign = 0;

    for (size_t i = first; i < n && c->members.n < COPY_STORES_MAX && foreign < FOREIGN_MAX; i++) {
        if (stores[i].thread != stores[first].thread) {
            foreign++;
            continue;
        }
        if (types_find_site(t, stores[i].frames, stores[i].frame_count) != c->site)
            break;
        vec_push(&c->members, i);
        done[i] = true;
    }
}

/* --- All ------------------------------------------------------------------------------------- */

void types_stores(struct types *t, const struct type_store *stores, size_t n,
                  struct type_answer *out)
{
    bool *done = xcalloc(n + 1, sizeof *done);
    struct copy c = {.stores = stores};

    for (size_t i = 0; i < n; i++) {
        if (done[i])
            continue;
        const struct site *site = types_find_site(t, stores[i].frames, stores[i].frame_count);
        if (site->copy) {
            c.site = site;
            c.members.n = 0;
            gather(t, &c, i, n, done);
            finish_copy(t, &c, out);
        } else {
            finish(t, &stores[i], &site->is, &out[i]);
        }
    }
    vec_free(&c.members);
    free(done);
}

void types_expire(struct types *t, uint64_t address, uint64_t size)
{
    objects_expire(&t->objects, address, size);
}

void types_path(const struct type_answer *a, uint64_t address, uint64_t size, struct buf *out)
{
    struct type_spot spot;
    bool found = false;

    for (int fit = FIT_WHOLE; a->outer_instance && !found && fit <= FIT_ANY; fit++)
        found =
            spot_of_offset(a->outer, address - a->outer_instance, size, (enum spot_fit)fit, &spot);
    buf_text(out, found ? buf_string(&spot.path) : a->path);
    if (found)
        spot_free(&spot);
}
