/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/walk.h"

#include <stdlib.h>
#include <string.h>

#include "engine/bits.h"
#include "engine/walk_inside.h"

/* --- Choices, shared by the moments of a history ------------------------------------------- */

struct choice *choice_new(const uint32_t *ops, size_t n)
{
    struct choice *c = xmalloc(sizeof *c + n * sizeof *c->ops);

    c->refs = 1;
    c->n = n;
    if (n)
        memcpy(c->ops, ops, n * sizeof *ops);
    return c;
}

static void choice_drop(struct choice *c)
{
    if (c && --c->refs == 0)
        free(c);
}

/* --- What follows from a moment ------------------------------------------------------------ */

/* What a choice takes with it: by edges up to the limit, and everything from there on, because
 * something chosen was durable by then. */
void closure_go_on(const struct graph *g, const struct choice *c, uint32_t from,
                   const struct closure *within, struct closure *out)
{
    uint64_t *gone = out->gone;
    uint32_t bound = within ? within->limit : 0;

    out->durable = NEVER;
    for (size_t i = 0; i < c->n; i++) {
        if (g->durable[c->ops[i]] < out->durable)
            out->durable = g->durable[c->ops[i]];
        bits_add(gone, c->ops[i]);
    }
    out->limit = graph_issued_behind(g, out->durable);
    if (!c->n)
        return;
    for (uint32_t op = from; op < out->limit; op++) {
        if (op < bound) {
            size_t next = bits_next(within->gone, bits_words(g->n), op);
            op = next < bound ? (uint32_t)next : bound;
            if (op >= out->limit)
                return;
        }
        gone[op / BITS_WORD] |= (uint64_t)led_to(g, gone, op) << (op % BITS_WORD);
    }
}

void closure_find(const struct graph *g, const struct choice *c, struct closure *out)
{
    out->gone = xcalloc(bits_words(g->n) + 1, sizeof *out->gone);
    closure_go_on(g, c, c->n ? c->ops[0] : 0, NULL, out);
}

/* The last op before `end` that the closure leaves; NO_OP. */
static uint32_t last_left(const struct closure *c, uint32_t end)
{
    end = end < c->limit ? end : c->limit;
    while (end && bits_has(c->gone, end - 1)) {
        if (end % BITS_WORD == 0 && c->gone[end / BITS_WORD - 1] == UINT64_MAX)
            end -= BITS_WORD;
        else
            end--;
    }
    return end ? end - 1 : NO_OP;
}

/* The first op at or after `from` that it leaves; the limit when there is none. */
static uint32_t next_left(const struct closure *c, uint32_t from)
{
    while (from < c->limit && bits_has(c->gone, from)) {
        if (from % BITS_WORD == 0 && c->gone[from / BITS_WORD] == UINT64_MAX)
            from += BITS_WORD;
        else
            from++;
    }
    return from < c->limit ? from : c->limit;
}

static void find_crash(struct walk *w)
{
    const struct graph *g = w->graph;
    uint64_t crash = g->lacking[w->last + 1]; /* NO_OP + 1 is 0 */

    if (w->closure.durable < crash)
        crash = w->closure.durable;
    uint64_t earliest = w->last == NO_OP ? 0 : g->issued[w->last] + 1;
    uint64_t pinned = w->now.pinned < earliest ? earliest : w->now.pinned;
    w->crash = pinned < crash ? pinned : crash;
    w->issued = graph_issued_behind(g, w->crash);
}

/* Everything that follows from w->now, the closure excepted. */
static void work_out(struct walk *w)
{
    w->last = last_left(&w->closure, w->now.end);
    find_crash(w);
    size_t end = (size_t)(w->last + 1);
    size_t gone = bits_count(w->closure.gone, end / BITS_WORD);
    for (size_t op = end / BITS_WORD * BITS_WORD; op < end; op++)
        gone += bits_has(w->closure.gone, op);
    w->lost_count = gone;
    w->lost_known = false;
    w->version++;
}

