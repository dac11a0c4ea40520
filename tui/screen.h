/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * screen: what the debugger shows, as a grid of characters with meanings. It is drawn here first,
 * whole, and then brought to a terminal (tui/terminal.h) or written down as text, so that the
 * debugger works, and is tested, without one.
 *
 * Text is safe to show already (engine/escape.h). A character may be two columns wide; one that
 * would be cut in half at an edge is left out. Combining characters go with the one before them, as
 * many as there is room for.
 */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/buf.h"
#include "views/view.h"

enum { SCREEN_TEXT_MAX = 14 }; /* bytes of a character with what combines with it */

struct screen_cell {
    char text[SCREEN_TEXT_MAX]; /* not terminated when it is full; empty: right half of the one
                                   before */
    uint8_t size;               /* bytes of text */
    uint8_t style;              /* enum style */
    uint8_t over; /* a style that lies over it, such as a selection; STYLE_PLAIN: none */
};

struct screen {
    int columns, rows;
    struct screen_cell *cells;
    int cursor_column, cursor_row; /* where the terminal's cursor stands; row −1: hidden */
};

/* A part of the screen: from the first column and row up to, but without, the last. */
struct area {
    int left, top, right, bottom;
};

static inline int area_width(struct area a)
{
    return a.right > a.left ? a.right - a.left : 0;
}

static inline int area_height(struct area a)
{
    return a.bottom > a.top ? a.bottom - a.top : 0;
}

/* Gives it a size, blank and without a cursor. */
void screen_resize(struct screen *s, int columns, int rows);
void screen_clear(struct screen *s);
void screen_free(struct screen *s);

/* Puts n bytes of text on a row, from a column up to, but without, another; returns the column
 * behind the last that was written. Places outside the screen are no error. */
int screen_put(struct screen *s, int row, int column, int end, enum style style, const char *safe,
               size_t n);

/* A cell with the styles of its spans, leaving out its first `skip` columns. Text that does not fit
 * ends in an ellipsis. */
int screen_cell(struct screen *s, int row, int column, int end, const struct cell *c, int skip);

/* Repeats one glyph. */
void screen_fill(struct screen *s, int row, int column, int end, enum style style, enum glyph g);

/* Blanks of a style. */
void screen_blank(struct screen *s, int row, int column, int end, enum style style);

/* Lays a style over what is there. */
void screen_over(struct screen *s, int row, int column, int end, enum style over);

/* The screen as lines of text, without spaces at their ends. */
void screen_text(const struct screen *s, struct buf *out);

/* Its meanings, a line for each run of like cells that are not plain blanks:
 * "ROW:FIRST-LAST style[+over] text". Rows and columns count from 1. */
void screen_styles(const struct screen *s, struct buf *out);

#endif
