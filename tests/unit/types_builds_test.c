/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/types_truth.h"

/* However people build, nothing is wrong and most is typed. */
static void other_ways_to_build_do_as_well(void **state)
{
    static const char *const sources[] = {"trees.c", "traps.c"};
    static const char *const builds[] = {
        "gcc -g -O3",
        "gcc -g -Os",
        "gcc -g -O1 -no-pie -fno-omit-frame-pointer",
        "gcc -g -O1 -static",
        "gcc -g -O2 -gdwarf-4",
        "gcc -g -Og -gsplit-dwarf",
        "gcc -g -O1 -fPIC -flto -fno-plt",
        "clang -g -Os -no-pie",
        "clang -g -O3 -gdwarf-4",
        "clang -g -O0 -gsplit-dwarf",
    };
    size_t wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        for (size_t k = 0; k < sizeof builds / sizeof *builds; k++) {
            struct tally tally = run_program(sources[i], builds[k]);
            char *what = xasprintf("%s %s", sources[i], builds[k]);
            print_share(what, &tally);
            assert_true(tally.by_store[TYPE_UNKNOWN] * 2 < tally.stores);
            wrong += tally.wrong;
            free(what);
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_ways_to_build_do_as_well),
    };

    return cmocka_run_group_tests_name("types_builds", tests, NULL, NULL);
}
