/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *mangled, const char *name)
{
    char *got = demangle(mangled);

    assert_string_equal(got, name);
    free(got);
}

static void names_lose_parameters_and_return_types(void **state)
{
    (void)state;
    expect("_ZN7leveldb6DBImpl5WriteERKNS_12WriteOptionsEPNS_10WriteBatchE",
           "leveldb::DBImpl::Write");
    expect("_ZNK7leveldb6DBImpl4SizeEv", "leveldb::DBImpl::Size"); /* const */
    expect("_Z3maxIiET_S0_S0_", "max<int>");                       /* "int max<int>(int, int)" */
    expect("_ZN12_GLOBAL__N_14saveEPKc", "(anonymous namespace)::save");
    expect("_ZN3LogC1Ev", "Log::Log");
    expect("_ZN3LogD0Ev", "Log::~Log");
}

static void operators_and_lambdas_stay_whole(void **state)
{
    (void)state;
    expect("_ZlsRSo3Log", "operator<<");
    expect("_ZN3LogclEi", "Log::operator()");
    expect("_ZN3LogcvbEv", "Log::operator bool");
    expect("_ZNK3LogptEv", "Log::operator->");
    expect("_Znwm", "operator new");
    expect("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()");
}

static void clones_go_by_their_function(void **state)
{
    (void)state;
    expect("_ZN3Log4saveEi.cold", "Log::save");
    expect("_ZN3Log4saveEi.constprop.0", "Log::save");
}

static void other_names_are_copied(void **state)
{
    (void)state;
    expect("main", "main");
    expect("i", "i"); /* the demangler would say "int" */
    expect("", "");
    expect("_Zgarbage", "_Zgarbage");
    expect("_ZTV3Log", "vtable for Log");
}

static void endless_names_are_left_alone(void **state)
{
    enum { LONG = 100000 };
    char *name = malloc(LONG + 1);

    (void)state;
    memset(name, 'P', LONG);
    memcpy(name, "_Z1f", 4);
    name[LONG] = 0;
    expect(name, name);
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lose_parameters_and_return_types),
        cmocka_unit_test(operators_and_lambdas_stay_whole),
        cmocka_unit_test(clones_go_by_their_function),
        cmocka_unit_test(other_names_are_copied),
        cmocka_unit_test(endless_names_are_left_alone),
    };

    return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
