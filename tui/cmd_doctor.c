/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam doctor: what is installed, what is missing, how to get it.
 */
#include <stdio.h>

#include "tui/commands.h"
#include "tui/doctor_terminal.h"
#include "tui/options.h"
#include "tui/print.h"
#include "views/doctor.h"

static int run_doctor(int argc, char **argv)
{
    struct options o;
    options_begin(&o, &command_doctor, argc, argv);
    while (options_next(&o))
        ;
    if (!options_count(&o, 0, 0))
        return o.status;

    struct print p;
    struct error e;
    if (!print_begin(&p, stdout, &e))
        return command_failed(&e);
    /* Advice that is cut off is none: long lines wrap. */
    p.width = 0;
    size_t required, optional;
    fflush(stdout);
    const struct doctor_table tables[] = {doctor_machine(), doctor_pictures(), doctor_terminal()};
    struct view *v = doctor_view_open(tables, sizeof tables / sizeof *tables, &required, &optional);
    bool ok = print_view(&p, v, &e);
    v->ops->close(v);
    if (!ok)
        return command_failed(&e);
    if (required)
        message("recording does not work here: %zu thing%s missing", required,
                required == 1 ? " is" : "s are");
    else if (optional)
        message("recording works here; %zu other thing%s missing", optional,
                optional == 1 ? " is" : "s are");
    else
        message("everything is here");
    return required ? STATUS_FAILED : STATUS_DONE;
}

const struct command command_doctor = {
    .name = "doctor",
    .run = run_doctor,
    .takes = TAKES_NOTHING,
    .usage = "",
    .summary = "show what is installed, what is missing and how to get it",
    .details = "Exit status 0 when everything that recording needs is here, else 2.",
};
