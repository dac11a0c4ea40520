/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/pane.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/escape.h"
#include "engine/mem.h"

enum {
    POINTER_WIDTH = 2, /* the sign before the selected row */
    SHIFT_STEP = 8,    /* columns that one key scrolls sideways */
    LEAST_TITLE = 12,  /* columns that a title should have beside what is at its right */
    MARGIN = 2,        /* rows in sight beyond the selection, where there are enough */
    ENOUGH_ROWS = 7,
    LEAST_FOR_TITLES = 4, /* lower panes need their lines for rows */
};

void pane_init(struct pane *p)
{
    *p = (struct pane){.empty = "there is nothing here"};
    rows_init(&p->rows, NULL);
}

static void drop(struct pane *p)
{
    rows_free(&p->rows);
    if (p->view)
        p->view->ops->close(p->view);
    p->view = NULL;
}

void pane_free(struct pane *p)
{
    drop(p);
    free(p->text);
    cell_free(&p->title);
    cell_free(&p->right);
    *p = (struct pane){0};
}

void pane_columns(struct pane *p)
{
    p->edition++;
    p->columns = (struct columns){0};
    if (p->view)
        columns_begin(&p->columns, p->view);
}

static void take_view(struct pane *p, struct view *v)
{
    p->view = v;
    rows_init(&p->rows, v);
    pane_columns(p);
    p->search = SEARCH_NONE;
    p->wanted = 0;
    p->settling = false;
}

void pane_show(struct pane *p, struct view *v)
{
    drop(p);
    take_view(p, v);
    free(p->text);
    p->text = NULL;
    p->top = 0;
    p->shift = 0;
    p->selected = v && v->ops->count(v) ? 1 : 0;
}

void pane_replace(struct pane *p, struct view *v)
{
    char *filter = p->rows.filter ? xstrdup(p->rows.filter) : NULL;
    int sort = p->rows.sort;
    bool descending = p->rows.descending;
    uint64_t selected = p->selected;

    drop(p);
    take_view(p, v);
    if (v && filter)
        rows_filter(&p->rows, filter, NULL);
    if (v) {
        p->rows.sort = sort < (int)p->columns.n ? sort : -1;
        p->rows.descending = descending;
        /* Which rows there are is known only when they are read again. */
        if (filter || p->rows.sort >= 0)
            p->wanted = selected;
    }
    free(filter);
    pane_select(p, selected);
}

/* ---- moving ---- */

static uint64_t count(const struct pane *p)
{
    return p->view ? rows_count(&p->rows) : 0;
}

static uint64_t place(const struct pane *p)
{
    return rows_place(&p->rows, p->selected);
}

static int lines(const struct pane *p)
{
    int n = p->area.bottom - p->first_line;
    return n > 1 ? n : 1;
}

static void go_to_place(struct pane *p, uint64_t to)
{
    uint64_t n = count(p);

    p->selected = n ? rows_at(&p->rows, to < n ? to : n - 1) : 0;
}

static void select_row(struct pane *p, uint64_t row)
{
    uint64_t most = p->view->ops->count(p->view);

    p->selected = row > most ? most : row;
    if (!p->selected && most)
        p->selected = 1;
    go_to_place(p, place(p));
}

void pane_select(struct pane *p, uint64_t row)
{
    if (!p->view)
        return;
    if (p->wanted)
        p->wanted = row;
    select_row(p, row);
}

void pane_select_amid(struct pane *p, uint64_t row)
{
    uint64_t height = (uint64_t)lines(p);

    pane_select(p, row);
    uint64_t at = p->selected ? place(p) : 0;
    if (at < p->top || at >= p->top + height)
        p->top = at > height / 2 ? at - height / 2 : 0;
}

void pane_again(struct pane *p)
{
    p->edition++;
    if (p->view && rows_again(&p->rows) && !p->wanted)
        p->wanted = p->selected ? p->selected : 1;
}

void pane_move(struct pane *p, int64_t by)
{
    p->wanted = 0;
    if (!count(p))
        return;
    uint64_t from = place(p), back = by < 0 ? (uint64_t)-by : 0;

    go_to_place(p, by < 0 ? (from > back ? from - back : 0) : from + (uint64_t)by);
}

void pane_page(struct pane *p, int direction)
{
    int64_t by = lines(p) > 1 ? lines(p) - 1 : 1;

    pane_move(p, direction * by);
}

