/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files and names in memory: each operation does what the kernel's does, and what cannot be is
 * refused with nothing changed. (Whole random runs are compared with the kernel in replay_test.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>

#include "engine/tree.h"

enum { DIR_A = 10, DIR_B, DIR_C, FILE_X = 20, FILE_Y, FILE_Z };

/* /            the root, 1
 *   a/         DIR_A
 *     b/       DIR_B
 *     x        FILE_X, 10 bytes of payload 7
 *   c/         DIR_C
 *   y          FILE_Y, empty */
static int set_up(void **state)
{
    struct tree *t = tree_new(0755);
    struct error e;
    bool ok = tree_make(t, FILE_ROOT, "a", DIR_A, FILE_DIRECTORY, 0755, NULL, &e) &&
              tree_make(t, DIR_A, "b", DIR_B, FILE_DIRECTORY, 0755, NULL, &e) &&
              tree_make(t, FILE_ROOT, "c", DIR_C, FILE_DIRECTORY, 0755, NULL, &e) &&
              tree_make(t, DIR_A, "x", FILE_X, FILE_REGULAR, 0644, NULL, &e) &&
              tree_write(t, FILE_X, 0, 10, 7, 0, &e) &&
              tree_make(t, FILE_ROOT, "y", FILE_Y, FILE_REGULAR, 0644, NULL, &e);
    *state = t;
    return ok ? 0 : -1;
}

static int tear_down(void **state)
{
    tree_free(*state);
    return 0;
}

/* The operation must fail, and its error must say `because`. */
#define refused(because, operation)                                                                \
    do {                                                                                           \
        struct error e = {{0}};                                                                    \
        assert_false(operation);                                                                   \
        assert_non_null(strstr(e.text, because));                                                  \
    } while (0)

#define done(operation)                                                                            \
    do {                                                                                           \
        struct error e = {{0}};                                                                    \
        if (!(operation))                                                                          \
            fail_msg("%s", e.text);                                                                \
    } while (0)

static void names_that_lead_elsewhere_are_refused(void **state)
{
    static const char *const bad[] = {"", ".", "..", "/", "a/b", "../../etc/passwd", "/etc"};
    struct tree *t = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refused("name", tree_make(t, FILE_ROOT, bad[i], FILE_Z, FILE_REGULAR, 0, NULL, &e));
        refused("name", tree_link(t, FILE_ROOT, bad[i], FILE_Y, &e));
        refused("name", tree_rename(t, FILE_ROOT, "y", DIR_A, bad[i], 0, &e));
    }
    char longest[TREE_NAME_MAX + 2];
    memset(longest, 'n', sizeof longest);
    longest[TREE_NAME_MAX + 1] = '\0';
    refused("255 bytes", tree_link(t, FILE_ROOT, longest, FILE_Y, &e));
    done(tree_link(t, FILE_ROOT, longest + 1, FILE_Y, &e));
    done(tree_link(t, FILE_ROOT, "\xff\n\x1b", FILE_Y, &e));
    assert_null(tree_file(t, FILE_Z));
}

static void a_file_has_names_and_outlives_them(void **state)
{
    struct tree *t = *state;
    done(tree_link(t, DIR_B, "z", FILE_X, &e));
    assert_int_equal(tree_file(t, FILE_X)->links, 2);
    refused("already", tree_link(t, DIR_B, "z", FILE_Y, &e));
    done(tree_unlink(t, DIR_A, "x", FILE_X, &e));
    refused("no entry", tree_unlink(t, DIR_A, "x", FILE_X, &e));
    refused("not file", tree_unlink(t, DIR_B, "z", FILE_Y, &e));
    done(tree_unlink(t, DIR_B, "z", FILE_X, &e));
    assert_int_equal(tree_file(t, FILE_X)->links, 0);
    done(tree_write(t, FILE_X, 10, 10, 8, 0, &e));
    done(tree_link(t, FILE_ROOT, "again", FILE_X, &e));
    assert_int_equal(tree_file(t, FILE_X)->size, 20);
}

