/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the program can be held to at each moment: what it had told by calls that had returned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/told.h"
#include "tests/unit/run_sample.h"

static struct told *tell(struct run *f)
{
    struct told *t;
    struct error e;
    run_end(f);
    if (!told_new(&t, f->s, &e))
        fail_msg("%s", e.text);
    return t;
}

static void mark(struct run *f, const char *text)
{
    run_event(f, (struct event){.call = CALL_MARKER,
                                .size = strlen(text),
                                .payload = recording_payload(f->r, text, strlen(text))});
}

/* recorded: a position as the tests write it down; what is free just before it is the same. */
static void check_until(const struct told *t, uint64_t recorded, const char *printed,
                        const char *markers, size_t count)
{
    uint64_t position = session_position(recorded);
    struct told_until until = told_before(t, position);
    if (recorded && recorded != UINT64_MAX)
        assert_int_equal(told_before(t, position - 1).count, until.count);
    assert_int_equal(until.printed_size, strlen(printed));
    assert_memory_equal(until.printed, printed, until.printed_size);
    assert_int_equal(until.markers_size, strlen(markers));
    assert_memory_equal(until.markers, markers, until.markers_size);
    assert_int_equal(until.count, count);
}

/* Positions: a line is printed in 1 … 2, the marker passed in 3 … 4, another printed in 5 … 6. */
static void it_counts_once_the_call_has_returned(void **state)
{
    struct run *f = *state;
    run_print(f, "a\n");
    mark(f, "half");
    run_print(f, "b\n");
    struct told *t = tell(f);
    check_until(t, 0, "", "", 0);
    check_until(t, 2, "", "", 0);
    check_until(t, 3, "a\n", "", 1);
    check_until(t, 5, "a\n", "half\n", 2);
    check_until(t, 6, "a\n", "half\n", 2);
    check_until(t, UINT64_MAX, "a\nb\n", "half\n", 3);
    assert_int_equal(told_count(t), 3);
    assert_int_equal(told_event(t, 2), 3);
    assert_int_equal(told_position(t, 2), session_position(6));
    told_free(t);
}

static void check_line(struct run *f, uint64_t event, const char *line)
{
    struct buf text = {0};
    struct error e;
    if (!told_line(f->s, event, 16, &text, &e))
        fail_msg("%s", e.text);
    assert_string_equal(buf_string(&text), line);
    buf_free(&text);
}

/* Nobody can be held to half a line; but when nothing follows, it was meant to be one. Between its
 * pieces, other things may be told. */
static void a_line_in_pieces_is_told_with_the_last(void **state)
{
    struct run *f = *state;
    run_print(f, "saved");
    mark(f, "half");
    run_print(f, " 1");
    run_print(f, "\nsa");
    run_print(f, "");
    run_print(f, "ved 2\n");
    run_print(f, "bye");
    struct told *t = tell(f);
    check_until(t, 3, "", "", 1);
    check_until(t, 7, "", "half\n", 3);
    check_until(t, 9, "saved 1\n", "half\n", 4);
    check_until(t, 11, "saved 1\n", "half\n", 5);
    check_until(t, 13, "saved 1\nsaved 2\n", "half\n", 6);
    check_until(t, UINT64_MAX, "saved 1\nsaved 2\nbye", "half\n", 7);
    assert_int_equal(told_before(t, 2).hash, told_before(t, 0).hash);
    assert_int_equal(told_before(t, session_position(7)).hash,
                     told_before(t, session_position(5)).hash);
    check_line(f, 1, "saved");
    check_line(f, 2, "half");
    check_line(f, 3, "saved 1");
    check_line(f, 4, "saved 1\nsa");
    check_line(f, 6, "saved 2\n");
    check_line(f, 7, "bye");
    told_free(t);
}

static void sync_all(struct run *f, uint32_t thread)
{
    struct event v = {
        .call = CALL_SYNC, .thread = thread, .entry = f->position, .exit = f->position + 1};
    f->position += 2;
    recording_end(f->r, recording_begin(f->r, &v), &v);
}

/* Numbers, dots: no newline, and yet each says that something was done. Not so a line that another
 * thread's work falls into, and one that a buffer's end does. */
static void a_piece_is_told_when_the_program_goes_on_with_its_data(void **state)
{
    struct run *f = *state;
    uint32_t other = recording_thread(f->r, 1, 2);
    run_print(f, "1 ");
    sync_all(f, 1);
    run_print(f, "2 ");
    sync_all(f, other);
    run_print(f, "3 ");
    run_event(f, (struct event){.call = CALL_OPEN, .thread = 1, .file = FILE_ROOT});
    run_print(f, "4 ");
    run_event(f, (struct event){.call = CALL_OPEN, .thread = 1, .traits = EVENT_CREATED});
    run_print(f, "");
    sync_all(f, 1);
    struct buf much = {0};
    for (int i = 0; i < 512; i++)
        buf_char(&much, '.');
    run_print(f, buf_string(&much));
    sync_all(f, 1);
    run_print(f, "end");
    struct told *t = tell(f);
    check_until(t, 3, "1 ", "", 1);
    check_until(t, 7, "1 ", "", 2);
    check_until(t, 11, "1 ", "", 3);
    check_until(t, 15, "1 2 3 4 ", "", 4);
    check_until(t, 23, "1 2 3 4 ", "", 6);
    assert_int_equal(told_before(t, UINT64_MAX).printed_size, 8 + 512 + 3);
    buf_free(&much);
    told_free(t);
}

