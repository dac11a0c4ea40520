/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "tracer/record.h"
#include "tui/commands.h"
#include "tui/options.h"

enum { OPTION_DIR = OPTION_LONG, OPTION_BACKEND, OPTION_LOADS, OPTION_PLAIN, OPTION_VERIFY };

static const struct command_option options[] = {
    {'o', "output", "S", "the session to write (default: PROGRAM.flotsam in this folder)"},
    {OPTION_DIR, "dir", "DIR", "the data directory (default: this folder)"},
    {OPTION_BACKEND, "backend", "auto|ptrace|valgrind", "how to record (default: auto)"},
    {OPTION_LOADS, "loads", NULL, "valgrind: tell of loads from mapped files too"},
    {OPTION_PLAIN, "no-stacks", NULL, "valgrind: stores without their stacks; faster"},
    {OPTION_VERIFY, "verify-stacks", NULL, "hold every stack against libdw's unwinder; slow"},
    {0},
};

static void say(const char *text)
{
    message("%s", text);
}

/* What a person should know after a recording; the program's own output came before. */
static void tell(const struct record_options *o, const struct record_result *result, bool done)
{
    char status[128];
    record_status_text(result->status, status, sizeof status);
    message("%s %s", o->argv[0], status);
    if (done)
        message("%" PRIu64 " events in %s", result->events, o->session);
    if (result->carried)
        message("kept what was said of %zu bug%s", result->carried,
                result->carried == 1 ? "" : "s");
    if (o->verify_stacks) {
        message("stacks: %" PRIu64 " equal to libdw's, %" PRIu64 " different", result->stacks_same,
                result->stacks_different);
        if (result->stacks_different)
            message("first difference: %s", result->difference);
    }
}

/* What helps when stores are missing. */
static void advise(const struct record_options *o)
{
    struct error e;
    char *command = record_stores_command(o, &e);
    if (command)
        message("record them with the store tracer: %s", command);
    else
        message("the store tracer would see them, but %s", e.text);
    free(command);
}

static char *default_session(const char *program)
{
    const char *slash = strrchr(program, '/');
    return xasprintf("%s.flotsam", slash ? slash + 1 : program);
}

static int run_record(int argc, char **argv)
{
    struct record_options record = {.dir = ".", .backend = "auto", .say = say};
    struct record_result result;
    struct error e;
    struct options o;
    options_begin(&o, &command_record, argc, argv);
    while (options_next(&o)) {
        switch (o.id) {
        case 'o':
            record.session = o.value;
            break;
        case OPTION_DIR:
            record.dir = o.value;
            break;
        case OPTION_BACKEND:
            record.backend = o.value;
            break;
        case OPTION_LOADS:
            record.loads = true;
            break;
        case OPTION_PLAIN:
            record.plain_stores = true;
            break;
        case OPTION_VERIFY:
            record.verify_stacks = true;
            break;
        }
    }
    if (o.ended)
        return o.status;
    if (!o.argc) {
        error_set(&e, "no program to record; say: flotsam record [OPTIONS] -- PROGRAM [ARG...]");
        return command_failed(&e);
    }
    record.argv = o.argv;
    char *own = record.session ? NULL : default_session(o.argv[0]);
    if (own)
        record.session = own;
    bool done = record_run(&record, &result, &e);
    if (done || result.events)
        tell(&record, &result, done);
    if (done && result.stores_missing)
        advise(&record);
    free(own);
    if (!done)
        return command_failed(&e);
    if (result.stacks_different)
        return STATUS_FAILED;
    return result.interrupted ? STATUS_INTERRUPTED : STATUS_DONE;
}

const struct command command_record = {
    .name = "record",
    .run = run_record,
    .takes = TAKES_PROGRAM,
    .usage = "[-o S] [--dir DIR] [--backend auto|ptrace|valgrind] -- PROGRAM [ARG...]",
    .summary = "record one run of a program",
    .details =
        "The program runs as it would without flotsam: same terminal, signals and files. What the\n"
        "data directory held before is kept as the starting image. Lines that the program writes\n"
        "to the file named in FLOTSAM_MARK become markers in the trace.\n"
        "\n"
        "The backend ptrace, which auto takes, sees system calls. Where the program stores to\n"
        "files that it has mapped, valgrind sees the stores, flushes and fences too, and is many\n"
        "times slower; record says when that would be needed.\n"
        "\n"
        "Exit status 0 when the recording is complete, whatever the program's own status, which\n"
        "is told; 2 when it could not be made; 130 when flotsam was told to stop.",
    .options = options,
};
