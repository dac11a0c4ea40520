/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The state in hand beside the run without a crash: the tree of files, and one file's lines or
 * bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "engine/walk_states.h"
#include "tests/unit/debug_sample.h"
#include "views/difference.h"
#include "views/difference_inside.h"
#include "views/state.h"

enum { NARROW = 40 };

static struct walk_states *begin(struct debug *d)
{
    struct state_source source = state_session_source(d->analysis->session);
    return walk_states_new(d->walk, d->analysis->graph, &source);
}

typedef bool settle_fn(struct view *v, uint64_t deadline, bool *done, struct error *e);

static const char *settled(struct view *v, settle_fn *settle)
{
    struct error e;
    bool done = false;
    while (!done)
        if (!settle(v, 0, &done, &e))
            fail_msg("%s", e.text);
    return view_text(v);
}

/* --- The tree ------------------------------------------------------------------------------ */

static void what_is_as_expected_and_what_is_missing(void **state)
{
    struct debug *d = *state;
    struct walk_states *states = begin(d);
    struct view *v = state_view(states, d->analysis, d->walk);
    assert_string_equal(view_text(v), "working out the state, 0 %||\n");
    assert_null(state_view_path(v, 1));
    assert_string_equal(settled(v, state_view_settle),
                        "CURRENT|9 B|as expected\nMANIFEST|27 B|as expected\n");
    assert_int_equal(state_view_first(v), 0);
    walk_begin_prefix(d->walk, debug_op(d, 6));
    walk_lose(d->walk, debug_op(d, 2) + 1);
    assert_string_equal(settled(v, state_view_settle),
                        "CURRENT|9 B|as expected\nMANIFEST|13 B|14 B missing, zeros 0+13\n");
    assert_int_equal(view_style(v, 2, "14 B missing"), STYLE_DATA_MISSING);
    assert_string_equal(state_view_path(v, 2), "MANIFEST");
    assert_int_equal(state_view_first(v), 2);
    assert_int_equal(view_subject(v, 1).number, 3);
    assert_int_equal(v->ops->find(v, &(struct subject){SUBJECT_FILE, 2, NULL}), 2);
    v->ops->close(v);
    walk_states_free(states);
}

static void names_that_are_old_or_not_there(void **state)
{
    struct debug *d = *state;
    struct walk_states *states = begin(d);
    struct view *v = state_view(states, d->analysis, d->walk);
    walk_lose(d->walk, debug_op(d, 6));
    assert_string_equal(settled(v, state_view_settle),
                        "CURRENT|-|missing: it is still tmp\nMANIFEST|13 B|14 B missing\n"
                        "tmp|9 B|should be CURRENT\n");
    walk_begin_prefix(d->walk, NO_OP);
    /* What would have been made after the crash is not missing. */
    assert_string_equal(settled(v, state_view_settle),
                        "MANIFEST|-|missing\ntmp|-|missing\nCURRENT|-|not yet\n");
    assert_int_equal(view_style(v, 3, "not yet"), STYLE_OP_UNISSUED);
    assert_int_equal(state_view_first(v), 1);
    assert_string_equal(state_view_path(v, 3), "CURRENT");
    v->ops->close(v);
    walk_states_free(states);
}

/* --- Very many ----------------------------------------------------------------------------- */

enum { MANY = 5000, SCRAMBLE = 2741 }; /* no common divisor */

/* A folder of many files, and names that stand around it in the order of a tree. */
static void record_many(struct debug *d)
{
    static const char *const others[] = {"many-", "many.b", "man", "z"};
    struct recording *r = d->run->r;
    char name[32];
    uint32_t folder = recording_file(r, FILE_DIRECTORY, "many");
    recording_image_file(r, folder, FILE_DIRECTORY, 0755, 0, NULL);
    recording_image_name(r, FILE_ROOT, "many", folder);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%d", i * SCRAMBLE % MANY);
        uint32_t file = recording_file(r, FILE_REGULAR, name);
        recording_image_file(r, file, FILE_REGULAR, 0644, 0, NULL);
        recording_image_name(r, folder, name, file);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        debug_create(d->run, others[i], 0x100);
    debug_analyse(d, "ext4");
}

/* How many slices it takes, each as short as can be, when the states are there. */
static int slices(struct view *v, struct walk_states *states)
{
    struct error e;
    bool done = false;
    int n = 0;
    while (!done)
        assert_true(walk_states_settle(states, 0, &done, &e));
    for (done = false; !done; n++)
        assert_true(state_view_settle(v, 0, &done, &e));
    return n;
}

static void assert_as_anew(struct view *v, struct debug *d, struct walk_states *states)
{
    struct view *fresh = state_view(states, d->analysis, d->walk);
    char *text = xstrdup(settled(fresh, state_view_settle));
    assert_string_equal(view_text(v), text);
    assert_int_equal(state_view_first(v), state_view_first(fresh));
    free(text);
    fresh->ops->close(fresh);
}

