/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which schedules each strategy goes through, and in which order.
 */
#include "engine/explore_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/calls.h"
#include "engine/scratch.h"

/* ---- units ---- */

/* Small behaviours first, but only by the power of two: those of about one size come in the order
 * of the trace, because going from one end of it to the other costs more than testing a state. */
static int size_class(const struct unit *u)
{
    return u->ops ? 32 - __builtin_clz(u->ops) : 0;
}

static int by_size(const void *x, const void *y)
{
    const struct unit *a = x, *b = y;
    if (size_class(a) != size_class(b))
        return size_class(a) < size_class(b) ? -1 : 1;
    if (a->first_op != b->first_op)
        return a->first_op < b->first_op ? -1 : 1;
    return a->behaviour < b->behaviour ? -1 : a->behaviour > b->behaviour;
}

static void add_behaviour(struct exploration *x, uint32_t behaviour, uint32_t group)
{
    const struct behaviour *b = &x->analysis->behaviours->at[behaviour];
    vec_push(&x->units, (struct unit){behaviour, group, b->ops, b->first_op, false});
}

static bool make_units(struct exploration *x, struct error *e)
{
    if (!analysis_environments(&x->environments, x->analysis, e))
        return false;
    if (x->options.strategy == STRATEGY_REPRESENTATIVE) {
        struct group_options options = GROUP_DEFAULTS;
        x->groups =
            groups_form(x->analysis->behaviours, x->analysis->graph, x->environments, &options);
        for (uint32_t i = 0; i < x->groups->n; i++)
            add_behaviour(x, x->groups->at[i].representative, i);
    } else
        for (uint32_t i = 0; i < x->analysis->behaviours->n; i++)
            add_behaviour(x, i, NO_OP);
    if (x->units.n)
        qsort(x->units.at, x->units.n, sizeof *x->units.at, by_size);
    x->counts.units = x->units.n;
    return true;
}

/* ---- the ideals of a unit ---- */

/* The ops of a unit in issue order, each with its location: 0 for the behaviour's own. */
struct members {
    uint32_t *ops, *location;
    size_t n;
    uint64_t *below, *last; /* as in struct ideals_options */
    struct poset poset;
};

struct member {
    uint32_t op, location;
};

static int by_op(const void *x, const void *y)
{
    const struct member *a = x, *b = y;
    return a->op < b->op ? -1 : a->op > b->op;
}

static void members_of_behaviour(struct exploration *x, const struct unit *u, struct members *m)
{
    const struct behaviours *list = x->analysis->behaviours;
    const struct behaviour *b = &list->at[u->behaviour];
    uint32_t *own = xcalloc(b->ops, sizeof *own);
    size_t n = behaviour_ops(list, b, own);
    const struct environment *env = environment_of(x->environments, own, n, ENVIRONMENT_MAX);
    if (env->left_out > x->left_out)
        x->left_out = env->left_out;
    vec_of(struct member) all = {0};
    for (size_t i = 0; i < n; i++)
        vec_push(&all, (struct member){own[i], 0});
    for (uint32_t l = 0; l < env->location_count; l++)
        for (uint32_t k = env->locations[l].last; k != NO_OP; k = env->earlier[k])
            vec_push(&all, (struct member){env->ops[k], l + 1});
    qsort(all.at, all.n, sizeof *all.at, by_op);
    m->n = all.n;
    m->ops = xcalloc(all.n, sizeof *m->ops);
    m->location = xcalloc(all.n, sizeof *m->location);
    for (size_t i = 0; i < all.n; i++) {
        m->ops[i] = all.at[i].op;
        m->location[i] = all.at[i].location;
    }
    vec_free(&all);
    free(own);
}

static void members_of_trace(struct exploration *x, struct members *m)
{
    m->n = x->analysis->graph->n;
    m->ops = xcalloc(m->n + 1, sizeof *m->ops);
    m->location = xcalloc(m->n + 1, sizeof *m->location);
    for (uint32_t i = 0; i < m->n; i++)
        m->ops[i] = i;
}

/* The behaviour itself must be under way, or about to begin: what its environment leaves earlier
 * are states of other behaviours, gone through as theirs. */
static void members_set_last(struct members *m)
{
    size_t first = 0;
    while (first < m->n && m->location[first])
        first++;
    m->last = xcalloc(m->n / 64 + 1, sizeof *m->last);
    for (size_t i = first ? first - 1 : 0; i < m->n; i++)
        m->last[i / 64] |= UINT64_C(1) << i % 64;
}

