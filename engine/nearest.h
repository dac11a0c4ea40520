/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nearest: the name that a mistyped one was probably meant to be.
 */
#ifndef ENGINE_NEAREST_H
#define ENGINE_NEAREST_H

#include <stddef.h>

/* How many letters must be added, dropped, changed or swapped with their neighbour to make b of a,
 * whatever their case. O(|a|·|b|). */
size_t nearest_distance(const char *a, const char *b);

/* Remembers the best of several candidates. Begin with name set and the rest zero, offer each. */
struct nearest {
    const char *name;
    const char *best; /* the nearest so far, or NULL when nothing offered is near */
    size_t distance;
};

void nearest_offer(struct nearest *n, const char *candidate);

#endif
