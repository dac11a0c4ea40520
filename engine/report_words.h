/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * report_words: what the ways to print a report have in common. A report comes from a session and
 * may hold anything: members that are missing or of another type read as "" and 0, and all text
 * comes out escaped (engine/escape.h; flags are its flags).
 */
#ifndef ENGINE_REPORT_WORDS_H
#define ENGINE_REPORT_WORDS_H

#include <jansson.h>
#include <stdbool.h>

#include "engine/buf.h"

bool report_has(const json_t *o, const char *key); /* a text that is not empty */
void report_add(struct buf *out, const json_t *o, const char *key, int flags);
json_int_t report_number(const json_t *o, const char *key);
double report_real(const json_t *o, const char *key);

/* "1 state", "7 states"; the plural is made with an s. */
void report_count(struct buf *out, json_int_t n, const char *thing);

/* "rename CURRENT.new to CURRENT", "write manifest-2 0+64: data", "print \"saved\"", "store
 * bucket.tokens = 3 (table 128+8)". */
void report_add_op(struct buf *out, const json_t *op, int flags);

/* "set_current db.c:41" of an op or of a frame, the file as its name alone or in full; "" when
 * neither function nor line is known. */
void report_add_place(struct buf *out, const json_t *at, bool whole_path, int flags);

/* Where to look first: what survived when its source line is known, else the first lost op that
 * has one. NULL when there is no op at all. */
const json_t *report_culprit(const json_t *bug);

/* "exit status 1", "killed by SIGSEGV", "not done within the time limit". */
void report_add_verdict(struct buf *out, const json_t *bug);

/* What to do about a bug, and whether that was tried. Sessions of older checks have the words
 * alone. */
bool report_has_fix(const json_t *bug);
void report_add_fix(struct buf *out, const json_t *bug, int flags);

/* "flotsam replay SESSION bug:N DIR", for a shell. */
void report_add_replay(struct buf *out, const json_t *report, const json_t *bug);

/* Why a report without bugs is no good news: nothing was tested, or what failed once did not fail
 * again. NULL when it is. */
const char *report_caveat(const json_t *report);

/* Bugs that somebody set aside: a status of ignored or duplicate. */
bool report_set_aside(const json_t *bug);

/* JSON in printable ASCII, indented, with a newline at the end. */
void report_dump(struct buf *out, const json_t *value);

#endif
