/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/doctor.h"

#include <stdlib.h>

#include "engine/doctor.h"
#include "engine/mem.h"

struct finding {
    bool good;
    struct buf found; /* safe to show */
};

struct doctor_view {
    struct view view;
    const struct doctor_check *checks;
    struct finding *findings;
    size_t n;
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
    return ((struct doctor_view *)v)->n;
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
    const struct doctor_check *check = &d->checks[row - 1];
    const struct finding *finding = &d->findings[row - 1];
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
    for (size_t i = 0; i < d->n; i++)
        buf_free(&d->findings[i].found);
    free(d->findings);
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

struct view *doctor_view_open(size_t *required, size_t *optional)
{
    struct doctor_view *d = xcalloc(1, sizeof *d);
    d->view.ops = &ops;
    d->checks = doctor_checks(&d->n);
    d->findings = xcalloc(d->n, sizeof *d->findings);
    *required = *optional = 0;
    for (size_t i = 0; i < d->n; i++) {
        d->findings[i].good = d->checks[i].probe(&d->findings[i].found);
        if (!d->findings[i].good)
            ++*(d->checks[i].required ? required : optional);
    }
    return &d->view;
}
