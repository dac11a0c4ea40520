/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/type_resolve.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"

enum {
    POINTER_SIZE = 8,
    VISITS_MAX = 4096,   /* members looked at for one answer: hostile types nest without end */
    CANDIDATES_MAX = 64, /* arrays of a struct among which one is sought */
    CONSTANT_MAX = 8,    /* elements that the constant of an index leads before an array */
};

/* One search. `strides` are those that no array has been found for yet. */
struct search {
    struct type_spot *spot;
    uint64_t size;
    enum spot_fit fit;
    int64_t strides[VALUE_TERMS];
    int n;
    bool folded; /* as in the value */
    int visits;
    bool dynamic;        /* an unknown index was passed since holder */
    bool any_dynamic;    /* an unknown index was passed since outer */
    struct type *scope;  /* the object in which constants of indices lead astray: outer, or the
                            element behind the last unknown index */
    uint64_t scope_base; /* where that is, in outer */
    uint64_t base;       /* of what is being looked at, in outer */
    uint64_t plain;      /* the same from holder, with all indices taken as 0 */
};

void spot_free(struct type_spot *s)
{
    buf_free(&s->path);
}

static uint64_t floor_mod(int64_t a, uint64_t b)
{
    int64_t rest = a % (int64_t)b;

    return (uint64_t)(rest < 0 ? rest + (int64_t)b : rest);
}

/* Whether a stride leads from element to element. Nobody steps through text by more than its
 * letters. */
static bool is_step(int64_t stride, uint64_t element)
{
    return element > 1 ? stride % (int64_t)element == 0 : stride == 1 || stride == -1;
}

/* Takes out the strides that are whole elements of this size, and lead to another element of so
 * many bytes. How many there were. */
static int take_strides(struct search *s, uint64_t element, uint64_t all)
{
    int kept = 0, n = s->n;

    for (int i = 0; i < n; i++) {
        if (!is_step(s->strides[i], element) || (uint64_t)s->strides[i] >= all)
            s->strides[kept++] = s->strides[i];
    }
    s->n = kept;
    return n - kept;
}

static bool descend(struct search *s, struct type *t, uint64_t at, int depth);

/* --- Scalars ------------------------------------------------------------------------------ */

static bool end_at(struct search *s, struct type *t, uint64_t inside)
{
    s->spot->field = t;
    s->spot->member = s->plain + inside;
    return s->n == 0;
}

static bool at_scalar(struct search *s, struct type *t, uint64_t at)
{
    if (at >= t->size && t->size)
        return false;
    if (s->fit == FIT_WHOLE && (at != 0 || s->size != t->size))
        return false;
    return end_at(s, t, 0);
}

/* --- Structs ------------------------------------------------------------------------------ */

static bool is_open(const struct type *t)
{
    return t->kind == TYPE_ARRAY && t->count == 0;
}

/* Whether the byte is part of the field. */
static bool covers(const struct type_field *f, uint64_t at)
{
    if (at < f->offset)
        return false;
    if (f->bits)
        return at < f->offset + (f->bit + f->bits + 7) / 8;
    return is_open(f->type) || at - f->offset < f->type->size;
}

/* Where the fields of a struct begin and end; the store of several must end where one does. */
static bool is_boundary(struct type *t, uint64_t end, int depth, int *visits)
{
    const struct type_field *fields;
    size_t n = type_fields(t, &fields);

    if (depth > TYPE_DEPTH_MAX)
        return false;
    if (t->kind == TYPE_ARRAY) {
        struct type *element = type_target(t);
        return element && element->size &&
               is_boundary(element, (end - 1) % element->size + 1, depth + 1, visits);
    }
    if (!type_is_struct(t))
        return end == t->size;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (++*visits > VISITS_MAX)
            return false;
        if (!covers(&fields[i], end - 1))
            continue;
        if (fields[i].bits ||
            is_boundary(fields[i].type, end - fields[i].offset, depth + 1, visits))
            return true;
        any = true;
    }
    return !any; /* between fields */
}

static void note_holder(struct search *s, struct type *t, uint64_t at)
{
    s->spot->holder = t;
    s->spot->holder_offset = s->base;
    s->spot->offset = at;
    s->plain = 0;
    s->spot->holder_known = true;
    s->spot->outer_known = !s->any_dynamic;
    s->spot->holder_path = s->spot->path.n;
    s->dynamic = false;
}

