/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam graph, behaviours, groups, states and schedules: what lies between the recorded events
 * and the bugs, each as a table or as JSON.
 */
#include <stdlib.h>

#include "tui/commands.h"
#include "tui/listing.h"
#include "tui/options.h"
#include "views/behaviours.h"
#include "views/graph.h"
#include "views/groups.h"
#include "views/states.h"

enum { OPTION_JSON = OPTION_LONG, OPTION_MODEL, OPTION_STORES, OPTION_PATH, OPTION_EVENTS };

#define JSON_OPTION                                                                                \
    {                                                                                              \
        OPTION_JSON, "json", NULL, "print an array of objects instead of a table"                  \
    }

static const struct command_option graph_options[] = {
    JSON_OPTION,
    LISTING_MODEL_OPTIONS(OPTION_MODEL, OPTION_STORES),
    {OPTION_PATH, "path", "GLOB", "only ops on files whose path or name matches"},
    {OPTION_EVENTS, "events", "A..B", "only ops of events from A to B; either may be left out"},
    {0, NULL, NULL, NULL},
};

static const struct command_option model_options[] = {
    JSON_OPTION,
    LISTING_MODEL_OPTIONS(OPTION_MODEL, OPTION_STORES),
    {0, NULL, NULL, NULL},
};

static const struct command_option json_options[] = {
    JSON_OPTION,
    {0, NULL, NULL, NULL},
};

struct wishes {
    struct trace_filter filter;
    struct listing_model model;
    bool json;
};

/* One of these commands: what it needs before it can show anything, and how it does. */
struct listing {
    const struct command *command;
    bool (*need)(struct findings *f, struct error *e);
    struct view *(*open)(struct findings *f, struct wishes *w);
    listing_json_fn *json;
    const char *nothing; /* said when there is nothing to list */
};

static bool read_options(struct options *o, struct wishes *w)
{
    struct error e;

    while (options_next(o)) {
        switch (o->id) {
        case OPTION_JSON:
            w->json = true;
            break;
        case OPTION_MODEL:
            w->model.posix = o->value;
            break;
        case OPTION_STORES:
            if (options_choice(o) >= 0)
                w->model.stores = o->value;
            break;
        case OPTION_PATH:
            w->filter.path = o->value;
            break;
        case OPTION_EVENTS:
            if (!trace_filter_range(&w->filter, o->value, &e))
                options_wrong(o, "%s", e.text);
            break;
        }
    }
    return !o->ended && options_count(o, 0, 1);
}

static int run(const struct listing *l, int argc, char **argv)
{
    struct options o;
    struct wishes w = {0};
    struct findings f = {0};
    struct error e;

    options_begin(&o, l->command, argc, argv);
    if (!read_options(&o, &w))
        return o.status;
    bool ok = listing_open(&f, o.argc ? o.argv[0] : NULL, &w.model, &e) && l->need(&f, &e);
    if (ok) {
        struct view *v = l->open(&f, &w);
        ok = w.json ? listing_json(v, l->json, &e) : listing_text(v, false, l->nothing, &e);
        v->ops->close(v);
    }
    findings_close(&f);
    trace_filter_free(&w.filter);
    return ok ? STATUS_DONE : command_failed(&e);
}

static bool need_nothing(struct findings *f, struct error *e)
{
    (void)f, (void)e;
    return true;
}

/* ---- graph ---- */

static struct view *open_graph(struct findings *f, struct wishes *w)
{
    return graph_view(f->analysis, &w->filter);
}

static int run_graph(int argc, char **argv)
{
    static const struct listing graph = {&command_graph, need_nothing, open_graph, graph_view_json,
                                         "there are no ops"};
    return run(&graph, argc, argv);
}

