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

void columns_fit(struct columns *c, int width)
{
    int total = 0;

    for (size_t i = 0; i < c->n; i++)
        total += c->widths[i] + (i ? COLUMNS_GAP : 0);
    while (total > width) {
        size_t giver = c->n;
        for (size_t i = 0; i < c->n; i++) {
            if (c->at[i].yields && c->widths[i] > c->at[i].least &&
                (giver == c->n || c->at[i].yields > c->at[giver].yields))
                giver = i;
        }
        if (giver == c->n)
            return;
        int spare = c->widths[giver] - c->at[giver].least;
        int take = spare < total - width ? spare : total - width;
        c->widths[giver] -= take;
        total -= take;
    }
}
