/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What stores wrote, kept with a session: it comes back as it was, and damage does no harm. How it
 * is found is tested by types_test.c and, on real programs, by tests/cli.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "engine/fields_inside.h"
#include "engine/types.h"
#include "tests/unit/run_sample.h"

static uint32_t add_text(struct fields *f, const char *text)
{
    vec_push(&f->text_at, f->texts.n);
    buf_add(&f->texts, text, strlen(text) + 1);
    return (uint32_t)f->text_at.n;
}

/* struct entry { uint32_t key; char name[4]; int64_t value; } twice, and stores to it. */
static void make_fields(struct fields *f, size_t stores)
{
    const struct field_leaf leaves[] = {
        {.offset = 0, .size = 4, .kind = TYPE_UNSIGNED, .path = add_text(f, "key")},
        {.offset = 4, .size = 4, .kind = TYPE_ARRAY, .path = add_text(f, "name")},
        {.offset = 8, .size = 8, .kind = TYPE_SIGNED, .path = add_text(f, "value")}};
    for (size_t i = 0; i < 3; i++)
        vec_push(&f->leaves, leaves[i]);
    vec_push(&f->types, (struct field_type){16, add_text(f, "entry"), 0, 3});
    uint32_t path = add_text(f, "value"), words = add_text(f, "value = -7");
    for (uint64_t i = 0; i < stores; i++)
        vec_push(&f->stores, (struct stored_field){.event = 2 * i + 1,
                                                   .instance = 16 * i + 1,
                                                   .outer_instance = 1,
                                                   .member = 8,
                                                   .type = 1,
                                                   .outer = 1,
                                                   .path = path,
                                                   .words = words,
                                                   .confidence = TYPE_EXACT});
}

static struct session *empty_session(struct run *f)
{
    struct error e;
    run_event(f, (struct event){.call = CALL_FENCE, .flags = FENCE_SFENCE});
    run_end(f);
    assert_true(session_set_meta(f->s, "backend", "valgrind", &e));
    session_close(f->s);
    assert_true(session_open(&f->s, f->path, &e));
    return f->s;
}

static void comes_back(void **state)
{
    enum { STORES = 10000 }; /* several pieces */
    struct session *s = empty_session(*state);
    struct fields kept = {0}, loaded = {0};
    struct error e;
    const struct field_leaf *leaves;
    struct buf words = {0};
    make_fields(&kept, STORES);
    assert_int_equal(fields_load(&loaded, s, &e), FIELDS_ABSENT);
    assert_true(fields_keep(&kept, s, &e));
    assert_int_equal(fields_load(&loaded, s, &e), FIELDS_LOADED);
    assert_int_equal(fields_count(&loaded), STORES);
    assert_memory_equal(loaded.stores.at, kept.stores.at, STORES * sizeof *kept.stores.at);
    const struct stored_field *store = fields_of(&loaded, 2 * 777 + 1);
    assert_non_null(store);
    assert_int_equal(store->instance, 16 * 777 + 1);
    assert_string_equal(fields_text(&loaded, store->words), "value = -7");
    assert_string_equal(fields_type_name(&loaded, store->type), "entry");
    assert_null(fields_of(&loaded, 2));
    assert_null(fields_of(&loaded, 2 * STORES + 1));
    assert_int_equal(fields_leaves(&loaded, 1, &leaves), 3);
    const unsigned char object[] = {5,    0,   0,   0,   'a', 'b', 0,   0,
                                    0xf9, 255, 255, 255, 255, 255, 255, 255};
    for (size_t i = 0; i < 3; i++) {
        field_leaf_words(&words, &leaves[i], object);
        buf_char(&words, ' ');
    }
    assert_string_equal(buf_string(&words), "5 \"ab\" -7 ");
    buf_free(&words);
    fields_clear(&kept);
    fields_clear(&loaded);
}

/* A session without the program's binaries: nothing is known, and that is kept. */
static void nothing_known_is_no_failure(void **state)
{
    struct session *s = empty_session(*state);
    struct symbols *symbols = symbols_open(s);
    struct fields *f;
    struct error e;
    assert_true(fields_open(&f, s, symbols, NULL, &e));
    assert_int_equal(fields_count(f), 0);
    assert_null(fields_of(f, 1));
    assert_null(fields_of(NULL, 1));
    fields_close(f);
    symbols_close(symbols);
}

static void look_at_all(const struct fields *f)
{
    const struct field_leaf *leaves;
    for (uint64_t i = 0; i < 100; i++) {
        const struct stored_field *store = fields_of(f, i);
        if (store)
            assert_true(strlen(fields_text(f, store->words)) < f->texts.n + 1);
    }
    for (uint32_t t = 0; t <= fields_type_count(f) + 1; t++)
        fields_leaves(f, t, &leaves);
}

/* Numbers that lead nowhere, and pieces that are not what they say. */
static void damage_is_found(void **state)
{
    static const char *const harm[] = {
        "UPDATE fields SET size = size - 1 WHERE part = 'stores'",
        "UPDATE fields SET size = 262145 WHERE part = 'texts'",
        "UPDATE fields SET size = -1",
        "DELETE FROM fields WHERE part = 'types'",
        "UPDATE fields SET bytes = x'00'",
        ("UPDATE fields SET bytes = (SELECT bytes FROM fields WHERE part = 'texts')"
         " WHERE part = 'leaves'"),
    };
    struct session *s = empty_session(*state);
    struct error e;
    for (size_t i = 0; i < sizeof harm / sizeof *harm + 5; i++) {
        struct fields kept = {0}, loaded = {0};
        make_fields(&kept, 40);
        switch (i) {
        case 0:
            kept.stores.at[7].type = 2;
            break;
        case 1:
            kept.stores.at[7].event = 3;
            break;
        case 2:
            kept.types.at[0].count = 4;
            break;
        case 3:
            kept.leaves.at[1].kind = 99;
            break;
        case 4:
            kept.texts.at[kept.texts.n - 1] = 'x';
            break;
        }
        assert_true(fields_keep(&kept, s, &e));
        if (i >= 5)
            assert_int_equal(sqlite3_exec(session_db(s), harm[i - 5], NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(fields_load(&loaded, s, &e), FIELDS_DAMAGED);
        fields_clear(&kept);
        fields_clear(&loaded);
    }
}

/* Texts are looked up by number wherever they are used. */
static void wrong_numbers_of_texts_are_empty(void **state)
{
    struct session *s = empty_session(*state);
    struct fields kept = {0}, loaded = {0};
    struct error e;
    make_fields(&kept, 40);
    kept.stores.at[3].words = 1000000;
    kept.types.at[0].name = UINT32_MAX;
    assert_true(fields_keep(&kept, s, &e));
    assert_int_equal(fields_load(&loaded, s, &e), FIELDS_LOADED);
    assert_string_equal(fields_type_name(&loaded, 1), "");
    look_at_all(&loaded);
    fields_clear(&kept);
    fields_clear(&loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        run_case(comes_back),
        run_case(nothing_known_is_no_failure),
        run_case(damage_is_found),
        run_case(wrong_numbers_of_texts_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
