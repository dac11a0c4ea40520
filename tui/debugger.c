/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The debugger's life: opening, working in slices, taking what others worked out.
 */
#include "tui/debugger.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/escape.h"
#include "engine/graph_session.h"
#include "engine/mem.h"
#include "engine/report.h"
#include "engine/triage.h"
#include "tui/task.h"

/* A view that takes longer to be written goes on in slices. */
#define DUMP_AT_ONCE (5 * NANOSECONDS_PER_MS)

/* ---- messages ---- */

static void set_message(struct debugger *d, char *text, bool is_error)
{
    free(d->message);
    d->message = text;
    d->is_error = is_error;
}

void debugger_say(struct debugger *d, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n >= 0)
        set_message(d, text, false);
}

void debugger_complain(struct debugger *d, const char *text)
{
    set_message(d, xstrdup(text), true);
}

void debugger_fail(struct debugger *d, const char *text)
{
    debugger_complain(d, text);
    if (!d->failure)
        d->failure = xstrdup(text);
}

bool debugger_went_well(struct debugger *d, struct error *e)
{
    if (!d->failure)
        return true;
    error_set(e, "%s", d->failure);
    free(d->failure);
    d->failure = NULL;
    return false;
}

/* ---- opening and closing ---- */

static char *history_file(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (state && state[0] == '/')
        return xasprintf("%s/flotsam/history", state);
    return home ? xasprintf("%s/.local/state/flotsam/history", home) : NULL;
}

static void begin_loading(struct debugger *d)
{
    struct findings_options options = {
        .model = d->model, .pretend = d->pretending, .group = true, .lint = true};

    free(d->failed);
    d->failed = NULL;
    d->loading = findings_start(d->path, &options);
}

bool debugger_new(struct debugger **out, const char *path, const char *theme, int columns, int rows,
                  struct error *e)
{
    struct debugger *d = xcalloc(1, sizeof *d);

    d->path = xstrdup(path);
    d->theme_name = xstrdup(theme);
    d->version = 1;
    d->picture_op = NO_OP;
    for (int i = 0; i < DESK_COUNT; i++)
        desk_init(&d->desks[i], desk_kind((enum desk_id)i));
    keymap_init(&d->keymap);
    screen_resize(&d->screen, columns, rows);
    if (!theme_load(&d->theme, theme, e) || !session_open(&d->session, path, e) ||
        !(d->picture = graph_picture_new(e))) {
        debugger_free(d);
        return false;
    }
    d->symbols = symbols_open(d->session);
    char *history = history_file();
    d->prompt = prompt_new(d, history);
    free(history);
    /* The report is there before the rest, and tells which desk to begin with. */
    d->findings.report = report_load(d->session, NULL);
    begin_loading(d);
    d->desk =
        json_array_size(json_object_get(d->findings.report, "bugs")) ? DESK_bugs : DESK_overview;
    *out = d;
    return true;
}

/* Everything that belongs to the findings goes with them. */
static void unload(struct debugger *d)
{
    for (int i = 0; i < DESK_COUNT; i++) {
        pane_replace(&d->desks[i].panes[0], NULL); /* the selection stays */
        for (int p = 1; p < DESK_PANES; p++)
            pane_show(&d->desks[i].panes[p], NULL);
        d->desks[i].stale = true;
        d->desks[i].following = false;
    }
    desk_main(&d->desks[DESK_graph])->picture = NULL;
    pane_show(desk_main(&d->desks[DESK_graph]), NULL); /* it was scrolled as a picture is */
    if (d->picture)
        graph_picture_forget(d->picture);
    d->drawing = false;
    walk_states_free(d->walk_states);
    schedule_rows_free(d->schedule_rows);
    walk_free(d->walk);
    links_free(d->links);
    d->walk_states = NULL;
    d->schedule_rows = NULL;
    d->walk = NULL;
    d->links = NULL;
    if (d->loaded) {
        findings_close(&d->findings);
        d->findings = (struct findings){0};
    }
    d->loaded = false;
}

bool debugger_finish(struct debugger *d, struct error *e)
{
    enum { BUSY_WAIT = 10 }; /* ms */
    bool done = false, ok = !d->exporting || export_job_finish(d->exporting, e);

    d->exporting = NULL;
    if (d->dumping)
        ok = dump_work(d->dumping, UINT64_MAX, &done, ok ? e : NULL) && ok;
    dump_end(d->dumping);
    d->dumping = NULL;
    done = false;
    /* The first thing that went wrong is told. */
    while (d->saving && !done && session_copy_work(d->saving, UINT64_MAX, &done, ok ? e : NULL))
        if (!done) /* somebody else writes to it */
            poll(NULL, 0, BUSY_WAIT);
    ok = ok && (!d->saving || done);
    session_copy_end(d->saving);
    d->saving = NULL;
    return ok;
}

