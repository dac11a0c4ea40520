/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/ideal.h"

#include <stdlib.h>

#include "engine/ideal_inside.h"
#include "engine/map.h"
#include "engine/mem.h"

/* ---- making ---- */

static uint64_t *mask(const struct poset *p, const uint64_t *given)
{
    uint64_t *set = xmalloc(p->words * sizeof *set);
    bits_first(set, p->words, p->n);
    for (size_t w = 0; given && w < p->words; w++)
        set[w] &= given[w];
    return set;
}

/* Numbers locations without gaps, so that they can index arrays. */
static void number_places(struct ideals *it, const uint32_t *location)
{
    struct map numbers = {0};
    it->places = 1;
    for (size_t i = 0; location && i < it->p->n; i++) {
        if (location[i] == 0)
            continue;
        bool added;
        uint64_t *number = map_put(&numbers, &location[i], sizeof location[i], &added);
        if (added)
            *number = it->places++;
        it->place[i] = (uint32_t)*number;
        bits_remove(it->own, i);
    }
    map_free(&numbers);
}

static void cut_chains(struct ideals *it)
{
    struct map numbers = {0};
    it->chains = poset_chains(it->p, it->chain);
    for (size_t i = 0; i < it->p->n; i++) {
        const uint32_t key[] = {it->chain[i], it->place[i]};
        bool added;
        uint64_t *number = map_put(&numbers, key, sizeof key, &added);
        if (added)
            *number = it->pieces++;
        it->piece[i] = (uint32_t)*number;
    }
    map_free(&numbers);
}

struct ideals *ideals_new(const struct poset *p, const struct ideals_options *options)
{
    struct ideals *it = xcalloc(1, sizeof *it);
    it->p = p;
    it->may_last = mask(p, options->last);
    it->may_lose = mask(p, options->lost);
    it->own = mask(p, NULL);
    it->place = xcalloc(p->n, sizeof *it->place);
    it->chain = xcalloc(p->n, sizeof *it->chain);
    it->piece = xcalloc(p->n, sizeof *it->piece);
    number_places(it, options->all_locations ? NULL : options->location);
    cut_chains(it);
    it->piece_met = xcalloc(it->pieces, sizeof *it->piece_met);
    it->place_met = xcalloc(it->places, sizeof *it->place_met);
    it->place_count = xcalloc(it->places, sizeof *it->place_count);
    return it;
}

void ideals_free(struct ideals *it)
{
    if (!it)
        return;
    free(it->may_last);
    free(it->may_lose);
    free(it->own);
    free(it->place);
    free(it->chain);
    free(it->piece);
    free(it->lost);
    free(it->candidates);
    free(it->piece_met);
    free(it->place_met);
    free(it->place_count);
    free(it);
}

/* ---- enumerating ---- */

static size_t words_up_to(uint32_t last)
{
    return last / BITS_WORD + 1;
}

void ideals_candidates(const struct ideals *it, uint32_t last, uint64_t *set)
{
    const uint64_t *below = poset_below(it->p, last);
    bits_first(set, it->p->words, last);
    for (size_t w = 0; w < it->p->words; w++)
        set[w] &= it->may_lose[w] & ~below[w];
}

static uint64_t *candidates_at(const struct ideals *it, size_t depth)
{
    return it->candidates + depth * it->p->words;
}

/* Makes room for a level. No antichain has more than n elements, so more is never needed. */
static void make_room(struct ideals *it, uint32_t level)
{
    if (level <= it->rooms)
        return;
    it->rooms = level;
    it->lost = xrealloc(it->lost, it->rooms * sizeof *it->lost);
    it->candidates = xrealloc(it->candidates, it->rooms * it->p->words * sizeof *it->candidates);
}

/* Whether the candidates from `from` on may hold an antichain of so many: it has at most one of
 * each piece of a chain, and pieces of one place besides the own. Without this test a search for
 * more than there are would try all the smaller ones. Stops as soon as it can say yes. */