/* As buffers are written that are full: the piece before ends many lines, and begins one. */
static void the_line_is_found_at_the_end_of_a_long_piece(void **state)
{
    struct run *f = *state;
    struct buf much = {0};
    for (int i = 0; i < 1000; i++)
        buf_text(&much, "starting the store\n");
    buf_text(&much, "saved ");
    run_print(f, buf_string(&much));
    run_print(f, "key 7\nand more\n");
    run_end(f);
    check_line(f, 2, "saved key 7\nand ");
    buf_free(&much);
}

/* Dots, as programs print that show how far they are: nothing is gone through again for each. */
static void output_without_newlines_takes_no_longer(void **state)
{
    enum { DOTS = 200000 };
    struct run *f = *state;
    for (int i = 0; i < DOTS; i++)
        run_print(f, ".");
    struct told *t = tell(f);
    assert_int_equal(told_before(t, session_position(2 * DOTS - 1)).printed_size, 0);
    assert_int_equal(told_before(t, UINT64_MAX).printed_size, DOTS);
    told_free(t);
}

/* What a library announces is no line of the program's. */
static void announcements_are_not_told(void **state)
{
    struct run *f = *state;
    mark(f, "mine");
    run_event(f, (struct event){.call = CALL_MARKER,
                                .flags = MARK_TX_BEGIN,
                                .size = 5,
                                .payload = recording_payload(f->r, "begin", 5)});
    struct told *t = tell(f);
    check_until(t, UINT64_MAX, "", "mine\n", 1);
    told_free(t);
}

/* Of two threads that print, the one whose call returns first tells first. */
static void it_is_ordered_by_return(void **state)
{
    struct run *f = *state;
    struct event slow = {
        .call = CALL_PRINT, .thread = 1, .fd = 1, .entry = 1, .exit = 4, .size = 4};
    struct event fast = {
        .call = CALL_PRINT, .thread = 1, .fd = 1, .entry = 2, .exit = 3, .size = 4};
    slow.payload = recording_payload(f->r, "slo\n", 4);
    fast.payload = recording_payload(f->r, "fas\n", 4);
    uint64_t one = recording_begin(f->r, &slow), two = recording_begin(f->r, &fast);
    recording_end(f->r, two, &fast);
    recording_end(f->r, one, &slow);
    struct told *t = tell(f);
    check_until(t, 4, "fas\n", "", 1);
    check_until(t, 5, "fas\nslo\n", "", 2);
    assert_int_equal(told_event(t, 0), two);
    told_free(t);
}

/* Neither standard error, nor a print that failed or never returned. */
static void other_things_are_not_told(void **state)
{
    struct run *f = *state;
    struct event print = {.call = CALL_PRINT, .fd = 2, .size = 1};
    print.payload = recording_payload(f->r, "x", 1);
    run_event(f, print);
    print.fd = 1;
    print.traits = EVENT_FAILED;
    run_event(f, print);
    print.traits = 0;
    print.thread = 1;
    print.entry = f->position++;
    recording_begin(f->r, &print);
    struct told *t = tell(f);
    check_until(t, UINT64_MAX, "", "", 0);
    assert_int_equal(told_before(t, UINT64_MAX).hash, 0);
    told_free(t);
}

/* Equal hashes stand for equal texts: each thing told changes it, printing nothing does not. */
static void the_hash_follows_the_text(void **state)
{
    struct run *f = *state;
    run_print(f, "a\n");
    run_print(f, "");
    mark(f, "");
    mark(f, "a");
    struct told *t = tell(f);
    uint64_t hash[5];
    for (uint64_t i = 0; i < 5; i++)
        hash[i] = told_before(t, session_position(2 * i + 1)).hash;
    assert_int_not_equal(hash[0], hash[1]);
    assert_int_equal(hash[1], hash[2]);
    assert_int_not_equal(hash[2], hash[3]);
    assert_int_not_equal(hash[3], hash[4]);
    check_until(t, UINT64_MAX, "a\n", "\na\n", 4);
    told_free(t);
}

/* Zeros take no room in a session, so a damaged one may claim any number of them. */
static void a_size_that_cannot_be_is_an_error(void **state)
{
    struct run *f = *state;
    struct told *t;
    struct error e;
    run_event(f, (struct event){
                     .call = CALL_PRINT, .fd = 1, .size = UINT64_MAX, .payload = PAYLOAD_ZEROS});
    run_end(f);
    assert_false(told_new(&t, f->s, &e));
    assert_non_null(strstr(e.text, "event 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        run_case(it_counts_once_the_call_has_returned),
        run_case(a_line_in_pieces_is_told_with_the_last),
        run_case(a_piece_is_told_when_the_program_goes_on_with_its_data),
        run_case(the_line_is_found_at_the_end_of_a_long_piece),
        run_case(output_without_newlines_takes_no_longer),
        run_case(announcements_are_not_told),
        run_case(it_is_ordered_by_return),
        run_case(other_things_are_not_told),
        run_case(the_hash_follows_the_text),
        run_case(a_size_that_cannot_be_is_an_error),
    };
    return cmocka_run_group_tests_name("told", tests, NULL, NULL);
}
