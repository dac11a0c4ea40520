/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/storetool.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* From the folder of the program: as built, as installed. */
static const char *const places[] = {"valgrind", "../lib/flotsam/valgrind"};

/* Debian's `valgrind` is a script around the second one, which changes the environment of what it
 * runs. */
static const char *const launchers[] = {"/usr/bin/valgrind.bin", "/usr/local/bin/valgrind",
                                        "/usr/bin/valgrind"};

static bool find_folder(char folder[static PATH_MAX])
{
    char self[PATH_MAX], tool[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;
    if (!slash)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int length = snprintf(folder, PATH_MAX, "%s/%s", self, places[i]);
        snprintf(tool, sizeof tool, "%s/flotsam-amd64-linux", folder);
        if (length < PATH_MAX && access(tool, X_OK) == 0)
            return true;
    }
    return false;
}

bool storetool_find(struct storetool *out, struct error *e)
{
    bool found = false;
    for (size_t i = 0; !found && i < sizeof launchers / sizeof *launchers; i++) {
        found = access(launchers[i], X_OK) == 0;
        snprintf(out->launcher, sizeof out->launcher, "%s", launchers[i]);
    }
    if (!found) {
        *out->launcher = '\0';
        return error_set(e, "Valgrind is not installed, and stores cannot be traced without it; "
                            "apt install valgrind, and build flotsam again");
    }
    return find_folder(out->folder) ||
           error_set(e, "the store tracer was not built with this flotsam: it needs Valgrind 3.19 "
                        "when it is built; apt install valgrind, then make");
}
