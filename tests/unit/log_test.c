/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/log.h"
#include "engine/mem.h"

static char folder[] = "/tmp/flotsam-log-XXXXXX";
static char *path;

/* All of the log; it is small. */
static const char *contents(void)
{
    static char text[4096];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (f)
        fclose(f);
    return text;
}

static int begin(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void off_unless_asked_for(void **state)
{
    (void)state;
    struct error e;
    assert_true(log_open(NULL, path, &e));
    assert_false(log_on(LOG_RECORD, LOG_ERROR));
    log_error(RECORD, "nobody reads this");
    assert_int_equal(access(path, F_OK), -1);
}

static void each_domain_has_its_level(void **state)
{
    (void)state;
    struct error e;
    assert_true(log_open("record:info,session", path, &e));
    log_info(RECORD, "seen %d", 1);
    log_debug(RECORD, "hidden");
    log_debug(SESSION, "seen too");
    log_error(UNWIND, "hidden");
    log_close();
    assert_non_null(strstr(contents(), " record info seen 1\n"));
    assert_non_null(strstr(contents(), " session debug seen too\n"));
    assert_null(strstr(contents(), "hidden"));
}

static void all_means_all(void **state)
{
    (void)state;
    struct error e;
    assert_true(log_open("all:error,record:debug", path, &e));
    assert_true(log_on(LOG_UNWIND, LOG_ERROR));
    assert_false(log_on(LOG_UNWIND, LOG_INFO));
    assert_true(log_on(LOG_RECORD, LOG_DEBUG));
    log_close();
}

static void one_line_a_message(void **state)
{
    (void)state;
    struct error e;
    assert_true(log_open("all", path, &e));
    log_info(RECORD, "a name with\na newline and \x1b[0m");
    log_close();
    assert_non_null(strstr(contents(), "with\\na newline and \\x1b[0m\n"));
}

static void mistakes_are_told(void **state)
{
    (void)state;
    struct error e;
    assert_false(log_open("recrod:info", path, &e));
    assert_non_null(strstr(e.text, "did you mean record?"));
    assert_false(log_open("record:debgu", path, &e));
    assert_non_null(strstr(e.text, "did you mean debug?"));
    assert_false(log_open("all", "/nonexistent/log", &e));
    assert_non_null(strstr(e.text, "/nonexistent/log: No such file"));
    assert_false(log_on(LOG_RECORD, LOG_ERROR));
}

static void default_place_is_the_state_folder(void **state)
{
    (void)state;
    struct error e;
    setenv("XDG_STATE_HOME", folder, 1);
    assert_true(log_open("all", NULL, &e));
    log_info(CONFIG, "here");
    log_close();
    char *chosen = xasprintf("%s/flotsam/log", folder);
    assert_int_equal(access(chosen, F_OK), 0);
    assert_int_equal(unlink(chosen), 0);
    *strrchr(chosen, '/') = '\0';
    assert_int_equal(rmdir(chosen), 0);
    free(chosen);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    path = xasprintf("%s/log", folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(off_unless_asked_for, begin),
        cmocka_unit_test_setup(each_domain_has_its_level, begin),
        cmocka_unit_test_setup(all_means_all, begin),
        cmocka_unit_test_setup(one_line_a_message, begin),
        cmocka_unit_test_setup(mistakes_are_told, begin),
        cmocka_unit_test_setup(default_place_is_the_state_folder, begin),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    free(path);
    return failed;
}