static void members_make(struct exploration *x, const struct unit *u, struct members *m)
{
    if (u->behaviour == NO_BEHAVIOUR)
        members_of_trace(x, m);
    else
        members_of_behaviour(x, u, m);
    m->below = xcalloc(m->n * ((m->n + 63) / 64) + 1, sizeof *m->below);
    graph_closure(x->analysis->graph, m->ops, m->n, m->below);
    poset_init(&m->poset, m->n, m->below);
    members_set_last(m);
}

static void members_free(struct members *m)
{
    poset_free(&m->poset);
    free(m->below);
    free(m->last);
    free(m->ops);
    free(m->location);
}

/* The ideal of a few ops as a schedule of the trace: all other ops issued by then survive, but for
 * those that need a lost one. */
static struct schedule schedule_of(const struct members *m, const struct ideal *ideal,
                                   uint32_t *lost)
{
    struct schedule s = {.lost_count = ideal->level, .lost = lost};
    if (ideal->last == IDEAL_EMPTY)
        s.last = m->n && m->ops[0] ? m->ops[0] - 1 : NO_OP;
    else
        s.last = m->ops[ideal->last];
    for (uint32_t i = 0; i < ideal->level; i++)
        lost[i] = m->ops[ideal->lost[i]];
    return s;
}

/* Beyond this the count is a number that nobody believes, and takes long. */
enum { COUNTED_OPS_MAX = 2048 };

/* Ideals come by their last op. In a unit whose ops lie far apart, each would be stepped to from
 * its first lost op, over all that lies between. So of such a unit some are gathered and gone
 * through by what is lost: from one to the next it is a short way then. */
enum { FAR = 1 << 12, GATHERED = 1 << 12 };

static bool is_far(const struct members *m)
{
    return m->n && m->ops[m->n - 1] - m->ops[0] >= FAR;
}

static int by_lost(const void *x, const void *y)
{
    const struct schedule *a = x, *b = y;
    for (uint32_t i = 0; i < a->lost_count && i < b->lost_count; i++)
        if (a->lost[i] != b->lost[i])
            return a->lost[i] < b->lost[i] ? -1 : 1;
    if (a->last == b->last)
        return 0;
    return a->last == NO_OP || (b->last != NO_OP && a->last < b->last) ? -1 : 1;
}

typedef vec_of(struct schedule) schedules;

/* How many more are to be gathered: no more than are gone through. */
static size_t room_for(const struct exploration *x)
{
    uint64_t budget = x->options.budget, had = x->counts.enumerated;
    return !budget || budget - had > GATHERED ? GATHERED : (size_t)(budget - had);
}

/* done: whether all went well so far; else they are only given up. */
static bool visit_gathered(struct exploration *x, schedules *all, struct unit *u, bool done,
                           struct error *e)
{
    if (done && all->n)
        qsort(all->at, all->n, sizeof *all->at, by_lost);
    for (size_t i = 0; i < all->n; i++) {
        done = done && (exploration_ended(x) || exploration_visit(x, &all->at[i], u, e));
        free((uint32_t *)(uintptr_t)all->at[i].lost);
    }
    all->n = 0;
    return done;
}

static bool gather(struct exploration *x, schedules *all, const struct schedule *s, struct unit *u,
                   struct error *e)
{
    vec_push(all, exploration_keep(s));
    return all->n < room_for(x) || visit_gathered(x, all, u, true, e);
}

/* One level of one unit. */
static bool unit_level(struct exploration *x, struct unit *u, uint32_t level, struct error *e)
{
    struct members m = {0};
    members_make(x, u, &m);
    struct ideals_options options = {.last = m.last, .location = m.location};
    struct ideals *it = ideals_new(&m.poset, &options);
    uint32_t *lost = xcalloc(m.n + 1, sizeof *lost);
    struct ideal ideal;
    bool done = true, any = false, more = false, far = level > 0 && is_far(&m);
    schedules gathered = {0};
    ideals_seek(it, level);
    while (done && !exploration_ended(x) && (more = ideals_next(it, &ideal)) &&
           ideal.level == level) {
        any = true;
        struct schedule s = schedule_of(&m, &ideal, lost);
        done = far ? gather(x, &gathered, &s, u, e) : exploration_visit(x, &s, u, e);
    }
    done = visit_gathered(x, &gathered, u, done, e);
    u->done = !any || !more;
    vec_free(&gathered);
    free(lost);
    ideals_free(it);
    members_free(&m);
    return done;
}

/* How many states that will be, for those who wait: no further than the budget, and not at all when
 * there are more units than are counted in a moment. */
