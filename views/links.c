/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/links.h"

#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/map.h"
#include "engine/report.h"
#include "engine/report_words.h"
#include "engine/schedule.h"

/* Steps between two looks at the clock. */
enum { STEPS_A_SLICE = 256 };

/* Lists of ops by a number that each op has. */
struct lists {
    uint32_t *first; /* of list i: ops[first[i]] … ops[first[i + 1] − 1] */
    uint32_t *ops;
    size_t n;
};

/* An op or acknowledgement of a bug. */
struct part {
    uint32_t op;    /* NO_OP: none, or of another model's graph */
    uint64_t event; /* 0: unknown */
    uint32_t bug;   /* its number */
    bool survived;
};

enum stage { STAGE_LINES, STAGE_BEHAVIOURS, STAGE_DONE };

struct links {
    struct analysis *analysis;
    const struct groups *groups;
    const json_t *report;
    vec_of(struct part) parts; /* of all bugs, in their order */
    enum stage stage;
    size_t next;                               /* in the stage */
    struct map line_numbers;                   /* file and line → number, plus 1 */
    vec_of(const struct location *) locations; /* by line number */
    vec_of(uint32_t) stack_lines;              /* stack → line number plus 1; 0: not asked yet */
    uint32_t *line_of;                         /* by op */
    uint32_t *file_of;
    struct lists lines, files;
    uint32_t *by_size;  /* behaviours, the largest first */
    uint32_t *smallest; /* by action: the smallest behaviour that it is in */
};

/* --- Lists --------------------------------------------------------------------------------- */

static void lists_build(struct lists *l, const uint32_t *number_of, size_t ops, size_t n)
{
    l->n = n;
    l->first = xcalloc(n + 2, sizeof *l->first);
    l->ops = xcalloc(ops + 1, sizeof *l->ops);
    for (size_t op = 0; op < ops; op++)
        if (number_of[op] < n)
            l->first[number_of[op] + 2]++;
    for (size_t i = 2; i < n + 2; i++)
        l->first[i] += l->first[i - 1];
    for (size_t op = 0; op < ops; op++)
        if (number_of[op] < n)
            l->ops[l->first[number_of[op] + 1]++] = (uint32_t)op;
}

static const uint32_t *lists_at(const struct lists *l, uint64_t number, size_t *n)
{
    *n = number < l->n ? l->first[number + 1] - l->first[number] : 0;
    return *n ? l->ops + l->first[number] : NULL;
}

static void lists_free(struct lists *l)
{
    free(l->first);
    free(l->ops);
}

/* --- Working out --------------------------------------------------------------------------- */

struct links *links_new(struct analysis *a)
{
    struct links *l = xcalloc(1, sizeof *l);

    l->analysis = a;
    l->line_of = xcalloc(a->graph->n + 1, sizeof *l->line_of);
    l->file_of = xcalloc(a->graph->n + 1, sizeof *l->file_of);
    l->smallest = xcalloc(a->action_count + 1, sizeof *l->smallest);
    memset(l->smallest, 0xff, a->action_count * sizeof *l->smallest); /* NO_BEHAVIOUR */
    return l;
}

void links_free(struct links *l)
{
    if (!l)
        return;
    vec_free(&l->parts);
    map_free(&l->line_numbers);
    vec_free(&l->locations);
    vec_free(&l->stack_lines);
    lists_free(&l->lines);
    lists_free(&l->files);
    free(l->line_of);
    free(l->file_of);
    free(l->by_size);
    free(l->smallest);
    free(l);
}

static void line_key(struct buf *key, const char *path, uint32_t line)
{
    buf_clear(key);
    buf_add(key, &line, sizeof line);
    buf_text(key, path);
}

static uint32_t number_line(struct links *l, const struct location *at)
{
    struct buf key = {0};
    bool added;

    line_key(&key, at->file, at->line);
    uint64_t *number = map_put(&l->line_numbers, key.at, key.n, &added);
    if (added) {
        vec_push(&l->locations, at);
        *number = l->locations.n;
    }
    buf_free(&key);
    return (uint32_t)*number - 1;
}