static void name_field(struct search *s, const struct type_field *f)
{
    struct buf *path = &s->spot->path;

    if (!f->name[0])
        return; /* what an anonymous member holds is named as if it were here */
    if (path->n)
        buf_char(path, '.');
    buf_text(path, f->name);
}

/* Several fields at once: they have to be whole ones of this struct. */
static bool at_several(struct search *s, struct type *t, const struct type_field *f, uint64_t at)
{
    if (s->fit == FIT_WHOLE && !f->bits &&
        (!is_boundary(t, at + s->size, 0, &s->visits) ||
         (at > 0 && !is_boundary(t, at, 0, &s->visits))))
        return false;
    name_field(s, f);
    return end_at(s, f->type, f->offset);
}

static bool in_field(struct search *s, struct type *t, const struct type_field *f, uint64_t at,
                     int depth)
{
    uint64_t inside = at - f->offset;

    if (f->bits || (!is_open(f->type) && s->size > f->type->size - inside))
        return at_several(s, t, f, at);
    name_field(s, f);
    s->base += f->offset;
    s->plain += f->offset;
    return descend(s, f->type, inside, depth + 1);
}

static void restore(struct search *s, const struct search *saved, const struct type_spot *spot)
{
    struct buf path = s->spot->path;

    *s = *saved;
    *s->spot = *spot;
    path.n = spot->path.n;
    s->spot->path = path;
    if (path.at)
        path.at[path.n] = 0;
}

/* In a union several members can be meant. When they differ the union itself is the field. */
static bool at_union(struct search *s, struct type *t, uint64_t at, int depth)
{
    const struct type_field *fields, *found = NULL;
    size_t n = type_fields(t, &fields);
    struct search saved = *s;
    struct type_spot spot = *s->spot;
    bool several = false;

    for (size_t i = 0; i < n; i++) {
        if (++saved.visits > VISITS_MAX)
            return false;
        if (!covers(&fields[i], at))
            continue;
        bool fits = in_field(s, t, &fields[i], at, depth);
        saved.visits = s->visits;
        restore(s, &saved, &spot);
        several |= fits && found;
        if (fits && !found)
            found = &fields[i];
    }
    if (found && !several)
        return in_field(s, t, found, at, depth);
    return several && end_at(s, t, 0);
}

static bool at_struct(struct search *s, struct type *t, uint64_t at, int depth)
{
    const struct type_field *fields;
    size_t n = type_fields(t, &fields);

    note_holder(s, t, at);
    if (t->kind == TYPE_UNION)
        return at_union(s, t, at, depth);
    for (size_t i = 0; i < n; i++) {
        if (++s->visits > VISITS_MAX)
            return false;
        if (covers(&fields[i], at))
            return in_field(s, t, &fields[i], at, depth);
    }
    return s->fit == FIT_ANY && end_at(s, t, at); /* padding, copied with the rest */
}

/* --- The arrays that a stride can belong to ----------------------------------------------- */

struct candidate {
    uint64_t offset; /* in the type looked at, the first element of arrays around it taken */
    struct type *array;
};

/* Those of a struct; deep: also those in elements of others. */
struct candidates {
    struct candidate all[CANDIDATES_MAX];
    int n, visits;
    bool deep;
};

static bool too_many(const struct candidates *c)
{
    return c->visits > VISITS_MAX || c->n == CANDIDATES_MAX;
}

static void list_arrays(struct candidates *c, struct type *t, uint64_t base, int depth)
{
    const struct type_field *fields;
    size_t count = type_fields(t, &fields);

    for (size_t i = 0; i < count && depth < TYPE_DEPTH_MAX; i++) {
        struct type *inner = fields[i].type;
        if (++c->visits > VISITS_MAX || c->n == CANDIDATES_MAX)
            return;
        if (inner->kind == TYPE_ARRAY)
            c->all[c->n++] = (struct candidate){base + fields[i].offset, inner};
        while (c->deep && inner && inner->kind == TYPE_ARRAY)
            inner = type_target(inner);
        if (type_is_struct(inner))
            list_arrays(c, inner, base + fields[i].offset, depth + 1);
    }
}

/* Compilers fold the constant of an index into the address: slots[i − 1] begins before slots, and
 * slots[(i + 3) % 3] behind it, perhaps in another array with elements of the same size. Whether
 * there is another one that the strides fit. */
