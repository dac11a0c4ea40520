/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/columns.h"

#include "engine/escape.h"

void columns_begin(struct columns *c, struct view *v)
{
    c->at = v->ops->columns(v, &c->n);
    for (size_t i = 0; i < c->n; i++) {
        int title = escape_width(c->at[i].title);
        c->widths[i] = c->at[i].least > title ? c->at[i].least : title;
    }
}

void columns_measure(struct columns *c, const struct row *r)
{
    for (size_t i = 0; i < c->n; i++) {
        int width = r->cells[i].text.n ? escape_width(r->cells[i].text.at) : 0;
        int most = c->at[i].most;
        if (most && width > most)
            width = most;
        if (width > c->widths[i])
            c->widths[i] = width;
    }
}

/* Who gives up room next: of those that must first, the widest. */
static size_t find_giver(const struct columns *c)
{
    size_t giver = c->n;

    for (size_t i = 0; i < c->n; i++) {
        if (!c->at[i].yields || c->widths[i] <= c->at[i].least)
            continue;
        int before = giver == c->n ? -1 : c->at[i].yields - c->at[giver].yields;
        if (giver == c->n || before > 0 || (before == 0 && c->widths[i] > c->widths[giver]))
            giver = i;
    }
    return giver;
}

/* As much as makes it no wider than the next of its like: these share what is left. */
static int can_give(const struct columns *c, size_t giver)
{
    int down_to = c->at[giver].least;

    for (size_t i = 0; i < c->n; i++) {
        if (i == giver || c->at[i].yields != c->at[giver].yields || c->widths[i] <= c->at[i].least)
            continue;
        if (c->widths[i] > down_to)
            down_to = c->widths[i];
    }
    return down_to < c->widths[giver] ? c->widths[giver] - down_to : 1;
}

void columns_fit(struct columns *c, int width)
{
    int total = 0;

    for (size_t i = 0; i < c->n; i++)
        total += c->widths[i] + (i ? COLUMNS_GAP : 0);
    while (total > width) {
        size_t giver = find_giver(c);
        if (giver == c->n)
            return;
        int spare = can_give(c, giver), take = spare < total - width ? spare : total - width;
        c->widths[giver] -= take;
        total -= take;
    }
}
