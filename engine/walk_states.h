/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * walk_states: the files of the schedule in hand, and those of the run without a crash: with
 * everything persisted that had been issued by then. Both follow the walk in slices, so that a long
 * run never keeps anybody waiting.
 */
#ifndef ENGINE_WALK_STATES_H
#define ENGINE_WALK_STATES_H

#include "engine/schedule.h"
#include "engine/walk.h"

struct walk_states;

/* All must outlive it. Nothing is read before the first slice. */
struct walk_states *walk_states_new(struct walk *w, const struct graph *g,
                                    const struct state_source *source);
void walk_states_free(struct walk_states *s);

/* Works towards the schedule that is in hand now, until clock_now() reaches the deadline or a
 * little longer; but the first slices read the starting image, once each. *done: both states are
 * there. */
bool walk_states_settle(struct walk_states *s, uint64_t deadline, bool *done, struct error *e);

/* The version of the walk that the states are of; 0 while they are on the way. */
uint64_t walk_states_version(const struct walk_states *s);

/* How far it is on the way, 0 to 100. */
int walk_states_percent(const struct walk_states *s);

/* NULL when they are not there. Valid until the next slice. */
struct state *walk_states_hand(struct walk_states *s);
struct state *walk_states_whole(struct walk_states *s);

#endif
