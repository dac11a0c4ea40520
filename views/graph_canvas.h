/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * graph_canvas: a sheet of character cells to draw boxes, lines and text on. Lines know by which of
 * their four sides they go on, so that corners, branches and crossings come out by themselves,
 * whatever is drawn first. Rows are read as cells of a view, from any column on.
 */
#ifndef VIEWS_GRAPH_CANVAS_H
#define VIEWS_GRAPH_CANVAS_H

#include "views/graph_route.h"
#include "views/view.h"

struct canvas;

struct canvas *canvas_new(int width, int height);
void canvas_free(struct canvas *c);
void canvas_clear(struct canvas *c);

enum { CANVAS_BROKEN = 1 << 0 /* drawn broken where nothing else runs there */ };

/* A line from box to box, with an arrow head at its end. What is drawn later gives its style to
 * what it has in common with others. */
void canvas_line(struct canvas *c, const struct route_line *line, enum style style, int flags);

/* The border of a box; doubled or not. */
void canvas_box(struct canvas *c, const struct route_box *box, bool doubled, enum style style);

/* A vertical bar over whatever lines cross it. */
void canvas_bar(struct canvas *c, int x, int top, int bottom, enum style style);

/* Text of a cell, from x on, at most `width` columns; all in one style, or STYLE_COUNT: in its
 * own. */
void canvas_text(struct canvas *c, int x, int y, int width, const struct cell *text,
                 enum style style);

/* Appends `width` columns of row y, from column x on; spaces where there is nothing. */
void canvas_row(const struct canvas *c, int y, int x, int width, struct cell *out);

#endif
