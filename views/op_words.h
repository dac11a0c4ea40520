/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * op_words: one op as views show it. Cells get text that is safe to show, with styles by meaning.
 */
#ifndef VIEWS_OP_WORDS_H
#define VIEWS_OP_WORDS_H

#include "engine/analysis.h"
#include "views/view.h"

/* The file: "a.tmp → a" for a rename. */
bool op_path(struct cell *c, struct analysis *a, uint32_t op, struct error *e);

/* What of the file it is: "0+41", "length 41"; nothing for a name. */
void op_part(struct cell *c, const struct op *op);

/* All of it: "write MANIFEST-000002 0+41 data", "store bucket.tokens = 3 (table 128+8)". */
bool op_what(struct cell *c, struct analysis *a, uint32_t op, struct error *e);

/* The innermost function with source, and its file:line. */
bool op_place(struct cell *function, struct cell *source, struct analysis *a, uint32_t op,
              struct error *e);

/* The event whose return makes it durable for certain; 0: none does, or a sync that is only
 * pretended. */
uint64_t op_durable(struct analysis *a, uint32_t op);

/* What makes it durable: "26 fdatasync log", "pretended fsync of log after event 22". Leaves the
 * cell alone when nothing does. */
bool op_durable_words(struct cell *c, struct analysis *a, uint32_t op, struct error *e);

/* The model that says how two ops are ordered: that of stores when both are such, else that of the
 * file system. */
const char *order_model(const struct graph *g, uint32_t a, uint32_t b);

/* An event as a cell: "26 fdatasync log", "12 sfence", as little as tells it. */
bool event_words(struct cell *c, struct analysis *a, uint64_t number, struct error *e);

#endif
