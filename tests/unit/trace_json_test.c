/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/trace_sample.h"

#include <jansson.h>

#include "views/trace_json.h"

/* The object of an event as a reader of the output gets it. */
static json_t *event_object(struct sample *s, uint64_t number)
{
    struct trace_json *t = trace_json_open(s->session, s->symbols, NULL);
    struct buf text = {0};
    struct error e;

    if (!trace_json_event(t, number, &text, &e))
        fail_msg("%s", e.text);
    for (size_t i = 0; i < text.n; i++)
        assert_true(text.at[i] >= ' ' && text.at[i] < 0x7f);
    json_t *read = json_loads(text.at, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(read);
    buf_free(&text);
    trace_json_close(t);
    return read;
}

static void expect_text(json_t *o, const char *name, const char *expected)
{
    const char *got = json_string_value(json_object_get(o, name));

    assert_non_null(got);
    assert_string_equal(got, expected);
}

static void expect_integer(json_t *o, const char *name, long long expected)
{
    assert_true(json_is_integer(json_object_get(o, name)));
    assert_int_equal(json_integer_value(json_object_get(o, name)), expected);
}

static void a_write_has_the_names_of_the_contract(void **state)
{
    json_t *o = event_object(*state, 2);

    expect_integer(o, "event", 2);
    expect_text(o, "call", "write"); /* the family */
    expect_text(o, "syscall", "pwrite64");
    expect_text(o, "path", "log.tmp");
    expect_integer(o, "offset", 4096);
    expect_integer(o, "size", 7);
    expect_integer(o, "result", 7);
    expect_integer(o, "thread", 1);
    expect_integer(o, "tid", 101);
    expect_integer(o, "fd", 3);
    expect_text(o, "function", "put");
    expect_text(o, "file", "/home/me/s/l.c");
    expect_integer(o, "line", 12);
    json_t *stack = json_object_get(o, "stack");
    assert_int_equal(json_array_size(stack), 3);
    expect_text(json_array_get(stack, 1), "function", "db::Log::save");
    expect_integer(json_array_get(stack, 1), "line", 34);
    json_t *words = json_object_get(o, "words");
    assert_int_equal(json_array_size(words), 1);
    assert_string_equal(json_string_value(json_array_get(words, 0)), "dsync");
    assert_null(json_object_get(o, "text"));
    json_decref(o);
}

static void a_rename_has_both_paths(void **state)
{
    json_t *o = event_object(*state, 5);

    expect_text(o, "call", "rename");
    expect_text(o, "path", "log.tmp");
    expect_text(o, "other_path", "log");
    json_decref(o);
}

static void any_bytes_survive(void **state)
{
    json_t *o = event_object(*state, 6);

    expect_text(o, "error", "ENOENT");
    expect_text(o, "path", "sub/\\x1b[31m\\xff");
    expect_text(o, "path_bytes", "7375622f1b5b33316dff");
    json_decref(o);

    o = event_object(*state, 7);
    expect_text(o, "call", "print");
    expect_text(o, "text", "done \\xff\\n");
    expect_text(o, "text_bytes", "646f6e6520ff0a");
    json_decref(o);
}

static void the_output_is_safe_to_look_at(void **state)
{
    struct sample *s = *state;
    sqlite3 *db;

    /* Valid UTF-8 that a terminal would obey: delete, and a control sequence introducer. */
    assert_int_equal(sqlite3_open(s->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE symbols SET function = 'a' || char(127, 155) || 'b'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    json_t *o = event_object(s, 1); /* looks at every byte */
    expect_text(o, "function",
                "a\x7f\xc2\x9b"
                "b");
    json_decref(o);
}

static void an_unfinished_call_has_no_result(void **state)
{
    json_t *o = event_object(*state, 8);

    assert_true(json_is_null(json_object_get(o, "result")));
    assert_true(json_is_null(json_object_get(o, "exit")));
    assert_true(json_is_true(json_object_get(o, "unfinished")));
    expect_text(o, "function", "");
    assert_int_equal(json_array_size(json_object_get(o, "stack")), 0);
    json_decref(o);
}

static void an_event_that_is_not_there_is_an_error(void **state)
{
    struct sample *s = *state;
    struct trace_json *t = trace_json_open(s->session, s->symbols, NULL);
    struct buf text = {0};
    struct error e;

    assert_false(trace_json_event(t, 0, &text, &e));
    assert_false(trace_json_event(t, 9, &text, &e));
    assert_int_equal(text.n, 0);
    trace_json_close(t);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_set_up, sample_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_write_has_the_names_of_the_contract),
        TEST(a_rename_has_both_paths),
        TEST(any_bytes_survive),
        TEST(the_output_is_safe_to_look_at),
        TEST(an_unfinished_call_has_no_result),
        TEST(an_event_that_is_not_there_is_an_error),
    };

    return cmocka_run_group_tests_name("trace_json", tests, NULL, NULL);
}
