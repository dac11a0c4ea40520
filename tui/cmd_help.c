/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam help: what a command does.
 */
#include "tui/commands.h"
#include "tui/options.h"

static int run_help(int argc, char **argv)
{
    struct options o;
    options_begin(&o, &command_help_on, argc, argv);
    while (options_next(&o))
        ;
    if (!options_count(&o, 0, 1))
        return o.status;
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
    .usage = "[COMMAND]",
    .summary = "show what flotsam, or one of its commands, does",
};