static void directories_are_no_files(void **state)
{
    struct tree *t = *state;
    refused("directory", tree_unlink(t, FILE_ROOT, "a", DIR_A, &e));
    refused("not empty", tree_rmdir(t, FILE_ROOT, "a", DIR_A, &e));
    refused("not a directory", tree_rmdir(t, FILE_ROOT, "y", FILE_Y, &e));
    refused("not a directory", tree_link(t, FILE_Y, "n", FILE_X, &e));
    refused("not a regular file", tree_write(t, DIR_A, 0, 1, 1, 0, &e));
    refused("one more name", tree_link(t, FILE_ROOT, "again", DIR_A, &e));
    refused("one more name", tree_link(t, DIR_B, "root", FILE_ROOT, &e));
    refused("does not exist", tree_link(t, FILE_ROOT, "n", FILE_Z, &e));
    refused("exists already", tree_make(t, DIR_B, "n", FILE_X, FILE_REGULAR, 0, NULL, &e));
    done(tree_rmdir(t, DIR_A, "b", DIR_B, &e));
    refused("one more name", tree_link(t, DIR_B, "itself", DIR_B, &e));
    refused("one more name", tree_link(t, DIR_B, "root", FILE_ROOT, &e));
    done(tree_link(t, DIR_C, "b", DIR_B, &e));
}

/* Moved away with what is in it, and then into what is in it. */
static void a_detached_directory_cannot_be_put_into_itself(void **state)
{
    struct tree *t = *state;
    done(tree_detach(t, FILE_ROOT, "a", DIR_A, &e));
    refused("one more name", tree_link(t, DIR_B, "a", DIR_A, &e));
    done(tree_link(t, DIR_C, "a", DIR_A, &e));
    assert_int_equal(tree_lookup(t, DIR_A, "x"), FILE_X);
}

static void rename_moves_and_replaces(void **state)
{
    struct tree *t = *state;
    refused("already", tree_rename(t, FILE_ROOT, "y", DIR_A, "x", RENAME_NOREPLACE, &e));
    done(tree_rename(t, FILE_ROOT, "y", DIR_A, "x", 0, &e));
    assert_int_equal(tree_lookup(t, DIR_A, "x"), FILE_Y);
    assert_int_equal(tree_lookup(t, FILE_ROOT, "y"), 0);
    assert_int_equal(tree_file(t, FILE_X)->links, 0);
    refused("itself", tree_rename(t, FILE_ROOT, "a", DIR_B, "a", 0, &e));
    refused("itself", tree_rename(t, FILE_ROOT, "a", DIR_A, "a", 0, &e));
    refused("not empty", tree_rename(t, FILE_ROOT, "c", FILE_ROOT, "a", 0, &e));
    refused("only one", tree_rename(t, FILE_ROOT, "c", DIR_A, "x", 0, &e));
    refused("only one", tree_rename(t, DIR_A, "x", FILE_ROOT, "c", 0, &e));
    refused("flags", tree_rename(t, DIR_A, "x", DIR_A, "w", RENAME_WHITEOUT, &e));
    done(tree_rename(t, FILE_ROOT, "a", FILE_ROOT, "c", 0, &e));
    assert_int_equal(tree_lookup(t, FILE_ROOT, "c"), DIR_A);
    refused("no entry", tree_rename(t, FILE_ROOT, "a", FILE_ROOT, "d", 0, &e));
}

/* POSIX: when both names are one file, rename does nothing, successfully. */
static void rename_over_another_name_of_the_same_file(void **state)
{
    struct tree *t = *state;
    done(tree_link(t, FILE_ROOT, "x2", FILE_X, &e));
    done(tree_rename(t, FILE_ROOT, "x2", DIR_A, "x", 0, &e));
    assert_int_equal(tree_file(t, FILE_X)->links, 2);
    assert_int_equal(tree_lookup(t, FILE_ROOT, "x2"), FILE_X);
}

static void rename_exchanges(void **state)
{
    struct tree *t = *state;
    done(tree_rename(t, FILE_ROOT, "c", DIR_A, "x", RENAME_EXCHANGE, &e));
    assert_int_equal(tree_lookup(t, FILE_ROOT, "c"), FILE_X);
    assert_int_equal(tree_lookup(t, DIR_A, "x"), DIR_C);
    assert_int_equal(tree_file(t, DIR_C)->parent, DIR_A);
    refused("itself", tree_rename(t, FILE_ROOT, "a", DIR_B, "n", RENAME_EXCHANGE, &e) ||
                          tree_rename(t, FILE_ROOT, "a", DIR_A, "b", RENAME_EXCHANGE, &e));
    refused("no entry", tree_rename(t, FILE_ROOT, "y", FILE_ROOT, "n", RENAME_EXCHANGE, &e));
}

