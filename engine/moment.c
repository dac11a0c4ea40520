/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/moment.h"

uint64_t moment_begun(struct session *s, uint64_t position)
{
    uint64_t low = 0, high = session_event_count(s);
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        struct event event;
        if (session_event(s, middle, &event, NULL) && event.entry < position)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

uint64_t moment_returned(struct session *s, uint64_t position)
{
    struct event event;
    if (session_position(session_position_recorded(position)) != position)
        return 0;
    for (uint64_t n = moment_begun(s, position); n; n--)
        if (session_event(s, n, &event, NULL) && event.exit == position)
            return n;
    return 0;
}
