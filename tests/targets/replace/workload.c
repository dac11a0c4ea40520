/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: notes are saved by rename, settings by truncating them; with "rename" or
 * "truncate" as an argument, only the one or the other. Each line printed is a promise.
 */
#include "replace.h"

enum { VERSIONS = 3 };

int main(int argc, char **argv)
{
    if (argc < 2)
        return 1;
    bool by_rename = argc < 3 || !strcmp(argv[2], "rename");
    bool by_truncate = argc < 3 || !strcmp(argv[2], "truncate");
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; by_rename && i <= VERSIONS; i++) {
        if (!replace_by_rename(argv[1], "notes", i))
            return 1;
        printf("notes %d\n", i);
    }
    for (int i = 1; by_truncate && i <= VERSIONS; i++) {
        if (!replace_by_truncate(argv[1], "settings", i))
            return 1;
        printf("settings %d\n", i);
    }
    return 0;
}
