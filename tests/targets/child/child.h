/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * child: a tree in persistent memory. It is one file, `tree`, of zeros at first: places for nodes,
 * the first of which is the root. A node counts when its parent has it as a child: that one store
 * commits it.
 */
#ifndef CHILD_H
#define CHILD_H

#include "mapped.h"

enum { NODES = 8, CHILDREN = 2 };

struct node {
    _Alignas(LINE) uint64_t data;
    uint64_t child[CHILDREN]; /* places, 0 for none */
};

struct tree {
    struct node node[NODES];
};

/* The tree in dir, mapped; NULL with a message. */
struct tree *tree_open(const char *dir);
void tree_close(struct tree *t);

/* Adds a child to the first node, in the order of the file, that has room; durable when it returns
 * true. */
bool tree_add(struct tree *t, uint64_t data);

/* Reads the data of all nodes that count but the root, in the order in which they were added;
 * −1 with a message when the tree makes no sense. */
int tree_read(const struct tree *t, uint64_t data[NODES]);

#endif
