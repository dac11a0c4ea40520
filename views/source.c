/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/source.h"
#include "views/op_words.h"
#include "views/schedule.h"

enum { POINTER, NUMBER, MARKS, TEXT, COLUMNS };

struct source_table {
    struct view view;
    struct analysis *analysis;
    struct links *links;
    struct walk *walk;
    struct source *source;
    char *path;
    uint32_t current;
    uint64_t version;      /* of the walk that lost is of */
    vec_of(uint32_t) lost; /* by line number of links: how many lost ops it has */
};

/* --- Marks --------------------------------------------------------------------------------- */

/* Lost ops by line, once for each change of the schedule: O(lost + lines). */
static void count_lost(struct source_table *t)
{
    size_t lines = links_line_count(t->links), n;
    const uint32_t *lost = walk_lost(t->walk, &n);

    if (t->version == walk_version(t->walk) && t->lost.n == lines)
        return;
    t->lost.n = 0;
    while (t->lost.n < lines)
        vec_push(&t->lost, 0);
    for (size_t i = 0; i < n; i++) {
        uint32_t line = links_op_line(t->links, lost[i]);
        if (line < lines)
            t->lost.at[line]++;
    }
    t->version = walk_version(t->walk);
}

/* How many of some ops lie before one. */
static size_t ops_before(const uint32_t *ops, size_t n, uint32_t op)
{
    size_t low = 0;

    while (low < n) {
        size_t middle = (low + n) / 2;
        if (ops[middle] < op)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Which marks the ops of a line have, as bits. */
static unsigned find_marks(struct source_table *t, uint32_t line)
{
    size_t n;

    if (!t->walk || !t->links)
        return 0;
    const uint32_t *ops = links_line(t->links, t->path, line, &n);
    if (!n)
        return 0;
    count_lost(t);
    size_t lost = t->lost.at[links_op_line(t->links, ops[0])];
    size_t till_last = ops_before(ops, n, walk_last(t->walk) + 1);
    size_t issued = ops_before(ops, n, walk_issued(t->walk));
    return (till_last > lost ? 1U << WALK_PERSISTED : 0) | (lost ? 1U << WALK_LOST : 0) |
           (issued > till_last ? 1U << WALK_FLIGHT : 0) |
           (n > issued && n > till_last ? 1U << WALK_UNISSUED : 0);
}

/* What has not been issued says nothing beside what has. */
static void add_marks(struct cell *c, unsigned marks)
{
    if (marks & ~(1U << WALK_UNISSUED))
        marks &= ~(1U << WALK_UNISSUED);
    for (unsigned mark = WALK_PERSISTED; mark <= WALK_UNISSUED; mark++)
        if (marks & 1U << mark)
            schedule_sign(c, (enum walk_mark)mark);
}

/* --- The view ------------------------------------------------------------------------------ */

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [POINTER] = {.title = "", .least = 1, .most = 1},
        [NUMBER] = {.title = "", .least = 4, .right = true},
        [MARKS] = {.title = "", .least = 1, .most = 3},
        [TEXT] = {.title = "", .least = 20, .yields = 1},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    const struct source_table *t = (struct source_table *)v;
    uint32_t lines = source_line_count(t->source);

    return lines ? lines : 1;
}

static void add_text(struct cell *c, const char *line, size_t n)
{
    struct buf safe = {0};

    n -= n && line[n - 1] == '\r';
    escape_add(&safe, line, n, escape_locale() | ESCAPE_KEEP_NEWLINES);
    cell_text(c, STYLE_SOURCE_TEXT, buf_string(&safe), safe.n);
    buf_free(&safe);
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct source_table *t = (struct source_table *)v;
    size_t n;
    const char *line = source_line(t->source, (uint32_t)row, &n);

    (void)e;
    if (!line) {
        const char *words = source_state_words(source_state(t->source));
        cell_add(&out->cells[TEXT], STYLE_DIM, "%s", *words ? words : "the file is empty");
        return true;
    }
    if (row == t->current)
        cell_add(&out->cells[POINTER], STYLE_PLAIN, "%s", glyph(GLYPH_POINTER));
    cell_add(&out->cells[NUMBER], row == t->current ? STYLE_SOURCE_LINE : STYLE_DIM, "%" PRIu64,
             row);
    add_marks(&out->cells[MARKS], find_marks(t, (uint32_t)row));
    add_text(&out->cells[TEXT], line, n);
    return true;
}

/* The ops of the line, as the schedule has them. */
static bool detail(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                   struct error *e)
{
    struct source_table *t = (struct source_table *)v;
    size_t ops_count = 0;
    const uint32_t *ops =
        t->links ? links_line(t->links, t->path, (uint32_t)row, &ops_count) : NULL;

    *more = n < ops_count;
    if (!*more)
        return true;
    if (t->walk)
        schedule_mark(out, schedule_mark_of(t->walk, ops[n]));
    cell_add(out, STYLE_NUMBER, "%" PRIu64 " ", t->analysis->graph->ops[ops[n]].event);
    return op_what(out, t->analysis, ops[n], e);
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    const struct source_table *t = (struct source_table *)v;

    if (!source_line_count(t->source))
        return view_no_subject(v, row, out, e);
    *out = (struct subject){SUBJECT_LINE, row, t->path};
    return true;
}

static uint64_t find(struct view *v, const struct subject *s)
{
    const struct source_table *t = (struct source_table *)v;

    if (s->kind != SUBJECT_LINE || !s->path || strcmp(s->path, t->path) != 0)
        return 0;
    return s->number <= source_line_count(t->source) ? s->number : 0;
}

static void close_view(struct view *v)
{
    struct source_table *t = (struct source_table *)v;

    source_close(t->source);
    vec_free(&t->lost);
    free(t->path);
    free(t);
}

void source_view_current(struct view *v, uint32_t line)
{
    ((struct source_table *)v)->current = line;
}

const char *source_view_path(struct view *v)
{
    return ((struct source_table *)v)->path;
}

void source_view_title(struct view *v, struct cell *c)
{
    const struct source_table *t = (struct source_table *)v;
    const char *words = source_state_words(source_state(t->source));
    const char *slash = strrchr(t->path, '/'), *name = slash ? slash + 1 : t->path;

    cell_escape(c, STYLE_PATH, name, strlen(name));
    if (*words)
        cell_add(c, STYLE_WARNING, "  %s", words);
}

struct view *source_view(struct analysis *a, struct links *links, struct walk *walk,
                         const char *path)
{
    static const struct view_ops ops = {
        .name = "source",
        .kind = VIEW_SOURCE,
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = detail,
        .subject = subject,
        .find = find,
        .close = close_view,
    };
    struct source_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->analysis = a;
    t->links = links;
    t->walk = walk;
    t->path = xstrdup(path);
    t->source = source_open(a->session, path);
    return &t->view;
}
