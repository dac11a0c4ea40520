/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * subgraph: a part of the persistence graph that a person can look at: some ops, the syncs that
 * separate them, and the order between them with its reasons. What to take is chosen by a
 * behaviour, a group, a bug, the neighbourhood of an op, or by hand.
 *
 * Syncs are nodes. An op comes before the sync that makes it durable, a sync before everything
 * issued after its return, and before the later syncs. This says neither more nor less about the
 * ops than the graph does, with a line for each op and sync instead of one for each pair of ops.
 *
 * The edges are the transitive reduction of that order: nothing that others imply. What the order
 * of ops goes through and is not shown is counted at the edge.
 */
#ifndef ENGINE_SUBGRAPH_H
#define ENGINE_SUBGRAPH_H

#include "engine/findings.h"
#include "engine/walk.h"

enum subgraph_kind {
    SUBGRAPH_OP = 1,
    SUBGRAPH_SYNC,
    SUBGRAPH_ACK, /* what the program told the world, where a bug is about that */
};

/* What became of an op in a schedule. */
enum subgraph_mark {
    MARK_NONE, /* no schedule in hand */
    MARK_PERSISTED,
    MARK_LOST,     /* issued before the last survivor, and not there */
    MARK_FLIGHT,   /* issued after it, before the crash */
    MARK_UNISSUED, /* the crash came first */
};

struct subgraph_node {
    uint64_t event;     /* of a sync that is only pretended: 0 (graph_fix_at) */
    uint64_t position;  /* at which it was issued; of a sync, at which it returned */
    uint32_t op;        /* NO_OP: it is none */
    uint32_t file;      /* the inode; 0: all, or none */
    uint32_t behaviour; /* the smallest that has the op; NO_BEHAVIOUR */
    uint8_t kind;       /* enum subgraph_kind */
    uint8_t mark;       /* enum subgraph_mark; of an op */
    bool culprit;       /* what a bug is about */
};

enum subgraph_edge_kind {
    SUBGRAPH_RULE = 1, /* op to op, by a rule of the model */
    SUBGRAPH_DURABLE,  /* op to the sync that makes it durable */
    SUBGRAPH_AFTER,    /* sync to what was issued after it returned */
    SUBGRAPH_NEXT,     /* sync to the next */
    SUBGRAPH_MISSING,  /* no order: lost to survived, of a bug */
};

struct subgraph_edge {
    uint32_t from, to; /* places in nodes, from before to */
    uint32_t through;  /* ops between them that are not shown */
    uint8_t kind;      /* enum subgraph_edge_kind */
    uint8_t rule;      /* enum model_rule; of the last step when it goes through others */
    bool transitive;   /* other edges imply it: shown when asked for */
};

struct subgraph {
    struct analysis *analysis;
    struct subgraph_node *nodes; /* by position: every edge leads from a lower to a higher place */
    size_t n;
    struct subgraph_edge *edges; /* by target, then by source; SUBGRAPH_MISSING last */
    size_t edge_count;
    uint64_t left_out; /* ops that belong to it but were beyond the limit */
    char *title;       /* what it is, for people; wants escaping */
};

struct subgraph_options {
    size_t limit;            /* ops at most */
    bool transitive;         /* also the direct edges of the graph that others imply */
    const struct walk *walk; /* the schedule in hand, for marks; NULL: none */
    const uint8_t *marks;    /* else enum subgraph_mark by op; NULL: none */
    size_t mark_count;
};

/* More cannot be read on a screen, nor laid out before a person grows impatient. */
enum { SUBGRAPH_LIMIT = 80, SUBGRAPH_HOPS = 3 };

#define SUBGRAPH_DEFAULTS                                                                          \
    {                                                                                              \
        .limit = SUBGRAPH_LIMIT                                                                    \
    }

/* Each fails when there is no such thing, or when the session cannot be read. What they were made
 * from must outlive them. Where there are more ops than the limit: the first ones issued. */
bool subgraph_all(struct subgraph **out, struct findings *f, const struct subgraph_options *o,
                  struct error *e);
bool subgraph_behaviour(struct subgraph **out, struct findings *f, uint64_t behaviour,
                        const struct subgraph_options *o, struct error *e);
/* A group's representative. */
bool subgraph_group(struct subgraph **out, struct findings *f, uint64_t group,
                    const struct subgraph_options *o, struct error *e);
/* The ops that a bug is about, what must come just before them and what was issued between them;
 * where there are more than the limit: those nearest to the bug's by edges, then in time. Marks are
 * those of the bug's state, unless others are given. */
bool subgraph_bug(struct subgraph **out, struct findings *f, uint64_t bug,
                  const struct subgraph_options *o, struct error *e);
/* What leads to an op and from it by at most so many direct edges, the nearest first. */
bool subgraph_around(struct subgraph **out, struct findings *f, uint64_t op, unsigned hops,
                     const struct subgraph_options *o, struct error *e);
void subgraph_free(struct subgraph *s);

/* ---- of the graph alone ---- */

/* Nodes and edges of these ops (ascending) and their syncs; and of acknowledgements, whose events
 * were entered at the given positions (ascending). Events of syncs are 0, behaviours none. */
struct subgraph *subgraph_order(const struct graph *g, const uint32_t *ops, size_t n,
                                const uint64_t *acks, size_t ack_count, bool transitive);

/* The ops nearest to the given ones by direct edges in either direction, the given included, within
 * [low, high]; as many as fit `out`, ascending. *left_out counts those that did not. Takes a pass
 * over the edges for each hop. */
size_t subgraph_nearest(const struct graph *g, const uint32_t *from, size_t n, unsigned hops,
                        uint32_t low, uint32_t high, uint32_t *out, size_t max, uint64_t *left_out);

#endif
