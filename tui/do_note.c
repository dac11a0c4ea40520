/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that write something down: triage, bookmarks, reports, exports.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/mem.h"
#include "engine/report.h"
#include "engine/session_keep.h"
#include "engine/triage.h"
#include "tui/debugger.h"
#include "tui/dump.h"
#include "tui/words.h"
#include "views/export_job.h"

/* The bug that is meant: selected, led to, or in hand. */
static bool this_bug(struct debugger *d, uint64_t *bug, struct error *e)
{
    struct subject s;

    if (!d->findings.report)
        return error_set(e, "the session has not been checked yet: X does it");
    if (d->desk == DESK_schedule && d->walking_bug)
        *bug = d->walking_bug;
    else if (debugger_find(d, "", SUBJECT_BUG, &s, e))
        *bug = s.number;
    else
        return false;
    /* A check since then may have found fewer. */
    return debugger_bug(d, *bug) || error_set(e, "there is no bug %" PRIu64 " any more", *bug);
}

/* ---- triage ---- */

bool do_status(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    enum triage_status status;
    uint64_t bug, other = 0;

    (void)after;
    if (!this_bug(d, &bug, e) || !session_can_keep(d->session, e))
        return false;
    if (!*words) {
        bool asked = debugger_ask(d, PROMPT_COMMAND, "status ", REQUEST_status, e);
        if (asked) /* what can be said is shown at once */
            prompt_key(d->prompt, '\t');
        return asked;
    }
    char *name = words_next(&words);
    bool ok = triage_status_find(name, &status, e);
    free(name);
    if (ok && status == TRIAGE_DUPLICATE)
        ok = *words ? words_number(words, 0, "a bug's number", &other, e)
                    : error_set(e, "duplicate of which bug? status duplicate N");
    if (!ok ||
        !triage_set(d->session, d->findings.report, (uint32_t)bug, status, (uint32_t)other, e) ||
        !debugger_refresh(d, e))
        return false;
    debugger_say(d, "bug %" PRIu64 " is %s now", bug, triage_status_name(status));
    return true;
}

/* The bug with what has been said of it by now, perhaps by another flotsam: to write it anew is to
 * write over that. */
static bool look_again(struct debugger *d, uint64_t *bug, struct error *e)
{
    const char *cause = json_string_value(json_object_get(debugger_bug(d, *bug), "cause"));
    char *kept = cause ? xstrdup(cause) : NULL;
    bool ok = debugger_refresh(d, e);

    if (ok && kept)
        *bug = debugger_bug_of(d, kept);
    free(kept);
    return ok && (debugger_bug(d, *bug) || error_set(e, "the bug is not there any more"));
}

bool do_note(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    uint64_t bug;

    (void)after;
    /* Before anybody has written a long one. */
    if (!this_bug(d, &bug, e) || !session_can_keep(d->session, e))
        return false;
    if (*words) {
        const char *text = strcmp(words, "-") ? words : "";
        if (!triage_note(d->session, debugger_bug(d, bug), text, e) || !debugger_refresh(d, e))
            return false;
        debugger_say(d, *text ? "noted on bug %" PRIu64 : "no note on bug %" PRIu64 " any more",
                     bug);
        return true;
    }
    if (!look_again(d, &bug, e))
        return false;
    const char *note = json_string_value(json_object_get(debugger_bug(d, bug), "note"));
    if (!d->interactive || !words_editor())
        return debugger_ask(d, PROMPT_NOTE, note && !strchr(note, '\n') ? note : "", REQUEST_note,
                            e);
    json_decref(d->edited_bug);
    d->edited_bug = json_incref(debugger_bug(d, bug));
    free(d->wants_editor);
    d->wants_editor = xstrdup(note ? note : "");
    return true;
}

bool do_bookmark(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    struct subject s, event;
    struct bookmarks list;
    uint64_t number;
    uint32_t place = BOOKMARK_EVENT, id;

    (void)after;
    if (!debugger_subject(d, &s, e) || !debugger_find(d, "", SUBJECT_EVENT, &event, e))
        return false;
    number = event.number;
    if (s.kind == SUBJECT_OP && d->loaded)
        bookmark_of_op(d->findings.analysis->graph, (uint32_t)s.number, &number, &place);
    if (!bookmarks_load(&list, d->session, e))
        return false;
    bool had = false, ok = true;
    for (size_t i = 0; ok && i < list.n && !*words; i++) {
        if (list.at[i].event != number || list.at[i].place != place)
            continue;
        had = true;
        ok = bookmark_remove(d->session, list.at[i].id, e);
    }
    bookmarks_free(&list);
    if (ok && !had)
        ok = bookmark_add(d->session, number, place, words, &id, e);
    if (!ok)
        return false;
    debugger_say(
        d, had ? "event %" PRIu64 " is forgotten" : "event %" PRIu64 " is remembered; B lists",
        number);
    debugger_stale(d);
    return true;
}

/* ---- to files ---- */

bool do_copy(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    uint64_t bug;

    (void)after;
    if (!this_bug(d, &bug, e))
        return false;
    struct buf text = {0};
    report_bug_text(d->findings.report, debugger_bug(d, bug), &text);
    bool ok = true;
    if (*words) {
        ok = dump_file(words, &text, d->interactive, e);
        if (ok)
            debugger_say(d, "the report of bug %" PRIu64 " is in %s", bug, words);
    } else if (d->interactive) {
        buf_clear(&d->clipboard);
        buf_add(&d->clipboard, buf_string(&text), text.n);
        debugger_say(d, "the report of bug %" PRIu64 " was given to the terminal's clipboard", bug);
    } else {
        ok = error_set(e, "copy needs a file where there is no terminal");
    }
    buf_free(&text);
    return ok;
}

bool do_save(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)after;
    if (!*words)
        return debugger_ask(d, PROMPT_COMMAND, "save ", REQUEST_save, e);
    if (d->task != TASK_NONE)
        return error_set(e, "a check is running, which keeps what it finds; :stop ends it");
    if (d->saving)
        return error_set(e, "the session is being saved as %s", session_copy_path(d->saving));
    if (!session_copy_start(&d->saving, d->session, words, e))
        return false;
    debugger_say(d, "saving the session as %s", words);
    return true;
}

/* What the graph in view is of; else what is selected. */
static bool export_graph(struct debugger *d, const char *path, struct error *e)
{
    struct subject s = d->about[DESK_graph];
    struct subgraph *graph;

    if (d->exporting)
        return error_set(e, "%s is still being written; a moment", export_job_path(d->exporting));
    if (!debugger_need_analysis(d, e))
        return false;
    if (d->desk != DESK_graph && !debugger_subject(d, &s, NULL))
        s = (struct subject){0};
    if (!debugger_subgraph(d, &s, &graph, e))
        return false;
    struct export_job *job = export_job_start(graph, path, e);
    subgraph_free(graph);
    if (!job)
        return false;
    debugger_say(d, d->interactive ? "the graph is being written to %s" : "the graph is in %s",
                 path);
    if (d->interactive)
        d->exporting = job;
    /* A script waits for every command, and ends at one that failed. */
    return d->interactive || export_job_finish(job, e);
}

bool do_export(struct debugger *d, const char *words, enum after *after, struct error *e)
{
    (void)after;
    if (!*words)
        return debugger_ask(d, PROMPT_COMMAND, "export ", REQUEST_export, e);
    if (export_is_picture(words))
        return export_graph(d, words, e);
    if (!debugger_dump(d, words, e))
        return false;
    debugger_say(d, d->dumping ? "the view is being written to %s" : "the view is in %s", words);
    return true;
}
