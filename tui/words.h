/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * words: the arguments of a request, taken apart.
 */
#ifndef TUI_WORDS_H
#define TUI_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/error.h"
#include "views/view.h"

/* The next word, in a string that the caller frees; NULL when there is none. *words moves on. */
char *words_next(const char **words);

/* A whole number; "" gives the default. what names it in the error: "a number of steps". */
bool words_number(const char *words, uint64_t otherwise, const char *what, uint64_t *out,
                  struct error *e);

/* "op:3", "event:27" and so on; or a number alone, of the given kind. False, without a word, when
 * it is neither. */
bool words_subject(const char *word, enum subject_kind alone, struct subject *out);

/* "op", "event", …; NULL for kinds that have no numbers. */
const char *subject_kind_name(enum subject_kind kind);

/* What people edit texts with: $VISUAL, or else $EDITOR; NULL: neither says anything. */
const char *words_editor(void);

#endif