static uint32_t line_of_stack(struct links *l, uint32_t stack)
{
    const struct location *at;

    while (stack >= l->stack_lines.n)
        vec_push(&l->stack_lines, 0);
    if (!l->stack_lines.at[stack]) {
        at = symbols_stack(l->analysis->symbols, stack);
        uint32_t line = at && location_has_source(at) ? number_line(l, at) : NO_LINE - 1;
        l->stack_lines.at[stack] = line + 1;
    }
    uint32_t line = l->stack_lines.at[stack] - 1;
    return line == NO_LINE - 1 ? NO_LINE : line;
}

static bool find_lines(struct links *l, struct error *e)
{
    const struct analysis *a = l->analysis;
    const struct graph *g = a->graph;
    struct event event = {0};
    uint64_t number = 0;

    for (int i = 0; i < STEPS_A_SLICE && l->next < g->n; i++, l->next++) {
        const struct op *op = &g->ops[l->next];
        if (op->event != number && !session_event(a->session, op->event, &event, e))
            return false;
        number = op->event;
        l->line_of[l->next] = line_of_stack(l, event.stack);
        l->file_of[l->next] = op->file;
    }
    if (l->next < g->n)
        return true;
    lists_build(&l->lines, l->line_of, g->n, l->locations.n);
    lists_build(&l->files, l->file_of, g->n, (size_t)session_file_count(a->session) + 1);
    l->stage = STAGE_BEHAVIOURS;
    l->next = 0;
    return true;
}

struct sized {
    uint32_t behaviour, ops;
};

/* Larger ones first; of equal ones the one that was listed later is the smaller. */
static int by_size(const void *x, const void *y)
{
    const struct sized *a = x, *b = y;
    if (a->ops != b->ops)
        return a->ops > b->ops ? -1 : 1;
    return (a->behaviour > b->behaviour) - (a->behaviour < b->behaviour);
}

static void sort_behaviours(struct links *l)
{
    const struct behaviours *list = l->analysis->behaviours;
    struct sized *all = xcalloc(list->n + 1, sizeof *all);

    for (size_t i = 0; i < list->n; i++)
        all[i] = (struct sized){(uint32_t)i, list->at[i].ops};
    qsort(all, list->n, sizeof *all, by_size);
    l->by_size = xcalloc(list->n + 1, sizeof *l->by_size);
    for (size_t i = 0; i < list->n; i++)
        l->by_size[i] = all[i].behaviour;
    free(all);
}

/* Smaller ones come later and overwrite larger ones. */
static void find_behaviours(struct links *l)
{
    const struct behaviours *list = l->analysis->behaviours;

    if (!l->by_size)
        sort_behaviours(l);
    for (int i = 0; i < STEPS_A_SLICE && l->next < list->n; i++, l->next++) {
        const struct behaviour *b = &list->at[l->by_size[l->next]];
        for (uint32_t k = b->begin; k < b->end; k++)
            l->smallest[list->order[k]] = l->by_size[l->next];
    }
    if (l->next == list->n)
        l->stage = STAGE_DONE;
}

bool links_settle(struct links *l, uint64_t deadline, bool *done, struct error *e)
{
    while (l->stage != STAGE_DONE) {
        if (l->stage == STAGE_BEHAVIOURS)
            find_behaviours(l);
        else if (!find_lines(l, e))
            return false;
        if (clock_now() >= deadline)
            break;
    }
    *done = l->stage == STAGE_DONE;
    return true;
}

int links_percent(const struct links *l)
{
    enum { ALL = 100 };
    const struct analysis *a = l->analysis;
    size_t ops = a->graph->n, all = ops + a->behaviours->n;

    if (l->stage == STAGE_DONE || !all)
        return ALL;
    return (int)(((l->stage == STAGE_BEHAVIOURS ? ops : 0) + l->next) * ALL / all);
}

