/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How stores and objects read, and what is known of memory.
 */
#include "tests/unit/compile.h"

#include "engine/type_address.h"
#include "engine/type_resolve.h"
#include "engine/type_words.h"

static const char program[] =
    "#include <stdbool.h>\n"
    "#include <stdint.h>\n"
    "enum color { RED = 1, GREEN = 2, BLUE = -1 };\n"
    "struct entry { uint32_t key; char name[8]; bool valid; int8_t small; enum color color; };\n"
    "struct table { double load; struct entry entry[4]; struct table *next;\n"
    "    unsigned dirty : 1, level : 5; float ratio; union { int a; float b; } u; char c;\n"
    "    unsigned char raw[64]; };\n"
    "struct other { uint64_t a, b; };\n"
    "struct outer { uint32_t n; struct table tables[2]; };\n"
    "struct open { uint32_t n; struct entry entry[]; };\n"
    "struct table table; struct other other; struct outer outer; struct open open;\n"
    "int main(void) { return (int)outer.n; }\n";

struct fixture {
    char *folder;
    struct binary *binary;
    struct type_info *info;
    struct type *table, *entry, *other, *outer, *open;
};

static struct type *find_type(struct fixture *f, const char *tag)
{
    Dwarf_Die *unit = NULL, child;
    Dwarf_Addr bias;

    while ((unit = dwfl_module_nextcu(f->binary->module, unit, &bias))) {
        if (dwarf_child(unit, &child) != 0)
            continue;
        do {
            struct type *t = dwarf_tag(&child) == 0x13 /* DW_TAG_structure_type */
                                 ? type_of_die(f->info, &child)
                                 : NULL;
            if (t && strcmp(t->tag, tag) == 0)
                return t;
        } while (dwarf_siblingof(&child, &child) == 0);
    }
    fail_msg("no struct %s", tag);
    return NULL;
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    struct error why;

    f->folder = folder_make();
    file_write(f->folder, "prog.c", program);
    shell(f->folder, "cc -g -o prog prog.c");
    char *path = path_in(f->folder, "prog");
    f->binary = binary_open(path, "", 0, BINARY_LINES, &why);
    assert_non_null(f->binary);
    free(path);
    f->info = type_info_open(f->binary);
    f->table = find_type(f, "table");
    f->entry = find_type(f, "entry");
    f->other = find_type(f, "other");
    f->outer = find_type(f, "outer");
    f->open = find_type(f, "open");
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    type_info_close(f->info);
    binary_close(f->binary);
    folder_remove(f->folder);
    free(f);
    return 0;
}

/* The layout that the program above has. */
enum {
    ENTRY = 20,
    TABLE_ENTRY = 8,
    TABLE_NEXT = 88,
    TABLE_BITS = 96,
    TABLE_RATIO = 100,
    TABLE_UNION = 104,
    TABLE_C = 108,
    TABLE_RAW = 109,
    TABLE = 176,
    BASE = 0x1000
};

static void expect_words(struct type *t, uint64_t offset, const void *bytes, size_t n,
                         const void *before, const char *expected)
{
    struct type_answer a = {.confidence = TYPE_EXACT,
                            .type = t,
                            .outer = t,
                            .instance = BASE,
                            .outer_instance = BASE,
                            .path = ""};
    struct buf out = {0};

    assert_true(types_store_words(&a, BASE + offset, n, bytes, before, &out));
    assert_string_equal(buf_string(&out), expected);
    buf_free(&out);
}

static void values_are_shown_by_type(void **state)
{
    struct fixture *f = *state;
    struct type *t = f->table;
    uint64_t at = TABLE_ENTRY + 3 * ENTRY;

    expect_words(t, at, &(uint32_t){7}, 4, NULL, "entry[3].key = 7");
    expect_words(t, at + 4, "ab\0\0\0\0\0", 8, NULL, "entry[3].name = \"ab\"");
    expect_words(t, at + 4, "a\nb\"\0\0\0", 8, NULL, "entry[3].name = \"a\\nb\"\"");
    expect_words(t, at + 12, &(uint8_t){1}, 1, NULL, "entry[3].valid = true");
    expect_words(t, at + 12, &(uint8_t){3}, 1, NULL, "entry[3].valid = 3");
    expect_words(t, at + 13, &(int8_t){-5}, 1, NULL, "entry[3].small = -5");
    expect_words(t, at + 16, &(int32_t){2}, 4, NULL, "entry[3].color = GREEN");
    expect_words(t, at + 16, &(int32_t){-1}, 4, NULL, "entry[3].color = BLUE");
    expect_words(t, at + 16, &(int32_t){9}, 4, NULL, "entry[3].color = 9");
    expect_words(t, 0, &(double){0.5}, 8, NULL, "load = 0.5");
    expect_words(t, TABLE_RATIO, &(float){-1.25f}, 4, NULL, "ratio = -1.25");
    expect_words(t, TABLE_NEXT, &(uint64_t){0}, 8, NULL, "next = NULL");
    expect_words(t, TABLE_NEXT, &(uint64_t){0x1234}, 8, NULL, "next = 0x1234");
    expect_words(t, TABLE_UNION, &(uint32_t){0x01020304}, 4, NULL, "u = 04 03 02 01");
    expect_words(t, TABLE_C, "x", 1, NULL, "c = 'x'");
}

