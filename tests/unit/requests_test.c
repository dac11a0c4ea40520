/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What people type and press: the table of requests, keys and their names, words.
 */
#include <ctype.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/mem.h"
#include "tui/keymap.h"
#include "tui/keys.h"
#include "tui/requests.h"
#include "tui/words.h"

/* ---- the table ---- */

static void each_request_is_whole(void **state)
{
    (void)state;
    for (int r = 0; r < REQUEST_COUNT; r++) {
        const struct request_info *info = request_info((enum request)r);
        assert_true(info->name[0] && info->help[0]);
        assert_non_null(info->run);
        assert_true(info->section < SECTION_COUNT);
        assert_true(request_section_title(info->section)[0]);
        for (const char *c = info->name; *c; c++)
            assert_true(islower((unsigned char)*c) || *c == '-');
        /* Help reads on after the name: no capital, no full stop. */
        assert_false(isupper((unsigned char)info->help[0]));
        assert_true(info->help[strlen(info->help) - 1] != '.');
        for (int other = 0; other < r; other++)
            assert_string_not_equal(info->name, request_info((enum request)other)->name);
    }
}

static void each_request_is_found_by_its_name(void **state)
{
    struct error e;

    (void)state;
    for (int r = 0; r < REQUEST_COUNT; r++) {
        const char *name = request_info((enum request)r)->name;
        assert_int_equal(request_find(name, strlen(name), &e), r);
    }
    assert_int_equal(request_find("behav", 5, &e), REQUEST_behaviours);
    assert_int_equal(request_find("state", 5, &e), REQUEST_state); /* states begins so too */
    assert_int_equal(request_find("b", 1, &e), REQUEST_COUNT);
    assert_non_null(strstr(e.text, "b could be"));
    assert_int_equal(request_find("bgus", 4, &e), REQUEST_COUNT);
    assert_non_null(strstr(e.text, "bugs"));
    assert_int_equal(request_find("", 0, &e), REQUEST_COUNT);
}

/* ---- keys ---- */

static void each_key_means_one_thing(void **state)
{
    struct keymap k;

    (void)state;
    keymap_init(&k);
    for (int r = 0; r < REQUEST_COUNT; r++) {
        const char *keys = request_info((enum request)r)->keys;
        char *name;
        while ((name = words_next(&keys))) {
            uint32_t key = key_find(name, strlen(name));
            if (key == TYPED_NOTHING)
                fail_msg("no key is called %s", name);
            /* A key that two requests claim has gone to the other. */
            if (strcmp(keymap_get(&k, key), request_info((enum request)r)->name) != 0)
                fail_msg("%s is claimed by %s and %s", name, keymap_get(&k, key),
                         request_info((enum request)r)->name);
            free(name);
        }
    }
    keymap_free(&k);
}

static void keys_and_names_go_both_ways(void **state)
{
    static const char *const names[] = {
        "s",   "S", "Space", "Tab", "Enter", "Escape", "C-l",       "C-b", "PgDn", "BackTab", "F1",
        "F12", "/", "\\",    "é",   "日",    "[",      "Backspace", "Up",  "Home", "0"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct buf back = {0};
        uint32_t key = key_find(names[i], strlen(names[i]));
        assert_true(key != TYPED_NOTHING);
        key_add_name(key, &back);
        assert_string_equal(buf_string(&back), names[i]);
        buf_free(&back);
    }
    assert_int_equal(key_find("pgdn", 4), TYPED_PAGE_DOWN);
    assert_int_equal(key_find("Hyper-x", 7), TYPED_NOTHING);
    assert_int_equal(key_find("", 0), TYPED_NOTHING);
    assert_int_equal(key_find("\xff", 1), TYPED_NOTHING);
    /* Every key has a name that is safe to show. */
    for (uint32_t key = 1; key < TYPED_LAST; key += key < 300 ? 1 : 997) {
        struct buf name = {0};
        key_add_name(key, &name);
        assert_true(name.n > 0);
        for (size_t c = 0; c < name.n; c++)
            assert_true((unsigned char)name.at[c] >= ' ' && name.at[c] != 0x7f);
        buf_free(&name);
    }
}

