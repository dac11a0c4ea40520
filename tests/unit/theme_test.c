/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/compile.h"

#include "tui/theme.h"
#include "tui/theme_files.h"

static void expect_look(const char *text, const char *on)
{
    struct theme t;
    struct error e;
    struct buf got = {0};
    char *line = xasprintf("path = %s\n", text);

    if (!theme_parse(&t, "test", line, &e))
        fail_msg("%s", e.text);
    theme_on(&t, STYLE_PATH, &got);
    assert_string_equal(buf_string(&got), on);
    buf_clear(&got);
    theme_off(&t, STYLE_PATH, &got);
    assert_string_equal(buf_string(&got), on[0] ? "\x1b[0m" : "");
    buf_free(&got);
    free(line);
}

static void looks_become_what_terminals_understand(void **state)
{
    (void)state;
    expect_look("", "");
    expect_look("default", "");
    expect_look("red", "\x1b[31m");
    expect_look("bright-red", "\x1b[91m");
    expect_look("bold underline green", "\x1b[1;4;32m");
    expect_look("208 on 17", "\x1b[38;5;208;48;5;17m");
    expect_look("black on bright-white reverse", "\x1b[7;30;107m");
    expect_look("  dim\titalic \r", "\x1b[2;3m");
}

static void expect_error(const char *text, const char *expected)
{
    struct theme t;
    struct error e;

    assert_false(theme_parse(&t, "my.theme", text, &e));
    assert_string_equal(e.text, expected);
}

static void mistakes_are_told_with_their_line(void **state)
{
    (void)state;
    expect_error("# mine\npaht = red\n", "my.theme:2: nothing is called paht; did you mean path?");
    expect_error("path = crimson", "my.theme:1: neither a colour nor an attribute: crimson");
    expect_error("path = 256", "my.theme:1: neither a colour nor an attribute: 256");
    expect_error("path = red on", "my.theme:1: a colour is missing after on");
    expect_error("\n\npath red", "my.theme:3: write it as MEANING = LOOK");
    expect_error("= red", "my.theme:1: nothing is called ");
}

static void compiled_in_themes_are_whole(void **state)
{
    size_t n = 0;

    (void)state;
    unsetenv("HOME");
    unsetenv("XDG_CONFIG_HOME");
    for (const char *const *name = theme_names(); *name; name++, n++) {
        struct theme t;
        struct error e;
        if (!theme_load(&t, *name, &e))
            fail_msg("%s", e.text);
        /* What no theme may leave plain: the eye looks for these. */
        struct buf bad = {0}, sync = {0};
        theme_on(&t, STYLE_RESULT_BAD, &bad);
        theme_on(&t, STYLE_CALL_SYNC, &sync);
        assert_true(bad.n > 0 && sync.n > 0);
        if (strcmp(*name, "monochrome") == 0) {
            for (int i = 0; i < STYLE_COUNT; i++) {
                assert_int_equal(t.looks[i].colour, COLOUR_DEFAULT);
                assert_int_equal(t.looks[i].background, COLOUR_DEFAULT);
            }
        }
        buf_free(&bad);
        buf_free(&sync);
    }
    assert_int_equal(n, 4);
}

/* Whether a line of the text begins with before, spaces, and then this name as a whole word. */
static bool has_line(const char *text, const char *before, const char *name)
{
    size_t skipped = strlen(before), n = strlen(name);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, before, skipped) != 0)
            continue;
        const char *word = line + skipped + strspn(line + skipped, " ");
        if (strncmp(word, name, n) == 0 && word[n] == ' ')
            return true;
    }
    return false;
}

/* What looks plain says so, by "default": nothing is forgotten when a meaning is added. */
static void themes_name_every_meaning(void **state)
{
    (void)state;
    for (const char *const *name = theme_names(); *name; name++)
        for (int i = 0; i < STYLE_COUNT; i++)
            if (!has_line(theme_text(*name), "", style_name((enum style)i)))
                fail_msg("%s.theme does not name %s", *name, style_name((enum style)i));
}

static void every_meaning_is_explained(void **state)
{
    (void)state;
    for (int i = 0; i < STYLE_COUNT; i++) {
        const char *name = style_name((enum style)i);
        if (!has_line(theme_text("dark"), "#",
                      i >= STYLE_FILE_1 && i <= STYLE_FILE_6 ? "file.1" : name))
            fail_msg("dark.theme does not explain %s", name);
    }
}

static void a_theme_of_ones_own_comes_first(void **state)
{
    char *folder = folder_make();
    struct theme t;
    struct error e;

    (void)state;
    shell(folder, "mkdir -p flotsam/themes && echo 'path = 99' >flotsam/themes/dark.theme");
    setenv("XDG_CONFIG_HOME", folder, 1);
    assert_true(theme_load(&t, "dark", &e));
    assert_int_equal(t.looks[STYLE_PATH].colour, 99);
    assert_true(theme_load(&t, "light", &e));
    assert_false(theme_load(&t, "drak", &e));
    assert_string_equal(
        e.text, "no theme is called drak; there are dark, light, high-contrast, monochrome");
    assert_false(theme_load(&t, "../../etc/passwd", &e));
    unsetenv("XDG_CONFIG_HOME");
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_become_what_terminals_understand),
        cmocka_unit_test(mistakes_are_told_with_their_line),
        cmocka_unit_test(compiled_in_themes_are_whole),
        cmocka_unit_test(themes_name_every_meaning),
        cmocka_unit_test(every_meaning_is_explained),
        cmocka_unit_test(a_theme_of_ones_own_comes_first),
    };

    return cmocka_run_group_tests_name("theme", tests, NULL, NULL);
}
