/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/walk_states.h"

#include <stdlib.h>

#include "engine/clock.h"
#include "engine/mem.h"

enum { HAND, WHOLE, SIDES };

struct walk_states {
    struct walk *walk;
    const struct graph *graph;
    struct state_source source;
    struct stepper *steppers[SIDES];
    uint64_t aimed, settled; /* versions of the walk */
    uint64_t way;            /* ops to go when it set out */
};

struct walk_states *walk_states_new(struct walk *w, const struct graph *g,
                                    const struct state_source *source)
{
    struct walk_states *s = xcalloc(1, sizeof *s);

    s->walk = w;
    s->graph = g;
    s->source = *source;
    return s;
}

void walk_states_free(struct walk_states *s)
{
    if (!s)
        return;
    for (int i = 0; i < SIDES; i++)
        stepper_free(s->steppers[i]);
    free(s);
}

static uint64_t left(const struct walk_states *s)
{
    return stepper_left(s->steppers[HAND]) + stepper_left(s->steppers[WHOLE]);
}

static void aim(struct walk_states *s)
{
    size_t n;
    const uint32_t *lost = walk_lost(s->walk, &n);

    stepper_aim_without(s->steppers[HAND], walk_last(s->walk), lost, n);
    /* NO_OP when nothing had been issued. */
    stepper_aim_without(s->steppers[WHOLE], walk_issued(s->walk) - 1, NULL, 0);
    s->aimed = walk_version(s->walk);
    s->settled = 0;
    s->way = left(s);
}

bool walk_states_settle(struct walk_states *s, uint64_t deadline, bool *done, struct error *e)
{
    *done = false;
    for (int i = 0; i < SIDES; i++) {
        if (s->steppers[i])
            continue;
        if (!stepper_new(&s->steppers[i], s->graph, &s->source, e))
            return false;
        if (clock_now() >= deadline)
            return true;
    }
    if (s->aimed != walk_version(s->walk))
        aim(s);
    for (int i = 0; i < SIDES; i++) {
        if (!stepper_settle(s->steppers[i], deadline, done, e)) {
            s->aimed = 0;
            return false;
        }
        if (!*done)
            return true;
    }
    s->settled = s->aimed;
    return true;
}

uint64_t walk_states_version(const struct walk_states *s)
{
    return s->settled == walk_version(s->walk) ? s->settled : 0;
}

int walk_states_percent(const struct walk_states *s)
{
    enum { ALL = 100 };

    if (walk_states_version(s))
        return ALL;
    if (s->aimed != walk_version(s->walk) || !s->way)
        return 0;
    return (int)(ALL - left(s) * ALL / s->way);
}

struct state *walk_states_hand(struct walk_states *s)
{
    return walk_states_version(s) ? stepper_state(s->steppers[HAND]) : NULL;
}

struct state *walk_states_whole(struct walk_states *s)
{
    return walk_states_version(s) ? stepper_state(s->steppers[WHOLE]) : NULL;
}
