/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * print: a view as lines of text. Rows are printed as they are read, however many there are; the
 * widths of the columns come from the first screenfuls of rows. On a terminal lines are cut to its
 * width, elsewhere longer cells push their neighbours aside and nothing is lost.
 */
#ifndef TUI_PRINT_H
#define TUI_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "engine/error.h"
#include "tui/theme.h"
#include "views/view.h"

struct print {
    FILE *out;
    int width;   /* columns of the terminal; 0: no limit */
    bool colour; /* whether theme is used */
    struct theme theme;
    bool details;  /* each row is followed by its details */
    uint64_t rows; /* how many were printed */
};

/* What suits a stream: width and colour of a terminal (no colour with NO_COLOR, with TERM=dumb or
 * none), plain text without limit for anything else. FLOTSAM_THEME names the theme; fails when
 * that cannot be read. */
bool print_begin(struct print *p, FILE *out, struct error *e);

/* Prints all rows that are not hidden, under a line of titles when there are any. Stops early when
 * the stream fails; main() tells why. */
bool print_view(struct print *p, struct view *v, struct error *e);

#endif
