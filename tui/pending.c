/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands that are being written: a file with the real one takes its place when linked. This file
 * goes when all are there.
 */
#include "tui/commands.h"

static int run_pending(int argc, char **argv)
{
    (void)argc;
    message("%s is not there yet", argv[0]);
    return STATUS_FAILED;
}

#define PENDING(NAME)                                                                              \
    __attribute__((weak)) const struct command command_##NAME = {                                  \
        .name = #NAME, .run = run_pending, .usage = "", .summary = "not there yet"}

PENDING(trace);
PENDING(doctor);
