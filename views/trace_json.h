/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace_json: an event as a flat JSON object, with the names of CLI.md's OP and these more:
 *
 *   syscall     the system call's own name; null when the event was none
 *   thread, process, tid, pid    the first two are numbers of this trace
 *   entry, exit  positions in the one order of all entries and exits; exit null when unfinished
 *   time        seconds from the start of the recording
 *   result      what the call returned; error is its name when it failed, such as "ENOENT"
 *   unfinished  true when it never returned
 *   fd, mode, flags   as the call had them, numbers
 *   words       flags and traits by name: ["create", "append"]
 *   file, line, function   the innermost frame with source; stack: all, innermost first
 *   inode, other_inode   which file it was, whatever its names; numbers of this trace
 *   other_path, other_offset   the second file of a rename or a copy
 *   field, type, stored, instance, confidence   of a store, where they are known: "bucket.tokens",
 *               "bucket", "slot[2].tokens = 3", where the object begins in the file, and how that
 *               was found: exact, by the code's field or by the address alone
 *   cache_line  of a flush: which one of the file, from 0
 *   text        of a print, a marker, a symbolic link's target; text_size when it is cut short
 *
 * Paths and texts may hold any bytes, JSON only Unicode. Where they are not valid UTF-8 the string
 * has the offending bytes as \xHH and backslashes doubled, and NAME_bytes has all of them in
 * hexadecimal.
 *
 * Members that mean nothing for an event are left out, except OP's own.
 */
#ifndef VIEWS_TRACE_JSON_H
#define VIEWS_TRACE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/buf.h"
#include "engine/error.h"
#include "engine/fields.h"
#include "engine/session.h"
#include "engine/symbols.h"

struct trace_json;

/* All must outlive it; fields may be NULL. */
struct trace_json *trace_json_open(struct session *s, struct symbols *sy, const struct fields *f);
void trace_json_close(struct trace_json *t);

/* Appends the object of event `number`: one line of printable ASCII, without a newline. */
bool trace_json_event(struct trace_json *t, uint64_t number, struct buf *out, struct error *e);

#endif
