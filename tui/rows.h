/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rows: which rows of a view a pane shows, and in which order. Without a filter and a sort order
 * that is all of them as they come, and costs nothing. Otherwise rows are read in slices, so that a
 * view of a million rows never holds up a key: what was found so far can be looked at meanwhile.
 *
 * A filter is words, all of which must hold:
 *     TEXT             some cell has the text, whatever its case
 *     COLUMN=PATTERN   the cell of that column (by the beginning of its title) matches the pattern
 *                      (fnmatch), whatever its case
 *     !…               not that
 */
#ifndef TUI_ROWS_H
#define TUI_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/vec.h"
#include "views/view.h"

struct rows_condition {
    char *text;
    int column; /* −1: any */
    bool without;
};

struct rows_key {
    double number; /* when the cell is a number */
    size_t text;   /* else where its text is, plus 1; 0: it is one */
};

struct rows {
    struct view *view;
    char *filter; /* as it was given; NULL: none */
    vec_of(struct rows_condition) conditions;
    int sort; /* a column, −1: none */
    bool descending;

    vec_of(uint32_t) list;        /* of row numbers; not used without filter and order */
    vec_of(struct rows_key) keys; /* of the rows in list, while they are sorted */
    struct buf texts;             /* of the keys, each with its end */
    uint32_t *places;             /* by row, when they are sorted: its place in list, plus 1 */
    uint64_t read;                /* rows looked at so far */

    /* A merge sort that can be left and gone on with: runs of `width` places are sorted, and those
     * at `begin` are being merged into `merged`. 0: not begun. */
    size_t width, begin, left, right;
    uint32_t *order, *merged; /* places in list */
    bool sorted;
    struct row scratch;
};

void rows_init(struct rows *r, struct view *v);
void rows_free(struct rows *r);

/* NULL or "": no filter. False when the text makes no sense. */
bool rows_filter(struct rows *r, const char *text, struct error *e);

/* By a column's title or the beginning of it, with a − before it from the largest; NULL or "": as
 * they come. */
bool rows_sort(struct rows *r, const char *column, struct error *e);

/* The view has other rows than before: what is filtered or sorted is read anew. True when it is. */
bool rows_again(struct rows *r);

/* Reads on until the deadline (clock_now()); *done when there is nothing left to do. */
bool rows_settle(struct rows *r, uint64_t deadline, bool *done, struct error *e);

/* How far it is: 0 … 100. */
int rows_percent(const struct rows *r);

/* Rows that are shown as far as is known; the row at a place from 0 on; the place of a row, or the
 * place that it would have. */
uint64_t rows_count(const struct rows *r);
uint64_t rows_at(const struct rows *r, uint64_t place);
uint64_t rows_place(const struct rows *r, uint64_t row);

#endif
