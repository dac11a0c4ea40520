/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/stored_objects.h"

#include <stdlib.h>

#include "engine/map.h"
#include "engine/vec.h"

struct finder {
    const struct analysis *analysis;
    struct map numbers; /* (file, type, offset) → number */
    vec_of(struct stored_object) found;
};

static uint32_t object_at(struct finder *w, uint32_t file, uint32_t type, uint64_t instance)
{
    uint64_t key[] = {file, type, instance};
    bool added;

    if (!type || !instance)
        return NO_OBJECT;
    uint64_t *number = map_put(&w->numbers, key, sizeof key, &added);
    if (added) {
        struct stored_object o = {.offset = instance - 1,
                                  .size = fields_type_size(w->analysis->fields, type),
                                  .file = file,
                                  .type = type,
                                  .around = NO_OBJECT};
        *number = w->found.n;
        vec_push(&w->found, o);
    }
    return (uint32_t)*number;
}

static void number_ops(struct finder *w, struct stored_objects *o)
{
    const struct graph *g = w->analysis->graph;

    for (uint32_t i = 0; i < g->n; i++) {
        const struct op *op = &g->ops[i];
        const struct stored_field *f =
            op->kind == OP_STORE ? fields_of(w->analysis->fields, op->event) : NULL;
        o->inner[i] = f ? object_at(w, op->file, f->type, f->instance) : NO_OBJECT;
        uint32_t outer = f ? object_at(w, op->file, f->outer, f->outer_instance) : NO_OBJECT;
        if (o->inner[i] == NO_OBJECT)
            o->inner[i] = outer;
    }
}

/* ---- what lies in what ---- */

/* By place; of those that begin together the largest first, it may hold the others. */
static int by_place(const void *a, const void *b, void *objects)
{
    const struct stored_object *at = objects;
    const struct stored_object *x = &at[*(const uint32_t *)a], *y = &at[*(const uint32_t *)b];

    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool holds(const struct stored_object *outer, const struct stored_object *inner)
{
    return outer->file == inner->file && outer->offset <= inner->offset &&
           inner->offset + inner->size <= outer->offset + outer->size;
}

static void nest(struct stored_objects *o)
{
    uint32_t *sorted = xcalloc(o->n + 1, sizeof *sorted);

    for (uint32_t i = 0; i < o->n; i++)
        sorted[i] = i;
    if (o->n)
        qsort_r(sorted, o->n, sizeof *sorted, by_place, o->at);
    for (size_t i = 0; i < o->n; i++) {
        struct stored_object *at = &o->at[sorted[i]];
        uint32_t around = i ? sorted[i - 1] : NO_OBJECT;
        while (around != NO_OBJECT && !holds(&o->at[around], at))
            around = o->at[around].around;
        at->around = around;
    }
    free(sorted);
}

/* ---- which ops store into which ---- */

/* Deeper nests than this are made by nobody but a damaged session. */
enum { DEPTH_MAX = 32 };

static void list_ops(struct stored_objects *o, size_t ops)
{
    size_t all = 0;

    for (uint32_t i = 0; i < ops; i++)
        for (uint32_t k = o->inner[i], depth = 0; k != NO_OBJECT && depth < DEPTH_MAX;
             k = o->at[k].around, depth++)
            o->at[k].count++;
    for (size_t i = 0; i < o->n; i++) {
        o->at[i].first = (uint32_t)all;
        all += o->at[i].count;
        o->at[i].count = 0;
    }
    o->ops = xcalloc(all + 1, sizeof *o->ops);
    for (uint32_t i = 0; i < ops; i++)
        for (uint32_t k = o->inner[i], depth = 0; k != NO_OBJECT && depth < DEPTH_MAX;
             k = o->at[k].around, depth++)
            o->ops[o->at[k].first + o->at[k].count++] = i;
}

struct stored_objects *stored_objects_find(const struct analysis *a)
{
    struct stored_objects *o = xcalloc(1, sizeof *o);
    struct finder w = {.analysis = a};

    if (!fields_count(a->fields))
        return o;
    o->inner = xcalloc(a->graph->n + 1, sizeof *o->inner);
    number_ops(&w, o);
    o->at = w.found.at;
    o->n = w.found.n;
    nest(o);
    list_ops(o, a->graph->n);
    map_free(&w.numbers);
    return o;
}

void stored_objects_free(struct stored_objects *o)
{
    if (!o)
        return;
    free(o->at);
    free(o->ops);
    free(o->inner);
    free(o);
}
