/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which ops a subgraph is made of, and what is known of them besides their order.
 */
#include "engine/subgraph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/moment.h"
#include "engine/report.h"
#include "engine/vec.h"

/* Ops in ascending order, with what a bug is about among them. */
struct choice {
    uint32_t *ops;
    size_t n;
    uint64_t left_out;
    vec_of(uint64_t) acks;      /* events */
    vec_of(uint64_t) positions; /* at which they were entered */
};

static void choice_free(struct choice *c)
{
    free(c->ops);
    vec_free(&c->acks);
    vec_free(&c->positions);
}

/* ---- what is known of nodes ---- */

/* The place of the first op that is not below `op`, n when there is none. */
static size_t first_from(const uint32_t *ops, size_t n, uint32_t op)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ops[middle] < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Behaviours that were not merged from others are disjoint and hold every op. */
static void find_behaviours(const struct behaviours *list, const struct choice *c, uint32_t *out)
{
    vec_of(uint32_t) members = {0};

    for (size_t i = 0; i < c->n; i++)
        out[i] = NO_BEHAVIOUR;
    /* They come by their first op. */
    for (size_t b = 0; c->n && b < list->n && list->at[b].first_op <= c->ops[c->n - 1]; b++) {
        const struct behaviour *at = &list->at[b];
        if (at->last_op < c->ops[0])
            continue;
        size_t k = first_from(c->ops, c->n, at->first_op);
        if ((at->flags & BEHAVIOUR_MERGED) || k == c->n || c->ops[k] > at->last_op)
            continue;
        members.n = 0;
        for (uint32_t i = 0; i < at->ops; i++)
            vec_push(&members, 0);
        size_t n = behaviour_ops(list, at, members.at);
        for (size_t i = 0; i < n; i++) {
            size_t place = first_from(c->ops, c->n, members.at[i]);
            if (place < c->n && c->ops[place] == members.at[i])
                out[place] = (uint32_t)b;
        }
    }
    vec_free(&members);
}

static bool name_sync(struct subgraph_node *node, const struct analysis *a, struct error *e)
{
    const struct fix *fix = graph_fix_at(a->graph, node->position);
    struct event event;

    node->event = moment_returned(a->session, node->position);
    if (fix)
        node->file = fix->file;
    if (!node->event)
        return true;
    if (!session_event(a->session, node->event, &event, e))
        return false;
    node->file = event.file;
    return true;
}

static enum subgraph_mark mark_of(const struct subgraph_options *o, uint32_t op)
{
    static const enum subgraph_mark marks[] = {[WALK_PERSISTED] = MARK_PERSISTED,
                                               [WALK_LOST] = MARK_LOST,
                                               [WALK_FLIGHT] = MARK_FLIGHT,
                                               [WALK_UNISSUED] = MARK_UNISSUED};

    if (o->walk)
        return marks[walk_mark(o->walk, op)];
    return o->marks && op < o->mark_count ? o->marks[op] : MARK_NONE;
}

static bool tell_nodes(struct subgraph *s, const struct choice *c, const struct subgraph_options *o,
                       struct error *e)
{
    struct analysis *a = s->analysis;
    uint32_t *behaviours = xcalloc(c->n + 1, sizeof *behaviours);
    size_t op = 0, ack = 0;
    bool ok = true;

    find_behaviours(a->behaviours, c, behaviours);
    for (size_t i = 0; ok && i < s->n; i++) {
        struct subgraph_node *node = &s->nodes[i];
        if (node->kind == SUBGRAPH_SYNC) {
            ok = name_sync(node, a, e);
        } else if (node->kind == SUBGRAPH_ACK) {
            node->event = c->acks.at[ack++];
        } else {
            node->behaviour = behaviours[op++];
            node->mark = (uint8_t)mark_of(o, node->op);
        }
    }
    free(behaviours);
    return ok;
}

