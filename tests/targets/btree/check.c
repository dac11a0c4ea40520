/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: the tree has all keys from 1 on, in order, as many as were there and were added. One
 * more may have been under way.
 */
#include "btree.h"

int main(int argc, char **argv)
{
    PMEMobjpool *pool = argc == 2 ? btree_open(argv[1]) : NULL;
    int count, expected = MOST + acknowledged("added");
    uint64_t last;
    if (!pool)
        return RECOVERY_FAILED;
    if (!btree_check(pool, &count, &last))
        return INCONSISTENT;
    if (last == (uint64_t)count && (count == expected || count == expected + 1))
        return CONSISTENT;
    fprintf(stderr, "%d keys are there, the last is %d, added were %d\n", count, (int)last,
            expected);
    return INCONSISTENT;
}
