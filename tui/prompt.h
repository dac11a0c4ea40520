/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * prompt: the line at the bottom while something is typed there, by readline: its editing keys, its
 * history, completion by Tab. It draws nothing on a terminal itself and reads nothing from one.
 *
 * readline has one state for the whole program and gives its callbacks no argument, so there is one
 * prompt at a time.
 */
#ifndef TUI_PROMPT_H
#define TUI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/buf.h"

struct debugger;
struct prompt;

enum prompt_kind { PROMPT_COMMAND, PROMPT_SEARCH, PROMPT_FILTER, PROMPT_NOTE };

/* Completion asks the debugger. history_file: where lines are kept; NULL: nowhere. */
struct prompt *prompt_new(struct debugger *d, const char *history_file);
void prompt_free(struct prompt *p);

/* Begins a line with some text in it. */
void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text);
bool prompt_is_open(const struct prompt *p);
enum prompt_kind prompt_kind(const struct prompt *p);

/* A key. True when the line is finished: prompt_line() is it, or NULL when it was given up; the
 * prompt is closed then. */
bool prompt_key(struct prompt *p, uint32_t key);
const char *prompt_line(const struct prompt *p);

/* Puts a command into the history as if it had been typed. */
void prompt_remember(struct prompt *p, const char *command);

/* What stands there: the sign before the line, the line in safe text, and the columns of it that
 * lie before the cursor. */
const char *prompt_sign(const struct prompt *p);
void prompt_text(const struct prompt *p, struct buf *safe, int *cursor);

/* What completion found and cannot decide, in safe text; "" when there is nothing to say. */
const char *prompt_choices(const struct prompt *p);

#endif
