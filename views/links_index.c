/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/report_words.h"
#include "views/links_inside.h"

/* Steps between two looks at the clock. */
enum { STEPS_A_SLICE = 256 };

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

void links_line_key(struct buf *key, const char *path, uint32_t line)
{
    buf_clear(key);
    buf_add(key, &line, sizeof line);
    buf_text(key, path);
}

static uint32_t number_line(struct links *l, const struct location *at)
{
    struct buf key = {0};
    bool added;

    links_line_key(&key, at->file, at->line);
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
    if (l->next == g->n) {
        l->stage = STAGE_LINE_LISTS;
        l->next = 0;
    }
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

    for (int i = 0; i < STEPS_A_SLICE && l->next < list->n; i++, l->next++) {
        const struct behaviour *b = &list->at[l->by_size[l->next]];
        for (uint32_t k = b->begin; k < b->end; k++)
            l->smallest[list->order[k]] = l->by_size[l->next];
    }
    if (l->next == list->n)
        l->stage = STAGE_DONE;
}

static bool work(struct links *l, struct error *e)
{
    const struct analysis *a = l->analysis;

    switch (l->stage) {
    case STAGE_LINES:
        return find_lines(l, e);
    case STAGE_LINE_LISTS:
        lists_build(&l->lines, l->line_of, a->graph->n, l->locations.n);
        l->stage = STAGE_FILE_LISTS;
        break;
    case STAGE_FILE_LISTS:
        lists_build(&l->files, l->file_of, a->graph->n, (size_t)session_file_count(a->session) + 1);
        l->stage = STAGE_SORT;
        break;
    case STAGE_SORT:
        sort_behaviours(l);
        l->stage = STAGE_BEHAVIOURS;
        break;
    case STAGE_BEHAVIOURS:
        find_behaviours(l);
        break;
    case STAGE_DONE:
        break;
    }
    return true;
}

bool links_settle(struct links *l, uint64_t deadline, bool *done, struct error *e)
{
    while (l->stage != STAGE_DONE) {
        if (!work(l, e))
            return false;
        if (clock_now() >= deadline)
            break;
    }
    *done = l->stage == STAGE_DONE;
    return true;
}

/* --- Reports ------------------------------------------------------------------------------- */

void links_groups(struct links *l, const struct groups *groups)
{
    l->groups = groups;
}

void links_objects(struct links *l, const struct stored_objects *objects)
{
    l->objects = objects;
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
    l->report_fits = fits;
    l->parts.n = 0;
    json_array_foreach(json_object_get(report, "bugs"), i, bug)
    {
        add_parts(l, json_object_get(bug, "survived"), (uint32_t)i + 1, true, fits);
        add_parts(l, json_object_get(bug, "lost"), (uint32_t)i + 1, false, fits);
    }
}

bool links_report_fits(const struct links *l)
{
    return l->report_fits;
}
