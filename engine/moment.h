/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * moment: from positions (stream.h) back to the events that people know. Positions say exactly when
 * something was durable or a crash came; a person wants to hear of the call.
 */
#ifndef ENGINE_MOMENT_H
#define ENGINE_MOMENT_H

#include <stdint.h>

#include "engine/session.h"

/* The last event that had begun before a position; 0 when none had. O(log n). */
uint64_t moment_begun(struct session *s, uint64_t position);

/* The event that returned at a position; 0 when none did, as at those that are only pretended
 * (graph_fix_at). Takes O(log n) steps and one for each
 * event that was entered since that one. */
uint64_t moment_returned(struct session *s, uint64_t position);

#endif
