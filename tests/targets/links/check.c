/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: every message that was acknowledged is there and whole; one more may be.
 */
#include "links.h"

int main(int argc, char **argv)
{
    struct mailbox m;
    if (argc != 2)
        return RECOVERY_FAILED;
    int count = mailbox_recover(&m, argv[1]), promised = acknowledged("delivered");
    if (count < 0)
        return INCONSISTENT;
    if (count == promised || count == promised + 1)
        return CONSISTENT;
    fprintf(stderr, "%d messages are there, delivered were %d\n", count, promised);
    return INCONSISTENT;
}
