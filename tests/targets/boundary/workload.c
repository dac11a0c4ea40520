/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: a few records, the fourth of which crosses into the second block. Each
 * line printed is a promise.
 */
#include "boundary.h"

enum { RECORDS = 6 };

int main(int argc, char **argv)
{
    struct journal j;
    char text[TEXT_LENGTH + 1] = "";
    if (argc != 2 || !journal_open(&j, argv[1]))
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i <= RECORDS; i++) {
        memset(text, 'a' + i, TEXT_LENGTH);
        if (!journal_append(&j, text))
            return 1;
        printf("appended %d\n", i);
    }
    journal_close(&j);
    return 0;
}
