/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: the records that recovery finds are those that were appended, and all that were
 * acknowledged are among them. One more may be.
 */
#include "boundary.h"

int main(int argc, char **argv)
{
    struct journal j;
    if (argc != 2 || !journal_open(&j, argv[1]))
        return RECOVERY_FAILED;
    char expected[TEXT_LENGTH + 1] = "";
    const char *text;
    size_t at = 0;
    int count = 0, promised = acknowledged("appended");
    while ((text = journal_next(&j, &at))) {
        memset(expected, 'a' + ++count, TEXT_LENGTH);
        if (strcmp(text, expected) != 0) {
            fprintf(stderr, "record %d is not what was appended\n", count);
            return INCONSISTENT;
        }
    }
    journal_close(&j);
    if (count == promised || count == promised + 1)
        return CONSISTENT;
    fprintf(stderr, "%d records are there, appended were %d\n", count, promised);
    return INCONSISTENT;
}
