/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Orders to test with: given by direct relations, then closed.
 */
#ifndef TESTS_POSET_SAMPLE_H
#define TESTS_POSET_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/mem.h"
#include "engine/poset.h"

struct sample {
    struct poset p;
    uint64_t *below;
};

static inline void sample_begin(struct sample *s, size_t n)
{
    s->p = (struct poset){.n = n, .words = bits_words(n)};
    s->below = xcalloc(n * s->p.words, sizeof *s->below);
}

/* a before b: a < b. */
static inline void sample_before(struct sample *s, size_t a, size_t b)
{
    bits_add(s->below + b * s->p.words, a);
}

static inline void sample_end(struct sample *s)
{
    size_t n = s->p.n, words = s->p.words;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t w = 0; bits_has(s->below + i * words, j) && w < words; w++)
                s->below[i * words + w] |= s->below[j * words + w];
    poset_init(&s->p, n, s->below);
}

static inline void sample_free(struct sample *s)
{
    poset_free(&s->p);
    free(s->below);
}

/* Any order: sparse, dense or between. */
static inline void sample_random(struct sample *s, size_t n)
{
    int density = rand() % 101;
    sample_begin(s, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (rand() % 100 < density)
                sample_before(s, j, i);
    sample_end(s);
}

#endif
