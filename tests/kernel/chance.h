/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * chance: the numbers that a seed gives, the same everywhere.
 */
#ifndef TESTS_KERNEL_CHANCE_H
#define TESTS_KERNEL_CHANCE_H

#include <stdint.h>

struct chance {
    uint64_t state;
};

/* Below n, which is not 0. */
static inline uint32_t chance_below(struct chance *c, uint32_t n)
{
    c->state = c->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(c->state >> 33) % n;
}

static inline struct chance chance_new(uint64_t seed)
{
    struct chance c = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    chance_below(&c, 1);
    return c;
}

#endif
