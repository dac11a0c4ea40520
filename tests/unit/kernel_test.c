/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What real file systems were seen to leave behind, against what the models allow. Each program in
 * tests/litmus says in its comments:
 *
 *     #! files a b                   only these names are looked at
 *     #! MODEL seen STATE | STATE    seen on a real kernel; MODEL may have switches: ext4,name=no
 *     #! MODEL extra STATE: reason   the model allows it too, and why that is right
 *
 * A model must allow all states seen, and beyond them just the extra ones. When the program prints,
 * states that can be left after that are meant: what a sync that had returned promises.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/graph.h"
#include "engine/litmus.h"
#include "engine/litmus_states.h"
#include "engine/vec.h"

enum { MODEL_TEXT = 64 };

struct expected {
    char model[MODEL_TEXT];
    char *state, *reason; /* reason: NULL when it was seen */
    bool found;
};

struct row {
    const char *path;
    char *text, *files; /* files: NULL for all */
    struct litmus *litmus;
    vec_of(struct expected) expected;
    unsigned wrong;
};

static char *read_text(const char *path)
{
    struct buf b = {0};
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    for (int c; (c = fgetc(f)) != EOF;)
        buf_char(&b, (char)c);
    fclose(f);
    char *text = xstrdup(buf_string(&b));
    buf_free(&b);
    return text;
}

static char *trimmed(char *s)
{
    s += strspn(s, " ");
    for (size_t n = strlen(s); n && s[n - 1] == ' ';)
        s[--n] = '\0';
    return s;
}

static void expect(struct row *row, const char *model, const char *state, const char *reason)
{
    struct expected x = {.state = xstrdup(state), .reason = reason ? xstrdup(reason) : NULL};
    snprintf(x.model, sizeof x.model, "%s", model);
    vec_push(&row->expected, x);
}

static void take_directive(struct row *row, char *line)
{
    char *rest;
    char *model = strtok_r(line, " ", &rest);
    if (strcmp(model, "files") == 0) {
        row->files = xstrdup(rest);
        return;
    }
    char *what = strtok_r(NULL, " ", &rest);
    assert_non_null(what);
    if (strcmp(what, "extra") == 0) {
        char *colon = strchr(rest, ':');
        if (!colon || !*trimmed(colon + 1))
            fail_msg("%s: an extra state without a reason: %s", row->path, rest);
        *colon = '\0';
        expect(row, model, trimmed(rest), trimmed(colon + 1));
        return;
    }
    assert_string_equal(what, "seen");
    for (char *state; (state = strsep(&rest, "|"));)
        expect(row, model, trimmed(state), NULL);
}

static void read_row(struct row *row, const char *path)
{
    struct error e;
    *row = (struct row){.path = path, .text = read_text(path)};
    if (!litmus_parse(&row->litmus, row->text, path, &e))
        fail_msg("%s", e.text);
    char *copy = xstrdup(row->text), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (strncmp(line, "#! ", 3) == 0)
            take_directive(row, line + 3);
    free(copy);
}

static void free_row(struct row *row)
{
    for (size_t i = 0; i < row->expected.n; i++) {
        free(row->expected.at[i].state);
        free(row->expected.at[i].reason);
    }
    vec_free(&row->expected);
    litmus_free(row->litmus);
    free(row->text);
    free(row->files);
}

/* The state without names that do not matter. */
static char *only_files(const char *state, const char *files)
{
    if (!files)
        return xstrdup(state);
    struct buf out = {0};
    char *copy = xstrdup(state), *rest = copy;
    for (char *word; (word = strsep(&rest, " "));) {
        size_t n = strcspn(word, "=/-");
        for (const char *at = files; *at; at += strcspn(at, " "), at += strspn(at, " "))
            if (strcspn(at, " ") == n && memcmp(at, word, n) == 0)
                buf_printf(&out, "%s%s", out.n ? " " : "", word);
    }
    free(copy);
    char *text = xstrdup(out.n ? buf_string(&out) : "(nothing)");
    buf_free(&out);
    return text;
}

struct comparison {
    struct row *row;
    const char *model;
    bool after_print;
};

static void take_state(void *data, const struct litmus_state *state)
{
    struct comparison *c = data;
    if (c->after_print && !*state->printed)
        return;
    char *text = only_files(state->text, c->row->files);
    bool known = false;
    for (size_t i = 0; i < c->row->expected.n; i++) {
        struct expected *x = &c->row->expected.at[i];
        if (strcmp(x->model, c->model) == 0 && strcmp(x->state, text) == 0)
            known = x->found = true;
    }
    if (!known) {
        printf("%s: %s allows %s, which was neither seen nor named\n", c->row->path, c->model,
               text);
        c->row->wrong++;
    }
    free(text);
}

/* "ext4,auto_da_alloc=no" */
static struct model model_of(const char *words)
{
    struct model model;
    struct error e;
    char *copy = xstrdup(words), *rest = copy;
    if (!model_find(strsep(&rest, ","), &model, &e))
        fail_msg("%s", e.text);
    for (char *word; (word = strsep(&rest, ","));) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value++ = '\0';
        if (!model_set(&model, word, strcmp(value, "yes") == 0, &e))
            fail_msg("%s", e.text);
    }
    free(copy);
    return model;
}

static void compare(struct row *row, const char *words)
{
    struct model model = model_of(words);
    struct comparison c = {row, words, strstr(row->text, "\nprint ")};
    struct graph *g;
    struct error e;
    if (!graph_build(&g, &model, litmus_source(row->litmus), &e) ||
        !litmus_states(row->litmus, g, take_state, &c, &e))
        fail_msg("%s: %s", row->path, e.text);
    graph_free(g);
    for (size_t i = 0; i < row->expected.n; i++) {
        const struct expected *x = &row->expected.at[i];
        if (strcmp(x->model, words) != 0)
            continue;
        printf("%-44s %-6s %-5s %-8s %s\n", row->path, words, x->reason ? "extra" : "seen",
               x->found ? "allowed" : "MISSING", x->state);
        row->wrong += !x->found;
    }
}

static void test_models_allow_what_was_seen(void **state)
{
    (void)state;
    static const char *const systems[] = {"ext4", "xfs", "btrfs", "ext4,auto_da_alloc=no"};
    enum { ALWAYS = 3 }; /* those that every program must speak of */
    unsigned wrong = 0;
    glob_t files;
    assert_int_equal(glob("tests/litmus/*.litmus", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct row row;
        read_row(&row, files.gl_pathv[i]);
        for (size_t s = 0; s < sizeof systems / sizeof *systems; s++) {
            bool spoken_of = false;
            for (size_t k = 0; k < row.expected.n; k++)
                spoken_of |= strcmp(row.expected.at[k].model, systems[s]) == 0;
            if (s < ALWAYS && !spoken_of)
                fail_msg("%s says nothing of %s", row.path, systems[s]);
            if (spoken_of)
                compare(&row, systems[s]);
        }
        wrong += row.wrong;
        free_row(&row);
    }
    globfree(&files);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_allow_what_was_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
