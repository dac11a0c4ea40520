/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/links.h"

#include <stdlib.h>
#include <string.h>

#include "engine/report.h"
#include "engine/report_words.h"
#include "engine/schedule.h"
#include "views/links_inside.h"

static const uint32_t *lists_at(const struct lists *l, uint64_t number, size_t *n)
{
    *n = number < l->n ? l->first[number + 1] - l->first[number] : 0;
    return *n ? l->ops + l->first[number] : NULL;
}

static const json_t *find_bug(const struct links *l, uint64_t number)
{
    return json_array_get(json_object_get(l->report, "bugs"), (size_t)number - 1);
}

/* --- Collecting ---------------------------------------------------------------------------- */

struct found {
    enum subject_kind kind;
    struct subject *out;
    size_t n, max;
};

static void add(struct found *f, uint64_t number, const char *path)
{
    if (f->n < f->max)
        f->out[f->n] = (struct subject){f->kind, number, path};
    f->n++;
}

/* Only where there are few. */
static void add_once(struct found *f, uint64_t number, const char *path)
{
    for (size_t i = 0; i < f->n && i < f->max; i++)
        if (f->out[i].number == number && f->out[i].path == path)
            return;
    add(f, number, path);
}

static uint32_t action_of(const struct analysis *a, uint32_t op)
{
    size_t low = 0, high = a->action_count;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (a->actions[middle].first_op <= op)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static void add_behaviours(const struct links *l, uint32_t op, struct found *f)
{
    const struct behaviours *list = l->analysis->behaviours;

    if (l->stage != STAGE_DONE || !l->analysis->action_count)
        return;
    for (uint32_t b = l->smallest[action_of(l->analysis, op)]; b != NO_BEHAVIOUR;
         b = list->at[b].parent)
        add(f, b, NULL);
}

static void add_groups(const struct links *l, uint64_t behaviour, struct found *f)
{
    const struct groups *g = l->groups;

    if (!g || behaviour >= l->analysis->behaviours->n)
        return;
    const struct group_signature *s = &g->signatures[g->signature_of[behaviour]];
    for (uint32_t i = 0; i < s->joined; i++)
        add_once(f, g->joined[s->first_group + i], NULL);
}

static void add_groups_of_op(const struct links *l, uint32_t op, struct found *f)
{
    const struct behaviours *list = l->analysis->behaviours;

    if (l->stage != STAGE_DONE || !l->analysis->action_count)
        return;
    for (uint32_t b = l->smallest[action_of(l->analysis, op)]; b != NO_BEHAVIOUR;
         b = list->at[b].parent)
        add_groups(l, b, f);
}

static void add_line(struct links *l, uint64_t event_number, struct found *f)
{
    struct event event;

    if (!session_event(l->analysis->session, event_number, &event, NULL))
        return;
    const struct location *at = symbols_stack(l->analysis->symbols, event.stack);
    if (at && location_has_source(at))
        add_once(f, at->line, at->file);
}

/* The object that an op stores to, and those around it. */
static void add_objects(const struct links *l, uint32_t op, struct found *f)
{
    const struct stored_objects *o = l->objects;

    if (!o || !o->n || op == NO_OP || o->inner[op] == NO_OBJECT)
        return;
    for (uint32_t k = o->inner[op]; k != NO_OBJECT; k = o->at[k].around)
        add_once(f, k, NULL);
}

/* --- From each kind ------------------------------------------------------------------------ */

static void from_op(struct links *l, uint32_t op, struct found *f)
{
    const struct op *o = &l->analysis->graph->ops[op];

    switch (f->kind) {
    case SUBJECT_OP:
        add(f, op, NULL);
        break;
    case SUBJECT_EVENT:
        add(f, o->event, NULL);
        break;
    case SUBJECT_LINE:
        add_line(l, o->event, f);
        break;
    case SUBJECT_BEHAVIOUR:
        add_behaviours(l, op, f);
        break;
    case SUBJECT_GROUP:
        add_groups_of_op(l, op, f);
        break;
    case SUBJECT_FILE:
        add(f, o->file, NULL);
        break;
    case SUBJECT_OBJECT:
        add_objects(l, op, f);
        break;
    case SUBJECT_BUG:
        for (size_t i = 0; i < l->parts.n; i++)
            if (l->parts.at[i].op == op)
                add_once(f, l->parts.at[i].bug, NULL);
        break;
    default:
        break;
    }
}

static void from_event(struct links *l, uint64_t number, struct found *f)
{
    const struct graph *g = l->analysis->graph;
    struct event event;
    size_t n;
    uint32_t first = graph_event_ops(g, number, &n);

    switch (f->kind) {
    case SUBJECT_EVENT:
        add(f, number, NULL);
        break;
    case SUBJECT_OP:
        for (size_t i = 0; i < n; i++)
            add(f, first + i, NULL);
        break;
    case SUBJECT_LINE:
        add_line(l, number, f);
        break;
    case SUBJECT_FILE:
        if (session_event(l->analysis->session, number, &event, NULL) && event.file)
            add(f, event.file, NULL);
        break;
    case SUBJECT_BUG:
        for (size_t i = 0; i < l->parts.n; i++)
            if (l->parts.at[i].event == number)
                add_once(f, l->parts.at[i].bug, NULL);
        break;
    default:
        if (n)
            from_op(l, first, f);
        break;
    }
}

/* From a list of ops: themselves, or the bugs that they are part of. */
static void from_ops(struct links *l, const uint32_t *ops, size_t n, struct found *f)
{
    for (size_t i = 0; f->kind == SUBJECT_OP && i < n; i++)
        add(f, ops[i], NULL);
    for (size_t i = 0; f->kind == SUBJECT_BUG && i < l->parts.n; i++)
        if (l->parts.at[i].op != NO_OP && n &&
            bsearch(&l->parts.at[i].op, ops, n, sizeof *ops, op_by_number))
            add_once(f, l->parts.at[i].bug, NULL);
}

static void from_behaviour(struct links *l, uint32_t number, struct found *f)
{
    const struct behaviours *list = l->analysis->behaviours;
    const struct behaviour *b = &list->at[number];

    if (f->kind == SUBJECT_GROUP)
        add_groups(l, number, f);
    if (f->kind == SUBJECT_BEHAVIOUR)
        add(f, number, NULL);
    if (f->kind == SUBJECT_OBJECT && b->flags & BEHAVIOUR_TYPE)
        add_objects(l, b->first_op, f);
    if (f->kind != SUBJECT_OP)
        return;
    uint32_t *ops = xcalloc((size_t)b->ops + 1, sizeof *ops);
    from_ops(l, ops, behaviour_ops(list, b, ops), f);
    free(ops);
}

static void from_group(const struct links *l, const struct group *g, uint64_t number,
                       struct found *f)
{
    if (f->kind == SUBJECT_GROUP)
        add(f, number, NULL);
    if (f->kind != SUBJECT_BEHAVIOUR)
        return;
    add(f, g->representative, NULL);
    for (uint32_t i = 0; i < g->signatures; i++) {
        const struct group_signature *s = &l->groups->signatures[l->groups->taken[g->first + i]];
        for (uint32_t k = 0; k < s->members; k++) {
            uint32_t member = l->groups->members[s->first_member + k];
            if (member != g->representative)
                add(f, member, NULL);
        }
    }
}

static void from_object(struct links *l, uint32_t number, struct found *f)
{
    const struct stored_object *o = &l->objects->at[number];

    if (f->kind == SUBJECT_OBJECT)
        add(f, number, NULL);
    if (f->kind == SUBJECT_FILE)
        add(f, o->file, NULL);
    from_ops(l, l->objects->ops + o->first, o->count, f);
}

/* Objects of a file, in the order of their first stores. */
static void add_objects_of_file(const struct links *l, uint64_t file, struct found *f)
{
    for (size_t i = 0; l->objects && i < l->objects->n; i++)
        if (l->objects->at[i].file == file)
            add(f, i, NULL);
}

static void from_bug(struct links *l, uint64_t number, struct found *f)
{
    const json_t *behaviour = json_object_get(find_bug(l, number), "behaviour");
    json_int_t id = json_is_object(behaviour) ? report_number(behaviour, "id") : -1;
    bool known = id >= 0 && (uint64_t)id < l->analysis->behaviours->n;

    if (f->kind == SUBJECT_BUG && find_bug(l, number))
        add(f, number, NULL);
    if (f->kind == SUBJECT_BEHAVIOUR && known)
        add(f, (uint64_t)id, NULL);
    if (f->kind == SUBJECT_GROUP && known)
        add_groups(l, (uint64_t)id, f);
    for (size_t i = 0; i < l->parts.n; i++) {
        const struct part *p = &l->parts.at[i];
        if (p->bug != number)
            continue;
        if (f->kind == SUBJECT_OP && p->op != NO_OP)
            add(f, p->op, NULL);
        if (f->kind == SUBJECT_OBJECT)
            add_objects(l, p->op, f);
        if (f->kind == SUBJECT_EVENT && p->event)
            add_once(f, p->event, NULL);
        if (f->kind == SUBJECT_LINE && p->event)
            add_line(l, p->event, f);
    }
}

/* --- States -------------------------------------------------------------------------------- */

static bool is_lost(const struct schedule *s, const bool *gone, uint32_t op)
{
    if (s->last == NO_OP || op > s->last)
        return true;
    return s->lost_count && op >= s->lost[0] && gone[op - s->lost[0]];
}

static bool was_told(const struct links *l, uint64_t number, uint64_t crash)
{
    struct event event;

    return session_event(l->analysis->session, number, &event, NULL) && event.exit < crash;
}

/* Bugs all of whose survivors a state has, acknowledgements too, and none of whose lost ops. */
static void add_bugs_of_state(const struct links *l, const struct schedule *s, uint64_t crash,
                              struct found *f)
{
    bool *gone = s->lost_count ? xcalloc(s->last - s->lost[0] + 1, sizeof *gone) : NULL;

    if (gone)
        schedule_gone(l->analysis->graph, s, gone);
    for (size_t i = 0; i < l->parts.n;) {
        uint32_t bug = l->parts.at[i].bug;
        bool shows = true, any = false;
        for (; i < l->parts.n && l->parts.at[i].bug == bug; i++) {
            const struct part *p = &l->parts.at[i];
            if (p->op != NO_OP)
                shows = shows && is_lost(s, gone, p->op) != p->survived;
            else if (p->survived && p->event)
                shows = shows && was_told(l, p->event, crash);
            any = any || p->op != NO_OP;
        }
        if (any && shows)
            add(f, bug, NULL);
    }
    free(gone);
}

static void from_state(struct links *l, uint64_t number, struct found *f)
{
    const struct analysis *a = l->analysis;
    struct report_listed listed;

    if (!report_listed_state(a->session, number, &listed, NULL))
        return;
    const struct report_state *state = &listed.state;
    struct schedule schedule = {state->last, (uint32_t)state->lost_count, state->lost};
    bool fits = report_state_fits(state, a->graph) && model_is(&a->graph->model, state->model);
    bool behaviour = fits && listed.behaviour < a->behaviours->n;

    if (f->kind == SUBJECT_STATE)
        add(f, number, NULL);
    if (f->kind == SUBJECT_OP && fits && state->last != NO_OP)
        add(f, state->last, NULL);
    if (f->kind == SUBJECT_BEHAVIOUR && behaviour)
        add(f, listed.behaviour, NULL);
    if (f->kind == SUBJECT_GROUP && behaviour)
        add_groups(l, listed.behaviour, f);
    if (f->kind == SUBJECT_BUG && fits && listed.verdict > VERDICT_CONSISTENT)
        add_bugs_of_state(l, &schedule, state->told_until, f);
    report_state_clear(&listed.state);
}

/* --- Lines, and the whole ------------------------------------------------------------------ */

uint32_t links_line_number(const struct links *l, const char *path, uint32_t line)
{
    struct buf key = {0};

    links_line_key(&key, path, line);
    const uint64_t *number = map_get(&l->line_numbers, key.at, key.n);
    buf_free(&key);
    return number ? (uint32_t)*number - 1 : NO_LINE;
}

uint32_t links_op_line(const struct links *l, uint32_t op)
{
    return l->stage <= STAGE_LINE_LISTS ? NO_LINE : l->line_of[op];
}

size_t links_line_count(const struct links *l)
{
    return l->lines.n;
}

const uint32_t *links_line(const struct links *l, const char *path, uint32_t line, size_t *n)
{
    return lists_at(&l->lines, links_line_number(l, path, line), n);
}

size_t links_to(struct links *l, const struct subject *from, enum subject_kind to,
                struct subject *out, size_t max)
{
    const struct analysis *a = l->analysis;
    struct found f = {to, out, 0, max};
    const uint32_t *ops;
    size_t n;

    switch (from->kind) {
    case SUBJECT_OP:
        if (from->number < a->graph->n)
            from_op(l, (uint32_t)from->number, &f);
        break;
    case SUBJECT_EVENT:
        if (from->number >= 1 && from->number <= a->graph->events)
            from_event(l, from->number, &f);
        break;
    case SUBJECT_LINE:
        ops = from->path ? links_line(l, from->path, (uint32_t)from->number, &n) : NULL;
        if (ops)
            from_ops(l, ops, n, &f);
        break;
    case SUBJECT_FILE:
        ops = lists_at(&l->files, from->number, &n);
        from_ops(l, ops, n, &f);
        if (to == SUBJECT_FILE)
            add(&f, from->number, NULL);
        if (to == SUBJECT_OBJECT)
            add_objects_of_file(l, from->number, &f);
        break;
    case SUBJECT_OBJECT:
        if (l->objects && from->number < l->objects->n)
            from_object(l, (uint32_t)from->number, &f);
        break;
    case SUBJECT_BEHAVIOUR:
        if (from->number < a->behaviours->n)
            from_behaviour(l, (uint32_t)from->number, &f);
        break;
    case SUBJECT_GROUP:
        if (l->groups && from->number < l->groups->n)
            from_group(l, &l->groups->at[from->number], from->number, &f);
        break;
    case SUBJECT_BUG:
        from_bug(l, from->number, &f);
        break;
    case SUBJECT_STATE:
        from_state(l, from->number, &f);
        break;
    case SUBJECT_NONE:
        break;
    }
    return f.n;
}
