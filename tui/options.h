/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * options: reads a command's options from the table in its struct command, over getopt_long.
 * Every command also has --help and -h. The example is in tui/commands.h.
 */
#ifndef TUI_OPTIONS_H
#define TUI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/commands.h"

struct options {
    const struct command *command;
    int id;            /* the option just read */
    const char *value; /* its argument, or NULL for a flag */

    bool ended; /* nothing more to do: return status */
    int status;

    int argc; /* after the last option: the arguments that are left */
    char **argv;

    struct option *longs; /* the table as getopt_long wants it */
    char *shorts;
};

/* argv may be reordered, never its strings changed. One options at a time: getopt has one state. */
void options_begin(struct options *o, const struct command *c, int argc, char **argv);

/* True with the next option in id and value; false at the end, or with ended set after --help was
 * answered or a mistake was told. */
bool options_next(struct options *o);

/* The value as a whole number from min to max. Tells the mistake and sets ended otherwise; a loop
 * over options_next ends then. */
bool options_number(struct options *o, uint64_t min, uint64_t max, uint64_t *number);

/* The place of the value among the choices that the table's argument lists ("a|b|c"), with the
 * mistake told and ended set when it is none of them: -1 then. */
int options_choice(struct options *o);

/* Checks how many arguments are left, tells what is missing or too much, and sets ended. */
bool options_count(struct options *o, int min, int max);

/* Tells a mistake of usage ("flotsam: …; see flotsam NAME --help") and sets ended. False. */
bool options_wrong(struct options *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