void debugger_free(struct debugger *d)
{
    if (!d)
        return;
    if (d->loading)
        findings_cancel(d->loading);
    if (d->worker)
        worker_stop(d->worker);
    if (d->exporting)
        export_job_finish(d->exporting, NULL);
    dump_end(d->dumping);
    if (!d->loaded)
        json_decref(d->findings.report);
    unload(d);
    for (int i = 0; i < DESK_COUNT; i++)
        desk_free(&d->desks[i]);
    graph_picture_free(d->picture); /* a view of it was in a pane */
    prompt_free(d->prompt);
    session_copy_end(d->saving);
    keymap_free(&d->keymap);
    symbols_close(d->symbols);
    session_close(d->session);
    worker_event_clear(&d->progress);
    verdict_clear(&d->verdict);
    json_decref(d->found);
    json_decref(d->tried);
    json_decref(d->shown_bugs);
    bookmarks_free(&d->bookmarks);
    help_texts_free(&d->help);
    screen_free(&d->screen);
    vec_free(&d->history);
    buf_free(&d->output);
    buf_free(&d->clipboard);
    free(d->wants_editor);
    json_decref(d->edited_bug);
    free(d->difference);
    free(d->cause);
    map_free_owned(&d->paths);
    free(d->walking);
    free(d->walking_cause);
    free(d->message);
    free(d->failure);
    free(d->failed);
    free(d->model);
    free(d->checking);
    free(d->theme_name);
    free(d->path);
    free(d);
}

/* ---- what is worked out in the background ---- */

/* What the last try found, while nothing else is pretended than then. */
static void know_try(struct debugger *d)
{
    if (d->tried)
        return;
    d->tried = report_load_try(d->session);
    if (!d->tried || fixes_are(&d->findings.fixes, json_object_get(d->tried, "fixes")))
        return;
    json_decref(d->tried);
    d->tried = NULL;
}

static void take_findings(struct debugger *d)
{
    struct findings fresh;
    struct error e;
    bool ok = findings_finish(d->loading, &fresh, &e);

    d->loading = NULL;
    /* Meanwhile somebody may have set a status, or a check have ended: its report may be older than
     * the one in sight. */
    ok = ok && findings_reload(&fresh, &e);
    if (!ok) {
        findings_close(&fresh);
        d->failed = xstrdup(e.text);
        debugger_fail(d, e.text);
        debugger_stale(d);
        return;
    }
    if (!d->loaded)
        json_decref(d->findings.report);
    d->findings = fresh;
    d->loaded = true;
    know_try(d);
    struct analysis *a = d->findings.analysis;
    d->links = links_new(a);
    links_groups(d->links, d->findings.groups);
    links_objects(d->links, d->findings.objects);
    links_report(d->links, d->findings.report);
    d->schedule_rows = schedule_rows_new(a);
    d->walk = walk_new(a->graph, graph_session_source(a->source), a->actions, a->action_count);
    struct state_source source = state_session_source(a->session);
    d->walk_states = walk_states_new(d->walk, a->graph, &source);
    d->version++;
    debugger_stale(d);
}

/* What was worked out goes, but for the report. */
static void forget_findings(struct debugger *d)
{
    json_t *report = d->findings.report;

    if (d->loaded) /* else unload() leaves it alone */
        json_incref(report);
    if (d->loading)
        findings_cancel(d->loading);
    d->loading = NULL;
    unload(d);
    d->findings.report = report;
    free(d->walking);
    free(d->walking_cause);
    d->walking = d->walking_cause = NULL;
    d->walking_state = d->walking_bug = 0;
    d->verdict_version = 0; /* another walk counts from the beginning */
}

void debugger_reload(struct debugger *d)
{
    forget_findings(d);
    begin_loading(d);
}

bool debugger_move(struct debugger *d, const char *path, struct error *e)
{
    struct session *there;

    if (!session_open(&there, path, e))
        return false;
    worker_stop(d->worker);
    d->worker = NULL;
    forget_findings(d);
    symbols_close(d->symbols);
    session_close(d->session);
    d->session = there;
    d->symbols = symbols_open(there);
    free(d->path);
    d->path = xstrdup(path);
    begin_loading(d);
    debugger_stale(d);
    return true;
}

