/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/compile.h"

#include "engine/recording.h"
#include "engine/source.h"

struct fixture {
    char *folder, *file;
    struct session *session;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    struct recording *r;
    struct error e;

    f->folder = folder_make();
    f->file = path_in(f->folder, "a.c");
    file_write(f->folder, "a.c", "one\ntwo\r\n\nfour");
    char *path = path_in(f->folder, "s.flotsam");
    if (!recording_create(&r, path, &e))
        fail_msg("%s", e.text);
    recording_meta(r, "cwd", f->folder);
    if (!recording_finish(r, &e) || !session_open(&f->session, path, &e))
        fail_msg("%s", e.text);
    free(path);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    session_close(f->session);
    folder_remove(f->folder);
    free(f->file);
    free(f);
    return 0;
}

static void capture(struct fixture *f, const char *path)
{
    struct error e;

    if (!source_capture(f->session, &path, 1, &e))
        fail_msg("%s", e.text);
}

static void expect_line(const struct source *src, uint32_t line, const char *expected)
{
    size_t n;
    const char *text = source_line(src, line, &n);

    if (!expected) {
        assert_null(text);
        assert_int_equal(n, 0);
        return;
    }
    assert_non_null(text);
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(text, expected, n);
}

static void expect_state(struct fixture *f, const char *path, enum source_state state)
{
    struct source *src = source_open(f->session, path);

    assert_int_equal(source_state(src), state);
    source_close(src);
}

static void lines_are_counted_from_one(void **state)
{
    struct fixture *f = *state;

    capture(f, f->file);
    struct source *src = source_open(f->session, f->file);
    assert_int_equal(source_line_count(src), 4);
    expect_line(src, 0, NULL);
    expect_line(src, 1, "one");
    expect_line(src, 2, "two");
    expect_line(src, 3, "");
    expect_line(src, 4, "four");
    expect_line(src, 5, NULL);
    expect_line(src, UINT32_MAX, NULL);
    source_close(src);
}

static void the_session_says_when_the_file_differs(void **state)
{
    struct fixture *f = *state;

    capture(f, f->file);
    expect_state(f, f->file, SOURCE_SAME);
    shell(f->folder, "touch a.c"); /* newer, but the same text */
    expect_state(f, f->file, SOURCE_SAME);
    shell(f->folder, "echo five >>a.c");
    expect_state(f, f->file, SOURCE_CHANGED);
    struct source *src = source_open(f->session, f->file);
    assert_int_equal(source_line_count(src), 4); /* still the recorded text */
    source_close(src);
    shell(f->folder, "rm a.c");
    expect_state(f, f->file, SOURCE_GONE);
    assert_true(source_state_words(SOURCE_GONE)[0] != 0);
}

static void what_was_not_kept_is_read_from_here(void **state)
{
    struct fixture *f = *state;

    expect_state(f, f->file, SOURCE_LATER);
    shell(f->folder, "rm a.c && mkfifo a.c");
    expect_state(f, f->file, SOURCE_NONE); /* and does not wait for the pipe */
    expect_state(f, "", SOURCE_NONE);
    expect_state(f, "/nowhere/x.c", SOURCE_NONE);
}

static void paths_are_resolved(void **state)
{
    struct fixture *f = *state;

    shell(f->folder, "mkdir sub && ln -s a.c link.c");
    capture(f, "sub/../link.c"); /* from where the program was started */
    struct source *src = source_open(f->session, "sub/../link.c");
    assert_int_equal(source_state(src), SOURCE_SAME);
    assert_string_equal(source_path(src), f->file);
    source_close(src);
}

static void huge_and_missing_files_are_passed_over(void **state)
{
    struct fixture *f = *state;
    struct error e;
    char *huge = path_in(f->folder, "huge.c");
    const char *paths[] = {"/nowhere.c", huge, f->file};

    file_write(f->folder, "huge.c", "");
    assert_int_equal(truncate(huge, SOURCE_FILE_MAX + 1), 0);
    assert_true(source_capture(f->session, paths, 3, &e));
    expect_state(f, huge, SOURCE_NONE);
    expect_state(f, f->file, SOURCE_SAME);
    free(huge);
}

static void an_empty_file_is_a_file(void **state)
{
    struct fixture *f = *state;

    file_write(f->folder, "a.c", "");
    capture(f, f->file);
    struct source *src = source_open(f->session, f->file);
    assert_int_equal(source_state(src), SOURCE_SAME);
    assert_int_equal(source_line_count(src), 0);
    source_close(src);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(lines_are_counted_from_one),
        TEST(the_session_says_when_the_file_differs),
        TEST(what_was_not_kept_is_read_from_here),
        TEST(paths_are_resolved),
        TEST(huge_and_missing_files_are_passed_over),
        TEST(an_empty_file_is_a_file),
    };

    return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
