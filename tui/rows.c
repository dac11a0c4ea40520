/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/rows.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/clock.h"
#include "engine/mem.h"

/* Places merged, or numbered, between two looks at the clock. */
enum { MERGE_SLICE = 1024 };

static bool is_plain(const struct rows *r)
{
    return !r->filter && r->sort < 0;
}

/* ---- what is asked for ---- */

static void forget_keys(struct rows *r)
{
    vec_free(&r->keys);
    buf_free(&r->texts);
}

static void forget(struct rows *r)
{
    forget_keys(r);
    free(r->places);
    r->places = NULL;
    r->list.n = 0;
    r->read = 0;
    r->width = r->begin = r->left = r->right = 0;
    r->sorted = false;
    free(r->order);
    free(r->merged);
    r->order = r->merged = NULL;
}

static void forget_filter(struct rows *r)
{
    for (size_t i = 0; i < r->conditions.n; i++)
        free(r->conditions.at[i].text);
    r->conditions.n = 0;
    free(r->filter);
    r->filter = NULL;
}

void rows_init(struct rows *r, struct view *v)
{
    *r = (struct rows){.view = v, .sort = -1};
}

void rows_free(struct rows *r)
{
    forget(r);
    forget_filter(r);
    vec_free(&r->conditions);
    vec_free(&r->list);
    row_free(&r->scratch);
}

static int find_column(struct rows *r, const char *title, size_t length)
{
    size_t n;
    const struct column *columns = r->view->ops->columns(r->view, &n);

    for (size_t i = 0; i < n; i++)
        if (length && strncasecmp(columns[i].title, title, length) == 0)
            return (int)i;
    return -1;
}

static bool no_column(struct rows *r, const char *title, size_t length, struct error *e)
{
    size_t n;
    const struct column *columns = r->view->ops->columns(r->view, &n);
    struct buf known = {0};

    for (size_t i = 0; i < n; i++)
        if (columns[i].title[0])
            buf_printf(&known, "%s%s", known.n ? ", " : "", columns[i].title);
    error_set(e, "no column is called %.*s here; there are %s", (int)length, title,
              known.n ? known.at : "none");
    buf_free(&known);
    return false;
}

static bool add_condition(struct rows *r, const char *word, size_t n, struct error *e)
{
    struct rows_condition c = {.column = -1};

    if (n > 1 && word[0] == '!') {
        c.without = true;
        word++, n--;
    }
    const char *equals = memchr(word, '=', n);
    if (equals && equals != word) {
        size_t title = (size_t)(equals - word);
        c.column = find_column(r, word, title);
        if (c.column < 0)
            return no_column(r, word, title, e);
        word = equals + 1;
        n -= title + 1;
    }
    c.text = xstrndup(word, n);
    vec_push(&r->conditions, c);
    return true;
}

bool rows_filter(struct rows *r, const char *text, struct error *e)
{
    forget(r);
    forget_filter(r);
    if (!text || !text[strspn(text, " ")])
        return true;
    r->filter = xstrdup(text);
    for (const char *at = text; *(at += strspn(at, " "));) {
        size_t n = strcspn(at, " ");
        if (!add_condition(r, at, n, e)) {
            forget_filter(r);
            return false;
        }
        at += n;
    }
    return true;
}

bool rows_sort(struct rows *r, const char *column, struct error *e)
{
    bool descending = column && *column == '-';
    int found = -1;

    if (descending)
        column++;
    if (column && *column) {
        found = find_column(r, column, strlen(column));
        if (found < 0)
            return no_column(r, column, strlen(column), e);
    }
    forget(r);
    r->sort = found;
    r->descending = descending;
    return true;
}

bool rows_again(struct rows *r)
{
    if (is_plain(r))
        return false;
    forget(r);
    return true;
}

/* ---- reading ---- */

static bool cell_has(const struct cell *c, const char *text)
{
    return c->text.n && strcasestr(c->text.at, text);
}

static bool holds(const struct rows *r, const struct rows_condition *c, size_t columns)
{
    if (c->column >= 0)
        return fnmatch(c->text, buf_string(&r->scratch.cells[c->column].text), FNM_CASEFOLD) == 0;
    for (size_t i = 0; i < columns; i++)
        if (cell_has(&r->scratch.cells[i], c->text))
            return true;
    return false;
}

static bool passes(const struct rows *r)
{
    size_t n;

    r->view->ops->columns(r->view, &n);
    for (size_t i = 0; i < r->conditions.n; i++)
        if (holds(r, &r->conditions.at[i], n) == r->conditions.at[i].without)
            return false;
    return true;
}

static void add_key(struct rows *r)
{
    const char *text = buf_string(&r->scratch.cells[r->sort].text);
    char *end;
    struct rows_key key = {.number = strtod(text, &end)};

    /* "26 fdatasync log" sorts by its number, and so does "5..16" by its first */
    if (end == text || !isdigit((unsigned char)*text)) {
        key.text = r->texts.n + 1;
        buf_add(&r->texts, text, strlen(text) + 1);
    }
    vec_push(&r->keys, key);
}

