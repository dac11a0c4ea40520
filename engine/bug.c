/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/bug_inside.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/map.h"

/* The status by which a checker says that recovery itself failed. */
enum { EXIT_RECOVERY_FAILED = 99 };

const char *bug_kind_name(enum bug_kind kind)
{
    static const char *const names[] = {"", "ordering", "atomicity", "unpersisted", "recovery"};
    return names[kind];
}

struct bug_finder {
    struct exploration *x;
    struct analysis *a;
    struct beginning beginning;
    vec_of(struct bug) bugs;
    struct map by_cause;           /* see cause_key → place in bugs, plus 1 */
    vec_of(struct culprit) causes; /* one each, to explain further states without the checker */
    vec_of(uint32_t) cause_bugs;   /* whose they are */
    vec_of(size_t) matching;       /* causes, while a state is looked at */
    vec_of(uint32_t) of_state;     /* as in struct bugs */
    uint64_t unexplained;
};

static enum bug_kind kind_of(const struct graph *g, const struct culprit *c)
{
    if (c->verdict.kind == VERDICT_CRASHED || c->verdict.kind == VERDICT_HUNG ||
        c->verdict.exit == EXIT_RECOVERY_FAILED)
        return BUG_RECOVERY;
    if (c->survived == NO_OP && !c->told)
        return BUG_RECOVERY; /* the checker does not even like what the run began with */
    if (!c->all_lost.n)
        return BUG_ATOMICITY;
    if (c->survived == NO_OP)
        return BUG_UNPERSISTED;
    for (size_t i = 0; i < c->all_lost.n; i++) {
        uint32_t lost = c->all_lost.at[i];
        bool one_call = g->ops[lost].event == g->ops[c->survived].event;
        if (one_call && op_original(g->ops, lost) != op_original(g->ops, c->survived))
            return BUG_ATOMICITY;
    }
    return BUG_ORDERING;
}

/* ---- one cause or another ---- */

static bool place_of_event(struct bug_finder *f, uint64_t number, uint32_t *place, uint32_t *call,
                           struct error *e)
{
    struct event event;
    if (!session_event(f->a->session, number, &event, e))
        return false;
    *place = calltree_place(f->a->behaviours->tree, event.stack);
    *call = event.call;
    return true;
}

/* A culprit by what its calls are: each one's family and the way to it from the function that all
 * of them have in common. How often does not count, nor in which order. */
static uint64_t hash_calls(const struct calltree *tree, enum bug_kind kind, const uint32_t *places,
                           const uint32_t *calls, size_t n)
{
    uint32_t node = calltree_at(tree, places[0])->node;
    for (size_t i = 1; i < n; i++) {
        uint32_t common = calltree_common(tree, places[0], places[i]);
        if (calltree_node(tree, common)->depth < calltree_node(tree, node)->depth)
            node = common;
    }
    uint64_t lost = 0;
    struct map seen = {0};
    for (size_t i = 1; i < n; i++) {
        uint64_t part[] = {calltree_relative(tree, node, places[i]), calls[i]};
        bool added;
        map_put(&seen, part, sizeof part, &added);
        lost += added ? XXH3_64bits(part, sizeof part) : 0;
    }
    map_free(&seen);
    uint64_t whole[] = {(uint64_t)kind, lost, calls[0], calltree_relative(tree, node, places[0]),
                        calltree_node(tree, node)->function};
    return XXH3_64bits(whole, sizeof whole);
}

static bool cause_key(struct bug_finder *f, const struct culprit *c, enum bug_kind kind,
                      uint64_t *key, struct error *e)
{
    const struct graph *g = f->a->graph;
    uint64_t survived = c->survived == NO_OP ? c->told : g->ops[c->survived].event;
    if (!survived) { /* the state before the run, which no call made */
        uint64_t whole[] = {(uint64_t)kind};
        *key = XXH3_64bits(whole, sizeof whole);
        return true;
    }
    size_t n = c->lost.n + 1;
    uint32_t *places = xcalloc(n, sizeof *places), *calls = xcalloc(n, sizeof *calls);
    bool done = place_of_event(f, survived, &places[0], &calls[0], e);
    for (size_t i = 0; done && i < c->lost.n; i++)
        done = place_of_event(f, g->ops[c->lost.at[i]].event, &places[i + 1], &calls[i + 1], e);
    if (done)
        *key = hash_calls(f->a->behaviours->tree, kind, places, calls, n);
    free(places);
    free(calls);
    return done;
}

