/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: a few puts, some of them to the same keys. Each line printed is a promise.
 */
#include "both.h"

enum { PUTS = 5, USED = 3 };

int main(int argc, char **argv)
{
    struct both b;
    if (argc != 2 || !both_open(&b, argv[1]))
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int value = 1; value <= PUTS; value++) {
        if (!both_put(&b, value % USED, value))
            return 1;
        printf("put %d %d\n", value % USED, value);
    }
    both_close(&b);
    return 0;
}
