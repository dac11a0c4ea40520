/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/escape.h"
#include "engine/mem.h"
#include "engine/output.h"

enum stage { STAGE_SETTLE, STAGE_MEASURE, STAGE_RENDER, STAGE_WRITE, STAGES };

struct dump {
    char *path;
    struct pane *pane;
    uint64_t edition; /* of the pane when it began */
    enum stage stage;
    struct columns columns;
    uint64_t place, count; /* of rows: that at hand, once for the widths and once for the text */
    struct row row;
    struct buf text;
    FILE *file;
    size_t written;
};

static bool may_write(const char *path, bool drawn, struct error *e)
{
    if (strcmp(path, "-") != 0)
        return output_may_replace(path, e);
    return !drawn || error_set(e, "standard output is this terminal; name a file");
}

/* ---- rows ---- */

static void pad(struct buf *out, int n)
{
    for (int i = 0; i < n; i++)
        buf_char(out, ' ');
}

static void add_row(const struct columns *c, const struct row *r, struct buf *out)
{
    size_t from = out->n;

    for (size_t i = 0; i < c->n; i++) {
        const char *text = buf_string(&r->cells[i].text);
        int room = c->widths[i] - escape_width(text);
        if (i)
            pad(out, COLUMNS_GAP);
        if (c->at[i].right)
            pad(out, room);
        buf_text(out, text);
        if (!c->at[i].right)
            pad(out, room);
    }
    while (out->n > from && out->at[out->n - 1] == ' ')
        out->n--;
    buf_char(out, '\n');
}

static bool has_titles(const struct columns *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->at[i].title[0])
            return true;
    return false;
}

static void add_titles(struct dump *u)
{
    row_clear(&u->row);
    for (size_t i = 0; i < u->columns.n; i++)
        cell_add(&u->row.cells[i], STYLE_HEADING, "%s", u->columns.at[i].title);
    add_row(&u->columns, &u->row, &u->text);
}

/* A row that cannot be read says why. */
static void read_row(struct dump *u)
{
    struct view *v = u->pane->view;
    struct error e;

    row_clear(&u->row);
    if (v->ops->draw(v, rows_at(&u->pane->rows, u->place), &u->row, &e))
        return;
    row_clear(&u->row);
    cell_escape(&u->row.cells[0], STYLE_MESSAGE_ERROR, e.text, strlen(e.text));
}

/* ---- stages: each works until the deadline, and *done is whether it has come to its end ---- */

/* Which rows a filter leaves, and in which order, may be still being worked out. */
static bool settle(struct dump *u, uint64_t deadline, bool *done, struct error *e)
{
    *done = true;
    if (!u->pane->view)
        return true;
    if (!rows_settle(&u->pane->rows, deadline, done, e))
        return false;
    u->columns = u->pane->columns;
    u->count = rows_count(&u->pane->rows);
    return true;
}

static bool measure(struct dump *u, uint64_t deadline, bool *done, struct error *e)
{
    (void)e;
    while (u->place < u->count) {
        read_row(u);
        columns_measure(&u->columns, &u->row);
        u->place++;
        if (clock_now() >= deadline)
            break;
    }
    *done = u->place == u->count;
    return true;
}

static bool render(struct dump *u, uint64_t deadline, bool *done, struct error *e)
{
    (void)e;
    if (!u->place && has_titles(&u->columns))
        add_titles(u);
    while (u->place < u->count) {
        read_row(u);
        add_row(&u->columns, &u->row, &u->text);
        u->place++;
        if (clock_now() >= deadline)
            break;
    }
    *done = u->place == u->count;
    return true;
}

static bool write_out(struct dump *u, uint64_t deadline, bool *done, struct error *e)
{
    enum { PIECE = 256 << 10 }; /* bytes: well below a millisecond */

    *done = true;
    if (!strcmp(u->path, "-"))
        return dump_file(u->path, &u->text, false, e);
    if (!u->file && !(u->file = fopen(u->path, "we")))
        return error_errno(e, "cannot write %s", u->path);
    while (u->written < u->text.n) {
        size_t left = u->text.n - u->written, n = left < PIECE ? left : PIECE;
        if (fwrite(u->text.at + u->written, 1, n, u->file) != n)
            return error_errno(e, "cannot write %s", u->path);
        u->written += n;
        if (clock_now() >= deadline)
            break;
    }
    *done = u->written == u->text.n;
    if (!*done)
        return true;
    bool ok = fclose(u->file) == 0;
    u->file = NULL;
    return ok || error_errno(e, "cannot write %s", u->path);
}

typedef bool stage_work(struct dump *u, uint64_t deadline, bool *done, struct error *e);
static stage_work *const stages[STAGES] = {[STAGE_SETTLE] = settle,
                                           [STAGE_MEASURE] = measure,
                                           [STAGE_RENDER] = render,
                                           [STAGE_WRITE] = write_out};

/* ---- all of it ---- */

struct dump *dump_start(struct pane *p, const char *path, bool drawn, struct error *e)
{
    if (!may_write(path, drawn, e))
        return NULL;
    struct dump *u = xcalloc(1, sizeof *u);
    *u = (struct dump){.path = xstrdup(path), .pane = p, .edition = p->edition};
    return u;
}

/* Views may have other rows without telling their pane. */
static bool is_the_same(const struct dump *u)
{
    bool counted = u->stage > STAGE_SETTLE && u->pane->view;

    return u->pane->edition == u->edition && (!counted || rows_count(&u->pane->rows) == u->count);
}

bool dump_work(struct dump *u, uint64_t deadline, bool *done, struct error *e)
{
    *done = false;
    if (u->stage < STAGE_WRITE && !is_the_same(u))
        return error_set(e, "%s was not written: the view changed before all of it was read",
                         u->path);
    do {
        bool ended;
        if (!stages[u->stage](u, deadline, &ended, e))
            return false;
        if (ended) {
            u->stage++;
            u->place = 0;
        }
        *done = u->stage == STAGES;
    } while (!*done && clock_now() < deadline);
    return true;
}

const char *dump_path(const struct dump *u)
{
    return u->path;
}

int dump_percent(const struct dump *u)
{
    uint64_t read = u->place + (u->stage > STAGE_MEASURE ? u->count : 0);

    if (u->stage >= STAGE_WRITE)
        return 100;
    return u->count ? (int)(read * 100 / (2 * u->count)) : 0;
}

void dump_end(struct dump *u)
{
    if (!u)
        return;
    if (u->file)
        fclose(u->file);
    row_free(&u->row);
    buf_free(&u->text);
    free(u->path);
    free(u);
}

/* ---- whole files ---- */

bool dump_file(const char *path, const struct buf *text, bool drawn, struct error *e)
{
    if (!may_write(path, drawn, e))
        return false;
    if (!strcmp(path, "-")) {
        fwrite(buf_string(text), 1, text->n, stdout);
        return true;
    }
    FILE *f = fopen(path, "we");
    if (!f)
        return error_errno(e, "cannot write %s", path);
    bool ok = fwrite(buf_string(text), 1, text->n, f) == text->n;
    ok &= fclose(f) == 0;
    return ok || error_errno(e, "cannot write %s", path);
}
