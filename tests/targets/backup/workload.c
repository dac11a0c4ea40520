/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: a few updates, one of them of an item that was updated before. Each line
 * printed is a promise.
 */
#include "backup.h"

int main(int argc, char **argv)
{
    static const uint64_t updated[] = {0, 1, 3, 1};
    struct array *a = argc == 2 ? array_open(argv[1]) : NULL;
    if (!a)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = 0; i < sizeof updated / sizeof *updated; i++) {
        array_update(a, updated[i], i + 1);
        printf("put %d %d\n", (int)updated[i], (int)i + 1); /* bug:update-acknowledged */
    }
    array_close(a);
    return 0;
}
