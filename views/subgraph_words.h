/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * subgraph_words: the nodes and edges of a subgraph in words, for its picture on a screen and for
 * exported ones. All of it is safe to show.
 */
#ifndef VIEWS_SUBGRAPH_WORDS_H
#define VIEWS_SUBGRAPH_WORDS_H

#include "engine/subgraph.h"
#include "views/view.h"

/* What it does, as short as can be: "rename", "write 0+41", "alloc 0+4096", "fsync",
 * "sfence", "print \"saved\""; a store by its field: "bucket.tokens = 3". */
bool node_what(struct cell *c, const struct subgraph *s, size_t node, struct error *e);

/* To which file: "log", "a → b"; nothing where there is none. */
bool node_path(struct cell *c, const struct subgraph *s, size_t node, struct error *e);

/* From where: the function, and file:line. */
bool node_place(struct cell *function, struct cell *source, const struct subgraph *s, size_t node,
                struct error *e);

/* "op 7", "event 26", "pretended after event 26". */
void node_name(struct cell *c, const struct subgraph *s, size_t node);

/* Its mark as a sign, with its style; "" without a schedule. */
const char *mark_sign(enum subgraph_mark mark);
enum style mark_style(enum subgraph_mark mark);
const char *mark_word(enum subgraph_mark mark);

#endif
