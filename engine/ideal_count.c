/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How many ideals there are, without enumerating them.
 *
 * Lost is an antichain of the candidates of its last op, and a set of ops has as many antichains as
 * ideals (an ideal is known by its maximal elements). So the total is a sum of counts of ideals of
 * subsets, one a last op; without any rules it is that of the whole poset.
 */
#include <stdlib.h>

#include "engine/ideal_inside.h"
#include "engine/map.h"
#include "engine/mem.h"

struct counter {
    const struct ideals *it;
    size_t words;
    struct map memo;       /* a connected set → its number of ideals */
    uint64_t effort;       /* what is left of it */
    bool bounded, beyond;  /* some part was bounded; some number did not fit */
    uint32_t *chain_count; /* scratch of bound() */
};

/* ---- numbers that stop at the largest ---- */

static uint64_t add(struct counter *c, uint64_t a, uint64_t b)
{
    uint64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    c->beyond = true;
    return UINT64_MAX;
}

static uint64_t multiply(struct counter *c, uint64_t a, uint64_t b)
{
    uint64_t product;
    if (!__builtin_mul_overflow(a, b, &product))
        return product;
    c->beyond = true;
    return UINT64_MAX;
}

/* ---- ideals of a set of ops ---- */

/* Whether to go on counting: nothing is gained once some number did not fit. */
static bool spend(struct counter *c, size_t words)
{
    c->effort -= words < c->effort ? words : c->effort;
    return c->effort > 0 && !c->beyond;
}

/* An ideal takes a lower part of each chain; not all such choices are ideals. */
static uint64_t bound(struct counter *c, const uint64_t *set)
{
    uint64_t product = 1;
    c->bounded = true;
    memset(c->chain_count, 0, c->it->chains * sizeof *c->chain_count);
    for (size_t i = 0; bits_find(set, c->words, &i); i++)
        c->chain_count[c->it->chain[i]]++;
    for (size_t i = 0; i < c->it->chains; i++)
        product = multiply(c, product, (uint64_t)c->chain_count[i] + 1);
    return product;
}

/* The op that splits best: whether it is in decides on what it needs and on what needs it. */
static size_t pivot(const struct counter *c, const uint64_t *set)
{
    const struct poset *p = c->it->p;
    size_t best = 0, best_value = 0;
    for (size_t i = 0; bits_find(set, c->words, &i); i++) {
        size_t value = (bits_common(set, poset_below(p, i), c->words) + 1) *
                       (bits_common(set, poset_above(p, i), c->words) + 1);
        if (value > best_value) {
            best_value = value;
            best = i;
        }
    }
    return best;
}

static uint64_t count_set(struct counter *c, const uint64_t *set);

static uint64_t count_connected(struct counter *c, const uint64_t *set)
{
    size_t n = bits_count(set, c->words), bytes = c->words * sizeof *set;
    if (n == 1)
        return 2;
    const uint64_t *known = map_get(&c->memo, set, bytes);
    if (known)
        return *known;
    if (!spend(c, 2 * n * c->words))
        return bound(c, set);
    size_t op = pivot(c, set);
    const uint64_t *below = poset_below(c->it->p, op), *above = poset_above(c->it->p, op);
    uint64_t *rest = xmalloc(bytes);
    for (size_t w = 0; w < c->words; w++)
        rest[w] = set[w] & ~below[w];
    bits_remove(rest, op);
    uint64_t with = count_set(c, rest);
    for (size_t w = 0; w < c->words; w++)
        rest[w] = set[w] & ~above[w];
    bits_remove(rest, op);
    uint64_t all = add(c, with, count_set(c, rest));
    free(rest);
    *map_put(&c->memo, set, bytes, NULL) = all;
    return all;
}

