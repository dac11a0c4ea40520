/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * overview: what a session is, how a check that runs now gets on, what was found so far, and what a
 * reader must know: notices of the recording, and what a budget left out.
 */
#ifndef VIEWS_OVERVIEW_H
#define VIEWS_OVERVIEW_H

#include <jansson.h>

#include "engine/analysis.h"
#include "engine/group.h"
#include "views/view.h"

/* A check that runs, in plain numbers. */
struct overview_progress {
    const char *phase; /* what it does at the moment, in a word of ours */
    bool paused;
    uint64_t done, all;    /* states; all 0: not known */
    uint64_t budget;       /* 0: none */
    uint64_t inconsistent; /* of them */
    uint64_t bugs;
    double rate;         /* states a second */
    double seconds;      /* so far */
    double seconds_left; /* below 0: not known */
};

/* What is NULL is not known yet. */
struct overview {
    struct session *session;
    const struct analysis *analysis;
    const struct groups *groups;
    const json_t *report;
    const struct overview_progress *progress; /* NULL: no check runs */
};

/* For a pane of so many columns. Everything is written when it is opened: to be opened again when
 * something changed; the report must outlive it. */
bool overview_view(struct view **out, const struct overview *o, int columns, struct error *e);

/* "12 s", "3 min 20 s", "2 h 5 min". */
void overview_time(struct cell *c, enum style style, double seconds);

#endif
