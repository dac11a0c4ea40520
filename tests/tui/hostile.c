/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A program to record whose names, data and words would take a terminal over if they got there as
 * they are. It never syncs, so that everything of it is in a bug. Its argument is the folder.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEP = 16, LONG_NAME = 250 };

static const char *const names[] = {
    "\033[2J\033]0;title\007", "bad\377\376utf", "c1\302\233" "31m", "\346\227\245\346\234\254\350\252\236\360\237\230\200",
    "e\314\201\314\200\314\202\314\203\314\204\314\205\314\206\314\207", "line\nfeed\ttab\rreturn",
    "\342\200\256right to left", "\177delete", " spaces  ", "--option", "%s%n%d", "\316\251",
};
enum { NAMES = sizeof names / sizeof *names };

static int write_hostile(const char *name) /*HERE*/
{
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int ok = fd >= 0 && write(fd, "\033[31m\302\233\377\0\346\227\245\n", 14) == 14;

    close(fd);
    return ok;
}

int main(int argc, char **argv)
{
    char name[LONG_NAME + 1];

    if (argc != 2 || chdir(argv[1]) != 0)
        return 1;
    for (int i = 0; i < NAMES; i++) {
        if (!write_hostile(names[i]))
            return 1;
        printf("made \033]52;c;aGVsbG8=\007%s\302\205\n", names[i]);
        fflush(stdout);
    }
    rename(names[0], "\033c");
    memset(name, 'x', LONG_NAME);
    name[LONG_NAME] = 0;
    for (int i = 0; i < DEEP; i++) {
        if (mkdir(name, 0700) != 0 || chdir(name) != 0)
            return 1;
    }
    return !write_hostile("deep\033[1m");
}
