/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/graph_canvas.h"

#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"

/* The sides by which a line goes on. */
enum { LEFT = 1, RIGHT = 2, UP = 4, DOWN = 8, SIDES = 15 };

enum pixel_kind {
    PIXEL_BLANK,
    PIXEL_LINE,  /* by its sides */
    PIXEL_GLYPH, /* value: an enum glyph */
    PIXEL_TEXT,  /* value: where it begins in the texts */
    PIXEL_WIDE,  /* the right half of the wide character before it */
};

struct pixel {
    uint32_t value;
    uint8_t kind;
    uint8_t style;
    uint8_t sides;
    uint8_t length; /* of the text, in bytes */
    bool solid;     /* some line that runs here is not broken */
};

struct canvas {
    int width, height;
    struct pixel *at;
    struct buf texts;
};

struct canvas *canvas_new(int width, int height)
{
    struct canvas *c = xcalloc(1, sizeof *c);

    c->width = width;
    c->height = height;
    c->at = xcalloc((size_t)width * (size_t)height + 1, sizeof *c->at);
    return c;
}

void canvas_free(struct canvas *c)
{
    if (!c)
        return;
    free(c->at);
    buf_free(&c->texts);
    free(c);
}

void canvas_clear(struct canvas *c)
{
    memset(c->at, 0, (size_t)c->width * (size_t)c->height * sizeof *c->at);
    buf_clear(&c->texts);
}

/* NULL outside the sheet. */
static struct pixel *pixel(const struct canvas *c, int x, int y)
{
    if (x < 0 || y < 0 || x >= c->width || y >= c->height)
        return NULL;
    return &c->at[(size_t)y * (size_t)c->width + (size_t)x];
}

static void set_glyph(struct canvas *c, int x, int y, enum glyph g, enum style style)
{
    struct pixel *p = pixel(c, x, y);
    if (p)
        *p = (struct pixel){.kind = PIXEL_GLYPH, .value = g, .style = (uint8_t)style};
}

/* ---- lines ---- */

static void add_sides(struct canvas *c, int x, int y, int sides, enum style style, int flags)
{
    struct pixel *p = pixel(c, x, y);

    if (!p || (p->kind != PIXEL_BLANK && p->kind != PIXEL_LINE))
        return;
    p->kind = PIXEL_LINE;
    p->sides |= (uint8_t)sides;
    p->style = (uint8_t)style;
    p->solid |= !(flags & CANVAS_BROKEN);
}

static int step(int from, int to)
{
    return (to > from) - (to < from);
}

static void piece(struct canvas *c, struct route_point a, struct route_point b, enum style style,
                  int flags)
{
    int dx = step(a.x, b.x), dy = step(a.y, b.y);
    int ahead = dx > 0 ? RIGHT : dx < 0 ? LEFT : dy > 0 ? DOWN : UP;
    int back = dx > 0 ? LEFT : dx < 0 ? RIGHT : dy > 0 ? UP : DOWN;

    while (a.x != b.x || a.y != b.y) {
        add_sides(c, a.x, a.y, ahead, style, flags);
        a.x += dx;
        a.y += dy;
        add_sides(c, a.x, a.y, back, style, flags);
    }
}

void canvas_line(struct canvas *c, const struct route_line *line, enum style style, int flags)
{
    if (!line->at.n)
        return;
    struct route_point first = line->at.at[0], last = vec_last(&line->at);
    struct pixel *border = pixel(c, first.x - 1, first.y);

    add_sides(c, first.x, first.y, LEFT, style, flags);
    for (size_t i = 1; i < line->at.n; i++)
        piece(c, line->at.at[i - 1], line->at.at[i], style, flags);
    set_glyph(c, last.x, last.y, GLYPH_POINTER, style);
    if (border && border->kind == PIXEL_GLYPH && border->value == GLYPH_VERTICAL)
        border->value = GLYPH_TEE_LEFT;
}

static enum glyph line_glyph(const struct pixel *p)
{
    static const enum glyph by_sides[SIDES + 1] = {
        [LEFT] = GLYPH_HORIZONTAL,
        [RIGHT] = GLYPH_HORIZONTAL,
        [LEFT | RIGHT] = GLYPH_HORIZONTAL,
        [UP] = GLYPH_VERTICAL,
        [DOWN] = GLYPH_VERTICAL,
        [UP | DOWN] = GLYPH_VERTICAL,
        [RIGHT | DOWN] = GLYPH_CORNER_TOP_LEFT,
        [LEFT | DOWN] = GLYPH_CORNER_TOP_RIGHT,
        [RIGHT | UP] = GLYPH_CORNER_BOTTOM_LEFT,
        [LEFT | UP] = GLYPH_CORNER_BOTTOM_RIGHT,
        [UP | DOWN | RIGHT] = GLYPH_TEE_LEFT,
        [UP | DOWN | LEFT] = GLYPH_TEE_RIGHT,
        [LEFT | RIGHT | DOWN] = GLYPH_TEE_TOP,
        [LEFT | RIGHT | UP] = GLYPH_TEE_BOTTOM,
        [SIDES] = GLYPH_CROSSING,
    };
    enum glyph g = by_sides[p->sides];

