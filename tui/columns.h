/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * columns: how wide the columns of a view are. Each has what its title and the rows measured so far
 * want; where that is too much for the line, columns give up room in the order that the view says.
 */
#ifndef TUI_COLUMNS_H
#define TUI_COLUMNS_H

#include "views/view.h"

enum { COLUMNS_GAP = 2 }; /* between two of them */

struct columns {
    const struct column *at; /* the view's own */
    size_t n;
    int widths[VIEW_COLUMNS_MAX]; /* what they should have */
};

/* The widths that titles and least widths ask for. */
void columns_begin(struct columns *c, struct view *v);

/* Widens them for a row that is to be shown. */
void columns_measure(struct columns *c, const struct row *r);

/* Takes room from the columns that yield until a line fits, each down to its least; from those that
 * yield alike so that they end up alike. */
void columns_fit(struct columns *c, int width);

#endif
