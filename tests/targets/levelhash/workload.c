/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: inserts, then updates of some of the keys. Each line printed is a promise.
 */
#include "levelhash.h"

enum { INSERTED = 5, UPDATED = 3 };

int main(int argc, char **argv)
{
    struct table *t = argc == 2 ? level_open(argv[1]) : NULL;
    if (!t)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    uint64_t value = 0;
    for (uint64_t key = 1; key <= INSERTED; key++) {
        if (!level_insert(t, key, ++value))
            return 1;
        printf("put %d %d\n", (int)key - 1, (int)value);
    }
    for (uint64_t key = 1; key <= UPDATED; key++) {
        if (!level_update(t, key, ++value))
            return 1;
        printf("put %d %d\n", (int)key - 1, (int)value);
    }
    level_close(t);
    return 0;
}
