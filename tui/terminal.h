/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * terminal: brings a screen to a real terminal and keys from it, by curses. Nothing else in the
 * program knows curses. However the program ends, but by SIGKILL, the terminal is as it was before:
 * also when it crashes.
 */
#ifndef TUI_TERMINAL_H
#define TUI_TERMINAL_H

#include "engine/error.h"
#include "tui/keys.h"
#include "tui/screen.h"
#include "tui/theme.h"

struct terminal;

/* Takes the terminal over. Fails when standard input or output is none, or cannot do what it takes.
 */
bool terminal_open(struct terminal **out, struct error *e);
void terminal_close(struct terminal *t);

void terminal_size(const struct terminal *t, int *columns, int *rows);

/* Its size has changed (SIGWINCH): the next thing read is the new one. */
void terminal_measure(struct terminal *t);

/* Whether it shows colours, and NO_COLOR does not forbid them. */
bool terminal_has_colours(const struct terminal *t);

/* Shows the screen; anew: whatever the terminal has in sight now is taken for wrong. */
void terminal_draw(struct terminal *t, const struct screen *s, const struct theme *theme,
                   bool anew);

/* The next thing that was typed; INPUT_NONE when nothing was. Never waits. */
struct input terminal_read(struct terminal *t);

/* Gives the terminal back for a while, and takes it again. */
void terminal_leave(struct terminal *t);
void terminal_return(struct terminal *t);

/* Puts text on the clipboard of terminals that have one (OSC 52). */
void terminal_copy(struct terminal *t, const char *text, size_t n);

#endif
