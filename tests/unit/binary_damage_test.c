/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Apart from binary_test.c, because libdw 0.188 itself leaks the scopes it had found when it gives
 * up on damaged debug info, and a leak checker must be told so here and nowhere else.
 */
#include "tests/unit/damage.h"

#include "engine/binary.h"

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libdw.so\n";
}

static void ignore_site(void *data, const struct binary_site *s)
{
    (void)data;
    (void)s;
}

/* Asks about the code from *data on. */
static void ask(const char *path, void *data)
{
    uint64_t probe = *(uint64_t *)data;
    struct error why;
    struct binary *b = binary_open(path, "", 0, BINARY_LINES, &why);

    for (uint64_t a = probe; b && a < probe + 64; a += 8)
        binary_sites(b, a, ignore_site, NULL);
    if (b)
        binary_sites(b, UINT64_MAX, ignore_site, NULL);
    binary_close(b);
}

/* Damage anywhere in the file may cost answers, never more. */
static void damaged_binaries_do_no_harm(void **state)
{
    enum { ROUNDS = 300, FLIPS = 20 };
    char *folder = folder_make();

    (void)state;
    file_write(folder, "prog.c", NESTED_PROGRAM);
    shell(folder, "cc -g -O2 -o prog prog.c");
    uint64_t probe = symbol_address(folder, "prog", "probe");
    damage_file(folder, "prog", ROUNDS, FLIPS, ask, &probe);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_binaries_do_no_harm),
    };

    return cmocka_run_group_tests_name("binary_damage", tests, NULL, NULL);
}
