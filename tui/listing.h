/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * listing: what the commands have in common that work a session's trace out and print a view of it:
 * which session, which model, text or JSON.
 */
#ifndef TUI_LISTING_H
#define TUI_LISTING_H

#include <jansson.h>

#include "engine/analysis.h"
#include "engine/group.h"
#include "tui/commands.h"
#include "tui/options.h"
#include "views/trace_filter.h"
#include "views/view.h"

/* A session with everything that can be worked out without running a checker. */
struct findings {
    struct session *session;
    struct analysis *analysis;
    struct environments *environments; /* NULL until groups are asked for */
    struct groups *groups;             /* likewise */
};

/* path NULL: the newest session. model NULL: that of the last check, else of the target's config,
 * else ext4. */
bool findings_open(struct findings *f, const char *path, const char *model, struct error *e);
bool findings_group(struct findings *f, struct error *e);
void findings_close(struct findings *f);

/* Fails with the way out when the session has not been checked, or not so that its states were
 * kept. */
bool findings_need_check(struct findings *f, struct error *e);

typedef json_t *listing_json_fn(struct view *v, uint64_t row, struct error *e);

/* Prints all rows as a table, details below each row when wished for. */
bool listing_text(struct view *v, bool details, struct error *e);

/* The same as a JSON array, an object a line, in printable ASCII. */
bool listing_json(struct view *v, listing_json_fn *object, struct error *e);

#endif
