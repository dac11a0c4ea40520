/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/clock.h"

#include <time.h>

uint64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NANOSECONDS_PER_SECOND + (uint64_t)t.tv_nsec;
}
