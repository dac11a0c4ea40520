/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/trace_sample.h"

#include <locale.h>

#include "tui/print.h"
#include "views/trace.h"

/* Prints the sample to a stream and gives what came out; the caller frees. */
static char *print_sample(struct sample *s, struct trace_filter *filter, struct print p)
{
    struct view *v = trace_view(s->session, s->symbols, NULL, filter);
    struct error e;
    char *text = NULL;
    size_t n;

    p.out = open_memstream(&text, &n);
    assert_non_null(p.out);
    if (!print_view(&p, v, &e))
        fail_msg("%s", e.text);
    fclose(p.out);
    v->ops->close(v);
    return text;
}

static void expect_text(struct sample *s, struct trace_filter *filter, struct print p,
                        const char *expected)
{
    char *got = print_sample(s, filter, p);

    assert_string_equal(got, expected);
    free(got);
}

static void events_are_lines(void **state)
{
    /* clang-format off */
    expect_text(*state, NULL, (struct print){0},
"event  thread  call       what                                  result      function  source\n"
"    1       1  openat     log.tmp write create trunc dsync new  3           put       s/l.c:12\n"
"    2       1  pwrite64   log.tmp 4096+7 dsync                  7           put       s/l.c:12\n"
"    3       1  fallocate  log.tmp 0+8192 keep-size punch-hole   0           put       s/l.c:12\n"
"    4       1  fsync      log.tmp                               0           put       s/l.c:12\n"
"    5       1  rename     log.tmp -> log                        0           put       s/l.c:12\n"
"    6       2  unlink     sub/\\x1b[31m\\xff                      ENOENT\n"
"    7       2  print      stdout \"done \\xff\\n\"                  7\n"
"    8       2  sync       everything                            unfinished\n");
    /* clang-format on */
}

static void lines_fit_the_terminal(void **state)
{
    enum { NARROW = 72, WIDEST = 120 };
    char *narrow = print_sample(*state, NULL, (struct print){.width = NARROW});

    assert_non_null(strstr(narrow, "put")); /* the function is narrowed, not lost */
    free(narrow);
    for (size_t width = 1; width < WIDEST; width++) {
        struct print p = {.width = (int)width, .details = true};
        char *got = print_sample(*state, NULL, p);
        for (char *rest = got, *line; (line = strsep(&rest, "\n"));)
            assert_true(strlen(line) <= width); /* ASCII: a byte a column */
        free(got);
    }
}

/* Takes the colours and the blanks at the ends of lines out of a text, in place. */
static void strip_colours(char *text)
{
    char *out = text;

    for (const char *in = text; *in;) {
        if (*in == '\x1b') {
            in += strcspn(in, "m") + 1;
            continue;
        }
        while (*in == '\n' && out > text && out[-1] == ' ')
            out--;
        *out++ = *in++;
    }
    *out = 0;
}

/* Whatever the width, colours change nothing but colours. */
static void colours_take_no_room(void **state)
{
    struct print coloured = {.colour = true, .details = true};
    struct error e;

    if (!theme_load(&coloured.theme, "high-contrast", &e))
        fail_msg("%s", e.text);
    for (int width = 0; width < 120; width++) {
        coloured.width = width;
        char *got = print_sample(*state, NULL, coloured);
        char *plain = print_sample(*state, NULL, (struct print){.width = width, .details = true});
        assert_non_null(strchr(got, '\x1b'));
        strip_colours(got);
        assert_string_equal(got, plain);
        free(got);
        free(plain);
    }
}

static void stacks_show_inlined_functions(void **state)
{
    struct trace_filter f = {.first = 4, .last = 4};

    expect_text(*state, &f, (struct print){.details = true},
                "event  thread  call       what              result  function  source\n"
                "    4       1  fsync      log.tmp           0       put       s/l.c:12\n"
                "        put s/l.c:12 inlined\n"
                "        db::Log::save log.cc:34\n"
                "        main main.c:5\n");
}

/* The numbers of the events that pass, separated by blanks. */
static void expect_rows(struct sample *s, struct trace_filter *f, const char *expected)
{
    struct view *v = trace_view(s->session, s->symbols, NULL, f);
    struct buf forwards = {0}, backwards = {0};
    struct error e;

    for (uint64_t row = 1; v->ops->seek(v, &row, 1, &e) && row; row++)
        buf_printf(&forwards, "%d ", (int)row);
    assert_string_equal(buf_string(&forwards), expected);

    /* The way back meets the same rows. */
    for (uint64_t row = v->ops->count(v); v->ops->seek(v, &row, -1, &e) && row; row--) {
        char *longer = xasprintf("%d %s", (int)row, buf_string(&backwards));
        buf_clear(&backwards);
        buf_text(&backwards, longer);
        free(longer);
    }
    assert_string_equal(buf_string(&backwards), expected);
    buf_free(&forwards);
    buf_free(&backwards);
    v->ops->close(v);
    trace_filter_free(f);
}

