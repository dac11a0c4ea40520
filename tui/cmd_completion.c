/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam completion: the bash completion, made from the table of commands.
 */
#include <string.h>

#include "engine/buf.h"
#include "tui/commands.h"
#include "tui/options.h"

/* What bash offers for the argument of an option, from the way help writes it. */
static void complete_argument(const char *argument, FILE *f)
{
    if (strchr(argument, '|')) {
        fputs("COMPREPLY=($(compgen -W '", f);
        for (const char *c = argument; *c; c++)
            fputc(*c == '|' ? ' ' : *c, f);
        fputs("' -- \"$word\"))", f);
    } else if (!strcmp(argument, "DIR"))
        fputs("compopt -o filenames; COMPREPLY=($(compgen -d -- \"$word\"))", f);
    else if (!strcmp(argument, "S") || !strcmp(argument, "FILE"))
        fputs("compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\"))", f);
    else
        fputs("COMPREPLY=()", f);
}

static void option_words(const struct command *c, struct buf *words)
{
    for (const struct command_option *o = c->options; o && o->id; o++) {
        if (o->id < OPTION_LONG)
            buf_printf(words, "-%c ", o->id);
        buf_printf(words, "--%s ", o->name);
    }
    buf_text(words, "-h --help");
}

static void complete_command(const struct command *c, FILE *f)
{
    static const char *const files[] = {
        [TAKES_NOTHING] = "COMPREPLY=()",
        [TAKES_SESSION] = "_flotsam_files '*.flotsam'",
        [TAKES_CONFIG] = "_flotsam_files '*.ini'",
        [TAKES_LITMUS] = "_flotsam_files '*.litmus'",
        [TAKES_PROGRAM] = "compopt -o filenames; COMPREPLY=($(compgen -c -f -- \"$word\"))",
        [TAKES_COMMAND] = "COMPREPLY=($(compgen -W \"$commands\" -- \"$word\"))",
    };
    struct buf words = {0};
    option_words(c, &words);
    fprintf(f, "    %s)\n        case $before in\n", c->name);
    for (const struct command_option *o = c->options; o && o->id; o++) {
        if (!o->argument)
            continue;
        if (o->id < OPTION_LONG)
            fprintf(f, "        -%c | --%s) ", o->id, o->name);
        else
            fprintf(f, "        --%s) ", o->name);
        complete_argument(o->argument, f);
        fputs("; return ;;\n", f);
    }
    fprintf(f,
            "        esac\n"
            "        case $word in\n"
            "        -*) COMPREPLY=($(compgen -W '%s' -- \"$word\")) ;;\n"
            "        *) %s ;;\n"
            "        esac ;;\n",
            words.at, files[c->takes]);
    buf_free(&words);
}

static void print_bash(FILE *f)
{
    fputs("# bash completion for flotsam; made by: flotsam completion bash\n"
          "# shellcheck shell=bash disable=SC2207\n"
          "_flotsam_files() {\n"
          "    compopt -o filenames\n"
          "    COMPREPLY=($(compgen -d -- \"$word\") $(compgen -f -X \"!$1\" -- \"$word\"))\n"
          "}\n\n"
          "_flotsam() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local commands='",
          f);
    for (const struct command *const *c = command_table(); *c; c++)
        fprintf(f, "%s%s", c == command_table() ? "" : " ", (*c)->name);
    fputs("'\n"
          "    if ((COMP_CWORD == 1)); then\n"
          "        _flotsam_files '*.@(ini|flotsam)'\n"
          "        COMPREPLY+=($(compgen -W \"$commands --help --version\" -- \"$word\"))\n"
          "        return\n"
          "    fi\n"
          "    case ${COMP_WORDS[1]} in\n",
          f);
    for (const struct command *const *c = command_table(); *c; c++)
        complete_command(*c, f);
    fputs("    esac\n"
          "}\n"
          "complete -F _flotsam flotsam\n",
          f);
}

static int run_completion(int argc, char **argv)
{
    struct options o;
    options_begin(&o, &command_completion, argc, argv);
    while (options_next(&o))
        ;
    if (!options_count(&o, 1, 1))
        return o.status;
    if (strcmp(o.argv[0], "bash")) {
        options_wrong(&o, "there is no completion for %s, only for bash", o.argv[0]);
        return o.status;
    }
    print_bash(stdout);
    return STATUS_DONE;
}

const struct command command_completion = {
    .name = "completion",
    .run = run_completion,
    .takes = TAKES_NOTHING,
    .usage = "bash",
    .summary = "print the completion for a shell",
    .details = "Put it where your shell looks, or try it at once:\n"
               "  source <(flotsam completion bash)",
};