static bool may_suffice(struct ideals *it, const uint64_t *candidates, size_t from, size_t wanted)
{
    size_t words = words_up_to(it->last), own = 0, most = 0;
    it->now++;
    for (size_t i = from; own + most < wanted && bits_find(candidates, words, &i); i++) {
        uint32_t place = it->place[i];
        if (it->piece_met[it->piece[i]] == it->now)
            continue;
        it->piece_met[it->piece[i]] = it->now;
        if (place == 0) {
            own++;
            continue;
        }
        if (it->place_met[place] != it->now) {
            it->place_met[place] = it->now;
            it->place_count[place] = 0;
        }
        if (++it->place_count[place] > most)
            most = it->place_count[place];
    }
    return own + most >= wanted;
}

/* What may follow lost[depth]: not what needs it, and nothing of a second location. */
static void narrow(struct ideals *it, size_t depth)
{
    uint32_t chosen = it->lost[depth], place = it->place[chosen];
    const uint64_t *from = candidates_at(it, depth), *above = poset_above(it->p, chosen);
    uint64_t *to = candidates_at(it, depth + 1);
    size_t words = words_up_to(it->last);
    for (size_t w = 0; w < words; w++)
        to[w] = from[w] & ~above[w];
    for (size_t w = 0; place && w < words; w++)
        for (uint64_t foreign = to[w] & ~it->own[w]; foreign; foreign &= foreign - 1) {
            size_t i = w * BITS_WORD + (size_t)__builtin_ctzll(foreign);
            if (it->place[i] != place)
                bits_remove(to, i);
        }
}

/* The next lost for this last and level, in lexicographic order; the first when stage is LAST. */
static bool find_lost(struct ideals *it)
{
    size_t depth = 0, from = 0, words = words_up_to(it->last);
    if (it->stage == STAGE_LAST) {
        ideals_candidates(it, it->last, candidates_at(it, 0));
        if (!may_suffice(it, candidates_at(it, 0), 0, it->level))
            return false;
    } else {
        depth = it->level - 1;
        from = (size_t)it->lost[depth] + 1;
    }
    for (;;) {
        size_t i = from;
        if (!bits_find(candidates_at(it, depth), words, &i)) {
            if (depth == 0)
                return false;
            from = (size_t)it->lost[--depth] + 1;
            continue;
        }
        it->lost[depth] = (uint32_t)i;
        from = i + 1;
        if (depth + 1 == it->level)
            return true;
        narrow(it, depth);
        if (may_suffice(it, candidates_at(it, depth + 1), from, it->level - depth - 1))
            depth++;
    }
}

static bool find_ideal(struct ideals *it)
{
    switch (it->stage) {
    case STAGE_LEVEL:
        it->last = IDEAL_EMPTY;
        return it->level == 0;
    case STAGE_LAST:
        return it->level == 0 || find_lost(it);
    case STAGE_IDEAL:
        return it->level > 0 && find_lost(it);
    default:
        return false;
    }
}

static void move_on(struct ideals *it)
{
    size_t from = it->last == IDEAL_EMPTY ? 0 : (size_t)it->last + 1;
    size_t i = bits_next(it->may_last, it->p->words, from);
    if (i < it->p->n) {
        it->last = (uint32_t)i;
        it->stage = STAGE_LAST;
    } else if (it->found) {
        ideals_seek(it, it->level + 1);
    } else {
        it->stage = STAGE_END;
    }
}

bool ideals_next(struct ideals *it, struct ideal *out)
{
    while (it->stage != STAGE_END) {
        if (find_ideal(it)) {
            it->stage = STAGE_IDEAL;
            it->found = true;
            *out = (struct ideal){.last = it->last, .level = it->level, .lost = it->lost};
            return true;
        }
        move_on(it);
    }
    return false;
}

uint32_t ideals_level(const struct ideals *it)
{
    return it->level;
}

