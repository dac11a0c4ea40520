/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/state_inside.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"

enum { BLOCK = 64 << 10 };

void names_clear(struct names *n)
{
    for (size_t i = 0; i < n->blocks.n; i++)
        free(n->blocks.at[i]);
    state_tour_free(n->tour);
    n->tour = NULL;
    n->blocks.n = n->at.n = 0;
    n->room = 0;
    n->all = false;
}

void names_free(struct names *n)
{
    names_clear(n);
    vec_free(&n->blocks);
    vec_free(&n->at);
}

static const char *keep(struct names *n, const char *text)
{
    size_t size = strlen(text) + 1;

    if (n->room < size) {
        n->room = size > BLOCK ? size : BLOCK;
        vec_push(&n->blocks, xmalloc(n->room));
        n->next = vec_last(&n->blocks);
    }
    char *at = n->next;
    n->next += size;
    n->room -= size;
    return memcpy(at, text, size);
}

void names_add(struct names *n, struct named name)
{
    name.path = keep(n, name.path);
    name.target = name.target ? keep(n, name.target) : NULL;
    vec_push(&n->at, name);
}

static bool add_visited(void *data, const struct state_name *name)
{
    if (*name->path)
        names_add(data, (struct named){name->path, name->file, name->kind, name->mode, name->size,
                                       name->target});
    return true;
}

bool names_collect(struct names *n, struct state *s, uint64_t deadline)
{
    if (n->all)
        return true;
    if (!n->tour)
        n->tour = state_tour_new(s);
    state_tour_go_on(n->tour, deadline, add_visited, n, &n->all);
    if (n->all) {
        state_tour_free(n->tour);
        n->tour = NULL;
    }
    return n->all;
}

bool names_have(const struct names *n, const char *path)
{
    size_t low = 0, high = n->at.n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = state_compare_paths(n->at.at[middle].path, path);
        if (!order)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}
