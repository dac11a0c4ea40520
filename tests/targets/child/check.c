/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: every node that counts has its data, and all that were added are there. One more may
 * have been under way.
 */
#include "child.h"

int main(int argc, char **argv)
{
    struct tree *t = argc == 2 ? tree_open(argv[1]) : NULL;
    uint64_t data[NODES];
    if (!t)
        return RECOVERY_FAILED;
    int count = tree_read(t, data), promised = acknowledged("added");
    for (int i = 0; i < count; i++)
        if (data[i] != (uint64_t)i + 1) {
            fprintf(stderr, "node %d has the data %d\n", i + 1, (int)data[i]);
            return INCONSISTENT;
        }
    if (count >= 0 && (count == promised || count == promised + 1))
        return CONSISTENT;
    fprintf(stderr, "%d nodes are there, added were %d\n", count, promised);
    return INCONSISTENT;
}
