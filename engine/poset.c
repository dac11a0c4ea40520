/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/poset.h"

#include <stdlib.h>

#include "engine/mem.h"

void poset_init(struct poset *p, size_t n, const uint64_t *below)
{
    *p = (struct poset){.n = n, .words = bits_words(n), .below = below};
    p->above = xcalloc(n * p->words, sizeof *p->above);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; bits_find(poset_below(p, i), p->words, &j); j++)
            bits_add(p->above + j * p->words, i);
}

void poset_free(struct poset *p)
{
    free(p->above);
    *p = (struct poset){0};
}

static void add_rows(const struct poset *p, const uint64_t *rows, size_t i, uint64_t *set)
{
    for (size_t w = 0; w < p->words; w++)
        set[w] |= rows[i * p->words + w];
}

void poset_close_down(const struct poset *p, uint64_t *set)
{
    for (size_t i = 0; bits_find(set, p->words, &i); i++)
        add_rows(p, p->below, i, set);
}

void poset_close_up(const struct poset *p, uint64_t *set)
{
    for (size_t i = 0; bits_find(set, p->words, &i); i++)
        add_rows(p, p->above, i, set);
}

/* Chains are a matching: each element with at most one that follows it, and one that it follows. A
 * largest matching leaves the fewest chains, and grows by alternating paths. */
#define NOBODY UINT32_MAX

struct matching {
    uint32_t *next, *previous; /* in the element's chain; NOBODY at its ends */
    uint64_t *ends;            /* elements without a next one */
    uint64_t *seen;            /* elements that the search has tried to take as previous */
    uint64_t *dead;            /* those that failed once: they will always fail */
    uint32_t *queue;           /* elements that want a previous one */
    uint32_t *wanted;          /* by whom an element that was seen is wanted */
};

/* Gives `end` to who wants it, what that one had before to who wants that, and so on. */
static void take(struct matching *m, uint32_t end)
{
    bits_remove(m->ends, end);
    for (uint32_t u = end; u != NOBODY;) {
        uint32_t v = m->wanted[u], given = m->previous[v];
        m->previous[v] = u;
        m->next[u] = v;
        u = given;
    }
}

/* Puts start behind the end of a chain, where other elements can make one free for it. */
static void find_previous(const struct poset *p, struct matching *m, uint32_t start)
{
    size_t n = 0;
    memcpy(m->seen, m->dead, p->words * sizeof *m->seen);
    m->queue[n++] = start;
    for (size_t head = 0; head < n; head++) {
        uint32_t v = m->queue[head];
        const uint64_t *below = poset_below(p, v);
        for (size_t w = 0; w < p->words; w++) {
            uint64_t ends = below[w] & m->ends[w];
            if (ends) {
                uint32_t u = (uint32_t)(w * BITS_WORD) + (uint32_t)__builtin_ctzll(ends);
                m->wanted[u] = v;
                take(m, u);
                return;
            }
        }
        for (size_t w = 0; w < p->words; w++) {
            uint64_t unseen = below[w] & ~m->seen[w];
            m->seen[w] |= unseen;
            for (; unseen; unseen &= unseen - 1) {
                size_t u = w * BITS_WORD + (size_t)__builtin_ctzll(unseen);
                m->wanted[u] = v;
                m->queue[n++] = m->next[u];
            }
        }
    }
    memcpy(m->dead, m->seen, p->words * sizeof *m->seen);
}

size_t poset_chains(const struct poset *p, uint32_t *chain)
{
    size_t n = p->n, chains = 0;
    uint32_t *numbers = xmalloc((4 * n + 1) * sizeof *numbers);
    uint64_t *sets = xcalloc(3 * p->words, sizeof *sets);
    struct matching m = {
        .next = numbers,
        .previous = numbers + n,
        .wanted = numbers + 2 * n,
        .queue = numbers + 3 * n,
        .ends = sets,
        .seen = sets + p->words,
        .dead = sets + 2 * p->words,
    };
    for (size_t i = 0; i < 2 * n; i++)
        numbers[i] = NOBODY;
    bits_first(m.ends, p->words, n);
    for (uint32_t i = 0; i < n; i++)
        find_previous(p, &m, i);
    for (size_t i = 0; i < n; i++)
        chain[i] = m.previous[i] == NOBODY ? (uint32_t)chains++ : chain[m.previous[i]];
    free(sets);
    free(numbers);
    return chains;
}
