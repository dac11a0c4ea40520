/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Apart from binary_test.c, because libdw 0.188 itself leaks the scopes it had found when it gives
 * up on damaged debug info, and a leak checker must be told so here and nowhere else.
 */
#include "tests/unit/compile.h"

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

/* Damage anywhere in the file may cost answers, never more. */
static void damaged_binaries_do_no_harm(void **state)
{
    enum { ROUNDS = 300, FLIPS = 20, SEED = 7, HEADERS = 64 };
    char *folder = folder_make(), *path = path_in(folder, "prog"), *bad = path_in(folder, "bad");
    struct error why;

    (void)state;
    file_write(folder, "prog.c", NESTED_PROGRAM);
    shell(folder, "cc -g -O2 -o prog prog.c");
    uint64_t probe = symbol_address(folder, "prog", "probe");
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    static unsigned char good[1 << 20], copy[1 << 20];
    size_t n = fread(good, 1, sizeof good, f);
    fclose(f);
    srand(SEED);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(copy, good, n);
        for (int i = 0; i < FLIPS; i++)
            copy[HEADERS + (size_t)rand() % (n - HEADERS)] = (unsigned char)rand();
        f = fopen(bad, "wb");
        assert_non_null(f);
        size_t keep = round % 10 == 0 ? (size_t)rand() % n : n;
        assert_int_equal(fwrite(copy, 1, keep, f), keep);
        fclose(f);
        struct binary *b = binary_open(bad, "", 0, BINARY_LINES, &why);
        for (uint64_t a = probe; b && a < probe + 64; a += 8)
            binary_sites(b, a, ignore_site, NULL);
        if (b)
            binary_sites(b, UINT64_MAX, ignore_site, NULL);
        binary_close(b);
    }
    free(path);
    free(bad);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_binaries_do_no_harm),
    };

    return cmocka_run_group_tests_name("binary_damage", tests, NULL, NULL);
}
