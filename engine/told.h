/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * told: what the program had told the world by some moment of the run: its standard output and its
 * markers. It can be held to that, and to no more. Something counts as told when the call that told
 * it had returned. Of a line that is printed in pieces, nothing does before its last; but when the
 * program changed or synced data between two of them, the first is told by itself.
 */
#ifndef ENGINE_TOLD_H
#define ENGINE_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/buf.h"
#include "engine/error.h"
#include "engine/session.h"

struct told;

bool told_new(struct told **out, struct session *session, struct error *e);
void told_free(struct told *t);

/* The beginning, `most` bytes of it, of what an event that tells something ended by that: a marker,
 * or a print with what had been printed before of its first line. */
bool told_line(struct session *s, uint64_t event, size_t most, struct buf *out, struct error *e);

struct told_until {
    const char *printed; /* not terminated */
    size_t printed_size;
    const char *markers; /* one a line, not terminated */
    size_t markers_size;
    uint64_t hash;  /* of both; equal when both are */
    size_t count;   /* how many prints and markers that is */
};

/* What had been told before a position; O(log n). Valid until told_free. */
struct told_until told_before(const struct told *t, uint64_t position);

/* The events that told something, in the order in which they returned: the i-th, from 0. */
size_t told_count(const struct told *t);
uint64_t told_event(const struct told *t, size_t i);
uint64_t told_position(const struct told *t, size_t i); /* at which it had returned */

#endif
