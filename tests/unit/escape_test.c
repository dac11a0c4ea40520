/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"

static void check(const char *in, size_t n, int flags, const char *out)
{
    struct buf b = {0};
    escape_add(&b, in, n, flags);
    assert_string_equal(buf_string(&b), out);
    buf_free(&b);
}

#define CHECK(in, flags, out) check(in, sizeof(in) - 1, flags, out)

static void printable_text_passes(void **state)
{
    (void)state;
    CHECK("plain text ~!", ESCAPE_UTF8, "plain text ~!");
    CHECK("Größe → 漢字 é", ESCAPE_UTF8, "Größe → 漢字 é");
    CHECK("e\xcc\x81", ESCAPE_UTF8, "e\xcc\x81"); /* a combining accent */
    CHECK("", ESCAPE_UTF8, "");
}

static void ascii_mode_escapes_the_rest(void **state)
{
    (void)state;
    CHECK("é→", ESCAPE_ASCII, "\\u00e9\\u2192");
    CHECK("\U0001f600", ESCAPE_ASCII, "\\U0001f600");
}

static void controls_are_shown(void **state)
{
    (void)state;
    CHECK("\x1b[31mred", ESCAPE_UTF8, "\\x1b[31mred");
    CHECK("a\nb\tc\r", ESCAPE_UTF8, "a\\nb\\tc\\r");
    CHECK("a\0b", ESCAPE_UTF8, "a\\x00b");
    CHECK("\x7f", ESCAPE_UTF8, "\\x7f");
    CHECK("\xc2\x9b", ESCAPE_UTF8, "\\u009b"); /* the one-character CSI */
    CHECK("a\nb\tc\r", ESCAPE_UTF8 | ESCAPE_KEEP_NEWLINES, "a\nb    c\\r");
}

static void deceiving_characters_are_shown(void **state)
{
    (void)state;
    CHECK("a\u202eb", ESCAPE_UTF8, "a\\u202eb");
    CHECK("\u2066\u2069", ESCAPE_UTF8, "\\u2066\\u2069");
    CHECK("\u200b\ufeff\u00ad", ESCAPE_UTF8, "\\u200b\\ufeff\\u00ad");
    CHECK("\U000e0041", ESCAPE_UTF8, "\\U000e0041");
}

static void invalid_utf8_is_shown_by_bytes(void **state)
{
    (void)state;
    CHECK("\xff\xfe", ESCAPE_UTF8, "\\xff\\xfe");
    CHECK("\xc0\x80", ESCAPE_UTF8, "\\xc0\\x80");                   /* overlong */
    CHECK("\xed\xa0\x80", ESCAPE_UTF8, "\\xed\\xa0\\x80");          /* a surrogate */
    CHECK("\xf4\x90\x80\x80", ESCAPE_UTF8, "\\xf4\\x90\\x80\\x80"); /* past the end */
    CHECK("\xe2\x86", ESCAPE_UTF8, "\\xe2\\x86");                   /* cut short */
    CHECK("\xe2"
          "a",
          ESCAPE_UTF8,
          "\\xe2"
          "a");
}

static void names_show_the_spaces_at_their_ends(void **state)
{
    (void)state;
    CHECK(" ", ESCAPE_UTF8 | ESCAPE_NAME, "\\x20");
    CHECK("  a b c ", ESCAPE_UTF8 | ESCAPE_NAME, "\\x20\\x20a b c\\x20");
    CHECK("a / b/c d", ESCAPE_ASCII | ESCAPE_NAME, "a\\x20/\\x20b/c d");
    CHECK(" a ", ESCAPE_UTF8, " a ");
    CHECK("", ESCAPE_UTF8 | ESCAPE_NAME, "");
}

static void backslashes_double_when_reversible(void **state)
{
    (void)state;
    CHECK("a\\x1b", ESCAPE_UTF8, "a\\x1b");
    CHECK("a\\x1b", ESCAPE_UTF8 | ESCAPE_REVERSIBLE, "a\\\\x1b");
}

/* Whatever goes in, nothing that a terminal obeys comes out. */
static bool harmless(const char *text)
{
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (*s < 0x20 || *s == 0x7f)
            return false;
        if (*s == 0xc2 && s[1] < 0xa0)
            return false; /* C1 */
        if (*s >= 0x80 && *s < 0xc0 && (s == (const unsigned char *)text || s[-1] < 0x80))
            return false; /* a stray byte: C1 in an eight-bit terminal */
    }
    return true;
}