/* --- Reports ------------------------------------------------------------------------------- */

void links_groups(struct links *l, const struct groups *groups)
{
    l->groups = groups;
}

static void add_parts(struct links *l, const json_t *list, uint32_t bug, bool survived, bool fits)
{
    const struct graph *g = l->analysis->graph;
    const json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        json_int_t op =
            json_is_integer(json_object_get(item, "op")) ? report_number(item, "op") : -1;
        json_int_t event = report_number(item, "event");
        bool known = fits && op >= 0 && (uint64_t)op < g->n;
        vec_push(&l->parts,
                 (struct part){known ? (uint32_t)op : NO_OP,
                               event > 0 && (uint64_t)event <= g->events ? (uint64_t)event : 0, bug,
                               survived});
    }
}

/* Op numbers of another model are others. */
static bool is_of_model(const json_t *report, const struct model *model)
{
    struct buf text = {0};
    const char *name = json_string_value(json_object_get(report, "model"));
    const char *switches = json_string_value(json_object_get(report, "model_switches"));

    buf_text(&text, name ? name : "");
    if (switches)
        buf_printf(&text, " %s", switches);
    bool is = model_is(model, buf_string(&text));
    buf_free(&text);
    return is;
}

void links_report(struct links *l, const json_t *report)
{
    bool fits = is_of_model(report, &l->analysis->graph->model);
    const json_t *bug;
    size_t i;

    l->report = report;
    l->parts.n = 0;
    json_array_foreach(json_object_get(report, "bugs"), i, bug)
    {
        add_parts(l, json_object_get(bug, "survived"), (uint32_t)i + 1, true, fits);
        add_parts(l, json_object_get(bug, "lost"), (uint32_t)i + 1, false, fits);
    }
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

static bool has_op(const uint32_t *ops, size_t n, uint32_t op)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ops[middle] < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && ops[low] == op;
}

/* From a list of ops: themselves, or the bugs that they are part of. */
static void from_ops(struct links *l, const uint32_t *ops, size_t n, struct found *f)
{
    for (size_t i = 0; f->kind == SUBJECT_OP && i < n; i++)
        add(f, ops[i], NULL);
    for (size_t i = 0; f->kind == SUBJECT_BUG && i < l->parts.n; i++)
        if (l->parts.at[i].op != NO_OP && has_op(ops, n, l->parts.at[i].op))
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

/* Bugs all of whose survivors a state has, and none of whose lost ops. */
static void add_bugs_of_state(const struct links *l, const struct schedule *s, struct found *f)
{
    bool *gone = s->lost_count ? xcalloc(s->last - s->lost[0] + 1, sizeof *gone) : NULL;

    if (gone)
        schedule_gone(l->analysis->graph, s, gone);
    for (size_t i = 0; i < l->parts.n;) {
        uint32_t bug = l->parts.at[i].bug;
        bool shows = true, any = false;
        for (; i < l->parts.n && l->parts.at[i].bug == bug; i++) {
            const struct part *p = &l->parts.at[i];
            if (p->op == NO_OP)
                continue;
            any = true;
            shows = shows && is_lost(s, gone, p->op) != p->survived;
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
        add_bugs_of_state(l, &schedule, f);
    report_state_clear(&listed.state);
}

/* --- Lines, and the whole ------------------------------------------------------------------ */

uint32_t links_line_number(const struct links *l, const char *path, uint32_t line)
{
    struct buf key = {0};

    line_key(&key, path, line);
    const uint64_t *number = map_get(&l->line_numbers, key.at, key.n);
    buf_free(&key);
    return number ? (uint32_t)*number - 1 : NO_LINE;
}

uint32_t links_op_line(const struct links *l, uint32_t op)
{
    return l->stage == STAGE_LINES ? NO_LINE : l->line_of[op];
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
