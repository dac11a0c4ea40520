/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a file holds, as pieces: every operation against the same one on a flat array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/extents.h"
#include "engine/stream.h"

enum { FLAT = 96, CASES = 20000, STEPS = 24 };

/* One byte of a flat file: a hole, an allocated zero, or byte `from` of a payload. */
struct cell {
    uint64_t payload, from;
    bool hole;
};

struct model {
    struct extents x;
    struct cell flat[FLAT];
};

static const struct cell HOLE = {.hole = true};

static void check(const struct model *m)
{
    struct extent piece = {0};
    uint64_t end = 0; /* pieces come in order and do not overlap */
    size_t at = 0;
    while (extents_find(&m->x, end, &piece)) {
        assert_true(piece.offset >= end);
        assert_true(piece.size > 0);
        assert_true(piece.offset + piece.size <= FLAT);
        for (; at < piece.offset; at++)
            assert_true(m->flat[at].hole);
        for (; at < piece.offset + piece.size; at++) {
            assert_false(m->flat[at].hole);
            assert_int_equal(m->flat[at].payload, piece.payload);
            uint64_t from = piece.payload == PAYLOAD_ZEROS ? 0 : piece.from + at - piece.offset;
            assert_int_equal(m->flat[at].from, from);
        }
        end = at;
    }
    for (; at < FLAT; at++)
        assert_true(m->flat[at].hole);
}

static void flat_write(struct model *m, size_t offset, size_t size, uint64_t payload, uint64_t from)
{
    for (size_t i = 0; i < size; i++)
        m->flat[offset + i] =
            (struct cell){.payload = payload, .from = payload == PAYLOAD_ZEROS ? 0 : from + i};
}

static void flat_clear(struct model *m, size_t offset, size_t size)
{
    for (size_t i = 0; i < size; i++)
        m->flat[offset + i] = HOLE;
}

/* Everything that changes where bytes lie; the caller picked a range inside the array. */
static void move_step(struct model *m, size_t offset, size_t size)
{
    size_t behind = (FLAT - offset - size) * sizeof *m->flat;
    if (rand() % 2) {
        extents_collapse(&m->x, offset, size);
        memmove(m->flat + offset, m->flat + offset + size, behind);
        flat_clear(m, FLAT - size, size);
    } else {
        extents_cut(&m->x, FLAT - size);
        extents_insert(&m->x, offset, size);
        memmove(m->flat + offset + size, m->flat + offset, behind);
        flat_clear(m, offset, size);
    }
}

static void step(struct model *m)
{
    size_t offset = (size_t)rand() % FLAT;
    size_t size = (size_t)rand() % (FLAT - offset + 1);
    uint64_t payload = (uint64_t)rand() % 4, from = (uint64_t)rand() % 1000;
    switch (rand() % 7) {
    case 0:
    case 1:
        size %= 12;
        extents_write(&m->x, offset, size, payload, from);
        flat_write(m, offset, size, payload, from);
        break;
    case 2:
        size %= 12;
        extents_clear(&m->x, offset, size);
        flat_clear(m, offset, size);
        break;
    case 3:
        extents_cut(&m->x, offset);
        flat_clear(m, offset, FLAT - offset);
        break;
    case 4:
        extents_allocate(&m->x, offset, size);
        for (size_t i = offset; i < offset + size; i++)
            if (m->flat[i].hole)
                m->flat[i] = (struct cell){.payload = PAYLOAD_ZEROS};
        break;
    default:
        move_step(m, offset, size);
    }
}

static void equals_a_flat_array(void **state)
{
    (void)state;
    srand(1);
    for (int i = 0; i < CASES; i++) {
        struct model m = {0};
        flat_clear(&m, 0, FLAT);
        for (int s = 0; s < STEPS; s++) {
            step(&m);
            check(&m);
        }
        extents_free(&m.x);
    }
}

/* A piece may end where the largest file ends. */
static void reaches_the_largest_offset(void **state)
{
    (void)state;
    struct extents x = {0};
    struct extent piece;
    extents_write(&x, EXTENTS_END - 10, 10, 5, 0);
    assert_true(extents_find(&x, 0, &piece));
    assert_int_equal(piece.offset, EXTENTS_END - 10);
    assert_true(extents_find(&x, EXTENTS_END - 1, &piece));
    extents_insert(&x, 0, 4);
    assert_true(extents_find(&x, EXTENTS_END - 1, &piece));
    assert_int_equal(piece.offset, EXTENTS_END - 6);
    assert_int_equal(piece.size, 6);
    extents_collapse(&x, 0, EXTENTS_END - 6);
    assert_true(extents_find(&x, 0, &piece));
    assert_int_equal(piece.offset, 0);
    extents_cut(&x, 0);
    assert_false(extents_find(&x, 0, &piece));
    extents_free(&x);
}

/* A million appends, then a shift of each half: quick only when both are logarithmic. */
static void stays_balanced_when_appended_to(void **state)
{
    (void)state;
    enum { PIECES = 1000000, PIECE = 10 };
    struct extents x = {0};
    struct extent piece;
    for (uint64_t i = 0; i < PIECES; i++)
        extents_write(&x, i * PIECE, PIECE, i + 1, 0);
    for (int i = 0; i < 1000; i++)
        extents_insert(&x, PIECES / 2 * PIECE, 1);
    assert_true(extents_find(&x, PIECES / 2 * PIECE, &piece));
    assert_int_equal(piece.payload, PIECES / 2 + 1);
    assert_int_equal(piece.offset, PIECES / 2 * PIECE + 1000);
    extents_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_a_flat_array),
        cmocka_unit_test(reaches_the_largest_offset),
        cmocka_unit_test(stays_balanced_when_appended_to),
    };
    return cmocka_run_group_tests_name("extents", tests, NULL, NULL);
}
