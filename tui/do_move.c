/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that move the selection and the focus.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/source.h"
#include "tui/debugger.h"
#include "tui/words.h"

/* In the picture of a graph keys go from node to node. */
static bool in_picture(struct debugger *d)
{
    return d->desk == DESK_graph && debugger_desk(d)->focus == 0;
}

static void move_node(struct debugger *d, enum picture_direction to)
{
    size_t from = graph_picture_selected(d->picture);

    graph_picture_select(d->picture, graph_picture_neighbour(d->picture, from, to));
}

static bool move(struct debugger *d, const char *words, int direction, struct error *e)
{
    uint64_t n;

    if (!words_number(words, 1, "a number of rows", &n, e))
        return false;
    if (n > INT32_MAX)
        n = INT32_MAX;
    if (in_picture(d)) {
        for (uint64_t i = 0; i < n && i < PICTURE_NODES_MAX; i++)
            move_node(d, direction < 0 ? PICTURE_UP : PICTURE_DOWN);
        return true;
    }
    pane_move(desk_pane(debugger_desk(d)), direction * (int64_t)n);
    return true;
}

bool do_up(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)after;
    return move(d, words, -1, e);
}

bool do_down(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)after;
    return move(d, words, 1, e);
}

bool do_page_up(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after, (void)e;
    pane_page(desk_pane(debugger_desk(d)), -1);
    return true;
}

bool do_page_down(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after, (void)e;
    pane_page(desk_pane(debugger_desk(d)), 1);
    return true;
}

bool do_top(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after, (void)e;
    pane_end(desk_pane(debugger_desk(d)), -1);
    return true;
}

bool do_bottom(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after, (void)e;
    pane_end(desk_pane(debugger_desk(d)), 1);
    return true;
}

bool do_left(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after, (void)e;
    if (in_picture(d))
        move_node(d, PICTURE_LEFT);
    else
        pane_shift(desk_pane(debugger_desk(d)), -1);
    return true;
}

bool do_right(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after, (void)e;
    if (in_picture(d))
        move_node(d, PICTURE_RIGHT);
    else
        pane_shift(desk_pane(debugger_desk(d)), 1);
    return true;
}

bool do_focus(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after, (void)e;
    desk_focus(debugger_desk(d), 1);
    return true;
}

bool do_focus_back(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after, (void)e;
    desk_focus(debugger_desk(d), -1);
    return true;
}

bool do_zoom(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after, (void)e;
    debugger_desk(d)->zoomed = !debugger_desk(d)->zoomed;
    return true;
}

bool do_back(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)e;
    if (!debugger_back(d))
        *after = AFTER_LEAVE;
    return true;
}

bool do_forward(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)words, (void)after;
    return debugger_forward(d) || error_set(e, "there is nothing further on: you did not go back");
}

/* ---- to something ---- */

/* Where a subject is at home. */
static bool go_home(struct debugger *d, const struct subject *s, struct error *e)
{
    static const enum desk_id homes[] = {
        [SUBJECT_EVENT] = DESK_trace,
        [SUBJECT_OP] = DESK_ops,
        [SUBJECT_BEHAVIOUR] = DESK_behaviours,
        [SUBJECT_GROUP] = DESK_groups,
        [SUBJECT_BUG] = DESK_bugs,
        [SUBJECT_STATE] = DESK_states,
        [SUBJECT_FILE] = DESK_ops,
        [SUBJECT_LINE] = DESK_source,
        [SUBJECT_OBJECT] = DESK_objects,
    };

    debugger_go(d, homes[s->kind], s);
    struct pane *p = desk_main(debugger_desk(d));
    const struct subject *there = &d->about[d->desk]; /* `s` may be the view's that was here */
    if (there->kind == SUBJECT_FILE || !p->view || p->view->ops->find(p->view, there))
        return true;
    const char *name = subject_kind_name(there->kind);
    return name ? error_set(e, "there is no %s %" PRIu64, name, there->number)
                : error_set(e, "there is no such line");
}

bool do_open(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct desk *desk = debugger_desk(d);
    struct subject s;

    (void)words, (void)after;
    if (desk->focus == 0 && desk->kind->enter)
        return desk->kind->enter(d, e);
    return debugger_subject(d, &s, e) && go_home(d, &s, e);
}

/* FILE:LINE, by the end of the path. */
static bool go_line(struct debugger *d, const char *words, bool *went, struct error *e)
{
    const char *colon = strrchr(words, ':');
    uint64_t line;

    *went = false;
    if (!colon || !words_number(colon + 1, 0, "a line", &line, NULL) || !line)
        return true;
    char *end = xstrndup(words, (size_t)(colon - words));
    char *path = source_find(d->session, end);
    free(end);
    if (!path)
        return true;
    struct subject s = {.kind = SUBJECT_LINE, .number = line, .path = path};
    *went = true;
    bool ok = go_home(d, &s, e);
    free(path);
    return ok;
}

bool do_go(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct subject s;
    bool went;

    (void)after;
    if (!*words)
        return debugger_ask(d, PROMPT_COMMAND, "go ", REQUEST_go, e);
    if (words_subject(words, SUBJECT_EVENT, &s))
        return go_home(d, &s, e);
    if (!go_line(d, words, &went, e) || went)
        return went;
    /* A function, a path: the first event that names it. */
    debugger_go(d, DESK_trace, NULL);
    struct pane *p = desk_main(debugger_desk(d));
    pane_end(p, 1); /* round the end: from the first row on */
    return pane_search(p, words, 1, e);
}
