/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The line at the bottom: editing by readline's keys, history, completion; on a debugger without a
 * terminal, keys come one by one whatever waits at standard input.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/debug_sample.h"
#include "tui/complete.h"
#include "tui/debugger.h"
#include "tui/script.h"

/* A debugger on the sample's session, loaded. */
static struct debugger *begin(struct run *f)
{
    struct debugger *d;
    struct error e;

    debug_record(f);
    run_end(f);
    debug_symbols(f->path);
    setenv("XDG_STATE_HOME", f->top, 1);
    if (!debugger_new(&d, f->path, "monochrome", 80, 24, &e))
        fail_msg("%s", e.text);
    script_wait(d);
    return d;
}

static bool type(struct prompt *p, const char *text)
{
    bool finished = false;

    for (; *text; text++)
        finished = prompt_key(p, (unsigned char)*text);
    return finished;
}

static void shows(struct prompt *p, const char *text, int cursor)
{
    struct buf safe = {0};
    int at;

    prompt_text(p, &safe, &at);
    assert_string_equal(buf_string(&safe), text);
    assert_int_equal(at, cursor);
    buf_free(&safe);
}

enum { C_A = 1, C_E = 5, C_K = 11, C_U = 21, C_W = 23, C_Y = 25 };

static void a_line_is_edited_and_finished(void **state)
{
    struct debugger *d = begin(*state);
    struct prompt *p = d->prompt;

    assert_false(prompt_is_open(p));
    prompt_open(p, PROMPT_COMMAND, "go ");
    assert_true(prompt_is_open(p));
    assert_string_equal(prompt_sign(p), ":");
    shows(p, "go ", 3);
    type(p, "event 3");
    prompt_key(p, TYPED_LEFT);
    prompt_key(p, TYPED_BACKSPACE);
    type(p, ":");
    shows(p, "go event:3", 9);
    prompt_key(p, C_A);
    shows(p, "go event:3", 0);
    prompt_key(p, C_K);
    shows(p, "", 0);
    prompt_key(p, C_Y);
    shows(p, "go event:3", 10);
    prompt_key(p, C_W);
    shows(p, "go ", 3);
    prompt_key(p, C_U);
    type(p, "bugs");
    prompt_key(p, TYPED_HOME);
    prompt_key(p, TYPED_DELETE);
    shows(p, "ugs", 0);
    prompt_key(p, 'b');
    prompt_key(p, TYPED_END);
    assert_true(prompt_key(p, TYPED_ENTER));
    assert_string_equal(prompt_line(p), "bugs");
    assert_false(prompt_is_open(p));
    debugger_free(d);
}

static void a_line_can_be_given_up(void **state)
{
    static const uint32_t ways[] = {TYPED_ESCAPE, 3, 7};
    struct debugger *d = begin(*state);

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        prompt_open(d->prompt, PROMPT_SEARCH, "");
        assert_string_equal(prompt_sign(d->prompt), "/");
        type(d->prompt, "abc");
        assert_true(prompt_key(d->prompt, ways[i]));
        assert_null(prompt_line(d->prompt));
        assert_false(prompt_is_open(d->prompt));
    }
    /* Erasing when there is nothing to erase does it too. */
    prompt_open(d->prompt, PROMPT_FILTER, "");
    type(d->prompt, "a");
    assert_false(prompt_key(d->prompt, TYPED_BACKSPACE));
    assert_true(prompt_key(d->prompt, TYPED_BACKSPACE));
    assert_null(prompt_line(d->prompt));
    debugger_free(d);
}

static void what_is_typed_is_shown_safely(void **state)
{
    struct debugger *d = begin(*state);

    prompt_open(d->prompt, PROMPT_NOTE, "");
    prompt_key(d->prompt, 0x65e5); /* two columns */
    prompt_key(d->prompt, 0xe9);
    shows(d->prompt, "日é", 3);
    prompt_key(d->prompt, TYPED_LEFT);
    shows(d->prompt, "日é", 2);
    prompt_key(d->prompt, TYPED_END);
    prompt_key(d->prompt, 22);                /* C-v: what follows as it is */
    prompt_key(d->prompt, 27 + TYPED_BEYOND); /* a key that is no character does nothing */
    prompt_key(d->prompt, 1);
    struct buf safe = {0};
    int cursor;
    prompt_text(d->prompt, &safe, &cursor);
    for (size_t i = 0; i < safe.n; i++)
        assert_true((unsigned char)safe.at[i] >= ' ' && safe.at[i] != 0x7f);
    buf_free(&safe);
    debugger_free(d);
}

