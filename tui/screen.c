/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screen.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "engine/escape.h"
#include "engine/mem.h"

static struct screen_cell *at(const struct screen *s, int row, int column)
{
    return &s->cells[(size_t)row * (size_t)s->columns + (size_t)column];
}

static void set_blank(struct screen_cell *c, enum style style)
{
    *c = (struct screen_cell){.text = " ", .size = 1, .style = (uint8_t)style};
}

void screen_clear(struct screen *s)
{
    for (int row = 0; row < s->rows; row++)
        for (int column = 0; column < s->columns; column++)
            set_blank(at(s, row, column), STYLE_PLAIN);
    s->cursor_row = -1;
}

void screen_resize(struct screen *s, int columns, int rows)
{
    s->columns = columns > 0 ? columns : 1;
    s->rows = rows > 0 ? rows : 1;
    free(s->cells);
    s->cells = xcalloc((size_t)s->columns * (size_t)s->rows, sizeof *s->cells);
    screen_clear(s);
}

void screen_free(struct screen *s)
{
    free(s->cells);
    *s = (struct screen){0};
}

/* ---- text ---- */

/* One character of safe text: its bytes and its columns. */
static size_t next_character(const char *text, size_t n, int *width)
{
    wchar_t c;
    mbstate_t state = {0};
    size_t size = mbrtowc(&c, text, n, &state);

    if (size == 0 || size > n) { /* cannot be in safe text; never stand still over it */
        *width = 1;
        return 1;
    }
    int columns = wcwidth(c);
    *width = columns < 0 ? 1 : columns;
    return size;
}

/* A wide character that loses one of its halves is gone. */
static void free_column(struct screen *s, int row, int column)
{
    struct screen_cell *c = at(s, row, column);

    if (!c->size && column > 0)
        set_blank(at(s, row, column - 1), at(s, row, column - 1)->style);
    if (column + 1 < s->columns && !at(s, row, column + 1)->size)
        set_blank(at(s, row, column + 1), at(s, row, column + 1)->style);
}

static void combine(struct screen *s, int row, int column, const char *text, size_t n)
{
    if (column <= 0)
        return;
    struct screen_cell *c = at(s, row, column - 1);
    if (!c->size && column > 1)
        c = at(s, row, column - 2);
    if (c->size + n <= sizeof c->text) {
        memcpy(c->text + c->size, text, n);
        c->size = (uint8_t)(c->size + n);
    }
}

static void set_character(struct screen *s, int row, int column, int width, enum style style,
                          const char *text, size_t n)
{
    for (int i = 0; i < width; i++) {
        free_column(s, row, column + i);
        *at(s, row, column + i) = (struct screen_cell){.style = (uint8_t)style};
    }
    struct screen_cell *c = at(s, row, column);
    memcpy(c->text, text, n);
    c->size = (uint8_t)n;
}

int screen_put(struct screen *s, int row, int column, int end, enum style style, const char *safe,
               size_t n)
{
    int width;

    if (end > s->columns)
        end = s->columns;
    if (row < 0 || row >= s->rows || column < 0)
        return column;
    for (size_t i = 0; i < n;) {
        size_t size = next_character(safe + i, n - i, &width);
        if (!width)
            combine(s, row, column, safe + i, size);
        else if (column + width > end)
            break;
        else
            set_character(s, row, column, width, style, safe + i, size);
        column += width;
        i += size;
    }
    return column;
}

/* How many bytes the first `skip` columns take; *left is what of a wide character sticks out. */
static size_t skip_columns(const char *text, size_t n, int skip, int *left)
{
    size_t i = 0;
    int width;

    while (i < n && skip > 0) {
        i += next_character(text + i, n - i, &width);
        skip -= width;
    }
    *left = -skip;
    return i;
}