void pane_end(struct pane *p, int direction)
{
    p->wanted = 0;
    go_to_place(p, direction < 0 ? 0 : UINT64_MAX);
}

void pane_scroll(struct pane *p, int by)
{
    pane_move(p, by);
}

void pane_shift(struct pane *p, int direction)
{
    p->shift += direction * SHIFT_STEP;
    if (p->shift < 0)
        p->shift = 0;
}

uint64_t pane_row_at(const struct pane *p, int screen_row)
{
    if (!p->view || screen_row < p->first_line || screen_row >= p->area.bottom)
        return 0;
    return rows_at(&p->rows, p->top + (uint64_t)(screen_row - p->first_line));
}

static bool has_column_titles(const struct pane *p)
{
    for (size_t i = 0; i < p->columns.n; i++)
        if (p->columns.at[i].title[0])
            return !p->plain;
    return false;
}

int pane_wants(const struct pane *p)
{
    enum { SURELY_ENOUGH = 1000 };
    bool known = p->view && !p->picture && !p->plain && !p->settling;
    uint64_t n = known ? p->view->ops->count(p->view) : 0;

    if (!n)
        return 0;
    return 1 + has_column_titles(p) + (int)(n < SURELY_ENOUGH ? n : SURELY_ENOUGH);
}

/* ---- finding ---- */

bool pane_filter(struct pane *p, const char *text, struct error *e)
{
    if (!p->view)
        return error_set(e, "there is nothing to filter");
    p->edition++;
    return rows_filter(&p->rows, text, e);
}

bool pane_sort(struct pane *p, const char *column, struct error *e)
{
    if (!p->view)
        return error_set(e, "there is nothing to sort");
    p->edition++;
    return rows_sort(&p->rows, column, e);
}

bool pane_search(struct pane *p, const char *text, int direction, struct error *e)
{
    if (text && *text) {
        free(p->text);
        p->text = xstrdup(text);
    }
    if (!p->text)
        return error_set(e, "nothing has been searched for yet: / and a text");
    p->search = SEARCH_RUNNING;
    p->direction = direction;
    p->at = place(p);
    p->left = count(p);
    return true;
}

void pane_forget(struct pane *p)
{
    free(p->text);
    p->text = NULL;
    p->search = SEARCH_NONE;
}

static bool has_text(struct pane *p, uint64_t row, bool *found, struct error *e)
{
    struct row *r = &p->rows.scratch;

    *found = false;
    row_clear(r);
    if (!p->view->ops->draw(p->view, row, r, e))
        return false;
    for (size_t i = 0; i < p->columns.n && !*found; i++)
        *found = r->cells[i].text.n && strcasestr(r->cells[i].text.at, p->text);
    return true;
}

static bool search_on(struct pane *p, uint64_t deadline, struct error *e)
{
    uint64_t n = count(p);

    while (p->search == SEARCH_RUNNING) {
        if (!p->left || !n) {
            p->search = SEARCH_FAILED;
            break;
        }
        p->left--;
        p->at = p->direction > 0 ? (p->at + 1 < n ? p->at + 1 : 0) : (p->at ? p->at : n) - 1;
        bool found;
        if (!has_text(p, rows_at(&p->rows, p->at), &found, e)) {
            p->search = SEARCH_FAILED;
            return false;
        }
        if (found) {
            p->search = SEARCH_FOUND;
            go_to_place(p, p->at);
        }
        if (clock_now() >= deadline)
            break;
    }
    return true;
}

bool pane_settle(struct pane *p, uint64_t deadline, bool *done, struct error *e)
{
    *done = true;
    if (!p->view)
        return true;
    if (!rows_settle(&p->rows, deadline, done, e))
        return false;
    if (*done && p->wanted) {
        select_row(p, p->wanted);
        p->wanted = 0;
    }
    if (*done && p->search == SEARCH_RUNNING) {
        if (!search_on(p, deadline, e))
            return false;
        *done = p->search != SEARCH_RUNNING;
    }
    return true;
}

/* ---- drawing ---- */

static int pointer_width(const struct pane *p)
{
    return p->plain || p->unmarked ? 0 : POINTER_WIDTH;
}

