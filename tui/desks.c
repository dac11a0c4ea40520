/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of desks: what each shows, and what Enter does there.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "engine/report.h"
#include "engine/triage.h"
#include "tui/companions.h"
#include "tui/debugger.h"
#include "tui/task.h"
#include "tui/words.h"
#include "views/behaviours.h"
#include "views/bookmarks.h"
#include "views/bugs.h"
#include "views/change.h"
#include "views/fixes.h"
#include "views/graph.h"
#include "views/groups.h"
#include "views/help.h"
#include "views/lint.h"
#include "views/objects.h"
#include "views/op_words.h"
#include "views/output.h"
#include "views/rules.h"
#include "views/source.h"
#include "views/state.h"
#include "views/states.h"
#include "views/trace.h"
#include "views/why.h"
#include "views/why_op.h"

static void set_title(struct debugger *d, enum desk_id desk, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void set_title(struct debugger *d, enum desk_id desk, const char *format, ...)
{
    va_list args;
    char *text;
    struct cell *c = &desk_main(&d->desks[desk])->title;

    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    cell_clear(c);
    if (n < 0)
        return;
    cell_escape(c, STYLE_PLAIN, text, (size_t)n);
    free(text);
}

/* Columns that the main pane has for a view, the selection's sign apart. */
static int room(const struct debugger *d)
{
    return d->screen.columns - 2;
}

/* ---- overview ---- */

static struct view *open_overview(struct debugger *d, struct error *e)
{
    struct view *v;
    struct overview_progress progress;
    struct overview o = {.session = d->session, .report = d->findings.report};

    if (d->loaded) {
        o.analysis = d->findings.analysis;
        o.groups = d->findings.groups;
    }
    if (task_progress(d, &progress))
        o.progress = &progress;
    return overview_view(&v, &o, room(d), e) ? v : NULL;
}

/* ---- bugs ---- */

/* The bug that was selected stays so: a check finds it again later, or under another number. */
static struct view *list_bugs(struct debugger *d, const json_t *report, bool kept)
{
    struct pane *p = desk_main(&d->desks[DESK_bugs]);
    const json_t *bugs = json_object_get(report, "bugs"), *bug;
    size_t i, n = json_array_size(bugs);

    d->cause_row = p->selected < 1 ? 1 : p->selected;
    if (d->cause_row > n)
        d->cause_row = n;
    json_array_foreach(bugs, i, bug)
    {
        const char *cause = json_string_value(json_object_get(bug, "cause"));
        if (cause && d->cause && !strcmp(cause, d->cause))
            d->cause_row = i + 1;
    }
    p->selected = d->cause_row;
    return bugs_view_open(report, kept);
}

/* While a check runs its bugs as they come, else the report's. */
static struct view *open_bugs(struct debugger *d, struct error *e)
{
    (void)e;
    if (debugger_finds(d)) {
        json_t *fresh = json_object();
        json_object_set(fresh, "bugs", d->found);
        json_decref(d->shown_bugs);
        d->shown_bugs = fresh;
        set_title(d, DESK_bugs, "Bugs found so far");
        return list_bugs(d, fresh, false);
    }
    if (!d->findings.report) {
        error_set(e, "the session has not been checked yet: X, or :check, does it");
        return NULL;
    }
    set_title(d, DESK_bugs, "Bugs");
    return list_bugs(d, d->findings.report, true);
}

/* Where something was told too early, the last op that survived has no part in it: what should have
 * survived by then does. */
static void select_lost(struct debugger *d, const json_t *bug)
{
    struct pane *p = desk_main(debugger_desk(d));
    const json_t *survived = json_array_get(json_object_get(bug, "survived"), 0);
    const json_t *lost = json_array_get(json_object_get(bug, "lost"), 0);
    json_int_t op = json_integer_value(json_object_get(lost, "op"));

    if (p->plain || !p->view || !lost || json_is_integer(json_object_get(survived, "op")))
        return;
    uint64_t row =
        p->view->ops->find(p->view, &(struct subject){.kind = SUBJECT_OP, .number = (uint64_t)op});
    if (row)
        pane_select(p, row);
}

static bool enter_bug(struct debugger *d, struct error *e)
{
    struct subject bug;

    if (!debugger_find(d, "", SUBJECT_BUG, &bug, e) || !debugger_walk_bug(d, bug.number, e))
        return false;
    debugger_walked(d);
    select_lost(d, debugger_bug(d, bug.number));
    return true;
}

/* ---- lists ---- */

static struct view *open_trace(struct debugger *d, struct error *e)
{
    (void)e;
    /* While the run is being worked out, stores are shown by their places alone. */
    const struct fields *fields = d->loaded ? d->findings.analysis->fields : NULL;
    return trace_view(d->session, d->symbols, fields, NULL);
}

static struct view *open_ops(struct debugger *d, struct error *e)
{
    (void)e;
    return graph_view(d->findings.analysis, NULL);
}

static struct view *open_behaviours(struct debugger *d, struct error *e)
{
    (void)e;
    return behaviours_view(d->findings.analysis, d->findings.groups);
}

static struct view *open_groups(struct debugger *d, struct error *e)
{
    (void)e;
    return groups_view(d->findings.analysis, d->findings.groups);
}

static struct view *open_states(struct debugger *d, struct error *e)
{
    return findings_need_check(&d->findings, e) ? states_view(d->findings.analysis) : NULL;
}

static bool enter_state(struct debugger *d, struct error *e)
{
    struct subject state;

    if (!debugger_find(d, "", SUBJECT_STATE, &state, e) || !debugger_walk_state(d, state.number, e))
        return false;
    debugger_walked(d);
    return true;
}

/* A behaviour or a group leads to its picture. */
static bool enter_graph(struct debugger *d, struct error *e)
{
    enum after after;

    return do_graph(d, "", &after, e);
}

/* ---- the graph ---- */

static struct view *open_graph(struct debugger *d, struct error *e)
{
    if (!d->findings.analysis->graph->n) {
        error_set(e, "the run changed nothing");
        return NULL;
    }
    /* When the run was worked out again, the picture went with the graph that it was of. */
    if (!graph_picture_subgraph(d->picture) && !d->drawing &&
        !debugger_picture(d, &d->about[DESK_graph], e))
        return NULL;
    desk_main(&d->desks[DESK_graph])->picture = d->picture;
    return graph_picture_view(d->picture);
}

/* ---- the schedule in hand ---- */

static struct view *open_schedule(struct debugger *d, struct error *e)
{
    (void)e;
    return schedule_view(d->schedule_rows, d->walk);
}

/* Enter in a schedule goes to the source of the op. */
static bool enter_source(struct debugger *d, struct error *e)
{
    enum after after;

    return do_source(d, "", &after, e);
}

static struct view *open_state(struct debugger *d, struct error *e)
{
    (void)e;
    set_title(d, DESK_state, "Files left by %s", d->walking ? d->walking : "the run");
    return state_view(d->walk_states, d->findings.analysis, d->walk);
}

static struct view *open_objects(struct debugger *d, struct error *e)
{
    (void)e;
    set_title(d, DESK_objects, "Objects in the state left by %s",
              d->walking ? d->walking : "the run");
    return objects_view(d->findings.analysis, d->findings.objects, d->walk);
}

/* The stores that made an object what it is. */
static bool enter_stores(struct debugger *d, struct error *e)
{
    struct subject op;

    if (!debugger_find(d, "", SUBJECT_OP, &op, e))
        return false;
    debugger_go(d, DESK_schedule, &op);
    return true;
}

static struct view *open_source(struct debugger *d, struct error *e)
{
    const struct subject *s = &d->about[DESK_source];

    if (!s->path) {
        error_set(e, "no source line is selected; v shows that of an event, an op or a bug");
        return NULL;
    }
    struct view *v = source_view(d->findings.analysis, d->links, d->walk, s->path);
    source_view_current(v, (uint32_t)s->number);
    desk_main(&d->desks[DESK_source])->unmarked = true;
    struct cell *title = &desk_main(&d->desks[DESK_source])->title;
    cell_clear(title);
    source_view_title(v, title);
    return v;
}

static struct view *open_output(struct debugger *d, struct error *e)
{
    (void)e;
    struct view *v = output_view();
    output_add(v, buf_string(&d->output), d->output.n);
    if (d->task == TASK_TEST)
        output_note(v, "the checker is running; :stop ends it");
    else if (d->verdict.kind != VERDICT_NOT_RUN)
        output_end(v, &d->verdict);
    return v;
}

/* ---- lists of what people made ---- */

static struct view *open_fixes(struct debugger *d, struct error *e)
{
    (void)e;
    return fixes_view(d->findings.session, &d->findings.fixes, d->tried, room(d));
}

static struct view *open_bookmarks(struct debugger *d, struct error *e)
{
    bookmarks_free(&d->bookmarks);
    if (!bookmarks_load(&d->bookmarks, d->session, e))
        return NULL;
    return bookmarks_view(d->findings.analysis, &d->bookmarks);
}

static struct view *open_lint(struct debugger *d, struct error *e)
{
    (void)e;
    set_title(d, DESK_lint, "Waste, under %s", lint_stores_name(d->findings.lint.stores));
    return lint_view(d->findings.session, d->findings.analysis->symbols,
                     d->findings.analysis->fields, &d->findings.lint);
}

void help_texts_free(struct help_texts *h)
{
    for (size_t i = 0; i < REQUEST_COUNT; i++) {
        free(h->keys[i]);
        free(h->names[i]);
    }
    *h = (struct help_texts){0};
}

static struct view *open_help(struct debugger *d, struct error *e)
{
    size_t n = 0;

    (void)e;
    help_texts_free(&d->help);
    for (int section = 0; section < SECTION_COUNT; section++) {
        for (int r = 0; r < REQUEST_COUNT; r++) {
            const struct request_info *info = request_info((enum request)r);
            if ((int)info->section != section)
                continue;
            struct buf keys = {0};
            keymap_keys(&d->keymap, (enum request)r, &keys);
            d->help.keys[n] = xstrdup(buf_string(&keys));
            buf_free(&keys);
            d->help.names[n] =
                xasprintf("%s%s%s", info->name, *info->arguments ? " " : "", info->arguments);
            d->help.entries[n] = (struct help_entry){request_section_title(info->section),
                                                     d->help.keys[n], d->help.names[n], info->help};
            n++;
        }
    }
    return help_view(d->help.entries, n);
}

/* ---- why ---- */

static struct view *open_why(struct debugger *d, struct error *e)
{
    const struct subject *s = &d->about[DESK_why];
    struct view *v;

    /* The rules of a bug are words already. */
    struct desk *desk = &d->desks[DESK_why];
    desk->companions = s->kind == SUBJECT_BUG ? 0 : desk->kind->companions;
    if (s->kind == SUBJECT_BUG) {
        set_title(d, DESK_why, "Why bug %" PRIu64 " is legal", s->number);
        return rules_of_bug(d->findings.analysis, debugger_bug(d, s->number), room(d), e);
    }
    uint64_t a = s->number, b = d->other[DESK_why], n = d->findings.analysis->behaviours->n;
    /* Numbers of another model may be beyond those that there are. */
    if (s->kind != SUBJECT_BEHAVIOUR || a == b || a >= n || b >= n) {
        error_set(e, "why A B compares two behaviours; on a bug, w says why it is legal");
        return NULL;
    }
    if (!why_view(&v, d->findings.analysis, d->findings.groups, (uint32_t)a, (uint32_t)b, e))
        return NULL;
    set_title(d, DESK_why, "Why: ");
    why_view_verdict(v, &desk_main(&d->desks[DESK_why])->title);
    return v;
}

static struct view *open_rules(struct debugger *d, struct error *e)
{
    const struct subject *s = &d->about[DESK_rules];

    if (s->kind != SUBJECT_OP) {
        error_set(e, "no op is selected; a shows the rules of one");
        return NULL;
    }
    if (s->number >= d->findings.analysis->graph->n) {
        error_set(e, "there is no op %" PRIu64 " with this model", s->number);
        return NULL;
    }
    set_title(d, DESK_rules, "What op %" PRIu64 " must follow and precede", s->number);
    return rules_of_op(d->findings.analysis, (uint32_t)s->number, room(d), e);
}

static struct view *open_change(struct debugger *d, struct error *e)
{
    (void)e;
    return change_view(d->findings.analysis, d->walk);
}

static struct view *open_links(struct debugger *d, struct error *e)
{
    const struct subject *s = &d->about[DESK_links];

    if (s->kind == SUBJECT_NONE) {
        error_set(e, "nothing is selected; l shows what a row is connected with");
        return NULL;
    }
    return links_of(d, s, e);
}

/* ---- the table ---- */

#define R(id) REQUEST_##id

static const struct desk_kind kinds[DESK_COUNT] = {
    [DESK_overview] = {.title = "Overview",
                       .open = open_overview,
                       .buttons = {R(bugs), R(trace), R(check), R(pause), R(groups), R(help),
                                   R(command), R(quit)}},
    [DESK_bugs] = {.title = "Bugs",
                   .companions = 2,
                   .first = 1,
                   .empty = "no bugs; the overview says what was tested",
                   .open = open_bugs,
                   .follow = follow_bug,
                   .enter = enter_bug,
                   .buttons = {R(open), R(why), R(graph), R(state), R(status), R(note), R(fix),
                               R(try), R(output), R(export), R(help)}},
    [DESK_trace] = {.title = "Trace",
                    .companions = 2,
                    .first = 1,
                    .empty = "nothing was recorded",
                    .open = open_trace,
                    .follow = follow_event,
                    .buttons = {R(search), R(filter), R(links), R(graph), R(source), R(fix),
                                R(bookmark), R(help)}},
    [DESK_ops] = {.title = "Ops",
                  .needs = NEEDS_ANALYSIS,
                  .companions = 2,
                  .first = 1,
                  .empty = "the run changed nothing",
                  .open = open_ops,
                  .follow = follow_op,
                  .enter = enter_graph,
                  .buttons = {R(open), R(rules), R(links), R(toggle), R(filter), R(source),
                              R(help)}},
    [DESK_graph] = {.title = "Graph",
                    .needs = NEEDS_ANALYSIS,
                    .companions = 2,
                    .first = 1,
                    .open = open_graph,
                    .follow = follow_node,
                    .buttons = {R(open), R(rules), R(links), R(toggle), R(export), R(zoom),
                                R(help)}},
    [DESK_behaviours] = {.title = "Behaviours",
                         .needs = NEEDS_ANALYSIS,
                         .companions = 1,
                         .first = 1,
                         .empty = "the run changed nothing",
                         .open = open_behaviours,
                         .follow = follow_behaviour,
                         .enter = enter_graph,
                         .buttons = {R(open), R(why), R(links), R(sort), R(filter), R(export),
                                     R(help)}},
    [DESK_groups] = {.title = "Groups",
                     .needs = NEEDS_ANALYSIS,
                     .companions = 1,
                     .first = 1,
                     .empty = "the run changed nothing",
                     .open = open_groups,
                     .follow = follow_group,
                     .enter = enter_graph,
                     .buttons = {R(open), R(why), R(focus), R(links), R(filter), R(export),
                                 R(help)}},
    [DESK_states] = {.title = "States",
                     .needs = NEEDS_CHECK,
                     .companions = 1,
                     .first = 1,
                     .empty = "the last check kept no states",
                     .open = open_states,
                     .follow = follow_listed,
                     .enter = enter_state,
                     .buttons = {R(open), R(failing), R(links), R(filter), R(help)}},
    [DESK_schedule] = {.title = "Schedule",
                       .needs = NEEDS_ANALYSIS,
                       .companions = 3,
                       .first = 2,
                       .empty = "the run changed nothing",
                       .open = open_schedule,
                       .follow = follow_walk,
                       .enter = enter_source,
                       .buttons = {R(step), R(sync), R(failing), R(toggle), R(test), R(rules),
                                   R(undo), R(output), R(fix), R(help)}},
    [DESK_state] = {.title = "Files",
                    .needs = NEEDS_ANALYSIS,
                    .companions = 1,
                    .first = 1,
                    .empty = "no files",
                    .open = open_state,
                    .follow = follow_file,
                    .buttons = {R(step), R(sync), R(failing), R(test), R(schedule), R(zoom),
                                R(help)}},
    [DESK_objects] = {.title = "Objects",
                      .needs = NEEDS_ANALYSIS,
                      .companions = 2,
                      .first = 1,
                      .empty = "no object is known",
                      .open = open_objects,
                      .follow = follow_object,
                      .enter = enter_stores,
                      .buttons = {R(open), R(step), R(sync), R(failing), R(links), R(filter),
                                  R(sort), R(zoom), R(help)}},
    [DESK_source] = {.title = "Source",
                     .needs = NEEDS_ANALYSIS,
                     .companions = 1,
                     .first = 1,
                     .open = open_source,
                     .follow = follow_line,
                     .buttons = {R(search), R(links), R(graph), R(back), R(help)}},
    [DESK_output] = {.title = "What the checker said",
                     .empty = "no checker has run on a state in hand yet: x runs it",
                     .open = open_output,
                     .buttons = {R(test), R(search), R(back), R(help)}},
    [DESK_fixes] = {.title = "Pretended syncs",
                    .needs = NEEDS_ANALYSIS,
                    .empty = "nothing is pretended: f adds what a bug proposes",
                    .open = open_fixes,
                    .buttons = {R(try), R(unfix), R(back), R(help)}},
    [DESK_bookmarks] = {.title = "Bookmarks",
                        .needs = NEEDS_ANALYSIS,
                        .empty = "no bookmarks: b remembers a row",
                        .open = open_bookmarks,
                        .buttons = {R(open), R(bookmark), R(back), R(help)}},
    [DESK_lint] = {.title = "Waste",
                   .needs = NEEDS_ANALYSIS,
                   .companions = 2,
                   .first = 1,
                   .empty = "no flush, fence or sync is wasted, and every store is made durable",
                   .open = open_lint,
                   .follow = follow_event,
                   .buttons = {R(source), R(links), R(search), R(filter), R(back), R(help)}},
    [DESK_links] = {.title = "Links",
                    .needs = NEEDS_ANALYSIS,
                    .empty = "it is connected with nothing",
                    .open = open_links,
                    .buttons = {R(open), R(back), R(help)}},
    [DESK_why] = {.title = "Why",
                  .needs = NEEDS_ANALYSIS,
                  .companions = 1,
                  .first = 1,
                  .open = open_why,
                  .follow = follow_why,
                  .buttons = {R(graph), R(links), R(back), R(help)}},
    [DESK_rules] = {.title = "Rules",
                    .needs = NEEDS_ANALYSIS,
                    .open = open_rules,
                    .buttons = {R(open), R(links), R(back), R(help)}},
    [DESK_change] = {.title = "What the last step did",
                     .needs = NEEDS_ANALYSIS,
                     .empty = "nothing followed",
                     .open = open_change,
                     .buttons = {R(open), R(links), R(undo), R(back), R(help)}},
    [DESK_help] = {.title = "Help: keys, commands and what they do",
                   .companions = 1,
                   .first = 1,
                   .below = 6,
                   .open = open_help,
                   .follow = follow_row,
                   .buttons = {R(search), R(filter), R(back), R(quit)}},
};

const struct desk_kind *desk_kind(enum desk_id id)
{
    return &kinds[id];
}