static void several_fields_are_named_and_those_that_stayed_are_not(void **state)
{
    struct fixture *f = *state;
    struct type *t = f->table;
    unsigned char was[2] = {0x03, 0}, is[2] = {0x05, 0};

    expect_words(t, TABLE_ENTRY + 12, "\1\2", 2, NULL, "entry[0].valid = true, entry[0].small = 2");
    expect_words(t, TABLE_ENTRY + 12, "\1\2", 2, "\1\3", "entry[0].small = 2");
    expect_words(t, TABLE_ENTRY + 12, "\1\2", 2, "\1\2",
                 "entry[0].valid = true, entry[0].small = 2");
    expect_words(t, TABLE_BITS, is, 1, NULL, "dirty = 1, level = 2");
    expect_words(t, TABLE_BITS, is, 1, was, "level = 2");
    expect_words(f->other, 0, "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0", 16, NULL, "a = 1, b = 2");
    expect_words(f->other, 4, "\1\0\0", 4, NULL, "a = 01 00 00 00"); /* a part of a field */
}

static void a_field_of_an_unknown_element_is_named_all_the_same(void **state)
{
    struct fixture *f = *state;
    struct type_answer a = {
        .confidence = TYPE_BY_FIELD, .type = f->table, .outer = f->table, .path = "raw[]"};
    const struct type_field *fields;
    struct buf out = {0};

    a.field = type_fields(f->other, &fields) ? fields[0].type : NULL;
    assert_true(types_store_words(&a, BASE, 8, &(uint64_t){6}, NULL, &out));
    assert_string_equal(buf_string(&out), "raw[] = 6");
    a.type = NULL;
    assert_false(types_store_words(&a, BASE, 8, &(uint64_t){6}, NULL, &out));
    buf_free(&out);
}

static bool list_leaf(void *data, const struct type_leaf *leaf)
{
    buf_printf(data, "%lu+%lu %s\n", (unsigned long)leaf->offset, (unsigned long)leaf->size,
               leaf->type ? leaf->path : "-");
    return true;
}

static void objects_are_walked_field_by_field(void **state)
{
    struct fixture *f = *state;
    struct buf out = {0};

    assert_true(type_walk(f->entry, 0, f->entry->size, list_leaf, &out));
    assert_string_equal(buf_string(&out), "0+4 key\n4+8 name\n12+1 valid\n13+1 small\n14+2 -\n"
                                          "16+4 color\n");
    buf_clear(&out);
    assert_true(type_walk(f->outer, 8 + TABLE + TABLE_ENTRY + 1, 8 + TABLE + TABLE_ENTRY + 5,
                          list_leaf, &out));
    assert_string_equal(buf_string(&out), "192+4 tables[1].entry[0].key\n"
                                          "196+8 tables[1].entry[0].name\n");
    buf_free(&out);
}

/* --- Forms ---------------------------------------------------------------------------------- */

static struct value form(struct type *t, int64_t offset, int64_t stride)
{
    struct value v = value_pointer(t, offset);

    return stride ? value_add(v, value_scale(value_symbol(SYMBOL_FREE), stride, 0), 0) : v;
}

static void expect_spot(struct value v, uint64_t size, const char *holder, const char *path)
{
    struct type_spot s;

    if (!holder) {
        assert_false(spot_of_value(&v, size, FIT_WHOLE, &s));
        return;
    }
    assert_true(spot_of_value(&v, size, FIT_WHOLE, &s));
    assert_string_equal(s.holder->tag, holder);
    assert_string_equal(buf_string(&s.path), path);
    spot_free(&s);
}

static void strides_are_matched_to_elements(void **state)
{
    struct fixture *f = *state;

    expect_spot(form(f->table, TABLE_ENTRY, ENTRY), 4, "entry", "entry[].key");
    expect_spot(form(f->table, TABLE_ENTRY + ENTRY, ENTRY), 4, "entry", "entry[].key");
    expect_spot(form(f->table, TABLE_ENTRY - ENTRY, ENTRY), 4, "entry", "entry[].key"); /* [i-1] */
    expect_spot(form(f->table, 0, TABLE), 8, "table", "load");       /* t[i].load */
    expect_spot(form(f->table, -TABLE, TABLE), 8, "table", "load");  /* t[i-1].load */
    expect_spot(form(f->open, 4, ENTRY), 4, "entry", "entry[].key"); /* an open end */
    expect_spot(form(f->open, 4 + 9 * ENTRY, 0), 4, "entry", "entry[9].key");
    expect_spot(form(f->table, TABLE_ENTRY, 0), 4, "entry", "entry[0].key");
}

