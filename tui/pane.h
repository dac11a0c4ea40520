/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pane: a part of the screen that shows a view: which of its rows are in sight, which one is
 * selected, what is searched for. It draws rows as it needs them; finding, filtering and sorting go
 * on in slices (pane_settle), so that no key waits for them.
 */
#ifndef TUI_PANE_H
#define TUI_PANE_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/columns.h"
#include "tui/rows.h"
#include "tui/screen.h"
#include "views/graph_picture.h"
#include "views/view.h"

enum pane_search { SEARCH_NONE, SEARCH_RUNNING, SEARCH_FOUND, SEARCH_FAILED };

struct pane {
    struct view *view; /* NULL: nothing to show */
    struct rows rows;
    struct columns columns;   /* as wide as what was seen so far wants them */
    uint64_t selected;        /* a row; 0: none */
    uint64_t wanted;          /* to be selected when all rows are read again; 0: none */
    uint64_t top;             /* the place of the first row in sight */
    int shift;                /* columns scrolled out of sight at the left */
    struct cell title, right; /* what the line above it says; who shows the view sets them */
    const char *empty;        /* what is said when there are no rows */
    bool plain;               /* nothing is selected, no line of titles: prose */
    bool settling;            /* its rows are being worked out: one says so */
    bool marked;              /* of source: the schedule in hand marks its lines */
    bool unmarked;            /* the selection has no sign: the view has signs of its own there */
    struct graph_picture *picture; /* drawn instead of rows; top and shift say from where on */

    char *text; /* searched for, NULL: nothing */
    enum pane_search search;
    int direction;
    uint64_t at, left; /* the place looked at last, and how many there are still */

    uint64_t edition; /* goes up when it shows another view, or other rows of it */

    struct area area; /* where it was drawn last, its title line included; empty: out of sight */
    int first_line;   /* the screen's row of the first row of the view */
};

void pane_init(struct pane *p);
void pane_free(struct pane *p);

/* Shows another view, which the pane closes when it is done with it. The selection, the filter and
 * the search begin anew. NULL: nothing. */
void pane_show(struct pane *p, struct view *v);

/* The same for a view that takes the place of one that showed the same: they stay. */
void pane_replace(struct pane *p, struct view *v);

/* The rows of its view are others than before. A filter and an order are worked out anew, and what
 * is selected then, or until then, is selected when that is done. */
void pane_again(struct pane *p);

/* The columns of its view are others than before. */
void pane_columns(struct pane *p);

/* The selection is always a row that is shown, where there is one. */
void pane_select(struct pane *p, uint64_t row);
/* The same, with what lies around the row when it was out of sight. */
void pane_select_amid(struct pane *p, uint64_t row);
void pane_move(struct pane *p, int64_t by);
void pane_page(struct pane *p, int direction);
void pane_end(struct pane *p, int direction); /* −1: the first row, 1: the last */
void pane_scroll(struct pane *p, int lines);  /* what is in sight, and the selection with it */
void pane_shift(struct pane *p, int direction);

/* Lines that it can use, its title included, whatever a filter hides. 0: not known, since it shows
 * a picture or a message, or its rows are being worked out. */
int pane_wants(const struct pane *p);

/* The row of the view at a row of the screen, 0 when there is none. */
uint64_t pane_row_at(const struct pane *p, int screen_row);

/* Both take effect in pane_settle. */
bool pane_filter(struct pane *p, const char *text, struct error *e);
bool pane_sort(struct pane *p, const char *column, struct error *e);

/* Goes to the next row with a text after the selected one (direction 1) or before it (−1), round
 * the end; NULL: the text of the last search. False when there was none. */
bool pane_search(struct pane *p, const char *text, int direction, struct error *e);

/* Ends a search that is under way and forgets its text. */
void pane_forget(struct pane *p);

/* Works until the deadline; *done when nothing is left. */
bool pane_settle(struct pane *p, uint64_t deadline, bool *done, struct error *e);

/* Draws the pane and its title line; active: keys go to it. A row that cannot be read shows why. */
void pane_draw(struct pane *p, struct screen *s, struct area area, bool active);

#endif
