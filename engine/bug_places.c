/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where else a mistake is made. A representative stands for behaviours that are not tested, so that
 * a mistake is found at some of the places where the program makes it; but a line that is mended is
 * mended at all of them, and a fix that is tried must be tried so. A mistake is known again by its
 * two calls, each with its stack: the one that is lost, and the next one that comes too early.
 */
#include "engine/bug_inside.h"

#include <stdlib.h>

#include "engine/graph_session.h"
#include "engine/map.h"

struct call_key {
    uint32_t place, call;
};

struct mistake {
    uint32_t bug;
    struct call_key lost, early;
    enum op_kind kind;              /* of the op that is lost */
    bool told;                      /* what comes too early is an acknowledgement */
    bool one_thread;                /* that does both */
    uint32_t next_lost, next_early; /* from 1: others with the same call, 0 for none */
};

/* Calls of one thread, or of any, that nothing has come too early for yet. */
struct waiting {
    vec_of(uint32_t) ops;
};

struct search {
    struct analysis *a;
    vec_of(struct mistake) mistakes;
    struct map known;       /* a mistake but for its chains → 1 */
    struct map lost, early; /* struct call_key → the first mistake with that call, from 1 */
    struct map waits;       /* mistake and thread → struct waiting, from 1 */
    vec_of(struct waiting) waiting;
    vec_of(struct bug_occurrence) found;
};

static struct call_key key_of(const struct search *s, const struct event *event)
{
    return (struct call_key){calltree_place(s->a->behaviours->tree, event->stack), event->call};
}

static uint32_t chain(struct map *heads, const struct call_key *key, uint32_t mistake)
{
    uint64_t *head = map_put(heads, key, sizeof *key, NULL);
    uint32_t before = (uint32_t)*head;
    *head = mistake;
    return before;
}

/* A call without a stack is like any other of its kind: no mistake is known again by that. */
static bool add_mistake(struct search *s, const struct bug_occurrence *o, struct error *e)
{
    const struct graph *g = s->a->graph;
    struct event lost, early;
    bool added;
    if (o->lost == NO_OP || (o->survived == NO_OP && !o->told))
        return true;
    uint64_t number = o->survived == NO_OP ? o->told : g->ops[o->survived].event;
    if (!session_event(s->a->session, g->ops[o->lost].event, &lost, e) ||
        !session_event(s->a->session, number, &early, e))
        return false;
    if (!lost.stack || !early.stack)
        return true;
    struct mistake m = {.bug = o->bug,
                        .lost = key_of(s, &lost),
                        .early = key_of(s, &early),
                        .kind = g->ops[o->lost].kind,
                        .told = o->survived == NO_OP,
                        .one_thread = lost.thread == early.thread};
    uint32_t key[] = {m.bug,        m.lost.place, m.lost.call, m.early.place,
                      m.early.call, m.kind,       m.told,      m.one_thread};
    map_put(&s->known, key, sizeof key, &added);
    if (!added)
        return true;
    uint32_t place = (uint32_t)s->mistakes.n + 1;
    m.next_lost = chain(&s->lost, &m.lost, place);
    m.next_early = chain(&s->early, &m.early, place);
    vec_push(&s->mistakes, m);
    return true;
}

static struct waiting *waiting_for(struct search *s, uint32_t mistake, uint32_t thread)
{
    uint32_t key[] = {mistake, s->mistakes.at[mistake].one_thread ? thread : 0};
    uint64_t *place = map_put(&s->waits, key, sizeof key, NULL);
    if (!*place) {
        vec_push(&s->waiting, (struct waiting){0});
        *place = s->waiting.n;
    }
    return &s->waiting.at[*place - 1];
}

/* Whether what makes one op durable does so with an earlier one of the same file; a flush is one
 * store's. */
static bool is_covered(const struct op *earlier, const struct op *op)
{
    return earlier->file == op->file && (op->kind != OP_STORE || (op->flags & OP_PAGED));
}

static void take_lost(struct search *s, uint32_t mistake, const struct event *event, uint32_t first,
                      size_t count)
{
    const struct op *ops = s->a->graph->ops;
    struct waiting *w = waiting_for(s, mistake, event->thread);
    for (uint32_t i = first; i < first + count; i++) {
        if (ops[i].kind != s->mistakes.at[mistake].kind)
            continue;
        if (w->ops.n && is_covered(&ops[w->ops.at[w->ops.n - 1]], &ops[i]))
            w->ops.n--;
        vec_push(&w->ops, i);
        return;
    }
}

static void take_early(struct search *s, uint32_t mistake, const struct event *event,
                       uint64_t number, uint32_t first, size_t count)
{
    const struct mistake *m = &s->mistakes.at[mistake];
    const struct graph *g = s->a->graph;
    struct waiting *w = waiting_for(s, mistake, event->thread);
    if (!m->told && !count)
        return;
    uint64_t position = m->told ? event->entry : g->issued[first];
    for (size_t i = 0; i < w->ops.n; i++)
        if (g->durable[w->ops.at[i]] > position)
            vec_push(&s->found, (struct bug_occurrence){.bug = m->bug,
                                                        .lost = w->ops.at[i],
                                                        .survived = m->told ? NO_OP : first,
                                                        .told = m->told ? number : 0});
    w->ops.n = 0;
}

/* What comes too early for one may be the next that is lost. */
static void take_event(struct search *s, const struct event *event, uint64_t number)
{
    struct call_key key = key_of(s, event);
    size_t count;
    uint32_t first = graph_event_ops(s->a->graph, number, &count);
    const uint64_t *at = map_get(&s->early, &key, sizeof key);
    for (uint32_t m = at ? (uint32_t)*at : 0; m; m = s->mistakes.at[m - 1].next_early)
        take_early(s, m - 1, event, number, first, count);
    at = map_get(&s->lost, &key, sizeof key);
    for (uint32_t m = at ? (uint32_t)*at : 0; m; m = s->mistakes.at[m - 1].next_lost)
        take_lost(s, m - 1, event, first, count);
}

static bool go_through(struct search *s, struct error *e)
{
    uint64_t events = session_event_count(s->a->session);
    for (uint64_t n = 1; n <= events && s->mistakes.n; n++) {
        struct event event;
        if (!session_event(s->a->session, n, &event, e))
            return false;
        if (event.stack && !(event.traits & EVENT_FAILED))
            take_event(s, &event, n);
    }
    return true;
}

bool bug_places_find(struct bugs *bugs, struct analysis *a, struct error *e)
{
    struct search s = {.a = a};
    bool done = true;
    for (size_t i = 0; done && i < bugs->occurrence_count; i++) {
        vec_push(&s.found, bugs->occurrences[i]);
        done = add_mistake(&s, &bugs->occurrences[i], e);
    }
    done = done && go_through(&s, e);
    if (done) {
        free(bugs->occurrences);
        bugs->occurrences = s.found.at;
        bugs->occurrence_count = s.found.n;
    } else
        vec_free(&s.found);
    for (size_t i = 0; i < s.waiting.n; i++)
        vec_free(&s.waiting.at[i].ops);
    vec_free(&s.waiting);
    vec_free(&s.mistakes);
    map_free(&s.known);
    map_free(&s.lost);
    map_free(&s.early);
    map_free(&s.waits);
    return done;
}