/* ---- the states ---- */

static bool contains(const uint32_t *sorted, size_t n, uint32_t op)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sorted[middle] < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && sorted[low] == op;
}

/* Whether the state lacks what the culprit lost and has what survived it. */
static bool matches(const struct culprit *c, const struct explored *state, const uint32_t *lost,
                    size_t n)
{
    if (c->survived == NO_OP && !c->told)
        return false;
    if (c->survived != NO_OP &&
        (state->schedule.last == NO_OP || c->survived > state->schedule.last ||
         contains(lost, n, c->survived)))
        return false;
    if (c->told && c->told_until > state->crash)
        return false;
    if (!c->lost.n && c->survived != state->schedule.last)
        return false; /* what came later may have mended it */
    for (size_t i = 0; i < c->lost.n; i++) {
        uint32_t op = c->lost.at[i];
        bool issued = state->schedule.last != NO_OP && op <= state->schedule.last;
        if (issued && !contains(lost, n, op))
            return false;
    }
    return true;
}

static int by_time(const void *x, const void *y, void *causes)
{
    const struct culprit *all = causes, *a = &all[*(const size_t *)x],
                         *b = &all[*(const size_t *)y];
    if (a->told_until != b->told_until)
        return a->told_until < b->told_until ? -1 : 1;
    return (*(const size_t *)x > *(const size_t *)y) - (*(const size_t *)x < *(const size_t *)y);
}

/* The causes that match, by when it goes wrong by them. Of those by which too much had been told
 * the first is enough: a state that was wrong before that has another cause. */
static size_t find_matching(struct bug_finder *f, const struct explored *state,
                            const uint32_t *lost, size_t n, const size_t **out)
{
    size_t kept = 0;
    bool told = false;
    f->matching.n = 0;
    for (size_t i = 0; i < f->causes.n; i++)
        if (matches(&f->causes.at[i], state, lost, n))
            vec_push(&f->matching, i);
    if (f->matching.n)
        qsort_r(f->matching.at, f->matching.n, sizeof *f->matching.at, by_time, f->causes.at);
    for (size_t i = 0; i < f->matching.n; i++) {
        bool tells = f->causes.at[f->matching.at[i]].told;
        if (!tells || !told)
            f->matching.at[kept++] = f->matching.at[i];
        told |= tells;
    }
    *out = f->matching.at;
    return kept;
}

/* A state that matches has this cause if it was fine up to then: another may come before it. */
static bool explains(struct bug_finder *f, const struct culprit *c, const struct explored *state,
                     const uint32_t *lost, size_t n, bool *yes, struct error *e)
{
    const struct graph *g = f->a->graph;
    uint32_t end = c->survived != NO_OP ? c->survived : c->last == NO_OP ? 0 : c->last + 1;
    uint32_t behind = state->schedule.last + 1; /* NO_OP + 1 is 0 */
    end = end < behind ? end : behind;
    bool *survives = xcalloc(g->n + 1, sizeof *survives);
    memset(survives, true, end * sizeof *survives);
    for (size_t i = 0; i < n && lost[i] < end; i++)
        survives[lost[i]] = false;
    struct verdict before;
    /* Up to, but without, what should not be there. */
    bool done =
        exploration_test(f->x, survives, end ? end - 1 : NO_OP, c->told_until - 1, &before, e);
    if (done) {
        *yes = !verdict_is_bad(&before);
        verdict_clear(&before);
    }
    free(survives);
    return done;
}

/* What the crash cut off the call that survived: its next op. NO_OP when all of it is there. */
static uint32_t rest_of_call(const struct graph *g, uint32_t survived)
{
    const struct op *ops = g->ops;
    uint32_t next = survived + 1; /* NO_OP + 1 is 0 */

    while (survived != NO_OP && next < g->n && ops[next].event == ops[survived].event) {
        if (op_original(ops, next) != op_original(ops, survived))
            return next;
        next++;
    }
    return NO_OP;
}

