/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Commands that are being written: a file with the real one takes its place when linked. This file
 * goes when all are there.
 */
#include "tracer/record.h"
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

PENDING(record);
PENDING(trace);
PENDING(replay);
PENDING(doctor);

__attribute__((weak)) bool record_run(const struct record_options *options,
                                      struct record_result *result, struct error *e)
{
    (void)options, (void)result;
    return error_set(e, "recording is not there yet");
}

__attribute__((weak)) void record_status_text(int status, char *text, int size)
{
    snprintf(text, (size_t)size, "ended with %d", status);
}
