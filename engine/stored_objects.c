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
                                  .type = type};
        *number = w->found.n;
        vec_push(&w->found, o);
    }
    return (uint32_t)*number;
}

/* How many ops each object has. */
static void number_ops(struct finder *w, struct stored_objects *o)
{
    const struct graph *g = w->analysis->graph;

    for (uint32_t i = 0; i < g->n; i++) {
        const struct op *op = &g->ops[i];
        const struct stored_field *f =
            op->kind == OP_STORE ? fields_of(w->analysis->fields, op->event) : NULL;
        o->inner[i] = o->outer[i] = NO_OBJECT;
        if (!f)
            continue;
        o->inner[i] = object_at(w, op->file, f->type, f->instance);
        o->outer[i] = object_at(w, op->file, f->outer, f->outer_instance);
        if (o->inner[i] == NO_OBJECT)
            o->inner[i] = o->outer[i];
        if (o->outer[i] == NO_OBJECT)
            o->outer[i] = o->inner[i];
        if (o->inner[i] == NO_OBJECT)
            continue;
        w->found.at[o->inner[i]].count++;
        if (o->outer[i] != o->inner[i])
            w->found.at[o->outer[i]].count++;
    }
}

static void add_op(struct stored_objects *o, uint32_t object, uint32_t op)
{
    struct stored_object *at = &o->at[object];

    o->ops[at->first + at->count++] = op;
}

static void list_ops(struct stored_objects *o, size_t ops)
{
    size_t all = 0;

    for (size_t i = 0; i < o->n; i++) {
        o->at[i].first = (uint32_t)all;
        all += o->at[i].count;
        o->at[i].count = 0;
    }
    o->ops = xcalloc(all + 1, sizeof *o->ops);
    for (uint32_t i = 0; i < ops; i++) {
        if (o->inner[i] == NO_OBJECT)
            continue;
        add_op(o, o->inner[i], i);
        if (o->outer[i] != o->inner[i])
            add_op(o, o->outer[i], i);
    }
}

struct stored_objects *stored_objects_find(const struct analysis *a)
{
    struct stored_objects *o = xcalloc(1, sizeof *o);
    struct finder w = {.analysis = a};

    if (!fields_count(a->fields))
        return o;
    o->inner = xcalloc(a->graph->n + 1, sizeof *o->inner);
    o->outer = xcalloc(a->graph->n + 1, sizeof *o->outer);
    number_ops(&w, o);
    o->at = w.found.at;
    o->n = w.found.n;
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
    free(o->outer);
    free(o);
}
