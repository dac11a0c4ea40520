/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/behaviour_types.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/graph.h"
#include "engine/map.h"
#include "engine/scratch.h"
#include "engine/vec.h"

#define NONE UINT32_MAX

/* An object, while its stores are gone through. Those that everything stored to is durable of are
 * in a list, the one that became so last in front. */
struct object {
    uint64_t type, instance;
    uint64_t last;         /* position of the epoch's last store */
    uint64_t complete;     /* position at which everything stored to it was durable */
    uint32_t pending;      /* ops that are not durable yet */
    uint32_t epoch;        /* the one under way: its behaviour, or NONE */
    uint32_t around;       /* the outermost object around it, or itself */
    uint32_t newer, older; /* in the list */
    bool listed;
};

/* An action of an epoch; chained, the last first. */
struct member {
    uint32_t action, before;
};

struct epochs {
    const struct action *actions;
    size_t n;
    const struct behaviour_options *options;
    struct type_behaviours *out;
    struct map object_of; /* (type, instance) → place in objects */
    vec_of(struct object) objects;
    uint32_t *inner, *outer; /* by action: objects, or NONE */
    uint32_t newest;         /* of the list */
    uint32_t *by_durable;    /* ops, the first durable first */
    uint32_t *action_of;     /* by op */
    size_t durable_next, durable_count;
    vec_of(struct behaviour) found;
    vec_of(uint32_t) last_member; /* by behaviour: place in members */
    vec_of(struct member) members;
    struct scratch stored; /* hash of (behaviour, field) → there */
};

/* ---- objects ---- */

static uint32_t object_at(struct epochs *s, uint64_t type, uint64_t instance)
{
    uint64_t key[2] = {type, instance};
    bool added;
    uint64_t *place = map_put(&s->object_of, key, sizeof key, &added);
    if (added) {
        *place = s->objects.n;
        vec_push(&s->objects, (struct object){.type = type,
                                              .instance = instance,
                                              .epoch = NONE,
                                              .around = (uint32_t)*place,
                                              .newer = NONE,
                                              .older = NONE});
    }
    return (uint32_t)*place;
}

static void find_objects(struct epochs *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct action_object *o = &s->options->objects[i];
        s->inner[i] = s->outer[i] = NONE;
        if (!o->instance)
            continue;
        s->inner[i] = object_at(s, o->type, o->instance);
        if (!o->outer_instance)
            continue;
        uint32_t outer = object_at(s, o->outer_type, o->outer_instance);
        s->outer[i] = outer == s->inner[i] ? NONE : outer;
        s->objects.at[s->inner[i]].around = outer;
    }
}

/* ---- what is durable ---- */