static void random_bytes_come_out_harmless(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "\x1b", "\xc2", "\x9b", "\xe2\x80\xae", "\xf0\x9f", "\x98\x80", "a", "\\", "é", "\xed\xa0"};
    unsigned seed = 1;
    for (int round = 0; round < 20000; round++) {
        struct buf in = {0}, out = {0};
        int n = rand_r(&seed) % 24;
        for (int i = 0; i < n; i++) {
            if (rand_r(&seed) % 2)
                buf_char(&in, (char)rand_r(&seed));
            else
                buf_text(&in, pieces[(size_t)rand_r(&seed) % (sizeof pieces / sizeof *pieces)]);
        }
        int flags = rand_r(&seed) & (ESCAPE_UTF8 | ESCAPE_REVERSIBLE);
        escape_add(&out, in.at, in.n, flags);
        assert_true(harmless(buf_string(&out)));
        for (size_t i = 0; !(flags & ESCAPE_UTF8) && i < out.n; i++)
            assert_true((unsigned char)out.at[i] < 0x80);

        int width = rand_r(&seed) % 12;
        struct buf cut = {0};
        escape_cut(&cut, buf_string(&out), width, flags);
        assert_true(escape_width(buf_string(&cut)) <= width);
        assert_true(harmless(buf_string(&cut)));
        buf_free(&in);
        buf_free(&out);
        buf_free(&cut);
    }
}

static void width_counts_columns(void **state)
{
    (void)state;
    assert_int_equal(escape_width(""), 0);
    assert_int_equal(escape_width("abc"), 3);
    assert_int_equal(escape_width("漢字"), 4);
    assert_int_equal(escape_width("e\xcc\x81"), 1);
}

static void check_cut(const char *in, int width, int flags, const char *out)
{
    struct buf b = {0};
    escape_cut(&b, in, width, flags);
    assert_string_equal(buf_string(&b), out);
    buf_free(&b);
}

static void cut_fits_and_says_so(void **state)
{
    (void)state;
    check_cut("abcdef", 6, ESCAPE_UTF8, "abcdef");
    check_cut("abcdef", 4, ESCAPE_UTF8, "abc…");
    check_cut("abcdef", 4, ESCAPE_ASCII, "ab..");
    check_cut("漢字漢", 4, ESCAPE_UTF8, "漢…"); /* half a wide character does not fit */
    check_cut("e\xcc\x81"
              "e\xcc\x81"
              "e",
              2, ESCAPE_UTF8, "e\xcc\x81…");
    check_cut("abc", 1, ESCAPE_ASCII, "a");
    check_cut("abc", 0, ESCAPE_UTF8, "");
}

static void check_middle(const char *in, int width, int flags, const char *out)
{
    struct buf b = {0};
    escape_cut_middle(&b, in, width, flags);
    assert_string_equal(buf_string(&b), out);
    buf_free(&b);
}

static void paths_are_cut_in_the_middle(void **state)
{
    (void)state;
    check_middle("abcdef", 6, ESCAPE_UTF8, "abcdef");
    check_middle("abcdefgh", 6, ESCAPE_UTF8, "ab…fgh");
    check_middle("abcdefgh", 6, ESCAPE_ASCII, "ab..gh");
    check_middle("abcdefgh", 2, ESCAPE_UTF8, "a…"); /* no room for both ends */
    check_middle("abcdefgh", 0, ESCAPE_UTF8, "");
    check_middle("漢字漢字漢字", 6, ESCAPE_UTF8, "漢…字"); /* half a wide one does not fit */
    check_middle("a漢字b漢字c", 6, ESCAPE_UTF8, "a…字c");
    for (int width = 0; width < 14; width++) {
        struct buf b = {0};
        escape_cut_middle(&b, "a漢e\xcc\x81字bc漢字", width, ESCAPE_UTF8);
        assert_true(escape_width(buf_string(&b)) <= width);
        buf_free(&b);
    }
}

static void check_zeros(const char *bytes, size_t n, const char *out)
{
    char *text = escape_zeros(bytes, n);
    assert_string_equal(text, out);
    free(text);
}

static void zero_bytes_are_told_of(void **state)
{
    static const char page[4096];
    (void)state;
    check_zeros("", 0, "");
    check_zeros("plain\n", 6, "plain\n");
    check_zeros("a\0b", 3, "a\\0b");
    check_zeros("\0\0\0", 3, "\\0\\0\\0");
    check_zeros("\0\0\0\0", 4, "[4 zero bytes]");
    check_zeros("key \0\0\0\0\0 is \0", 14, "key [5 zero bytes] is \\0");
    check_zeros(page, sizeof page, "[4096 zero bytes]");
}

int main(void)
{
    if (!setlocale(LC_ALL, "C.UTF-8"))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printable_text_passes),
        cmocka_unit_test(ascii_mode_escapes_the_rest),
        cmocka_unit_test(controls_are_shown),
        cmocka_unit_test(deceiving_characters_are_shown),
        cmocka_unit_test(invalid_utf8_is_shown_by_bytes),
        cmocka_unit_test(names_show_the_spaces_at_their_ends),
        cmocka_unit_test(backslashes_double_when_reversible),
        cmocka_unit_test(random_bytes_come_out_harmless),
        cmocka_unit_test(width_counts_columns),
        cmocka_unit_test(cut_fits_and_says_so),
        cmocka_unit_test(paths_are_cut_in_the_middle),
        cmocka_unit_test(zero_bytes_are_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
