/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/stack.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/mem.h"
#include "views/trace_what.h"

enum { NUMBER, FUNCTION, SOURCE, COLUMNS };

struct stack {
    struct view view;
    struct session *session;
    vec_of(struct location) at;
};

/* The location in which line n of a stack lies; NULL when there is none. */
static const struct location *find_location(struct session *s, struct symbols *sy, uint32_t stack,
                                            size_t n)
{
    const struct frame *frames;
    size_t count = session_stack(s, stack, &frames);

    for (size_t i = 0; i < count; i++) {
        const struct location *at;
        size_t m = symbols_frame(sy, &frames[i], &at);
        if (n < m)
            return &at[n];
        n -= m;
    }
    return NULL;
}

void stack_line(struct session *s, struct symbols *sy, uint32_t stack, size_t n, struct cell *out,
                bool *more)
{
    const struct location *at = find_location(s, sy, stack, n);

    *more = at != NULL;
    if (!at)
        return;
    trace_location(s, at, out, out);
    if (at->flags & LOCATION_INLINED)
        cell_add(out, STYLE_DIM, " inlined");
}

/* --- The view ------------------------------------------------------------------------------ */

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [NUMBER] = {.title = "#", .least = 2, .right = true},
        [FUNCTION] = {.title = "function", .least = 8, .most = 48, .yields = 1},
        [SOURCE] = {.title = "source", .least = 8, .yields = 2},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    return ((struct stack *)v)->at.n;
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct stack *t = (struct stack *)v;
    const struct location *at = &t->at.at[row - 1];

    (void)e;
    cell_add(&out->cells[NUMBER], STYLE_NUMBER, "%" PRIu64, row - 1);
    trace_location(t->session, at, &out->cells[FUNCTION], &out->cells[SOURCE]);
    if (at->flags & LOCATION_INLINED)
        cell_add(&out->cells[SOURCE], STYLE_DIM, " inlined");
    return true;
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    const struct location *at = &((struct stack *)v)->at.at[row - 1];

    if (!(at->flags & LOCATION_LINE))
        return view_no_subject(v, row, out, e);
    *out = (struct subject){SUBJECT_LINE, at->line, at->file};
    return true;
}

static void close_view(struct view *v)
{
    struct stack *t = (struct stack *)v;

    vec_free(&t->at);
    free(t);
}

uint64_t stack_view_source(struct view *v, uint64_t row, int step)
{
    const struct stack *t = (struct stack *)v;

    while (row >= 1 && row <= t->at.n && !location_has_source(&t->at.at[row - 1]))
        row += (uint64_t)step;
    return row <= t->at.n ? row : 0;
}

bool stack_view(struct view **out, struct session *s, struct symbols *sy, uint64_t number,
                struct error *e)
{
    static const struct view_ops ops = {
        .name = "stack",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = view_find_nothing,
        .close = close_view,
    };
    const struct location *at;
    struct event event;

    if (!session_event(s, number, &event, e))
        return false;
    struct stack *t = xcalloc(1, sizeof *t);
    t->view.ops = &ops;
    t->session = s;
    while ((at = find_location(s, sy, event.stack, t->at.n)))
        vec_push(&t->at, *at);
    *out = &t->view;
    return true;
}
