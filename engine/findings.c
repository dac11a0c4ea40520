/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/findings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/mem.h"
#include "engine/report.h"

/* ---- one after the other ---- */

/* The caller frees it. */
static char *default_model(struct session *s, const json_t *report)
{
    const char *checked = json_string_value(json_object_get(report, "model"));
    const char *switches = json_string_value(json_object_get(report, "model_switches"));
    const char *configured = session_meta(s, "model");
    return checked && *checked         ? xasprintf("%s %s", checked, switches ? switches : "")
           : configured && *configured ? xstrdup(configured)
                                       : xstrdup(model_table()[0]->name);
}

static bool analyse(struct findings *f, const struct findings_options *wanted,
                    const struct interrupt *interrupt, struct error *e)
{
    struct analysis_options options = {.behaviours = analysis_behaviours(f->session),
                                       .interrupt = interrupt};
    char *name = wanted->model ? xstrdup(wanted->model) : default_model(f->session, f->report);

    if (wanted->pretend) {
        options.fixes = f->fixes.at;
        options.fix_count = f->fixes.n;
    }
    bool ok = model_find(name, &options.model, e) &&
              (!wanted->stores || model_stores_find(wanted->stores, &options.model.stores, e)) &&
              analysis_new(&f->analysis, f->session, &options, e);
    free(name);
    return ok;
}

static bool group(struct findings *f, const struct interrupt *interrupt, struct error *e)
{
    struct group_options options = GROUP_DEFAULTS;

    options.interrupt = interrupt;
    if (!analysis_environments(&f->environments, f->analysis, e))
        return false;
    f->groups = groups_form(f->analysis->behaviours, f->analysis->graph, f->environments, &options);
    if (f->groups && !f->objects)
        f->objects = stored_objects_find(f->analysis);
    return f->groups || error_set(e, INTERRUPTED);
}

static bool lint(struct findings *f, const struct interrupt *interrupt, struct error *e)
{
    struct lint_options options = {.interrupt = interrupt};

    return lint_options_of(f->session, &options, e) &&
           lint_session(&f->lint, f->session, f->analysis->symbols, &options, e);
}

static bool load(struct findings *f, const char *path, const struct findings_options *options,
                 const struct interrupt *interrupt, struct error *e)
{
    *f = (struct findings){0};
    return session_open(&f->session, path, e) && findings_reload(f, e) &&
           analyse(f, options, interrupt, e) && (!options->group || group(f, interrupt, e)) &&
           (!options->lint || lint(f, interrupt, e));
}

bool findings_open_as(struct findings *f, const char *path, const struct findings_options *options,
                      struct error *e)
{
    return load(f, path, options, NULL, e);
}

bool findings_open(struct findings *f, const char *path, const char *model, struct error *e)
{
    return load(f, path, &(struct findings_options){.model = model}, NULL, e);
}

bool findings_group(struct findings *f, struct error *e)
{
    return group(f, NULL, e);
}

void findings_close(struct findings *f)
{
    if (f->groups)
        groups_free(f->groups);
    if (f->environments)
        environments_free(f->environments);
    stored_objects_free(f->objects);
    lint_free(&f->lint);
    analysis_free(f->analysis);
    json_decref(f->report);
    fixes_free(&f->fixes);
    session_close(f->session);
    *f = (struct findings){0};
}

bool findings_reload(struct findings *f, struct error *e)
{
    struct fix_list fixes;

    if (!fixes_load(&fixes, f->session, e))
        return false;
    fixes_free(&f->fixes);
    f->fixes = fixes;
    json_decref(f->report);
    f->report = report_load(f->session, NULL);
    return true;
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

/* ---- in the background ---- */

/* Whoever is last with it frees it: the one who waits, or the thread that nobody waits for. */
enum { LOADING, LOADED, ABANDONED };

struct loading {
    pthread_t thread;
    bool threaded;
    char *path, *model, *stores;
    struct findings_options options;
    _Atomic int state;
    int done; /* an eventfd */
    bool ok;
    struct findings findings;
    struct error error;
};

static void loading_free(struct loading *l)
{
    findings_close(&l->findings);
    if (l->done >= 0)
        close(l->done);
    free(l->path);
    free(l->model);
    free(l->stores);
    free(l);
}

static bool abandoned(void *data)
{
    return atomic_load(&((struct loading *)data)->state) == ABANDONED;
}

static void *run(void *data)
{
    struct loading *l = data;
    struct interrupt interrupt = {abandoned, l};
    uint64_t one = 1;
    int expected = LOADING;

    l->ok = load(&l->findings, l->path, &l->options, &interrupt, &l->error);
    /* Before the state changes: afterwards the loading may be gone. Who cannot be woken sees it
     * when he looks. */
    ssize_t woken = write(l->done, &one, sizeof one);
    (void)woken;
    if (!atomic_compare_exchange_strong(&l->state, &expected, LOADED))
        loading_free(l);
    return NULL;
}

struct loading *findings_start(const char *path, const struct findings_options *options)
{
    struct loading *l = xcalloc(1, sizeof *l);

    l->path = xstrdup(path);
    l->model = options->model ? xstrdup(options->model) : NULL;
    l->options = *options;
    l->stores = options->stores ? xstrdup(options->stores) : NULL;
    l->options.model = l->model;
    l->options.stores = l->stores;
    l->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->threaded = true;
    if (pthread_create(&l->thread, NULL, run, l) != 0) { /* then who asked waits */
        l->threaded = false;
        run(l);
    }
    return l;
}

int loading_fd(const struct loading *l)
{
    return l->done;
}

bool loading_done(const struct loading *l)
{
    return atomic_load(&l->state) == LOADED;
}

bool findings_finish(struct loading *l, struct findings *out, struct error *e)
{
    if (l->threaded)
        pthread_join(l->thread, NULL);
    bool ok = l->ok;
    *out = l->findings;
    l->findings = (struct findings){0};
    if (!ok)
        error_set(e, "%s", l->error.text);
    loading_free(l);
    return ok;
}

void findings_cancel(struct loading *l)
{
    int expected = LOADING;

    if (!l)
        return;
    if (l->threaded)
        pthread_detach(l->thread);
    if (!atomic_compare_exchange_strong(&l->state, &expected, ABANDONED))
        loading_free(l); /* it was done */
}
