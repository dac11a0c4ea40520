/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * difference: one file of the state in hand against the run without a crash. Lines where both look
 * like text, else bytes; what is the same is left out but for a row that says how much. Side by
 * side where there is room, otherwise one below the other.
 */
#ifndef VIEWS_DIFFERENCE_H
#define VIEWS_DIFFERENCE_H

#include "engine/walk_states.h"
#include "views/view.h"

/* The states must outlive the view; the path is from the data directory. */
struct view *difference_view(struct walk_states *states, const char *path);

/* Goes on until the states are there and the file is compared. To be called after every move. */
bool difference_view_settle(struct view *v, uint64_t deadline, bool *done, struct error *e);

/* How wide its pane is; side by side from DIFFERENCE_WIDE on. True when its columns are others than
 * before. */
enum { DIFFERENCE_WIDE = 72 };
bool difference_view_width(struct view *v, int columns);

const char *difference_view_path(struct view *v);

#endif
