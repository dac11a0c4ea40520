/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/group.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "views/behaviours.h"

enum { NUMBER, HOW, THREAD, OPS, EVENTS, COLUMNS };

/* A list of a thousand groups must not take a minute: larger behaviours are not counted, and none
 * takes more than about a millisecond. */
enum { COUNTED_OPS_MAX = BEHAVIOUR_MAX, COUNT_EFFORT = 1 << 17 };

struct group_table {
    struct view view;
    struct analysis *analysis;
    const struct groups *groups;
    const struct group *group;
    uint32_t *first; /* by signature of the group: the members before its own; and all of them */
};

struct ideals_total group_schedules(struct analysis *a, const struct behaviour *b)
{
    if (b->ops > COUNTED_OPS_MAX)
        return (struct ideals_total){0};
    size_t words = ((size_t)b->ops + 63) / 64;
    uint32_t *ops = xcalloc(b->ops, sizeof *ops);
    uint64_t *below = xcalloc(b->ops * words, sizeof *below);
    size_t n = behaviour_ops(a->behaviours, b, ops);
    struct poset poset;

    graph_closure(a->graph, ops, n, below);
    poset_init(&poset, n, below);
    struct ideals *it = ideals_new(&poset, &(struct ideals_options){0});
    struct ideals_total total = ideals_count(it, COUNT_EFFORT);
    ideals_free(it);
    poset_free(&poset);
    free(below);
    free(ops);
    return total;
}

/* --- Members ------------------------------------------------------------------------------- */

static const struct group_signature *signature_at(const struct group_table *t, uint32_t i)
{
    return &t->groups->signatures[t->groups->taken[t->group->first + i]];
}

/* Which signature of the group a row's behaviour has. */
static uint32_t signature_of_row(const struct group_table *t, uint64_t row)
{
    uint32_t low = 0, high = t->group->signatures;

    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (t->first[middle] < row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t member_at(const struct group_table *t, uint64_t row)
{
    uint32_t i = signature_of_row(t, row);
    const struct group_signature *s = signature_at(t, i);

    return t->groups->members[s->first_member + (uint32_t)(row - 1 - t->first[i])];
}

static uint64_t find(struct view *v, const struct subject *s)
{
    const struct group_table *t = (struct group_table *)v;

    if (s->kind != SUBJECT_BEHAVIOUR || s->number >= t->analysis->behaviours->n)
        return 0;
    uint32_t wanted = t->groups->signature_of[s->number], i = 0;
    while (i < t->group->signatures && t->groups->taken[t->group->first + i] != wanted)
        i++;
    if (i == t->group->signatures)
        return 0;
    const struct group_signature *signature = signature_at(t, i);
    uint32_t low = 0, high = signature->members;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (t->groups->members[signature->first_member + middle] <= s->number)
            low = middle;
        else
            high = middle;
    }
    return (uint64_t)t->first[i] + low + 1;
}

/* --- The view ------------------------------------------------------------------------------ */

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [NUMBER] = {.title = "#", .least = 4, .right = true},
        [HOW] = {.title = "in the group", .least = 14, .yields = 1},
        [THREAD] = {.title = "thread", .least = 6, .right = true},
        [OPS] = {.title = "ops", .least = 5, .right = true},
        [EVENTS] = {.title = "events", .least = 8},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    const struct group_table *t = (struct group_table *)v;

    return t->first[t->group->signatures];
}

static void add_events(struct cell *c, const struct behaviours *list, const struct behaviour *b)
{
    uint64_t first, last;

    behaviour_events(list, b, &first, &last);
    cell_add(c, STYLE_NUMBER, "%" PRIu64 "..%" PRIu64, first, last);
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    const struct group_table *t = (struct group_table *)v;
    uint32_t member = member_at(t, row);
    const struct behaviour *b = &t->analysis->behaviours->at[member];
    bool alike = t->groups->signature_of[member] == t->group->signature;

    (void)e;
    cell_add(&out->cells[NUMBER], STYLE_NUMBER, "%" PRIu32, member);
    if (member == t->group->representative)
        cell_add(&out->cells[HOW], STYLE_MATCHED, "%s representative", glyph(GLYPH_PERSISTED));
    else
        cell_add(&out->cells[HOW], STYLE_PLAIN, alike ? "the same" : "represented");
    cell_add(&out->cells[THREAD], STYLE_DIM, "%" PRIu32, b->thread);
    cell_add(&out->cells[OPS], STYLE_NUMBER, "%" PRIu32, b->ops);
    add_events(&out->cells[EVENTS], t->analysis->behaviours, b);
    return true;
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    (void)e;
    *out = (struct subject){SUBJECT_BEHAVIOUR, member_at((struct group_table *)v, row), NULL};
    return true;
}

static void close_view(struct view *v)
{
    struct group_table *t = (struct group_table *)v;

    free(t->first);
    free(t);
}

/* --- What it saves ------------------------------------------------------------------------- */

/* Behaviours of one signature have as many schedules each. */
static void add_saved(struct group_table *t, struct cell *c)
{
    uint64_t saved = 0, all = 0;
    bool exact = true, counted = true;

    for (uint32_t i = 0; i < t->group->signatures && i < GROUP_COUNTED; i++) {
        const struct group_signature *s = signature_at(t, i);
        struct ideals_total n =
            group_schedules(t->analysis, &t->analysis->behaviours->at[s->example]);
        uint64_t more;
        counted = counted && n.count && n.known != IDEALS_BEYOND &&
                  !__builtin_mul_overflow(n.count, s->members, &more) &&
                  !__builtin_add_overflow(all, more, &all);
        if (!counted)
            break;
        exact = exact && n.known == IDEALS_EXACT;
        saved +=
            more - (t->groups->taken[t->group->first + i] == t->group->signature ? n.count : 0);
    }
    if (!counted) {
        cell_add(c, STYLE_PLAIN, "; the schedules saved are too many to count");
        return;
    }
    cell_add(c, STYLE_PLAIN, "; ");
    cell_add(c, STYLE_NUMBER, "%s%" PRIu64 " of %" PRIu64, exact ? "" : "at most ", saved, all);
    cell_add(c, STYLE_PLAIN, " schedules saved%s",
             t->group->signatures > GROUP_COUNTED ? ", and more" : "");
}

void group_view_title(struct view *v, struct cell *c)
{
    struct group_table *t = (struct group_table *)v;
    uint32_t others = t->group->members - 1;

    behaviour_words(c, t->analysis, &t->analysis->behaviours->at[t->group->representative]);
    cell_add(c, STYLE_PLAIN, ": ");
    cell_add(c, STYLE_NUMBER, "%" PRIu32, t->group->representative);
    cell_add(c, STYLE_PLAIN, others ? " stands for " : " stands for itself alone");
    if (others)
        cell_add(c, STYLE_PLAIN, "%" PRIu32 " other%s", others, others == 1 ? "" : "s");
    add_saved(t, c);
}

struct view *group_view(struct analysis *a, const struct groups *groups, uint32_t group)
{
    static const struct view_ops ops = {
        .name = "group",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = find,
        .close = close_view,
    };
    struct group_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->analysis = a;
    t->groups = groups;
    t->group = &groups->at[group];
    t->first = xcalloc((size_t)t->group->signatures + 1, sizeof *t->first);
    for (uint32_t i = 0; i < t->group->signatures; i++)
        t->first[i + 1] = t->first[i] + signature_at(t, i)->members;
    return &t->view;
}
