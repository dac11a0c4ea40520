/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * listing: what the commands have in common that work a session's trace out and print a view of it:
 * which session, which model, text or JSON.
 */
#ifndef TUI_LISTING_H
#define TUI_LISTING_H

#include <jansson.h>

#include "engine/findings.h"
#include "tui/commands.h"
#include "tui/options.h"
#include "views/trace_filter.h"
#include "views/view.h"

/* Under which models: options that several commands have. */
struct listing_model {
    const char *posix, *stores; /* NULL: those of the last check */
};

#define LISTING_MODEL_OPTIONS(model, stores)                                                       \
    {model, "model", "NAME",                                                                       \
     "ext4, xfs, btrfs, posix, ext4-paper or strict (default: that of the last check)"},           \
    {                                                                                              \
        stores, "stores", "auto|px86|eadr|pagecache",                                              \
            "what becomes of stores to mapped files (default: as in the last check)"               \
    }

/* As findings_open(); given NULL: the newest session. */
bool listing_open(struct findings *f, const char *given, const struct listing_model *model,
                  struct error *e);

typedef json_t *listing_json_fn(struct view *v, uint64_t row, struct error *e);

/* Prints all rows as a table, details below each row when wished for; and says it when there is
 * nothing to list. */
bool listing_text(struct view *v, bool details, const char *nothing, struct error *e);

/* The same as a JSON array, an object a line, in printable ASCII. */
bool listing_json(struct view *v, listing_json_fn *object, struct error *e);

#endif
