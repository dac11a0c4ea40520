/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that show a desk, and what is meant by a number or a selection.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "tui/debugger.h"
#include "tui/words.h"

/* ---- what is meant ---- */

bool debugger_lead(struct debugger *d, const struct subject *from, enum subject_kind kind,
                   struct subject *out)
{
    if (from->kind == kind) {
        *out = *from;
        return true;
    }
    return d->links && links_to(d->links, from, kind, out, 1) > 0;
}

bool debugger_find(struct debugger *d, const char *words, enum subject_kind kind,
                   struct subject *out, struct error *e)
{
    static const char *const names[] = {
        [SUBJECT_EVENT] = "an event",
        [SUBJECT_OP] = "an op",
        [SUBJECT_BEHAVIOUR] = "a behaviour",
        [SUBJECT_GROUP] = "a group",
        [SUBJECT_BUG] = "a bug",
        [SUBJECT_STATE] = "a state",
        [SUBJECT_FILE] = "a file",
        [SUBJECT_OBJECT] = "an object",
        [SUBJECT_LINE] = "a source line",
    };
    struct subject from;

    if (*words && !words_subject(words, kind, &from))
        return error_set(e, "%s is not %s", words, names[kind]);
    if (!*words && kind == SUBJECT_BUG && !debugger_bugs_are_kept(d, e))
        return false;
    if (!*words && !debugger_subject(d, &from, e))
        return false;
    if (kind == SUBJECT_OP && from.kind == SUBJECT_OP && d->loaded &&
        from.number >= d->findings.analysis->graph->n)
        return error_set(e, "there is no op %" PRIu64, from.number);
    if (debugger_lead(d, &from, kind, out))
        return true;
    return error_set(e, "the selection leads to no %s", strchr(names[kind], ' ') + 1);
}

/* ---- desks that show all there is ---- */

static bool take_selected(struct debugger *d, struct error *e);

