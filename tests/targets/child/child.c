/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "child.h"

static uint64_t place_of(const struct tree *t, const struct node *n)
{
    return (uint64_t)((const char *)n - (const char *)t);
}

/* Children always lie behind their parents. */
static int number_at(uint64_t place, int parent)
{
    uint64_t n = place / sizeof(struct node);
    return place % sizeof(struct node) == 0 && n > (uint64_t)parent && n < NODES ? (int)n : -1;
}

static int children(const struct node *n)
{
    int count = 0;
    while (count < CHILDREN && n->child[count])
        count++;
    return count;
}

static void link_child(struct tree *t, struct node *parent, struct node *n, uint64_t data)
{
    n->data = data; /* bug:data-stored */
    /* The mistake: without this the parent may have a child that has no data. */
    if (fixed)
        persist(n, sizeof *n);
    parent->child[children(parent)] = place_of(t, n); /* bug:child-linked */
    persist(parent, sizeof *parent);
    if (!fixed)
        persist(n, sizeof *n);
}

bool tree_add(struct tree *t, uint64_t data)
{
    int used = 1;
    for (int i = 0; i < NODES; i++)
        used += children(&t->node[i]);
    for (int i = 0; i < used && used < NODES; i++)
        if (children(&t->node[i]) < CHILDREN) {
            link_child(t, &t->node[i], &t->node[used], data);
            return true;
        }
    return false;
}

int tree_read(const struct tree *t, uint64_t data[NODES])
{
    int count = 0;
    bool counts[NODES] = {true};
    for (int i = 0; i < NODES; i++)
        for (int c = 0; counts[i] && c < children(&t->node[i]); c++) {
            int n = number_at(t->node[i].child[c], i);
            if (n != count + 1) {
                fprintf(stderr, "child %d of node %d is not node %d\n", c, i, count + 1);
                return -1;
            }
            counts[n] = true;
            data[count++] = t->node[n].data;
        }
    return count;
}

struct tree *tree_open(const char *dir)
{
    return map_in(dir, "tree", sizeof(struct tree));
}

void tree_close(struct tree *t)
{
    munmap(t, sizeof *t);
}
