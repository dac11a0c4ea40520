/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/nearest.h"

static const char *pick(const char *name)
{
    static const char *const candidates[] = {"record", "replay", "report", "trace", "run"};
    struct nearest n = {.name = name};
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        nearest_offer(&n, candidates[i]);
    return n.best;
}

static void distance_counts_slips(void **state)
{
    (void)state;
    assert_int_equal(nearest_distance("trace", "trace"), 0);
    assert_int_equal(nearest_distance("trace", "TRACE"), 0);
    assert_int_equal(nearest_distance("tarce", "trace"), 1); /* neighbours swapped */
    assert_int_equal(nearest_distance("trce", "trace"), 1);
    assert_int_equal(nearest_distance("trrace", "trace"), 1);
    assert_int_equal(nearest_distance("brace", "trace"), 1);
    assert_int_equal(nearest_distance("", "trace"), 5);
}

static void slips_are_understood(void **state)
{
    (void)state;
    assert_string_equal(pick("reocrd"), "record");
    assert_string_equal(pick("trcae"), "trace");
    assert_string_equal(pick("repla"), "replay");
    assert_string_equal(pick("tr"), "trace");
}

static void other_words_are_not(void **state)
{
    (void)state;
    assert_null(pick("checkpoint"));
    assert_null(pick(""));
    assert_null(pick("xyzzy"));
}

static void long_names_do_no_harm(void **state)
{
    (void)state;
    char name[5000];
    for (size_t i = 0; i < sizeof name - 1; i++)
        name[i] = 'r';
    name[sizeof name - 1] = '\0';
    assert_null(pick(name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_counts_slips),
        cmocka_unit_test(slips_are_understood),
        cmocka_unit_test(other_words_are_not),
        cmocka_unit_test(long_names_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