/* Takes the choice and the title over. */
static bool make(struct subgraph **out, struct findings *f, struct choice *c, char *title,
                 const struct subgraph_options *o, struct error *e)
{
    struct subgraph *s = subgraph_order(f->analysis->graph, c->ops, c->n, c->positions.at,
                                        c->positions.n, o->transitive);

    s->analysis = f->analysis;
    s->left_out = c->left_out;
    s->title = title;
    bool ok = tell_nodes(s, c, o, e);
    choice_free(c);
    if (!ok) {
        subgraph_free(s);
        s = NULL;
    }
    *out = s;
    return ok;
}

/* ---- all, a behaviour, a group, any ---- */

static void cut(struct choice *c, size_t limit)
{
    if (c->n <= limit)
        return;
    c->left_out += c->n - limit;
    c->n = limit;
}

bool subgraph_all(struct subgraph **out, struct findings *f, const struct subgraph_options *o,
                  struct error *e)
{
    size_t all = f->analysis->graph->n, n = all < o->limit ? all : o->limit;
    struct choice c = {.ops = xcalloc(n + 1, sizeof *c.ops), .n = n, .left_out = all - n};

    for (size_t i = 0; i < n; i++)
        c.ops[i] = (uint32_t)i;
    return make(out, f, &c, xstrdup("the whole graph"), o, e);
}

/* Takes the title over. */
static bool make_behaviour(struct subgraph **out, struct findings *f, uint32_t number, char *title,
                           const struct subgraph_options *o, struct error *e)
{
    const struct behaviours *list = f->analysis->behaviours;
    const struct behaviour *b = &list->at[number];
    struct choice c = {.ops = xcalloc(b->ops + 1, sizeof *c.ops)};

    c.n = behaviour_ops(list, b, c.ops);
    cut(&c, o->limit);
    return make(out, f, &c, title, o, e);
}

bool subgraph_behaviour(struct subgraph **out, struct findings *f, uint64_t behaviour,
                        const struct subgraph_options *o, struct error *e)
{
    const struct behaviours *list = f->analysis->behaviours;

    if (behaviour >= list->n)
        return error_set(
            e, "there is no behaviour %" PRIu64 "; flotsam behaviours lists the %zu there are",
            behaviour, list->n);
    struct buf title = {0};
    buf_printf(&title, "behaviour %" PRIu64 ": ", behaviour);
    analysis_add_work(&title, f->analysis, &list->at[behaviour]);
    return make_behaviour(out, f, (uint32_t)behaviour, title.at, o, e);
}

bool subgraph_group(struct subgraph **out, struct findings *f, uint64_t group,
                    const struct subgraph_options *o, struct error *e)
{
    if (!f->groups && !findings_group(f, e))
        return false;
    if (group >= f->groups->n)
        return error_set(e, "there is no group %" PRIu64 "; flotsam groups lists the %zu there are",
                         group, f->groups->n);
    uint32_t number = f->groups->at[group].representative;
    const struct behaviour *b = &f->analysis->behaviours->at[number];
    struct buf title = {0};
    buf_printf(&title, "group %" PRIu64 ": ", group);
    analysis_add_work(&title, f->analysis, b);
    buf_printf(&title, ", represented by behaviour %" PRIu32, number);
    return make_behaviour(out, f, number, title.at, o, e);
}

/* ---- the neighbourhood of an op ---- */

bool subgraph_around(struct subgraph **out, struct findings *f, uint64_t op, unsigned hops,
                     const struct subgraph_options *o, struct error *e)
{
    const struct graph *g = f->analysis->graph;

    if (op >= g->n)
        return error_set(e, "there is no op %" PRIu64 "; flotsam graph lists the %zu there are", op,
                         g->n);
    uint32_t centre = (uint32_t)op;
    size_t limit = o->limit ? o->limit : 1;
    struct choice c = {.ops = xcalloc(limit, sizeof *c.ops)};
    c.n = subgraph_nearest(g, &centre, 1, hops, 0, UINT32_MAX, c.ops, limit, &c.left_out);
    return make(out, f, &c, xasprintf("around op %" PRIu64, op), o, e);
}

/* ---- a bug ---- */

/* What a bug is about. */
struct culprits {
    vec_of(uint32_t) lost, survived;
    vec_of(uint64_t) told; /* events */
    char *title;
};

