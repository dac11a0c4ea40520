/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/companions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "tui/words.h"
#include "views/behaviour.h"
#include "views/bug.h"
#include "views/difference.h"
#include "views/group.h"
#include "views/lines.h"
#include "views/links_view.h"
#include "views/object.h"
#include "views/rules.h"
#include "views/source.h"
#include "views/stack.h"
#include "views/state.h"

static struct pane *companion(struct debugger *d, int i)
{
    return &debugger_desk(d)->panes[i];
}

static void entitle(struct pane *p, const char *title)
{
    cell_clear(&p->title);
    cell_add(&p->title, STYLE_PLAIN, "%s", title);
}

/* A view, or why there is none. */
static void show(struct debugger *d, struct pane *p, const char *title, struct view *v,
                 const struct error *e)
{
    entitle(p, title);
    p->plain = p->unmarked = false;
    if (!v && e) {
        struct lines *l = lines_new(title);
        cell_escape(lines_add(l, "", (struct subject){0}), STYLE_DIM, e->text, strlen(e->text));
        v = lines_view(l);
    }
    if (d->desks[d->desk].same_row && v)
        pane_replace(p, v);
    else
        pane_show(p, v);
}

static bool main_subject(struct debugger *d, struct subject *out)
{
    struct pane *p = desk_main(debugger_desk(d));
    struct error e;

    *out = (struct subject){0};
    return p->view && !p->plain && p->selected &&
           p->view->ops->subject(p->view, p->selected, out, &e);
}

/* How many columns a companion has, from what it had. */
static int width(const struct debugger *d, const struct pane *p)
{
    return area_width(p->area) ? area_width(p->area) - 2 : d->screen.columns - 2;
}

/* ---- source ---- */

static void show_line(struct debugger *d, struct pane *p, const struct subject *line)
{
    struct view *v = p->view;

    /* The same file stays open: only what is current changes. Marks begin with the first walk. */
    bool marked = d->walking != NULL;
    if (!view_is(v, VIEW_SOURCE) || p->marked != marked ||
        strcmp(source_view_path(v), line->path) != 0) {
        p->marked = marked;
        v = source_view(d->findings.analysis, d->links, d->walking ? d->walk : NULL, line->path);
        p->plain = false;
        p->unmarked = true;
        pane_show(p, v);
    }
    cell_clear(&p->title);
    source_view_title(v, &p->title);
    source_view_current(v, (uint32_t)line->number);
    pane_select_amid(p, line->number);
}

/* The frame that was chosen by u and d, else the innermost with source. */
static void show_source(struct debugger *d, struct pane *p, const struct subject *of)
{
    struct subject event = {0}, line = {0};
    struct view *stack = NULL;
    struct error e;

    if (!d->loaded) {
        show(d, p, "Source", NULL, NULL);
        return;
    }
    if (of->kind == SUBJECT_LINE)
        line = *of;
    else if (debugger_lead(d, of, SUBJECT_EVENT, &event) &&
             stack_view(&stack, d->session, d->symbols, event.number, &e)) {
        uint64_t row = d->frame.event == event.number ? d->frame.row : 0;
        row = row ? row : stack_view_source(stack, 1, 1);
        if (row)
            stack->ops->subject(stack, row, &line, &e);
    }
    if (line.path)
        show_line(d, p, &line);
    else
        show(d, p, "Source: none is known for this", NULL, NULL);
    if (stack)
        stack->ops->close(stack);
}

static void show_stack(struct debugger *d, struct pane *p, const struct subject *of)
{
    struct subject event;
    struct view *v = NULL;
    struct error e;

    if (!debugger_lead(d, of, SUBJECT_EVENT, &event))
        show(d, p, "Stack", NULL, NULL);
    else if (!stack_view(&v, d->session, d->symbols, event.number, &e))
        show(d, p, "Stack", NULL, &e);
    else {
        show(d, p, "Stack", v, NULL);
        uint64_t row = d->frame.event == event.number ? d->frame.row : 0;
        pane_select(p, row ? row : stack_view_source(v, 1, 1));
    }
}

static void show_rules(struct debugger *d, struct pane *p, const struct subject *of)
{
    struct subject op;
    struct error e;

    if (!d->loaded || !debugger_lead(d, of, SUBJECT_OP, &op)) {
        show(d, p, "Rules", NULL, NULL);
        return;
    }
    struct view *v = rules_of_op(d->findings.analysis, (uint32_t)op.number, width(d, p), &e);
    show(d, p, "Rules", v, &e);
}

/* ---- desks ---- */

