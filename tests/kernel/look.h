/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * look: what a directory holds, in the words of litmus_states.h.
 */
#ifndef TESTS_KERNEL_LOOK_H
#define TESTS_KERNEL_LOOK_H

#include "engine/buf.h"

/* Adds "a=O4096 d/"; what cannot be read is said instead of its contents. */
void look_at(int root, const char *dir, struct buf *out);

#endif
