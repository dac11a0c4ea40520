/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sentence: what a view says in prose, as lines that fit a narrow screen; for the details of a row.
 */
#ifndef VIEWS_SENTENCE_H
#define VIEWS_SENTENCE_H

#include "views/view.h"

struct sentences {
    vec_of(char *) lines;
};

/* Adds a paragraph, broken at its spaces. It is safe to show already. */
void sentences_add(struct sentences *s, const char *safe);
void sentences_free(struct sentences *s);

/* A view's detail: line n, *more false when there is none. */
bool sentences_detail(const struct sentences *s, size_t n, struct cell *out, bool *more);

#endif