/* Moves the ops that are related, directly or not, to the first one of `from`. */
static void take_connected(struct counter *c, uint64_t *from, uint64_t *part, uint64_t *todo)
{
    const struct poset *p = c->it->p;
    memset(part, 0, c->words * sizeof *part);
    memset(todo, 0, c->words * sizeof *todo);
    bits_add(todo, bits_next(from, c->words, 0));
    for (size_t i = 0; bits_find(todo, c->words, &i); i = 0) {
        const uint64_t *below = poset_below(p, i), *above = poset_above(p, i);
        bits_remove(todo, i);
        bits_remove(from, i);
        bits_add(part, i);
        for (size_t w = 0; w < c->words; w++)
            todo[w] |= (below[w] | above[w]) & from[w];
    }
}

static uint64_t count_set(struct counter *c, const uint64_t *set)
{
    size_t n = bits_count(set, c->words);
    uint64_t product = 1;
    if (n == 0)
        return 1;
    if (!spend(c, n * c->words))
        return bound(c, set);
    uint64_t *sets = xmalloc(3 * c->words * sizeof *sets);
    uint64_t *left = sets, *part = sets + c->words, *todo = sets + 2 * c->words;
    memcpy(left, set, c->words * sizeof *left);
    for (size_t i = 0; bits_find(left, c->words, &i);) {
        take_connected(c, left, part, todo);
        product = multiply(c, product, count_connected(c, part));
    }
    free(sets);
    return product;
}

/* ---- ideals with one last op ---- */

/* The antichains of own and foreign ops that have foreign ones: all less those of the own alone,
 * unless that is a bound, from which nothing may be taken away. */
static uint64_t count_place(struct counter *c, const uint64_t *own, uint64_t own_count,
                            const uint64_t *foreign, uint64_t *both)
{
    for (size_t w = 0; w < c->words; w++)
        both[w] = own[w] | foreign[w];
    uint64_t all = c->bounded || c->beyond ? 0 : count_set(c, both);
    if (!c->bounded && !c->beyond)
        return all - own_count;
    return multiply(c, own_count, bound(c, foreign) - 1);
}

static uint64_t count_last(struct counter *c, uint32_t last)
{
    uint64_t *sets = xmalloc(4 * c->words * sizeof *sets);
    uint64_t *left = sets, *own = sets + c->words;
    uint64_t *foreign = sets + 2 * c->words, *both = sets + 3 * c->words;
    ideals_candidates(c->it, last, left);
    for (size_t w = 0; w < c->words; w++) {
        own[w] = left[w] & c->it->own[w];
        left[w] &= ~own[w];
    }
    uint64_t own_count = count_set(c, own), total = own_count;
    for (size_t i = 0; bits_find(left, c->words, &i); i++) {
        memset(foreign, 0, c->words * sizeof *foreign);
        for (size_t j = i; bits_find(left, c->words, &j); j++)
            if (c->it->place[j] == c->it->place[i]) {
                bits_add(foreign, j);
                bits_remove(left, j);
            }
        total = add(c, total, count_place(c, own, own_count, foreign, both));
    }
    free(sets);
    return total;
}

static bool without_rules(const struct ideals *it)
{
    size_t n = it->p->n, words = it->p->words;
    return it->places == 1 && bits_count(it->may_last, words) == n &&
           bits_count(it->may_lose, words) == n;
}

struct ideals_total ideals_count(const struct ideals *it, uint64_t effort)
{
    struct counter c = {.it = it, .words = it->p->words, .effort = effort};
    struct ideals_total total = {.count = 1};
    c.chain_count = xmalloc(it->chains * sizeof *c.chain_count);
    if (without_rules(it)) {
        total.count = count_set(&c, it->may_last);
    } else {
        for (size_t last = 0; bits_find(it->may_last, c.words, &last); last++)
            total.count = add(&c, total.count, count_last(&c, (uint32_t)last));
    }
    total.known = c.beyond ? IDEALS_BEYOND : c.bounded ? IDEALS_AT_MOST : IDEALS_EXACT;
    if (c.beyond)
        total.count = UINT64_MAX;
    map_free(&c.memo);
    free(c.chain_count);
    return total;
}