void follow_bug(struct debugger *d)
{
    struct subject bug;
    struct pane *detail = companion(d, 1);

    if (!main_subject(d, &bug)) {
        show(d, detail, "Bug", NULL, NULL);
        show(d, companion(d, 2), "Source", NULL, NULL);
        return;
    }
    bool found = debugger_finds(d);
    uint64_t row = desk_main(debugger_desk(d))->selected;
    const json_t *shown =
        found ? json_array_get(d->found, (size_t)row - 1) : debugger_bug(d, bug.number);
    char *title = xasprintf("Bug %" PRIu64, row);
    debugger_mean_bug(d, shown);
    bool fits = !found && d->loaded && links_report_fits(d->links);
    show(d, detail, title, bug_view(shown, width(d, detail), fits), NULL);
    free(title);
    show_source(d, companion(d, 2), &bug);
}

void follow_event(struct debugger *d)
{
    struct subject s;

    main_subject(d, &s);
    show_stack(d, companion(d, 1), &s);
    show_source(d, companion(d, 2), &s);
}

void follow_op(struct debugger *d)
{
    struct subject s;

    main_subject(d, &s);
    show_rules(d, companion(d, 1), &s);
    show_source(d, companion(d, 2), &s);
}

static void title_graph(struct debugger *d)
{
    const struct subgraph *s = graph_picture_subgraph(d->picture);
    struct cell *title = &desk_main(debugger_desk(d))->title;

    cell_clear(title);
    if (!s)
        return;
    cell_escape(title, STYLE_PLAIN, s->title, strlen(s->title));
    if (s->left_out)
        cell_add(title, STYLE_DIM, ", without %" PRIu64 " ops further away", s->left_out);
}

void follow_node(struct debugger *d)
{
    struct subject s;
    struct lines *l = lines_new("node");
    struct error e;
    bool more = true;

    for (size_t n = 0; more; n++) {
        struct cell c = {0};
        if (graph_picture_detail(d->picture, n, &c, &more, &e) && more)
            cell_copy(lines_add(l, "", (struct subject){0}), &c);
        else
            more = false;
        cell_free(&c);
    }
    title_graph(d);
    show(d, companion(d, 1), "Selected", lines_view(l), NULL);
    graph_picture_subject(d->picture, &s);
    show_source(d, companion(d, 2), &s);
}

void follow_behaviour(struct debugger *d)
{
    struct subject s;

    if (!main_subject(d, &s) || !d->loaded)
        show(d, companion(d, 1), "Behaviour", NULL, NULL);
    else
        show(d, companion(d, 1), "Its ops",
             behaviour_view(d->findings.analysis, (uint32_t)s.number, d->walking ? d->walk : NULL),
             NULL);
}

void follow_group(struct debugger *d)
{
    struct subject s;

    if (!main_subject(d, &s) || !d->loaded)
        show(d, companion(d, 1), "Group", NULL, NULL);
    else {
        struct pane *p = companion(d, 1);
        show(d, p, "", group_view(d->findings.analysis, d->findings.groups, (uint32_t)s.number),
             NULL);
        cell_clear(&p->title);
        group_view_title(p->view, &p->title);
    }
}

void follow_listed(struct debugger *d)
{
    struct subject s;
    struct error e;

    if (!main_subject(d, &s))
        show(d, companion(d, 1), "Links", NULL, NULL);
    else
        show(d, companion(d, 1), "What it has to do with", links_of(d, &s, &e), &e);
}

/* ---- the schedule in hand ---- */

static void show_difference(struct debugger *d, struct pane *p)
{
    struct view *v = p->view;

    if (!d->difference) {
        show(d, p, "Difference", NULL, NULL);
        return;
    }
    if (!view_is(v, VIEW_DIFFERENCE) || strcmp(difference_view_path(v), d->difference) != 0) {
        v = difference_view(d->walk_states, d->difference);
        pane_show(p, v);
    }
    p->plain = false;
    cell_clear(&p->title);
    cell_escape(&p->title, STYLE_PATH, d->difference, strlen(d->difference));
    cell_add(&p->title, STYLE_PLAIN, ": without a crash, and in this state");
    if (difference_view_width(v, width(d, p)))
        pane_columns(p);
}

/* The object that a store writes, else that which is selected; the field in question is selected
 * there. True when there is one. */
static bool show_object(struct debugger *d, struct pane *p, const struct subject *of)
{
    struct subject object;
    struct view *v = p->view;

    if (!of->kind || !debugger_lead(d, of, SUBJECT_OBJECT, &object))
        return false;
    if (!view_is(v, VIEW_OBJECT) || object_view_number(v) != object.number) {
        v = object_view(d->findings.analysis, d->findings.objects, (uint32_t)object.number, d->walk,
                        d->walk_states);
        pane_show(p, v);
    } else {
        pane_again(p);
    }
    p->plain = p->unmarked = false;
    cell_clear(&p->title);
    object_view_title(v, &p->title);
    uint64_t row = v->ops->find(v, of);
    if (row)
        pane_select(p, row);
    return true;
}

