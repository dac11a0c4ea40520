/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/manual.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "engine/config.h"
#include "engine/model.h"
#include "tui/commands.h"
#include "tui/embed.h"
#include "tui/manual_text.h"
#include "tui/requests.h"
#include "tui/theme_files.h"

EMBED_TEXT(manual_template, "tui/flotsam.1.in")

/* Names in bold, by escapes and not by macros, which take words and brackets for their own. */
static void add_name(struct buf *out, const char *name, size_t n)
{
    buf_text(out, "\\fB");
    manual_add_word(out, name, n);
    buf_text(out, "\\fR");
}

/* An item of a list: a name and what follows it, "" for nothing. */
static void begin_item(struct buf *out, const char *name, const char *usage)
{
    buf_text(out, ".It ");
    add_name(out, name, strlen(name));
    if (*usage) {
        buf_char(out, ' ');
        manual_add_usage(out, usage);
    }
    buf_char(out, '\n');
}

/* ---- subcommands ---- */

static void add_option(struct buf *out, const struct command_option *o)
{
    buf_text(out, ".It ");
    if (o->id < OPTION_LONG)
        buf_printf(out, "\\fB\\-%c\\fR, ", o->id);
    buf_text(out, "\\fB\\-\\-\\fR");
    add_name(out, o->name, strlen(o->name));
    if (o->argument) {
        buf_char(out, ' ');
        manual_add_usage(out, o->argument);
    }
    buf_char(out, '\n');
    manual_add_text(out, o->help);
}

static void add_commands(struct buf *out)
{
    buf_text(out, ".Bl -tag -width Ds\n");
    for (const struct command *const *c = command_table(); *c; c++) {
        begin_item(out, (*c)->name, (*c)->usage);
        manual_add_sentence(out, (*c)->summary);
        if ((*c)->details) {
            buf_text(out, ".Pp\n");
            manual_add_text(out, (*c)->details);
        }
        const struct command_option *o = (*c)->options;
        if (!o || !o->id)
            continue;
        buf_text(out, ".Bl -tag -width Ds\n");
        for (; o->id; o++)
            add_option(out, o);
        buf_text(out, ".El\n");
    }
    buf_text(out, ".El\n");
}

/* ---- the debugger ---- */

static void add_keys(struct buf *out, const char *keys)
{
    buf_text(out, *keys ? ".It " : ".It \\&");
    for (const char *at = keys; *(at += strspn(at, " "));) {
        size_t n = strcspn(at, " ");
        buf_text(out, at == keys ? "" : ", ");
        add_name(out, at, n);
        at += n;
    }
    buf_char(out, '\n');
}

static void add_request(struct buf *out, const struct request_info *r)
{
    add_keys(out, r->keys);
    buf_char(out, ':');
    add_name(out, r->name, strlen(r->name));
    if (*r->arguments) {
        buf_char(out, ' ');
        manual_add_usage(out, r->arguments);
    }
    buf_text(out, " \\(en\n");
    manual_add_text(out, r->help);
}

/* The most characters that the keys of a request take, with the commas between them. */
static size_t keys_width(void)
{
    size_t width = 0;

    for (int r = 0; r < REQUEST_COUNT; r++) {
        const char *keys = request_info((enum request)r)->keys;
        size_t n = strlen(keys);
        for (const char *c = keys; *c; c++)
            n += *c == ' ';
        width = n > width ? n : width;
    }
    return width;
}

static void add_requests(struct buf *out)
{
    size_t width = keys_width();

    for (int section = 0; section < SECTION_COUNT; section++) {
        buf_printf(out, ".Ss %s\n.Bl -tag -width %zun -compact\n",
                   request_section_title((enum request_section)section), width);
        for (int r = 0; r < REQUEST_COUNT; r++)
            if ((int)request_info((enum request)r)->section == section)
                add_request(out, request_info((enum request)r));
        buf_text(out, ".El\n");
    }
}

static void add_themes(struct buf *out)
{
    for (const char *const *n = theme_names(); *n; n++)
        buf_printf(out, ".Ic %s %c\n", *n, n[1] ? ',' : '.');
}

/* ---- models and config ---- */

static void add_models(struct buf *out)
{
    for (const struct model *const *m = model_table(); *m; m++) {
        begin_item(out, (*m)->name, "");
        manual_add_text(out, (*m)->summary);
    }
}

static void add_switches(struct buf *out)
{
    for (const struct model_switch *s = model_switches(); s->name; s++) {
        begin_item(out, s->name, "");
        manual_add_text(out, s->help);
        buf_printf(out, "(default: %s)\n", s->on ? "yes" : "no");
    }
}

static void add_config_key(struct buf *out, const struct config_key *k)
{
    begin_item(out, k->name, "");
    manual_add_text(out, k->help);
    if (k->choices) {
        buf_text(out, "(");
        manual_add_usage(out, k->choices);
        buf_text(out, ")\n");
    }
    if (k->value)
        buf_printf(out, "(default: %s)\n", k->value);
}

static void add_config(struct buf *out)
{
    const char *section = "";

    for (const struct config_key *k = config_keys(); k->name; k++) {
        if (strcmp(k->section, section))
            buf_printf(out, "%s.Ss [%s]\\&\n.Bl -tag -width Ds -compact\n", *section ? ".El\n" : "",
                       k->section);
        section = k->section;
        add_config_key(out, k);
    }
    buf_text(out, ".El\n");
}

static void add_version(struct buf *out)
{
    buf_text(out, ".Os \"flotsam " FLOTSAM_VERSION "\"\n");
}

/* ---- the page ---- */

static const struct {
    const char *name;
    void (*add)(struct buf *out);
} lists[] = {
    {"version", add_version}, {"commands", add_commands}, {"requests", add_requests},
    {"themes", add_themes},   {"models", add_models},     {"switches", add_switches},
    {"config", add_config},
};

static void add_list(struct buf *out, const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strlen(lists[i].name) == n && !strncmp(lists[i].name, name, n)) {
            lists[i].add(out);
            return;
        }
    assert(!"a list that flotsam.1.in asks for");
}

void manual_add(struct buf *out)
{
    for (const char *line = manual_template; *line;) {
        size_t n = strcspn(line, "\n");
        if (*line == '@')
            add_list(out, line + 1, n - 1);
        else
            buf_add(out, line, n + (line[n] == '\n'));
        line += n + (line[n] == '\n');
    }
}