static void fill_bug(struct bug_finder *f, struct bug *b, const struct culprit *c,
                     enum bug_kind kind, uint64_t cause, const struct explored *state)
{
    *b = (struct bug){.id = (uint32_t)f->bugs.n,
                      .kind = kind,
                      .cause = cause,
                      .survived = c->survived,
                      .told = c->told,
                      .lost_count = c->lost.n,
                      .states = 1,
                      .behaviour = state->behaviour,
                      .group = state->group,
                      .last = c->last,
                      .all_lost_count = c->all_lost.n,
                      .told_until = c->told_until,
                      .verdict = c->verdict};
    b->lost = xcalloc(c->lost.n + 1, sizeof *b->lost);
    memcpy(b->lost, c->lost.n ? c->lost.at : b->lost, c->lost.n * sizeof *b->lost);
    uint32_t rest = c->lost.n ? NO_OP : rest_of_call(f->a->graph, c->survived);
    if (rest != NO_OP)
        b->lost[b->lost_count++] = rest;
    b->all_lost = xcalloc(c->all_lost.n + 1, sizeof *b->all_lost);
    memcpy(b->all_lost, c->all_lost.n ? c->all_lost.at : b->all_lost,
           c->all_lost.n * sizeof *b->all_lost);
    b->verdict.output = xstrdup(c->verdict.output ? c->verdict.output : "");
}

/* The culprit is the finder's from then on. *bug: whose it is; fresh: that is a new one. */
static bool take_culprit(struct bug_finder *f, struct culprit *c, const struct explored *state,
                         uint32_t *bug, bool *fresh, struct error *e)
{
    enum bug_kind kind = kind_of(f->a->graph, c);
    uint64_t key;
    if (!cause_key(f, c, kind, &key, e)) {
        culprit_clear(c);
        return false;
    }
    uint64_t *place = map_put(&f->by_cause, &key, sizeof key, fresh);
    if (*fresh) {
        struct bug *b = vec_add(&f->bugs);
        *place = f->bugs.n;
        fill_bug(f, b, c, kind, key, state);
    }
    *bug = (uint32_t)(*place - 1);
    vec_push(&f->cause_bugs, *bug);
    vec_push(&f->causes, *c);
    return !*fresh || bug_describe(&f->bugs.at[*bug], f->a, e);
}

/* *bug: the place of the state's bug; NO_OP when it did not fail again. */
static bool find_cause(struct bug_finder *f, const struct explored *state, uint32_t *bug,
                       bool *fresh, struct error *e)
{
    size_t n;
    struct stepper *stepper = exploration_stepper(f->x);
    if (!stepper_go(stepper, &state->schedule, e))
        return false;
    const uint32_t *at = stepper_lost(stepper, &n);
    uint32_t *lost = xcalloc(n + 1, sizeof *lost);
    memcpy(lost, n ? at : lost, n * sizeof *lost);
    bool done = true, known = false;
    const size_t *at_hand;
    size_t matching = find_matching(f, state, lost, n, &at_hand);
    for (size_t i = 0; done && i < matching && !known; i++) {
        done = explains(f, &f->causes.at[at_hand[i]], state, lost, n, &known, e);
        if (done && known)
            *bug = f->cause_bugs.at[at_hand[i]];
    }
    if (done && !known) {
        struct culprit c;
        done = culprit_find(&c, f->x, f->a, &f->beginning, state, lost, n, e);
        if (done && c.failed)
            done = take_culprit(f, &c, state, bug, fresh, e);
        else
            culprit_clear(&c);
    }
    free(lost);
    return done;
}

bool bug_finder_take(struct bug_finder *f, const struct explored *state, const struct bug **fresh,
                     struct error *e)
{
    uint32_t bug = NO_OP;
    bool is_fresh = false;
    if (fresh)
        *fresh = NULL;
    if (state->verdict > VERDICT_CONSISTENT) {
        if (!find_cause(f, state, &bug, &is_fresh, e))
            return false;
        if (bug == NO_OP)
            f->unexplained++;
        else if (!is_fresh)
            f->bugs.at[bug].states++;
    }
    vec_push(&f->of_state, bug == NO_OP ? 0 : f->bugs.at[bug].id);
    if (fresh && is_fresh)
        *fresh = &f->bugs.at[bug];
    return true;
}

