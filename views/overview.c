/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/overview.h"

#include <inttypes.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/report_words.h"
#include "views/lines.h"

enum { BAR_MOST = 40 };

static const struct subject nothing = {SUBJECT_NONE, 0, NULL};

static void add_meta(struct lines *l, struct session *s, const char *label, const char *key,
                     int room)
{
    const char *value = session_meta(s, key);

    if (!value || !*value)
        return;
    char *safe = escape_text(value);
    lines_fold(l, label, STYLE_PLAIN, safe, room, nothing);
    free(safe);
}

static void add_number(struct cell *c, uint64_t n, const char *thing)
{
    if (c->text.n)
        cell_add(c, STYLE_PLAIN, ", ");
    cell_add(c, STYLE_NUMBER, "%" PRIu64, n);
    cell_add(c, STYLE_PLAIN, " %s%s", thing, n == 1 ? "" : "s");
}

static void add_session(struct lines *l, const struct overview *o, int room)
{
    struct session *s = o->session;
    char *path = escape_text(session_path(s));

    lines_fold(l, "session", STYLE_PATH, path, room, nothing);
    free(path);
    add_meta(l, s, "program", "program", room);
    add_meta(l, s, "ended", "status", room);
    add_meta(l, s, "recorded", "started", room);
    if (!session_meta(s, "complete"))
        cell_add(lines_add(l, "", nothing), STYLE_WARNING,
                 "the recording was cut short: the last events may be missing");
    struct cell *c = lines_add(l, "trace", nothing);
    add_number(c, session_event_count(s), "event");
    if (o->analysis) {
        add_number(c, o->analysis->graph->n, "op");
        add_number(c, o->analysis->behaviours->n, "behaviour");
    }
    if (o->groups)
        add_number(c, o->groups->n, "group");
}

/* "ext4 auto_da_alloc=no, stores px86": what was taken for stores is said even if nobody chose it.
 */
static void add_model(struct lines *l, const struct graph *g, int room)
{
    struct model posix = g->model;
    struct buf text = {0};

    if (g->stores)
        posix.stores = STORES_AUTO; /* said below */
    char *model = model_text(&posix);
    buf_text(&text, model);
    for (int s = 0, n = 0; s < STORES_COUNT; s++)
        if (g->stores >> s & 1)
            buf_printf(&text, "%s%s", n++ ? " and " : ", stores ",
                       model_stores_name((enum model_stores)s));
    lines_fold(l, "model", STYLE_PLAIN, text.at, room, nothing);
    free(model);
    buf_free(&text);
}

/* How much of what was stored is known by field. */
static void add_typed(struct lines *l, const struct analysis *a, int room)
{
    enum { ALL = 100 };
    size_t stores = a->store_count, typed = a->typed_count;
    struct buf text = {0};

    if (!stores)
        return;
    buf_printf(&text, "%zu, of which %zu (%zu %%) are known by type and field%s", stores, typed,
               typed * ALL / stores, typed ? "" : "; build the program with -g to have them");
    lines_fold(l, "stores", STYLE_PLAIN, text.at, room, nothing);
    buf_free(&text);
}

static void add_terms(struct lines *l, const struct overview *o, int room)
{
    struct buf text = {0};

    if (o->analysis) {
        add_model(l, o->analysis->graph, room);
        add_typed(l, o->analysis, room);
    }
    report_add(&text, o->report, "strategy", escape_locale());
    if (text.n)
        lines_fold(l, "strategy", STYLE_PLAIN, text.at, room, nothing);
    buf_clear(&text);
    report_add(&text, o->report, "checker", escape_locale());
    if (text.n)
        lines_fold(l, "checker", STYLE_PLAIN, text.at, room, nothing);
    else
        add_meta(l, o->session, "checker", "checker", room);
    buf_free(&text);
}

/* --- A check that runs --------------------------------------------------------------------- */

void overview_time(struct cell *c, enum style style, double seconds)
{
    enum { MINUTE = 60, HOUR = 3600 };
    /* A rate near nothing gives times that no clock shows. */
    const double longest = 1e9;
    uint64_t s = seconds > 0 ? (uint64_t)(seconds < longest ? seconds : longest) : 0;

    if (s >= HOUR)
        cell_add(c, style, "%" PRIu64 " h %" PRIu64 " min", s / HOUR, s % HOUR / MINUTE);
    else if (s >= MINUTE)
        cell_add(c, style, "%" PRIu64 " min %" PRIu64 " s", s / MINUTE, s % MINUTE);
    else
        cell_add(c, style, "%" PRIu64 " s", s);
}

static void add_bar(struct cell *c, uint64_t done, uint64_t all, int width)
{
    enum { PERCENT = 100 };
    double share = done < all ? (double)done / (double)all : 1;
    int full = (int)(share * width);

    for (int i = 0; i < width; i++)
        cell_add(c, i < full ? STYLE_PROGRESS : STYLE_DIM, "%s",
                 glyph(i < full ? GLYPH_FULL : GLYPH_EMPTY));
    cell_add(c, STYLE_NUMBER, " %d %%", (int)(share * PERCENT));
}

