/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * desk: the panes that are shown together. The first is the main one, a list or a picture; the
 * others follow its selection. Where the screen is too small for all of them only some are in
 * sight, and focus brings the others forth.
 *
 * What a desk shows is said by its kind, in one table (tui/desks.c); adding one is a line there.
 */
#ifndef TUI_DESK_H
#define TUI_DESK_H

#include "tui/pane.h"
#include "tui/requests.h"

/* Named for the requests that lead there. */
#define DESKS(X)                                                                                   \
    X(overview)                                                                                    \
    X(bugs)                                                                                        \
    X(trace)                                                                                       \
    X(ops)                                                                                         \
    X(graph)                                                                                       \
    X(behaviours)                                                                                  \
    X(groups)                                                                                      \
    X(states)                                                                                      \
    X(schedule)                                                                                    \
    X(state)                                                                                       \
    X(objects)                                                                                     \
    X(source)                                                                                      \
    X(output)                                                                                      \
    X(fixes)                                                                                       \
    X(bookmarks)                                                                                   \
    X(lint)                                                                                        \
    X(links)                                                                                       \
    X(why)                                                                                         \
    X(rules)                                                                                       \
    X(change)                                                                                      \
    X(help)

enum desk_id {
#define X(id) DESK_##id,
    DESKS(X)
#undef X
        DESK_COUNT
};

enum { DESK_PANES = 4, DESK_BUTTONS = 11 };

/* What must be there before a desk can show anything. */
enum desk_needs { NEEDS_NOTHING, NEEDS_ANALYSIS, NEEDS_CHECK };

struct desk_kind {
    const char *title; /* of the main pane */
    enum desk_needs needs;
    int companions;    /* panes besides the main one, at the most */
    int first;         /* which of them is in sight where there is room for one, from 1 */
    int below;         /* lines that suffice for what lies below the main pane; 0: a share */
    const char *empty; /* what is said when the main pane has no rows */
    enum request buttons[DESK_BUTTONS]; /* named in the line of keys; 0 ends them: up is never */

    /* The main pane's view; NULL with the reason. */
    struct view *(*open)(struct debugger *d, struct error *e);
    /* Gives the companions what belongs to the selection. */
    void (*follow)(struct debugger *d);
    /* Enter. */
    bool (*enter)(struct debugger *d, struct error *e);
};

struct desk {
    const struct desk_kind *kind;
    struct pane panes[DESK_PANES];
    int companions; /* those that have something to show, from the first on */
    int focus;      /* the pane that keys go to */
    int shown;      /* the companion in sight where there is room for one */
    bool zoomed;    /* only the pane in focus */
    bool stale;     /* the main view must be opened anew */
    bool following; /* the companions show what belongs to `followed` */
    bool same_row;  /* they did so before: what is selected in them stays */
    int wants;      /* lines that the main pane can use, from when its rows were known last */
    uint64_t followed_row, followed_version;
};

const struct desk_kind *desk_kind(enum desk_id id);

void desk_init(struct desk *d, const struct desk_kind *kind);
void desk_free(struct desk *d);

static inline struct pane *desk_main(struct desk *d)
{
    return &d->panes[0];
}

static inline struct pane *desk_pane(struct desk *d)
{
    return &d->panes[d->focus];
}

/* The next pane, or the one before. */
void desk_focus(struct desk *d, int step);

/* Gives each pane its area, an empty one where there is no room. True when a width changed: views
 * that are folded to it must be opened anew. */
bool desk_lay_out(struct desk *d, struct area area);

/* Draws the panes where they were laid out. */
void desk_draw(struct desk *d, struct screen *s);

/* The pane at a place of the screen, −1 when there is none. */
int desk_pane_at(const struct desk *d, int column, int row);

#endif
