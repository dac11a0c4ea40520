/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/desk.h"

#include <string.h>

/* From these sizes on there is room for so much. */
enum {
    WIDE = 100,    /* two panes side by side */
    HIGH = 12,     /* one above the other */
    LEAST_PANE = 4 /* rows that a pane is worth having with */
};

void desk_init(struct desk *d, const struct desk_kind *kind)
{
    *d = (struct desk){
        .kind = kind, .companions = kind->companions, .shown = kind->first, .stale = true};
    for (int i = 0; i < DESK_PANES; i++)
        pane_init(&d->panes[i]);
    d->panes[0].empty = kind->empty;
}

void desk_free(struct desk *d)
{
    for (int i = 0; i < DESK_PANES; i++)
        pane_free(&d->panes[i]);
}

void desk_focus(struct desk *d, int step)
{
    int n = d->companions + 1;

    d->focus = (d->focus + step + n) % n;
    if (d->focus)
        d->shown = d->focus;
}

/* ---- where panes lie ---- */

static void none(struct area *areas)
{
    for (int i = 0; i < DESK_PANES; i++)
        areas[i] = (struct area){0};
}

/* The companions from `first` on, side by side; a column between them is left for a line. */
static void beside(struct area *areas, int first, int n, struct area in)
{
    int width = area_width(in) / n;

    for (int i = 0; i < n; i++) {
        areas[first + i] = in;
        areas[first + i].left = in.left + i * width + (i ? 1 : 0);
        if (i + 1 < n)
            areas[first + i].right = in.left + (i + 1) * width;
    }
}

/* The main pane's share of the height: rather more than half, but no more than a short list can
 * use, so that the room goes to what is said about its rows. */
static int main_share(const struct desk *d, int height)
{
    int below = height * 9 / 20, wants = d->wants > LEAST_PANE ? d->wants : LEAST_PANE;

    if (d->kind->below && d->kind->below < below)
        below = d->kind->below;
    int share = height - below;
    return d->wants && wants < share ? wants : share;
}

/* Where the first companion stands beside the main pane, as high as it is. */
static bool one_stands_beside(const struct desk *d, struct area in)
{
    return area_width(in) >= WIDE && d->companions >= 3;
}

static void lay_out(const struct desk *d, struct area in, struct area *areas)
{
    int n = d->companions, height = area_height(in);

    none(areas);
    if (!n || d->zoomed || height < HIGH) {
        areas[d->focus] = in;
        return;
    }
    struct area above = in, below = in;
    above.bottom = below.top = in.top + main_share(d, height);
    areas[0] = above;
    if (area_width(in) < WIDE) {
        areas[d->shown] = below;
    } else if (!one_stands_beside(d, in)) {
        beside(areas, 1, n, below);
    } else {
        areas[0].right = in.left + area_width(in) * 3 / 5;
        areas[1] = above;
        areas[1].left = areas[0].right + 1;
        beside(areas, 2, n - 1, below);
    }
}

bool desk_lay_out(struct desk *d, struct area area)
{
    struct area areas[DESK_PANES];
    bool changed = false;

    if (d->focus > d->companions)
        d->focus = 0;
    if (one_stands_beside(d, area))
        d->wants = 0;
    else if (pane_wants(desk_main(d)))
        d->wants = pane_wants(desk_main(d));
    lay_out(d, area, areas);
    for (int i = 0; i < DESK_PANES; i++) {
        changed |= area_width(areas[i]) != area_width(d->panes[i].area);
        d->panes[i].area = areas[i];
    }
    return changed;
}

/* ---- drawing ---- */

/* Between two panes side by side. */
static void draw_line(struct screen *s, struct area a)
{
    const char *line = glyph(GLYPH_VERTICAL), *tee = glyph(GLYPH_TEE_TOP);

    if (a.left == 0 || !area_height(a))
        return;
    for (int row = a.top + 1; row < a.bottom; row++)
        screen_put(s, row, a.left - 1, a.left, STYLE_TITLE, line, strlen(line));
    screen_put(s, a.top, a.left - 1, a.left, STYLE_TITLE, tee, strlen(tee));
}

void desk_draw(struct desk *d, struct screen *s)
{
    for (int i = 0; i < DESK_PANES; i++) {
        struct area area = d->panes[i].area;
        if (!area_height(area))
            continue;
        pane_draw(&d->panes[i], s, area, i == d->focus);
        draw_line(s, area);
    }
}

int desk_pane_at(const struct desk *d, int column, int row)
{
    for (int i = 0; i < DESK_PANES; i++) {
        const struct area *a = &d->panes[i].area;
        if (column >= a->left && column < a->right && row >= a->top && row < a->bottom)
            return i;
    }
    return -1;
}
