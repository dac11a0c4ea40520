/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/buf.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Text grows piece by piece, and always ends with a NUL that does not count. */
static void test_text(void **state)
{
    (void)state;
    struct buf b = {0};
    assert_string_equal(buf_string(&b), "");
    buf_text(&b, "one");
    buf_char(&b, ' ');
    buf_printf(&b, "%d-%s", 2, "three");
    assert_string_equal(buf_string(&b), "one 2-three");
    assert_int_equal(b.n, strlen("one 2-three"));
    buf_clear(&b);
    assert_string_equal(buf_string(&b), "");
    buf_free(&b);
    assert_null(b.at);
}

/* Whatever the steps, all bytes are there: around each size at which it grows. */
static void test_growth(void **state)
{
    (void)state;
    for (size_t step = 1; step < 200; step++) {
        struct buf b = {0};
        for (size_t i = 0; i < 50; i++) {
            memset(buf_room(&b, step), (int)i, step);
            assert_int_equal(b.at[b.n], '\0');
            assert_true(b.n < b.cap);
        }
        assert_int_equal(b.n, 50 * step);
        for (size_t i = 0; i < b.n; i++)
            assert_int_equal(b.at[i], (char)(i / step));
        buf_free(&b);
    }
}

static void test_hex(void **state)
{
    (void)state;
    struct buf b = {0};
    buf_hex(&b, "\x00\x7f\x80\xff", 4);
    assert_string_equal(buf_string(&b), "007f80ff");
    buf_hex(&b, "", 0);
    assert_int_equal(b.n, 8);
    buf_free(&b);
}

/* More than there can be is told like any memory that is not there; it does not wrap round. */
static void test_room_beyond_measure(void **state)
{
    (void)state;
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 2, SIZE_MAX / 2 + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct rlimit no_core = {0, 0};
            setrlimit(RLIMIT_CORE, &no_core);
            signal(SIGABRT, SIG_DFL);
            alarm(20); /* a loop without end is a failure as well */
            if (!freopen("/dev/null", "w", stderr))
                _exit(2);
            struct buf b = {0};
            buf_text(&b, "x");
            buf_room(&b, sizes[i]);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_false(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
        assert_false(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_hex),
        cmocka_unit_test(test_room_beyond_measure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