static void filters_hide_events(void **state)
{
    struct sample *s = *state;
    struct error e;
    struct trace_filter calls = {0}, range = {0}, open_range = {0};

    expect_rows(s, &(struct trace_filter){0}, "1 2 3 4 5 6 7 8 ");
    expect_rows(s, &(struct trace_filter){.path = "log"}, "5 "); /* the new name counts */
    expect_rows(s, &(struct trace_filter){.path = "*.tmp"}, "1 2 3 4 5 ");
    expect_rows(s, &(struct trace_filter){.path = "sub/*"}, "6 ");
    expect_rows(s, &(struct trace_filter){.thread = 2}, "6 7 8 ");
    expect_rows(s, &(struct trace_filter){.function = "main"}, "1 2 3 4 5 ");
    expect_rows(s, &(struct trace_filter){.function = "save"}, "1 2 3 4 5 ");
    expect_rows(s, &(struct trace_filter){.function = "db::*"}, "1 2 3 4 5 ");
    expect_rows(s, &(struct trace_filter){.function = "nothing"}, "");
    assert_true(trace_filter_calls(&calls, "write,fsync,unlink", &e));
    calls.path = "log*";
    expect_rows(s, &calls, "2 4 ");
    calls = (struct trace_filter){0};
    assert_true(trace_filter_calls(&calls, "pwrite64", &e));
    expect_rows(s, &calls, "2 ");
    assert_true(trace_filter_range(&range, "3..5", &e));
    expect_rows(s, &range, "3 4 5 ");
    assert_true(trace_filter_range(&open_range, "7..", &e));
    expect_rows(s, &open_range, "7 8 ");
    assert_true(trace_filter_range(&open_range, "..2", &e));
    expect_rows(s, &open_range, "1 2 ");
    assert_true(trace_filter_range(&open_range, "8", &e));
    expect_rows(s, &open_range, "8 ");
    assert_true(trace_filter_range(&open_range, "9..18446744073709551615", &e));
    expect_rows(s, &open_range, "");
}

static void wrong_filters_are_told(void **state)
{
    static const char *const ranges[] = {
        "", "..", "x", "5..3", "0", "1..x", "-1", "1...3", "99999999999999999999"};
    struct trace_filter f = {0};
    struct error e;

    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        assert_false(trace_filter_range(&f, ranges[i], &e));
    assert_false(trace_filter_calls(&f, "fsyncc", &e));
    assert_string_equal(e.text, "no call is named fsyncc; did you mean fsync?");
    assert_false(trace_filter_calls(&f, "write,,fsync", &e));
    trace_filter_free(&f);
}

static void the_terminal_gets_no_control_characters(void **state)
{
    char *got = print_sample(*state, NULL, (struct print){.details = true});

    for (const char *p = got; *p; p++)
        assert_true(*p == '\n' || ((unsigned char)*p >= ' ' && *p != 0x7f));
    free(got);
}

static void names_follow_the_locale(void **state)
{
    struct trace_filter f = {.first = 5, .last = 5};

    if (!setlocale(LC_ALL, "C.UTF-8"))
        skip();
    char *got = print_sample(*state, &f, (struct print){0});
    setlocale(LC_ALL, "C");
    assert_non_null(strstr(got, "log.tmp → log"));
    free(got);
}

/* Each cell's spans cover its text, in order. */
static void spans_cover_cells(void **state)
{
    struct sample *s = *state;
    struct view *v = trace_view(s->session, s->symbols, NULL, NULL);
    struct row row = {0};
    struct error e;

    for (uint64_t n = 1; n <= v->ops->count(v); n++) {
        row_clear(&row);
        assert_true(v->ops->draw(v, n, &row, &e));
        for (size_t i = 0; i < VIEW_COLUMNS_MAX; i++) {
            size_t at = 0;
            for (size_t k = 0; k < row.cells[i].spans.n; k++) {
                assert_int_equal(row.cells[i].spans.at[k].begin, at);
                assert_true(row.cells[i].spans.at[k].end > at);
                at = row.cells[i].spans.at[k].end;
            }
            assert_int_equal(at, row.cells[i].text.n);
        }
    }
    assert_false(v->ops->draw(v, v->ops->count(v) + 1, &row, &e));
    row_free(&row);
    v->ops->close(v);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_set_up, sample_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(events_are_lines),
        TEST(lines_fit_the_terminal),
        TEST(colours_take_no_room),
        TEST(stacks_show_inlined_functions),
        TEST(filters_hide_events),
        TEST(wrong_filters_are_told),
        TEST(the_terminal_gets_no_control_characters),
        TEST(names_follow_the_locale),
        TEST(spans_cover_cells),
    };

    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
