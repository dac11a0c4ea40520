/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/mem.h"
#include "engine/nearest.h"
#include "tui/commands.h"

static size_t count_options(const struct command *c)
{
    size_t n = 0;
    while (c->options && c->options[n].id)
        n++;
    return n;
}

void options_begin(struct options *o, const struct command *c, int argc, char **argv)
{
    size_t n = count_options(c);
    *o = (struct options){.command = c, .argc = argc, .argv = argv};
    o->longs = xcalloc(n + 2, sizeof *o->longs); /* --help, and the end */
    struct buf shorts = {0};
    /* "+": what follows PROGRAM is the program's; ":" tells a missing argument apart. */
    buf_text(&shorts, c->takes == TAKES_PROGRAM ? "+:h" : ":h");
    for (size_t i = 0; i < n; i++) {
        const struct command_option *from = &c->options[i];
        o->longs[i] = (struct option){.name = from->name,
                                      .has_arg = from->argument ? required_argument : no_argument,
                                      .val = from->id};
        if (from->id < OPTION_LONG)
            buf_printf(&shorts, "%c%s", from->id, from->argument ? ":" : "");
    }
    o->longs[n] = (struct option){.name = "help", .val = 'h'};
    o->shorts = shorts.at;
    optind = 0; /* glibc: begin anew */
    opterr = 0;
}

static void finish(struct options *o)
{
    free(o->longs);
    free(o->shorts);
    o->longs = NULL;
    o->shorts = NULL;
}

static void end_with(struct options *o, int status)
{
    finish(o);
    o->ended = true;
    o->status = status;
}

bool options_wrong(struct options *o, const char *format, ...)
{
    char *text;
    va_list ap;
    va_start(ap, format);
    int n = vasprintf(&text, format, ap);
    va_end(ap);
    message("%s; see flotsam %s --help", n < 0 ? "wrong usage" : text, o->command->name);
    if (n >= 0)
        free(text);
    end_with(o, STATUS_FAILED);
    return false;
}

/* getopt leaves the culprit in argv[optind - 1] for long options and in optopt for letters. */
static void unknown_option(struct options *o)
{
    const char *text = o->argv[optind - 1];
    if (optopt != 0 && optopt < OPTION_LONG && strncmp(text, "--", 2)) {
        options_wrong(o, "%s has no option -%c", o->command->name, optopt);
        return;
    }
    char *name = xstrndup(text + 2, strcspn(text + 2, "="));
    struct nearest n = {.name = name};
    for (const struct option *l = o->longs; l->name; l++)
        nearest_offer(&n, l->name);
    if (optopt != 0)
        options_wrong(o, "--%s takes no argument", name);
    else if (n.best)
        options_wrong(o, "%s has no option --%s (did you mean --%s?)", o->command->name, name,
                      n.best);
    else
        options_wrong(o, "%s has no option --%s", o->command->name, name);
    free(name);
}

bool options_next(struct options *o)
{
    if (o->ended || !o->longs)
        return false;
    int id = getopt_long(o->argc, o->argv, o->shorts, o->longs, NULL);
    o->id = id;
    o->value = optarg;
    switch (id) {
    case -1:
        finish(o);
        o->argc -= optind;
        o->argv += optind;
        return false;
    case 'h':
        command_help(o->command, stdout);
        end_with(o, STATUS_DONE);
        return false;
    case ':':
        return options_wrong(o, "%s needs an argument", o->argv[optind - 1]);
    case '?':
        unknown_option(o);
        return false;
    default:
        return true;
    }
}

static const struct command_option *current(const struct options *o)
{
    const struct command_option *entry = o->command->options;
    while (entry->id != o->id)
        entry++;
    return entry;
}

bool options_number(struct options *o, uint64_t min, uint64_t max, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(o->value, &end, 10);
    /* strtoull would take a sign and leading spaces. */
    if (isdigit((unsigned char)*o->value) && *end == '\0' && errno == 0 && *number >= min &&
        *number <= max)
        return true;
    if (max == UINT64_MAX)
        return options_wrong(o, "--%s: \"%s\" is not a whole number from %" PRIu64 " on",
                             current(o)->name, o->value, min);
    return options_wrong(o, "--%s: \"%s\" is not a whole number from %" PRIu64 " to %" PRIu64,
                         current(o)->name, o->value, min, max);
}

int options_choice(struct options *o)
{
    const struct command_option *entry = current(o);
    size_t length = strlen(o->value);
    int place = 0;
    for (const char *choice = entry->argument; choice; place++) {
        size_t n = strcspn(choice, "|");
        if (n == length && !strncmp(choice, o->value, n))
            return place;
        choice = choice[n] ? choice + n + 1 : NULL;
    }
    options_wrong(o, "--%s: \"%s\" is none of %s", entry->name, o->value, entry->argument);
    return -1;
}

bool options_count(struct options *o, int min, int max)
{
    if (o->ended)
        return false;
    if (o->argc < min)
        return options_wrong(o, "%s lacks an argument: flotsam %s %s", o->command->name,
                             o->command->name, o->command->usage);
    if (o->argc > max)
        return options_wrong(o, "%s has an argument too many: %s", o->command->name, o->argv[max]);
    return true;
}
