/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * findings: an open session with everything that is worked out from it, for those who look at it:
 * the listings and the debugger.
 */
#ifndef ENGINE_FINDINGS_H
#define ENGINE_FINDINGS_H

#include "engine/analysis.h"
#include "engine/group.h"

/* A session with everything that can be worked out without running a checker. */
struct findings {
    struct session *session;
    struct analysis *analysis;
    struct environments *environments; /* NULL until groups are asked for */
    struct groups *groups;             /* likewise */
};

/* model NULL: that of the last check, else of the target's config, else ext4. After a failure too
 * findings_close() frees what there is. */
bool findings_open(struct findings *f, const char *path, const char *model, struct error *e);
bool findings_group(struct findings *f, struct error *e);
void findings_close(struct findings *f);

/* Fails with the way out when the session has not been checked, or not so that its states were
 * kept. */
bool findings_need_check(struct findings *f, struct error *e);

#endif
