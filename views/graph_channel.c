/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The lines between two ranks: channel routing. On the left of a channel each row belongs to one
 * source at most, on its right to one end at most. A line comes in on its row, turns into a
 * vertical on some track, and leaves on another row. Two things must not happen:
 *
 * - Verticals of two lines touch on one track.
 * - In a row that one line comes in by and another leaves by, the first turns right of the second:
 *   they would lie upon each other. So the first's track lies left of the second's.
 *
 * Where the second rule runs in circles, a line takes two verticals, by way of a row that nothing
 * else uses.
 */
#include "views/graph_route_inside.h"

#include <stdlib.h>

/* Columns: a piece of line, a track and a gap for each, an arrow head. */
enum { TRACK_COLUMNS = 2, CHANNEL_EXTRA = 2, CHANNEL_LEAST = 3 };

#define NO_TRACK (-1)

/* A vertical: of a source that branches to several ends, or of one wire alone. */
struct vertical {
    vec_of(size_t) wires;
    bool enters, leaves; /* false in the middle of a detour */
    bool second;         /* of the detour of its only wire */
    int low, high;       /* rows it covers */
    int track;
};

struct channel {
    struct rank *rank;
    vec_of(struct vertical) verticals;
};

int channel_width(const struct rank *rank)
{
    int width = rank->tracks * TRACK_COLUMNS + CHANNEL_EXTRA;
    return width < CHANNEL_LEAST ? CHANNEL_LEAST : width;
}

int channel_column(const struct rank *rank, int track)
{
    return rank->channel + 1 + track * TRACK_COLUMNS;
}

const struct wire *channel_wire(const struct rank *rank, uint32_t source, int to)
{
    for (size_t i = 0; i < rank->wires.n; i++)
        if (rank->wires.at[i].source == source && rank->wires.at[i].to == to)
            return &rank->wires.at[i];
    abort(); /* every edge was given its wires */
}

/* ---- wires ---- */

static void collect_wires(struct router *r, size_t k)
{
    struct rank *rank = &r->ranks[k];

    for (size_t i = 0; i < r->edge_count; i++) {
        uint32_t from = r->edges[i].from, to = r->edges[i].to;
        bool known = false;
        if (r->rank_of[from] > k || r->rank_of[to] <= k)
            continue;
        int left = router_row(r, from, k);
        int right = r->rank_of[to] == k + 1 ? router_arrival(r, i) : router_row(r, from, k + 1);
        for (size_t j = 0; j < rank->wires.n; j++)
            known |= rank->wires.at[j].source == from && rank->wires.at[j].to == right;
        if (!known)
            vec_push(&rank->wires, (struct wire){.source = from,
                                                 .from = left,
                                                 .to = right,
                                                 .track = NO_TRACK,
                                                 .second_track = NO_TRACK});
    }
}

/* ---- verticals ---- */

static void cover(struct vertical *v, int row)
{
    v->low = row < v->low ? row : v->low;
    v->high = row > v->high ? row : v->high;
}

static void take(struct channel *c, struct vertical *v, size_t wire)
{
    const struct wire *w = &c->rank->wires.at[wire];

    if (!v->wires.n)
        v->low = v->high = w->from;
    vec_push(&v->wires, wire);
    cover(v, w->from);
    cover(v, w->to);
}

static void add_vertical(struct channel *c, struct vertical v)
{
    if (v.wires.n)
        vec_push(&c->verticals, v);
    else
        vec_free(&v.wires);
}

/* One vertical for all ends of a source; where one of them is straight ahead, one upwards and one
 * downwards, since the line goes on between them. */
static void make_verticals(struct channel *c)
{
    const struct rank *rank = c->rank;

    for (size_t i = 0; i < rank->wires.n; i++) {
        uint32_t source = rank->wires.at[i].source;
        bool first = true, straight = false;
        struct vertical up = {.enters = true, .leaves = true, .track = NO_TRACK}, down = up;
        for (size_t j = 0; j < rank->wires.n; j++) {
            first &= j >= i || rank->wires.at[j].source != source;
            straight |= rank->wires.at[j].source == source &&
                        rank->wires.at[j].from == rank->wires.at[j].to;
        }
        for (size_t j = i; first && j < rank->wires.n; j++) {
            const struct wire *w = &rank->wires.at[j];
            if (w->source == source && w->from != w->to)
                take(c, straight && w->to < w->from ? &up : &down, j);
        }
        add_vertical(c, up);
        add_vertical(c, down);
    }
}

static const struct wire *wire_of(const struct channel *c, const struct vertical *v, size_t i)
{
    return &c->rank->wires.at[v->wires.at[i]];
}

/* Whether a must be left of b. */
static bool left_of(const struct channel *c, const struct vertical *a, const struct vertical *b)
{
    if (!a->leaves && b->second)
        return a->wires.at[0] == b->wires.at[0];
    if (!a->enters || !b->leaves)
        return false;
    for (size_t i = 0; i < b->wires.n; i++)
        if (wire_of(c, b, i)->to == wire_of(c, a, 0)->from)
            return true;
    return false;
}

static bool touch(const struct vertical *a, const struct vertical *b)
{
    return a->low <= b->high && b->low <= a->high;
}

