/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How the room on a screen is shared: among the panes of a desk, and among the columns of a view.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/mem.h"
#include "tui/desk.h"
#include "views/lines.h"

/* --- Panes --------------------------------------------------------------------------------- */

static const struct area whole = {0, 1, 80, 22};
static const struct area wide = {0, 1, 200, 48};

static struct view *rows(int n)
{
    struct lines *l = lines_new("made");

    for (int i = 0; i < n; i++)
        cell_add(lines_add(l, "", (struct subject){0}), STYLE_PLAIN, "row %d", i);
    return lines_view(l);
}

static int height(const struct desk *d, int pane)
{
    return area_height(d->panes[pane].area);
}

static void a_short_list_leaves_its_room_to_the_pane_below(void **state)
{
    static const struct desk_kind kind = {.companions = 2, .first = 1};
    struct desk d;

    (void)state;
    desk_init(&d, &kind);
    pane_show(desk_main(&d), rows(5));
    desk_lay_out(&d, whole);
    assert_int_equal(height(&d, 0), 1 + 5);
    assert_int_equal(height(&d, 1), area_height(whole) - 6);
    assert_int_equal(height(&d, 2), 0);
    desk_lay_out(&d, wide);
    assert_int_equal(height(&d, 0), 1 + 5);
    assert_int_equal(height(&d, 2), area_height(wide) - 6);
    desk_free(&d);
}

static void a_long_list_has_the_larger_half(void **state)
{
    static const struct desk_kind kind = {.companions = 1, .first = 1};
    struct desk d;

    (void)state;
    desk_init(&d, &kind);
    pane_show(desk_main(&d), rows(500));
    desk_lay_out(&d, whole);
    assert_true(height(&d, 0) > height(&d, 1));
    assert_true(height(&d, 1) >= area_height(whole) / 3);
    /* One row that says that others are being worked out changes nothing. */
    int before = height(&d, 0);
    pane_show(desk_main(&d), rows(1));
    desk_lay_out(&d, whole);
    assert_int_equal(height(&d, 0), before);
    desk_free(&d);
}

static void a_filter_moves_no_pane(void **state)
{
    static const struct desk_kind kind = {.companions = 1, .first = 1};
    struct desk d;

    (void)state;
    desk_init(&d, &kind);
    pane_show(desk_main(&d), rows(500));
    desk_lay_out(&d, whole);
    int before = height(&d, 0);
    assert_true(pane_filter(desk_main(&d), "row 7", NULL));
    desk_lay_out(&d, whole);
    assert_int_equal(height(&d, 0), before);
    desk_free(&d);
}

/* A pane beside it is as high as the list, however short that is. */
static void a_list_with_a_pane_beside_it_keeps_its_height(void **state)
{
    static const struct desk_kind kind = {.companions = 3, .first = 1};
    struct desk d;

    (void)state;
    desk_init(&d, &kind);
    pane_show(desk_main(&d), rows(3));
    desk_lay_out(&d, wide);
    assert_int_equal(height(&d, 0), height(&d, 1));
    assert_true(height(&d, 0) > height(&d, 2));
    desk_free(&d);
}

static void companions_that_need_little_get_no_more(void **state)
{
    static const struct desk_kind kind = {.companions = 1, .first = 1, .below = 6};
    struct desk d;

    (void)state;
    desk_init(&d, &kind);
    pane_show(desk_main(&d), rows(80));
    desk_lay_out(&d, whole);
    assert_int_equal(height(&d, 1), 6);
    desk_free(&d);
}

static void a_companion_without_anything_to_show_is_not_there(void **state)
{
    static const struct desk_kind kind = {.companions = 1, .first = 1};
    struct desk d;

    (void)state;
    desk_init(&d, &kind);
    pane_show(desk_main(&d), rows(5));
    d.focus = 1;
    d.companions = 0;
    desk_lay_out(&d, whole);
    assert_int_equal(d.focus, 0);
    assert_int_equal(height(&d, 0), area_height(whole));
    desk_focus(&d, 1);
    assert_int_equal(d.focus, 0);
    desk_free(&d);
}

/* --- Columns ------------------------------------------------------------------------------- */

static void columns_that_yield_alike_share_the_room(void **state)
{
    static const struct column at[] = {{.title = "", .least = 5},
                                       {.title = "left", .least = 20, .yields = 1},
                                       {.title = "right", .least = 20, .yields = 1}};
    struct columns c = {.at = at, .n = 3, .widths = {5, 70, 46}};

    (void)state;
    columns_fit(&c, 5 + 2 * COLUMNS_GAP + 66);
    assert_int_equal(c.widths[1], 33);
    assert_int_equal(c.widths[2], 33);
    /* One that wants less than its share gives nothing. */
    c = (struct columns){.at = at, .n = 3, .widths = {5, 70, 24}};
    columns_fit(&c, 5 + 2 * COLUMNS_GAP + 66);
    assert_int_equal(c.widths[1], 42);
    assert_int_equal(c.widths[2], 24);
    /* Nobody has less than the least. */
    columns_fit(&c, 10);
    assert_int_equal(c.widths[1], 20);
    assert_int_equal(c.widths[2], 20);
}

static void columns_yield_in_their_order(void **state)
{
    static const struct column at[] = {{.title = "first", .least = 10, .yields = 2},
                                       {.title = "second", .least = 10, .yields = 1}};
    struct columns c = {.at = at, .n = 2, .widths = {30, 40}};

    (void)state;
    columns_fit(&c, 60);
    assert_int_equal(c.widths[0], 60 - COLUMNS_GAP - 40);
    assert_int_equal(c.widths[1], 40);
    columns_fit(&c, 40);
    assert_int_equal(c.widths[0], 10);
    assert_int_equal(c.widths[1], 40 - COLUMNS_GAP - 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_list_leaves_its_room_to_the_pane_below),
        cmocka_unit_test(a_long_list_has_the_larger_half),
        cmocka_unit_test(a_filter_moves_no_pane),
        cmocka_unit_test(a_list_with_a_pane_beside_it_keeps_its_height),
        cmocka_unit_test(companions_that_need_little_get_no_more),
        cmocka_unit_test(a_companion_without_anything_to_show_is_not_there),
        cmocka_unit_test(columns_that_yield_alike_share_the_room),
        cmocka_unit_test(columns_yield_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
