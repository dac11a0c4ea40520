/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rescue: gives the terminal back when the program crashes.
 */
#ifndef TUI_RESCUE_H
#define TUI_RESCUE_H

#include <stdbool.h>

/* Remembers how the terminal is now, and what makes it so again. False when it is not known. *moves:
 * its cursor can be moved, so that a screen can be drawn. */
bool rescue_prepare(bool *moves);

/* From now on the terminal is not as it was (true), or it is again (false). */
void rescue_arm(bool taken);

#endif
