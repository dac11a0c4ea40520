/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * check: from a session to its bugs, in one call: analysis, exploration, causes, report. What is
 * found is in the session when it returns.
 */
#ifndef ENGINE_CHECK_H
#define ENGINE_CHECK_H

#include "engine/report.h"

struct check_options {
    struct model model;
    struct explore_options explore;
};

/* *report is the document (report.h), the caller's. False when it could not be done; an
 * interruption is no failure, the report says so then ("complete": false). */
bool check_run(struct session *s, const struct check_options *options, json_t **report,
               struct error *e);

#endif
