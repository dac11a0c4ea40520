/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: more keys, the first of which splits a node. Each line printed is a
 * promise.
 */
#include "btree.h"

enum { KEYS_ADDED = 2 };

int main(int argc, char **argv)
{
    btree_force(argv);
    PMEMobjpool *pool = argc == 2 ? btree_open(argv[1]) : NULL;
    if (!pool)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i <= KEYS_ADDED; i++) {
        if (!btree_insert(pool, (uint64_t)(MOST + i)))
            return 1;
        printf("added %d\n", i);
    }
    pmemobj_close(pool);
    return 0;
}
