/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Going from desk to desk, and back.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "tui/debugger.h"
#include "views/lines.h"

enum { HISTORY_MAX = 500 };

static struct place here(struct debugger *d)
{
    return (struct place){.desk = d->desk,
                          .row = desk_main(debugger_desk(d))->selected,
                          .about = d->about[d->desk],
                          .other = d->other[d->desk]};
}

void debugger_open(struct debugger *d)
{
    struct desk *desk = debugger_desk(d);
    struct error e;
    struct view *v = NULL;

    if (!desk->stale)
        return;
    desk->stale = false;
    desk->following = false;
    bool can = desk->kind->needs == NEEDS_NOTHING    ? true
               : desk->kind->needs == NEEDS_ANALYSIS ? debugger_need_analysis(d, &e)
                                                     : debugger_need_check(d, &e);
    if (can)
        v = desk->kind->open(d, &e);
    desk_main(desk)->plain = !v;
    if (!v) {
        char *safe = escape_text(e.text);
        struct lines *l = lines_new(desk->kind->title);
        lines_fold(l, "", STYLE_DIM, safe, lines_room(d->screen.columns), (struct subject){0});
        v = lines_view(l);
        free(safe);
    }
    pane_replace(desk_main(desk), v);
}

struct subject debugger_keep(struct debugger *d, const struct subject *s)
{
    struct subject kept = *s;

    if (s->path) {
        uint64_t *path = map_put(&d->paths, s->path, strlen(s->path), NULL);
        if (!*path)
            *path = (uint64_t)(uintptr_t)xstrdup(s->path);
        kept.path = (const char *)(uintptr_t)*path;
    }
    return kept;
}

void debugger_go(struct debugger *d, enum desk_id desk, const struct subject *about)
{
    if (d->history_at < d->history.n)
        d->history.n = d->history_at;
    if (d->history.n == HISTORY_MAX) {
        memmove(d->history.at, d->history.at + 1, (HISTORY_MAX - 1) * sizeof *d->history.at);
        d->history.n--;
    }
    vec_push(&d->history, here(d));
    d->history_at = d->history.n;
    d->desk = desk;
    if (about) {
        d->about[desk] = debugger_keep(d, about);
        debugger_desk(d)->stale = true;
    }
    debugger_desk(d)->focus = 0;
    debugger_open(d);
    struct pane *p = desk_main(debugger_desk(d));
    /* By our own copy: the path may have been the view's that was open here. */
    uint64_t row = about && p->view ? p->view->ops->find(p->view, &d->about[desk]) : 0;
    if (row) {
        pane_filter(p, NULL, NULL);
        pane_select(p, row);
    }
}

/* Paths that are kept are one string each. */
static bool same_subject(const struct subject *a, const struct subject *b)
{
    return a->kind == b->kind && a->number == b->number && a->path == b->path;
}

static void go_to(struct debugger *d, const struct place *to)
{
    d->desk = to->desk;
    if (!same_subject(&d->about[to->desk], &to->about) ||
        d->other[to->desk] != to->other) {
        debugger_desk(d)->stale = true;
        if (to->desk == DESK_graph) /* the picture is of something else */
            graph_picture_forget(d->picture);
    }
    d->about[to->desk] = to->about;
    d->other[to->desk] = to->other;
    debugger_open(d);
    pane_select(desk_main(debugger_desk(d)), to->row);
}

bool debugger_back(struct debugger *d)
{
    if (!d->history_at)
        return false;
    struct place now = here(d);
    if (d->history_at == d->history.n) {
        vec_push(&d->history, now);
        d->history_at = d->history.n - 1;
    } else
        d->history.at[d->history_at] = now;
    go_to(d, &d->history.at[--d->history_at]);
    return true;
}

bool debugger_forward(struct debugger *d)
{
    if (d->history_at + 1 >= d->history.n)
        return false;
    d->history.at[d->history_at++] = here(d);
    go_to(d, &d->history.at[d->history_at]);
    return true;
}