static void sizes_follow_the_calls(void **state)
{
    struct tree *t = *state;
    const struct tree_file *x = tree_file(t, FILE_X);
    struct extent piece;
    done(tree_fallocate(t, FILE_X, FALLOC_FL_KEEP_SIZE, 0, 4096, &e));
    assert_int_equal(x->size, 10);
    done(tree_fallocate(t, FILE_X, 0, 0, 4096, &e));
    assert_int_equal(x->size, 4096);
    assert_true(extents_find(&x->extents, 0, &piece));
    assert_int_equal(piece.payload, 7); /* what was there stays */
    done(tree_fallocate(t, FILE_X, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 9000, &e));
    assert_false(extents_find(&x->extents, 0, &piece));
    assert_int_equal(x->size, 4096);
    done(tree_fallocate(t, FILE_X, FALLOC_FL_INSERT_RANGE, 0, 4096, &e));
    assert_int_equal(x->size, 8192);
    refused("shifted", tree_fallocate(t, FILE_X, FALLOC_FL_COLLAPSE_RANGE, 4096, 4096, &e));
    refused("shifted", tree_fallocate(t, FILE_X, FALLOC_FL_INSERT_RANGE, 8192, 4096, &e));
    done(tree_fallocate(t, FILE_X, FALLOC_FL_COLLAPSE_RANGE, 0, 4096, &e));
    assert_int_equal(x->size, 4096);
    refused("flags", tree_fallocate(t, FILE_X, FALLOC_FL_PUNCH_HOLE, 0, 1, &e));
    done(tree_truncate(t, FILE_X, 3, &e));
    done(tree_truncate(t, FILE_X, INT64_MAX - 1, &e));
}

static void ranges_that_no_file_has_are_refused(void **state)
{
    struct tree *t = *state;
    refused("cannot reach", tree_write(t, FILE_X, UINT64_MAX, 2, 1, 0, &e));
    refused("cannot reach", tree_write(t, FILE_X, 1, UINT64_MAX, 1, 0, &e));
    refused("cannot reach", tree_write(t, FILE_X, INT64_MAX, 1, 1, 0, &e));
    refused("cannot reach", tree_truncate(t, FILE_X, UINT64_C(1) << 63, &e));
    refused("cannot reach", tree_fallocate(t, FILE_X, 0, UINT64_MAX - 1, 8, &e));
    done(tree_truncate(t, FILE_X, INT64_MAX - 1, &e));
    refused("shifted", tree_fallocate(t, FILE_X, FALLOC_FL_INSERT_RANGE, 0, 4096, &e));
}

/* Names come and go in one directory: quick only when none of them is searched for. */
static void large_directories_are_quick(void **state)
{
    enum { NAMES = 100000, FIRST = 1000 };
    struct tree *t = *state;
    char name[32];
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "n%u", i);
        done(tree_make(t, DIR_C, name, FIRST + i, FILE_REGULAR, 0644, NULL, &e));
    }
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "n%u", i);
        if (i % 3)
            done(tree_unlink(t, DIR_C, name, FIRST + i, &e));
    }
    assert_int_equal(tree_file(t, DIR_C)->entries.n, (NAMES + 2) / 3);
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "n%u", i);
        assert_int_equal(tree_lookup(t, DIR_C, name), i % 3 ? 0 : FIRST + i);
    }
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        test(names_that_lead_elsewhere_are_refused),
        test(a_file_has_names_and_outlives_them),
        test(directories_are_no_files),
        test(a_detached_directory_cannot_be_put_into_itself),
        test(rename_moves_and_replaces),
        test(rename_over_another_name_of_the_same_file),
        test(rename_exchanges),
        test(sizes_follow_the_calls),
        test(ranges_that_no_file_has_are_refused),
        test(large_directories_are_quick),
    };
    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
