/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/links_view.h"

#include <inttypes.h>
#include <string.h>

#include "views/behaviours.h"
#include "views/lines.h"
#include "views/objects.h"
#include "views/op_words.h"

static const char *summary_of(const struct findings *f, uint64_t number)
{
    const json_t *bug = json_array_get(json_object_get(f->report, "bugs"), (size_t)number - 1);
    const char *text = json_string_value(json_object_get(bug, "summary"));

    return text ? text : "";
}

/* What it is, in a few words. */
static bool add_name(struct cell *c, struct findings *f, const struct subject *s, struct error *e)
{
    struct analysis *a = f->analysis;
    struct file_info file;

    switch (s->kind) {
    case SUBJECT_EVENT:
        return event_words(c, a, s->number, e);
    case SUBJECT_OP:
        cell_add(c, STYLE_NUMBER, "%" PRIu64 " ", s->number);
        return op_what(c, a, (uint32_t)s->number, e);
    case SUBJECT_BEHAVIOUR:
    case SUBJECT_GROUP: {
        uint64_t b = s->kind == SUBJECT_GROUP ? f->groups->at[s->number].representative : s->number;
        cell_add(c, STYLE_NUMBER, "#%" PRIu64 " ", s->number);
        behaviour_words(c, a, &a->behaviours->at[b]);
        return true;
    }
    case SUBJECT_BUG:
        cell_add(c, STYLE_NUMBER, "%" PRIu64 " ", s->number);
        cell_escape(c, STYLE_PLAIN, summary_of(f, s->number), strlen(summary_of(f, s->number)));
        return true;
    case SUBJECT_LINE:
        cell_escape(c, STYLE_SOURCE_LINE, s->path, strlen(s->path));
        cell_add(c, STYLE_SOURCE_LINE, ":%" PRIu64, s->number);
        return true;
    case SUBJECT_FILE:
        if (session_file(a->session, (uint32_t)s->number, &file))
            cell_escape(c, STYLE_PATH, file.path, strlen(file.path));
        return true;
    case SUBJECT_OBJECT:
        cell_add(c, STYLE_NUMBER, "%" PRIu64 " ", s->number);
        object_words(c, a, &f->objects->at[s->number]);
        return true;
    case SUBJECT_STATE:
        cell_add(c, STYLE_NUMBER, "%" PRIu64, s->number);
        return true;
    case SUBJECT_NONE:
        break;
    }
    return true;
}

struct view *links_view(struct links *links, struct findings *f, const struct subject *s,
                        struct error *e)
{
    static const struct {
        enum subject_kind kind;
        const char *label;
    } kinds[] = {
        {SUBJECT_EVENT, "event"},         {SUBJECT_OP, "op"},       {SUBJECT_LINE, "line"},
        {SUBJECT_FILE, "file"},           {SUBJECT_BUG, "bug"},     {SUBJECT_STATE, "state"},
        {SUBJECT_BEHAVIOUR, "behaviour"}, {SUBJECT_GROUP, "group"}, {SUBJECT_OBJECT, "object"},
    };
    struct lines *l = lines_new("links");
    struct subject found[LINKS_SHOWN];
    bool ok = true;

    for (size_t k = 0; ok && k < sizeof kinds / sizeof *kinds; k++) {
        size_t n = links_to(links, s, kinds[k].kind, found, LINKS_SHOWN);
        for (size_t i = 0; ok && i < n && i < LINKS_SHOWN; i++)
            ok = add_name(lines_add(l, i ? "" : kinds[k].label, found[i]), f, &found[i], e);
        if (n > LINKS_SHOWN)
            cell_add(lines_add(l, "", (struct subject){0}), STYLE_DIM, "and %zu more",
                     n - LINKS_SHOWN);
    }
    struct view *v = lines_view(l);
    if (ok)
        return v;
    v->ops->close(v);
    return NULL;
}
