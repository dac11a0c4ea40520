/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dump: what the debugger shows, written down.
 */
#ifndef TUI_DUMP_H
#define TUI_DUMP_H

#include "tui/pane.h"

/* All rows that a pane shows, in sight or not, as a table. */
void dump_view(struct pane *p, struct buf *out);

/* Writes a file as a whole; "-" is standard output, unless a screen is drawn there. */
bool dump_file(const char *path, const struct buf *text, bool drawn, struct error *e);

#endif
