/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * check: from a session to its bugs, in one call: analysis, exploration, causes, report. What is
 * found is in the session when it returns. A check with pretended syncs is a try: its report is
 * kept apart from that of the last check, and says what became of each of that check's bugs.
 */
#ifndef ENGINE_CHECK_H
#define ENGINE_CHECK_H

#include "engine/report.h"

struct check_options {
    struct model model;
    struct explore_options explore;
    const struct fix *fixes; /* pretended; any make it a try */
    size_t fix_count;
    bool told_given; /* explore.acknowledgements was asked for: the target's does not count */
    bool verify;     /* try the sync that is proposed for each bug, too */
    const struct interrupt *interrupt; /* for what comes before the exploration; NULL: none */
    /* For those who watch, each may be NULL; with explore.data. An inconsistent state, by its
     * number from 1, and a bug as the report has it, as soon as they are known; in the order in
     * which the report has them. */
    void (*inconsistent)(void *data, uint64_t number, const struct explored *state);
    void (*bug)(void *data, const json_t *bug);
};

/* What was not said is as the target's config had it, or as the run was started: the checker and
 * its folder, the data directory, whether verdicts depend on what was told. Fails without a
 * checker. */
bool check_complete(struct check_options *options, struct session *s, struct error *e);

/* A number that the target's config had and the session keeps: "budget", "timeout", "jobs". */
uint64_t check_setting(struct session *s, const char *key, uint64_t otherwise);

/* *report is the document (report.h), the caller's. False when it could not be done; an
 * interruption is no failure, the report says so then ("interrupted": true). When it had seen less
 * by then than the check before, that one's report stays in the session ("kept": false): bugs by
 * their numbers are that one's. */
bool check_run(struct session *s, const struct check_options *options, json_t **report,
               struct error *e);

#endif
