/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What real file systems were seen to leave behind, against what the models allow: each program in
 * tests/litmus says in its comments what was seen (tests/kernel/expected.h). A model must allow all
 * states seen, and beyond them just the extra ones. `make truth` looks at real kernels again.
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

#include "engine/graph.h"
#include "engine/litmus.h"
#include "engine/litmus_states.h"
#include "tests/kernel/expected.h"

struct row {
    const char *path;
    char *text;
    struct litmus *litmus;
    struct expected expected;
    unsigned wrong;
};

static void read_row(struct row *row, const char *path)
{
    struct error e;
    *row = (struct row){.path = path};
    if (!expected_read_text(path, &row->text, &e) ||
        !litmus_parse(&row->litmus, row->text, path, &e) ||
        !expected_read(&row->expected, row->text, path, &e))
        fail_msg("%s", e.text);
}

static void free_row(struct row *row)
{
    expected_free(&row->expected);
    litmus_free(row->litmus);
    free(row->text);
}

struct comparison {
    struct row *row;
    const char *model;
    const char *lines; /* those of the file that speak of it */
    bool after_print;
};

static void take_state(void *data, const struct litmus_state *state)
{
    struct comparison *c = data;
    if (c->after_print && !*state->printed)
        return;
    char *text = expected_files(&c->row->expected, state->text);
    bool known = false;
    for (size_t i = 0; i < c->row->expected.states.n; i++) {
        struct expected_state *x = &c->row->expected.states.at[i];
        if (x->state && strcmp(x->model, c->lines) == 0 && strcmp(x->state, text) == 0)
            known = x->found = true;
    }
    if (!known) {
        printf("%s: %s allows %s, which was neither seen nor named\n", c->row->path, c->model,
               text);
        c->row->wrong++;
    }
    free(text);
}

static void compare(struct row *row, const char *words, const char *lines)
{
    struct model model;
    struct comparison c = {row, words, lines, strstr(row->text, "\nprint ")};
    for (size_t i = 0; i < row->expected.states.n; i++)
        row->expected.states.at[i].found = false;
    struct graph *g = NULL;
    struct error e;
    if (!expected_model(words, &model, &e) ||
        !graph_build(&g, &model, litmus_source(row->litmus), &e) ||
        !litmus_states(row->litmus, g, take_state, &c, &e))
        fail_msg("%s: %s", row->path, e.text);
    graph_free(g);
    for (size_t i = 0; i < row->expected.states.n; i++) {
        const struct expected_state *x = &row->expected.states.at[i];
        if (!x->state || strcmp(x->model, lines) != 0)
            continue;
        printf("%-44s %-6s %-5s %-8s %s\n", row->path, words, x->reason ? "extra" : "seen",
               x->found ? "allowed" : "MISSING", x->state);
        row->wrong += !x->found && strcmp(lines, words) == 0;
    }
}

static void test_models_allow_what_was_seen(void **state)
{
    (void)state;
    static const struct {
        const char *model, *without;
    } systems[] = {
        {"ext4", NULL},
        {"xfs", NULL},
        {"btrfs", NULL},
        {"ext4,auto_da_alloc=no", "ext4"},
        {"ext4,dioread_lock=yes", "ext4"},
    };
    unsigned wrong = 0;
    glob_t files;
    assert_int_equal(glob("tests/litmus/*.litmus", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct row row;
        read_row(&row, files.gl_pathv[i]);
        for (size_t s = 0; s < sizeof systems / sizeof *systems; s++) {
            const char *model = systems[s].model, *without = systems[s].without;
            bool spoken_of = expected_speaks_of(&row.expected, model);
            if (!spoken_of && !without)
                fail_msg("%s says nothing of %s", row.path, model);
            compare(&row, model, spoken_of ? model : without);
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