static void add_progress(struct lines *l, const struct overview_progress *p, int room)
{
    enum { BEHIND_BAR = 6 };
    int bar = room - BEHIND_BAR < BAR_MOST ? room - BEHIND_BAR : BAR_MOST;
    struct cell *c;

    lines_gap(l);
    c = lines_add(l, "check", nothing);
    cell_add(c, p->paused ? STYLE_WARNING : STYLE_PLAIN, "%s", p->paused ? "paused" : p->phase);
    if (p->all)
        add_bar(lines_add(l, "", nothing), p->done, p->all, bar);
    c = lines_add(l, "states", nothing);
    cell_add(c, STYLE_NUMBER, "%" PRIu64, p->done);
    if (p->all)
        cell_add(c, STYLE_NUMBER, " of %" PRIu64, p->all);
    if (p->budget)
        cell_add(c, STYLE_DIM, ", budget %" PRIu64, p->budget);
    cell_add(c, STYLE_DIM, ", %.0f a second", p->rate);
    c = lines_add(l, "time", nothing);
    overview_time(c, STYLE_NUMBER, p->seconds);
    if (p->seconds_left >= 0) {
        cell_add(c, STYLE_PLAIN, ", about ");
        overview_time(c, STYLE_NUMBER, p->seconds_left);
        cell_add(c, STYLE_PLAIN, " to go");
    }
    c = lines_add(l, "found", nothing);
    cell_add(c, p->inconsistent ? STYLE_VERDICT_BAD : STYLE_VERDICT_GOOD,
             "%" PRIu64 " inconsistent", p->inconsistent);
    cell_add(c, STYLE_PLAIN, ", ");
    cell_add(c, p->bugs ? STYLE_VERDICT_BAD : STYLE_PLAIN, "%" PRIu64 " bug%s", p->bugs,
             p->bugs == 1 ? "" : "s");
}

/* --- What was found ------------------------------------------------------------------------ */

static void add_tested(struct lines *l, const struct overview *o, int room)
{
    const json_t *report = o->report;
    const char *model = json_string_value(json_object_get(report, "model"));
    const json_t *states = json_object_get(report, "states");
    struct cell *c = lines_add(l, "checked", nothing);
    struct buf cut = {0};

    cell_add(c, STYLE_NUMBER, "%" JSON_INTEGER_FORMAT, report_number(states, "tested"));
    cell_add(c, STYLE_PLAIN, " states tested, ");
    cell_add(c, report_number(states, "inconsistent") ? STYLE_VERDICT_BAD : STYLE_VERDICT_GOOD,
             "%" JSON_INTEGER_FORMAT " inconsistent", report_number(states, "inconsistent"));
    if (model && o->analysis && strcmp(model, o->analysis->graph->model.name) != 0) {
        cell_add(c, STYLE_WARNING, ", under ");
        cell_escape(c, STYLE_WARNING, model, strlen(model));
    }
    if (json_is_true(json_object_get(states, "complete")))
        return;
    report_add(&cut, report, "cut", escape_locale());
    lines_fold(l, "cut", STYLE_WARNING, cut.n ? cut.at : "it was cut short", room, nothing);
    buf_free(&cut);
}

static void add_bugs(struct lines *l, const json_t *report, int room)
{
    const json_t *bugs = json_object_get(report, "bugs"), *bug;
    size_t i;

    json_array_foreach(bugs, i, bug)
    {
        struct buf text = {0};
        bool aside = report_set_aside(bug);
        buf_printf(&text, "%zu ", i + 1);
        report_add(&text, bug, "kind", escape_locale());
        buf_text(&text, ": ");
        report_add(&text, bug, "summary", escape_locale());
        lines_fold(l, i ? "" : "bugs", aside ? STYLE_DIM : STYLE_PLAIN, text.at, room,
                   (struct subject){SUBJECT_BUG, i + 1, NULL});
        buf_free(&text);
    }
    if (json_array_size(bugs))
        return;
    const char *caveat = report_caveat(report);
    lines_fold(l, "bugs", caveat ? STYLE_WARNING : STYLE_VERDICT_GOOD,
               caveat ? caveat : "none was found", room, nothing);
}

/* --- What must be known -------------------------------------------------------------------- */

struct notices {
    struct lines *lines;
    int room;
    bool any;
};

static void add_notice(void *data, const char *kind, const char *what, uint64_t count)
{
    struct notices *n = data;
    struct buf text = {0};

    escape_add(&text, kind, strlen(kind), escape_locale());
    if (*what)
        buf_text(&text, ": ");
    escape_add(&text, what, strlen(what), escape_locale());
    if (count > 1)
        buf_printf(&text, " (%" PRIu64 " times)", count);
    if (!n->any)
        lines_gap(n->lines);
    lines_fold(n->lines, n->any ? "" : "notices", STYLE_WARNING, buf_string(&text), n->room,
               nothing);
    n->any = true;
    buf_free(&text);
}

bool overview_view(struct view **out, const struct overview *o, int columns, struct error *e)
{
    struct lines *l = lines_new("overview");
    int room = lines_room(columns);
    struct notices notices = {l, room, false};
    struct view *v = lines_view(l);

    add_session(l, o, room);
    add_terms(l, o, room);
    if (o->progress)
        add_progress(l, o->progress, room);
    lines_gap(l);
    if (o->report) {
        add_tested(l, o, room);
        add_bugs(l, o->report, room);
    } else if (!o->progress)
        cell_add(lines_add(l, "checked", nothing), STYLE_DIM, "not yet");
    if (!session_notices(o->session, add_notice, &notices, e)) {
        v->ops->close(v);
        return false;
    }
    *out = v;
    return true;
}
