/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: the store can be opened, and all that was put is there. One put more may have been
 * under way.
 */
#include "store.h"

int main(int argc, char **argv)
{
    struct store s;
    int32_t values[KEYS];
    if (argc != 2 || !store_open(&s, argv[1]))
        return RECOVERY_FAILED;
    return store_read(&s, values) ? hold_to_puts(values) : INCONSISTENT;
}
