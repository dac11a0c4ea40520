/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam help: what a command does.
 */
#include "tui/commands.h"
#include "tui/manual.h"
#include "tui/options.h"

enum { OPTION_MAN = OPTION_LONG };

static const struct command_option options[] = {
    {OPTION_MAN, "man", NULL, "print the source of the man page: everything in one"},
    {0},
};

static int print_manual(void)
{
    struct buf page = {0};
    manual_add(&page);
    fwrite(page.at, 1, page.n, stdout);
    buf_free(&page);
    return STATUS_DONE;
}

static int run_help(int argc, char **argv)
{
    struct options o;
    bool man = false;
    options_begin(&o, &command_help_on, argc, argv);
    while (options_next(&o))
        man = man || o.id == OPTION_MAN;
    if (!options_count(&o, 0, man ? 0 : 1))
        return o.status;
    if (man)
        return print_manual();
    if (o.argc == 0) {
        command_help_all(stdout);
        return STATUS_DONE;
    }
    const struct command *c = command_find(o.argv[0]);
    if (!c) {
        const char *near = command_nearest(o.argv[0]);
        message("no command is called %s%s%s%s", o.argv[0], near ? " (did you mean " : "",
                near ? near : "", near ? "?)" : "");
        return STATUS_FAILED;
    }
    command_help(c, stdout);
    return STATUS_DONE;
}

const struct command command_help_on = {
    .name = "help",
    .run = run_help,
    .takes = TAKES_COMMAND,
    .usage = "[COMMAND | --man]",
    .summary = "show what flotsam, or one of its commands, does",
    .details = "Read the man page where it is not installed:\n"
               "  flotsam help --man | man -l -",
    .options = options,
};
