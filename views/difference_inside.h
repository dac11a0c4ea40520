/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the parts of views/difference.h share: difference.c finds the file and compares bytes,
 * difference_text.c lines.
 */
#ifndef VIEWS_DIFFERENCE_INSIDE_H
#define VIEWS_DIFFERENCE_INSIDE_H

#include "views/view.h"

/* One row of a comparison of lines: a line of either side or of both, or how many are left out. */
struct text_row {
    uint32_t whole, hand; /* NO_TEXT: none on that side */
    uint32_t skipped;     /* lines that are the same; 0: a row of lines */
};

#define NO_TEXT UINT32_MAX

struct text_side {
    char *bytes;
    size_t n;
    vec_of(size_t) lines; /* where each begins; and the end */
};

struct text_rows {
    vec_of(struct text_row) at;
};

/* Whether bytes look like text: no NUL, few controls. */
bool text_looks(const char *bytes, size_t n);

void text_split(struct text_side *side);

/* Which lines of two texts match, as rows. paired: a line that is gone stands beside one that came
 * in its place. */
void text_compare(const struct text_side *whole, const struct text_side *hand, bool paired,
                  struct text_rows *out);

/* A line without its newline. */
const char *text_line(const struct text_side *side, uint32_t line, size_t *n);

#endif
