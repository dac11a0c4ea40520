/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * change: what the last move of the schedule in hand did, and why: a row for each op that followed
 * the one that was chosen, with the edge and the rule; or why a move was not possible.
 */
#ifndef VIEWS_CHANGE_H
#define VIEWS_CHANGE_H

#include "engine/analysis.h"
#include "engine/walk.h"
#include "views/view.h"

/* Both must outlive the view. It shows what the walk has when it is drawn. */
struct view *change_view(struct analysis *a, struct walk *walk);

/* The same in a sentence. Nothing is added when there is nothing to say: a step says itself. */
bool change_words(struct cell *c, struct analysis *a, const struct walk *w, struct error *e);

#endif
