/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/lines.h"

#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"

enum { LABEL, TEXT, COLUMNS };

struct written {
    const char *label;
    struct cell text;
    struct subject about;
    char *path; /* of what it is about, when that has one */
};

struct lines {
    struct view view;
    struct view_ops ops; /* each has its own name */
    vec_of(struct written) at;
};

struct cell *lines_add(struct lines *l, const char *label, struct subject about)
{
    struct written *w = vec_add(&l->at);

    *w = (struct written){.label = label, .about = about};
    if (about.path)
        w->about.path = w->path = xstrdup(about.path);
    return &w->text;
}

void lines_gap(struct lines *l)
{
    if (l->at.n && vec_last(&l->at).text.text.n)
        lines_add(l, "", (struct subject){0});
}

int lines_room(int columns)
{
    return columns - LINES_LABEL > LINES_LEAST ? columns - LINES_LABEL : LINES_LEAST;
}

/* How many bytes of the text make a line: up to the last space that fits, or what fits of a word.
 */
static size_t line_length(const char *safe, int width)
{
    size_t end = strcspn(safe, "\n"), fits = escape_fitting(safe, width);

    if (end <= fits)
        return end;
    size_t space = fits;
    while (space && safe[space] != ' ')
        space--;
    if (space)
        return space;
    return fits ? fits : strlen(safe);
}

void lines_fold(struct lines *l, const char *label, enum style style, const char *safe, int width,
                struct subject about)
{
    do {
        size_t n = line_length(safe, width);
        cell_text(lines_add(l, label, about), style, safe, n);
        label = "";
        safe += n;
        safe += *safe == '\n' || *safe == ' ';
    } while (*safe);
}

/* --- The view ------------------------------------------------------------------------------ */

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [LABEL] = {.title = "", .least = LINES_LABEL - 2, .most = LINES_LABEL - 2},
        [TEXT] = {.title = "", .least = LINES_LEAST, .yields = 1},
    };
    /* Labels take no room where there are none. */
    static const struct column bare[COLUMNS] = {
        [LABEL] = {.title = "", .least = 0},
        [TEXT] = {.title = "", .least = LINES_LEAST, .yields = 1},
    };
    const struct lines *l = (const struct lines *)v;
    *n = COLUMNS;
    for (size_t i = 0; i < l->at.n; i++)
        if (l->at.at[i].label[0])
            return all;
    return bare;
}

static uint64_t count(struct view *v)
{
    return ((struct lines *)v)->at.n;
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    const struct written *w = &((struct lines *)v)->at.at[row - 1];

    (void)e;
    cell_add(&out->cells[LABEL], STYLE_HEADING, "%s", w->label);
    for (size_t i = 0; i < w->text.spans.n; i++) {
        const struct span *s = &w->text.spans.at[i];
        cell_text(&out->cells[TEXT], s->style, w->text.text.at + s->begin, s->end - s->begin);
    }
    return true;
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    (void)e;
    *out = ((struct lines *)v)->at.at[row - 1].about;
    return true;
}

/* There are few rows: no more than a person reads. */
static uint64_t find(struct view *v, const struct subject *s)
{
    const struct lines *l = (struct lines *)v;

    for (size_t i = 0; i < l->at.n && s->kind != SUBJECT_NONE; i++) {
        const struct subject *about = &l->at.at[i].about;
        bool same_path =
            about->path && s->path ? !strcmp(about->path, s->path) : about->path == s->path;
        if (about->kind == s->kind && about->number == s->number && same_path)
            return i + 1;
    }
    return 0;
}

static void close_view(struct view *v)
{
    struct lines *l = (struct lines *)v;

    for (size_t i = 0; i < l->at.n; i++) {
        cell_free(&l->at.at[i].text);
        free(l->at.at[i].path);
    }
    vec_free(&l->at);
    free(l);
}

struct lines *lines_new(const char *name)
{
    struct lines *l = xcalloc(1, sizeof *l);

    l->ops = (struct view_ops){
        .name = name,
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = find,
        .close = close_view,
    };
    l->view.ops = &l->ops;
    return l;
}

struct view *lines_view(struct lines *l)
{
    return &l->view;
}
