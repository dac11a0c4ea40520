/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "tui/screen.h"

static void text_is(const struct screen *s, const char *want)
{
    struct buf got = {0};

    screen_text(s, &got);
    assert_string_equal(buf_string(&got), want);
    buf_free(&got);
}

static void styles_are(const struct screen *s, const char *want)
{
    struct buf got = {0};

    screen_styles(s, &got);
    assert_string_equal(buf_string(&got), want);
    buf_free(&got);
}

static int put(struct screen *s, int row, int column, int end, const char *text)
{
    return screen_put(s, row, column, end, STYLE_PATH, text, strlen(text));
}

static void text_goes_where_it_is_put(void **state)
{
    struct screen s = {0};

    (void)state;
    screen_resize(&s, 10, 3);
    text_is(&s, "\n\n\n");
    assert_int_equal(put(&s, 0, 2, 10, "abc"), 5);
    assert_int_equal(put(&s, 1, 8, 100, "abc"), 10);
    assert_int_equal(put(&s, 2, 0, 2, "abc"), 2);
    text_is(&s, "  abc\n        ab\nab\n");
    /* Outside of the screen nothing happens. */
    put(&s, -1, 0, 10, "x");
    put(&s, 3, 0, 10, "x");
    put(&s, 0, 10, 20, "x");
    put(&s, 0, -5, 10, "x");
    text_is(&s, "  abc\n        ab\nab\n");
    screen_resize(&s, 0, -3);
    assert_int_equal(s.columns, 1);
    assert_int_equal(s.rows, 1);
    screen_free(&s);
}

static void wide_characters_are_whole_or_not_there(void **state)
{
    struct screen s = {0};

    (void)state;
    screen_resize(&s, 6, 1);
    put(&s, 0, 0, 6, "日本語");
    text_is(&s, "日本語\n");
    put(&s, 0, 1, 6, "x"); /* the first loses its right half */
    text_is(&s, " x本語\n");
    put(&s, 0, 2, 6, "y"); /* the second its left one */
    text_is(&s, " xy 語\n");
    screen_clear(&s);
    assert_true(put(&s, 0, 0, 5, "日本語") <= 5); /* the third does not fit */
    text_is(&s, "日本\n");
    screen_free(&s);
}

static void combining_characters_go_with_the_one_before(void **state)
{
    struct screen s = {0};
    struct buf many = {0}, got = {0};

    (void)state;
    screen_resize(&s, 4, 1);
    put(&s, 0, 0, 4, "e\xcc\x81x");
    text_is(&s, "e\xcc\x81x\n");
    screen_clear(&s);
    put(&s, 0, 0, 4, "\xcc\x81z"); /* with nothing before it */
    text_is(&s, "z\n");
    /* As many as there is room for, and what is left is whole. */
    buf_text(&many, "e");
    for (int i = 0; i < 100; i++)
        buf_text(&many, "\xcc\x81");
    buf_text(&many, "!");
    screen_clear(&s);
    put(&s, 0, 0, 4, many.at);
    screen_text(&s, &got);
    assert_int_equal(got.n, 1 + 2 * ((SCREEN_TEXT_MAX - 1) / 2) + 2); /* e, …, ! and the newline */
    assert_int_equal(escape_width(buf_string(&got)) >= 2, true);
    buf_free(&many);
    buf_free(&got);
    screen_free(&s);
}

static void cells_keep_their_styles_and_end_in_an_ellipsis(void **state)
{
    struct screen s = {0};
    struct cell c = {0};

    (void)state;
    screen_resize(&s, 8, 2);
    cell_add(&c, STYLE_NUMBER, "12");
    cell_add(&c, STYLE_PLAIN, " ");
    cell_add(&c, STYLE_PATH, "CURRENT");
    screen_cell(&s, 0, 0, 8, &c, 0);
    text_is(&s, "12 CURR…\n\n");
    screen_clear(&s);
    screen_cell(&s, 0, 0, 8, &c, 2);
    text_is(&s, " CURRENT\n\n");
    screen_clear(&s);
    screen_cell(&s, 0, 1, 4, &c, 0);
    text_is(&s, " 12…\n\n");
    screen_over(&s, 0, 0, 8, STYLE_SELECTED);
    screen_put(&s, 1, 0, 8, STYLE_WARNING, "no", 2);
    struct buf styles = {0};
    screen_styles(&s, &styles);
    assert_non_null(strstr(buf_string(&styles), "1:2-3 number+selected 12\n"));
    assert_non_null(strstr(buf_string(&styles), "2:1-2 warning no\n"));
    buf_free(&styles);
    cell_free(&c);
    screen_free(&s);
}

static void blanks_of_a_style_are_written_down(void **state)
{
    struct screen s = {0};

    (void)state;
    screen_resize(&s, 4, 2);
    styles_are(&s, "");
    screen_blank(&s, 1, 0, 4, STYLE_BAR);
    text_is(&s, "\n\n");
    struct buf styles = {0};
    screen_styles(&s, &styles);
    assert_int_equal(strncmp(buf_string(&styles), "2:1-4 bar", 9), 0);
    buf_free(&styles);
    screen_fill(&s, 0, 1, 3, STYLE_TITLE, GLYPH_HORIZONTAL);
    text_is(&s, " ──\n\n");
    screen_free(&s);
}

/* Whatever is put wherever: each row is as wide as its characters say, and no half is alone. */
static void random_puts_leave_a_sound_screen(void **state)
{
    static const char *const texts[] = {"a",   "日", "e\xcc\x81", "\xcc\x81", "日\xcc\x81本",
                                        "xyz", "😀",  "…"};
    struct screen s = {0};
    uint32_t random = 1;

    (void)state;
    screen_resize(&s, 7, 3);
    for (int i = 0; i < 20000; i++) {
        random = random * 1664525 + 1013904223;
        const char *text = texts[(random >> 8) % 8];
        int row = (int)((random >> 12) % 5) - 1, column = (int)((random >> 16) % 9) - 1;
        put(&s, row, column, (int)((random >> 20) % 10), text);
        for (int r = 0; r < s.rows; r++) {
            for (int c = 0; c < s.columns; c++) {
                const struct screen_cell *cell = &s.cells[r * s.columns + c];
                char whole[SCREEN_TEXT_MAX + 1] = {0};
                memcpy(whole, cell->text, cell->size);
                int width = cell->size ? escape_width(whole) : 0;
                assert_true(cell->size ? width == 1 || width == 2 : c > 0 && cell[-1].size > 0);
                bool half = c + 1 < s.columns && !cell[1].size;
                assert_int_equal(cell->size ? width == 2 : false, half);
            }
        }
    }
    screen_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_goes_where_it_is_put),
        cmocka_unit_test(wide_characters_are_whole_or_not_there),
        cmocka_unit_test(combining_characters_go_with_the_one_before),
        cmocka_unit_test(cells_keep_their_styles_and_end_in_an_ellipsis),
        cmocka_unit_test(blanks_of_a_style_are_written_down),
        cmocka_unit_test(random_puts_leave_a_sound_screen),
    };
    setlocale(LC_ALL, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
