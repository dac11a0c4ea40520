/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/help.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"

enum { KEY, NAME, TEXT, COLUMNS };

struct help_row {
    const struct help_entry *entry;
    bool heading; /* the section of the entry */
};

struct help {
    struct view view;
    vec_of(struct help_row) rows;
};

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [KEY] = {.title = "key", .least = 6, .most = 16},
        [NAME] = {.title = "command", .least = 14, .most = 24, .yields = 1},
        [TEXT] = {.title = "what", .least = 20, .yields = 2},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    return ((struct help *)v)->rows.n;
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    const struct help_row *r = &((struct help *)v)->rows.at[row - 1];

    (void)e;
    if (r->heading) {
        cell_add(&out->cells[TEXT], STYLE_HEADING, "%s", r->entry->section);
        return true;
    }
    cell_add(&out->cells[KEY], STYLE_BAR_KEY, "%s", r->entry->key);
    cell_add(&out->cells[NAME], STYLE_FLAG, "%s", r->entry->name);
    cell_add(&out->cells[TEXT], STYLE_PLAIN, "%s", r->entry->text);
    return true;
}

static void close_view(struct view *v)
{
    struct help *h = (struct help *)v;

    vec_free(&h->rows);
    free(h);
}

uint64_t help_row(struct view *v, const char *name)
{
    const struct help *h = (struct help *)v;
    size_t length = strlen(name);

    for (size_t i = 0; i < h->rows.n; i++) {
        const struct help_row *r = &h->rows.at[i];
        if (!r->heading && strcspn(r->entry->name, " ") == length &&
            strncmp(r->entry->name, name, length) == 0)
            return i + 1;
    }
    return 0;
}

struct view *help_view(const struct help_entry *entries, size_t n)
{
    static const struct view_ops ops = {
        .name = "help",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = view_no_subject,
        .find = view_find_nothing,
        .close = close_view,
    };
    struct help *h = xcalloc(1, sizeof *h);

    h->view.ops = &ops;
    for (size_t i = 0; i < n; i++) {
        if (!i || strcmp(entries[i - 1].section, entries[i].section) != 0)
            vec_push(&h->rows, (struct help_row){&entries[i], true});
        vec_push(&h->rows, (struct help_row){&entries[i], false});
    }
    return &h->view;
}
