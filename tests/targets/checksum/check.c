/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: recovers the container, which must succeed, and holds it to the puts that had been
 * acknowledged.
 */
#include "checksum.h"

int main(int argc, char **argv)
{
    struct container c;
    if (argc != 2 || !container_open(&c, argv[1]))
        return RECOVERY_FAILED;
    int status = hold_to_puts(c.values);
    container_close(&c);
    return status;
}
