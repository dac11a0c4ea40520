/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: puts, with two checkpoints on the way. Each line printed is a promise.
 */
#include "wal.h"

enum { PUTS = 8 };

int main(int argc, char **argv)
{
    struct wal w;
    if (argc != 2 || !wal_open(&w, argv[1]))
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i <= PUTS; i++) {
        int key = i * 3 % KEYS;
        if (!wal_put(&w, key, i))
            return 1;
        printf("put %d %d\n", key, i);
    }
    wal_close(&w);
    return 0;
}
