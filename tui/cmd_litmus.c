/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam litmus: every state that a few calls may leave under a model, and why.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/graph.h"
#include "engine/litmus.h"
#include "engine/litmus_states.h"
#include "engine/litmus_why.h"
#include "engine/vec.h"
#include "tui/commands.h"
#include "tui/options.h"

/* Far more than anybody writes by hand; a core dump given by mistake ends here. */
enum { MOST_TEXT = 1 << 20 };

static const char standard_input[] = "standard input";

/* Of standard input when the path is NULL. */
static bool read_text(const char *path, struct buf *out, struct error *e)
{
    FILE *f = path ? fopen(path, "r") : stdin;
    if (!f)
        return error_errno(e, "cannot read the litmus program %s", path);
    for (int c; out->n <= MOST_TEXT && (c = fgetc(f)) != EOF;)
        buf_char(out, (char)c);
    const char *name = path ? path : standard_input;
    bool ok = !ferror(f) || error_errno(e, "cannot read the litmus program %s", name);
    if (path)
        fclose(f);
    if (ok && (out->n > MOST_TEXT || memchr(buf_string(out), '\0', out->n)))
        ok = error_set(e, "%s is no litmus program", name);
    return ok;
}

/* ---- printing ---- */

struct row {
    char *state, *printed, *lost;
};

struct table {
    const struct litmus *litmus;
    const struct graph *graph;
    vec_of(struct row) rows;
};

/* Of states that differ in what was printed only the last counts: the latest moment. */
static void take_state(void *data, const struct litmus_state *state)
{
    struct table *t = data;
    struct buf lost = {0}, printed = {0};
    litmus_why(t->litmus, t->graph, state->survived, &lost);
    for (const char *at = state->printed; *at; at += strcspn(at, "\n"), at += *at == '\n')
        buf_printf(&printed, "%s%.*s", printed.n ? ", " : "", (int)strcspn(at, "\n"), at);
    struct row row = {escape_text(state->text), escape_text(buf_string(&printed)),
                      escape_text(lost.n ? buf_string(&lost) : "nothing")};
    buf_free(&lost);
    buf_free(&printed);
    if (t->rows.n && strcmp(vec_last(&t->rows).state, row.state) == 0) {
        struct row *before = &vec_last(&t->rows);
        free(before->state);
        free(before->printed);
        free(before->lost);
        *before = row;
    } else
        vec_push(&t->rows, row);
}

static int wider(int width, const char *text)
{
    int n = escape_width(text);
    return n > width ? n : width;
}

static void print_cell(const char *text, int width)
{
    printf("%s%*s  ", text, width - escape_width(text), "");
}

static void print_table(const struct table *t, const struct model *model, bool prints)
{
    int state = wider(0, "state"), printed = wider(0, "left after");
    for (size_t i = 0; i < t->rows.n; i++) {
        state = wider(state, t->rows.at[i].state);
        printed = wider(printed, t->rows.at[i].printed);
    }
    printf("%s: %s\n  ", model->name, model->summary);
    print_cell("state", state);
    if (prints)
        print_cell("left after", printed);
    printf("lost\n");
    for (size_t i = 0; i < t->rows.n; i++) {
        printf("  ");
        print_cell(t->rows.at[i].state, state);
        if (prints)
            print_cell(t->rows.at[i].printed, printed);
        printf("%s\n", t->rows.at[i].lost);
    }
}

static bool show(const struct litmus *l, const struct model *model, struct error *e)
{
    struct table t = {.litmus = l};
    struct graph *g = NULL;
    bool prints = false;
    for (uint64_t number = 1; number <= litmus_events(l); number++)
        prints |= litmus_event(l, number)->call == CALL_PRINT;
    bool ok = graph_build(&g, model, litmus_source(l), e);
    t.graph = g;
    ok = ok && litmus_states(l, g, take_state, &t, e);
    if (ok)
        print_table(&t, model, prints);
    for (size_t i = 0; i < t.rows.n; i++) {
        free(t.rows.at[i].state);
        free(t.rows.at[i].printed);
        free(t.rows.at[i].lost);
    }
    vec_free(&t.rows);
    graph_free(g);
    return ok;
}

/* ---- the command ---- */

enum { OPTION_MODEL = OPTION_LONG };

static const struct command_option options[] = {
    {OPTION_MODEL, "model", "NAME", "the persistence model, or all (default: ext4); repeatable"},
    {0},
};

typedef vec_of(struct model) models;

static bool add_models(models *wanted, const char *name, struct error *e)
{
    struct model model;
    if (strcmp(name, "all") == 0) {
        for (const struct model *const *m = model_table(); *m; m++)
            vec_push(wanted, **m);
        return true;
    }
    if (!model_find(name, &model, e))
        return false;
    vec_push(wanted, model);
    return true;
}

static int run_litmus(int argc, char **argv)
{
    struct options o;
    struct error e;
    struct buf text = {0};
    struct litmus *litmus = NULL;
    models wanted = {0};
    bool ok = true;
    options_begin(&o, &command_litmus, argc, argv);
    while (options_next(&o))
        ok = ok && add_models(&wanted, o.value, &e);
    if (!options_count(&o, 1, 1)) {
        vec_free(&wanted);
        return o.status;
    }
    if (ok && !wanted.n)
        vec_push(&wanted, *model_table()[0]);
    const char *path = strcmp(o.argv[0], "-") ? o.argv[0] : NULL;
    ok = ok && read_text(path, &text, &e) &&
         litmus_parse(&litmus, buf_string(&text), path ? path : standard_input, &e);
    for (size_t i = 0; ok && i < wanted.n; i++) {
        if (i)
            putchar('\n');
        ok = show(litmus, &wanted.at[i], &e);
    }
    litmus_free(litmus);
    buf_free(&text);
    vec_free(&wanted);
    return ok ? STATUS_DONE : command_failed(&e);
}

const struct command command_litmus = {
    .name = "litmus",
    .run = run_litmus,
    .takes = TAKES_LITMUS,
    .usage = "FILE [--model NAME]...",
    .summary = "show every state that a few calls may leave after a crash",
    .details =
        "FILE (-: standard input) has one call a line; # begins a comment:\n"
        "  file a 8192 'O'       a file that is there before: 8192 bytes of O; dir d\n"
        "  create a              pwrite a 0 4096 'x'    append a 100 'y'\n"
        "  truncate a 100        fallocate a 0 4096 [keep|punch|zero]\n"
        "  rename a b            link a b    unlink a   symlink target a\n"
        "  mkdir d               rmdir d\n"
        "  fsync a               fdatasync a    sync    sync_file_range a [0 4096]\n"
        "  print done            what the world is told\n"
        "dsync or sync at the end of a write: as with O_DSYNC or O_SYNC. A state lists the files\n"
        "by name, with runs of bytes: a=O4096,x100; 0 stands for zero bytes. \"left after\" is\n"
        "what had been printed at the latest moment at which a crash can leave the state.",
    .options = options,
};