/* No slice goes through all names, so that no key waits for that. */
static void many_names_are_compared_in_slices(void **state)
{
    enum { NAMES_A_SLICE = 1024 };
    struct debug *d = *state;
    record_many(d);
    struct walk_states *states = begin(d);
    struct view *v = state_view(states, d->analysis, d->walk);
    int first = slices(v, states);
    assert_in_range(first, 2 * MANY / NAMES_A_SLICE, 3 * MANY);
    assert_int_equal(v->ops->count(v), MANY + 5);
    for (uint64_t row = 2; row <= v->ops->count(v); row++) {
        char *above = xstrdup(state_view_path(v, row - 1));
        assert_true(state_compare_paths(above, state_view_path(v, row)) < 0);
        free(above);
    }
    assert_string_equal(state_view_path(v, 2), "many");
    assert_string_equal(state_view_path(v, MANY + 3), "many-");
    /* The run without a crash is as it was: it is not gone through again. */
    walk_lose(d->walk, debug_op(d, 4));
    assert_in_range(slices(v, states), MANY / NAMES_A_SLICE, first * 3 / 4);
    assert_string_equal(state_view_path(v, state_view_first(v)), "z");
    assert_as_anew(v, d, states);
    v->ops->close(v);
    walk_states_free(states);
}

static void a_step_while_names_are_compared_begins_anew(void **state)
{
    struct debug *d = *state;
    record_many(d);
    struct walk_states *states = begin(d);
    struct view *v = state_view(states, d->analysis, d->walk);
    struct error e;
    int all = slices(v, states);
    for (int cut = 1; cut < all; cut += 29) {
        bool done = false;
        walk_begin_prefix(d->walk, cut % 2 ? NO_OP : debug_op(d, 2)); /* other names of both */
        for (int i = 0; i < cut; i++)
            assert_true(state_view_settle(v, 0, &done, &e));
        assert_non_null(strstr(view_text(v), done ? "many" : " the "));
        walk_begin_run(d->walk);
        walk_lose(d->walk, debug_op(d, 3));
        settled(v, state_view_settle);
        assert_as_anew(v, d, states);
    }
    v->ops->close(v);
    walk_states_free(states);
}

/* --- Names from anywhere ------------------------------------------------------------------- */

static void names_and_contents_are_shown_safely_and_in_order(void **state)
{
    struct debug *d = *state;
    char name[256] = "\x1b[2J\xff\xe6\xbc\xa2";
    memset(name + 8, 'n', 200);
    debug_create(d->run, "b", 0x100);
    uint32_t file = debug_create(d->run, name, 0x100);
    debug_create(d->run, "a.b", 0x100);
    debug_write(d->run, file, name, 0, "\x1b]0;title\x07 text\xff\n", 0x200);
    debug_analyse(d, "ext4");
    struct walk_states *states = begin(d);
    struct view *v = state_view(states, d->analysis, d->walk);
    settled(v, state_view_settle);
    assert_int_equal(strncmp(view_row(v, 1), "\\x1b[2J\\xff", 10), 0);
    assert_string_equal(view_row(v, 2), "a.b|0 B|as expected");
    walk_lose(d->walk, debug_op(d, 4) + 1);
    settled(v, state_view_settle);
    struct view *difference = difference_view(states, state_view_path(v, 1));
    settled(difference, difference_view_settle);
    assert_null(strchr(view_text(difference), '\x1b'));
    difference->ops->close(difference);
    v->ops->close(v);
    walk_states_free(states);
}

/* --- One file ------------------------------------------------------------------------------ */

static void text_is_compared_by_lines(void **state)
{
    struct debug *d = *state;
    struct walk_states *states = begin(d);
    struct view *v = difference_view(states, "MANIFEST");
    assert_string_equal(settled(v, difference_view_settle), "|2 lines the same|\n");
    walk_begin_prefix(d->walk, debug_op(d, 6));
    settled(v, difference_view_settle);
    assert_string_equal(view_text(v), "1|first record|first record\n2|second record|\n");
    assert_int_equal(view_style(v, 1, "first record"), STYLE_DATA_SAME);
    assert_int_equal(view_style(v, 2, "second record"), STYLE_DATA_MISSING);
    difference_view_width(v, NARROW);
    assert_string_equal(view_text(v), "1|  first record\n2|- second record\n");
    v->ops->close(v);
    walk_states_free(states);
}

static void bytes_are_compared_where_it_is_no_text(void **state)
{
    struct debug *d = *state;
    struct walk_states *states = begin(d);
    struct view *v = difference_view(states, "MANIFEST");
    walk_lose(d->walk, debug_op(d, 2) + 1); /* and with it the second: zeros, of full length */
    settled(v, difference_view_settle);
    assert_string_equal(view_row(v, 1),
                        "0|66 69 72 73 74 20 72 65  first re|00 00 00 00 00 00 00 00  ........");
    assert_int_equal(view_style(v, 1, "66"), STYLE_DATA_MISSING);
    assert_int_equal(view_style(v, 1, "00"), STYLE_DATA_OTHER);
    assert_int_equal(v->ops->count(v), 4);
    difference_view_width(v, NARROW);
    assert_int_equal(v->ops->count(v), 8);
    assert_string_equal(view_row(v, 1), "0|- 66 69 72 73 74 20 72 65  first re");
    assert_string_equal(view_row(v, 2), "0|+ 00 00 00 00 00 00 00 00  ........");
    assert_string_equal(view_row(v, 7), "24|- 72 64 0a                 rd.");
    v->ops->close(v);
    walk_states_free(states);
}