static void culprits_free(struct culprits *c)
{
    vec_free(&c->lost);
    vec_free(&c->survived);
    vec_free(&c->told);
    free(c->title);
}

/* Sessions come from anywhere: what does not fit the trace is no culprit. */
static void read_culprit(struct culprits *c, const struct graph *g, const json_t *op, bool lost)
{
    const json_t *number = json_object_get(op, "op"), *event = json_object_get(op, "event");

    if (json_is_integer(number) && json_integer_value(number) >= 0 &&
        (uint64_t)json_integer_value(number) < g->n) {
        if (lost)
            vec_push(&c->lost, (uint32_t)json_integer_value(number));
        else
            vec_push(&c->survived, (uint32_t)json_integer_value(number));
    } else if (!lost && json_is_integer(event) && json_integer_value(event) > 0) {
        vec_push(&c->told, (uint64_t)json_integer_value(event));
    }
}

static bool read_culprits(struct culprits *c, struct findings *f, uint64_t bug, struct error *e)
{
    const struct graph *g = f->analysis->graph;
    json_t *report = f->report ? json_incref(f->report) : report_load(f->session, e);
    const json_t *at = NULL, *each, *op;
    size_t i;

    if (!report)
        return false;
    json_array_foreach(json_object_get(report, "bugs"), i, each)
    {
        if ((uint64_t)json_integer_value(json_object_get(each, "id")) == bug)
            at = each;
    }
    json_array_foreach(json_object_get(at, "lost"), i, op)
    {
        read_culprit(c, g, op, true);
    }
    json_array_foreach(json_object_get(at, "survived"), i, op)
    {
        read_culprit(c, g, op, false);
    }
    const char *summary = json_string_value(json_object_get(at, "summary"));
    c->title = xasprintf("bug %" PRIu64 ": %s", bug, summary ? summary : "");
    bool found = at != NULL;
    json_decref(report);
    return found || error_set(e, "%s has no bug %" PRIu64 "; flotsam bugs lists them",
                              session_path(f->session), bug);
}

/* When the crash of the bug's state came, at the latest. */
static uint64_t crash_position(const struct graph *g, const struct report_state *state)
{
    uint64_t crash = g->lacking[state->last == NO_OP ? 0 : state->last + 1];

    for (size_t i = 0; i < state->lost_count; i++)
        if (g->durable[state->lost[i]] < crash)
            crash = g->durable[state->lost[i]];
    return crash;
}

static uint8_t *state_marks(const struct graph *g, const struct report_state *state)
{
    uint8_t *marks = xcalloc(g->n + 1, sizeof *marks);
    uint64_t crash = crash_position(g, state);

    for (size_t i = 0; i < g->n; i++) {
        if (state->last != NO_OP && i <= state->last)
            marks[i] = MARK_PERSISTED;
        else
            marks[i] = g->issued[i] < crash ? MARK_FLIGHT : MARK_UNISSUED;
    }
    for (size_t i = 0; i < state->lost_count; i++)
        marks[state->lost[i]] = MARK_LOST;
    return marks;
}

/* Acknowledgements as nodes; those that are no events of the trace are dropped. */
static bool take_told(struct choice *c, const struct culprits *culprits, struct session *s,
                      struct error *e)
{
    for (size_t i = 0; i < culprits->told.n; i++) {
        struct event event;
        if (culprits->told.at[i] > session_event_count(s))
            continue;
        if (!session_event(s, culprits->told.at[i], &event, e))
            return false;
        vec_push(&c->acks, culprits->told.at[i]);
        vec_push(&c->positions, event.entry);
    }
    return true;
}

