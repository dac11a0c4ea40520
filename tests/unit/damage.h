/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tests of what reads files that may be damaged: copies of a good one with bytes changed, now
 * and then cut short. The same every time.
 */
#ifndef TESTS_UNIT_DAMAGE_H
#define TESTS_UNIT_DAMAGE_H

#include "tests/unit/compile.h"

/* Calls read with the path of each damaged copy. The first bytes, which say what kind of file it
 * is, stay as they are. */
static inline void damage_file(const char *folder, const char *name, int rounds, int flips,
                               void (*read)(const char *path, void *data), void *data)
{
    enum { SEED = 7, HEADERS = 64, ROOM = 1 << 20, CUT_EVERY = 10 };
    char *path = path_in(folder, name), *bad = path_in(folder, "damaged");
    unsigned char *good = xmalloc(ROOM), *copy = xmalloc(ROOM);
    FILE *f = fopen(path, "rb");

    assert_non_null(f);
    size_t n = fread(good, 1, ROOM, f);
    fclose(f);
    srand(SEED);
    for (int round = 0; round < rounds; round++) {
        memcpy(copy, good, n);
        for (int i = 0; i < flips; i++)
            copy[HEADERS + (size_t)rand() % (n - HEADERS)] = (unsigned char)rand();
        f = fopen(bad, "wb");
        assert_non_null(f);
        size_t keep = round % CUT_EVERY == 0 ? (size_t)rand() % n : n;
        assert_int_equal(fwrite(copy, 1, keep, f), keep);
        fclose(f);
        read(bad, data);
    }
    free(good);
    free(copy);
    free(path);
    free(bad);
}

#endif
