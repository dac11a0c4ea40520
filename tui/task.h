/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * task: what the debugger has others do, and what it does with their answers: checks and single
 * tests by the worker, and the state of the schedule in hand, which is worked out in slices.
 */
#ifndef TUI_TASK_H
#define TUI_TASK_H

#include "tui/debugger.h"
#include "views/overview.h"

/* Starts the worker when it is not there, or died. */
bool task_worker(struct debugger *d, struct error *e);

/* Reads all that the worker has said. */
void task_take(struct debugger *d);

/* Goes on with the state in hand, and with the views of it. */
bool task_settle_state(struct debugger *d, uint64_t deadline, bool *done, struct error *e);

/* How far the check is that runs, in the overview's terms; false when none does. */
bool task_progress(const struct debugger *d, struct overview_progress *out);

#endif
