/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * rules: why things are in the order they are. Of an op: everything that it must follow and that
 * must follow it, by which rules, and what makes it durable. Of a bug: why the model lets what was
 * lost be lost while the rest survives.
 */
#ifndef VIEWS_RULES_H
#define VIEWS_RULES_H

#include <jansson.h>

#include "engine/analysis.h"
#include "views/view.h"

/* For panes of so many columns. The analysis must outlive the views. NULL on failure. */
struct view *rules_of_op(struct analysis *a, uint32_t op, int columns, struct error *e);
struct view *rules_of_bug(struct analysis *a, const json_t *bug, int columns, struct error *e);

#endif
