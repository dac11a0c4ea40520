/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/doctor.h"

#include <stdlib.h>

#include "engine/mem.h"
#include "engine/vec.h"

struct finding {
    const struct doctor_check *check;
    bool good;
    struct buf found; /* safe to show */
};

struct doctor_view {
    struct view view;
    vec_of(struct finding) findings;
};

static const struct column *columns(struct view *v, size_t *n)
{
    (void)v;
    static const struct column all[] = {
        {"", 7, 7, false, 0},
        {"what", 8, 0, false, 0},
        {"found", 10, 0, false, 2},
        {"needed for", 10, 0, false, 3},
        {"how to get it", 10, 0, false, 1},
    };
    *n = sizeof all / sizeof *all;
    return all;
}

static uint64_t count(struct view *v)
{
    return ((struct doctor_view *)v)->findings.n;
}

static bool seek(struct view *v, uint64_t *row, int step, struct error *e)
{
    (void)step, (void)e;
    if (*row > count(v))
        *row = 0;
    return true;
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    (void)e;
    struct doctor_view *d = (struct doctor_view *)v;
    const struct finding *finding = &d->findings.at[row - 1];
    const struct doctor_check *check = finding->check;
    enum style style = finding->good     ? STYLE_RESULT_GOOD
                       : check->required ? STYLE_RESULT_BAD
                                         : STYLE_WARNING;
    cell_add(&out->cells[0], style, "%s",
             finding->good     ? "ok"
             : check->required ? "MISSING"
                               : "missing");
    cell_add(&out->cells[1], STYLE_PLAIN, "%s", check->name);
    cell_add(&out->cells[2], STYLE_PLAIN, "%s", buf_string(&finding->found));
    cell_add(&out->cells[3], STYLE_DIM, "%s", check->needed_by);
    if (!finding->good)
        cell_add(&out->cells[4], STYLE_PLAIN, "%s", check->remedy);
    return true;
}

static bool detail(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                   struct error *e)
{
    (void)v, (void)row, (void)n, (void)out, (void)e;
    *more = false;
    return true;
}

static void close_view(struct view *v)
{
    struct doctor_view *d = (struct doctor_view *)v;
    for (size_t i = 0; i < d->findings.n; i++)
        buf_free(&d->findings.at[i].found);
    vec_free(&d->findings);
    free(d);
}

static const struct view_ops ops = {
    .name = "doctor",
    .columns = columns,
    .count = count,
    .seek = seek,
    .draw = draw,
    .detail = detail,
    .subject = view_no_subject,
    .find = view_find_nothing,
    .close = close_view,
};

struct view *doctor_view_open(const struct doctor_table *tables, size_t n, size_t *required,
                              size_t *optional)
{
    struct doctor_view *d = xcalloc(1, sizeof *d);
    d->view.ops = &ops;
    *required = *optional = 0;
    for (size_t t = 0; t < n; t++) {
        for (size_t i = 0; i < tables[t].n; i++) {
            struct finding f = {.check = &tables[t].checks[i]};
            f.good = f.check->probe(&f.found);
            if (!f.good)
                ++*(f.check->required ? required : optional);
            vec_push(&d->findings, f);
        }
    }
    return &d->view;
}