void ideals_seek(struct ideals *it, uint32_t level)
{
    it->level = level;
    it->found = false;
    it->stage = level <= it->p->n ? STAGE_LEVEL : STAGE_END;
    if (it->stage == STAGE_LEVEL)
        make_room(it, level);
}

/* Whether the enumerator gives an ideal at all. It may come from a file, so nothing is taken on
 * trust. */
static bool gives(const struct ideals *it, const struct ideal *ideal)
{
    const struct poset *p = it->p;
    uint32_t place = 0;
    if (ideal->last == IDEAL_EMPTY)
        return ideal->level == 0;
    if (ideal->last >= p->n || !bits_has(it->may_last, ideal->last))
        return false;
    for (size_t d = 0; d < ideal->level; d++) {
        uint32_t i = ideal->lost[d];
        if (i >= ideal->last || !bits_has(it->may_lose, i) ||
            bits_has(poset_below(p, ideal->last), i) || (d > 0 && i <= ideal->lost[d - 1]))
            return false;
        for (size_t c = 0; c < d; c++)
            if (bits_has(poset_below(p, i), ideal->lost[c]))
                return false;
        if (place && it->place[i] && it->place[i] != place)
            return false;
        place = it->place[i] ? it->place[i] : place;
    }
    return true;
}

bool ideals_resume(struct ideals *it, const struct ideal *from)
{
    if (!gives(it, from))
        return false;
    ideals_seek(it, from->level);
    it->last = from->last;
    it->stage = STAGE_IDEAL;
    it->found = true;
    if (it->level > 0)
        ideals_candidates(it, it->last, candidates_at(it, 0));
    for (size_t d = 0; d < it->level; d++) {
        it->lost[d] = from->lost[d];
        if (d + 1 < it->level)
            narrow(it, d);
    }
    return true;
}

/* ---- single ideals ---- */

void ideal_survivors(const struct poset *p, const struct ideal *ideal, uint64_t *set)
{
    bits_first(set, p->words, ideal->last == IDEAL_EMPTY ? 0 : (size_t)ideal->last + 1);
    for (size_t d = 0; d < ideal->level; d++) {
        const uint64_t *above = poset_above(p, ideal->lost[d]);
        for (size_t w = 0; w < p->words; w++)
            set[w] &= ~above[w];
        bits_remove(set, ideal->lost[d]);
    }
}

/* Whether all that op i needs is in the set. */
static bool has_needs(const struct poset *p, size_t i, const uint64_t *set)
{
    const uint64_t *below = poset_below(p, i);
    for (size_t w = 0; w < p->words; w++)
        if (below[w] & ~set[w])
            return false;
    return true;
}

bool ideal_is(const struct poset *p, const uint64_t *set)
{
    for (size_t i = 0; bits_find(set, p->words, &i); i++)
        if (!has_needs(p, i, set))
            return false;
    return true;
}

bool ideal_of(const struct poset *p, const uint64_t *set, uint32_t *lost, struct ideal *out)
{
    if (!ideal_is(p, set))
        return false;
    *out = (struct ideal){.last = IDEAL_EMPTY, .lost = lost};
    for (size_t i = 0; bits_find(set, p->words, &i); i++)
        out->last = (uint32_t)i;
    if (out->last == IDEAL_EMPTY)
        return true;
    for (uint32_t i = 0; i < out->last; i++)
        if (!bits_has(set, i) && has_needs(p, i, set))
            lost[out->level++] = i;
    return true;
}

void ideal_toggle(const struct poset *p, uint64_t *set, uint32_t i, uint64_t *changed)
{
    bool goes = bits_has(set, i);
    const uint64_t *along = goes ? poset_above(p, i) : poset_below(p, i);
    for (size_t w = 0; w < p->words; w++)
        changed[w] = along[w] & (goes ? set[w] : ~set[w]);
    bits_add(changed, i);
    for (size_t w = 0; w < p->words; w++)
        set[w] ^= changed[w];
}
