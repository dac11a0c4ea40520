/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * check: checks a session and tells what was found; what `flotsam check` and `flotsam run` share.
 */
#ifndef TUI_CHECK_H
#define TUI_CHECK_H

#include "engine/check.h"

enum check_telling { CHECK_TELLS_NOTHING, CHECK_TELLS_SHORTLY, CHECK_TELLS_ALL };

/* Data directory and working folder are the session's when they are not set. Prints a line a bug,
 * the whole report, or nothing. Returns the exit status: STATUS_FAILED, too, when a run that was
 * recorded for it, of which nothing or the whole report is told, changed nothing. */
int check_session(const char *path, struct check_options *options, enum check_telling telling);

/* Whether the last one was interrupted at the keyboard, which ends the check; other signals want
 * all of us to end. */
bool check_ended_by_person(void);

#endif
