/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Makes the pool that the workload begins with: a tree with one node, which is full.
 */
#include "btree.h"

int main(int argc, char **argv)
{
    PMEMobjpool *pool = argc == 2 ? btree_make(argv[1]) : NULL;
    bool ok = pool;
    for (int key = 1; ok && key <= MOST; key++)
        ok = btree_insert(pool, (uint64_t)key);
    if (pool)
        pmemobj_close(pool);
    return !ok;
}
