/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: puts, with compactions on the way. Each line printed is a promise.
 */
#include "checksum.h"

enum { PUTS = 8, KEYS_USED = 3 };

int main(int argc, char **argv)
{
    struct container c;
    if (argc != 2 || !container_open(&c, argv[1]))
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i <= PUTS; i++) {
        int key = i % KEYS_USED;
        if (!container_put(&c, key, i))
            return 1;
        printf("put %d %d\n", key, i);
    }
    container_close(&c);
    return 0;
}
