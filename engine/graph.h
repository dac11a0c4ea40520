/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * graph: the persistence graph. Ops as nodes, "must persist before" as edges.
 *
 * Only direct edges are stored, a few an op (same block, same file, same entry, the journal); the
 * rest follows: an op must persist before another when a path of direct edges leads there, or when
 * it was durable before the other was issued. durable(a) is the position at which the earliest
 * sync that covers a, or that covers something a must precede, has returned.
 *
 * A *fix* is a sync that the program did not make, pretended to see what it would change: it begins
 * and returns at once, after one event has returned and before anything else happens. Its position
 * is one that no event has (session.h); events and ops keep their numbers, unless the model has a
 * sync carry copies of ops: these are counted among the ops of the last event begun before.
 *
 * Building is one pass over the events and two over the ops; memory is O(ops).
 */
#ifndef ENGINE_GRAPH_H
#define ENGINE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/interrupt.h"
#include "engine/model.h"
#include "engine/op.h"
#include "engine/stream.h"

struct fix {
    uint64_t after; /* the event; it must have returned */
    uint32_t file;  /* what is synced: a file or a directory; 0 for CALL_SYNC */
    uint16_t call;  /* CALL_FSYNC, CALL_FDATASYNC, CALL_SYNC; CALL_FLUSH: cache lines, with a fence */
    uint64_t store; /* CALL_FLUSH: the event whose lines are flushed; 0 */
};

/* Where events and the starting image come from: a session, or a litmus program. */
struct graph_source {
    void *data;
    uint64_t events;
    bool (*event)(void *data, uint64_t number, struct event *out, struct error *e);
    /* Files that exist before the run: length, and whether a block has data (no hole). */
    uint64_t (*length)(void *data, uint32_t file);
    bool (*has_block)(void *data, uint32_t file, uint64_t block);
    const struct fix *fixes; /* in any order; only when all positions of the events are even */
    size_t fix_count;
    const struct interrupt *interrupt; /* NULL: nobody asks */
};

struct placed_fix {
    struct fix fix;
    uint64_t position; /* at which it begins and returns */
    uint64_t offset, size; /* CALL_FLUSH: what is flushed */
};

struct graph_edge {
    uint32_t from;
    uint32_t rule; /* enum model_rule */
};

/* A position that never comes: not durable by the end of the run. */
#define NEVER UINT64_MAX

struct graph {
    struct model model;
    size_t n;
    struct op *ops;
    uint64_t *issued;  /* position at which each op was issued */
    uint64_t *durable; /* position at which it is certain to be durable; NEVER */
    uint64_t *lacking; /* lacking[i]: the smallest durable over ops i, i+1, …; [n] is NEVER */
    uint32_t *first;   /* n + 1: edges into op i are edges[first[i]] … edges[first[i + 1] − 1] */
    struct graph_edge *edges;
    uint32_t *event_first; /* [events + 2]: the first op issued at or after an event's entry */
    uint64_t events;
    uint64_t end; /* the last position of the run */
    unsigned stores; /* bit 1 << s: there are stores that the model STORES_s was taken for */
    struct placed_fix *fixes; /* by position */
    size_t fix_count;
    uint32_t *copies; /* the ops that syncs carried (OP_CARRIED), ascending */
    size_t copy_count;
};

/* Fails when the source does, when it is interrupted, when a fix comes after no event that returned,
 * or when a call or the run is larger than can be followed by blocks. */
bool graph_build(struct graph **out, const struct model *model, const struct graph_source *source,
                 struct error *e);
void graph_free(struct graph *g);

/* What is pretended at a position; NULL when nothing is. */
const struct fix *graph_fix_at(const struct graph *g, uint64_t position);

/* Whether a must persist before b (a ≠ b). Cheap when a sync or nothing decides; otherwise walks
 * back from b, no further than a. */
bool graph_before(const struct graph *g, uint32_t a, uint32_t b);

/* A shortest chain of reasons for it: steps[0] explains why the op that follows a …, the last why
 * … b; at most max are written, the number of steps is returned, 0 when a need not precede b. */
struct graph_step {
    uint32_t from, to;
    enum model_rule rule;
};
size_t graph_why(const struct graph *g, uint32_t a, uint32_t b, struct graph_step *steps,
                 size_t max);

/* Restricts the order to a few ops, given in ascending order: bit j of row i of `below` (a row has
 * (n + 63) / 64 words) is set when ops[j] must persist before ops[i]. Takes as long as there are ops
 * in flight together with them, however far apart they are. */
void graph_closure(const struct graph *g, const uint32_t *ops, size_t n, uint64_t *below);

/* The first op issued at or after a position, and behind it; the graph's n when there is none. What
 * is durable at a position must persist before what is issued behind it: a sync that is pretended
 * issues at its position what it carries, and has returned there. O(log n). */
uint32_t graph_issued_from(const struct graph *g, uint64_t position);
uint32_t graph_issued_behind(const struct graph *g, uint64_t position);

/* The ops that an event issued: the first, and how many. */
uint32_t graph_event_ops(const struct graph *g, uint64_t event, size_t *count);

#endif
