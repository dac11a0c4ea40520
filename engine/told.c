/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/told.h"

#include <stdlib.h>
#include <xxhash.h>

#include "engine/buf.h"
#include "engine/vec.h"

struct telling {
    uint64_t event, exit, payload, size;
    bool marker;
    /* With it and all before it. */
    size_t printed_end, markers_end;
    uint64_t hash;
};

struct told {
    vec_of(struct telling) at; /* by exit */
    struct buf printed, markers;
};

enum { STANDARD_OUTPUT = 1 };

/* All of it is kept in memory and handed to every checker; a run that prints more is no run that
 * anybody checks, and a damaged session may claim any size. */
static const uint64_t told_max = UINT64_C(1) << 30;

static bool collect(struct told *t, struct session *session, struct error *e)
{
    for (uint64_t n = 1; n <= session_event_count(session); n++) {
        struct event event;
        if (!session_event(session, n, &event, e))
            return false;
        bool marker = event.call == CALL_MARKER && event.flags == MARK_LINE;
        bool print = event.call == CALL_PRINT && event.fd == STANDARD_OUTPUT;
        if ((marker || print) && !(event.traits & (EVENT_FAILED | EVENT_UNFINISHED)))
            vec_push(&t->at, (struct telling){.event = n,
                                              .exit = event.exit,
                                              .payload = event.payload,
                                              .size = event.size,
                                              .marker = marker});
    }
    return true;
}

static int by_exit(const void *x, const void *y)
{
    const struct telling *a = x, *b = y;
    return a->exit < b->exit ? -1 : a->exit > b->exit;
}

static bool read_texts(struct told *t, struct session *session, struct error *e)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < t->at.n; i++) {
        struct telling *at = &t->at.at[i];
        if (at->size > told_max - t->printed.n || at->size > told_max - t->markers.n)
            return error_set(e,
                             "%s: with event %llu the run had printed over %llu MiB, more than can "
                             "be given to a checker; record one that prints less",
                             session_path(session), (unsigned long long)at->event,
                             (unsigned long long)(told_max >> 20));
        struct buf *to = at->marker ? &t->markers : &t->printed;
        char *bytes = buf_room(to, at->size);
        if (!session_payload(session, at->payload, 0, bytes, at->size, e))
            return false;
        if (at->size || at->marker) /* nothing printed changes nothing */
            hash = XXH3_64bits_withSeed(bytes, at->size, hash ^ at->marker);
        if (at->marker)
            buf_char(to, '\n');
        at->hash = hash;
        at->printed_end = t->printed.n;
        at->markers_end = t->markers.n;
    }
    return true;
}

bool told_new(struct told **out, struct session *session, struct error *e)
{
    struct told *t = xcalloc(1, sizeof *t);
    bool done = collect(t, session, e);
    if (done && t->at.n)
        qsort(t->at.at, t->at.n, sizeof *t->at.at, by_exit);
    if (!done || !read_texts(t, session, e)) {
        told_free(t);
        return false;
    }
    *out = t;
    return true;
}

void told_free(struct told *t)
{
    if (!t)
        return;
    vec_free(&t->at);
    buf_free(&t->printed);
    buf_free(&t->markers);
    free(t);
}

struct told_until told_before(const struct told *t, uint64_t position)
{
    size_t low = 0, high = t->at.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->at.at[middle].exit < position)
            low = middle + 1;
        else
            high = middle;
    }
    struct told_until until = {
        .printed = buf_string(&t->printed), .markers = buf_string(&t->markers), .count = low};
    if (low) {
        const struct telling *last = &t->at.at[low - 1];
        until.printed_size = last->printed_end;
        until.markers_size = last->markers_end;
        until.hash = last->hash;
    }
    return until;
}

size_t told_count(const struct told *t)
{
    return t->at.n;
}

uint64_t told_event(const struct told *t, size_t i)
{
    return t->at.at[i].event;
}

uint64_t told_position(const struct told *t, size_t i)
{
    return t->at.at[i].exit;
}
