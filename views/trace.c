/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/calls.h"
#include "engine/map.h"
#include "engine/mem.h"
#include "views/stack.h"
#include "views/trace_what.h"

enum { EVENT, THREAD, CALL, WHAT, RESULT, FUNCTION, SOURCE, COLUMNS };

static const struct column all_columns[COLUMNS] = {
    [EVENT] = {.title = "event", .least = 5, .right = true},
    [THREAD] = {.title = "thread", .least = 6, .right = true},
    [CALL] = {.title = "call", .least = 9},
    [WHAT] = {.title = "what", .least = 16, .most = 60, .yields = 3},
    [RESULT] = {.title = "result", .least = 6, .most = 14},
    [FUNCTION] = {.title = "function", .least = 8, .most = 32, .yields = 2},
    [SOURCE] = {.title = "source", .least = 8, .most = 32, .yields = 1},
};

struct trace {
    struct view view;
    struct session *session;
    struct symbols *symbols;
    const struct fields *fields; /* NULL: not known */
    struct trace_filter *filter;
    struct column columns[COLUMNS];
    struct map syscalls; /* number to its name, a char * that is ours, or 0 */
};

static void trace_close(struct view *v)
{
    struct trace *t = (struct trace *)v;

    map_free_owned(&t->syscalls);
    free(t);
}

static const struct column *trace_columns(struct view *v, size_t *n)
{
    *n = COLUMNS;
    return ((struct trace *)v)->columns;
}

static uint64_t trace_count(struct view *v)
{
    return session_event_count(((struct trace *)v)->session);
}

/* Rows outside the filter's range need not be read. */
static uint64_t into_range(const struct trace *t, uint64_t row, int step)
{
    uint64_t count = session_event_count(t->session);
    uint64_t first = t->filter && t->filter->first ? t->filter->first : 1;
    uint64_t last =
        t->filter && t->filter->last && t->filter->last < count ? t->filter->last : count;

    if (step > 0 && row < first)
        row = first;
    if (step < 0 && row > last)
        row = last;
    return row < first || row > last ? 0 : row;
}

static bool trace_seek(struct view *v, uint64_t *row, int step, struct error *e)
{
    struct trace *t = (struct trace *)v;

    for (*row = into_range(t, *row, step); *row;
         *row = into_range(t, *row + (uint64_t)step, step)) {
        struct event event;
        if (!t->filter)
            return true;
        if (!session_event(t->session, *row, &event, e))
            return false;
        if (trace_filter_pass(t->filter, t->session, t->symbols, *row, &event))
            return true;
    }
    return true;
}

/* --- Drawing ------------------------------------------------------------------------------- */

/* The system call as the program made it; a print or a marker is what it was made for. */
static const char *shown_call(struct trace *t, const struct event *event)
{
    bool added;

    if (event->syscall == SYSCALL_NONE || event->call == CALL_PRINT || event->call == CALL_MARKER)
        return call_name(event->call);
    uint64_t *name = map_put(&t->syscalls, &event->syscall, sizeof event->syscall, &added);
    if (added)
        *name = (uint64_t)(uintptr_t)syscall_name(event->syscall);
    return *name ? (const char *)(uintptr_t)*name : call_name(event->call);
}

static bool trace_draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct trace *t = (struct trace *)v;
    struct event event;
    const struct location *l;

    if (!session_event(t->session, row, &event, e))
        return false;
    cell_add(&out->cells[EVENT], STYLE_NUMBER, "%" PRIu64, row);
    cell_add(&out->cells[THREAD], STYLE_DIM, "%" PRIu32, event.thread);
    cell_add(&out->cells[CALL], trace_call_style(event.call), "%s", shown_call(t, &event));
    trace_what(&out->cells[WHAT], t->session, t->fields, row, &event);
    trace_result(&out->cells[RESULT], &event);
    l = symbols_stack(t->symbols, event.stack);
    if (l)
        trace_location(t->session, l, &out->cells[FUNCTION],
                       location_has_source(l) ? &out->cells[SOURCE] : NULL);
    return true;
}

static bool trace_detail(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                         struct error *e)
{
    struct trace *t = (struct trace *)v;
    struct event event;

    *more = false;
    if (!session_event(t->session, row, &event, e))
        return false;
    stack_line(t->session, t->symbols, event.stack, n, out, more);
    return true;
}

static bool trace_subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    (void)v, (void)e;
    *out = (struct subject){.kind = SUBJECT_EVENT, .number = row};
    return true;
}

static uint64_t trace_find(struct view *v, const struct subject *s)
{
    return s->kind == SUBJECT_EVENT && s->number <= trace_count(v) ? s->number : 0;
}

static const struct view_ops trace_ops = {
    .name = "trace",
    .columns = trace_columns,
    .count = trace_count,
    .seek = trace_seek,
    .draw = trace_draw,
    .detail = trace_detail,
    .subject = trace_subject,
    .find = trace_find,
    .close = trace_close,
};

struct view *trace_view(struct session *s, struct symbols *sy, const struct fields *f,
                        struct trace_filter *filter)
{
    struct trace *t = xcalloc(1, sizeof *t);

    t->view.ops = &trace_ops;
    t->session = s;
    t->symbols = sy;
    t->fields = f;
    t->filter = filter;
    memcpy(t->columns, all_columns, sizeof all_columns);
    for (uint64_t n = session_event_count(s), digits = 1; n; n /= 10, digits++) {
        if ((int)digits > t->columns[EVENT].least)
            t->columns[EVENT].least = (int)digits;
    }
    return &t->view;
}
