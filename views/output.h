/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * output: what a checker printed, a row a line, while it arrives; then how it ended.
 */
#ifndef VIEWS_OUTPUT_H
#define VIEWS_OUTPUT_H

#include "engine/verdict.h"
#include "views/view.h"

/* More is not kept: a checker that prints without end must not take all memory. Rows say so. */
enum { OUTPUT_LINES_MAX = 100000, OUTPUT_LINE_MAX = 4096 };

struct view *output_view(void);

/* Adds bytes as they come; a line may come in pieces, a character as well. */
void output_add(struct view *v, const char *bytes, size_t n);

/* Until it has ended, says this below what came. */
void output_note(struct view *v, const char *note);

/* It has ended. What is not known of that is left out: a verdict from an earlier check has no time
 * (OUTPUT_UNTIMED), one from the list of states has an exit status of OUTPUT_UNTOLD besides. */
enum { OUTPUT_UNTIMED = -1, OUTPUT_UNTOLD = -1 };
void output_end(struct view *v, const struct verdict *verdict);

#endif
