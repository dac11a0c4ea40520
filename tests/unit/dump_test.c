/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A view of very many rows is written to a file while one goes on: no key waits for it, and what
 * comes of it is what a script gets, or a message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/clock.h"
#include "tests/unit/run_sample.h"
#include "tui/debugger.h"
#include "tui/loop.h"

enum { ROWS = 100000 };

/* A debugger that looks at a long trace, and the names of two files. */
struct reader {
    struct run *run;
    struct debugger *d;
    char *file, *other;
};

static int set_up(void **state)
{
    struct reader *l = xcalloc(1, sizeof *l);
    struct error e;

    run_set_up((void **)&l->run);
    for (int i = 0; i < ROWS; i++)
        run_print(l->run, i % 1000 ? "some text or other" : "a longer text, which is in few rows");
    run_end(l->run);
    setenv("XDG_STATE_HOME", l->run->top, 1);
    l->file = xasprintf("%s/view.txt", l->run->top);
    l->other = xasprintf("%s/other.txt", l->run->top);
    if (!debugger_new(&l->d, l->run->path, "monochrome", 80, 24, &e))
        fail_msg("%s", e.text);
    l->d->interactive = true;
    debugger_go(l->d, DESK_trace, NULL);
    debugger_draw(l->d);
    *state = l;
    return 0;
}

static int tear_down(void **state)
{
    struct reader *l = *state;

    debugger_free(l->d);
    run_tear_down((void **)&l->run);
    free(l->file);
    free(l->other);
    free(l);
    return 0;
}

static bool command(struct reader *l, const char *name, const char *words, struct error *e)
{
    enum after after;
    char *line = xasprintf("%s %s", name, words);
    bool ok = debugger_command(l->d, line, &after, e);

    free(line);
    return ok;
}

static void must(struct reader *l, const char *name, const char *words)
{
    struct error e;

    if (!command(l, name, words, &e))
        fail_msg("%s: %s", name, e.text);
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static char *contents(const char *path)
{
    struct buf out = {0};
    FILE *f = fopen(path, "re");
    int c;

    assert_non_null(f);
    while ((c = getc(f)) != EOF)
        buf_char(&out, (char)c);
    fclose(f);
    buf_char(&out, 0);
    return out.at;
}

/* The message, which may be too long for one line of the screen. */
static void says(struct reader *l, const char *text)
{
    if (!l->d->message || !strstr(l->d->message, text))
        fail_msg("\"%s\" is not said, but: %s", text, l->d->message);
}

/* What the bar says besides. */
static bool is_busy(struct reader *l)
{
    struct buf screen = {0};

    debugger_draw(l->d);
    screen_text(&l->d->screen, &screen);
    bool busy = strstr(buf_string(&screen), "writing the view, ");
    buf_free(&screen);
    return busy;
}

/* As the loop does it, between two looks at the keys: until the bar does not speak of it any more,
 * or so many times. Says how many that were. */
static int go_on(struct reader *l, int most)
{
    int slices = 0;
    bool busy = true;

    for (; busy && slices < most; slices++) {
        debugger_work(l->d, clock_now() + LOOP_SLICE);
        busy = is_busy(l);
    }
    return slices;
}

static void no_key_waits_for_it(void **state)
{
    struct reader *l = *state;
    struct input down = {.kind = INPUT_KEY, .key = 'j'};

    must(l, "export", l->file);
    assert_false(is_there(l->file));
    says(l, "the view is being written to ");
    assert_true(is_busy(l));
    uint64_t selected = desk_main(&l->d->desks[DESK_trace])->selected;
    debugger_input(l->d, &down);
    assert_int_equal(desk_main(&l->d->desks[DESK_trace])->selected, selected + 1);
    assert_true(go_on(l, INT32_MAX) > 3);
    says(l, "the view is in ");
    /* A script has all of it when the next line runs. */
    l->d->interactive = false;
    must(l, "dump view", l->other);
    char *text = contents(l->file), *whole = contents(l->other);
    assert_string_equal(text, whole);
    size_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 1 + ROWS); /* with the titles */
    free(text);
    free(whole);
}

static void one_is_written_at_a_time(void **state)
{
    struct reader *l = *state;
    struct error e;

    must(l, "export", l->file);
    assert_false(command(l, "export", l->other, &e));
    assert_non_null(strstr(e.text, "view.txt is still being written"));
    go_on(l, INT32_MAX);
    assert_true(is_there(l->file));
    assert_false(is_there(l->other));
    must(l, "export", l->other);
    go_on(l, INT32_MAX);
    assert_true(is_there(l->other));
}

static void another_view_meanwhile_is_not_mixed_in(void **state)
{
    struct reader *l = *state;

    must(l, "export", l->file);
    go_on(l, 2);
    must(l, "filter", "longer");
    go_on(l, INT32_MAX);
    says(l, "was not written: the view changed");
    assert_false(is_there(l->file));
    /* Of a list that is being worked out all is written. */
    must(l, "filter", "text");
    must(l, "filter", "longer");
    must(l, "export", l->other);
    go_on(l, INT32_MAX);
    char *text = contents(l->other);
    size_t lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 1 + ROWS / 1000);
    free(text);
}

static void who_leaves_gets_what_was_asked_for(void **state)
{
    struct reader *l = *state;
    struct error e;

    must(l, "export", l->file);
    assert_true(debugger_finish(l->d, &e));
    assert_true(is_there(l->file));
}

static void what_cannot_be_written_is_said(void **state)
{
    struct reader *l = *state;
    struct error e;
    char *nowhere = xasprintf("%s/nowhere/x.txt", l->run->top);

    must(l, "export", nowhere);
    go_on(l, INT32_MAX);
    says(l, "cannot write ");
    l->d->interactive = false;
    assert_false(command(l, "export", nowhere, &e));
    assert_non_null(strstr(e.text, "nowhere/x.txt"));
    free(nowhere);
}

#define reader_case(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        reader_case(no_key_waits_for_it),
        reader_case(one_is_written_at_a_time),
        reader_case(another_view_meanwhile_is_not_mixed_in),
        reader_case(who_leaves_gets_what_was_asked_for),
        reader_case(what_cannot_be_written_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