static void what_does_not_fit_is_no_answer(void **state)
{
    struct fixture *f = *state;

    expect_spot(form(f->table, 0, 4), 8, NULL, NULL); /* no array of such elements */
    expect_spot(form(f->table, 0, 1), 8, NULL, NULL);
    expect_spot(form(f->table, -8, 0), 8, NULL, NULL);    /* before it */
    expect_spot(form(f->table, TABLE, 0), 8, NULL, NULL); /* behind it: perhaps another type */
    expect_spot(form(f->table, TABLE, TABLE), 8, NULL, NULL);
    expect_spot(form(f->other, 16, 32), 8, NULL, NULL); /* slots behind a header */
    expect_spot(form(f->other, 0, 0), 4, NULL, NULL);   /* half a field */
    expect_spot(form(f->other, 4, 0), 8, NULL, NULL);   /* across two */
    expect_spot(form(f->other, 8, 0), 16, NULL, NULL);  /* beyond the end */
}

/* --- Memory --------------------------------------------------------------------------------- */

static void expect_object(const struct type_objects *o, uint64_t address, struct type *t,
                          uint64_t begins)
{
    const struct type_object *found = objects_find(o, address, 1);

    assert_ptr_equal(found ? found->type : NULL, t);
    if (found)
        assert_int_equal(found->address, begins);
}

static void the_outermost_object_is_what_is_known(void **state)
{
    struct fixture *f = *state;
    struct type_objects o = {0};

    objects_add(&o, BASE + 8 + TABLE_ENTRY + ENTRY, f->entry, false);
    expect_object(&o, BASE + 8 + TABLE_ENTRY + ENTRY, f->entry, BASE + 8 + TABLE_ENTRY + ENTRY);
    objects_add(&o, BASE + 8, f->table, false);
    expect_object(&o, BASE + 8 + TABLE_ENTRY + ENTRY, f->table, BASE + 8);
    objects_add(&o, BASE, f->outer, false);
    expect_object(&o, BASE + 8 + TABLE_ENTRY + ENTRY, f->outer, BASE);
    objects_add(&o, BASE + 8 + TABLE, f->table, false); /* a part of what is known */
    expect_object(&o, BASE + 8 + TABLE, f->outer, BASE);
    assert_null(objects_find(&o, BASE + f->outer->size, 1));
    assert_null(objects_find(&o, BASE + f->outer->size - 1, 2));
    assert_null(objects_find(&o, BASE - 1, 1));
    objects_free(&o);
}

static void memory_that_is_used_anew_is_known_anew(void **state)
{
    struct fixture *f = *state;
    struct type_objects o = {0};

    objects_add(&o, BASE, f->table, false);
    objects_add(&o, BASE + 8, f->other, false); /* no table has that there */
    expect_object(&o, BASE + 8, f->other, BASE + 8);
    expect_object(&o, BASE, NULL, 0); /* so the table is gone */
    objects_expire(&o, BASE, 9);
    expect_object(&o, BASE + 8, NULL, 0);
    expect_object(&o, BASE + 20, NULL, 0);
    objects_free(&o);
}

static void hearsay_yields_to_knowledge(void **state)
{
    struct fixture *f = *state;
    struct type_objects o = {0};

    objects_add(&o, BASE, f->other, false);
    objects_add(&o, BASE, f->table, true);
    expect_object(&o, BASE, f->other, BASE);
    objects_add(&o, BASE + 4096, f->table, true);
    objects_add(&o, BASE + 4096, f->other, false);
    expect_object(&o, BASE + 4096, f->other, BASE + 4096);
    expect_object(&o, BASE + 4096 + 64, NULL, 0);
    objects_free(&o);
}

static void objects_can_live_in_the_bytes_of_others(void **state)
{
    struct fixture *f = *state;
    struct type_objects o = {0};

    objects_add(&o, BASE, f->table, false);
    objects_add(&o, BASE + TABLE_RAW + 3, f->other, false);
    expect_object(&o, BASE + TABLE_RAW + 3, f->other, BASE + TABLE_RAW + 3);
    expect_object(&o, BASE + TABLE_RAW, f->table, BASE);
    expect_object(&o, BASE + TABLE_RAW + 30, f->table, BASE);
    objects_expire(&o, BASE, 1);
    expect_object(&o, BASE + TABLE_RAW + 30, NULL, 0);
    objects_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_shown_by_type),
        cmocka_unit_test(several_fields_are_named_and_those_that_stayed_are_not),
        cmocka_unit_test(a_field_of_an_unknown_element_is_named_all_the_same),
        cmocka_unit_test(objects_are_walked_field_by_field),
        cmocka_unit_test(strides_are_matched_to_elements),
        cmocka_unit_test(what_does_not_fit_is_no_answer),
        cmocka_unit_test(the_outermost_object_is_what_is_known),
        cmocka_unit_test(memory_that_is_used_anew_is_known_anew),
        cmocka_unit_test(hearsay_yields_to_knowledge),
        cmocka_unit_test(objects_can_live_in_the_bytes_of_others),
    };

    return cmocka_run_group_tests_name("type_words", tests, set_up, tear_down);
}
