/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prose in lines: broken at spaces, none too wide but a word that is, nothing lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <string.h>

#include "views/sentence.h"

enum { COLUMNS = 72 };

static void expect_lines(const char *text, const char *const *lines)
{
    struct sentences s = {0};
    struct cell c = {0};
    bool more = true;
    size_t n = 0;

    sentences_add(&s, text);
    for (; lines[n]; n++) {
        cell_clear(&c);
        assert_true(sentences_detail(&s, n, &c, &more));
        assert_true(more);
        assert_string_equal(buf_string(&c.text), lines[n]);
    }
    sentences_detail(&s, n, &c, &more);
    assert_false(more);
    cell_free(&c);
    sentences_free(&s);
}

static void breaks_where_a_line_is_full(void **state)
{
    (void)state;
    expect_lines("short", (const char *const[]){"short", NULL});
    /* 35 + 1 + 36 columns fill a line; one more does not fit. */
    expect_lines(
        "abcdefghijklmnopqrstuvwxyzabcdefghi abcdefghijklmnopqrstuvwxyzabcdefghij x",
        (const char *const[]){
            "abcdefghijklmnopqrstuvwxyzabcdefghi abcdefghijklmnopqrstuvwxyzabcdefghij", "x", NULL});
    expect_lines("abcdefghijklmnopqrstuvwxyzabcdefghij abcdefghijklmnopqrstuvwxyzabcdefghij x",
                 (const char *const[]){"abcdefghijklmnopqrstuvwxyzabcdefghij",
                                       "abcdefghijklmnopqrstuvwxyzabcdefghij x", NULL});
}

static void columns_count_not_bytes(void **state)
{
    struct sentences s = {0};

    (void)state;
    if (!setlocale(LC_ALL, "C.UTF-8"))
        skip();
    sentences_add(&s, "→ → → → → → → → → → → → → → → → → → → → → → → → → → → → → → → → → → → →");
    assert_int_equal(s.lines.n, 1);
    sentences_free(&s);
}

/* Random words: joined again the lines are the text, and no line could have taken the next word. */
static void loses_nothing_and_fills_lines(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (int round = 0; round < 200; round++) {
        struct buf text = {0}, joined = {0};
        struct sentences s = {0};
        for (int word = 0; word < 60; word++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            if (word)
                buf_char(&text, ' ');
            for (uint64_t i = 0; i <= (seed >> 33 & 15) || (word == 7 && i < 100); i++)
                buf_char(&text, (char)('a' + i % 26));
        }
        sentences_add(&s, buf_string(&text));
        for (size_t i = 0; i < s.lines.n; i++) {
            const char *line = s.lines.at[i];
            if (joined.n)
                buf_char(&joined, ' ');
            buf_text(&joined, line);
            assert_true(strlen(line) <= COLUMNS || !strchr(line, ' '));
            if (i + 1 < s.lines.n)
                assert_true(strlen(line) + 1 + strcspn(s.lines.at[i + 1], " ") > COLUMNS);
        }
        assert_string_equal(buf_string(&joined), buf_string(&text));
        sentences_free(&s);
        buf_free(&text);
        buf_free(&joined);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaks_where_a_line_is_full),
        cmocka_unit_test(columns_count_not_bytes),
        cmocka_unit_test(loses_nothing_and_fills_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
