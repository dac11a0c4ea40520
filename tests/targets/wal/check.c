/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: recovers the store and holds it to the puts that had been acknowledged.
 */
#include "wal.h"

int main(int argc, char **argv)
{
    struct wal w;
    if (argc != 2)
        return RECOVERY_FAILED;
    wal_read(&w, argv[1]);
    return hold_to_puts(w.values);
}
