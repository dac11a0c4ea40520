/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * findings: an open session with everything that is worked out from it, for those who look at it:
 * the listings and the debugger. Of a long trace that takes seconds; who cannot wait has it done in
 * the background:
 *
 *     struct loading *l = findings_start(path, &options);
 *     … poll loading_fd(l) for POLLIN, or look at loading_done(l) now and then …
 *     if (!findings_finish(l, &findings, &e)) …
 */
#ifndef ENGINE_FINDINGS_H
#define ENGINE_FINDINGS_H

#include <jansson.h>

#include "engine/analysis.h"
#include "engine/fix.h"
#include "engine/group.h"
#include "engine/lint.h"
#include "engine/stored_objects.h"

/* A session with everything that can be worked out without running a checker. */
struct findings {
    struct session *session;
    struct analysis *analysis;
    struct environments *environments; /* NULL until groups are asked for */
    struct groups *groups;             /* likewise */
    struct stored_objects *objects;    /* that stores changed; likewise */
    struct lint lint;                  /* empty unless it was asked for */
    json_t *report;                    /* of the last check, with triage; NULL: there was none */
    struct fix_list fixes;             /* the session's syncs that are pretended */
};

struct findings_options {
    const char *model;  /* as for findings_open; copied */
    const char *stores; /* the model for stores, whatever the other says; NULL: as it says */
    bool pretend;       /* the analysis has the session's fixes */
    bool group;         /* groups are formed, too */
    bool lint;          /* and performance findings are looked for */
};

/* model NULL: that of the last check, else of the target's config, else ext4. After a failure too
 * findings_close() frees what there is. Nothing is pretended in the analysis. */
bool findings_open(struct findings *f, const char *path, const char *model, struct error *e);
/* The same as these options say. */
bool findings_open_as(struct findings *f, const char *path, const struct findings_options *options,
                      struct error *e);
bool findings_group(struct findings *f, struct error *e);
void findings_close(struct findings *f);

/* Reads the report, what people said of its bugs, and the list of pretended syncs again. The
 * analysis stays as it is. */
bool findings_reload(struct findings *f, struct error *e);

/* Fails with the way out when the session has not been checked, or not so that its states were
 * kept. */
bool findings_need_check(struct findings *f, struct error *e);

/* ---- in the background ---- */

struct loading;

/* In a thread of its own, with the session opened anew. */
struct loading *findings_start(const char *path, const struct findings_options *options);

/* Becomes readable when it is done. */
int loading_fd(const struct loading *l);
bool loading_done(const struct loading *l);

/* What came of it, the caller's from then on, and for whichever thread the caller is in; *out is to
 * be closed also when it failed. Waits when it is not done. Frees the loading. */
bool findings_finish(struct loading *l, struct findings *out, struct error *e);

/* Nobody wants it any more: it ends soon, by itself, and the caller does not wait. Frees it. */
void findings_cancel(struct loading *l);

#endif