const struct command command_graph = {
    .name = "graph",
    .run = run_graph,
    .takes = TAKES_SESSION,
    .usage = "[S] [--json] [--model NAME] [--stores NAME] [--path GLOB] [--events A..B]",
    .summary = "show the ops, and which must persist before which",
    .details =
        "Each line is an op, the smallest thing that persists as a unit: its number, its event,\n"
        "its kind (name, size, alloc, data, zero, range, store), the file and the part of it, the\n"
        "function that did it, the event whose return makes it durable, and the ops that must\n"
        "persist just before it, each with the rule that says so. flotsam why-op explains more.",
    .options = graph_options,
};

/* ---- behaviours ---- */

static struct view *open_behaviours(struct findings *f, struct wishes *w)
{
    (void)w;
    return behaviours_view(f->analysis, f->groups);
}

static int run_behaviours(int argc, char **argv)
{
    static const struct listing behaviours = {&command_behaviours, findings_group, open_behaviours,
                                              behaviours_view_json, "there are no behaviours"};
    return run(&behaviours, argc, argv);
}

const struct command command_behaviours = {
    .name = "behaviours",
    .run = run_behaviours,
    .takes = TAKES_SESSION,
    .usage = "[S] [--json] [--model NAME] [--stores NAME]",
    .summary = "show the ops by the task that they do together",
    .details =
        "Each line is an update behaviour: its number, the function that does the task, or the\n"
        "type and the place of the object that is changed by stores, its thread, how many ops it "
        "has, its first and last event, the groups that it is in\n"
        "(with a * where it is the representative), and whether it was merged from smaller\n"
        "ones, cut from a larger one, or is a single large event.",
    .options = model_options,
};

/* ---- groups ---- */

static struct view *open_groups(struct findings *f, struct wishes *w)
{
    (void)w;
    return groups_view(f->analysis, f->groups);
}

static int run_groups(int argc, char **argv)
{
    static const struct listing groups = {&command_groups, findings_group, open_groups,
                                          groups_view_json, "there are no groups"};
    return run(&groups, argc, argv);
}

const struct command command_groups = {
    .name = "groups",
    .run = run_groups,
    .takes = TAKES_SESSION,
    .usage = "[S] [--json] [--model NAME] [--stores NAME]",
    .summary = "show which behaviour is tested for which others",
    .details = "Each line is a group: its number, its function, the behaviour that represents it,\n"
               "how many behaviours it has and by how many signatures, how many ops the\n"
               "representative has, and how many sets of them a crash can leave. flotsam why\n"
               "explains why two behaviours are in one group.",
    .options = model_options,
};

/* ---- states and schedules ---- */

static struct view *open_states(struct findings *f, struct wishes *w)
{
    (void)w;
    return states_view(f->analysis);
}

static struct view *open_schedules(struct findings *f, struct wishes *w)
{
    (void)w;
    return schedules_view(f->analysis);
}

static int run_states(int argc, char **argv)
{
    static const struct listing states = {&command_states, findings_need_check, open_states,
                                          states_view_json, "there are no states"};
    return run(&states, argc, argv);
}

static int run_schedules(int argc, char **argv)
{
    static const struct listing schedules = {&command_schedules, findings_need_check,
                                             open_schedules, states_view_json,
                                             "there are no schedules"};
    return run(&schedules, argc, argv);
}

const struct command command_states = {
    .name = "states",
    .run = run_states,
    .takes = TAKES_SESSION,
    .usage = "[S] [--json]",
    .summary = "show the crash states of the last check",
    .details =
        "Each line is a distinct crash state: its number, what the checker said, the last\n"
        "event that had begun at the crash, the behaviour that it was met for, the last op\n"
        "to survive (its event and what it did), and what was lost: these ops and what must\n"
        "not persist before them. flotsam replay S state:N DIR lays one out.",
    .options = json_options,
};

const struct command command_schedules = {
    .name = "schedules",
    .run = run_schedules,
    .takes = TAKES_SESSION,
    .usage = "[S] [--json]",
    .summary = "show which ops survived in each state of the last check",
    .details =
        "Each line is the schedule of a state, with the state's number: what the checker\n"
        "said, the last event that had begun at the crash, how many of the ops issued up to\n"
        "the last survivor persisted, that op, and every one that was lost before it.",
    .options = json_options,
};
