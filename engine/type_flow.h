/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * type_flow: follows the values of one function from its entry until nothing new is learnt, and
 * keeps what is known where it matters: the address of each store, the arguments of each call.
 *
 * Two sources meet here. Following the code says how a value was made; the debug info says which
 * variable a register or a place in the frame holds. At -O0 the second says little, as everything
 * passes through registers that no variable has; at -O2 the first does, as much is made in ways
 * that cannot be followed. Where both speak and differ, a declared pointer to a struct wins.
 */
#ifndef ENGINE_TYPE_FLOW_H
#define ENGINE_TYPE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/type_scope.h"
#include "engine/vec.h"

struct flow_store {
    uint64_t address; /* of the instruction */
    struct value to;
    uint16_t size;
    bool part;     /* it reads what was there: it may change a part of a field */
    bool repeated; /* `to` is only where it begins */
};

struct flow_call {
    uint64_t end; /* the return address */
    uint64_t target;
    const char *callee; /* NULL when not known; valid as long as the flow is */
    struct value arguments[ARGUMENTS];
};

struct flow {
    uint64_t entry;                   /* of the function */
    vec_of(struct flow_store) stores; /* by address */
    vec_of(struct flow_call) calls;   /* by end */
    vec_of(char *) names;
};

/* False when the function cannot be followed: it cannot be decoded or is too large. */
bool flow_run(struct flow *out, struct type_scopes *s, struct binary *b, const struct scope *f);
void flow_free(struct flow *f);

const struct flow_store *flow_store_at(const struct flow *f, uint64_t address);
const struct flow_call *flow_call_before(const struct flow *f, uint64_t end);

#endif