/* --- History ------------------------------------------------------------------------------- */

static void drop_moments(struct walk *w, size_t from)
{
    while (w->history.n > from)
        choice_drop(w->history.at[--w->history.n].choice);
}

static bool same_choice(const struct choice *a, const struct choice *b)
{
    return a == b || (a && b && a->n == b->n && !memcmp(a->ops, b->ops, a->n * sizeof *a->ops));
}

static bool same_moment(const struct moment_in_hand *a, const struct moment_in_hand *b)
{
    return same_choice(a->choice, b->choice) && a->end == b->end && a->pinned == b->pinned &&
           a->here == b->here && a->behind == b->behind;
}

static void enter(struct walk *w, struct moment_in_hand to, struct closure *closure)
{
    if (closure) {
        free(w->closure.gone);
        w->closure = *closure;
    } else if (to.choice != w->now.choice) {
        free(w->closure.gone);
        closure_find(w->graph, to.choice, &w->closure);
    }
    w->now = to;
    work_out(w);
}

bool walk_enter(struct walk *w, struct moment_in_hand to, struct closure *closure)
{
    if (same_moment(&to, &w->now)) {
        choice_drop(to.choice);
        if (closure)
            free(closure->gone);
        return false;
    }
    enter(w, to, closure);
    drop_moments(w, w->place + 1);
    if (w->history.n == WALK_UNDO_MAX + 1) {
        choice_drop(w->history.at[0].choice);
        memmove(w->history.at, w->history.at + 1, (w->history.n - 1) * sizeof *w->history.at);
        w->history.n--;
    }
    vec_push(&w->history, to);
    w->place = w->history.n - 1;
    return true;
}

static struct choice *choice_share(struct choice *c)
{
    c->refs++;
    return c;
}

void walk_tell(struct walk *w, enum walk_deed deed, enum walk_answer answer, uint32_t op)
{
    w->follows.n = 0;
    w->news = (struct walk_news){.deed = deed,
                                 .answer = answer,
                                 .op = op,
                                 .because = {NO_OP, NO_OP, RULE_SYNCED},
                                 .crash_was = w->crash,
                                 .copy = NO_OP};
}

static bool go_in_history(struct walk *w, enum walk_deed deed, bool possible, size_t place)
{
    walk_tell(w, deed, WALK_DONE, NO_OP);
    if (!possible) {
        w->news.answer = deed == WALK_UNDO ? WALK_AT_START : WALK_AT_END;
        return false;
    }
    w->place = place;
    enter(w, w->history.at[place], NULL);
    w->news.op = w->last;
    return true;
}

bool walk_undo(struct walk *w)
{
    return go_in_history(w, WALK_UNDO, w->place > 0, w->place - 1);
}

bool walk_redo(struct walk *w)
{
    return go_in_history(w, WALK_REDO, w->place + 1 < w->history.n, w->place + 1);
}

/* --- Beginnings ---------------------------------------------------------------------------- */

