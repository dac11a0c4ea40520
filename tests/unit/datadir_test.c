/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/datadir.h"

static char folder[] = "/tmp/flotsam-datadir-XXXXXX";

static void put(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    assert_true(fd >= 0);
    close(fd);
}

static bool there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static enum datadir_was prepare(const char *path)
{
    struct error e = {{0}};
    enum datadir_was was;
    if (!datadir_prepare(path, &was, &e))
        fail_msg("%s", e.text);
    return was;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static int begin(void **state)
{
    (void)state;
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return mkdir(folder, 0700) || chdir(folder);
}

static void missing_is_made_and_emptied_later(void **state)
{
    (void)state;
    assert_int_equal(prepare("data"), DATADIR_MADE);
    assert_true(there("data"));
    put("data/file");
    mkdir("data/sub", 0700);
    put("data/sub/deep");
    put("outside");
    assert_int_equal(symlink("../outside", "data/link"), 0);
    assert_int_equal(prepare("data/"), DATADIR_EMPTIED);
    assert_true(there("data"));
    assert_int_equal(rmdir("data"), 0); /* it is empty */
    assert_true(there("outside"));
}

static void what_the_user_made_stays(void **state)
{
    (void)state;
    mkdir("data", 0700);
    put("data/file");
    assert_int_equal(prepare("data"), DATADIR_FOREIGN);
    assert_int_equal(prepare("data"), DATADIR_FOREIGN);
    assert_true(there("data/file"));
}

/* A directory of the same name that took the place of ours is not ours. */
static void a_successor_is_not_ours(void **state)
{
    (void)state;
    assert_int_equal(prepare("data"), DATADIR_MADE);
    assert_int_equal(rename("data", "elsewhere"), 0);
    mkdir("data", 0700);
    put("data/file");
    assert_int_equal(prepare("data"), DATADIR_FOREIGN);
    assert_true(there("data/file"));
}

static void links_and_files_are_left_alone(void **state)
{
    (void)state;
    struct error e;
    assert_int_equal(prepare("data"), DATADIR_MADE);
    put("data/file");
    assert_int_equal(rename("data", "real"), 0);
    assert_int_equal(symlink("real", "data"), 0);
    assert_int_equal(prepare("data"), DATADIR_FOREIGN);
    assert_true(there("real/file"));
    put("plain");
    assert_false(datadir_prepare("plain", NULL, &e));
    assert_string_equal(e.text, "data directory plain: not a directory");
    assert_false(datadir_prepare("no/such/place", NULL, &e));
    assert_non_null(strstr(e.text, "cannot make the data directory no/such/place"));
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(missing_is_made_and_emptied_later, begin),
        cmocka_unit_test_setup(what_the_user_made_stays, begin),
        cmocka_unit_test_setup(a_successor_is_not_ours, begin),
        cmocka_unit_test_setup(links_and_files_are_left_alone, begin),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (chdir("/") == 0)
        nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return failed;
}
