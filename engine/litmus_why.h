/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * litmus_why: what a state of a litmus program has lost, and why the model lets that happen.
 */
#ifndef ENGINE_LITMUS_WHY_H
#define ENGINE_LITMUS_WHY_H

#include <stdbool.h>

#include "engine/buf.h"
#include "engine/graph.h"
#include "engine/litmus.h"

/* Adds the lines that are lost, in part or as a whole, and of the last op that survived an earlier
 * one the reason. Nothing when all ops survived: survived[i] for op i of the graph. */
void litmus_why(const struct litmus *l, const struct graph *g, const bool *survived,
                struct buf *out);

#endif
