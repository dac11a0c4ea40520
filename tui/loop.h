/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * loop: the debugger on a terminal, until somebody leaves it.
 */
#ifndef TUI_LOOP_H
#define TUI_LOOP_H

#include "engine/error.h"

/* theme NULL: what suits the terminal. */
bool loop_run(const char *session, const char *theme, struct error *e);

#endif