/* The event that issued an op: for a copy the sync that carried it. */
static uint64_t issuer(const struct graph *g, uint32_t op)
{
    uint64_t low = 1, high = g->events;

    while (low < high) {
        uint64_t middle = (low + high + 1) / 2;
        if (g->event_first[middle] <= op)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static uint64_t event_of(const struct walk *w, uint32_t op)
{
    return op == NO_OP ? 0 : issuer(w->graph, op);
}

/* Nobody takes back further than the moment in hand. */
static void forget_before(struct walk *w)
{
    drop_moments(w, w->place + 1);
    for (size_t i = 0; i < w->place; i++)
        choice_drop(w->history.at[i].choice);
    w->history.at[0] = w->history.at[w->place];
    w->history.n = 1;
    w->place = 0;
}

static bool begin(struct walk *w, uint32_t end, struct choice *choice, uint64_t pinned)
{
    struct moment_in_hand to = {choice, end, pinned, event_of(w, end ? end - 1 : NO_OP), false};

    walk_tell(w, WALK_BEGIN, WALK_DONE, NO_OP);
    bool changed = walk_enter(w, to, NULL);
    forget_before(w);
    w->news.op = w->last;
    return changed;
}

bool walk_begin_run(struct walk *w)
{
    return begin(w, (uint32_t)w->graph->n, choice_new(NULL, 0), NEVER);
}

bool walk_begin_prefix(struct walk *w, uint32_t last)
{
    if (last != NO_OP && last >= w->graph->n) {
        walk_tell(w, WALK_BEGIN, WALK_NO_SUCH_OP, last);
        return false;
    }
    return begin(w, last + 1, choice_new(NULL, 0), NEVER);
}

/* Of all that is lost, what nothing else lost comes before. */
static struct choice *least_lost(const struct graph *g, const struct report_state *state)
{
    struct choice *c = choice_new(state->lost, state->lost_count);
    uint64_t *lost = xcalloc(bits_words(g->n) + 1, sizeof *lost);
    size_t n = 0;

    for (size_t i = 0; i < state->lost_count; i++) {
        uint32_t op = state->lost[i];
        if (!led_to(g, lost, op))
            c->ops[n++] = op;
        bits_add(lost, op);
    }
    c->n = n;
    free(lost);
    return c;
}

bool walk_begin_state(struct walk *w, const struct report_state *state, struct error *e)
{
    const struct graph *g = w->graph;

    if (state->model && !model_is(&g->model, state->model))
        return error_set(e, "the state is of the model %s, and this is %s; check again with it",
                         state->model, g->model.name);
    if (!report_state_fits(state, g))
        return error_set(e, "the state does not fit its trace; run flotsam check again");
    /* The session keeps positions that never come as the largest number of its format. */
    uint64_t pinned = state->told_until >= INT64_MAX ? NEVER : state->told_until;
    begin(w, state->last + 1, least_lost(g, state), pinned);
    return true;
}

/* --- Steps --------------------------------------------------------------------------------- */

static bool go_behind(struct walk *w, uint32_t end, uint64_t here, bool behind)
{
    struct moment_in_hand to = {choice_share(w->now.choice), end, NEVER, here, behind};
    bool changed = walk_enter(w, to, NULL);

    w->news.op = w->last;
    return changed;
}

static bool go(struct walk *w, uint32_t end, uint64_t here)
{
    return go_behind(w, end, here, false);
}

uint32_t walk_first_durable(const struct walk *w)
{
    const struct choice *c = w->now.choice;

    for (size_t i = 0; i < c->n; i++)
        if (w->graph->durable[c->ops[i]] == w->closure.durable)
            return c->ops[i];
    return NO_OP;
}

/* Nothing issued from here on can survive what is lost. */
static bool blocked(struct walk *w, uint32_t by)
{
    w->news.answer = WALK_DURABLE;
    w->news.because = (struct graph_step){walk_first_durable(w), by, RULE_SYNCED};
    return false;
}

static bool step_on(struct walk *w, uint64_t steps)
{
    uint32_t behind = w->last + 1, to = NO_OP;
    uint32_t from = behind > w->now.end ? behind : w->now.end;

    for (; steps; steps--) {
        uint32_t next = next_left(&w->closure, from);
        if (next >= w->closure.limit)
            break;
        to = next;
        from = next + 1;
    }
    bool changed = to != NO_OP && go(w, to + 1, issuer(w->graph, to));
    if (!steps)
        return changed;
    if (w->closure.limit < w->graph->n)
        blocked(w, w->closure.limit);
    else
        w->news.answer = WALK_AT_END;
    return changed;
}

static bool step_back(struct walk *w, uint64_t steps)
{
    uint32_t to = w->last;

    for (; steps && to != NO_OP; steps--)
        to = last_left(&w->closure, to);
    bool changed = to != w->last && go(w, to + 1, event_of(w, to));
    if (steps)
        w->news.answer = WALK_AT_START;
    return changed;
}

bool walk_step(struct walk *w, int64_t steps)
{
    walk_tell(w, WALK_STEP, WALK_DONE, w->last);
    return steps > 0 ? step_on(w, (uint64_t)steps) : step_back(w, 0 - (uint64_t)steps);
}

bool walk_to(struct walk *w, uint32_t op)
{
    walk_tell(w, WALK_STEP, WALK_DONE, op);
    if (op != NO_OP && op >= w->graph->n) {
        w->news.answer = WALK_NO_SUCH_OP;
        return false;
    }
    if (op != NO_OP && op >= w->closure.limit)
        return blocked(w, op);
    return go(w, op + 1, event_of(w, op));
}

/* How many stops come before a place; one that is there counts when `there`. */
static size_t stops_until(const struct walk *w, uint64_t event, bool behind, bool there)
{
    size_t low = 0, high = w->stops.n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct walk_stop *stop = &w->stops.at[middle];
        bool before = stop->event < event || (stop->event == event && stop->behind < behind);
        bool same = stop->event == event && stop->behind == behind;
        if (before || (same && there))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether all that is lost can be so when the sync that one goes to has returned. */
static bool can_go_to(const struct walk *w, const struct walk_stop *stop, bool *can,
                      struct error *e)
{
    struct event event;

    if (!w->source->event(w->source->data, stop->event, &event, e))
        return false;
    *can = (stop->behind ? event.exit + 1 : event.entry) <= w->closure.durable;
    return true;
}

/* How many of n stops can be gone to: none behind one that cannot. */
static bool stops_possible(const struct walk *w, const struct walk_stop *first, size_t n,
                           size_t *possible, struct error *e)
{
    size_t low = 0, high = n;
    bool can;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (!can_go_to(w, first + middle, &can, e))
            return false;
        if (can)
            low = middle + 1;
        else
            high = middle;
    }
    *possible = low;
    return true;
}

bool walk_sync(struct walk *w, int64_t steps, struct error *e)
{
    bool on = steps > 0;
    uint64_t wanted = on ? (uint64_t)steps : 0 - (uint64_t)steps;
    size_t next = stops_until(w, w->now.here, w->now.behind, true);
    size_t before = stops_until(w, w->now.here, w->now.behind, false);
    size_t there = on ? w->stops.n - next : before, n = wanted < there ? (size_t)wanted : there;
    size_t possible = n; /* what lies before is not durable yet */
    bool changed = false;

    walk_tell(w, WALK_STEP, WALK_DONE, w->last);
    if (on && !stops_possible(w, w->stops.at + next, n, &possible, e))
        return false;
    if (possible) {
        const struct walk_stop *stop = &w->stops.at[on ? next + possible - 1 : before - possible];
        changed = go_behind(w, w->graph->event_first[stop->event + 1], stop->event, stop->behind);
    }
    if (possible < n)
        blocked(w, NO_OP);
    else if (n < wanted)
        w->news.answer = on ? WALK_AT_END : WALK_AT_START;
    return changed;
}

/* --- What is the case ---------------------------------------------------------------------- */

bool walk_survives(const struct walk *w, uint32_t op)
{
    return w->last != NO_OP && op <= w->last && !bits_has(w->closure.gone, op);
}

enum walk_mark walk_mark(const struct walk *w, uint32_t op)
{
    if (w->last != NO_OP && op <= w->last)
        return bits_has(w->closure.gone, op) ? WALK_LOST : WALK_PERSISTED;
    return op < w->issued ? WALK_FLIGHT : WALK_UNISSUED;
}

bool walk_chosen(const struct walk *w, uint32_t op)
{
    const struct choice *c = w->now.choice;
    size_t low = 0, high = c->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c->ops[middle] < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n && c->ops[low] == op;
}

struct walk_counts walk_counts(const struct walk *w)
{
    size_t end = (size_t)(uint32_t)(w->last + 1);

    return (struct walk_counts){.persisted = end - w->lost_count,
                                .lost = w->lost_count,
                                .flight = w->issued > end ? w->issued - end : 0,
                                .unissued = w->graph->n - (w->issued > end ? w->issued : end)};
}

uint32_t walk_last(const struct walk *w)
{
    return w->last;
}

uint64_t walk_crash(const struct walk *w)
{
    return w->crash;
}

uint64_t walk_here(const struct walk *w)
{
    return w->now.here;
}

bool walk_at_pretended(const struct walk *w)
{
    return w->now.behind;
}

uint32_t walk_issued(const struct walk *w)
{
    return w->issued;
}

uint64_t walk_version(const struct walk *w)
{
    return w->version;
}

const struct walk_news *walk_news(const struct walk *w)
{
    return &w->news;
}

const uint32_t *walk_lost(struct walk *w, size_t *n)
{
    if (!w->lost_known) {
        size_t words = bits_words(w->graph->n) + 1;
        w->lost.n = 0;
        for (size_t op = 0; w->lost.n < w->lost_count && bits_find(w->closure.gone, words, &op);
             op++)
            vec_push(&w->lost, (uint32_t)op);
        w->lost_known = true;
    }
    *n = w->lost.n;
    return w->lost.at;
}

void walk_export(struct walk *w, struct report_state *out)
{
    size_t n;
    const uint32_t *lost = walk_lost(w, &n);

    *out = (struct report_state){.last = w->last,
                                 .lost = xcalloc(n + 1, sizeof *lost),
                                 .lost_count = n,
                                 .told_until = w->crash,
                                 .model = model_text(&w->graph->model)};
    if (n)
        memcpy(out->lost, lost, n * sizeof *lost);
}

/* --- Making one ---------------------------------------------------------------------------- */

static int by_event(const void *a, const void *b)
{
    const struct walk_stop *x = a, *y = b;

    return (x->event > y->event) - (x->event < y->event);
}

/* Adds the pretended syncs up to an event, each place once. */
static void add_pretended(struct walk *w, const struct walk_stop *all, size_t n, size_t *next,
                          uint64_t until)
{
    for (; *next < n && all[*next].event < until; ++*next)
        if (!*next || all[*next - 1].event != all[*next].event)
            vec_push(&w->stops, all[*next]);
}

static void find_stops(struct walk *w, const struct action *actions, size_t action_count)
{
    const struct graph *g = w->graph;
    struct walk_stop *pretended = xcalloc(g->fix_count + 1, sizeof *pretended);
    size_t next = 0;

    for (size_t i = 0; i < g->fix_count; i++)
        pretended[i] = (struct walk_stop){g->fixes[i].fix.after, true};
    qsort(pretended, g->fix_count, sizeof *pretended, by_event);
    for (size_t i = 0; i < action_count; i++) {
        if (!actions[i].syncs)
            continue;
        add_pretended(w, pretended, g->fix_count, &next, actions[i].event);
        vec_push(&w->stops, ((struct walk_stop){actions[i].event, false}));
    }
    add_pretended(w, pretended, g->fix_count, &next, UINT64_MAX);
    free(pretended);
}

struct walk *walk_new(const struct graph *g, const struct graph_source *source,
                      const struct action *actions, size_t action_count)
{
    struct walk *w = xcalloc(1, sizeof *w);

    w->graph = g;
    w->source = source;
    find_stops(w, actions, action_count);
    w->now.choice = NULL;
    w->last = NO_OP;
    walk_begin_run(w);
    return w;
}

void walk_free(struct walk *w)
{
    if (!w)
        return;
    drop_moments(w, 0);
    vec_free(&w->history);
    vec_free(&w->stops);
    vec_free(&w->lost);
    vec_free(&w->follows);
    free(w->closure.gone);
    free(w);
}