#define SHOW(id)                                                                                   \
    bool do_##id(struct debugger *d, const char *words, enum after *after, struct error *e)        \
    {                                                                                              \
        (void)words, (void)after, (void)e;                                                         \
        show(d, DESK_##id);                                                                        \
        return true;                                                                               \
    }

/* What was selected stays selected, where the desk knows it. */
static void show(struct debugger *d, enum desk_id desk)
{
    static const enum subject_kind kinds[DESK_COUNT] = {
        [DESK_bugs] = SUBJECT_BUG,       [DESK_trace] = SUBJECT_EVENT,
        [DESK_ops] = SUBJECT_OP,         [DESK_behaviours] = SUBJECT_BEHAVIOUR,
        [DESK_groups] = SUBJECT_GROUP,   [DESK_states] = SUBJECT_STATE,
        [DESK_objects] = SUBJECT_OBJECT,
    };
    struct subject from, to;
    bool known = kinds[desk] && debugger_subject(d, &from, NULL) &&
                 debugger_lead(d, &from, kinds[desk], &to);

    if (desk != d->desk)
        debugger_go(d, desk, known ? &to : NULL);
}

SHOW(overview)
SHOW(bugs)
SHOW(trace)
SHOW(ops)
SHOW(behaviours)
SHOW(groups)
SHOW(states)
SHOW(fixes)
SHOW(bookmarks)
SHOW(lint)

bool do_objects(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct subject s;

    (void)after;
    if (!debugger_need_analysis(d, e) || (!*words && !take_selected(d, e)))
        return false;
    if (!d->findings.objects->n)
        return error_set(e, d->findings.analysis->store_count
                                ? "no object is known: build the program with -g and record again"
                                : "the trace has no stores to mapped files");
    if (!*words) {
        show(d, DESK_objects);
        return true;
    }
    if (!debugger_find(d, words, SUBJECT_OBJECT, &s, e))
        return false;
    debugger_go(d, DESK_objects, &s);
    return true;
}

bool do_change(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    if (!debugger_need_analysis(d, e))
        return false;
    d->desks[DESK_change].stale = true;
    show(d, DESK_change);
    return true;
}

/* The request that a command's name, or a key, stands for. */
static enum request request_meant(const struct debugger *d, const char *word, struct error *e)
{
    uint32_t key = key_find(word, strlen(word));
    const char *command = key == TYPED_NOTHING ? word : keymap_get(&d->keymap, key);

    if (command)
        return request_find(command, strcspn(command, " "), e);
    error_set(e, "the key %s means nothing; bind gives it a meaning", word);
    return REQUEST_COUNT;
}

bool do_help(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    enum request meant = *words ? request_meant(d, words, e) : REQUEST_COUNT;

    if (*words && meant == REQUEST_COUNT)
        return false;
    if (!*words && d->desk == DESK_help)
        return do_back(d, words, after, e);
    debugger_go(d, DESK_help, NULL);
    struct pane *p = desk_main(debugger_desk(d));
    if (*words)
        pane_select_amid(p, help_row(p->view, request_info(meant)->name));
    else if (p->selected == 1) /* the title of a section; commands are what one reads about */
        pane_move(p, 1);
    return true;
}

/* ---- desks for what is selected ---- */

bool do_links(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct subject s;

    (void)words, (void)after;
    if (!debugger_need_analysis(d, e) || !debugger_subject(d, &s, e))
        return false;
    debugger_go(d, DESK_links, &s);
    return true;
}

bool do_source(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct subject line;

    (void)after;
    if (*words)
        return do_go(d, words, after, e);
    if (!debugger_need_analysis(d, e) || !debugger_find(d, "", SUBJECT_LINE, &line, e))
        return false;
    debugger_go(d, DESK_source, &line);
    return true;
}

/* An event or a line by its first op. */
bool debugger_subgraph(struct debugger *d, const struct subject *s, struct subgraph **out,
                       struct error *e)
{
    struct subgraph_options o = SUBGRAPH_DEFAULTS;
    o.transitive = d->transitive;
    struct findings *f = &d->findings;
    struct subject op;
    uint8_t *marks = NULL;

    if (d->walking && s->kind != SUBJECT_BUG) {
        static const uint8_t mark[] = {
            [WALK_PERSISTED] = MARK_PERSISTED,
            [WALK_LOST] = MARK_LOST,
            [WALK_FLIGHT] = MARK_FLIGHT,
            [WALK_UNISSUED] = MARK_UNISSUED,
        };
        o.mark_count = f->analysis->graph->n;
        o.marks = marks = xmalloc(o.mark_count + 1);
        for (uint32_t i = 0; i < o.mark_count; i++)
            marks[i] = mark[schedule_mark_of(d->walk, i)];
    }
    bool ok;
    if (s->kind == SUBJECT_BUG)
        ok = subgraph_bug(out, f, s->number, &o, e);
    else if (s->kind == SUBJECT_BEHAVIOUR)
        ok = subgraph_behaviour(out, f, s->number, &o, e);
    else if (s->kind == SUBJECT_GROUP)
        ok = subgraph_group(out, f, s->number, &o, e);
    else if (debugger_lead(d, s, SUBJECT_OP, &op))
        ok = subgraph_around(out, f, op.number, SUBGRAPH_HOPS, &o, e);
    else
        ok = subgraph_all(out, f, &o, e);
    free(marks);
    return ok;
}

bool debugger_picture(struct debugger *d, const struct subject *s, struct error *e)
{
    struct subgraph *graph;
    struct subject op;

    if (!debugger_subgraph(d, s, &graph, e) || !graph_picture_show(d->picture, graph, e))
        return false;
    d->drawing = true;
    /* What one came from is selected; else whatever comes first. */
    d->picture_op = debugger_lead(d, s, SUBJECT_OP, &op) ? (uint32_t)op.number : 0;
    return true;
}

bool do_graph(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct subject s = {0};

    (void)after;
    if (!debugger_need_analysis(d, e))
        return false;
    if (*words && !words_subject(words, SUBJECT_OP, &s))
        return error_set(e, "%s is nothing that has a graph: op:N, behaviour:N, group:N, bug:N",
                         words);
    if (!*words && !debugger_subject(d, &s, NULL))
        s = (struct subject){0};
    if (!debugger_picture(d, &s, e))
        return false;
    debugger_go(d, DESK_graph, &s);
    return true;
}

bool do_implied(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    if (d->desk != DESK_graph)
        return error_set(e, "no graph is in view; 5 draws one");
    if (!debugger_need_analysis(d, e))
        return false;
    struct subgraph *graph;
    d->transitive = !d->transitive;
    debugger_say(d, d->transitive ? "all edges" : "without the edges that others imply");
    d->drawing = true;
    return debugger_subgraph(d, &d->about[DESK_graph], &graph, e) &&
           graph_picture_show(d->picture, graph, e);
}

bool do_colour(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    if (d->desk != DESK_graph)
        return error_set(e, "no graph is in view; 5 draws one");
    d->by_file = !d->by_file;
    graph_picture_colour(d->picture, d->by_file ? PICTURE_BY_FILE : PICTURE_BY_STATE);
    debugger_say(d, d->by_file ? "a colour a file" : "colours by what survived");
    return true;
}

/* In the lists of bugs and of states the selected one is meant, not the one that was in hand
 * before; one that is in hand stays as it was stepped. */
static bool take_selected(struct debugger *d, struct error *e)
{
    struct pane *list = desk_main(debugger_desk(d));
    struct subject s;

    if (!debugger_bugs_are_kept(d, e))
        return false;
    if ((d->desk != DESK_bugs && d->desk != DESK_states) || !list->view || !list->selected ||
        !list->view->ops->subject(list->view, list->selected, &s, NULL))
        return true;
    if (s.kind == SUBJECT_BUG)
        return s.number == d->walking_bug || debugger_walk_bug(d, s.number, e);
    if (s.kind == SUBJECT_STATE)
        return s.number == d->walking_state || debugger_walk_state(d, s.number, e);
    return true;
}

/* Beside the list of bugs, what the checker said of the selected one. */
bool do_output(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    if (d->desk == DESK_bugs && d->loaded && d->task == TASK_NONE && !take_selected(d, e))
        return false;
    show(d, DESK_output);
    return true;
}

bool do_state(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    if (!debugger_need_analysis(d, e) || !take_selected(d, e))
        return false;
    d->desks[DESK_state].stale = true;
    show(d, DESK_state);
    return true;
}

bool do_schedule(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct subject s;

    (void)after;
    if (!debugger_need_analysis(d, e) || (!*words && !take_selected(d, e)))
        return false;
    if (*words) {
        if (!words_subject(words, SUBJECT_BUG, &s) ||
            (s.kind != SUBJECT_BUG && s.kind != SUBJECT_STATE && s.kind != SUBJECT_OP))
            return error_set(e, "%s has no schedule: bug:N, state:N or op:N do", words);
        if (s.kind == SUBJECT_OP && s.number >= d->findings.analysis->graph->n)
            return error_set(e, "there is no op %" PRIu64, s.number);
        if (s.kind == SUBJECT_OP)
            debugger_walk_prefix(d, (uint32_t)s.number);
        else if (!(s.kind == SUBJECT_BUG ? debugger_walk_bug : debugger_walk_state)(d, s.number, e))
            return false;
    }
    debugger_walked(d);
    return true;
}
