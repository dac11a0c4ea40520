/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam lint: performance findings of a trace, for people or as JSON.
 */
#include <stdlib.h>

#include "engine/lint.h"
#include "tui/commands.h"
#include "tui/listing.h"
#include "tui/options.h"
#include "views/lint.h"

enum { OPTION_JSON = OPTION_LONG, OPTION_STORES, OPTION_STACKS };

static const struct command_option options[] = {
    {OPTION_JSON, "json", NULL, "print an array of objects instead of a table"},
    {OPTION_STORES, "stores", "auto|px86|eadr|pagecache",
     "what makes stores durable (default: as the config said, else auto)"},
    {OPTION_STACKS, "stacks", NULL, "one finding a stack instead of a line, and show the stacks"},
    {0, NULL, NULL, NULL},
};

struct wishes {
    const char *stores;
    bool json, stacks;
};

static bool read_options(struct options *o, struct wishes *w)
{
    while (options_next(o)) {
        switch (o->id) {
        case OPTION_JSON:
            w->json = true;
            break;
        case OPTION_STORES:
            w->stores = o->value;
            break;
        case OPTION_STACKS:
            w->stacks = true;
            break;
        }
    }
    return !o->ended && options_count(o, 0, 1);
}

static bool show(struct session *s, const struct wishes *w, struct error *e)
{
    struct symbols *sy = symbols_open(s);
    struct fields *fields = NULL;
    struct lint lint = {0};
    struct lint_options how = {.by_stack = w->stacks};
    bool ok =
        (w->stores ? lint_stores_find(w->stores, &how.stores, e) : lint_options_of(s, &how, e)) &&
        lint_session(&lint, s, sy, &how, e) && fields_open(&fields, s, sy, NULL, e);

    if (ok) {
        struct view *v = lint_view(s, sy, fields, &lint);
        ok = w->json
                 ? listing_json(v, lint_view_json, e)
                 : listing_text(
                       v, w->stacks,
                       "no sync, flush or fence is wasted, and no store is left without one", e);
        v->ops->close(v);
    }
    if (ok && session_has_stores(s))
        message("%s", lint_assumption(&lint));
    if (ok && !session_has_stores(s))
        message("stores to mapped files are not in this trace, only system calls; whether those "
                "lack a sync is for a check to say");
    lint_free(&lint);
    fields_close(fields);
    symbols_close(sy);
    return ok;
}

static int run_lint(int argc, char **argv)
{
    struct options o;
    struct wishes w = {0};
    struct session *s = NULL;
    struct error e;

    options_begin(&o, &command_lint, argc, argv);
    if (!read_options(&o, &w))
        return o.status;
    char *path = command_session(o.argc ? o.argv[0] : NULL, &e);
    bool ok = path && session_open(&s, path, &e) && show(s, &w, &e);
    session_close(s);
    free(path);
    return ok ? STATUS_DONE : command_failed(&e);
}

const struct command command_lint = {
    .name = "lint",
    .run = run_lint,
    .takes = TAKES_SESSION,
    .usage = "[S] [--json] [--stores NAME] [--stacks]",
    .summary = "show work for durability that is wasted, or missing",
    .details =
        "From the trace alone, without a checker: flushes of cache lines that are clean or being\n"
        "flushed already, fences with nothing to order, syncs with nothing to make durable, "
        "stores\n"
        "that are never made durable, ranges added again to a transaction. Each line is a kind of\n"
        "finding at a source line: how often, and the first event that shows it.\n\n"
        "What a flush means depends on where the mapped file lies. auto takes a program that\n"
        "flushes lines, or maps with MAP_SYNC, to have persistent memory (px86), any other an\n"
        "ordinary file (pagecache), where flushes and fences do nothing. What was assumed is told\n"
        "on standard error.",
    .options = options,
};