int screen_cell(struct screen *s, int row, int column, int end, const struct cell *c, int skip)
{
    if (end > s->columns)
        end = s->columns;
    if (!c->text.n || column >= end)
        return column;
    int sticks_out;
    size_t begin = skip_columns(c->text.at, c->text.n, skip, &sticks_out);
    const char *rest = c->text.at + begin;
    column += sticks_out;
    /* Long text costs what is shown of it, not what there is. */
    size_t fits = column < end ? escape_fitting(rest, end - column) : 0;
    bool cut = fits < c->text.n - begin;
    const char *ellipsis = escape_locale() == ESCAPE_UTF8 ? "…" : "...";
    int room = cut ? escape_width(ellipsis) : 0;
    if (room > end - column)
        room = end - column;
    if (cut)
        fits = escape_fitting(rest, end - column - room);
    enum style style = STYLE_PLAIN;
    for (size_t i = 0; i < c->spans.n && c->spans.at[i].begin < begin + fits + cut; i++) {
        const struct span *span = &c->spans.at[i];
        size_t from = span->begin < begin ? begin : span->begin;
        size_t to = span->end > begin + fits ? begin + fits : span->end;
        style = span->style;
        if (from < to)
            column = screen_put(s, row, column, end - room, style, c->text.at + from, to - from);
    }
    if (cut)
        column = screen_put(s, row, column, end, style, ellipsis, strlen(ellipsis));
    return column;
}

void screen_fill(struct screen *s, int row, int column, int end, enum style style, enum glyph g)
{
    const char *text = glyph(g);
    size_t n = strlen(text);

    while (column < end && column < s->columns) {
        int next = screen_put(s, row, column, end, style, text, n);
        if (next == column)
            break;
        column = next;
    }
}

void screen_blank(struct screen *s, int row, int column, int end, enum style style)
{
    if (row < 0 || row >= s->rows)
        return;
    for (int i = column < 0 ? 0 : column; i < end && i < s->columns; i++) {
        free_column(s, row, i);
        set_blank(at(s, row, i), style);
    }
}

void screen_over(struct screen *s, int row, int column, int end, enum style over)
{
    if (row < 0 || row >= s->rows)
        return;
    for (int i = column < 0 ? 0 : column; i < end && i < s->columns; i++)
        at(s, row, i)->over = (uint8_t)over;
}

/* ---- written down ---- */

static void trim(struct buf *b, size_t from)
{
    while (b->n > from && b->at[b->n - 1] == ' ')
        b->n--;
    if (b->at)
        b->at[b->n] = 0;
}

void screen_text(const struct screen *s, struct buf *out)
{
    for (int row = 0; row < s->rows; row++) {
        size_t from = out->n;
        for (int column = 0; column < s->columns; column++) {
            const struct screen_cell *c = at(s, row, column);
            buf_add(out, c->text, c->size);
        }
        trim(out, from);
        buf_char(out, '\n');
    }
}

static bool alike(const struct screen_cell *a, const struct screen_cell *b)
{
    return a->style == b->style && a->over == b->over;
}

static void style_run(const struct screen *s, int row, int first, int last, struct buf *out)
{
    const struct screen_cell *c = at(s, row, first);
    struct buf text = {0};

    for (int column = first; column <= last; column++)
        buf_add(&text, at(s, row, column)->text, at(s, row, column)->size);
    trim(&text, 0);
    if (text.n || c->over != STYLE_PLAIN || c->style != STYLE_PLAIN) {
        buf_printf(out, "%d:%d-%d %s", row + 1, first + 1, last + 1, style_name(c->style));
        if (c->over != STYLE_PLAIN)
            buf_printf(out, "+%s", style_name(c->over));
        buf_printf(out, "%s%s\n", text.n ? " " : "", buf_string(&text));
    }
    buf_free(&text);
}

void screen_styles(const struct screen *s, struct buf *out)
{
    for (int row = 0; row < s->rows; row++) {
        for (int first = 0, last; first < s->columns; first = last + 1) {
            last = first;
            while (last + 1 < s->columns && alike(at(s, row, first), at(s, row, last + 1)))
                last++;
            style_run(s, row, first, last, out);
        }
    }
}
