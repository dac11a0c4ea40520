/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/findings.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/report.h"

/* The caller frees it. */
static char *default_model(struct session *s)
{
    json_t *report = report_load(s, NULL);
    const char *checked = json_string_value(json_object_get(report, "model"));
    const char *switches = json_string_value(json_object_get(report, "model_switches"));
    const char *configured = session_meta(s, "model");
    char *name = checked && *checked         ? xasprintf("%s %s", checked, switches ? switches : "")
                 : configured && *configured ? xstrdup(configured)
                                             : xstrdup(model_table()[0]->name);
    json_decref(report);
    return name;
}

bool findings_open(struct findings *f, const char *path, const char *model, struct error *e)
{
    struct analysis_options options = {.behaviours = BEHAVIOUR_DEFAULTS};

    *f = (struct findings){0};
    if (!session_open(&f->session, path, e))
        return false;
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
