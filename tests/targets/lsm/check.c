/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: recovers the store and holds it to the puts that had been acknowledged.
 */
#include "lsm.h"

int main(int argc, char **argv)
{
    struct lsm l;
    if (argc != 2)
        return RECOVERY_FAILED;
    return lsm_read(&l, argv[1]) ? hold_to_puts(l.values) : INCONSISTENT;
}
