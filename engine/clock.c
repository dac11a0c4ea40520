/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/clock.h"

#include <sys/resource.h>
#include <time.h>

uint64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NANOSECONDS_PER_SECOND + (uint64_t)t.tv_nsec;
}

double clock_busy(int whose)
{
    enum { MICROSECONDS_PER_SECOND = 1000000 };
    struct rusage used;
    getrusage(whose, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / MICROSECONDS_PER_SECOND;
}
