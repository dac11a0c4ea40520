/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * schedule: what survived a crash. A set of ops that is closed under "must persist before" is
 * written as its last op and the first ones that it lacks: everything issued up to `last` survived,
 * but for `lost` and what must not persist before them. One set has one such form.
 *
 * A stepper keeps a state and moves it from schedule to schedule, at a cost of what lies between
 * the first op in which they differ and their ends.
 */
#ifndef ENGINE_SCHEDULE_H
#define ENGINE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/graph.h"
#include "engine/state.h"

struct schedule {
    uint32_t last;        /* NO_OP: nothing survived */
    uint32_t lost_count;
    const uint32_t *lost; /* ascending, none of them before another, all issued before last */
};

/* The position just before which the crash came, as late as the survivors allow: the first sync
 * that makes a lost op durable had not returned. NEVER: the run had ended. */
uint64_t schedule_crash(const struct graph *g, const struct schedule *s);

/* Which ops the lost ones take with them, themselves included: gone[i] says it of op lost[0] + i, up
 * to the last. Needs a lost op. */
void schedule_gone(const struct graph *g, const struct schedule *s, bool *gone);

struct stepper;

bool stepper_new(struct stepper **out, const struct graph *g, const struct state_source *source,
                 struct error *e);
void stepper_free(struct stepper *s);

/* Makes the state that of the schedule. */
bool stepper_go(struct stepper *s, const struct schedule *to, struct error *e);

/* The same in slices: aim, then settle until it is done; each slice works until clock_now() reaches
 * the deadline, or a little longer. Until then the state is one on the way. One may aim again at any
 * time. */
void stepper_aim(struct stepper *s, const struct schedule *to);
/* The same when all that is lost is known: ascending, nothing but ops issued up to the last. */
void stepper_aim_without(struct stepper *s, uint32_t last, const uint32_t *lost, size_t n);
bool stepper_settle(struct stepper *s, uint64_t deadline, bool *done, struct error *e);
uint64_t stepper_left(const struct stepper *s); /* about how many ops are to go; 0 when done */

/* The same for any set of ops: survives[i] for i ≤ last. It must be closed. */
bool stepper_go_set(struct stepper *s, const bool *survives, uint32_t last, struct error *e);

struct state *stepper_state(struct stepper *s);

/* All ops that the schedule at hand lacks among those issued up to its last, ascending. */
const uint32_t *stepper_lost(const struct stepper *s, size_t *count);

#endif
