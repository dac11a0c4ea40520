/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dump: what the debugger shows, written down.
 */
#ifndef TUI_DUMP_H
#define TUI_DUMP_H

#include "tui/pane.h"

/* All rows that a pane shows, in sight or not, written to a file as a table. There may be a million
 * of them: it is done in slices, and fails when the pane shows something else before it has read
 * them. The file is written when all have been. */
struct dump;

/* NULL with what is wrong. "-" is standard output, unless a screen is drawn there. */
struct dump *dump_start(struct pane *p, const char *path, bool drawn, struct error *e);

/* Goes on until the deadline (clock_now()); *done: all of it is in the file. */
bool dump_work(struct dump *u, uint64_t deadline, bool *done, struct error *e);

const char *dump_path(const struct dump *u);
int dump_percent(const struct dump *u); /* 0 … 100 */

/* Frees it, whether or not it is done. NULL is fine. */
void dump_end(struct dump *u);

/* Writes a file as a whole; "-" is standard output, unless a screen is drawn there. */
bool dump_file(const char *path, const struct buf *text, bool drawn, struct error *e);

#endif
