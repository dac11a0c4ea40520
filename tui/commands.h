/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * commands: the one table of subcommands. `flotsam --help`, `flotsam COMMAND --help`,
 * `flotsam help COMMAND`, the parsing of options and the bash completion are all made from it.
 *
 * A command lives in tui/cmd_NAME.c and exports one `const struct command command_NAME`, declared
 * at the end of this header and listed once in commands.c. It reads its options with the shared
 * parser (tui/options.h), which knows them from the same struct:
 *
 *     enum { OPTION_BACKEND = OPTION_LONG };
 *
 *     static const struct command_option options[] = {
 *         { 'o', "output", "S", "the session to write (default: PROGRAM.flotsam)" },
 *         { OPTION_BACKEND, "backend", "auto|ptrace", "how to record (default: auto)" },
 *         { 0 },
 *     };
 *
 *     static int run_record(int argc, char **argv)
 *     {
 *         struct options o;
 *         options_begin(&o, &command_record, argc, argv);
 *         while (options_next(&o)) {
 *             switch (o.id) {
 *             case 'o':
 *                 output = o.value;
 *                 break;
 *             …
 *             }
 *         }
 *         if (o.ended)             --help was answered, or wrong usage was told
 *             return o.status;
 *         … o.argc and o.argv are the arguments left …
 *     }
 *
 *     const struct command command_record = {
 *         .name = "record", .run = run_record, .takes = TAKES_PROGRAM,
 *         .usage = "[-o S] [--dir DIR] -- PROGRAM [ARG...]",
 *         .summary = "record one run of a program",
 *         .options = options,
 *     };
 *
 * A command returns its exit status. Results go to stdout; main() notices there when they could
 * not be written. Everything else goes to stderr by message() or command_failed().
 */
#ifndef TUI_COMMANDS_H
#define TUI_COMMANDS_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/error.h"

enum exit_status {
    STATUS_DONE = 0,
    STATUS_FOUND = 1,         /* run and check only: inconsistent states were found */
    STATUS_FAILED = 2,        /* it could not run: usage, missing things, unreadable sessions */
    STATUS_INTERRUPTED = 130, /* what was done is kept */
};

/* Ids of options that have no letter begin here. */
enum { OPTION_LONG = 256 };

struct command_option {
    int id;               /* its letter, or a number from OPTION_LONG on; 0 ends the table */
    const char *name;     /* long name, without the dashes */
    const char *argument; /* as help shows it: DIR, FILE, N, or the choices "a|b"; NULL: a flag */
    const char *help;     /* one line, no full stop */
};

/* What a command's arguments are: decides what completion offers, and for TAKES_PROGRAM that
 * options end at the first argument. */
enum command_takes {
    TAKES_NOTHING,
    TAKES_SESSION,
    TAKES_CONFIG,
    TAKES_PROGRAM,
    TAKES_COMMAND,
    TAKES_LITMUS,
};

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns an exit status */
    enum command_takes takes;
    const char *usage;                    /* what follows "flotsam NAME " */
    const char *summary;                  /* one line for the list, no full stop */
    const char *details;                  /* more paragraphs for its own help, or NULL */
    const struct command_option *options; /* ended by an entry of zeros; NULL: none but --help */
};

/* All commands in the order that help lists them, ended by NULL. */
const struct command *const *command_table(void);
const struct command *command_find(const char *name);

/* The command that opens a file named without a command, by its suffix, or NULL. */
const struct command *command_for_file(const char *name);

/* The name nearest to a mistyped one, or NULL when nothing is near. */
const char *command_nearest(const char *name);

void command_help_all(FILE *f);
void command_help(const struct command *c, FILE *f);

/* "flotsam: …" to stderr as one line, with what could upset a terminal escaped. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says why a command failed and returns STATUS_FAILED, to end a command in one line. */
int command_failed(const struct error *e);

/* The session a command works on: a copy of given, or when given is NULL the newest *.flotsam in
 * the working directory. NULL with an error when there is none. The caller frees it. */
char *command_session(const char *given, struct error *e);

extern const struct command command_run;
extern const struct command command_record;
extern const struct command command_check;
extern const struct command command_open;
extern const struct command command_report;
extern const struct command command_bugs;
extern const struct command command_trace;
extern const struct command command_graph;
extern const struct command command_behaviours;
extern const struct command command_groups;
extern const struct command command_schedules;
extern const struct command command_states;
extern const struct command command_why;
extern const struct command command_why_op;
extern const struct command command_lint;
extern const struct command command_replay;
extern const struct command command_export;
extern const struct command command_litmus;
extern const struct command command_doctor;
extern const struct command command_completion;
extern const struct command command_help_on;
extern const struct command command_worker;

#endif
