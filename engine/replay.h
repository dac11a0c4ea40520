/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * replay: what a recorded run did to its data directory. The starting image of a session, and each
 * event's change to it, as engine/stream.h says for its family. Events are taken in the order in
 * which they began. Failed ones change nothing; what an unfinished one did is not known, and it
 * changes nothing either.
 *
 * A session that says impossible things gives an error that names the event.
 */
#ifndef ENGINE_REPLAY_H
#define ENGINE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/session.h"
#include "engine/stream.h"
#include "engine/tree.h"

/* The starting image as a tree, which the caller frees with tree_free. */
bool replay_start(struct session *s, struct tree **out, struct error *e);

/* Whether events of this family can change files or names. */
bool replay_changes(enum call call);

/* Applies one event. When it fails the tree is as before, but that a file without a name may have
 * been added. */
bool replay_event(struct tree *t, struct session *s, const struct event *event, struct error *e);

struct replay_counts {
    uint64_t events;     /* looked at: all of the session's */
    uint64_t applied;    /* changed something, or could have */
    uint64_t unfinished; /* would have changed something, but never returned */
    uint64_t reordered;  /* ran at the same time as others, and were possible only after them */
    uint64_t mappings;   /* shared and writable: what was stored there is replayed only when the
                            session has stores */
};

/* The tree at the end of the run, nothing lost. The caller frees it with tree_free. */
bool replay_end(struct session *s, struct tree **out, struct replay_counts *counts,
                struct error *e);

#endif
