/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/group_inside.h"
#include "engine/mem.h"

/* Kinds are small numbers; carried copies, and names that a rename replaced, get numbers of their
 * own above them. */
enum { KIND_CARRIED = 8, KIND_REPLACED = 16, KINDS = 32 };

#define vec_room(v, count)                                                                         \
    ((v)->cap < (count)                                                                            \
         ? ((v)->cap = (count), (v)->at = xrealloc((v)->at, (count) * sizeof *(v)->at), (void)0)   \
         : (void)0)

static uint64_t hash_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t key[4] = {a, b, c, d};
    return XXH3_64bits(key, sizeof key);
}

static int by_op(const void *a, const void *b)
{
    const struct label *x = a, *y = b;
    return (x->op > y->op) - (x->op < y->op);
}

static void label_action(struct group_inside *s, const struct behaviour *b, uint32_t action)
{
    struct description *d = &s->d;
    const struct action *a = &s->list->actions[action];
    uint32_t seen[KINDS] = {0};
    if (!a->op_count)
        return;
    uint64_t path = b->flags & BEHAVIOUR_TYPE
                        ? s->list->options.objects[action].field
                        : calltree_relative(s->list->tree, b->node, s->list->places[action]);
    uint64_t event = hash_of(path, a->call, 0, 0);
    uint64_t occurrence = (*scratch_put(&d->events, event, 0))++;
    for (uint32_t op = a->first_op; op < a->first_op + a->op_count; op++) {
        const struct op *o = &s->g->ops[op];
        uint32_t kind = o->kind | (o->flags & OP_CARRIED ? KIND_CARRIED : 0) |
                        (o->flags & OP_REPLACED ? KIND_REPLACED : 0);
        struct label label = {hash_of(event, occurrence, kind, seen[kind]++), op};
        vec_push(&d->labels, label);
    }
}

static void label_ops(struct group_inside *s, const struct behaviour *b)
{
    struct description *d = &s->d;
    vec_room(&d->actions, (size_t)(b->end - b->begin));
    d->actions.n = behaviour_actions(s->list, b, d->actions.at);
    d->labels.n = d->ops.n = d->values.n = 0;
    scratch_clear(&d->events);
    for (size_t i = 0; i < d->actions.n; i++)
        label_action(s, b, d->actions.at[i]);
    bool sorted = true;
    for (size_t i = 1; i < d->labels.n; i++)
        sorted &= d->labels.at[i - 1].op < d->labels.at[i].op;
    if (!sorted)
        qsort(d->labels.at, d->labels.n, sizeof *d->labels.at, by_op);
    for (size_t i = 0; i < d->labels.n; i++) {
        vec_push(&d->ops, d->labels.at[i].op);
        vec_push(&d->values, d->labels.at[i].value);
    }
}

/* Where the behaviour's own ops lie, each place with the first of them. */
static void note_own_places(struct group_inside *s)
{
    struct description *d = &s->d;
    scratch_clear(&d->locations);
    for (size_t i = 0; i < d->labels.n; i++) {
        uint32_t op = d->labels.at[i].op;
        struct environment_location at = environment_locate(s->environments, op);
        scratch_put(&d->locations, environment_key(&at), d->labels.at[i].value);
        scratch_put(&d->locations, s->g->ops[op].file, d->labels.at[i].value);
    }
}

static uint64_t kind_of_location(const struct group_inside *s,
                                 const struct environment_location *at, uint32_t op)
{
    enum { STRANGE, SAME_FILE, SAME_PLACE } relation = SAME_PLACE;
    const struct description *d = &s->d;
    const uint64_t *own = scratch_get(&d->locations, environment_key(at));
    if (!own) {
        own = scratch_get(&d->locations, s->g->ops[op].file);
        relation = own ? SAME_FILE : STRANGE;
    }
    return hash_of((uint64_t)at->sort << 32 | at->kinds, relation, own ? *own : 0, s->origin[op]);
}

static int by_kind(const void *a, const void *b)
{
    const struct env_kind *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static void describe_environment(struct group_inside *s)
{
    struct description *d = &s->d;
    d->kinds.n = 0;
    d->env_left_out = 0;
    if (!s->options.environment_max)
        return;
    note_own_places(s);
    const struct environment *env =
        environment_of(s->environments, d->ops.at, d->ops.n, s->options.environment_max);
    d->env_left_out = env->left_out;
    scratch_clear(&d->kinds_seen);
    for (size_t i = 0; i < env->location_count; i++) {
        const struct environment_location *at = &env->locations[i];
        uint32_t op = env->ops[at->last];
        uint64_t kind = kind_of_location(s, at, op);
        if (*scratch_put(&d->kinds_seen, kind, op) != op)
            continue;
        vec_push(&d->kinds, (struct env_kind){kind, op});
    }
    if (d->kinds.n > 1)
        qsort(d->kinds.at, d->kinds.n, sizeof *d->kinds.at, by_kind);
}

bool group_describe(struct group_inside *s, uint32_t behaviour)
{
    struct description *d = &s->d;
    label_ops(s, &s->list->at[behaviour]);
    describe_environment(s);
    if (d->ops.n > GROUP_OPS_MAX)
        return false;
    d->below.n = d->ops.n * group_words(d->ops.n);
    vec_room(&d->below, d->below.n);
    graph_closure(s->g, d->ops.at, d->ops.n, d->below.at);
    return true;
}

bool group_kinds_within(const uint64_t *kinds, size_t n, const uint64_t *all, size_t all_n,
                        size_t *missing)
{
    size_t j = 0;
    for (size_t i = 0; i < n; i++) {
        while (j < all_n && all[j] < kinds[i])
            j++;
        if (j == all_n || all[j] != kinds[i]) {
            *missing = i;
            return false;
        }
    }
    return true;
}
