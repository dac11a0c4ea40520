/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/calltree.h"

#include <stdlib.h>
#include <xxhash.h>

#include "engine/map.h"
#include "engine/mem.h"
#include "engine/vec.h"

/* The base of the hash of a path, as a polynomial modulo 2^64: odd, with bits all over. */
#define PATH_BASE UINT64_C(0x9fb21c651e98df25)

struct calltree {
    struct call_stacks stacks;
    bool all_frames;
    vec_of(struct call_node) nodes;
    vec_of(struct call_place) places;
    struct map node_of;  /* (parent, site, function) → node */
    struct map place_of; /* (node, site) → place */
    struct map stack_of; /* stack → place */
    size_t deep, sourceless;
    uint64_t powers[CALLTREE_DEPTH_MAX + 1]; /* of PATH_BASE */
};

struct calltree *calltree_new(const struct call_stacks *stacks, bool all_frames)
{
    struct calltree *t = xcalloc(1, sizeof *t);
    t->stacks = *stacks;
    t->all_frames = all_frames;
    vec_push(&t->nodes, (struct call_node){0});
    t->powers[0] = 1;
    for (size_t i = 1; i <= CALLTREE_DEPTH_MAX; i++)
        t->powers[i] = t->powers[i - 1] * PATH_BASE;
    return t;
}

void calltree_free(struct calltree *t)
{
    if (!t)
        return;
    vec_free(&t->nodes);
    vec_free(&t->places);
    map_free(&t->node_of);
    map_free(&t->place_of);
    map_free(&t->stack_of);
    free(t);
}

static uint64_t step_hash(uint64_t site, uint64_t function)
{
    uint64_t key[2] = {site, function};
    return XXH3_64bits(key, sizeof key);
}

static uint32_t child_of(struct calltree *t, uint32_t parent, uint64_t site, uint64_t function)
{
    uint64_t key[3] = {parent, site, function};
    bool added = false;
    uint64_t *value = map_put(&t->node_of, key, sizeof key, &added);
    if (added) {
        const struct call_node *up = &t->nodes.at[parent];
        struct call_node node = {
            .function = function,
            .site = site,
            .hash = up->hash * PATH_BASE + step_hash(site, function),
            .parent = parent,
            .depth = up->depth + 1,
        };
        *value = t->nodes.n;
        vec_push(&t->nodes, node);
    }
    return (uint32_t)*value;
}

/* Which flags a frame of this stack must have, and which it must not have, to count. */
static void choose_frames(struct calltree *t, const struct call_frame *frames, size_t n,
                          uint32_t *wanted, uint32_t *unwanted)
{
    bool source = false, outside = false;
    for (size_t i = 0; i < n; i++) {
        source |= (frames[i].flags & CALLTREE_SOURCE) != 0;
        outside |= (frames[i].flags & CALLTREE_SYSTEM) == 0;
    }
    t->sourceless += !source;
    *wanted = source && !t->all_frames ? CALLTREE_SOURCE : 0;
    *unwanted = !*wanted && outside ? CALLTREE_SYSTEM : 0;
}

static struct call_place walk_down(struct calltree *t, const struct call_frame *frames, size_t n)
{
    struct call_place at = {0};
    uint32_t wanted, unwanted;
    bool folded = false;
    choose_frames(t, frames, n, &wanted, &unwanted);
    for (size_t i = 0; i < n; i++) {
        if ((frames[i].flags & wanted) != wanted || (frames[i].flags & unwanted))
            continue;
        if (t->nodes.at[at.node].depth == CALLTREE_DEPTH_MAX) {
            at.site = step_hash(step_hash(at.site, frames[i].function), frames[i].site);
            folded = true;
            continue;
        }
        at.node = child_of(t, at.node, at.site, frames[i].function);
        at.site = frames[i].site;
    }
    t->deep += folded;
    return at;
}

uint32_t calltree_place(struct calltree *t, uint32_t stack)
{
    const uint64_t *known = map_get(&t->stack_of, &stack, sizeof stack);
    if (known)
        return (uint32_t)*known;
    const struct call_frame *frames = NULL;
    size_t n = t->stacks.path(t->stacks.data, stack, &frames);
    struct call_place at = walk_down(t, frames, n);
    uint64_t key[2] = {at.node, at.site};
    bool added = false;
    uint64_t *place = map_put(&t->place_of, key, sizeof key, &added);
    if (added) {
        *place = t->places.n;
        vec_push(&t->places, at);
    }
    *map_put(&t->stack_of, &stack, sizeof stack, NULL) = *place;
    return (uint32_t)*place;
}

size_t calltree_nodes(const struct calltree *t)
{
    return t->nodes.n;
}

const struct call_node *calltree_node(const struct calltree *t, uint32_t node)
{
    return &t->nodes.at[node];
}

const struct call_place *calltree_at(const struct calltree *t, uint32_t place)
{
    return &t->places.at[place];
}

size_t calltree_deep(const struct calltree *t)
{
    return t->deep;
}

size_t calltree_sourceless(const struct calltree *t)
{
    return t->sourceless;
}

uint32_t calltree_common(const struct calltree *t, uint32_t place, uint32_t other)
{
    const struct call_node *nodes = t->nodes.at;
    uint32_t a = t->places.at[place].node, b = t->places.at[other].node;
    while (a != b) {
        /* A child has the larger number, so the larger one cannot be above the other. */
        if (a > b)
            a = nodes[a].parent;
        else
            b = nodes[b].parent;
    }
    return a;
}

uint64_t calltree_relative(const struct calltree *t, uint32_t node, uint32_t place)
{
    const struct call_node *above = &t->nodes.at[node];
    const struct call_node *leaf = &t->nodes.at[t->places.at[place].node];
    uint64_t way = leaf->hash - above->hash * t->powers[leaf->depth - above->depth];
    return way * PATH_BASE + step_hash(t->places.at[place].site, 0);
}
