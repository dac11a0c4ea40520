/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * group: which behaviour stands for which. One represents another (Definition 3.5 of the paper)
 * when it does all that the other does and orders it no more: then each crash state of the other
 * has its like among its own, and only it needs testing. What the definition leaves open:
 *
 * - Events are alike when they are of one call family and reached by the same call path from the
 *   behaviour's function down; stores of a behaviour that is about an object when they are to the
 *   same field of the same type. The k-th such event matches the k-th. Their ops match by kind, the
 *   k-th of a kind with the k-th; copies that a sync carried are a kind of their own. So matches
 *   are one to one: ten writes in a loop are not represented by one.
 * - Edges are those of the transitive closure of the whole graph.
 * - The matched ops must be closed downwards in the representative: were something else needed
 *   before one of them, states of the other would have no like. A switch takes the paper's rule.
 * - The environment (environment.h) counts as a set of kinds of location: what the location is,
 *   which kinds of op lie there, by which call path the latest came, and to which op of the
 *   behaviour it belongs, by location, else by file. How many there are of a kind does not count: a
 *   long stretch without a sync does not make every behaviour a new one. The representative must
 *   have all those of the represented.
 *
 * Groups are formed per function. A shape is a set of matched ops with its order, a signature a
 * shape with an environment; behaviours of one signature are found by hash. Signatures are then
 * compared pairwise, the largest first: each joins every group whose representative represents it,
 * or founds its own. Near-linear in behaviours; at worst quadratic in distinct signatures of one
 * function.
 */
#ifndef ENGINE_GROUP_H
#define ENGINE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/behaviour.h"
#include "engine/environment.h"
#include "engine/graph.h"

struct group_options {
    bool paper;             /* matched ops need not be closed downwards */
    size_t environment_max; /* ops of an environment that are looked at; 0: it does not count */
    uint32_t variants;      /* environments that are told apart for one shape */
    const struct interrupt *interrupt; /* looked at while they are formed; NULL: nobody asks */
};

/* Beyond so many environments of one shape, one that is part of another goes with it; the rest are
 * counted in groups.folded and go with the first. */
enum { GROUP_VARIANTS = 8 };

#define GROUP_DEFAULTS                                                                             \
    {                                                                                              \
        .environment_max = ENVIRONMENT_MAX, .variants = GROUP_VARIANTS                             \
    }

/* A behaviour of more ops is a group of its own: its order takes n² bits. Only single events are
 * ever so large, when behaviour_options.max is below this. */
enum { GROUP_OPS_MAX = 4096 };

struct group_signature {
    uint64_t function;
    uint32_t ops;
    uint64_t edges;
    uint32_t example;      /* a behaviour that has exactly this environment */
    uint32_t members;      /* how many behaviours have it … */
    uint32_t first_member; /* … from here on in groups.members */
    uint32_t joined;       /* how many groups it is in … */
    uint32_t first_group;  /* … from here on in groups.joined, the oldest first */
    uint32_t shape;
    uint32_t environment; /* kinds of location in it */
};

struct group {
    uint64_t function;
    uint32_t representative; /* a behaviour */
    uint32_t signature;      /* its signature */
    uint32_t signatures;     /* how many are in the group … */
    uint32_t first;          /* … from here on in groups.taken; the founder's is the first */
    uint32_t members;        /* behaviours in all */
};

struct groups {
    struct group *at; /* the largest behaviours first */
    size_t n;
    struct group_signature *signatures;
    size_t signature_count;
    uint32_t *signature_of; /* by behaviour */
    uint32_t *members;      /* behaviours by signature, ascending */
    uint32_t *joined;       /* groups by signature */
    uint32_t *taken;        /* signatures by group */
    size_t shapes;
    size_t folded;         /* behaviours whose environment was taken for another */
    size_t too_large;      /* behaviours beyond GROUP_OPS_MAX */
    uint64_t env_left_out; /* ops of environments beyond environment_max, over all behaviours */
    struct group_inside *inside;
};

/* environments may be NULL when options->environment_max is 0. All arguments must outlive the
 * groups. NULL when it was interrupted, and never else. */
struct groups *groups_form(const struct behaviours *list, const struct graph *g,
                           struct environments *environments, const struct group_options *options);
void groups_free(struct groups *s);

/* Whether the behaviours of one signature represent those of another. */
bool groups_represents(const struct groups *s, uint32_t signature, uint32_t other);

/* ---- why ---- */

enum group_verdict {
    GROUP_REPRESENTS,
    GROUP_FUNCTION,    /* they belong to different functions */
    GROUP_UNMATCHED,   /* an op of the represented has no match: op */
    GROUP_ORDER,       /* `from` before `op` binds the representative only (its own ops) */
    GROUP_OPEN,        /* `op` is matched but needs `from`, which is not (the representative's) */
    GROUP_ENVIRONMENT, /* the represented may also lose op, a foreign one; the other has no such */
    GROUP_TOO_LARGE,   /* more than GROUP_OPS_MAX ops: not compared */
};

struct group_reason {
    enum group_verdict verdict;
    uint32_t from, op; /* NO_OP where the verdict names none */
};

struct group_match {
    uint32_t a, b; /* NO_OP on the side where there is no match */
};

enum {
    GROUP_EDGE_A = 1 << 0,      /* A has this order */
    GROUP_EDGE_B = 1 << 1,      /* B has it */
    GROUP_EDGE_NEXT_A = 1 << 2, /* …with nothing of A in between */
    GROUP_EDGE_NEXT_B = 1 << 3,
};

/* From and to are places in the list of matches. */
struct group_edge {
    uint32_t from, to;
    uint32_t flags;
};

/* Edges that are listed at most; the rest is counted. More cannot be read anyway. */
enum { GROUP_WHY_EDGES = 1000 };

struct group_why {
    struct group_reason a_represents_b, b_represents_a;
    struct group_match *matches; /* A's ops in their order, then what only B has */
    size_t match_count;
    size_t matched; /* with both sides */
    /* Edges that people draw (nothing in between on one side), and all between matched ops that
     * only one side has. */
    struct group_edge *edges;
    size_t edge_count;
    size_t edges_left_out;
    size_t edges_a, edges_b; /* of the closures, in all */
};

/* Says how two behaviours compare, whatever their groups. Asks for their environments, so that an
 * earlier answer of environment_of() is gone. */
struct group_why *group_explain(const struct groups *s, uint32_t a, uint32_t b);
void group_why_free(struct group_why *why);

#endif
