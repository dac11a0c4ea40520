/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/view.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"

static const char *const style_names[] = {
#define X(id, name) [STYLE_##id] = name,
    STYLES(X)
#undef X
};

const char *style_name(enum style style)
{
    return style_names[style];
}

enum style style_find(const char *name, size_t n)
{
    for (int i = 0; i < STYLE_COUNT; i++) {
        if (strlen(style_names[i]) == n && memcmp(style_names[i], name, n) == 0)
            return (enum style)i;
    }
    return STYLE_COUNT;
}

const char *glyph(enum glyph g)
{
    static const char *const utf8[] = {
#define X(id, utf8, ascii) [GLYPH_##id] = utf8,
        GLYPHS(X)
#undef X
    };
    static const char *const ascii[] = {
#define X(id, utf8, ascii) [GLYPH_##id] = ascii,
        GLYPHS(X)
#undef X
    };

    return escape_locale() == ESCAPE_UTF8 ? utf8[g] : ascii[g];
}

/* Gives everything after the last span a style; a neighbour of the same style grows. */
static void close_span(struct cell *c, enum style style)
{
    size_t begin = c->spans.n ? vec_last(&c->spans).end : 0;

    if (begin == c->text.n)
        return;
    if (c->spans.n && vec_last(&c->spans).style == style)
        vec_last(&c->spans).end = c->text.n;
    else
        vec_push(&c->spans, (struct span){begin, c->text.n, style});
}

void cell_add(struct cell *c, enum style style, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        return;
    buf_add(&c->text, text, (size_t)n);
    free(text);
    close_span(c, style);
}

void cell_text(struct cell *c, enum style style, const char *safe, size_t n)
{
    buf_add(&c->text, safe, n);
    close_span(c, style);
}

void cell_escape(struct cell *c, enum style style, const char *bytes, size_t n)
{
    escape_add(&c->text, bytes, n, escape_locale() | (style == STYLE_PATH ? ESCAPE_NAME : 0));
    close_span(c, style);
}

void cell_copy(struct cell *c, const struct cell *from)
{
    for (size_t i = 0; i < from->spans.n; i++) {
        const struct span *span = &from->spans.at[i];
        buf_add(&c->text, from->text.at + span->begin, span->end - span->begin);
        close_span(c, span->style);
    }
}

void cell_gap(struct cell *c)
{
    if (c->text.n)
        cell_add(c, STYLE_PLAIN, " ");
}

void cell_clear(struct cell *c)
{
    buf_clear(&c->text);
    c->spans.n = 0;
}

void cell_free(struct cell *c)
{
    buf_free(&c->text);
    vec_free(&c->spans);
}

void row_clear(struct row *r)
{
    for (size_t i = 0; i < VIEW_COLUMNS_MAX; i++)
        cell_clear(&r->cells[i]);
}

void row_free(struct row *r)
{
    for (size_t i = 0; i < VIEW_COLUMNS_MAX; i++)
        cell_free(&r->cells[i]);
}

bool view_seek_all(struct view *v, uint64_t *row, int step, struct error *e)
{
    (void)step, (void)e;
    if (*row > v->ops->count(v))
        *row = 0;
    return true;
}

bool view_no_detail(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                    struct error *e)
{
    (void)v, (void)row, (void)n, (void)out, (void)e;
    *more = false;
    return true;
}

bool view_no_subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    (void)v, (void)row, (void)e;
    *out = (struct subject){0};
    return true;
}

uint64_t view_find_nothing(struct view *v, const struct subject *s)
{
    (void)v, (void)s;
    return 0;
}

void view_close_plain(struct view *v)
{
    free(v);
}

bool view_is(const struct view *v, enum view_kind kind)
{
    return v && v->ops->kind == kind;
}
