/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * output: writes a file that a person asked for, as a whole. Readers see the old one or the new
 * one, also after a crash; a device or a pipe is written to, never replaced.
 */
#ifndef ENGINE_OUTPUT_H
#define ENGINE_OUTPUT_H

#include <stdbool.h>

#include "engine/buf.h"
#include "engine/error.h"

/* Whether the file may be written over: not when it is a session. */
bool output_may_replace(const char *path, struct error *e);

/* what says what it is in the message of a failure: "the report". */
bool output_file(const char *path, const struct buf *text, const char *what, struct error *e);

#endif