void debugger_mean_bug(struct debugger *d, const json_t *bug)
{
    uint64_t row = desk_main(&d->desks[DESK_bugs])->selected;
    const char *cause = json_string_value(json_object_get(bug, "cause"));

    if (!cause || (d->cause && row == d->cause_row))
        return;
    free(d->cause);
    d->cause = xstrdup(cause);
    d->cause_row = row;
}

uint64_t debugger_bug_of(const struct debugger *d, const char *cause)
{
    const json_t *bugs = json_object_get(d->findings.report, "bugs"), *bug;
    size_t i;

    json_array_foreach(bugs, i, bug)
    {
        const char *its = json_string_value(json_object_get(bug, "cause"));
        if (its && cause && !strcmp(its, cause))
            return (uint64_t)json_integer_value(json_object_get(bug, "id"));
    }
    return 0;
}

/* Another report may number its bugs anew: the schedule in hand is of the bug that has the same
 * cause now, or of none. */
static void follow_cause(struct debugger *d)
{
    uint64_t number = debugger_bug_of(d, d->walking_cause);

    if (!d->walking_bug || number == d->walking_bug)
        return;
    free(d->walking);
    d->walking_bug = number;
    d->walking =
        number ? xasprintf("bug %" PRIu64, number) : xstrdup("a state of the check before");
}

bool debugger_refresh(struct debugger *d, struct error *e)
{
    if (!d->loaded) {
        json_decref(d->findings.report);
        d->findings.report = report_load(d->session, NULL);
    } else if (!findings_reload(&d->findings, e)) {
        return false;
    } else {
        links_report(d->links, d->findings.report);
        know_try(d);
    }
    follow_cause(d);
    debugger_stale(d);
    return true;
}

void debugger_stale(struct debugger *d)
{
    d->version++;
    for (int i = 0; i < DESK_COUNT; i++)
        d->desks[i].stale = true;
}

size_t debugger_fds(struct debugger *d, struct pollfd *fds)
{
    size_t n = 0;

    if (d->loading)
        fds[n++] = (struct pollfd){.fd = loading_fd(d->loading), .events = POLLIN};
    if (d->worker && !worker_died(d->worker))
        fds[n++] = (struct pollfd){
            .fd = worker_fd(d->worker),
            .events = (short)(POLLIN | (worker_has_unsent(d->worker) ? POLLOUT : 0))};
    fds[n++] = (struct pollfd){.fd = graph_picture_fd(d->picture), .events = POLLIN};
    if (d->exporting)
        fds[n++] = (struct pollfd){.fd = export_job_fd(d->exporting), .events = POLLIN};
    return n;
}

static void select_node(struct debugger *d, uint32_t op)
{
    size_t node = graph_picture_find(d->picture, op);

    if (node == NO_NODE)
        node = graph_picture_neighbour(d->picture, NO_NODE, PICTURE_RIGHT);
    graph_picture_select(d->picture, node);
}

static void take_export(struct debugger *d)
{
    struct error e;

    if (!d->exporting || !export_job_done(d->exporting))
        return;
    char *path = xstrdup(export_job_path(d->exporting));
    if (export_job_finish(d->exporting, &e))
        debugger_say(d, "the graph is in %s", path);
    else
        debugger_fail(d, e.text);
    d->exporting = NULL;
    d->version++; /* there is something to see */
    free(path);
}

void debugger_take(struct debugger *d)
{
    struct error e;

    if (d->loading && loading_done(d->loading))
        take_findings(d);
    task_take(d);
    take_export(d);
    enum picture_state picture = graph_picture_poll(d->picture, &e);
    d->drawing = picture == PICTURE_WAITING;
    switch (picture) {
    case PICTURE_NEW:
        d->version++;
        if (d->picture_op != NO_OP)
            select_node(d, d->picture_op);
        d->picture_op = NO_OP;
        break;
    case PICTURE_FAILED:
        debugger_fail(d, e.text);
        break;
    case PICTURE_READY:
    case PICTURE_WAITING:
        break;
    }
}

/* ---- slices ---- */

static bool settle_panes(struct debugger *d, uint64_t deadline)
{
    bool left = false;
    struct desk *desk = debugger_desk(d);

    for (int i = 0; i <= desk->companions; i++) {
        struct pane *p = &desk->panes[i];
        struct error e;
        bool done, searching = p->search == SEARCH_RUNNING;
        if (!pane_settle(p, deadline, &done, &e)) {
            debugger_fail(d, e.text);
            pane_forget(p);
            continue;
        }
        if (searching && p->search == SEARCH_FAILED) {
            char *safe = escape_text(p->text);
            debugger_say(d, "no row has %s", safe);
            free(safe);
        }
        left |= !done;
    }
    return left;
}

