/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: both documents are whole, in the version that was acknowledged or the next.
 */
#include "replace.h"

static bool holds(const char *dir, const char *name)
{
    int version = replace_read(dir, name), promised = acknowledged(name);
    if (version == DAMAGED)
        return false;
    if (version == promised || version == promised + 1)
        return true;
    fprintf(stderr, "%s has version %d, saved was %d\n", name, version, promised);
    return false;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return RECOVERY_FAILED;
    return holds(argv[1], "notes") && holds(argv[1], "settings") ? CONSISTENT : INCONSISTENT;
}
