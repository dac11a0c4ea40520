/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: puts enough for several flushes and two compactions. Each line printed is
 * a promise.
 */
#include "lsm.h"

enum { PUTS = 11 };

int main(int argc, char **argv)
{
    struct lsm l;
    if (argc != 2 || !lsm_open(&l, argv[1]))
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i <= PUTS; i++) {
        int key = i * 3 % KEYS;
        if (!lsm_put(&l, key, i))
            return 1;
        printf("put %d %d\n", key, i);
    }
    lsm_close(&l);
    return 0;
}
