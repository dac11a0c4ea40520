/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * complete: what a word at the prompt may become: commands, and for their arguments what the table
 * of requests says they are: views, columns, themes, models, functions, files, ids.
 */
#ifndef TUI_COMPLETE_H
#define TUI_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/vec.h"

struct debugger;

struct choices {
    vec_of(char *) at;
    bool files; /* names of files may stand here too */
};

/* Words that begin with the last one of line[0 … n), each once. */
void complete(struct debugger *d, const char *line, size_t n, struct choices *out);
void choices_free(struct choices *c);

#endif
