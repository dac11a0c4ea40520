/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * help: keys and commands, from the one table that also makes the bindings.
 */
#ifndef VIEWS_HELP_H
#define VIEWS_HELP_H

#include "views/view.h"

struct help_entry {
    const char *section; /* entries of one stand together; a row with its name comes first */
    const char *key;     /* "" when none leads there */
    const char *name;    /* as it is typed */
    const char *text;    /* what it does */
};

/* Our own texts, which must outlive the view. */
struct view *help_view(const struct help_entry *entries, size_t n);

/* The row of a command, by the first word of its name; 0 when there is none. */
uint64_t help_row(struct view *v, const char *name);

#endif
