/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Filters and orders against the plain way to do them: every row looked at, one stable sort.
 */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "engine/clock.h"
#include "engine/mem.h"
#include "tui/rows.h"

/* ---- a view of made-up rows ---- */

struct made {
    struct view view;
    uint64_t count;
    uint32_t seed;
};

static uint32_t scramble(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352d;
    x ^= x >> 15;
    x *= 0x846ca68b;
    return x ^ x >> 16;
}

static uint32_t number_of(const struct made *m, uint64_t row)
{
    return scramble((uint32_t)row * 2 + m->seed) % 100;
}

static const char *name_of(const struct made *m, uint64_t row)
{
    static const char *const names[] = {"Log", "manifest", "CURRENT", "table", "", "Café"};

    return names[scramble((uint32_t)row * 2 + 1 + m->seed) % (sizeof names / sizeof *names)];
}

static const struct column *made_columns(struct view *v, size_t *n)
{
    static const struct column columns[] = {{.title = "size", .right = true}, {.title = "name"}};

    (void)v;
    *n = 2;
    return columns;
}

static uint64_t made_count(struct view *v)
{
    return ((struct made *)v)->count;
}

static bool made_draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct made *m = (struct made *)v;

    (void)e;
    cell_add(&out->cells[0], STYLE_NUMBER, "%u", number_of(m, row));
    cell_add(&out->cells[1], STYLE_PATH, "%s", name_of(m, row));
    return true;
}

static void made_close(struct view *v)
{
    (void)v;
}

static struct made make(uint64_t count, uint32_t seed)
{
    static const struct view_ops ops = {.name = "made",
                                        .columns = made_columns,
                                        .count = made_count,
                                        .seek = view_seek_all,
                                        .draw = made_draw,
                                        .detail = view_no_detail,
                                        .subject = view_no_subject,
                                        .find = view_find_nothing,
                                        .close = made_close};

    return (struct made){.view = {&ops}, .count = count, .seed = seed};
}

/* A deadline that lies behind us makes slices as small as they get; returns how many it took. */
static int settle(struct rows *r)
{
    struct error e;
    bool done = false;
    int slices = 0, percent = 0;

    while (!done) {
        assert_true(rows_settle(r, 0, &done, &e));
        assert_true(rows_percent(r) >= 0 && rows_percent(r) <= 100);
        assert_true(rows_count(r) <= r->view->ops->count(r->view));
        percent = rows_percent(r);
        slices++;
        assert_true(slices < 1000000);
    }
    assert_int_equal(percent, 100);
    return slices;
}

/* ---- the plain way ---- */

struct plain {
    uint32_t number;
    const char *name;
    uint64_t row;
};

static int by_number(const void *a, const void *b)
{
    const struct plain *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

static int by_number_down(const void *a, const void *b)
{
    const struct plain *x = a, *y = b;

    if (x->number != y->number)
        return x->number > y->number ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

typedef bool keeps(const struct plain *p);

static size_t plainly(const struct made *m, keeps *keep, int (*order)(const void *, const void *),
                      struct plain *out)
{
    size_t n = 0;

    for (uint64_t row = 1; row <= m->count; row++) {
        struct plain p = {number_of(m, row), name_of(m, row), row};
        if (keep(&p))
            out[n++] = p;
    }
    if (order)
        qsort(out, n, sizeof *out, order);
    return n;
}

static bool keep_all(const struct plain *p)
{
    return p->row > 0;
}

static bool keep_logs(const struct plain *p)
{
    return !strcmp(p->name, "Log");
}

static bool keep_sevens(const struct plain *p)
{
    char text[16];

    snprintf(text, sizeof text, "%u", p->number);
    return fnmatch("7*", text, 0) == 0;
}

static bool keep_no_t(const struct plain *p)
{
    return !strpbrk(p->name, "tT");
}

static bool keep_long_no_logs(const struct plain *p)
{
    return strlen(p->name) > 4 && !keep_logs(p) && p->number < 10;
}

static void agrees(struct rows *r, const struct made *m, keeps *keep,
                   int (*order)(const void *, const void *))
{
    struct plain *want = xcalloc(m->count + 1, sizeof *want);
    size_t n = plainly(m, keep, order, want);

    assert_int_equal(rows_count(r), n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rows_at(r, i), want[i].row);
        assert_int_equal(rows_place(r, want[i].row), i);
    }
    free(want);
}

static const struct {
    const char *filter;
    keeps *keep;
} filters[] = {
    {NULL, keep_all},     {"", keep_all},
    {"log", keep_logs},   {"name=LOG", keep_logs},
    {"n=l?g", keep_logs}, {"size=7*", keep_sevens},
    {"!t", keep_no_t},    {"  name=?????* !log   size=? ", keep_long_no_logs},
};

static void filters_and_orders_agree_with_the_plain_way(void **state)
{
    static const uint64_t counts[] = {0, 1, 2, 7, 100, 1023, 1025, 3000};
    struct error e;

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
            struct made m = make(counts[c], (uint32_t)(c * 31 + f));
            struct rows r;
            rows_init(&r, &m.view);
            assert_true(rows_filter(&r, filters[f].filter, &e));
            settle(&r);
            agrees(&r, &m, filters[f].keep, NULL);
            assert_true(rows_sort(&r, "size", &e));
            settle(&r);
            agrees(&r, &m, filters[f].keep, by_number);
            assert_true(rows_sort(&r, "-SI", &e));
            settle(&r);
            agrees(&r, &m, filters[f].keep, by_number_down);
            assert_true(rows_sort(&r, NULL, &e));
            settle(&r);
            agrees(&r, &m, filters[f].keep, NULL);
            rows_free(&r);
        }
    }
}

