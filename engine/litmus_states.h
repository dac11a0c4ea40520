/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * litmus_states: every state that a litmus program may leave under a model.
 */
#ifndef ENGINE_LITMUS_STATES_H
#define ENGINE_LITMUS_STATES_H

#include "engine/buf.h"
#include "engine/graph.h"
#include "engine/litmus.h"
#include "engine/state.h"

/* The program as the source of states; it must outlive them. */
struct state_source litmus_state_source(const struct litmus *l);

/* One distinct state with what had been printed when it was left. */
struct litmus_state {
    /* Files by name: "a=O4096,a100 b= d/"; runs of a byte and their length, 0 for zero bytes; an
     * empty file has nothing after =, a directory ends in /, a link says ->target. "(nothing)" when
     * there are none. */
    const char *text;
    /* What had been printed for certain by the latest moment at which this state can be left. */
    const char *printed;
    /* The largest set of ops that leaves it, or one of them: survived[i] for op i of the graph. */
    const bool *survived;
};

/* What a state says of a file that holds these bytes. */
void litmus_write_bytes(struct buf *out, const char *bytes, size_t n);

/* More ops than this have too many sets to try them all. */
enum { LITMUS_OPS_MAX = 40 };

/* Calls visit for each distinct pair of text and printed, ordered by text; the strings are valid
 * during the call. */
bool litmus_states(const struct litmus *l, const struct graph *g,
                   void (*visit)(void *data, const struct litmus_state *state), void *data,
                   struct error *e);

#endif
