/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/told.h"

#include <stdlib.h>
#include <string.h>
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

/* How much of what was printed is whole lines, at first what was so before. When nothing follows,
 * the rest counts as one. */
static size_t whole_lines(const struct told *t, size_t before, bool is_all)
{
    size_t end = t->printed.n;
    while (!is_all && end > before && t->printed.at[end - 1] != '\n')
        end--;
    return end;
}

static bool read_texts(struct told *t, struct session *session, struct error *e)
{
    uint64_t hash = 0;
    size_t lines = 0, prints = 0;
    for (size_t i = 0; i < t->at.n; i++)
        prints += !t->at.at[i].marker;
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
        if (at->marker) {
            hash = XXH3_64bits_withSeed(bytes, at->size, hash ^ 1);
            buf_char(to, '\n');
        } else {
            size_t end = whole_lines(t, lines, --prints == 0);
            if (end > lines) /* a part of a line changes nothing */
                hash = XXH3_64bits_withSeed(t->printed.at + lines, end - lines, hash);
            lines = end;
        }
        at->hash = hash;
        at->printed_end = lines;
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

/* ---- lines that were printed in pieces ---- */

static bool is_print(const struct event *e)
{
    return e->call == CALL_PRINT && e->fd == STANDARD_OUTPUT &&
           !(e->traits & (EVENT_FAILED | EVENT_UNFINISHED));
}

/* Where the line that a print goes on with began: an event from which on no print ended one. */
static bool find_begin(struct session *s, uint64_t number, uint64_t *begin, struct error *e)
{
    enum { LOOKED_BACK = 256 };
    struct event event;
    char end;

    *begin = number;
    for (uint64_t n = number - 1; n > 0 && number - n <= LOOKED_BACK; n--) {
        if (!session_event(s, n, &event, e))
            return false;
        if (!is_print(&event) || !event.size)
            continue;
        if (!session_payload(s, event.payload, event.size - 1, &end, 1, e))
            return false;
        if (end == '\n')
            break;
        *begin = n;
    }
    return true;
}

/* Of what was printed before, only the line that goes on. */
static void keep_last_line(struct buf *out)
{
    const char *newline = out->n ? memrchr(out->at, '\n', out->n) : NULL;
    size_t gone = newline ? (size_t)(newline + 1 - out->at) : 0;

    if (!gone)
        return;
    memmove(out->at, out->at + gone, out->n - gone);
    out->n -= gone;
}

bool told_line(struct session *s, uint64_t number, size_t most, struct buf *out, struct error *e)
{
    struct event event;
    uint64_t n = number;

    buf_clear(out);
    if (!session_event(s, number, &event, e) || (is_print(&event) && !find_begin(s, number, &n, e)))
        return false;
    for (; n <= number; n++) {
        if (!session_event(s, n, &event, e))
            return false;
        if (n != number && !is_print(&event))
            continue;
        keep_last_line(out);
        size_t room = most - out->n, size = event.size < room ? event.size : room;
        if (size && !session_payload(s, event.payload, 0, buf_room(out, size), size, e))
            return false;
    }
    return true;
}
