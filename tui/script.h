/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * script: the debugger's commands from a file, with or without a terminal.
 */
#ifndef TUI_SCRIPT_H
#define TUI_SCRIPT_H

#include "engine/error.h"
#include "tui/debugger.h"

/* Runs one command a line on a screen in memory, waiting for each to finish, until `quit` or the
 * end. A command that fails ends it, with the file and the line in the error, as does one
 * that began what failed while it was waited for. "-" is standard
 * input. */
bool script_run(const char *session, const char *file, const char *theme, int columns, int rows,
                struct error *e);

/* The commands that a person wants run at each start, from $XDG_CONFIG_HOME/flotsam/init: bindings
 * and the like. One that fails is told on the screen. */
void script_init(struct debugger *d);

/* Until nothing is under way any more. */
void script_wait(struct debugger *d);

#endif