/* ---- tracks ---- */

/* The first track that is right of all that must be left of it; NO_TRACK when some of those have
 * none yet. */
static int earliest_track(const struct channel *c, const struct vertical *v)
{
    int track = 0;

    for (size_t i = 0; i < c->verticals.n; i++) {
        const struct vertical *other = &c->verticals.at[i];
        if (other == v || !left_of(c, other, v))
            continue;
        if (other->track == NO_TRACK)
            return NO_TRACK;
        track = other->track >= track ? other->track + 1 : track;
    }
    return track;
}

static bool track_is_free(const struct channel *c, const struct vertical *v, int track)
{
    for (size_t i = 0; i < c->verticals.n; i++)
        if (c->verticals.at[i].track == track && touch(&c->verticals.at[i], v))
            return false;
    return true;
}

/* Lines that go the same way do not cross when the one that has further to go turns first: of those
 * going down the lowest, of those going up the highest. */
static bool turns_before(const struct channel *c, const struct vertical *a,
                         const struct vertical *b)
{
    int from_a = wire_of(c, a, 0)->from, from_b = wire_of(c, b, 0)->from;
    bool down_a = a->high > from_a, down_b = b->high > from_b;

    if (down_a != down_b)
        return down_a;
    return down_a ? from_a > from_b : from_a < from_b;
}

static struct vertical *next_ready(const struct channel *c)
{
    struct vertical *best = NULL;

    for (size_t i = 0; i < c->verticals.n; i++) {
        struct vertical *v = &c->verticals.at[i];
        if (v->track == NO_TRACK && earliest_track(c, v) != NO_TRACK &&
            (!best || turns_before(c, v, best)))
            best = v;
    }
    return best;
}

/* ---- detours ---- */

static bool row_is_free(const struct channel *c, int row)
{
    for (size_t i = 0; i < c->rank->wires.n; i++) {
        const struct wire *w = &c->rank->wires.at[i];
        if (w->from == row || w->to == row || (w->detours && w->detour == row))
            return false;
    }
    return true;
}

static void detour(struct channel *c, struct vertical *v)
{
    size_t number = v->wires.at[0];
    struct wire *w = &c->rank->wires.at[number];
    struct vertical second = {.leaves = true, .second = true, .track = NO_TRACK};
    int middle = (w->from + w->to) / 2, away = 0;

    while (!row_is_free(c, middle + away))
        away = away > 0 ? -away : 1 - away;
    w->detour = middle + away;
    w->detours = true;
    v->leaves = false;
    v->low = v->high = w->from;
    cover(v, w->detour);
    vec_push(&second.wires, number);
    second.low = second.high = w->detour;
    cover(&second, w->to);
    vec_push(&c->verticals, second); /* moves what v points to */
}

/* A vertical of several wires comes apart: what goes up from what goes down, so that the line can
 * go on between them to the next; else the first from the others. */
static void split(struct channel *c, struct vertical *v)
{
    struct vertical parts[2] = {{.enters = true, .leaves = true, .track = NO_TRACK}};
    bool both = v->low < wire_of(c, v, 0)->from && v->high > wire_of(c, v, 0)->from;

    parts[1] = parts[0];
    for (size_t k = 0; k < v->wires.n; k++) {
        const struct wire *w = wire_of(c, v, k);
        take(c, &parts[both ? w->to > w->from : k > 0], v->wires.at[k]);
    }
    vec_free(&v->wires);
    *v = parts[0];
    vec_push(&c->verticals, parts[1]);
}

/* Opens a circle of verticals that each have to be left of the next. */
static void open_circle(struct channel *c)
{
    size_t i = 0;

    while (c->verticals.at[i].track != NO_TRACK || c->verticals.at[i].second ||
           !c->verticals.at[i].leaves)
        i++;
    struct vertical *v = &c->verticals.at[i];
    if (v->wires.n == 1) {
        detour(c, v);
        return;
    }
    split(c, v);
}

static void keep_tracks(struct channel *c)
{
    for (size_t i = 0; i < c->verticals.n; i++) {
        const struct vertical *v = &c->verticals.at[i];
        for (size_t k = 0; k < v->wires.n; k++) {
            struct wire *w = &c->rank->wires.at[v->wires.at[k]];
            if (v->second)
                w->second_track = v->track;
            else
                w->track = v->track;
        }
        if (v->track >= c->rank->tracks)
            c->rank->tracks = v->track + 1;
    }
}

void channel_route(struct router *r, size_t rank)
{
    struct channel c = {.rank = &r->ranks[rank]};
    size_t placed = 0;

    collect_wires(r, rank);
    make_verticals(&c);
    while (placed < c.verticals.n) {
        struct vertical *v = next_ready(&c);
        if (!v) {
            open_circle(&c);
            continue;
        }
        int track = earliest_track(&c, v);
        while (!track_is_free(&c, v, track))
            track++;
        v->track = track;
        placed++;
    }
    keep_tracks(&c);
    for (size_t i = 0; i < c.verticals.n; i++)
        vec_free(&c.verticals.at[i].wires);
    vec_free(&c.verticals);
}
