/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: whatever the index names is in the log, and all that was put is there. One put more
 * may have been under way.
 */
#include "both.h"

int main(int argc, char **argv)
{
    struct both b;
    int32_t values[KEYS];
    if (argc != 2 || !both_open(&b, argv[1]))
        return RECOVERY_FAILED;
    return both_read(&b, values) ? hold_to_puts(values) : INCONSISTENT;
}
