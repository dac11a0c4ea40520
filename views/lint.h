/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lint: what engine/lint.h found, a row a finding: how often, what it is, and the first event that
 * shows it, with its source. The rest of its stack is in the details.
 */
#ifndef VIEWS_LINT_H
#define VIEWS_LINT_H

#include <jansson.h>

#include "engine/fields.h"
#include "engine/lint.h"
#include "views/view.h"

/* All must outlive the view; fields may be NULL. */
struct view *lint_view(struct session *s, struct symbols *sy, const struct fields *f,
                       const struct lint *l);

/* A row as an object: kind, words, count, stores (the model), and of the first event what CLI.md's
 * OP has. */
json_t *lint_view_json(struct view *v, uint64_t row, struct error *e);

#endif
