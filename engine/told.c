/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/told.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/buf.h"
#include "engine/calls.h"
#include "engine/map.h"
#include "engine/replay.h"
#include "engine/vec.h"

struct telling {
    uint64_t event, exit, payload, size;
    bool marker;
    bool settled; /* before it printed on, its thread changed or synced data */
    /* With it and all before it. */
    size_t printed_end, markers_end;
    uint64_t hash;
};

struct told {
    vec_of(struct telling) at; /* by exit */
    struct buf printed, markers;
};

enum {
    STANDARD_OUTPUT = 1,
    /* Buffers are this large at least, and are written when they are full, wherever a line ends. */
    BUFFER_LEAST = 512,
};

/* All of it is kept in memory and handed to every checker; a run that prints more is no run that
 * anybody checks, and a damaged session may claim any size. */
static const uint64_t told_max = UINT64_C(1) << 30;

static bool is_print(const struct event *e)
{
    return e->call == CALL_PRINT && e->fd == STANDARD_OUTPUT &&
           !(e->traits & (EVENT_FAILED | EVENT_UNFINISHED));
}

static bool works_on_data(const struct event *e)
{
    return event_syncs(e) || e->call == CALL_FLUSH ||
           (replay_changes(e->call) &&
            (e->call != CALL_OPEN || e->traits & (EVENT_CREATED | EVENT_TRUNCATED)));
}

/* last: by thread, one more than the place of its last print. */
static void note_work(struct told *t, const struct map *last, uint32_t thread)
{
    const uint64_t *place = map_get(last, &thread, sizeof thread);
    if (place && *place)
        t->at.at[*place - 1].settled = true;
}

static bool collect(struct told *t, struct map *last, struct session *session, struct error *e)
{
    for (uint64_t n = 1; n <= session_event_count(session); n++) {
        struct event event;
        if (!session_event(session, n, &event, e))
            return false;
        bool marker = event.call == CALL_MARKER && event.flags == MARK_LINE &&
                      !(event.traits & (EVENT_FAILED | EVENT_UNFINISHED));
        if (works_on_data(&event))
            note_work(t, last, event.thread);
        if (is_print(&event))
            *map_put(last, &event.thread, sizeof event.thread, NULL) = t->at.n + 1;
        if (marker || is_print(&event))
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

/* How much of what was printed is told with this print, when before it was so much: whole lines.
 * The rest counts as one when nothing follows, and when the program went on with its data: then it
 * was not about to end a line, but for what filled a buffer. */
static size_t told_with(const struct told *t, const struct telling *print, size_t before,
                        bool is_last)
{
    size_t n = print->size;
    if (is_last || (print->settled && n > 0 && n < BUFFER_LEAST))
        return t->printed.n;
    const char *newline = n ? memrchr(t->printed.at + t->printed.n - n, '\n', n) : NULL;
    return newline ? (size_t)(newline + 1 - t->printed.at) : before;
}

static bool read_texts(struct told *t, struct session *session, struct error *e)
{
    uint64_t hash = 0;
    size_t told = 0, prints = 0;
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
            size_t end = told_with(t, at, told, --prints == 0);
            if (end > told) /* a part of a line changes nothing */
                hash = XXH3_64bits_withSeed(t->printed.at + told, end - told, hash);
            told = end;
        }
        at->hash = hash;
        at->printed_end = told;
        at->markers_end = t->markers.n;
    }
    return true;
}

bool told_new(struct told **out, struct session *session, struct error *e)
{
    struct told *t = xcalloc(1, sizeof *t);
    struct map last = {0};
    bool done = collect(t, &last, session, e);
    map_free(&last);
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

/* The line that a print ends without ending: what follows the last newline in it, as far as that is
 * near its end. *ends: it has one, or that is not known. */
static bool rest_of(struct session *s, const struct event *event, struct buf *out, bool *ends,
                    struct error *e)
{
    enum { NEAR = 4096 };
    size_t size = event->size < NEAR ? event->size : NEAR;

    buf_clear(out);
    if (size &&
        !session_payload(s, event->payload, event->size - size, buf_room(out, size), size, e))
        return false;
    const char *newline = size ? memrchr(out->at, '\n', size) : NULL;
    *ends = newline || size < event->size;
    if (newline) {
        size_t gone = (size_t)(newline + 1 - out->at);
        memmove(out->at, out->at + gone, out->n - gone);
        out->n -= gone;
    }
    return true;
}

/* What had been printed of the line that a print goes on with. */
static bool line_before(struct session *s, uint64_t number, struct buf *line, struct error *e)
{
    enum { LOOKED_BACK = 256 };
    struct buf piece = {0};
    struct event event;
    bool ok = true, ends = false;

    for (uint64_t n = number - 1; ok && !ends && n > 0 && number - n <= LOOKED_BACK; n--) {
        ok = session_event(s, n, &event, e);
        if (!ok || !is_print(&event))
            continue;
        ok = rest_of(s, &event, &piece, &ends, e);
        buf_add(&piece, buf_string(line), line->n);
        buf_clear(line);
        buf_add(line, buf_string(&piece), piece.n);
    }
    buf_free(&piece);
    return ok;
}

bool told_line(struct session *s, uint64_t number, size_t most, struct buf *out, struct error *e)
{
    struct buf before = {0};
    struct event event;
    bool ok = session_event(s, number, &event, e) &&
              (!is_print(&event) || line_before(s, number, &before, e));

    buf_clear(out);
    buf_add(out, buf_string(&before), before.n < most ? before.n : most);
    buf_free(&before);
    size_t room = ok ? most - out->n : 0, size = event.size < room ? event.size : room;
    return ok && (!size || session_payload(s, event.payload, 0, buf_room(out, size), size, e));
}
