/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: a few puts. Each line printed is a promise.
 */
#include "store.h"

enum { PUTS = 2, USED = 2 };

int main(int argc, char **argv)
{
    struct store s;
    if (argc != 2 || !store_open(&s, argv[1]))
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int value = 1; value <= PUTS; value++) {
        if (!store_put(&s, value % USED, value))
            return 1;
        printf("put %d %d\n", value % USED, value); /* bug:put-acknowledged */
    }
    store_close(&s);
    return 0;
}
