/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: every slot in use is whole, no key is there twice, and all that was put is there.
 * One put more may have been under way.
 */
#include "levelhash.h"

int main(int argc, char **argv)
{
    struct table *t = argc == 2 ? level_open(argv[1]) : NULL;
    int32_t values[KEYS];
    if (!t)
        return RECOVERY_FAILED;
    return level_read(t, values) ? hold_to_puts(values) : INCONSISTENT;
}
