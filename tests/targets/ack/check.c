/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: every entry that was acknowledged is there. More may be: those of a batch that had
 * begun.
 */
#include "ack.h"

int main(int argc, char **argv)
{
    if (argc != 2)
        return RECOVERY_FAILED;
    int count = queue_read(argv[1]), promised = acknowledged("added");
    if (count >= promised)
        return CONSISTENT;
    fprintf(stderr, "%d entries are there, added were %d\n", count, promised);
    return INCONSISTENT;
}