/* Blocks that are the same are one row, however many; every row can be drawn either way. */
static void large_files_are_compared_by_blocks(void **state)
{
    struct debug *d = *state;
    enum { BLOCKS = 80 };
    char *block = xcalloc(4097, 1);
    memset(block, 'b', 4096);
    uint32_t file = debug_create(d->run, "big", 0x100);
    for (int i = 0; i < BLOCKS; i++)
        debug_write(d->run, file, "big", (uint64_t)i * 4096, block, 0x200);
    run_sync(d->run);
    uint64_t changed = debug_write(d->run, file, "big", 40 * 4096 + 16, "changed\1\2", 0x200);
    debug_analyse(d, "ext4");
    struct walk_states *states = begin(d);
    struct view *v = difference_view(states, "big");
    assert_string_equal(settled(v, difference_view_settle), "0|80 blocks the same|\n");
    walk_lose(d->walk, debug_op(d, changed));
    settled(v, difference_view_settle);
    assert_string_equal(
        view_text(v), "0|163856 bytes the same|\n"
                      "163856|63 68 61 6e 67 65 64 01  changed.|62 62 62 62 62 62 62 62  bbbbbbbb\n"
                      "163864|02 62 62 62 62 62 62 62  .bbbbbbb|62 62 62 62 62 62 62 62  bbbbbbbb\n"
                      "163872|163808 bytes the same|\n");
    difference_view_width(v, NARROW);
    assert_int_equal(v->ops->count(v), 6);
    assert_string_equal(view_row(v, 6), "163872|163808 bytes the same");
    v->ops->close(v);
    walk_states_free(states);
    free(block);
}

static void a_file_that_is_not_there_says_so(void **state)
{
    struct debug *d = *state;
    struct walk_states *states = begin(d);
    struct view *v = difference_view(states, "nowhere");
    assert_string_equal(view_text(v), "|comparing, 0 %|\n");
    assert_string_equal(settled(v, difference_view_settle), "|not there, and not expected|\n");
    v->ops->close(v);
    v = difference_view(states, "CURRENT");
    walk_lose(d->walk, debug_op(d, 6));
    assert_string_equal(settled(v, difference_view_settle), "1|MANIFEST|\n");
    v->ops->close(v);
    walk_states_free(states);
}

/* --- Lines, by chance ---------------------------------------------------------------------- */

static void random_text(struct text_side *t, unsigned *seed)
{
    struct buf text = {0};
    for (int n = rand_r(seed) % 12; n > 0; n--)
        buf_printf(&text, "%c\n", 'a' + rand_r(seed) % 3);
    *t = (struct text_side){.bytes = xstrndup(buf_string(&text), text.n), .n = text.n};
    text_split(t);
    buf_free(&text);
}

/* Put together again, the rows are both texts; and what is called the same is. */
static void rows_of_lines_hold_both_texts(void **state)
{
    unsigned seed = 4;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct text_side whole, hand;
        struct text_rows rows = {0};
        uint32_t i = 0, k = 0;
        random_text(&whole, &seed);
        random_text(&hand, &seed);
        text_compare(&whole, &hand, round % 2, &rows);
        for (size_t r = 0; r < rows.at.n; r++) {
            const struct text_row *row = &rows.at.at[r];
            for (uint32_t s = 0; s < row->skipped; s++, i++, k++)
                assert_int_equal(whole.bytes[whole.lines.at[i]], hand.bytes[hand.lines.at[k]]);
            if (row->whole != NO_TEXT)
                assert_int_equal(row->whole, i++);
            if (row->hand != NO_TEXT)
                assert_int_equal(row->hand, k++);
        }
        assert_int_equal(i, whole.lines.n - 1);
        assert_int_equal(k, hand.lines.n - 1);
        vec_free(&rows.at);
        free(whole.bytes);
        free(hand.bytes);
        vec_free(&whole.lines);
        vec_free(&hand.lines);
    }
}

#define own_case(function) cmocka_unit_test_setup_teardown(function, debug_begin, debug_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        debug_case(what_is_as_expected_and_what_is_missing),
        debug_case(names_that_are_old_or_not_there),
        own_case(many_names_are_compared_in_slices),
        own_case(a_step_while_names_are_compared_begins_anew),
        own_case(names_and_contents_are_shown_safely_and_in_order),
        debug_case(text_is_compared_by_lines),
        debug_case(bytes_are_compared_where_it_is_no_text),
        own_case(large_files_are_compared_by_blocks),
        debug_case(a_file_that_is_not_there_says_so),
        cmocka_unit_test(rows_of_lines_hold_both_texts),
    };
    setlocale(LC_ALL, "C");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