static void commands_are_remembered(void **state)
{
    struct run *f = *state;
    struct debugger *d = begin(f);
    struct error e;

    prompt_open(d->prompt, PROMPT_COMMAND, "");
    type(d->prompt, "trace\r");
    prompt_open(d->prompt, PROMPT_SEARCH, "");
    type(d->prompt, "not a command\r");
    prompt_open(d->prompt, PROMPT_COMMAND, "");
    type(d->prompt, "ops\r");
    prompt_open(d->prompt, PROMPT_COMMAND, "");
    prompt_key(d->prompt, TYPED_UP);
    shows(d->prompt, "ops", 3);
    prompt_key(d->prompt, TYPED_UP);
    shows(d->prompt, "trace", 5);
    prompt_key(d->prompt, TYPED_DOWN);
    shows(d->prompt, "ops", 3);
    debugger_free(d);
    /* And by the next debugger. */
    if (!debugger_new(&d, f->path, "monochrome", 80, 24, &e))
        fail_msg("%s", e.text);
    prompt_open(d->prompt, PROMPT_COMMAND, "");
    prompt_key(d->prompt, TYPED_UP);
    shows(d->prompt, "ops", 3);
    debugger_free(d);
}

/* What may stand at the end of a line, with spaces between. */
static void offers(struct debugger *d, const char *line, const char *want)
{
    struct choices c = {0};
    struct buf got = {0};

    complete(d, line, strlen(line), &c);
    for (size_t i = 0; i < c.at.n; i++)
        buf_printf(&got, "%s%s", i ? " " : "", c.at.at[i]);
    if (c.files)
        buf_printf(&got, "%sFILES", got.n ? " " : "");
    assert_string_equal(buf_string(&got), want);
    buf_free(&got);
    choices_free(&c);
}

static void completion_knows_what_may_stand_there(void **state)
{
    struct debugger *d = begin(*state);

    offers(d, "bookm", "bookmarks bookmark");
    offers(d, "  book", "bookmarks bookmark");
    offers(d, "frob", "");
    offers(d, "theme ", "dark light high-contrast monochrome");
    offers(d, "theme mo", "monochrome");
    offers(d, "model e", "ext4 ext4-paper");
    offers(d, "go ev", "event:");
    offers(d, "go set_", "set_current");
    offers(d, "go MAN", "MANIFEST");
    offers(d, "status ", "new confirmed duplicate ignored");
    offers(d, "fix fd", "fdatasync");
    offers(d, "export ", "FILES");
    offers(d, "dump s", "screen styles");
    offers(d, "dump screen ", "FILES");
    offers(d, "bind F5 overv", "overview");
    offers(d, "check strategy=p", "strategy=prefix");
    offers(d, "check budget=3 jo", "jobs=");
    offers(d, "top ", "");
    offers(d, "frobnicate x", "");
    debugger_free(d);
}

static void tab_completes_or_lists(void **state)
{
    struct debugger *d = begin(*state);

    prompt_open(d->prompt, PROMPT_COMMAND, "");
    type(d->prompt, "beh\t");
    shows(d->prompt, "behaviours ", 11);
    prompt_key(d->prompt, C_U);
    type(d->prompt, "sta\t");
    assert_non_null(strstr(prompt_choices(d->prompt), "states"));
    assert_non_null(strstr(prompt_choices(d->prompt), "status"));
    type(d->prompt, "tu");
    assert_string_equal(prompt_choices(d->prompt), "");
    prompt_key(d->prompt, C_U);
    type(d->prompt, "go eve\t");
    shows(d->prompt, "go event:", 9); /* the number follows at once */
    debugger_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        run_case(a_line_is_edited_and_finished),         run_case(a_line_can_be_given_up),
        run_case(what_is_typed_is_shown_safely),         run_case(commands_are_remembered),
        run_case(completion_knows_what_may_stand_there), run_case(tab_completes_or_lists),
    };
    setlocale(LC_ALL, "C.UTF-8");
    /* Something waits at standard input all the time, as when somebody types ahead. */
    if (!freopen("/dev/zero", "r", stdin))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
