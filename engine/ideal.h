/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ideal: schedules as order ideals, that is sets of ops closed under "must persist before".
 *
 * An ideal that is not empty is written as (last, lost): its last op in issue order, and those ops
 * before it that are missing though all they need is there. Everything up to last survived but
 * lost and what needs it. Each ideal has one such form and each form is one ideal: last, and an
 * antichain of ops issued before it and not needed by it. So nothing has to be remembered to give
 * each ideal once.
 *
 * The size of lost is the ideal's level: prefixes first, then prefixes with one op lost, then two,
 * … They are found one at a time; an enumerator keeps the order and one set an op lost, however
 * many ideals there are.
 */
#ifndef ENGINE_IDEAL_H
#define ENGINE_IDEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/poset.h"

/* What the empty ideal has for its last op. */
#define IDEAL_EMPTY UINT32_MAX

struct ideal {
    uint32_t last;
    uint32_t level;       /* how many are in lost */
    const uint32_t *lost; /* ascending */
};

/* Which ideals are wanted. All members may be left out; then it is all of them. The rules are about
 * lost itself: what needs a lost op goes with it, whatever the rules say of it. */
struct ideals_options {
    const uint64_t *last;     /* the ops that may be last (a set); the empty ideal always may */
    const uint64_t *lost;     /* the ops that may be in lost (a set) */
    const uint32_t *location; /* of each op; 0 for the behaviour's own */
    bool all_locations;       /* lost may mix locations other than 0; else it has one of them */
};

struct ideals;

/* The poset must outlive the enumerator, the options need not. */
struct ideals *ideals_new(const struct poset *p, const struct ideals_options *options);
void ideals_free(struct ideals *it);

/* The next ideal: by level, then by last, then by lost in lexicographic order; the empty one first.
 * out->lost is the enumerator's, until the next call. False when there are no more. Takes O(n / 64)
 * steps as a rule; to find that hardly any ideal is left on a high level, at worst as many as there
 * are ideals on lower ones. */
bool ideals_next(struct ideals *it, struct ideal *out);

/* The level at which the enumerator is: of the ideal given last, or the one it was sent to. At the
 * end it is a level without ideals (and no higher one has any). */
uint32_t ideals_level(const struct ideals *it);

/* Goes to the beginning of a level, forwards or backwards. So a caller that wants one level of many
 * enumerators at a time stops at the first ideal of a higher one, and seeks that level later. */
void ideals_seek(struct ideals *it, uint32_t level);

/* Goes on behind an ideal, which ideals_next gave or would have given: false, and nothing changes,
 * when it would not. So the last ideal of a run is all there is to save. */
bool ideals_resume(struct ideals *it, const struct ideal *from);

/* How many ideals the enumerator gives from beginning to end. */
enum ideals_known {
    IDEALS_EXACT,
    IDEALS_AT_MOST, /* exact counting would have taken too long */
    IDEALS_BEYOND,  /* the number, or what is known of it, does not fit: count is UINT64_MAX */
};

struct ideals_total {
    uint64_t count;
    enum ideals_known known;
};

/* The effort, in words of sets looked at, that a count is worth by default: about a tenth of a
 * second. It was enough for random orders of 120 ops with 10^16 ideals. */
enum { IDEALS_COUNT_EFFORT = 1 << 24 };

/* Counts by splitting into parts that do not depend on each other, and into the ideals with and
 * without some op; when the effort is spent, what is left is bounded by the lengths of chains. The
 * memory taken meanwhile grows with the effort too, not with the number of ideals. */
struct ideals_total ideals_count(const struct ideals *it, uint64_t effort);

/* ---- single ideals, as sets of poset->words words ---- */

/* What survived. lost may be any ops: what needs them goes too. */
void ideal_survivors(const struct poset *p, const struct ideal *ideal, uint64_t *set);

bool ideal_is(const struct poset *p, const uint64_t *set);

/* The form of a set; lost has room for poset->n. False when the set is not an ideal. */
bool ideal_of(const struct poset *p, const uint64_t *set, uint32_t *lost, struct ideal *out);

/* Takes op i out of an ideal, with all that needs it, or puts it in, with all that it needs.
 * changed becomes the set of ops that came or went, i among them. */
void ideal_toggle(const struct poset *p, uint64_t *set, uint32_t i, uint64_t *changed);

#endif
