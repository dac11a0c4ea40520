/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: a few nodes. Each line printed is a promise.
 */
#include "child.h"

enum { ADDED = 5 };

int main(int argc, char **argv)
{
    struct tree *t = argc == 2 ? tree_open(argv[1]) : NULL;
    if (!t)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i <= ADDED; i++) {
        if (!tree_add(t, (uint64_t)i))
            return 1;
        printf("added %d\n", i);
    }
    tree_close(t);
    return 0;
}
