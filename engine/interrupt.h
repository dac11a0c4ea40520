/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * interrupt: how whoever waits for long work asks it to end. The work looks now and then, and gives
 * up with an error; whoever asked knows why.
 */
#ifndef ENGINE_INTERRUPT_H
#define ENGINE_INTERRUPT_H

#include <stdbool.h>

#include "engine/error.h"

/* What the error says then. */
#define INTERRUPTED "interrupted"

struct interrupt {
    bool (*asked)(void *data); /* called often: it must be cheap */
    void *data;
};

/* How many events or ops are gone through between two looks: well under a millisecond. */
enum { INTERRUPT_EVERY = 1024 };

/* False, with an error, when the work is to end. NULL: nobody ever asks. */
static inline bool interrupt_go_on(const struct interrupt *i, struct error *e)
{
    return !i || !i->asked(i->data) || error_set(e, INTERRUPTED);
}

#endif
