/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store_words: stores, flushes and fences as views show them: by the field that was written, the
 * cache line and the instruction, where a system call has a file and a range.
 */
#ifndef VIEWS_STORE_WORDS_H
#define VIEWS_STORE_WORDS_H

#include "engine/fields.h"
#include "engine/stream.h"
#include "views/view.h"

/* Adds what a store wrote: "bucket.slot[2].key = 7"; the field alone when its place in the object
 * is not known. False, with nothing added, when nothing is known. f may be NULL. */
bool store_field(struct cell *c, const struct fields *f, uint64_t event);

/* Adds how the field was found, unless the code itself says it: " by address". */
void store_confidence(struct cell *c, const struct fields *f, uint64_t event);

/* Adds " line 3": a cache line of its file, as flushes have them. */
void store_line(struct cell *c, uint64_t offset);

/* What an event that makes stores durable is called: "sfence", "clwb"; others by their family. */
const char *sync_name(const struct event *event);

#endif
