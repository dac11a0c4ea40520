/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/environment.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/mem.h"
#include "engine/scratch.h"
#include "engine/vec.h"

/* Ops are searched backwards for those that stay in flight for long; a run whose ops are all
 * durable by then is passed over as a whole. */
enum { RUN = 64, RUN_OF_RUNS = RUN * RUN };

/* A position at which ops become durable, and how many are by then. */
struct moment {
    uint64_t position;
    size_t durable;
};

struct environments {
    const struct graph *g;
    environment_entry_fn *entry;
    void *data;
    vec_of(struct moment) by_time; /* ascending; syncs are far fewer than ops */
    uint64_t *run_latest;          /* the latest durable of each run */
    uint64_t *wide_latest;
    struct scratch found; /* key of a location → its index */
    vec_of(uint32_t) ops;
    vec_of(uint32_t) earlier;
    vec_of(uint32_t) oldest; /* of each location: index of the op that was found last */
    vec_of(struct environment_location) locations;
    struct environment out;
};

static int by_position(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    return (x->position > y->position) - (x->position < y->position);
}

/* Neighbours mostly become durable together: they are counted at once. */
static void count_moments(struct environments *s)
{
    const struct graph *g = s->g;
    bool ascending = true;
    for (size_t i = 0; i < g->n; i++) {
        if (s->by_time.n && vec_last(&s->by_time).position == g->durable[i]) {
            vec_last(&s->by_time).durable++;
            continue;
        }
        ascending &= !s->by_time.n || vec_last(&s->by_time).position < g->durable[i];
        vec_push(&s->by_time, (struct moment){g->durable[i], 1});
    }
    if (!ascending)
        qsort(s->by_time.at, s->by_time.n, sizeof *s->by_time.at, by_position);
    for (size_t i = 1; i < s->by_time.n; i++)
        s->by_time.at[i].durable += s->by_time.at[i - 1].durable;
}

struct environments *environments_new(const struct graph *g, environment_entry_fn *entry,
                                      void *data)
{
    struct environments *s = xcalloc(1, sizeof *s);
    s->g = g;
    s->entry = entry;
    s->data = data;
    s->run_latest = xcalloc(g->n / RUN + 1, sizeof *s->run_latest);
    s->wide_latest = xcalloc(g->n / RUN_OF_RUNS + 1, sizeof *s->wide_latest);
    for (size_t i = 0; i < g->n; i++) {
        uint64_t durable = g->durable[i];
        if (s->run_latest[i / RUN] < durable)
            s->run_latest[i / RUN] = durable;
        if (s->wide_latest[i / RUN_OF_RUNS] < durable)
            s->wide_latest[i / RUN_OF_RUNS] = durable;
    }
    count_moments(s);
    return s;
}

void environments_free(struct environments *s)
{
    if (!s)
        return;
    vec_free(&s->by_time);
    free(s->run_latest);
    free(s->wide_latest);
    scratch_free(&s->found);
    vec_free(&s->ops);
    vec_free(&s->earlier);
    vec_free(&s->oldest);
    vec_free(&s->locations);
    free(s);
}

struct environment_location environment_locate(const struct environments *s, uint32_t op)
{
    const struct op *o = &s->g->ops[op];
    switch (o->kind) {
    case OP_NAME:
        return s->entry ? (struct environment_location){.sort = LOCATION_ENTRY,
                                                        .place = s->entry(s->data, op)}
                        : (struct environment_location){.sort = LOCATION_ENTRY, .place = o->file};
    case OP_SIZE:
        return (struct environment_location){.sort = LOCATION_SIZE, .file = o->file};
    case OP_STORE:
        if (!(o->flags & OP_PAGED))
            return (struct environment_location){
                .sort = LOCATION_CACHE_LINE, .file = o->file, .place = o->offset / CACHE_LINE};
        /* fall through */
    default:
        return (struct environment_location){
            .sort = LOCATION_BLOCK, .file = o->file, .place = o->offset / OP_BLOCK_SIZE};
    }
}

uint64_t environment_key(const struct environment_location *at)
{
    uint64_t key[3] = {at->sort, at->file, at->place};
    return XXH3_64bits(key, sizeof key);
}

/* How many ops are durable at a position. */
static size_t durable_at(const struct environments *s, uint64_t position)
{
    size_t low = 0, high = s->by_time.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->by_time.at[middle].position <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? s->by_time.at[low - 1].durable : 0;
}

/* The latest op before `end` that is not durable at the position; NO_OP when there is none. */
static uint32_t in_flight_before(const struct environments *s, uint32_t end, uint64_t position)
{
    while (end > 0) {
        uint32_t i = end - 1;
        if (s->wide_latest[i / RUN_OF_RUNS] <= position)
            end = i / RUN_OF_RUNS * RUN_OF_RUNS;
        else if (s->run_latest[i / RUN] <= position)
            end = i / RUN * RUN;
        else if (s->g->durable[i] <= position)
            end = i;
        else
            return i;
    }
    return NO_OP;
}

static void add_op(struct environments *s, uint32_t op)
{
    struct environment_location at = environment_locate(s, op);
    uint32_t index = (uint32_t)s->ops.n;
    uint64_t location = *scratch_put(&s->found, environment_key(&at), s->locations.n);
    if (location == s->locations.n) {
        at.last = index;
        vec_push(&s->locations, at);
        vec_push(&s->oldest, NO_OP);
    }
    struct environment_location *l = &s->locations.at[location];
    l->count++;
    l->kinds |= 1U << s->g->ops[op].kind;
    if (s->oldest.at[location] != NO_OP)
        s->earlier.at[s->oldest.at[location]] = index;
    s->oldest.at[location] = index;
    vec_push(&s->ops, op);
    vec_push(&s->earlier, NO_OP);
}

const struct environment *environment_of(struct environments *s, const uint32_t *ops, size_t n,
                                         size_t limit)
{
    uint64_t position = s->g->issued[ops[0]];
    /* What is durable by then was issued before then, so all of it lies before the last op; and
     * none of the behaviour's own is. */
    size_t foreign = ops[n - 1] + 1 - n - durable_at(s, position);
    scratch_clear(&s->found);
    s->ops.n = s->earlier.n = s->oldest.n = s->locations.n = 0;
    size_t own = n;
    uint32_t at = ops[n - 1] + 1;
    while (s->ops.n < foreign && s->ops.n < limit &&
           (at = in_flight_before(s, at, position)) != NO_OP) {
        if (own && ops[own - 1] == at)
            own--;
        else
            add_op(s, at);
    }
    s->out = (struct environment){
        .ops = s->ops.at,
        .earlier = s->earlier.at,
        .n = s->ops.n,
        .locations = s->locations.at,
        .location_count = s->locations.n,
        .left_out = foreign - s->ops.n,
    };
    return &s->out;
}