static bool read_row(struct rows *r, uint64_t row, struct error *e)
{
    row_clear(&r->scratch);
    if (!r->view->ops->draw(r->view, row, &r->scratch, e))
        return false;
    r->read = row;
    if (!passes(r))
        return true;
    vec_push(&r->list, (uint32_t)row);
    if (r->sort >= 0)
        add_key(r);
    return true;
}

/* ---- sorting ---- */

static int compare(const struct rows *r, uint32_t a, uint32_t b)
{
    const struct rows_key *x = &r->keys.at[a], *y = &r->keys.at[b];
    int c;

    if (x->text && y->text)
        c = strcasecmp(r->texts.at + x->text - 1, r->texts.at + y->text - 1);
    else if (!x->text && !y->text)
        c = x->number < y->number ? -1 : x->number > y->number;
    else
        c = x->text ? 1 : -1; /* numbers first */
    return r->descending ? -c : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void begin_merging(struct rows *r)
{
    size_t n = r->list.n;

    r->order = xcalloc(n + 1, sizeof *r->order);
    r->merged = xcalloc(n + 1, sizeof *r->merged);
    for (size_t i = 0; i < n; i++)
        r->order[i] = (uint32_t)i;
    r->width = 1;
    r->begin = r->left = 0;
    r->right = 1;
}

/* Puts the next place of the two runs at hand; goes on to the next two, and to longer ones. */
static void merge_one(struct rows *r)
{
    size_t n = r->list.n;
    size_t middle = least(r->begin + r->width, n), end = least(r->begin + 2 * r->width, n);

    if (r->left < middle || r->right < end) {
        bool take_left = r->right >= end || (r->left < middle && compare(r, r->order[r->left],
                                                                         r->order[r->right]) <= 0);
        size_t to = r->left + r->right - middle;
        r->merged[to] = r->order[take_left ? r->left++ : r->right++];
        return;
    }
    r->begin = end;
    if (r->begin >= n) {
        uint32_t *swap = r->order;
        r->order = r->merged;
        r->merged = swap;
        r->width *= 2;
        r->begin = 0;
    }
    r->left = r->begin;
    r->right = least(r->begin + r->width, n);
}

static bool merge(struct rows *r, uint64_t deadline)
{
    if (!r->width)
        begin_merging(r);
    while (r->width < r->list.n) {
        for (int i = 0; i < MERGE_SLICE && r->width < r->list.n; i++)
            merge_one(r);
        if (clock_now() >= deadline)
            return r->width >= r->list.n;
    }
    return true;
}

/* The list in its new order, and where each row is in it. */
static bool take_order(struct rows *r, uint64_t deadline)
{
    size_t n = r->list.n;

    if (!r->places) {
        r->places = xcalloc(r->read + 1, sizeof *r->places);
        r->begin = 0;
    }
    while (r->begin < n) {
        for (int i = 0; i < MERGE_SLICE && r->begin < n; i++, r->begin++) {
            uint32_t row = r->list.at[r->order[r->begin]];
            r->merged[r->begin] = row;
            r->places[row] = (uint32_t)r->begin + 1;
        }
        if (clock_now() >= deadline && r->begin < n)
            return false;
    }
    free(r->list.at);
    free(r->order);
    r->list.at = r->merged;
    r->list.cap = n + 1;
    r->order = r->merged = NULL;
    forget_keys(r);
    r->sorted = true;
    return true;
}

bool rows_settle(struct rows *r, uint64_t deadline, bool *done, struct error *e)
{
    *done = true;
    if (is_plain(r))
        return true;
    uint64_t count = r->view->ops->count(r->view);
    if (r->read > count)
        forget(r);
    if (r->sorted)
        return true;
    while (r->read < count) {
        if (!read_row(r, r->read + 1, e))
            return false;
        if (clock_now() >= deadline && r->read < count) {
            *done = false;
            return true;
        }
    }
    if (r->sort < 0)
        return true;
    *done = merge(r, deadline) && take_order(r, deadline);
    return true;
}

int rows_percent(const struct rows *r)
{
    uint64_t count = r->view->ops->count(r->view);

    return is_plain(r) || !count || r->read >= count ? 100 : (int)(r->read * 100 / count);
}

/* ---- places ---- */

uint64_t rows_count(const struct rows *r)
{
    return is_plain(r) ? r->view->ops->count(r->view) : r->list.n;
}

uint64_t rows_at(const struct rows *r, uint64_t place)
{
    if (place >= rows_count(r))
        return 0;
    uint64_t row = is_plain(r) ? place + 1 : r->list.at[place];
    return row <= r->view->ops->count(r->view) ? row : 0; /* it may have fewer than when read */
}

uint64_t rows_place(const struct rows *r, uint64_t row)
{
    if (!row)
        return 0;
    if (is_plain(r))
        return row - 1;
    if (r->sorted)
        return row <= r->read && r->places[row] ? r->places[row] - 1 : 0;
    size_t low = 0, high = r->list.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->list.at[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