static bool settle_views(struct debugger *d, uint64_t deadline, struct error *e)
{
    bool done, left = false;

    if (!d->loaded)
        return false;
    if (!links_settle(d->links, deadline, &done, e))
        goto failed;
    left |= !done;
    if (!schedule_rows_settle(d->schedule_rows, deadline, &done, e))
        goto failed;
    left |= !done;
    /* States cost: only where they are looked at. */
    if (d->desk == DESK_schedule || d->desk == DESK_state || d->desk == DESK_objects) {
        if (!task_settle_state(d, deadline, &done, e)) {
            debugger_fail(d, e->text);
            return false;
        }
        left |= !done;
    }
    return left;
failed:
    debugger_complain(d, e->text);
    return false;
}

static bool settle_copy(struct debugger *d, uint64_t deadline)
{
    struct error e;
    bool done = false;

    if (!d->saving)
        return false;
    bool ok = session_copy_work(d->saving, deadline, &done, &e);
    if (ok && !done)
        return true;
    if (ok && debugger_move(d, session_copy_path(d->saving), &e))
        debugger_say(d, "the session is %s now, and what is said of it is kept there", d->path);
    else
        debugger_fail(d, e.text);
    session_copy_end(d->saving);
    d->saving = NULL;
    return false;
}

bool debugger_dump(struct debugger *d, const char *path, struct error *e)
{
    bool done = false;

    if (d->dumping)
        return error_set(e, "%s is still being written; a moment", dump_path(d->dumping));
    d->dumping = dump_start(desk_pane(debugger_desk(d)), path, d->interactive, e);
    if (!d->dumping)
        return false;
    /* Most are short, and written before the next key. */
    uint64_t deadline = d->interactive ? clock_now() + DUMP_AT_ONCE : UINT64_MAX;
    bool ok = dump_work(d->dumping, deadline, &done, e);
    if (!ok || done) {
        dump_end(d->dumping);
        d->dumping = NULL;
    }
    return ok;
}

static bool settle_dump(struct debugger *d, uint64_t deadline)
{
    struct error e;
    bool done;

    if (!d->dumping)
        return false;
    bool ok = dump_work(d->dumping, deadline, &done, &e);
    if (ok && !done)
        return true;
    if (ok)
        debugger_say(d, "the view is in %s", dump_path(d->dumping));
    else
        debugger_fail(d, e.text);
    dump_end(d->dumping);
    d->dumping = NULL;
    d->version++; /* there is something to see */
    return false;
}

bool debugger_work(struct debugger *d, uint64_t deadline)
{
    struct error e;
    uint64_t version = d->version;
    bool left = settle_panes(d, deadline);

    left |= settle_copy(d, deadline);
    left |= settle_dump(d, deadline);
    left |= settle_views(d, deadline, &e);
    /* What was finished just now may lead to more. */
    return left || d->version != version;
}

bool debugger_is_idle(const struct debugger *d)
{
    return !d->loading && !d->drawing && !d->exporting && !d->saving && !d->dumping &&
           d->task == TASK_NONE && !(d->worker && worker_has_unsent(d->worker));
}

/* ---- what others ask ---- */

bool debugger_need_analysis(struct debugger *d, struct error *e)
{
    if (d->loaded)
        return true;
    if (d->failed)
        return error_set(e, "%s", d->failed);
    return error_set(e, "the graph is still being worked out; a moment");
}

bool debugger_need_check(struct debugger *d, struct error *e)
{
    if (!debugger_need_analysis(d, e))
        return false;
    return d->findings.report ||
           error_set(e, "the session has not been checked yet: X, or :check, does it");
}

bool debugger_finds(const struct debugger *d)
{
    return (d->task == TASK_CHECK || d->task == TASK_TRY) && d->found;
}

bool debugger_bugs_are_kept(const struct debugger *d, struct error *e)
{
    return d->desk != DESK_bugs || !debugger_finds(d) ||
           error_set(e,
                     "the check still runs, and its bugs have no numbers yet; :stop ends it, and "
                     "keeps them");
}

json_t *debugger_bug(const struct debugger *d, uint64_t number)
{
    json_t *bugs = json_object_get(d->findings.report, "bugs"), *bug;
    size_t i;

    json_array_foreach(bugs, i, bug)
    {
        if ((uint64_t)json_integer_value(json_object_get(bug, "id")) == number)
            return bug;
    }
    return NULL;
}

void debugger_resize(struct debugger *d, int columns, int rows)
{
    screen_resize(&d->screen, columns, rows);
    d->wants_redraw = true;
    d->version++; /* some companions depend on their width */
}
