/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: money goes round, one more each time. Each line printed is a promise.
 */
#include "undo.h"

enum { MOVES = 4 };

int main(int argc, char **argv)
{
    struct bank *b = argc == 2 ? bank_open(argv[1]) : NULL;
    if (!b)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < MOVES; i++) {
        bank_move(b, i % ACCOUNTS, (i + 1) % ACCOUNTS, i + 1);
        printf("moved %d\n", i + 1);
    }
    bank_close(b);
    return 0;
}