static bool has_rival(const struct search *s, const struct type *array)
{
    struct candidates c = {.deep = true};

    list_arrays(&c, s->scope, 0, 0);
    for (int i = 0; i < c.n; i++) {
        struct type *element = type_target(c.all[i].array);
        if (c.all[i].array == array && c.all[i].offset == s->base - s->scope_base)
            continue;
        for (int k = 0; k < s->n && element && element->size; k++) {
            if (is_step(s->strides[k], element->size))
                return true;
        }
    }
    return too_many(&c);
}

/* --- Arrays ------------------------------------------------------------------------------- */

static bool at_array(struct search *s, struct type *t, uint64_t at, int depth)
{
    struct type *element = type_target(t);

    if (!element || element->size == 0)
        return false;
    uint64_t index = at / element->size, inside = at % element->size;
    struct search before = *s;
    int taken = take_strides(s, element->size, is_open(t) ? UINT64_MAX : t->size);
    if (taken) {
        if ((index > 0 || taken > 1 || s->folded) && has_rival(&before, t))
            return false;
        s->dynamic = s->any_dynamic = true;
        s->spot->offset = s->base - s->spot->holder_offset + inside; /* as if the index were 0 */
        s->scope = element;
        s->scope_base = s->base;
        buf_text(&s->spot->path, "[]");
    } else {
        buf_printf(&s->spot->path, "[%llu]", (unsigned long long)index);
        s->base += index * element->size;
    }
    if (s->size > element->size - inside) { /* several elements */
        bool whole = s->fit == FIT_ANY || element->size == 1 ||
                     (inside == 0 && s->size % element->size == 0);
        return whole && end_at(s, element, 0);
    }
    return descend(s, element, inside, depth + 1);
}

static bool descend(struct search *s, struct type *t, uint64_t at, int depth)
{
    if (!t || depth > TYPE_DEPTH_MAX)
        return false;
    if (type_is_struct(t))
        return at_struct(s, t, at, depth);
    if (t->kind == TYPE_ARRAY)
        return at_array(s, t, at, depth);
    return at_scalar(s, t, at);
}

static void begin(struct search *s, const struct value *v, struct type *t)
{
    s->n = 0;
    for (int i = 0; i < v->n; i++)
        s->strides[s->n++] = llabs(v->terms[i].stride);
    s->folded = v->folded;
    s->dynamic = s->any_dynamic = false;
    s->scope = t;
    s->scope_base = 0;
    s->base = s->plain = 0;
    s->spot->outer = t;
    s->spot->holder = s->spot->field = NULL;
    s->spot->outer_known = s->spot->holder_known = true;
    s->spot->holder_offset = s->spot->offset = s->spot->member = 0;
    s->spot->holder_path = 0;
    buf_clear(&s->spot->path);
}

static bool has_open_end(struct type *t)
{
    const struct type_field *fields;
    size_t n = type_fields(t, &fields);

    return n && t->kind == TYPE_STRUCT && is_open(fields[n - 1].type);
}

/* Whether the form leads to some element of an array of t. Behind the first one there may also be
 * something else: a header is often followed by slots of its size, or a multiple of it. */
static bool is_element(const struct value *v, struct type *t)
{
    bool same = false, multiple = false;

    for (int i = 0; i < v->n; i++) {
        same |= (uint64_t)llabs(v->terms[i].stride) == t->size;
        multiple |= v->terms[i].stride % (int64_t)t->size == 0;
    }
    if (!multiple || has_open_end(t) || v->offset >= (int64_t)t->size)
        return false;
    return same || v->offset >= 0;
}

/* The place is before all arrays of such elements, so it is the constant of an index that brought
 * it here: when there is only one, that is meant. */
static bool only_array(struct search *s, struct type *t, const struct value *v)
{
    struct candidates c = {0};
    int found = -1;

    begin(s, v, t);
    if (is_element(v, t))
        take_strides(s, t->size, UINT64_MAX);
    list_arrays(&c, t, 0, 0);
    if (s->n != 1 || too_many(&c))
        return false;
    for (int i = 0; i < c.n; i++) {
        struct type *element = type_target(c.all[i].array);
        if (!element || (uint64_t)s->strides[0] != element->size)
            continue;
        if (found >= 0)
            return false;
        found = i;
    }
    if (found < 0)
        return false;
    int64_t element = (int64_t)type_target(c.all[found].array)->size;
    int64_t before = (int64_t)c.all[found].offset - v->offset;
    return before > 0 && before <= CONSTANT_MAX * element &&
           descend(s, t, c.all[found].offset + floor_mod(-before, (uint64_t)element), 0);
}

/* --- Forms -------------------------------------------------------------------------------- */