/* From the first culprit to the last, or to the last op before an acknowledgement. */
static void choose_between(struct choice *c, const struct culprits *culprits, const struct graph *g,
                           size_t limit)
{
    vec_of(uint32_t) about = {0};

    for (size_t i = 0; i < culprits->lost.n; i++)
        vec_push(&about, culprits->lost.at[i]);
    for (size_t i = 0; i < culprits->survived.n; i++)
        vec_push(&about, culprits->survived.at[i]);
    c->ops = xcalloc(limit + 1, sizeof *c->ops);
    if (!about.n)
        goto out;
    qsort(about.at, about.n, sizeof *about.at, op_by_number);
    uint32_t low = about.at[0], high = vec_last(&about);
    while (c->positions.n && high + 1 < g->n && g->issued[high + 1] < c->positions.at[0])
        high++;
    /* What comes just before the culprits says what they are: the file's creation. */
    c->n = subgraph_nearest(g, about.at, about.n, 1, 0, high, c->ops, limit, &c->left_out);
    for (uint32_t op = high + 1; op-- > low;) {
        size_t at = first_from(c->ops, c->n, op);
        if (at < c->n && c->ops[at] == op)
            continue;
        if (c->n == limit) {
            c->left_out++;
            continue;
        }
        memmove(c->ops + at + 1, c->ops + at, (c->n - at) * sizeof *c->ops);
        c->ops[at] = op;
        c->n++;
    }
out:
    vec_free(&about);
}

static void mark_culprits(struct subgraph *s, const struct culprits *c)
{
    for (size_t i = 0; i < s->n; i++) {
        struct subgraph_node *node = &s->nodes[i];
        node->culprit = node->kind == SUBGRAPH_ACK;
        for (size_t k = 0; node->op != NO_OP && k < c->lost.n; k++)
            node->culprit |= c->lost.at[k] == node->op;
        for (size_t k = 0; node->op != NO_OP && k < c->survived.n; k++)
            node->culprit |= c->survived.at[k] == node->op;
    }
}

/* The order that there should be: from what was lost to what survived without it. */
static void add_missing(struct subgraph *s)
{
    vec_of(struct subgraph_edge) edges = {s->edges, s->edge_count, s->edge_count};

    for (size_t i = 0; i < s->n; i++) {
        if (!s->nodes[i].culprit || s->nodes[i].mark != MARK_LOST)
            continue;
        for (size_t k = i + 1; k < s->n; k++)
            if (s->nodes[k].culprit && s->nodes[k].mark != MARK_LOST)
                vec_push(&edges, (struct subgraph_edge){.from = (uint32_t)i,
                                                        .to = (uint32_t)k,
                                                        .kind = SUBGRAPH_MISSING});
    }
    s->edges = edges.at;
    s->edge_count = edges.n;
}

static bool bug_state(struct report_state *state, struct findings *f, uint64_t bug, struct error *e)
{
    const struct graph *g = f->analysis->graph;

    if (bug > UINT32_MAX)
        return error_set(e, "there is no bug %" PRIu64 "; flotsam bugs lists them", bug);
    if (!report_bug_state(f->session, (uint32_t)bug, state, e))
        return false;
    if (report_state_fits(state, g) && !strcmp(state->model, g->model.name))
        return true;
    error_set(e, "%s: bug %" PRIu64 " does not fit its trace; run flotsam check again",
              session_path(f->session), bug);
    report_state_clear(state);
    return false;
}

bool subgraph_bug(struct subgraph **out, struct findings *f, uint64_t bug,
                  const struct subgraph_options *o, struct error *e)
{
    const struct graph *g = f->analysis->graph;
    struct report_state state = {0};
    struct culprits culprits = {0};
    struct choice c = {0};
    struct subgraph_options options = *o;
    uint8_t *marks = NULL;

    bool ok = read_culprits(&culprits, f, bug, e) && bug_state(&state, f, bug, e) &&
              take_told(&c, &culprits, f->session, e);
    if (!ok) {
        choice_free(&c);
        goto out;
    }
    if (!options.marks && !options.walk) {
        options.marks = marks = state_marks(g, &state);
        options.mark_count = g->n;
    }
    choose_between(&c, &culprits, g, o->limit);
    ok = make(out, f, &c, xstrdup(culprits.title), &options, e);
    if (ok) {
        mark_culprits(*out, &culprits);
        add_missing(*out);
    }
out:
    free(marks);
    report_state_clear(&state);
    culprits_free(&culprits);
    return ok;
}
