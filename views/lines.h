/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lines: a view whose rows are written once, when it is opened: a label, which stands where
 * something begins, and text beside it, folded to a width. For what is short and made of many kinds
 * of things: a bug, a group, the overview.
 */
#ifndef VIEWS_LINES_H
#define VIEWS_LINES_H

#include "views/view.h"

struct lines;

struct lines *lines_new(const char *name);

/* A row, and the cell to write its text into; valid until the next. The label is the caller's, and
 * lives as long as the view; "" beneath another. The path of what it is about is copied. */
struct cell *lines_add(struct lines *l, const char *label, struct subject about);

/* Rows of a text that is safe to show, folded at its spaces and newlines to so many columns; a
 * longer word is cut in pieces. The label stands at the first. */
void lines_fold(struct lines *l, const char *label, enum style style, const char *safe, int width,
                struct subject about);

/* An empty row, unless the one above is, or there is none. */
void lines_gap(struct lines *l);

/* The columns that labels take, the gap behind them included: what is left of a pane is for text.
 */
enum { LINES_LABEL = 11, LINES_LEAST = 20 };

/* How wide text may be in a pane of so many columns. */
int lines_room(int columns);

/* The view, which closes all of it. */
struct view *lines_view(struct lines *l);

#endif
