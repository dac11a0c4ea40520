/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/listing.h"

#include <stdlib.h>
#include <string.h>

#include "engine/report.h"
#include "tui/print.h"

/* ---- what there is to list ---- */

/* The caller frees it. */
static char *default_model(struct session *s)
{
    json_t *report = report_load(s, NULL);
    const char *checked = json_string_value(json_object_get(report, "model"));
    const char *configured = session_meta(s, "model");
    char *name = xstrdup(checked && *checked         ? checked
                         : configured && *configured ? configured
                                                     : model_table()[0]->name);
    json_decref(report);
    return name;
}

bool findings_open(struct findings *f, const char *path, const char *model, struct error *e)
{
    struct analysis_options options = {.behaviours = BEHAVIOUR_DEFAULTS};
    char *session = command_session(path, e);

    *f = (struct findings){0};
    if (!session || !session_open(&f->session, session, e)) {
        free(session);
        return false;
    }
    free(session);
    char *name = model ? xstrdup(model) : default_model(f->session);
    bool ok =
        model_find(name, &options.model, e) && analysis_new(&f->analysis, f->session, &options, e);
    free(name);
    return ok;
}

bool findings_group(struct findings *f, struct error *e)
{
    struct group_options options = GROUP_DEFAULTS;

    if (!analysis_environments(&f->environments, f->analysis, e))
        return false;
    f->groups = groups_form(f->analysis->behaviours, f->analysis->graph, f->environments, &options);
    return true;
}

void findings_close(struct findings *f)
{
    if (f->groups)
        groups_free(f->groups);
    if (f->environments)
        environments_free(f->environments);
    analysis_free(f->analysis);
    session_close(f->session);
}

bool findings_need_check(struct findings *f, struct error *e)
{
    json_t *report = report_load(f->session, e);

    if (!report)
        return false;
    json_decref(report);
    return report_state_count(f->session) ||
           error_set(e, "the last check of %s kept no states; run flotsam check again",
                     session_path(f->session));
}

/* ---- printing ---- */

bool listing_text(struct view *v, bool details, struct error *e)
{
    struct print p;

    if (!print_begin(&p, stdout, e))
        return false;
    p.details = details;
    bool ok = print_view(&p, v, e);
    fflush(stdout); /* before any message, where both go to one terminal */
    if (ok && !p.rows)
        message(v->ops->count(v) ? "nothing passes the filters" : "there are none");
    return ok;
}

/* jansson escapes all controls but the delete character, which can only be inside a string. */
static int write_piece(const char *piece, size_t n, void *data)
{
    const char *del;

    while ((del = memchr(piece, '\x7f', n))) {
        fwrite(piece, 1, (size_t)(del - piece), data);
        fputs("\\u007f", data);
        n -= (size_t)(del - piece) + 1;
        piece = del + 1;
    }
    fwrite(piece, 1, n, data);
    return 0;
}

bool listing_json(struct view *v, listing_json_fn *object, struct error *e)
{
    bool ok = true, any = false;

    putchar('[');
    for (uint64_t at = 1; ok && !ferror(stdout); at++) {
        ok = v->ops->seek(v, &at, 1, e);
        if (!ok || !at)
            break;
        json_t *row = object(v, at, e);
        ok = row != NULL;
        if (!ok)
            break;
        fputs(any ? ",\n" : "\n", stdout);
        any = true;
        json_dump_callback(row, write_piece, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
        json_decref(row);
    }
    fputs("\n]\n", stdout);
    return ok;
}
