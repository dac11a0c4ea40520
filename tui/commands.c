/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/commands.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/buf.h"
#include "engine/escape.h"
#include "engine/mem.h"
#include "engine/nearest.h"

const struct command *const *command_table(void)
{
    static const struct command *const table[] = {
        &command_run,        &command_record,
        &command_check,      &command_open,
        &command_report,     &command_bugs,
        &command_trace,      &command_graph,
        &command_behaviours, &command_groups,
        &command_schedules,  &command_states,
        &command_why,        &command_why_op,
        &command_lint,       &command_replay,
        &command_export,     &command_litmus,
        &command_doctor,     &command_completion,
        &command_help_on,    NULL,
    };
    return table;
}

/* Commands that a bare file name stands for. */
static const struct {
    const char *suffix, *command;
} file_commands[] = {
    {".ini", "run"},
    {".flotsam", "open"},
};

const struct command *command_find(const char *name)
{
    for (const struct command *const *c = command_table(); *c; c++)
        if (!strcmp((*c)->name, name))
            return *c;
    /* For the debugger and not for people, so it is in no list. */
    return strcmp(name, command_worker.name) ? NULL : &command_worker;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

const struct command *command_for_file(const char *name)
{
    for (size_t i = 0; i < sizeof file_commands / sizeof *file_commands; i++)
        if (ends_with(name, file_commands[i].suffix))
            return command_find(file_commands[i].command);
    return NULL;
}

const char *command_nearest(const char *name)
{
    struct nearest n = {.name = name};
    for (const struct command *const *c = command_table(); *c; c++)
        nearest_offer(&n, (*c)->name);
    return n.best;
}

void command_help_all(FILE *f)
{
    fputs("flotsam finds crash-consistency bugs: what a power failure could do to a program's "
          "data.\n\n"
          "usage: flotsam COMMAND [ARG...]\n"
          "       flotsam CONFIG.ini | SESSION.flotsam\n\n"
          "commands:\n",
          f);
    for (const struct command *const *c = command_table(); *c; c++)
        fprintf(f, "  %-12s %s\n", (*c)->name, (*c)->summary);
    fputs("\noptions:\n"
          "  -h, --help   show this help; flotsam COMMAND --help says more\n"
          "  --version    show the version\n\n"
          "A session is a *.flotsam file; where it is left out, the newest in the working "
          "directory\nis taken. Exit status: 0 done, 1 inconsistent states were found, 2 it could "
          "not run,\n130 interrupted.\n",
          f);
}

/* "-o, --output S", the left column of an option's help. */
static void option_heading(struct buf *b, const struct command_option *o)
{
    buf_clear(b);
    if (o->id < OPTION_LONG)
        buf_printf(b, "-%c, ", o->id);
    buf_printf(b, "--%s", o->name);
    if (o->argument)
        buf_printf(b, " %s", o->argument);
}

void command_help(const struct command *c, FILE *f)
{
    static const struct command_option help = {'h', "help", NULL, "show this help"};
    fprintf(f, "usage: flotsam %s%s%s\n\n%c%s.\n", c->name, *c->usage ? " " : "", c->usage,
            toupper((unsigned char)*c->summary), c->summary + 1);
    if (c->details)
        fprintf(f, "\n%s\n", c->details);

    struct buf heading = {0};
    option_heading(&heading, &help);
    size_t width = heading.n;
    for (const struct command_option *o = c->options; o && o->id; o++) {
        option_heading(&heading, o);
        width = heading.n > width ? heading.n : width;
    }
    fputs("\noptions:\n", f);
    for (const struct command_option *o = c->options; o && o->id; o++) {
        option_heading(&heading, o);
        fprintf(f, "  %-*s  %s\n", (int)width, heading.at, o->help);
    }
    option_heading(&heading, &help);
    fprintf(f, "  %-*s  %s\n", (int)width, heading.at, help.help);
    buf_free(&heading);
}

void message(const char *format, ...)
{
    char *text;
    va_list ap;
    va_start(ap, format);
    int n = vasprintf(&text, format, ap);
    va_end(ap);
    if (n < 0)
        return;
    char *safe = escape_text(text);
    /* What was printed so far comes first where both go to one terminal. */
    fflush(stdout);
    fprintf(stderr, "flotsam: %s\n", safe);
    free(safe);
    free(text);
}

int command_failed(const struct error *e)
{
    message("%s", e->text);
    return STATUS_FAILED;
}

static bool newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

char *command_session(const char *given, struct error *e)
{
    if (given)
        return xstrdup(given);
    DIR *dir = opendir(".");
    if (!dir) {
        error_errno(e, "cannot look for sessions in the working directory");
        return NULL;
    }
    char *best = NULL;
    struct stat best_stat = {0};
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct stat st;
        if (!ends_with(entry->d_name, ".flotsam") || stat(entry->d_name, &st) != 0 ||
            !S_ISREG(st.st_mode) || (best && !newer(&st, &best_stat)))
            continue;
        free(best);
        best = xstrdup(entry->d_name);
        best_stat = st;
    }
    closedir(dir);
    if (!best)
        error_set(e, "no session here: no *.flotsam in the working directory; name one, or make "
                     "one with flotsam record");
    return best;
}
