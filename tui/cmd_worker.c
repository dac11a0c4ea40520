/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <unistd.h>

#include "engine/worker.h"
#include "tui/commands.h"
#include "tui/options.h"

static int run_worker(int argc, char **argv)
{
    struct options o;
    struct error e;
    options_begin(&o, &command_worker, argc, argv);
    while (options_next(&o))
        continue;
    if (o.ended || !options_count(&o, 1, 1))
        return o.status;
    return worker_serve(o.argv[0], STDIN_FILENO, STDOUT_FILENO, &e) ? STATUS_DONE
                                                                    : command_failed(&e);
}

const struct command command_worker = {
    .name = "worker",
    .run = run_worker,
    .takes = TAKES_SESSION,
    .usage = "S",
    .summary = "check a session as the debugger asks for it",
    .details =
        "Reads requests from standard input and writes what comes of them to standard output,\n"
        "in lines of JSON. The debugger starts it; it ends with its standard input.",
};
