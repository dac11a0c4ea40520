/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * loop: the debugger on a terminal, until somebody leaves it.
 */
#ifndef TUI_LOOP_H
#define TUI_LOOP_H

#include "engine/clock.h"
#include "engine/error.h"

/* Work in the background may take this long between two looks at the keys. */
#define LOOP_SLICE (10 * NANOSECONDS_PER_MS)

/* And this long between a key and the screen that shows what it did. */
#define LOOP_BRIEF (3 * NANOSECONDS_PER_MS)

/* theme NULL: what suits the terminal. */
bool loop_run(const char *session, const char *theme, struct error *e);

#endif
