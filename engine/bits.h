/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bits: sets of small numbers, as arrays of 64-bit words. Number i is bit i % 64 of word i / 64;
 * bits past the last number of a set are zero.
 */
#ifndef ENGINE_BITS_H
#define ENGINE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { BITS_WORD = 64 };

/* How many words hold n bits. */
static inline size_t bits_words(size_t n)
{
    return (n + BITS_WORD - 1) / BITS_WORD;
}

static inline bool bits_has(const uint64_t *set, size_t i)
{
    return set[i / BITS_WORD] >> (i % BITS_WORD) & 1;
}

static inline void bits_add(uint64_t *set, size_t i)
{
    set[i / BITS_WORD] |= UINT64_C(1) << (i % BITS_WORD);
}

static inline void bits_remove(uint64_t *set, size_t i)
{
    set[i / BITS_WORD] &= ~(UINT64_C(1) << (i % BITS_WORD));
}

/* Makes the set {0 … n − 1}. */
static inline void bits_first(uint64_t *set, size_t words, size_t n)
{
    memset(set, 0, words * sizeof *set);
    memset(set, 0xff, n / BITS_WORD * sizeof *set);
    if (n % BITS_WORD)
        set[n / BITS_WORD] = (UINT64_C(1) << (n % BITS_WORD)) - 1;
}

static inline size_t bits_count(const uint64_t *set, size_t words)
{
    size_t n = 0;
    for (size_t w = 0; w < words; w++)
        n += (size_t)__builtin_popcountll(set[w]);
    return n;
}

/* How many numbers two sets share. */
static inline size_t bits_common(const uint64_t *a, const uint64_t *b, size_t words)
{
    size_t n = 0;
    for (size_t w = 0; w < words; w++)
        n += (size_t)__builtin_popcountll(a[w] & b[w]);
    return n;
}

/* The smallest number in the set that is not below `from`, or words × 64 when there is none. */
static inline size_t bits_next(const uint64_t *set, size_t words, size_t from)
{
    size_t w = from / BITS_WORD;
    if (w >= words)
        return words * BITS_WORD;
    uint64_t word = set[w] >> (from % BITS_WORD) << (from % BITS_WORD);
    while (!word && ++w < words)
        word = set[w];
    return w < words ? w * BITS_WORD + (size_t)__builtin_ctzll(word) : words * BITS_WORD;
}

/* Moves *i to the next number of the set that is not below it; false when there is none. To visit
 * all: for (size_t i = 0; bits_find(set, words, &i); i++) … The set may lose numbers meanwhile. */
static inline bool bits_find(const uint64_t *set, size_t words, size_t *i)
{
    *i = bits_next(set, words, *i);
    return *i < words * BITS_WORD;
}

#endif
