/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam trace: the recorded events, for people or as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/session.h"
#include "engine/symbols.h"
#include "tui/commands.h"
#include "tui/options.h"
#include "tui/print.h"
#include "views/trace.h"
#include "views/trace_json.h"

enum {
    OPTION_JSON = OPTION_LONG,
    OPTION_PATH,
    OPTION_CALL,
    OPTION_FUNCTION,
    OPTION_THREAD,
    OPTION_EVENTS,
    OPTION_STACKS,
};

static const struct command_option options[] = {
    {OPTION_JSON, "json", NULL, "print an array of objects instead of a table"},
    {OPTION_PATH, "path", "GLOB", "only events on files whose path or name matches"},
    {OPTION_CALL, "call", "NAMES", "only these calls: families (write) or system calls (pwrite64)"},
    {OPTION_FUNCTION, "function", "GLOB", "only events with a matching function in their stack"},
    {OPTION_THREAD, "thread", "N", "only events of this thread, by its number in the trace"},
    {OPTION_EVENTS, "events", "A..B", "only events from A to B; either may be left out"},
    {OPTION_STACKS, "stacks", NULL, "show the whole stack below each event"},
    {0, NULL, NULL, NULL},
};

struct wishes {
    struct trace_filter filter;
    bool json, stacks;
};

static bool read_options(struct options *o, struct wishes *w)
{
    struct error e;
    uint64_t thread = 0;

    while (options_next(o)) {
        switch (o->id) {
        case OPTION_JSON:
            w->json = true;
            break;
        case OPTION_STACKS:
            w->stacks = true;
            break;
        case OPTION_PATH:
            w->filter.path = o->value;
            break;
        case OPTION_FUNCTION:
            w->filter.function = o->value;
            break;
        case OPTION_CALL:
            if (!trace_filter_calls(&w->filter, o->value, &e))
                options_wrong(o, "%s", e.text);
            break;
        case OPTION_THREAD:
            if (options_number(o, 1, UINT32_MAX, &thread))
                w->filter.thread = (uint32_t)thread;
            break;
        case OPTION_EVENTS:
            if (!trace_filter_range(&w->filter, o->value, &e))
                options_wrong(o, "%s", e.text);
            break;
        }
    }
    return !o->ended && options_count(o, 0, 1);
}

/* --- What a reader of the trace must know -------------------------------------------------- */

static void tell_notice(void *data, const char *kind, const char *what, uint64_t count)
{
    (void)data;
    if (count > 1)
        message("%s: %s (%" PRIu64 " times)", kind, what, count);
    else
        message("%s: %s", kind, what);
}

static void tell_problem(void *data, const char *path, const char *why)
{
    (void)data;
    message("no names from %s: %s", path, why);
}

static bool tell_notices(struct session *s, struct symbols *sy, struct error *e)
{
    if (!session_notices(s, tell_notice, NULL, e))
        return false;
    symbols_problems(sy, tell_problem, NULL);
    if (symbols_sourceless(sy))
        message("none of these stacks has source lines; build the program with -g to see them");
    if (!session_meta(s, "complete"))
        message("the recording was cut short: what came after event %" PRIu64 " is not known",
                session_event_count(s));
    return true;
}

/* --- Printing ------------------------------------------------------------------------------ */

static bool print_text(struct view *v, const struct wishes *w, uint64_t *rows, struct error *e)
{
    struct print p;

    if (!print_begin(&p, stdout, e))
        return false;
    p.details = w->stacks;
    bool ok = print_view(&p, v, e);
    *rows = p.rows;
    fflush(stdout); /* before the notices, where both go to one terminal */
    return ok;
}

static bool print_json(struct view *v, struct trace_json *t, uint64_t *rows, struct error *e)
{
    struct buf line = {0};
    bool ok = true;

    putchar('[');
    for (uint64_t at = 1; ok && !ferror(stdout); at++) {
        ok = v->ops->seek(v, &at, 1, e);
        if (!ok || !at)
            break;
        buf_clear(&line);
        buf_text(&line, (*rows)++ ? ",\n" : "\n");
        ok = trace_json_event(t, at, &line, e);
        if (ok)
            fwrite(line.at, 1, line.n, stdout);
    }
    fputs("\n]\n", stdout);
    buf_free(&line);
    return ok;
}

static bool show(struct session *s, struct wishes *w, struct error *e)
{
    struct symbols *sy = symbols_open(s);
    struct fields *fields;
    uint64_t rows = 0;
    bool ok;

    if (!fields_open(&fields, s, sy, NULL, e)) {
        symbols_close(sy);
        return false;
    }
    struct view *v = trace_view(s, sy, fields, &w->filter);
    if (w->json) {
        struct trace_json *t = trace_json_open(s, sy, fields);
        ok = print_json(v, t, &rows, e);
        trace_json_close(t);
    } else {
        ok = print_text(v, w, &rows, e);
    }
    if (ok && rows == 0)
        message(session_event_count(s) ? "no event of %" PRIu64 " passes the filters"
                                       : "the trace has %" PRIu64 " events",
                session_event_count(s));
    if (ok)
        ok = tell_notices(s, sy, e);
    v->ops->close(v);
    fields_close(fields);
    symbols_close(sy);
    return ok;
}

static int run_trace(int argc, char **argv)
{
    struct options o;
    struct wishes w = {0};
    struct session *s = NULL;
    struct error e;
    int status = STATUS_DONE;

    options_begin(&o, &command_trace, argc, argv);
    if (!read_options(&o, &w)) {
        trace_filter_free(&w.filter);
        return o.status;
    }
    char *path = command_session(o.argc ? o.argv[0] : NULL, &e);
    if (!path || !session_open(&s, path, &e) || !show(s, &w, &e))
        status = command_failed(&e);
    session_close(s);
    trace_filter_free(&w.filter);
    free(path);
    return status;
}

const struct command command_trace = {
    .name = "trace",
    .run = run_trace,
    .takes = TAKES_SESSION,
    .usage = "[S] [--json] [--path GLOB] [--call NAMES] [--function GLOB] [--thread N] "
             "[--events A..B] [--stacks]",
    .summary = "show the recorded events",
    .details =
        "Each line is an event: its number, its thread, the system call, what it did and to which\n"
        "file, what it returned, and the innermost function with source that led to it. A write\n"
        "is shown as OFFSET+SIZE, a store by the field that it wrote where debug info tells "
        "which,\n"
        "and a flush by its cache line. What was not recorded is told at the end, on standard "
        "error.\n"
        "FLOTSAM_THEME chooses the colours: dark, light, high-contrast or monochrome.",
    .options = options,
};