static void draw_title(struct pane *p, struct screen *s, bool active)
{
    enum style style = active ? STYLE_TITLE_ACTIVE : STYLE_TITLE;
    struct area a = p->area;
    int width = p->right.text.n ? escape_width(p->right.text.at) : 0;
    int end = width && area_width(a) > width + LEAST_TITLE ? a.right - width - 3 : a.right;

    screen_fill(s, a.top, a.left, a.right, style, GLYPH_HORIZONTAL);
    if (p->title.text.n) {
        int column = screen_put(s, a.top, a.left + 1, end, style, " ", 1);
        column = screen_cell(s, a.top, column, end - 1, &p->title, 0);
        screen_put(s, a.top, column, end, style, " ", 1);
    }
    if (end < a.right) {
        int column = screen_put(s, a.top, end, a.right, style, " ", 1);
        column = screen_cell(s, a.top, column, a.right, &p->right, 0);
        screen_put(s, a.top, column, a.right, style, " ", 1);
    }
}

/* Keeps the selection in sight and as much of the lines in use as there are rows. */
static void keep_in_sight(struct pane *p)
{
    uint64_t n = count(p), height = (uint64_t)lines(p), at = p->selected ? place(p) : 0;

    bool far = at + height < p->top || at >= p->top + 2 * height;
    if (far) /* a jump: with what lies around it */
        p->top = at > height / 2 ? at - height / 2 : 0;
    uint64_t margin = height >= ENOUGH_ROWS ? MARGIN : 0;
    if (!far && at < p->top + margin)
        p->top = at > margin ? at - margin : 0;
    else if (!far && at + margin >= p->top + height)
        p->top = at + margin - height + 1;
    if (p->top + height > n)
        p->top = n > height ? n - height : 0;
}

/* Draws cells side by side; widths are those of the columns. */
static void draw_cells(const struct pane *p, struct screen *s, int line, const struct columns *c,
                       const struct row *r)
{
    int left = p->area.left + pointer_width(p);
    int start = left - p->shift;

    for (size_t i = 0; i < c->n; i++) {
        int room = i + 1 < c->n ? c->widths[i] : p->area.right - start;
        int at = start, width = 0;
        if (c->at[i].right && r->cells[i].text.n)
            width = escape_width(r->cells[i].text.at);
        if (width && width < c->widths[i])
            at += c->widths[i] - width;
        int skip = at < left ? left - at : 0;
        int end = start + room < p->area.right ? start + room : p->area.right;
        if (end > left)
            screen_cell(s, line, at + skip, end, &r->cells[i], skip);
        start += c->widths[i] + COLUMNS_GAP;
    }
}

static bool has_titles(const struct pane *p)
{
    return area_height(p->area) >= LEAST_FOR_TITLES && has_column_titles(p);
}

static void draw_titles(const struct pane *p, struct screen *s, const struct columns *c)
{
    struct row titles = {0};

    for (size_t i = 0; i < c->n; i++)
        cell_add(&titles.cells[i], STYLE_HEADING, "%s", c->at[i].title);
    draw_cells(p, s, p->first_line - 1, c, &titles);
    row_free(&titles);
}

/* Shows where the text that was searched for is in a line. */
static void show_found(const struct pane *p, struct screen *s, int line)
{
    struct buf text = {0};
    vec_of(int) columns = {0};

    for (int column = p->area.left; column < p->area.right; column++) {
        const struct screen_cell *c = &s->cells[line * s->columns + column];
        for (int i = 0; i < c->size; i++)
            vec_push(&columns, column);
        buf_add(&text, c->text, c->size);
    }
    size_t n = strlen(p->text);
    for (const char *at = buf_string(&text); n && (at = strcasestr(at, p->text)); at += n) {
        size_t first = (size_t)(at - text.at);
        screen_over(s, line, columns.at[first], columns.at[first + n - 1] + 1, STYLE_FOUND);
    }
    buf_free(&text);
    vec_free(&columns);
}

static void draw_row(const struct pane *p, struct screen *s, int line, const struct columns *c,
                     const struct row *r, bool selected, bool active)
{
    draw_cells(p, s, line, c, r);
    if (selected && pointer_width(p)) {
        const char *pointer = glyph(active ? GLYPH_POINTER : GLYPH_POINTER_IDLE);
        screen_put(s, line, p->area.left, p->area.right, STYLE_PLAIN, pointer, strlen(pointer));
    }
    if (selected)
        screen_over(s, line, p->area.left, p->area.right,
                    active ? STYLE_SELECTED : STYLE_SELECTED_IDLE);
    if (p->text)
        show_found(p, s, line);
}

