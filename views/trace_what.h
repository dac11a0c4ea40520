/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * trace_what: an event's arguments in words that people read: paths, offset+size, flags by name.
 */
#ifndef VIEWS_TRACE_WHAT_H
#define VIEWS_TRACE_WHAT_H

#include "engine/fields.h"
#include "engine/session.h"
#include "engine/stream.h"
#include "engine/symbols.h"
#include "views/view.h"

/* Calls word for each thing to say of the event's flags and traits: create, append, punch-hole. */
void trace_words(const struct event *event, void (*word)(void *data, const char *word), void *data);

/* Adds what the event did and to what: "log 4096+128 append", "a.tmp → a", a printed text; of a
 * store the field, "entry[3].valid = 1 (table 24+8)", where f knows it. f may be NULL. */
void trace_what(struct cell *c, struct session *s, const struct fields *f, uint64_t number,
                const struct event *event);

/* Adds what came of it: a number, ENOENT, "unfinished". */
void trace_result(struct cell *c, const struct event *event);

/* What kind of call it is, by its family. */
enum style trace_call_style(uint16_t call);

/* Adds a path, or when there is none the one by which the file was first seen. */
void trace_path(struct cell *c, struct session *s, uint32_t path, uint32_t file);

/* Adds a function and its file:line, the file relative to where the program was started. source is
 * NULL where a line inside the system's own code would only distract. */
void trace_location(struct session *s, const struct location *l, struct cell *function,
                    struct cell *source);

#endif
