/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam open: the debugger, on a terminal or by a script.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tui/commands.h"
#include "tui/loop.h"
#include "tui/options.h"
#include "tui/script.h"

enum { OPTION_SCRIPT = OPTION_LONG, OPTION_SIZE, OPTION_THEME };

enum { COLUMNS_DEFAULT = 80, ROWS_DEFAULT = 24, SIZE_MAX_ALLOWED = 1000 };

static const struct command_option options[] = {
    {OPTION_SCRIPT, "script", "FILE", "run the commands of a file, without a terminal"},
    {OPTION_SIZE, "size", "COLSxROWS", "the size of the screen for a script (80x24)"},
    {OPTION_THEME, "theme", "NAME", "dark, light, high-contrast, monochrome or one of yours"},
    {0},
};

static bool read_size(struct options *o, int *columns, int *rows)
{
    int n = 0;

    if (sscanf(o->value, "%dx%d%n", columns, rows, &n) == 2 && !o->value[n] && *columns > 0 &&
        *rows > 0 && *columns <= SIZE_MAX_ALLOWED && *rows <= SIZE_MAX_ALLOWED)
        return true;
    return options_wrong(o, "%s is no size; write it as 80x24", o->value);
}

static int run_open(int argc, char **argv)
{
    struct options o;
    struct error e;
    const char *script = NULL, *theme = getenv("FLOTSAM_THEME");
    int columns = COLUMNS_DEFAULT, rows = ROWS_DEFAULT;

    if (theme && !*theme)
        theme = NULL;
    options_begin(&o, &command_open, argc, argv);
    while (options_next(&o)) {
        switch (o.id) {
        case OPTION_SCRIPT:
            script = o.value;
            break;
        case OPTION_SIZE:
            read_size(&o, &columns, &rows);
            break;
        case OPTION_THEME:
            theme = o.value;
            break;
        }
    }
    if (o.ended || !options_count(&o, 0, 1))
        return o.status;
    char *session = command_session(o.argc ? o.argv[0] : NULL, &e);
    bool ok = session && (script ? script_run(session, script, theme ? theme : THEME_DEFAULT,
                                              columns, rows, &e)
                                 : loop_run(session, theme, &e));
    free(session);
    return ok ? STATUS_DONE : command_failed(&e);
}

const struct command command_open = {
    .name = "open",
    .run = run_open,
    .takes = TAKES_SESSION,
    .usage = "[S] [--script FILE] [--size COLSxROWS] [--theme NAME]",
    .summary = "the debugger: look at what a check found, step through crashes",
    .details =
        "Opens a session on the terminal. ? lists the keys and the commands that : takes; the\n"
        "same commands, one a line, make a script. Commands in ~/.config/flotsam/init are run\n"
        "at each start on a terminal: bind KEY COMMAND, theme NAME.",
    .options = options,
};
