/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam completion: the bash completion, made from the table of commands. What is not in that
 * table, the names of models, themes and the like, comes from the tables that have it.
 */
#include <string.h>

#include "engine/buf.h"
#include "engine/calls.h"
#include "engine/config.h"
#include "engine/model.h"
#include "engine/stream.h"
#include "tui/commands.h"
#include "tui/options.h"
#include "tui/theme_files.h"

/* ---- what an option's argument may be ---- */

/* The words of "a|b|c:N" with spaces between them; of c:N what can be known, c: . */
static void add_choices(struct buf *words, const char *choices)
{
    for (const char *at = choices; *at;) {
        size_t n = strcspn(at, "|"), known = strcspn(at, "|:");
        buf_printf(words, "%s%.*s", words->n ? " " : "", (int)(known < n ? known + 1 : n), at);
        at += n + (at[n] == '|');
    }
}

static void add_models(struct buf *words)
{
    for (const struct model *const *m = model_table(); *m; m++)
        buf_printf(words, "%s ", (*m)->name);
    buf_text(words, "all"); /* of litmus; the others say that there is no such model */
}

static void add_strategies(struct buf *words)
{
    for (const struct config_key *k = config_keys(); k->name; k++)
        if (!strcmp(k->name, "strategy"))
            add_choices(words, k->choices);
}

static void add_themes(struct buf *words)
{
    for (const char *const *n = theme_names(); *n; n++)
        buf_printf(words, "%s ", *n);
    buf_text(words, "$(_flotsam_themes)");
}

static void add_calls(struct buf *words)
{
    for (uint16_t c = CALL_NONE + 1; c < CALL_COUNT; c++)
        buf_printf(words, "%s ", call_name(c));
}

/* Options whose argument help gives a name that says nothing to a shell. */
static const struct {
    const char *option;
    void (*add)(struct buf *words);
} named[] = {
    {"model", add_models},
    {"strategy", add_strategies},
    {"theme", add_themes},
    {"call", add_calls},
};

static void option_arguments(const struct command_option *o, struct buf *words)
{
    if (strchr(o->argument, '|'))
        add_choices(words, o->argument);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (!strcmp(named[i].option, o->name))
            named[i].add(words);
}

/* What bash offers for the argument of an option: what is known of it, or from the way help writes
 * it. */
static void complete_argument(const struct command_option *o, FILE *f)
{
    struct buf words = {0};
    option_arguments(o, &words);
    if (words.n)
        fprintf(f, "_flotsam_words '%s'", words.at);
    else if (!strcmp(o->argument, "DIR"))
        fputs("compopt -o filenames; COMPREPLY=($(compgen -d -- \"$word\"))", f);
    else if (!strcmp(o->argument, "S") || !strcmp(o->argument, "FILE"))
        fputs("compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\"))", f);
    else
        fputs("COMPREPLY=()", f);
    buf_free(&words);
}

/* ---- commands ---- */

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
        complete_argument(o, f);
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

/* bash breaks words at = and : too, so --theme=dark comes as three, and bug:1 as well. */
static const char beginning[] =
    "# bash completion for flotsam; made by: flotsam completion bash\n"
    "# shellcheck shell=bash disable=SC2016,SC2207\n"
    "_flotsam_files() {\n"
    "    compopt -o filenames\n"
    "    COMPREPLY=($(compgen -d -- \"$word\") $(compgen -f -X \"!$1\" -- \"$word\"))\n"
    "}\n\n"
    "# What ends with a colon wants a number behind it, not a space.\n"
    "_flotsam_words() {\n"
    "    COMPREPLY=($(compgen -W \"$1\" -- \"$word\"))\n"
    "    [[ ${COMPREPLY[*]} != *: ]] || compopt -o nospace\n"
    "}\n\n"
    "_flotsam_themes() {\n"
    "    local file\n"
    "    for file in \"${XDG_CONFIG_HOME:-$HOME/.config}\"/flotsam/themes/*.theme; do\n"
    "        file=${file##*/}\n"
    "        [[ $file == '*.theme' ]] || printf '%s\\n' \"${file%.theme}\"\n"
    "    done\n"
    "}\n\n"
    "_flotsam() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    if [[ $word == = ]]; then\n"
    "        word=\n"
    "    elif [[ $before == = ]]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    [[ $word != : && $before != : ]] || return 0\n"
    "    local commands='";

static void print_bash(FILE *f)
{
    fputs(beginning, f);
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
