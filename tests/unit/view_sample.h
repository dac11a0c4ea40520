/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * view_sample: views as text, for tests; what is drawn is checked on the way: spans cover their
 * cells, and nothing in them steers a terminal. Include after cmocka.h.
 */
#ifndef TESTS_UNIT_VIEW_SAMPLE_H
#define TESTS_UNIT_VIEW_SAMPLE_H

#include <string.h>

#include "views/view.h"

/* One row, its cells with | between them. Valid until the next. */
static inline const char *view_row(struct view *v, uint64_t row)
{
    static struct buf text;
    struct row cells = {0};
    struct error e;
    size_t n;

    buf_free(&text);
    assert_true(row >= 1 && row <= v->ops->count(v));
    v->ops->columns(v, &n);
    if (!v->ops->draw(v, row, &cells, &e))
        fail_msg("%s", e.text);
    for (size_t i = 0; i < n; i++) {
        const struct cell *c = &cells.cells[i];
        size_t end = 0;
        for (size_t k = 0; k < c->spans.n; k++) { /* spans cover the cell without gaps */
            assert_int_equal(c->spans.at[k].begin, end);
            end = c->spans.at[k].end;
        }
        assert_int_equal(end, c->text.n);
        buf_printf(&text, "%s%s", i ? "|" : "", buf_string(&c->text));
    }
    for (size_t i = 0; i < text.n; i++) /* nothing that steers a terminal */
        assert_true((unsigned char)text.at[i] >= ' ' && text.at[i] != 0x7f);
    row_free(&cells);
    return buf_string(&text);
}

/* All rows, one a line. Valid until the next. */
static inline const char *view_text(struct view *v)
{
    static struct buf text;

    buf_free(&text);
    for (uint64_t row = 1; row <= v->ops->count(v); row++)
        buf_printf(&text, "%s\n", view_row(v, row));
    return buf_string(&text);
}

/* A line of a row's details; "" when there is no such line. */
static inline const char *view_detail(struct view *v, uint64_t row, size_t n)
{
    static struct buf text;
    struct cell c = {0};
    struct error e;
    bool more;

    buf_free(&text);
    if (!v->ops->detail(v, row, n, &c, &more, &e))
        fail_msg("%s", e.text);
    buf_text(&text, more ? buf_string(&c.text) : "");
    cell_free(&c);
    return buf_string(&text);
}

/* The style of the span of a row's cell that a text begins in. */
static inline enum style view_style(struct view *v, uint64_t row, const char *text)
{
    struct row cells = {0};
    struct error e;
    enum style style = STYLE_COUNT;

    assert_true(v->ops->draw(v, row, &cells, &e));
    for (size_t i = 0; i < VIEW_COLUMNS_MAX; i++) {
        const struct cell *c = &cells.cells[i];
        const char *at = c->text.n ? strstr(c->text.at, text) : NULL;
        for (size_t k = 0; at && k < c->spans.n; k++)
            if (c->text.at + c->spans.at[k].end > at && c->text.at + c->spans.at[k].begin <= at)
                style = c->spans.at[k].style;
    }
    row_free(&cells);
    return style;
}

static inline struct subject view_subject(struct view *v, uint64_t row)
{
    struct subject s = {0};
    struct error e;
    assert_true(v->ops->subject(v, row, &s, &e));
    return s;
}

#endif