static int by_durable(const void *a, const void *b, void *graph)
{
    const struct graph *g = graph;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (g->durable[x] != g->durable[y])
        return g->durable[x] < g->durable[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static void sort_by_durable(struct epochs *s)
{
    const struct graph *g = s->options->graph;
    s->by_durable = xmalloc((g->n + 1) * sizeof *s->by_durable);
    s->action_of = xmalloc((g->n + 1) * sizeof *s->action_of);
    for (size_t i = 0; i < s->n; i++)
        for (uint32_t k = 0; s->inner[i] != NONE && k < s->actions[i].op_count; k++) {
            uint32_t op = s->actions[i].first_op + k;
            s->action_of[op] = (uint32_t)i;
            if (g->durable[op] != NEVER)
                s->by_durable[s->durable_count++] = op;
        }
    if (s->durable_count)
        qsort_r(s->by_durable, s->durable_count, sizeof *s->by_durable, by_durable, (void *)g);
}

static void unlist(struct epochs *s, uint32_t at)
{
    struct object *o = &s->objects.at[at];
    if (!o->listed)
        return;
    if (o->newer != NONE)
        s->objects.at[o->newer].older = o->older;
    else
        s->newest = o->older;
    if (o->older != NONE)
        s->objects.at[o->older].newer = o->newer;
    o->newer = o->older = NONE;
    o->listed = false;
}

static void list_first(struct epochs *s, uint32_t at, uint64_t position)
{
    struct object *o = &s->objects.at[at];
    o->complete = position;
    o->older = s->newest;
    if (s->newest != NONE)
        s->objects.at[s->newest].newer = at;
    s->newest = at;
    o->listed = true;
}

static void op_durable(struct epochs *s, uint32_t object, uint64_t position)
{
    if (object != NONE && !--s->objects.at[object].pending)
        list_first(s, object, position);
}

/* Everything that became durable before a position. An op may be durable before a later one of the
 * same store was issued, but not before itself. */
static void go_to(struct epochs *s, uint64_t position)
{
    const struct graph *g = s->options->graph;
    for (; s->durable_next < s->durable_count &&
           g->durable[s->by_durable[s->durable_next]] < position;
         s->durable_next++) {
        uint32_t op = s->by_durable[s->durable_next], action = s->action_of[op];
        op_durable(s, s->inner[action], g->durable[op]);
        op_durable(s, s->outer[action], g->durable[op]);
    }
}

static bool is_related(const struct epochs *s, uint32_t a, uint32_t b)
{
    return a == b || s->objects.at[a].around == b || s->objects.at[b].around == a;
}

/* Whether another instance was completed since a position. */
static bool other_completed(const struct epochs *s, uint32_t object, uint64_t since)
{
    for (uint32_t at = s->newest; at != NONE && s->objects.at[at].complete > since;
         at = s->objects.at[at].older)
        if (!is_related(s, at, object))
            return true;
    return false;
}

/* ---- epochs ---- */

static bool field_again(struct epochs *s, uint32_t epoch, uint64_t field)
{
    uint64_t key[2] = {epoch, field};
    uint64_t hash = XXH3_64bits(key, sizeof key);
    bool again = scratch_get(&s->stored, hash);
    scratch_put(&s->stored, hash, 1);
    return again;
}

/* A field of the outer object is one of a certain inner one. */
static uint64_t field_of(const struct epochs *s, uint32_t action, bool outer)
{
    const struct action_object *o = &s->options->objects[action];
    uint64_t key[2] = {o->field, o->instance};
    return outer ? XXH3_64bits(key, sizeof key) : o->field;
}

static void begin_epoch(struct epochs *s, uint32_t object, uint32_t action, uint32_t flags)
{
    struct object *o = &s->objects.at[object];
    o->epoch = (uint32_t)s->found.n;
    vec_push(&s->found, (struct behaviour){.function = o->type,
                                           .instance = o->instance,
                                           .thread = s->actions[action].thread,
                                           .first_op = s->actions[action].first_op,
                                           .flags = BEHAVIOUR_TYPE | flags});
    vec_push(&s->last_member, NONE);
}

static void add_to_epoch(struct epochs *s, uint32_t object, uint32_t action, bool outer)
{
    const struct action *a = &s->actions[action];
    struct object *o = &s->objects.at[object];
    uint64_t field = field_of(s, action, outer), position = s->options->graph->issued[a->first_op];
    uint32_t max = s->options->max, flags = 0;
    bool begins = o->epoch == NONE;
    if (!begins)
        begins =
            other_completed(s, object, o->last) || (!o->pending && field_again(s, o->epoch, field));
    if (!begins && s->found.at[o->epoch].ops + a->op_count > max) {
        begins = true;
        flags = BEHAVIOUR_CUT;
        s->out->cut += !(s->found.at[o->epoch].flags & BEHAVIOUR_CUT);
        s->found.at[o->epoch].flags |= BEHAVIOUR_CUT;
    }
    if (begins)
        begin_epoch(s, object, action, flags);
    field_again(s, o->epoch, field);
    struct behaviour *b = &s->found.at[o->epoch];
    b->ops += a->op_count;
    b->last_op = a->first_op + a->op_count - 1;
    if (b->ops > max && !(b->flags & BEHAVIOUR_LARGE)) {
        b->flags |= BEHAVIOUR_LARGE;
        s->out->large++;
    }
    vec_push(&s->members, (struct member){action, s->last_member.at[o->epoch]});
    s->last_member.at[o->epoch] = (uint32_t)s->members.n - 1;
    unlist(s, object);
    o->pending += a->op_count;
    o->last = position;
}

static void find_epochs(struct epochs *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct action *a = &s->actions[i];
        if (s->inner[i] == NONE || !a->op_count)
            continue;
        go_to(s, s->options->graph->issued[a->first_op]);
        add_to_epoch(s, s->inner[i], (uint32_t)i, false);
        if (s->outer[i] != NONE)
            add_to_epoch(s, s->outer[i], (uint32_t)i, true);
    }
}

/* ---- the list ---- */

/* Of epochs that are the same set of stores the first stays: that of the inner object. */
static void lay_out(struct epochs *s)
{
    struct type_behaviours *out = s->out;
    struct scratch sets = {0};
    scratch_clear(&sets);
    out->at = xmalloc((s->found.n + 1) * sizeof *out->at);
    out->order = xmalloc((s->members.n + 1) * sizeof *out->order);
    for (size_t i = 0; i < s->found.n; i++) {
        size_t begin = out->order_count;
        for (uint32_t m = s->last_member.at[i]; m != NONE; m = s->members.at[m].before)
            out->order[out->order_count++] = s->members.at[m].action;
        size_t n = out->order_count - begin;
        uint64_t set = XXH3_64bits(out->order + begin, n * sizeof *out->order);
        if (*scratch_put(&sets, set, i) != i) {
            out->order_count = begin;
            continue;
        }
        s->found.at[i].begin = (uint32_t)begin;
        s->found.at[i].end = (uint32_t)out->order_count;
        out->at[out->n++] = s->found.at[i];
    }
    scratch_free(&sets);
}

void behaviours_by_type(struct type_behaviours *out, const struct action *actions, size_t n,
                        const struct behaviour_options *options)
{
    *out = (struct type_behaviours){0};
    struct epochs s = {.actions = actions,
                       .n = n,
                       .options = options,
                       .out = out,
                       .newest = NONE,
                       .inner = xmalloc((n + 1) * sizeof *s.inner),
                       .outer = xmalloc((n + 1) * sizeof *s.outer)};
    scratch_clear(&s.stored);
    find_objects(&s);
    sort_by_durable(&s);
    find_epochs(&s);
    lay_out(&s);
    free(s.inner);
    free(s.outer);
    free(s.by_durable);
    free(s.action_of);
    map_free(&s.object_of);
    vec_free(&s.objects);
    vec_free(&s.found);
    vec_free(&s.last_member);
    vec_free(&s.members);
    scratch_free(&s.stored);
}

void type_behaviours_free(struct type_behaviours *b)
{
    free(b->at);
    free(b->order);
}