static void texts_are_sorted_whatever_their_case(void **state)
{
    struct made m = make(500, 9);
    struct rows r;
    struct error e;

    (void)state;
    rows_init(&r, &m.view);
    assert_true(rows_sort(&r, "name", &e));
    settle(&r);
    assert_int_equal(rows_count(&r), 500);
    for (uint64_t i = 1; i < 500; i++) {
        uint64_t before = rows_at(&r, i - 1), after = rows_at(&r, i);
        int order = strcasecmp(name_of(&m, before), name_of(&m, after));
        assert_true(order < 0 || (order == 0 && before < after));
    }
    rows_free(&r);
}

/* Without a filter there is nothing to read, however many rows there are. */
static void all_rows_cost_nothing(void **state)
{
    struct made m = make(UINT64_C(1) << 31, 1);
    struct rows r;

    (void)state;
    rows_init(&r, &m.view);
    assert_int_equal(settle(&r), 1);
    assert_int_equal(rows_count(&r), m.count);
    assert_int_equal(rows_at(&r, 1234567), 1234568);
    assert_int_equal(rows_place(&r, 1234568), 1234567);
    rows_free(&r);
}

/* What was found so far can be looked at; a deadline is kept, but for a little. */
static void large_views_are_read_in_slices(void **state)
{
    struct made m = make(300000, 3);
    struct rows r;
    struct error e;
    bool done = false;
    uint64_t longest = 0, last = 0;

    (void)state;
    rows_init(&r, &m.view);
    assert_true(rows_filter(&r, "size=4?", &e));
    assert_true(rows_sort(&r, "-name", &e));
    while (!done) {
        uint64_t begin = clock_now();
        assert_true(rows_settle(&r, begin + NANOSECONDS_PER_MS, &done, &e));
        uint64_t took = clock_now() - begin;
        longest = took > longest ? took : longest;
        assert_true(rows_count(&r) >= last);
        last = rows_count(&r);
    }
    assert_true(last > 0);
    /* Machines are shared: this is far above what a slice takes, far below all of them. */
    assert_true(longest < 100 * NANOSECONDS_PER_MS);
    rows_free(&r);
}

static void columns_that_are_none_are_told(void **state)
{
    struct made m = make(3, 1);
    struct rows r;
    struct error e;

    (void)state;
    rows_init(&r, &m.view);
    assert_false(rows_filter(&r, "log colour=red", &e));
    assert_string_equal(e.text, "no column is called colour here; there are size, name");
    settle(&r);
    assert_int_equal(rows_count(&r), 3);
    assert_false(rows_sort(&r, "-colour", &e));
    settle(&r);
    assert_int_equal(rows_count(&r), 3);
    rows_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_and_orders_agree_with_the_plain_way),
        cmocka_unit_test(texts_are_sorted_whatever_their_case),
        cmocka_unit_test(all_rows_cost_nothing),
        cmocka_unit_test(large_views_are_read_in_slices),
        cmocka_unit_test(columns_that_are_none_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
