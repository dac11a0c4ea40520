/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: every committed entry has both its halves, and all that were acknowledged are
 * there. One more may have been under way.
 */
#include "commit.h"

int main(int argc, char **argv)
{
    if (argc != 2)
        return RECOVERY_FAILED;
    int count = commit_read(argv[1]), promised = acknowledged("added");
    if (count < 0)
        return INCONSISTENT;
    if (count == promised || count == promised + 1)
        return CONSISTENT;
    fprintf(stderr, "%d entries are there, added were %d\n", count, promised);
    return INCONSISTENT;
}
