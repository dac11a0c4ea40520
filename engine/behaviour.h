/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * behaviour: update behaviours, the sets of ops that together do one task. For system calls a task
 * is what one function does, and it is found from the stacks alone, thread by thread:
 *
 *   1. The function at work is the deepest one that neighbouring events share (Algorithm 1 of the
 *      paper, exactly). An event that shares none with its neighbours is alone in its own function.
 *   2. Behaviours hang on the nodes of the call tree and are merged from the leaves to the root;
 *      what lies close together in time becomes one, what is further apart than `gap` events stays
 *      apart (one-dimensional DBSCAN; step 1's own are split in the same way).
 *   3. A merged one that would pass `max` ops is not made, and neither is one above it; its parts
 *      stay, and `unmerged` tells of it. One of step 1 that is larger already is cut in time, a
 *      few turns of its loop to a piece.
 *
 * Stores whose object is known are not among these: they come by type, instance and epoch
 * (behaviour_types.h).
 *
 * Nothing is merged at the root of the tree, which is no function. All ops of the trace are in some
 * behaviour. Behaviours share their actions: n actions take O(n) memory, whatever the depth, and
 * O(n log n) time for each level at which branches of the call tree meet.
 */
#ifndef ENGINE_BEHAVIOUR_H
#define ENGINE_BEHAVIOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/calltree.h"
#include "engine/error.h"
#include "engine/interrupt.h"

/* One event, as far as behaviours care. Syncs are actions without ops. */
struct action {
    uint64_t event;
    uint32_t thread;
    uint32_t stack;
    uint32_t first_op, op_count;
    uint16_t call; /* the family: enum call */
    bool syncs;    /* a sync, or a write that is its own */
};

/* The object that an action stores to. Types are keys, equal for equal ones; 0 is none. */
struct action_object {
    uint64_t type, instance;             /* the innermost; instances are those of any type */
    uint64_t outer_type, outer_instance; /* the outermost around it: may be the same, or 0 */
    uint64_t field;                      /* equal for the same field of a type */
};

struct graph;

struct behaviour_options {
    uint32_t max;                        /* ops in a merged behaviour */
    uint32_t gap;                        /* events between neighbours in time */
    bool all_frames;                     /* frames without source count (calltree.h) */
    const struct interrupt *interrupt;   /* looked at while they are found; NULL: nobody asks */
    const struct action_object *objects; /* one an action, and … */
    const struct graph *graph;           /* … what tells when they are durable; both or none */
};

/* A task of more ops has more orders than any budget reaches, and what matters in it shows in its
 * parts. */
enum { BEHAVIOUR_MAX = 256, BEHAVIOUR_GAP = 10 };

#define BEHAVIOUR_DEFAULTS                                                                         \
    {                                                                                              \
        .max = BEHAVIOUR_MAX, .gap = BEHAVIOUR_GAP                                                 \
    }

#define NO_BEHAVIOUR UINT32_MAX

enum {
    BEHAVIOUR_MERGED = 1 << 0, /* from the functions below */
    BEHAVIOUR_CUT = 1 << 1,    /* a piece of one that was too large */
    BEHAVIOUR_LARGE = 1 << 2,  /* a single event with more ops than max */
    BEHAVIOUR_TYPE = 1 << 3,   /* stores to one object: function is its type */
};

struct behaviour {
    uint64_t function; /* the key of its function or type; 0 when the stack was empty */
    uint64_t instance; /* with BEHAVIOUR_TYPE: the object */
    uint32_t node;     /* in the call tree; the root with BEHAVIOUR_TYPE */
    uint32_t thread;
    uint32_t begin, end; /* its actions: a range of behaviours.order, in no particular order */
    uint32_t ops;        /* how many, at least one */
    uint32_t first_op, last_op;
    uint32_t parent; /* the behaviour that it was merged into, or NO_BEHAVIOUR */
    uint32_t flags;
};

/* What was not merged because it would have passed the limit. */
struct behaviour_unmerged {
    uint64_t first_event, last_event;
    uint64_t ops;   /* of what it would have held */
    uint32_t node;  /* at which function */
    uint32_t parts; /* behaviours that were left apart there */
};

struct behaviours {
    struct behaviour_options options;
    const struct action *actions; /* the caller's; they must outlive this */
    size_t action_count;
    struct calltree *tree;
    uint32_t *places; /* of each action in the tree */
    uint32_t *order;
    struct behaviour *at; /* by first op, smaller ones first */
    size_t n;
    struct behaviour_unmerged *unmerged;
    size_t unmerged_count;
    size_t cut;   /* behaviours of one function that were too large and were cut */
    size_t large; /* single events with more ops than max */
    size_t idle;  /* runs of events that have no ops: no behaviours */
};

/* Actions come in the order of their events; the call fails when they do not, or is interrupted. */
bool behaviours_find(struct behaviours **out, const struct action *actions, size_t n,
                     const struct call_stacks *stacks, const struct behaviour_options *options,
                     struct error *e);
void behaviours_free(struct behaviours *list);

/* The actions of a behaviour, or its ops, in ascending order. There must be room for b->end −
 * b->begin, or for b->ops, of them. Returns how many were written. */
size_t behaviour_actions(const struct behaviours *list, const struct behaviour *b, uint32_t *out);
size_t behaviour_ops(const struct behaviours *list, const struct behaviour *b, uint32_t *out);

/* Its first and last event, syncs among them. */
void behaviour_events(const struct behaviours *list, const struct behaviour *b, uint64_t *first,
                      uint64_t *last);

#endif
