/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/behaviours.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/report.h"

enum { NUMBER, FUNCTION, THREAD, OPS, EVENTS, GROUPS, FLAGS, COLUMNS };

struct behaviours_table {
    struct view view;
    struct analysis *analysis;
    const struct groups *groups;
    struct column columns[COLUMNS];
};

/* What was done to a behaviour, in words. */
static const struct {
    uint32_t flag;
    const char *word;
} flag_words[] = {
    {BEHAVIOUR_MERGED, "merged"},
    {BEHAVIOUR_CUT, "cut"},
    {BEHAVIOUR_LARGE, "large"},
};

enum { FLAG_WORDS = sizeof flag_words / sizeof *flag_words };

/* --- Whose work it is ---------------------------------------------------------------------- */

void behaviour_words(struct cell *c, struct analysis *a, const struct behaviour *b)
{
    enum style style = b->flags & BEHAVIOUR_TYPE ? STYLE_FIELD : STYLE_SOURCE_FUNCTION;
    struct buf words = {0};

    analysis_add_work(&words, a, b);
    cell_escape(c, style, buf_string(&words), words.n);
    buf_free(&words);
}

void behaviour_set_work(json_t *out, struct analysis *a, const struct behaviour *b)
{
    bool typed = b->flags & BEHAVIOUR_TYPE;

    json_object_set_new(out, "function",
                        typed ? json_null() : report_string(analysis_function(a, b)));
    report_object(out, a, b);
}

const char *behaviour_column(const struct analysis *a)
{
    return a->objects ? "function or type" : "function";
}

/* --- The table ----------------------------------------------------------------------------- */

static const struct column *columns(struct view *v, size_t *n)
{
    *n = COLUMNS;
    return ((struct behaviours_table *)v)->columns;
}

static void set_columns(struct behaviours_table *t)
{
    const struct column all[COLUMNS] = {
        [NUMBER] = {.title = "#", .least = 4, .right = true},
        [FUNCTION] = {.title = behaviour_column(t->analysis), .least = 12, .most = 60, .yields = 1},
        [THREAD] = {.title = "thread", .least = 6, .right = true},
        [OPS] = {.title = "ops", .least = 5, .right = true},
        [EVENTS] = {.title = "events", .least = 8},
        [GROUPS] = {.title = "groups *represents", .least = 6, .most = 24, .yields = 2},
        [FLAGS] = {.title = "flags", .least = 6},
    };
    memcpy(t->columns, all, sizeof all);
}

static uint64_t count(struct view *v)
{
    return ((struct behaviours_table *)v)->analysis->behaviours->n;
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct behaviours_table *t = (struct behaviours_table *)v;
    const struct behaviour *b = &t->analysis->behaviours->at[row - 1];
    const struct groups *groups = t->groups;
    const struct group_signature *s = &groups->signatures[groups->signature_of[row - 1]];
    uint64_t first, last;

    (void)e;
    behaviour_events(t->analysis->behaviours, b, &first, &last);
    cell_add(&out->cells[NUMBER], STYLE_NUMBER, "%" PRIu64, row - 1);
    behaviour_words(&out->cells[FUNCTION], t->analysis, b);
    cell_add(&out->cells[THREAD], STYLE_DIM, "%" PRIu32, b->thread);
    cell_add(&out->cells[OPS], STYLE_NUMBER, "%" PRIu32, b->ops);
    cell_add(&out->cells[EVENTS], STYLE_NUMBER, "%" PRIu64 "..%" PRIu64, first, last);
    for (uint32_t i = 0; i < s->joined; i++) {
        uint32_t group = groups->joined[s->first_group + i];
        bool represents = groups->at[group].representative == row - 1;
        cell_gap(&out->cells[GROUPS]);
        cell_add(&out->cells[GROUPS], STYLE_NUMBER, "%" PRIu32, group);
        if (represents)
            cell_add(&out->cells[GROUPS], STYLE_FLAG, "*");
    }
    for (size_t i = 0; i < FLAG_WORDS; i++) {
        if (!(b->flags & flag_words[i].flag))
            continue;
        cell_gap(&out->cells[FLAGS]);
        cell_add(&out->cells[FLAGS], STYLE_FLAG, "%s", flag_words[i].word);
    }
    return true;
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    (void)v, (void)e;
    *out = (struct subject){.kind = SUBJECT_BEHAVIOUR, .number = row - 1};
    return true;
}

static uint64_t find(struct view *v, const struct subject *s)
{
    return s->kind == SUBJECT_BEHAVIOUR && s->number < count(v) ? s->number + 1 : 0;
}

struct view *behaviours_view(struct analysis *a, const struct groups *groups)
{
    static const struct view_ops ops = {
        .name = "behaviours",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = find,
        .close = view_close_plain,
    };
    struct behaviours_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->analysis = a;
    t->groups = groups;
    set_columns(t);
    return &t->view;
}

json_t *behaviours_view_json(struct view *v, uint64_t row, struct error *e)
{
    struct behaviours_table *t = (struct behaviours_table *)v;
    const struct behaviour *b = &t->analysis->behaviours->at[row - 1];
    const struct groups *groups = t->groups;
    const struct group_signature *s = &groups->signatures[groups->signature_of[row - 1]];
    json_t *out = json_object(), *joined = json_array(), *flags = json_array();
    uint64_t first, last;

    (void)e;
    behaviour_events(t->analysis->behaviours, b, &first, &last);
    json_object_set_new(out, "behaviour", json_integer((json_int_t)row - 1));
    behaviour_set_work(out, t->analysis, b);
    json_object_set_new(out, "thread", json_integer(b->thread));
    json_object_set_new(out, "ops", json_integer(b->ops));
    json_object_set_new(out, "first_event", json_integer((json_int_t)first));
    json_object_set_new(out, "last_event", json_integer((json_int_t)last));
    json_object_set_new(out, "parent",
                        b->parent == NO_BEHAVIOUR ? json_null() : json_integer(b->parent));
    for (uint32_t i = 0; i < s->joined; i++)
        json_array_append_new(joined, json_integer(groups->joined[s->first_group + i]));
    for (size_t i = 0; i < FLAG_WORDS; i++)
        if (b->flags & flag_words[i].flag)
            json_array_append_new(flags, json_string(flag_words[i].word));
    json_object_set_new(out, "groups", joined);
    json_object_set_new(out, "flags", flags);
    return out;
}
