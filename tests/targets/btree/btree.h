/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * btree: a B-tree in a pool of libpmemobj, `pool`, which has a log of its own: what is added to a
 * transaction is put back when the transaction did not end.
 */
#ifndef BTREE_H
#define BTREE_H

#include <libpmemobj.h>

#include "target.h"

enum { LEAST = 2, MOST = 2 * LEAST - 1 }; /* keys in a node, but for the least of the root */

POBJ_LAYOUT_BEGIN(btree);
POBJ_LAYOUT_ROOT(btree, struct btree)
POBJ_LAYOUT_TOID(btree, struct node)
POBJ_LAYOUT_END(btree)

struct node {
    uint64_t n; /* keys */
    uint64_t key[MOST];
    TOID(struct node) child[MOST + 1]; /* of a leaf none */
};

struct btree {
    TOID(struct node) root;
};

/* The library must take the file for persistent memory: calls the program again when it does not.
 */
void btree_force(char **argv);

/* Opens the pool in dir, or makes one. NULL with a message. */
PMEMobjpool *btree_open(const char *dir);
PMEMobjpool *btree_make(const char *dir);

/* Adds a key; durable when it returns true. */
bool btree_insert(PMEMobjpool *pool, uint64_t key);

/* Whether the tree is in order; *count is the number of its keys and *last the greatest. */
bool btree_check(PMEMobjpool *pool, int *count, uint64_t *last);

#endif