static void expect(struct exploration *x)
{
    enum { UNITS_COUNTED = 256, EFFORT = IDEALS_COUNT_EFFORT / UNITS_COUNTED };
    uint64_t most = x->options.budget ? x->options.budget : UINT64_MAX;
    uint64_t sum = x->counts.enumerated; /* of the units before these */
    if (x->units.n > most) {             /* each has one at least */
        x->counts.expected = most;
        return;
    }
    for (size_t i = 0; i < x->units.n && sum < most; i++) {
        if (i == UNITS_COUNTED || x->units.at[i].ops > COUNTED_OPS_MAX) {
            sum = x->options.budget;
            break;
        }
        struct members m = {0};
        members_make(x, &x->units.at[i], &m);
        struct ideals_options options = {.last = m.last, .location = m.location};
        struct ideals *it = ideals_new(&m.poset, &options);
        uint64_t count = ideals_count(it, EFFORT).count;
        sum = count > most - sum ? most : sum + count;
        ideals_free(it);
        members_free(&m);
    }
    x->counts.expected = sum == UINT64_MAX ? 0 : sum;
}

static bool by_levels(struct exploration *x, struct error *e)
{
    bool left = true;
    if (x->options.progress)
        expect(x);
    for (uint32_t level = 0; left && !exploration_ended(x); level++) {
        left = false;
        for (size_t i = 0; i < x->units.n && !exploration_ended(x); i++) {
            struct unit *u = &x->units.at[i];
            if (u->done)
                continue;
            if (!unit_level(x, u, level, e))
                return false;
            left |= !u->done;
        }
    }
    return true;
}

/* ---- more of groups that are not consistent ---- */

/* The lines of code that a behaviour's stores come from. */
static uint64_t lines_of(const struct behaviours *list, uint32_t behaviour, uint32_t *room)
{
    const struct behaviour *b = &list->at[behaviour];
    size_t n = behaviour_actions(list, b, room);
    XXH64_hash_t hash = 0;
    for (size_t i = 0; i < n; i++) {
        const struct call_place *at = calltree_at(list->tree, list->places[room[i]]);
        uint64_t line[] = {at->site, calltree_node(list->tree, at->node)->function, hash};
        hash = XXH3_64bits(line, sizeof line);
    }
    return hash;
}

/* Of one group: a behaviour for every other way through the code than the representative's. */
static void add_other_ways(struct exploration *x, uint32_t group)
{
    const struct groups *s = x->groups;
    const struct behaviours *list = x->analysis->behaviours;
    const struct group *g = &s->at[group];
    uint32_t *room = xcalloc(list->action_count + 1, sizeof *room);
    struct scratch ways = {0};
    scratch_clear(&ways);
    scratch_put(&ways, lines_of(list, g->representative, room), g->representative);
    for (uint32_t k = 0; k < g->signatures; k++) {
        const struct group_signature *of = &s->signatures[s->taken[g->first + k]];
        for (uint32_t i = 0; i < of->members; i++) {
            uint32_t b = s->members[of->first_member + i];
            if (*scratch_put(&ways, lines_of(list, b, room), b) == b && b != g->representative)
                add_behaviour(x, b, group);
        }
    }
    scratch_free(&ways);
    free(room);
}

/* Functions that change the same fields are in one group, and one of them stands for all: enough to
 * know that something is wrong, but whoever mends it wants all the places. So where a
 * representative is inconsistent, the group's other ways through the code are gone through as well.
 */
static bool follow_bad_groups(struct exploration *x, struct error *e)
{
    if (!x->analysis->objects || x->options.strategy != STRATEGY_REPRESENTATIVE)
        return true;
    if (!exploration_drain(x, e))
        return false;
    bool *bad = xcalloc(x->groups->n + 1, sizeof *bad);
    for (size_t i = 0; i < x->states.n; i++) {
        const struct explored *state = &x->states.at[i];
        if (state->group != NO_OP && state->verdict != VERDICT_CONSISTENT)
            bad[state->group] = true;
    }
    x->units.n = 0;
    for (uint32_t i = 0; i < x->groups->n; i++) {
        uint32_t representative = x->groups->at[i].representative;
        if (bad[i] && (x->analysis->behaviours->at[representative].flags & BEHAVIOUR_TYPE))
            add_other_ways(x, i);
    }
    free(bad);
    x->counts.units += x->units.n;
    return !x->units.n || by_levels(x, e);
}

/* ---- the other strategies ---- */

static const struct unit whole_trace = {.behaviour = NO_BEHAVIOUR, .group = NO_OP};

/* Every op of the trace in one order matrix: beyond this it takes too much memory, and has more
 * sets than anybody waits for. */
enum { EXHAUSTIVE_OPS_MAX = 8192 };

void exploration_count_possible(struct exploration *x)
{
    struct members m = {0};
    if (x->analysis->graph->n > COUNTED_OPS_MAX)
        return;
    members_make(x, &whole_trace, &m);
    struct ideals_options options = {.all_locations = true};
    struct ideals *it = ideals_new(&m.poset, &options);
    struct ideals_total total = ideals_count(it, IDEALS_COUNT_EFFORT);
    x->counts.possible = total.count;
    x->counts.possible_exact = total.known == IDEALS_EXACT;
    ideals_free(it);
    members_free(&m);
}

