/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every program is built by both compilers at four levels; whatever is typed must be right, and the
 * share that is typed is printed.
 */
#include "tests/unit/types_truth.h"

static void check_program(const char *source, const char *gcc, const char *clang)
{
    static const char *const levels[] = {"-O0", "-Og", "-O1", "-O2"};
    const char *compilers[] = {gcc, clang};
    size_t wrong = 0;

    for (size_t c = 0; c < 2; c++) {
        for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
            char *build = xasprintf("%s -g %s", compilers[c], levels[l]);
            struct tally tally = run_program(source, build);
            char *what = xasprintf("%s %s", source, build);
            print_share(what, &tally);
            assert_true(tally.by_store[TYPE_UNKNOWN] * 2 < tally.stores);
            wrong += tally.wrong;
            free(what);
            free(build);
        }
    }
    assert_int_equal(wrong, 0);
}

static void fields_of_c_structs_are_found(void **state)
{
    (void)state;
    check_program("basics.c", "gcc", "clang");
}

static void trees_and_tables_are_understood(void **state)
{
    (void)state;
    check_program("trees.c", "gcc", "clang");
}

static void handles_of_pmdk_stand_for_pointers(void **state)
{
    (void)state;
    check_program("handles.c", "gcc -DINLINE_DIRECT=1", "clang -DINLINE_DIRECT=1");
    check_program("handles.c", "gcc", "clang");
}

static void fields_of_classes_are_found(void **state)
{
    (void)state;
    check_program("objects.cc", "g++ -Wno-invalid-offsetof", "clang++ -Wno-invalid-offsetof");
}

static void what_could_deceive_does_not(void **state)
{
    (void)state;
    check_program("traps.c", "gcc", "clang");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_c_structs_are_found),
        cmocka_unit_test(trees_and_tables_are_understood),
        cmocka_unit_test(handles_of_pmdk_stand_for_pointers),
        cmocka_unit_test(fields_of_classes_are_found),
        cmocka_unit_test(what_could_deceive_does_not),
    };

    return cmocka_run_group_tests_name("types", tests, NULL, NULL);
}