static void say(const struct pane *p, struct screen *s, int line, enum style style,
                const char *text)
{
    struct cell c = {0};

    cell_escape(&c, style, text, strlen(text));
    screen_cell(s, line, p->area.left + pointer_width(p), p->area.right, &c, 0);
    cell_free(&c);
}

/* Reads the rows in sight. They are drawn when all are known, since they decide the widths. */
static int read_rows(struct pane *p, struct row *rows, int most, struct error *e)
{
    for (int i = 0; i < most; i++) {
        uint64_t row = rows_at(&p->rows, p->top + (uint64_t)i);
        if (!row)
            return i;
        if (!p->view->ops->draw(p->view, row, &rows[i], e)) {
            row_clear(&rows[i]);
            cell_escape(&rows[i].cells[0], STYLE_MESSAGE_ERROR, e->text, strlen(e->text));
        }
        columns_measure(&p->columns, &rows[i]);
    }
    return most;
}

static void draw_rows(struct pane *p, struct screen *s, bool active)
{
    struct error e;
    int most = lines(p);
    struct row *rows = xcalloc((size_t)most, sizeof *rows);
    int n = read_rows(p, rows, most, &e);
    struct columns fitted = p->columns;

    if (!p->shift)
        columns_fit(&fitted, area_width(p->area) - pointer_width(p));
    if (has_titles(p))
        draw_titles(p, s, &fitted);
    for (int i = 0; i < n; i++) {
        bool selected = rows_at(&p->rows, p->top + (uint64_t)i) == p->selected;
        draw_row(p, s, p->first_line + i, &fitted, &rows[i], selected && !p->plain, active);
    }
    for (int i = 0; i < most; i++)
        row_free(&rows[i]);
    free(rows);
}

/* ---- a picture ---- */

/* Scrolls so that the selected node is in sight, a little away from the edges. */
static void follow_node(struct pane *p)
{
    size_t node = graph_picture_selected(p->picture);
    int width = area_width(p->area), height = lines(p);
    int most_x = graph_picture_width(p->picture) - width;
    int most_y = graph_picture_height(p->picture) - height;

    if (node != NO_NODE) {
        struct picture_box b = graph_picture_box(p->picture, node);
        if (b.x < p->shift)
            p->shift = b.x - width / 4;
        if (b.x + b.width > p->shift + width)
            p->shift = b.x + b.width - width * 3 / 4;
        if (b.y < (int)p->top || b.y + b.height > (int)p->top + height)
            p->top = b.y > height / 3 ? (uint64_t)(b.y - height / 3) : 0;
    }
    if (p->shift > most_x)
        p->shift = most_x;
    if (p->shift < 0)
        p->shift = 0;
    if ((int)p->top > most_y)
        p->top = most_y > 0 ? (uint64_t)most_y : 0;
}

static void draw_picture(struct pane *p, struct screen *s)
{
    struct cell c = {0};
    int height = graph_picture_height(p->picture);

    if (!height) {
        say(p, s, p->first_line, STYLE_DIM, "laying the graph out");
        return;
    }
    follow_node(p);
    for (int i = 0; i < lines(p) && (int)p->top + i < height; i++) {
        cell_clear(&c);
        graph_picture_row(p->picture, (int)p->top + i, p->shift, area_width(p->area), &c);
        screen_cell(s, p->first_line + i, p->area.left, p->area.right, &c, 0);
    }
    cell_free(&c);
}

void pane_draw(struct pane *p, struct screen *s, struct area area, bool active)
{
    p->area = area;
    p->first_line = area.top + 1;
    if (area_height(area) < 1 || area_width(area) < 1)
        return;
    draw_title(p, s, active);
    if (!p->view || area_height(area) < 2)
        return;
    if (p->picture) {
        draw_picture(p, s);
        return;
    }
    if (has_titles(p))
        p->first_line++;
    if (p->selected == 0 || p->rows.filter)
        select_row(p, p->selected);
    keep_in_sight(p);
    if (!count(p))
        say(p, s, p->first_line, STYLE_DIM,
            p->rows.filter ? "nothing passes the filter" : p->empty);
    else
        draw_rows(p, s, active);
}