static bool exhaustively(struct exploration *x, struct error *e)
{
    if (x->analysis->graph->n > EXHAUSTIVE_OPS_MAX)
        return error_set(
            e,
            "the trace has %zu ops, too many for the strategy exhaustive (at most %d): "
            "take representative, or record a shorter run",
            x->analysis->graph->n, EXHAUSTIVE_OPS_MAX);
    vec_push(&x->units, whole_trace);
    x->counts.units = 1;
    return by_levels(x, e);
}

static bool prefixes(struct exploration *x, struct error *e)
{
    struct schedule s = {.last = NO_OP};
    if (!exploration_visit(x, &s, &whole_trace, e))
        return false;
    for (uint32_t op = 0; op < x->analysis->graph->n && !exploration_ended(x); op++) {
        s.last = op;
        if (!exploration_visit(x, &s, &whole_trace, e))
            return false;
    }
    return true;
}

static bool at_fixes(struct exploration *x, struct error *e)
{
    const struct graph *g = x->analysis->graph;
    for (size_t i = 0; i < g->fix_count && !exploration_ended(x); i++) {
        uint32_t next = graph_issued_from(g, g->fixes[i].position);
        struct schedule s = {.last = next ? next - 1 : NO_OP};
        if (!exploration_visit(x, &s, &whole_trace, e))
            return false;
    }
    return true;
}

/* What was issued when a sync began, and when it had returned. A write that syncs itself begins to
 * when it has written. */
static bool at_syncs(struct exploration *x, struct error *e)
{
    struct analysis *a = x->analysis;
    for (size_t i = 0; i < a->action_count && !exploration_ended(x); i++) {
        if (!a->actions[i].syncs)
            continue;
        bool writes = !call_is_sync(a->actions[i].call);
        uint32_t next = a->graph->event_first[a->actions[i].event + writes];
        struct schedule s = {.last = next ? next - 1 : NO_OP};
        if (!exploration_visit(x, &s, &whole_trace, e))
            return false;
    }
    struct schedule end = {.last = a->graph->n ? (uint32_t)a->graph->n - 1 : NO_OP};
    return at_fixes(x, e) && exploration_visit(x, &end, &whole_trace, e);
}

/* splitmix64: small, and the same everywhere. */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A last op, and up to a few lost ones among those that it does not need, none of them before
 * another: a schedule's form. */
static bool randomly(struct exploration *x, struct error *e)
{
    enum { MOST_LOST = 4, REACH = 256, ROUNDS_WITHOUT_BUDGET = 10000 };
    const struct graph *g = x->analysis->graph;
    uint64_t random = x->options.seed;
    uint64_t rounds = x->options.budget ? UINT64_MAX : ROUNDS_WITHOUT_BUDGET;
    for (uint64_t i = 0; g->n && i < rounds && !exploration_ended(x); i++) {
        uint32_t lost[MOST_LOST], n = 0;
        uint32_t last = (uint32_t)(random_next(&random) % g->n);
        uint32_t reach = last < REACH ? last : REACH;
        for (uint64_t want = random_next(&random) % (MOST_LOST + 1); want && reach; want--) {
            uint32_t op = last - 1 - (uint32_t)(random_next(&random) % reach);
            bool taken = graph_before(g, op, last);
            for (uint32_t k = 0; k < n; k++)
                taken |=
                    lost[k] == op || graph_before(g, lost[k], op) || graph_before(g, op, lost[k]);
            if (!taken)
                lost[n++] = op;
        }
        for (uint32_t k = 1; k < n; k++)
            for (uint32_t j = k; j && lost[j - 1] > lost[j]; j--) {
                uint32_t swap = lost[j];
                lost[j] = lost[j - 1];
                lost[j - 1] = swap;
            }
        struct schedule s = {last, n, lost};
        if (!exploration_visit(x, &s, &whole_trace, e))
            return false;
    }
    return true;
}

bool exploration_units(struct exploration *x, struct error *e)
{
    if (!x->analysis->graph->n) /* any strategy: the state before the run is all there is */
        return prefixes(x, e);
    switch (x->options.strategy) {
    case STRATEGY_EXHAUSTIVE:
        return exhaustively(x, e);
    case STRATEGY_PREFIX:
        return prefixes(x, e);
    case STRATEGY_SYNC:
        return at_syncs(x, e);
    case STRATEGY_RANDOM:
        return randomly(x, e);
    default:
        return make_units(x, e) && by_levels(x, e) && follow_bad_groups(x, e);
    }
}
