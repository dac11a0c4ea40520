/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * poset: the order "must persist before" on a few ops, as a matrix of bits.
 *
 * Elements are numbered in issue order, and what must persist before an element has a smaller
 * number. Sets of elements are arrays of `words` words (bits.h).
 */
#ifndef ENGINE_POSET_H
#define ENGINE_POSET_H

#include <stddef.h>
#include <stdint.h>

#include "engine/bits.h"

struct poset {
    size_t n, words;       /* elements, and words a row */
    const uint64_t *below; /* row i: what must persist before i; transitively closed, without i */
    uint64_t *above;       /* row i: what i must persist before */
};

/* Takes a matrix as graph_closure makes it. It is not copied and must outlive the poset. Takes time
 * in the number of related pairs, and as much memory again as the matrix. */
void poset_init(struct poset *p, size_t n, const uint64_t *below);
void poset_free(struct poset *p);

static inline const uint64_t *poset_below(const struct poset *p, size_t i)
{
    return p->below + i * p->words;
}

static inline const uint64_t *poset_above(const struct poset *p, size_t i)
{
    return p->above + i * p->words;
}

/* Adds to a set all that its members need (down), or all that needs one of them (up). */
void poset_close_down(const struct poset *p, uint64_t *set);
void poset_close_up(const struct poset *p, uint64_t *set);

/* Splits the elements into as few chains as possible (as many as the largest antichain has
 * elements: Dilworth) and returns how many; chain[i] is the number of i's chain. O(n³ / 64) at
 * worst, O(n² / 64) as a rule. */
size_t poset_chains(const struct poset *p, uint32_t *chain);

#endif
