/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/dump.h"

#include <stdio.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/output.h"

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

void dump_view(struct pane *p, struct buf *out)
{
    struct columns c = p->columns;
    struct row row = {0};
    struct error e;
    uint64_t n = p->view ? rows_count(&p->rows) : 0;
    bool titled = false;

    /* Once for the widths, once for the text. */
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; turn && i < c.n; i++)
            titled |= c.at[i].title[0] != 0;
        if (titled) {
            row_clear(&row);
            for (size_t i = 0; i < c.n; i++)
                cell_add(&row.cells[i], STYLE_HEADING, "%s", c.at[i].title);
            add_row(&c, &row, out);
        }
        for (uint64_t place = 0; place < n; place++) {
            row_clear(&row);
            if (!p->view->ops->draw(p->view, rows_at(&p->rows, place), &row, &e)) {
                row_clear(&row);
                cell_escape(&row.cells[0], STYLE_MESSAGE_ERROR, e.text, strlen(e.text));
            }
            if (turn)
                add_row(&c, &row, out);
            else
                columns_measure(&c, &row);
        }
    }
    row_free(&row);
}

bool dump_file(const char *path, const struct buf *text, bool drawn, struct error *e)
{
    if (drawn && !strcmp(path, "-"))
        return error_set(e, "standard output is this terminal; name a file");
    if (!strcmp(path, "-")) {
        fwrite(buf_string(text), 1, text->n, stdout);
        return true;
    }
    if (!output_may_replace(path, e))
        return false;
    FILE *f = fopen(path, "we");
    if (!f)
        return error_errno(e, "cannot write %s", path);
    bool ok = fwrite(buf_string(text), 1, text->n, f) == text->n;
    ok &= fclose(f) == 0;
    return ok || error_errno(e, "cannot write %s", path);
}