    if (!p->solid && g == GLYPH_HORIZONTAL)
        return GLYPH_BROKEN_HORIZONTAL;
    if (!p->solid && g == GLYPH_VERTICAL)
        return GLYPH_BROKEN_VERTICAL;
    return g;
}

/* ---- boxes, bars, text ---- */

void canvas_box(struct canvas *c, const struct route_box *box, bool doubled, enum style style)
{
    int right = box->x + box->width - 1, bottom = box->y + box->height - 1;
    enum glyph across = doubled ? GLYPH_DOUBLE_HORIZONTAL : GLYPH_HORIZONTAL;
    enum glyph down = doubled ? GLYPH_DOUBLE_VERTICAL : GLYPH_VERTICAL;

    for (int x = box->x + 1; x < right; x++) {
        set_glyph(c, x, box->y, across, style);
        set_glyph(c, x, bottom, across, style);
    }
    for (int y = box->y + 1; y < bottom; y++) {
        set_glyph(c, box->x, y, down, style);
        set_glyph(c, right, y, down, style);
    }
    set_glyph(c, box->x, box->y, doubled ? GLYPH_DOUBLE_TOP_LEFT : GLYPH_CORNER_TOP_LEFT, style);
    set_glyph(c, right, box->y, doubled ? GLYPH_DOUBLE_TOP_RIGHT : GLYPH_CORNER_TOP_RIGHT, style);
    set_glyph(c, box->x, bottom, doubled ? GLYPH_DOUBLE_BOTTOM_LEFT : GLYPH_CORNER_BOTTOM_LEFT,
              style);
    set_glyph(c, right, bottom, doubled ? GLYPH_DOUBLE_BOTTOM_RIGHT : GLYPH_CORNER_BOTTOM_RIGHT,
              style);
}

void canvas_bar(struct canvas *c, int x, int top, int bottom, enum style style)
{
    for (int y = top; y <= bottom; y++)
        set_glyph(c, x, y, GLYPH_DOUBLE_VERTICAL, style);
}

static enum style style_at(const struct cell *text, size_t at)
{
    for (size_t i = 0; i < text->spans.n; i++)
        if (at < text->spans.at[i].end)
            return text->spans.at[i].style;
    return STYLE_PLAIN;
}

void canvas_text(struct canvas *c, int x, int y, int width, const struct cell *text,
                 enum style style)
{
    const char *safe = buf_string(&text->text);
    size_t end = escape_fitting(safe, width);

    for (size_t i = 0; i < end;) {
        size_t n = escape_fitting(safe + i, 1);
        bool wide = n == 0;
        n = wide ? escape_fitting(safe + i, 2) : n;
        struct pixel *p = pixel(c, x, y), *half = wide ? pixel(c, x + 1, y) : p;
        if (!p || !half || !n || n > UINT8_MAX)
            return;
        enum style own = style == STYLE_COUNT ? style_at(text, i) : style;
        *half = (struct pixel){.kind = PIXEL_WIDE, .style = (uint8_t)own};
        *p = (struct pixel){.kind = PIXEL_TEXT,
                            .value = (uint32_t)c->texts.n,
                            .length = (uint8_t)n,
                            .style = (uint8_t)own};
        buf_add(&c->texts, safe + i, n);
        x += wide ? 2 : 1;
        i += n;
    }
}

/* ---- rows ---- */

static bool is_wide(const struct canvas *c, int x, int y)
{
    const struct pixel *next = pixel(c, x + 1, y);
    return next && next->kind == PIXEL_WIDE;
}

static void put(struct cell *out, enum style style, const char *text)
{
    cell_text(out, style, text, strlen(text));
}

void canvas_row(const struct canvas *c, int y, int x, int width, struct cell *out)
{
    for (int end = x + width; x < end; x++) {
        const struct pixel *p = pixel(c, x, y);
        enum style style = p ? (enum style)p->style : STYLE_PLAIN;
        switch (p ? p->kind : PIXEL_BLANK) {
        case PIXEL_LINE:
            put(out, style, glyph(line_glyph(p)));
            break;
        case PIXEL_GLYPH:
            put(out, style, glyph((enum glyph)p->value));
            break;
        case PIXEL_TEXT:
            /* Half a wide character cannot be shown. */
            if (is_wide(c, x, y) && x + 1 == end)
                put(out, style, " ");
            else
                cell_text(out, style, c->texts.at + p->value, p->length);
            x += is_wide(c, x, y) && x + 1 < end;
            break;
        default: /* blank, or the half of a wide character that begins before the first column */
            put(out, style, " ");
            break;
        }
    }
}
