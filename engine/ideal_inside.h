/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ideal_inside: what enumerating (ideal.c) and counting (ideal_count.c) share.
 */
#ifndef ENGINE_IDEAL_INSIDE_H
#define ENGINE_IDEAL_INSIDE_H

#include "engine/ideal.h"

enum ideals_stage {
    STAGE_LEVEL, /* at the beginning of a level */
    STAGE_LAST,  /* last was chosen, nothing was given for it */
    STAGE_IDEAL, /* last and lost are the ideal given last */
    STAGE_END,
};

struct ideals {
    const struct poset *p;
    uint64_t *may_last, *may_lose;
    uint64_t *own;   /* ops without a location, or all when locations mix */
    uint32_t *place; /* locations, numbered from 0 without gaps; 0: in own */
    size_t places;
    uint32_t *chain; /* as few chains as possible … */
    uint32_t *piece; /* … and each cut into one piece a place */
    size_t chains, pieces;

    enum ideals_stage stage;
    bool found; /* the level has ideals */
    uint32_t level, last;
    size_t rooms;   /* for lost and candidates, grown with the level */
    uint32_t *lost; /* chosen so far */
    /* candidates + d × words: what may be lost[d], given the ones before it. Only the words up to
     * last's count. */
    uint64_t *candidates;

    /* Scratch for the bound: when a piece or place was met, and how often a place. */
    uint64_t now, *piece_met, *place_met;
    uint32_t *place_count;
};

/* The ops that may be in lost: allowed to, issued before last and not needed by it. */
void ideals_candidates(const struct ideals *it, uint32_t last, uint64_t *set);

#endif