static void choose_file(struct debugger *d, struct pane *states)
{
    if (!view_is(states->view, VIEW_STATE))
        return;
    const char *path = state_view_path(states->view, states->selected);
    if (path && (!d->difference || strcmp(path, d->difference) != 0)) {
        free(d->difference);
        d->difference = xstrdup(path);
    }
}

static void title_schedule(struct debugger *d)
{
    struct pane *p = desk_main(debugger_desk(d));
    struct error e;

    cell_clear(&p->title);
    cell_add(&p->title, STYLE_PLAIN, "Schedule of %s %s ", d->walking ? d->walking : "the run",
             glyph(GLYPH_DOT));
    schedule_crash_words(&p->title, d->findings.analysis, d->walk, &e);
    cell_add(&p->title, STYLE_PLAIN, " %s ", glyph(GLYPH_DOT));
    schedule_count_words(&p->title, d->walk);
}

void follow_walk(struct debugger *d)
{
    struct subject s;
    struct pane *states = companion(d, 2);

    main_subject(d, &s);
    if (!d->loaded)
        return;
    title_schedule(d);
    show_source(d, companion(d, 1), &s);
    if (!states->view) {
        show(d, states, "Files", state_view(d->walk_states, d->findings.analysis, d->walk), NULL);
        states->empty = "no files";
    }
    choose_file(d, states);
    if (s.kind != SUBJECT_OP || !show_object(d, companion(d, 3), &s))
        show_difference(d, companion(d, 3));
}

/* The fields of an object, and beside them the bytes of its file. */
void follow_object(struct debugger *d)
{
    struct subject s, file;
    struct file_info info;

    if (!d->loaded)
        return;
    if (!main_subject(d, &s) || !show_object(d, companion(d, 1), &s)) {
        show(d, companion(d, 1), "Fields", NULL, NULL);
        show(d, companion(d, 2), "Difference", NULL, NULL);
        return;
    }
    if (debugger_lead(d, &s, SUBJECT_FILE, &file) &&
        session_file(d->session, (uint32_t)file.number, &info)) {
        free(d->difference);
        d->difference = xstrdup(info.path);
    }
    show_difference(d, companion(d, 2));
}

void follow_file(struct debugger *d)
{
    if (!d->loaded)
        return;
    choose_file(d, desk_main(debugger_desk(d)));
    show_difference(d, companion(d, 1));
}

/* All of a row, in as many lines as that takes. */
void follow_row(struct debugger *d)
{
    struct pane *p = desk_main(debugger_desk(d));
    struct lines *l = lines_new("row");
    struct row row = {0};
    struct error e;

    if (p->view && p->selected && p->view->ops->draw(p->view, p->selected, &row, &e)) {
        for (size_t i = 0; i < p->columns.n; i++) {
            if (row.cells[i].text.n)
                lines_fold(l, p->columns.at[i].title, STYLE_PLAIN, row.cells[i].text.at,
                           lines_room(width(d, companion(d, 1))), (struct subject){0});
        }
    }
    row_free(&row);
    show(d, companion(d, 1), "In full", lines_view(l), NULL);
}

/* Why two behaviours are, or are not, in one group, in prose: the view's last details. */
void follow_why(struct debugger *d)
{
    struct view *v = desk_main(debugger_desk(d))->view;
    struct lines *l = lines_new("verdict");
    bool more = v && v->ops->count(v) > 0;
    struct error e;

    for (size_t n = 0; more; n++) {
        struct cell c = {0};
        if (v->ops->detail(v, v->ops->count(v), n, &c, &more, &e) && more)
            cell_copy(lines_add(l, "", (struct subject){0}), &c);
        else
            more = false;
        cell_free(&c);
    }
    show(d, companion(d, 1), "In words", lines_view(l), NULL);
}

void follow_line(struct debugger *d)
{
    struct subject line;
    struct error e;

    if (!main_subject(d, &line))
        show(d, companion(d, 1), "Ops on the line", NULL, NULL);
    else
        show(d, companion(d, 1), "What it has to do with", links_of(d, &line, &e), &e);
}

/* ---- links ---- */

struct view *links_of(struct debugger *d, const struct subject *s, struct error *e)
{
    return debugger_need_analysis(d, e) ? links_view(d->links, &d->findings, s, e) : NULL;
}
