/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * behaviour_types: update behaviours of programs that store to mapped files. What belongs together
 * there is in one data structure: stores go by the type and the instance that they change, and an
 * instance's stores are split in time into epochs (§4.2 of the paper). An epoch ends before a store
 * when
 *
 *   1. all earlier stores to the instance are durable, and the store is to a field that the epoch
 *      has stored to already; or
 *   2. another instance was stored to, and everything stored to it became durable, since the
 * epoch's last store.
 *
 * A struct inside another has its own behaviours, and takes part in those of the outermost one
 * around it. The two do not count as different instances, and epochs that would be the same set of
 * stores are kept once.
 *
 * O(n log n).
 */
#ifndef ENGINE_BEHAVIOUR_TYPES_H
#define ENGINE_BEHAVIOUR_TYPES_H

#include "engine/behaviour.h"

struct type_behaviours {
    struct behaviour *at; /* begin and end are places in `order` */
    size_t n;
    uint32_t *order; /* actions */
    size_t order_count;
    size_t cut;   /* epochs that would have passed options->max */
    size_t large; /* single stores with more ops than that */
};

/* The behaviours of all actions that have an instance. */
void behaviours_by_type(struct type_behaviours *out, const struct action *actions, size_t n,
                        const struct behaviour_options *options);
void type_behaviours_free(struct type_behaviours *b);

#endif
