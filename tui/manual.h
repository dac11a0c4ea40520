/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * manual: the man page flotsam.1. Its prose is tui/flotsam.1.in, in mdoc(7); a line there that
 * begins with @ stands for a list that is made from the table which the program itself goes by, so
 * that the page cannot say anything else:
 *
 *     @version     the program's version
 *     @commands    the subcommands and their options (tui/commands.c)
 *     @requests    the debugger's keys and commands (tui/requests.h)
 *     @themes      the themes that are compiled in
 *     @models      the persistence models, and
 *     @switches    what can be set of them (engine/model.h)
 *     @config      the keys of a config (engine/config.c)
 */
#ifndef TUI_MANUAL_H
#define TUI_MANUAL_H

#include "engine/buf.h"

/* Appends the page's source. */
void manual_add(struct buf *out);

#endif
