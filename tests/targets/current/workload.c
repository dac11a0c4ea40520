/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: puts, with compactions on the way, and one reset. Each line printed is a
 * promise that the checker holds the store to; "resetting" says that values may vanish now.
 */
#include <stdio.h>

#include "store.h"

enum { PUTS = 20, RESET_AFTER = 14 };

int main(int argc, char **argv)
{
    struct store s;
    if (argc != 2 || !store_open(&s, argv[1]))
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < PUTS; i++) {
        int key = i * 5 % KEYS;
        if (!store_put(&s, key, i))
            return 1;
        printf("put %d %d\n", key, i);
        if (i == RESET_AFTER) {
            printf("resetting\n");
            if (!store_reset(&s))
                return 1;
            printf("reset\n"); /* bug:reset-acknowledged */
        }
    }
    store_close(&s);
    return 0;
}