struct bug_finder *bug_finder_new(struct exploration *x, struct analysis *a)
{
    struct bug_finder *f = xcalloc(1, sizeof *f);
    f->x = x;
    f->a = a;
    return f;
}

static struct bugs *take_apart(struct bug_finder *f)
{
    struct bugs *b = xcalloc(1, sizeof *b);
    *b = (struct bugs){.at = f->bugs.at,
                       .n = f->bugs.n,
                       .unexplained = f->unexplained,
                       .of_state = f->of_state.at,
                       .state_count = f->of_state.n,
                       .occurrences = xcalloc(f->causes.n + 1, sizeof *b->occurrences),
                       .occurrence_count = f->causes.n};
    for (size_t i = 0; i < f->causes.n; i++) {
        struct culprit *c = &f->causes.at[i];
        b->occurrences[i] = (struct bug_occurrence){.bug = b->at[f->cause_bugs.at[i]].id,
                                                    .lost = c->lost.n ? c->lost.at[0] : NO_OP,
                                                    .survived = c->survived,
                                                    .told = c->told};
        culprit_clear(c);
    }
    vec_free(&f->causes);
    vec_free(&f->cause_bugs);
    vec_free(&f->matching);
    map_free(&f->by_cause);
    free(f);
    return b;
}

void bug_finder_free(struct bug_finder *f)
{
    if (f)
        bugs_free(take_apart(f));
}

bool bug_finder_finish(struct bug_finder *f, struct bugs **out, struct error *e)
{
    struct analysis *a = f->a;
    struct bugs *b = take_apart(f);
    bool done = bug_places_find(b, a, e);
    for (size_t i = 0; done && i < b->n; i++)
        done = bug_propose(&b->at[i], b, a, 0, e);
    if (!done) {
        bugs_free(b);
        return false;
    }
    *out = b;
    return true;
}

bool bugs_find(struct bugs **out, struct exploration *x, struct analysis *a, struct error *e)
{
    struct bug_finder *f = bug_finder_new(x, a);
    const struct explored *states;
    size_t n = exploration_states(x, &states);
    bool done = true;
    for (size_t i = 0; done && i < n; i++)
        done = bug_finder_take(f, &states[i], NULL, e);
    /* What an interruption leaves unexplained is found by the next check. */
    if (!done && !exploration_counts(x)->stopped) {
        bug_finder_free(f);
        return false;
    }
    return bug_finder_finish(f, out, e);
}

static bool repeat(struct bug *b, struct exploration *x, bool *survives, struct error *e)
{
    uint32_t end = b->last == NO_OP ? 0 : b->last + 1;
    struct verdict again;

    memset(survives, true, end * sizeof *survives);
    for (size_t i = 0; i < b->all_lost_count; i++)
        survives[b->all_lost[i]] = false;
    if (!exploration_repeat(x, survives, b->last, b->told_until, &again, e))
        return false;
    b->repeated = true;
    b->differs = !verdict_is_bad(&again);
    verdict_clear(&again);
    return true;
}

bool bugs_repeat(struct bugs *bugs, struct exploration *x, struct analysis *a, struct error *e)
{
    bool *survives = xcalloc(a->graph->n + 1, sizeof *survives);
    bool done = true;

    for (size_t i = 0; done && i < bugs->n && !exploration_counts(x)->stopped; i++)
        done = repeat(&bugs->at[i], x, survives, e);
    free(survives);
    return done || exploration_counts(x)->stopped;
}

void bugs_free(struct bugs *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n; i++) {
        struct bug *bug = &b->at[i];
        free(bug->lost);
        free(bug->all_lost);
        free(bug->summary);
        free(bug->rule);
        free(bug->fix);
        free(bug->proposal.at);
        verdict_clear(&bug->verdict);
    }
    free(b->at);
    free(b->of_state);
    free(b->occurrences);
    free(b);
}