bool spot_of_value(const struct value *v, uint64_t size, enum spot_fit fit, struct type_spot *out)
{
    struct type *t = v->pointee;
    struct search s = {.spot = out, .size = size, .fit = fit};

    *out = (struct type_spot){0};
    if (v->base != BASE_POINTER || v->relative || !t || t->size == 0 || size == 0)
        return false;
    begin(&s, v, t);
    bool open = has_open_end(t);
    bool inside = v->offset >= 0 && ((uint64_t)v->offset < t->size || open);
    uint64_t at = (uint64_t)v->offset;
    if (is_element(v, t)) { /* p[i]: some other object of the type */
        take_strides(&s, t->size, UINT64_MAX);
        inside = true;
        at = floor_mod(v->offset, t->size);
    }
    bool fits = inside && (open || size <= t->size - at) && descend(&s, t, at, 0);
    if (!fits && v->n && v->offset > -(int64_t)t->size && v->offset < (int64_t)t->size)
        fits = only_array(&s, t, v);
    if (!fits) {
        spot_free(out);
        return false;
    }
    out->holder_known &= !s.dynamic;
    out->outer_known &= !s.any_dynamic;
    return true;
}

bool spot_of_offset(struct type *t, uint64_t offset, uint64_t size, enum spot_fit fit,
                    struct type_spot *out)
{
    struct value v = value_pointer(t, (int64_t)offset);

    return offset <= TYPE_SIZE_MAX && spot_of_value(&v, size, fit, out);
}

/* --- Pointers and objects at a place ------------------------------------------------------- */

/* The handle that the field is part of, when the spot is the right word of one. */
static struct type *handle_at(struct type *t, uint64_t at, int depth)
{
    const struct type_field *fields;
    uint64_t bits;
    struct type *target = type_handle(t, &bits);

    if (target)
        return at == bits ? target : NULL;
    if (t && t->kind == TYPE_ARRAY && type_target(t) && type_target(t)->size)
        return depth < TYPE_DEPTH_MAX
                   ? handle_at(type_target(t), at % type_target(t)->size, depth + 1)
                   : NULL;
    size_t n = type_fields(t, &fields);
    for (size_t i = 0; i < n && depth < TYPE_DEPTH_MAX; i++) {
        if (covers(&fields[i], at))
            return handle_at(fields[i].type, at - fields[i].offset, depth + 1);
    }
    return NULL;
}

bool pointer_at_value(const struct value *v, struct value *out)
{
    struct type_spot spot;

    if (!spot_of_value(v, POINTER_SIZE, FIT_WHOLE, &spot))
        return false;
    struct type *handle = handle_at(spot.outer, spot.holder_offset + spot.offset, 0);
    struct type *target = handle                             ? handle
                          : spot.field->kind == TYPE_POINTER ? type_target(spot.field)
                                                             : NULL;
    spot_free(&spot);
    if (!target)
        return false;
    *out = value_pointer(target, 0);
    out->relative = handle != NULL;
    return true;
}

bool pointer_at_offset(struct type *t, uint64_t offset, struct value *out)
{
    struct value v = value_pointer(t, (int64_t)offset);

    return t && offset <= TYPE_SIZE_MAX && pointer_at_value(&v, out);
}

static bool holds(struct type *outer, uint64_t offset, struct type *t, int depth, int *visits)
{
    const struct type_field *fields;

    if (!outer || depth > TYPE_DEPTH_MAX)
        return false;
    if (offset == 0 && type_same(outer, t))
        return true;
    if (outer->kind == TYPE_ARRAY) {
        struct type *element = type_target(outer);
        return element && element->size &&
               holds(element, offset % element->size, t, depth + 1, visits);
    }
    size_t n = type_fields(outer, &fields);
    for (size_t i = 0; i < n; i++) {
        if (++*visits > VISITS_MAX)
            return false;
        if (covers(&fields[i], offset) &&
            holds(fields[i].type, offset - fields[i].offset, t, depth + 1, visits))
            return true;
    }
    return false;
}

bool type_holds(struct type *outer, uint64_t offset, struct type *t)
{
    int visits = 0;

    return holds(outer, offset, t, 0, &visits);
}

bool value_begins(const struct value *v, struct type *t)
{
    struct type_spot spot;

    if (!t || !spot_of_value(v, 1, FIT_ANY, &spot))
        return false;
    bool begins = type_holds(spot.outer, spot.holder_offset + spot.offset, t);
    spot_free(&spot);
    return begins;
}