static void keys_can_be_bound_otherwise(void **state)
{
    struct keymap k;
    struct buf keys = {0};

    (void)state;
    keymap_init(&k);
    assert_string_equal(keymap_get(&k, '1'), "overview");
    assert_null(keymap_get(&k, TYPED_F12));
    keymap_set(&k, TYPED_F12, "go event:3");
    assert_string_equal(keymap_get(&k, TYPED_F12), "go event:3");
    keymap_set(&k, TYPED_F11, "overview");
    keymap_keys(&k, REQUEST_overview, &keys);
    assert_string_equal(buf_string(&keys), "1 F11");
    keymap_set(&k, '1', "");
    assert_null(keymap_get(&k, '1'));
    buf_clear(&keys);
    keymap_keys(&k, REQUEST_overview, &keys);
    assert_string_equal(buf_string(&keys), "F11");
    keymap_set(&k, TYPED_F11, "bugs");
    buf_clear(&keys);
    keymap_keys(&k, REQUEST_overview, &keys);
    assert_string_equal(buf_string(&keys), "");
    buf_free(&keys);
    keymap_free(&k);
}

/* ---- words ---- */

static void words_come_one_by_one(void **state)
{
    const char *line = "  duplicate \t 3  ";
    char *word;

    (void)state;
    word = words_next(&line);
    assert_string_equal(word, "duplicate");
    free(word);
    assert_string_equal(line, "3  ");
    word = words_next(&line);
    assert_string_equal(word, "3");
    free(word);
    assert_null(words_next(&line));
    assert_null(words_next(&line));
}

static void numbers_are_whole(void **state)
{
    static const char *const wrong[] = {
        "-1", "+1", "1x", "x", "0x10", "1.5", " 1", "1 ", "99999999999999999999999"};
    uint64_t n;
    struct error e;

    (void)state;
    assert_true(words_number("", 7, "a number", &n, &e));
    assert_int_equal(n, 7);
    assert_true(words_number("0042", 7, "a number", &n, &e));
    assert_int_equal(n, 42);
    assert_true(words_number("18446744073709551615", 7, "a number", &n, &e));
    assert_true(n == UINT64_MAX);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(words_number(wrong[i], 7, "a number of rows", &n, &e));
        assert_non_null(strstr(e.text, "is not a number of rows"));
    }
}

static void subjects_are_named_with_their_numbers(void **state)
{
    struct subject s;

    (void)state;
    for (int kind = SUBJECT_EVENT; kind <= SUBJECT_FILE; kind++) {
        const char *name = subject_kind_name((enum subject_kind)kind);
        char *text = xasprintf("%s:12", name);
        assert_true(words_subject(text, SUBJECT_NONE, &s));
        assert_int_equal(s.kind, kind);
        assert_int_equal(s.number, 12);
        free(text);
    }
    assert_true(words_subject("5", SUBJECT_OP, &s));
    assert_int_equal(s.kind, SUBJECT_OP);
    assert_int_equal(s.number, 5);
    assert_false(words_subject("5", SUBJECT_NONE, &s));
    assert_false(words_subject("op", SUBJECT_OP, &s));
    assert_false(words_subject("op:", SUBJECT_OP, &s));
    assert_false(words_subject("op:x", SUBJECT_OP, &s));
    assert_false(words_subject("ops:3", SUBJECT_OP, &s));
    assert_false(words_subject(":3", SUBJECT_OP, &s));
    assert_false(words_subject("store.c:60", SUBJECT_OP, &s));
}

/* --- The editor ---------------------------------------------------------------------------- */

static void an_editor_without_a_name_is_none(void **state)
{
    (void)state;
    setenv("EDITOR", "ed", 1);
    unsetenv("VISUAL");
    assert_string_equal(words_editor(), "ed");
    setenv("VISUAL", "", 1);
    assert_string_equal(words_editor(), "ed");
    setenv("VISUAL", "vi", 1);
    assert_string_equal(words_editor(), "vi");
    setenv("VISUAL", "", 1);
    setenv("EDITOR", "", 1);
    assert_null(words_editor());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_is_whole),
        cmocka_unit_test(each_request_is_found_by_its_name),
        cmocka_unit_test(each_key_means_one_thing),
        cmocka_unit_test(keys_and_names_go_both_ways),
        cmocka_unit_test(keys_can_be_bound_otherwise),
        cmocka_unit_test(words_come_one_by_one),
        cmocka_unit_test(numbers_are_whole),
        cmocka_unit_test(an_editor_without_a_name_is_none),
        cmocka_unit_test(subjects_are_named_with_their_numbers),
    };
    setlocale(LC_ALL, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
