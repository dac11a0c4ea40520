/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * clock: time that only goes on, whatever somebody sets the wall clock to; and how much of it was
 * spent working.
 */
#ifndef ENGINE_CLOCK_H
#define ENGINE_CLOCK_H

#include <stdint.h>

#define NANOSECONDS_PER_SECOND UINT64_C(1000000000)
#define NANOSECONDS_PER_MS     UINT64_C(1000000)

/* Nanoseconds since some moment in the past. */
uint64_t clock_now(void);

/* Seconds that processors were kept busy by this process (RUSAGE_SELF), or by those it waited for
 * (RUSAGE_CHILDREN). */
double clock_busy(int whose);

#endif
