/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/print.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/escape.h"
#include "tui/columns.h"

/* Rows that are looked at before the first is printed, to choose widths. */
enum { ROWS_MEASURED = 200 };

enum { DETAIL_INDENT = 8 };

/* --- What suits a stream ------------------------------------------------------------------- */

static bool has_colours(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return !(no && no[0]) && term && term[0] && strcmp(term, "dumb") != 0;
}

bool print_begin(struct print *p, FILE *out, struct error *e)
{
    const char *theme = getenv("FLOTSAM_THEME");
    struct winsize size;

    *p = (struct print){.out = out};
    if (!isatty(fileno(out)))
        return true;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0)
        p->width = size.ws_col;
    p->colour = has_colours();
    return !p->colour || theme_load(&p->theme, theme && theme[0] ? theme : THEME_DEFAULT, e);
}

/* --- Widths -------------------------------------------------------------------------------- */

static bool choose_widths(struct print *p, struct view *v, struct columns *l, struct error *e)
{
    struct row row = {0};
    uint64_t at = 1;
    bool ok = true;

    columns_begin(l, v);
    for (int i = 0; ok && i < ROWS_MEASURED; i++, at++) {
        ok = v->ops->seek(v, &at, 1, e);
        if (!ok || !at)
            break;
        row_clear(&row);
        ok = v->ops->draw(v, at, &row, e);
        columns_measure(l, &row);
    }
    row_free(&row);
    if (p->width)
        columns_fit(l, p->width);
    return ok;
}

/* --- Lines --------------------------------------------------------------------------------- */

/* A line under way: its text with escape sequences, and the columns it has taken. */
struct line {
    struct buf text;
    struct buf piece; /* scratch */
    int columns;
};

static void add_styled(struct print *p, struct line *line, enum style style, const char *text,
                       int width)
{
    if (p->colour)
        theme_on(&p->theme, style, &line->text);
    buf_text(&line->text, text);
    if (p->colour)
        theme_off(&p->theme, style, &line->text);
    line->columns += width;
}

static void add_spaces(struct line *line, int n)
{
    for (int i = 0; i < n; i++)
        buf_char(&line->text, ' ');
    if (n > 0)
        line->columns += n;
}

/* The part of a cell from begin to end as a string. */
static const char *piece(struct line *line, const struct cell *c, size_t begin, size_t end)
{
    buf_clear(&line->piece);
    buf_add(&line->piece, c->text.at + begin, end - begin);
    return buf_string(&line->piece);
}

/* Adds a cell of at most `limit` columns. Where it is longer, the span that reaches the limit is
 * cut together with the rest, so that the ellipsis comes in its style. */
static void add_cell(struct print *p, struct line *line, const struct cell *c, int limit)
{
    int left = limit, total = c->text.n ? escape_width(c->text.at) : 0;

    for (size_t i = 0; i < c->spans.n; i++) {
        const struct span *s = &c->spans.at[i];
        const char *text = piece(line, c, s->begin, s->end);
        int width = escape_width(text);
        if (total <= limit || width < left) {
            add_styled(p, line, s->style, text, width);
            left -= width;
            continue;
        }
        struct buf cut = {0};
        escape_cut(&cut, piece(line, c, s->begin, c->text.n), left, escape_locale());
        add_styled(p, line, s->style, buf_string(&cut), escape_width(buf_string(&cut)));
        buf_free(&cut);
        return;
    }
}

static void end_line(struct print *p, struct line *line)
{
    while (line->text.n && line->text.at[line->text.n - 1] == ' ')
        line->text.n--;
    buf_char(&line->text, '\n');
    fwrite(line->text.at, 1, line->text.n, p->out);
    buf_clear(&line->text);
    line->columns = 0;
}

static void print_row(struct print *p, const struct columns *l, struct line *line,
                      const struct row *r)
{
    int start = 0;

    for (size_t i = 0; i < l->n; i++) {
        int room = p->width ? l->widths[i] : INT_MAX;
        if (p->width && start + room > p->width)
            room = p->width > start ? p->width - start : 0;
        if (room == 0)
            break;
        int width = r->cells[i].text.n ? escape_width(r->cells[i].text.at) : 0;
        if (line->columns < start)
            add_spaces(line, start - line->columns);
        if (l->at[i].right)
            add_spaces(line, (room < l->widths[i] ? room : l->widths[i]) - width);
        add_cell(p, line, &r->cells[i], room);
        start = (line->columns > start + l->widths[i] ? line->columns : start + l->widths[i]) +
                COLUMNS_GAP;
    }
    end_line(p, line);
}

static void print_titles(struct print *p, const struct columns *l, struct line *line)
{
    struct row titles = {0};

    for (size_t i = 0; i < l->n; i++)
        cell_add(&titles.cells[i], STYLE_HEADING, "%s", l->at[i].title);
    print_row(p, l, line, &titles);
    row_free(&titles);
}

static bool print_details(struct print *p, struct view *v, uint64_t row, struct line *line,
                          struct error *e)
{
    struct cell c = {0};
    bool more = true, ok = true;

    for (size_t n = 0; ok && more; n++) {
        cell_clear(&c);
        ok = v->ops->detail(v, row, n, &c, &more, e);
        if (!ok || !more)
            break;
        if (!p->width || p->width > DETAIL_INDENT)
            add_spaces(line, DETAIL_INDENT);
        add_cell(p, line, &c, p->width ? p->width - line->columns : INT_MAX);
        end_line(p, line);
    }
    cell_free(&c);
    return ok;
}

bool print_view(struct print *p, struct view *v, struct error *e)
{
    struct columns l = {0};
    struct line line = {0};
    struct row row = {0};
    bool ok = choose_widths(p, v, &l, e);

    for (uint64_t at = 1; ok && !ferror(p->out); at++) {
        ok = v->ops->seek(v, &at, 1, e);
        if (!ok || !at)
            break;
        if (p->rows++ == 0)
            print_titles(p, &l, &line);
        row_clear(&row);
        ok = v->ops->draw(v, at, &row, e);
        if (!ok)
            break;
        print_row(p, &l, &line, &row);
        if (p->details)
            ok = print_details(p, v, at, &line, e);
    }
    row_free(&row);
    buf_free(&line.text);
    buf_free(&line.piece);
    return ok;
}
