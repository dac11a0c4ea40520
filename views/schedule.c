/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/schedule.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/calls.h"
#include "engine/clock.h"
#include "engine/fix.h"
#include "engine/moment.h"
#include "engine/report.h"
#include "views/op_words.h"
#include "views/stack.h"
#include "views/store_words.h"
#include "views/trace_what.h"

enum { EVENT, WHAT, FILE_PATH, FUNCTION, NOTE, COLUMNS };

/* Events, and ops, between two looks at the clock. */
enum { EVENTS_A_SLICE = 256, OPS_A_SLICE = 4096 };

/* --- Which rows there are ------------------------------------------------------------------ */

struct place {
    uint64_t position; /* an op: where it was issued; else where the call returned */
    uint64_t event;    /* 0: an op, or a sync that is only pretended */
    uint32_t op;       /* NO_OP: none */
};

struct schedule_rows {
    struct analysis *analysis;
    uint64_t next;                /* the event to look at */
    vec_of(struct place) between; /* what is no op, by position */
    struct place *at;             /* all; NULL before everything between is known */
    size_t n;
    uint32_t *row_of; /* by op: its place in `at` */
    uint32_t next_op; /* to be taken over, and of what lies between */
    size_t next_between;
    bool done;
};

struct schedule_rows *schedule_rows_new(struct analysis *a)
{
    struct schedule_rows *rows = xcalloc(1, sizeof *rows);

    rows->analysis = a;
    rows->next = 1;
    return rows;
}

void schedule_rows_free(struct schedule_rows *rows)
{
    if (!rows)
        return;
    vec_free(&rows->between);
    free(rows->at);
    free(rows->row_of);
    free(rows);
}

/* A flush makes nothing durable by itself, or a CLFLUSH; it is half of what a fence does. */
static bool is_sync(uint16_t call)
{
    return call_is_sync(call) || call == CALL_FLUSH;
}

static bool has_row(const struct event *event)
{
    if (event->traits & EVENT_FAILED)
        return false;
    return is_sync(event->call) || event->call == CALL_PRINT || event->call == CALL_MARKER;
}

/* Calls overlap seldom: a place or two from the end. */
static void add_between(struct schedule_rows *rows, uint64_t number, uint64_t position)
{
    struct place new = {position, number, NO_OP};
    size_t i = rows->between.n;

    vec_push(&rows->between, new);
    for (; i && rows->between.at[i - 1].position > position; i--)
        rows->between.at[i] = rows->between.at[i - 1];
    rows->between.at[i] = new;
}

static void add_pretended(struct schedule_rows *rows)
{
    const struct graph *g = rows->analysis->graph;
    size_t next = 0;
    struct place *all = xcalloc(rows->between.n + g->fix_count + 1, sizeof *all);
    size_t n = 0;

    for (size_t i = 0; i < g->fix_count; i++) {
        while (next < rows->between.n && rows->between.at[next].position < g->fixes[i].position)
            all[n++] = rows->between.at[next++];
        all[n++] = (struct place){g->fixes[i].position, 0, NO_OP};
    }
    while (next < rows->between.n)
        all[n++] = rows->between.at[next++];
    free(rows->between.at);
    rows->between.at = all;
    rows->between.n = n;
    rows->between.cap = n + 1;
}

/* Some of the ops with what lies between them; the last time, what comes behind. */
static void merge(struct schedule_rows *rows)
{
    const struct graph *g = rows->analysis->graph;

    for (int i = 0; i < OPS_A_SLICE && rows->next_op < g->n; i++, rows->next_op++) {
        uint32_t op = rows->next_op;
        while (rows->next_between < rows->between.n &&
               rows->between.at[rows->next_between].position < g->issued[op])
            rows->at[rows->n++] = rows->between.at[rows->next_between++];
        rows->row_of[op] = (uint32_t)rows->n;
        rows->at[rows->n++] = (struct place){g->issued[op], 0, op};
    }
    if (rows->next_op < g->n)
        return;
    while (rows->next_between < rows->between.n)
        rows->at[rows->n++] = rows->between.at[rows->next_between++];
    vec_free(&rows->between);
    rows->done = true;
}

/* Some of the events; with the last there is room for all rows. */
static bool collect(struct schedule_rows *rows, struct error *e)
{
    struct session *s = rows->analysis->session;
    uint64_t count = session_event_count(s);

    for (int i = 0; i < EVENTS_A_SLICE && rows->next <= count; i++, rows->next++) {
        struct event event;
        if (!session_event(s, rows->next, &event, e))
            return false;
        if (has_row(&event))
            add_between(rows, rows->next, event.exit);
    }
    if (rows->next <= count)
        return true;
    add_pretended(rows);
    size_t ops = rows->analysis->graph->n;
    rows->at = xmalloc((ops + rows->between.n + 1) * sizeof *rows->at);
    rows->row_of = xmalloc((ops + 1) * sizeof *rows->row_of);
    return true;
}

bool schedule_rows_settle(struct schedule_rows *rows, uint64_t deadline, bool *done,
                          struct error *e)
{
    while (!rows->done) {
        if (rows->at)
            merge(rows);
        else if (!collect(rows, e))
            return false;
        if (clock_now() >= deadline)
            break;
    }
    *done = rows->done;
    return true;
}

/* How many places lie before a position. */
static size_t places_before(const struct schedule_rows *rows, uint64_t position)
{
    size_t low = 0, high = rows->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rows->at[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- Rows: places, and the crash among them ------------------------------------------------ */

struct schedule_table {
    struct view view;
    struct schedule_rows *rows;
    struct analysis *analysis;
    struct walk *walk;
    struct column columns[COLUMNS];
};

static uint64_t crash_row(const struct schedule_table *t)
{
    uint64_t crash = walk_crash(t->walk);

    return crash == NEVER || !t->rows->done ? 0 : places_before(t->rows, crash) + 1;
}

uint64_t schedule_view_crash(struct view *v)
{
    return crash_row((struct schedule_table *)v);
}

static uint64_t row_of_place(const struct schedule_table *t, size_t place)
{
    uint64_t crash = crash_row(t), row = place + 1;

    return crash && row >= crash ? row + 1 : row;
}

/* NULL: the crash. */
static const struct place *place_of_row(const struct schedule_table *t, uint64_t row)
{
    uint64_t crash = crash_row(t);

    if (row == crash)
        return NULL;
    return &t->rows->at[row - (crash && row > crash ? 2 : 1)];
}

static uint64_t count(struct view *v)
{
    const struct schedule_table *t = (struct schedule_table *)v;

    return t->rows->done ? t->rows->n + (crash_row(t) != 0) : 0;
}

/* The row of a sync or of something told, by the position at which it returned. */
static uint64_t row_of_event(const struct schedule_table *t, uint64_t number)
{
    const struct schedule_rows *rows = t->rows;
    struct event event;

    if (!session_event(t->analysis->session, number, &event, NULL))
        return 0;
    for (size_t i = places_before(rows, event.exit);
         i < rows->n && rows->at[i].position == event.exit; i++)
        if (rows->at[i].event == number)
            return row_of_place(t, i);
    return 0;
}

/* The row of the sync that is pretended after an event. */
static uint64_t row_of_pretended(const struct schedule_table *t, uint64_t number)
{
    const struct schedule_rows *rows = t->rows;
    struct event event;

    if (!session_event(t->analysis->session, number, &event, NULL))
        return 0;
    size_t i = places_before(rows, event.exit + 1);
    bool there = i < rows->n && rows->at[i].position == event.exit + 1;
    return there ? row_of_place(t, i) : 0;
}

static uint64_t find(struct view *v, const struct subject *s)
{
    const struct schedule_table *t = (struct schedule_table *)v;
    const struct graph *g = t->analysis->graph;
    size_t ops;

    if (!t->rows->done)
        return 0;
    if (s->kind == SUBJECT_OP && s->number < g->n)
        return row_of_place(t, t->rows->row_of[s->number]);
    if (s->kind != SUBJECT_EVENT || s->number < 1 || s->number > g->events)
        return 0;
    uint64_t row = row_of_event(t, s->number);
    uint32_t first = graph_event_ops(g, s->number, &ops);
    return row || !ops ? row : row_of_place(t, t->rows->row_of[first]);
}

uint64_t schedule_view_here(struct view *v)
{
    const struct schedule_table *t = (struct schedule_table *)v;
    uint64_t here = walk_here(t->walk);
    uint32_t last = walk_last(t->walk);

    if (!t->rows->done)
        return 0;
    uint64_t sync = !here                        ? 0
                    : walk_at_pretended(t->walk) ? row_of_pretended(t, here)
                                                 : row_of_event(t, here);
    if (sync || last == NO_OP)
        return sync;
    return row_of_place(t, t->rows->row_of[last]);
}

/* --- Cells --------------------------------------------------------------------------------- */

enum walk_mark schedule_mark_of(const struct walk *w, uint32_t op)
{
    enum walk_mark mark = walk_mark(w, op);

    return mark == WALK_FLIGHT && walk_chosen(w, op) ? WALK_LOST : mark;
}

void schedule_sign(struct cell *c, enum walk_mark mark)
{
    static const struct {
        enum glyph glyph;
        enum style style;
    } looks[] = {
        [WALK_PERSISTED] = {GLYPH_PERSISTED, STYLE_OP_PERSISTED},
        [WALK_LOST] = {GLYPH_LOST, STYLE_OP_LOST},
        [WALK_FLIGHT] = {GLYPH_FLIGHT, STYLE_OP_FLIGHT},
        [WALK_UNISSUED] = {GLYPH_UNISSUED, STYLE_OP_UNISSUED},
    };
    cell_add(c, looks[mark].style, "%s", glyph(looks[mark].glyph));
}

void schedule_mark(struct cell *c, enum walk_mark mark)
{
    schedule_sign(c, mark);
    cell_add(c, STYLE_PLAIN, " ");
}

/* What tells the ops of one event apart. A store is told by its field; where it went to is then
 * said with the file. */
static void add_part(struct schedule_table *t, struct row *out, const struct op *op)
{
    struct cell *c = &out->cells[WHAT], *path = &out->cells[FILE_PATH];

    if (op->kind == OP_STORE) {
        bool known = store_field(c, t->analysis->fields, op->event);
        if (!known)
            op_part(c, op);
        store_line(path, op->offset);
        if (op->flags & OP_PAST_CACHE)
            cell_add(c, STYLE_FLAG, " nt");
        return;
    }
    op_part(c, op);
    if (op->kind != OP_SIZE && op->kind != OP_DATA)
        cell_add(c, STYLE_FLAG, " %s", report_op_kind(op));
}

static void add_note(struct cell *c, const struct walk *w, uint32_t op)
{
    switch (walk_mark(w, op)) {
    case WALK_PERSISTED:
        return;
    case WALK_LOST:
        cell_add(c, STYLE_OP_LOST, walk_chosen(w, op) ? "lost" : "lost with it");
        return;
    case WALK_FLIGHT:
        if (walk_chosen(w, op))
            cell_add(c, STYLE_OP_LOST, "stays lost");
        else
            cell_add(c, STYLE_OP_FLIGHT, "in flight");
        return;
    case WALK_UNISSUED:
        return;
    }
}

static bool draw_op(struct schedule_table *t, uint32_t number, struct row *out, struct error *e)
{
    enum { CALL_WIDTH = 8 };
    struct analysis *a = t->analysis;
    const struct op *op = &a->graph->ops[number];
    struct cell *what = &out->cells[WHAT];
    struct event event;

    if (!session_event(a->session, op->event, &event, e))
        return false;
    cell_add(&out->cells[EVENT], STYLE_NUMBER, "%" PRIu64, op->event);
    schedule_mark(what, schedule_mark_of(t->walk, number));
    bool creates = event.call == CALL_OPEN && op->kind == OP_NAME;
    const char *call = creates ? "create" : call_name(event.call);
    cell_add(what, trace_call_style(creates ? CALL_MKNOD : event.call), "%-*s ", CALL_WIDTH, call);
    struct cell *path = op->kind == OP_NAME ? what : &out->cells[FILE_PATH];
    if (!op_path(path, a, number, e))
        return false;
    if (op->kind == OP_NAME)
        trace_path(&out->cells[FILE_PATH], a->session, 0, event.dir);
    else
        add_part(t, out, op);
    if (op->flags & OP_REPLACED)
        cell_add(what, STYLE_FLAG, " replaced");
    if (op->flags & OP_CARRIED)
        cell_add(what, STYLE_FLAG, " carried");
    add_note(&out->cells[NOTE], t->walk, number);
    return op_place(&out->cells[FUNCTION], NULL, a, number, e);
}

static void add_fix(struct cell *c, struct session *s, const struct fix *fix)
{
    struct buf words = {0};

    fix_words(&words, s, fix);
    cell_escape(c, STYLE_PRETEND, buf_string(&words), words.n);
    buf_free(&words);
}

/* A sync, or something told. */
static bool draw_event(struct schedule_table *t, const struct place *place, struct row *out,
                       struct error *e)
{
    struct analysis *a = t->analysis;
    struct cell *what = &out->cells[WHAT];
    struct event event;

    if (!session_event(a->session, place->event, &event, e))
        return false;
    bool happened = place->position < walk_crash(t->walk) && place->position != NEVER;
    cell_add(&out->cells[EVENT], STYLE_NUMBER, "%" PRIu64, place->event);
    if (is_sync(event.call)) {
        enum style style = happened ? STYLE_CALL_SYNC : STYLE_OP_UNISSUED;
        cell_add(what, style, "%s %s", glyph(GLYPH_SYNC), sync_name(&event));
        if (event.call == CALL_FLUSH)
            store_line(what, event.offset);
        if (event.file)
            trace_path(&out->cells[FILE_PATH], a->session, event.path, event.file);
    } else {
        cell_add(what, happened ? STYLE_ACK : STYLE_OP_UNISSUED, "%s %s ", glyph(GLYPH_DASH),
                 call_name(event.call));
        trace_what(what, a->session, a->fields, place->event, &event);
    }
    if (event.traits & EVENT_UNFINISHED)
        cell_add(&out->cells[NOTE], STYLE_WARNING, "never returned");
    const struct location *l = symbols_stack(a->symbols, event.stack);
    if (l)
        trace_location(a->session, l, &out->cells[FUNCTION], NULL);
    return true;
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct schedule_table *t = (struct schedule_table *)v;
    const struct place *place = place_of_row(t, row);
    const char *line = glyph(GLYPH_HORIZONTAL);

    if (!place) {
        cell_add(&out->cells[WHAT], STYLE_WARNING, "%s%s crash %s%s", line, line, line, line);
        return true;
    }
    if (place->op != NO_OP)
        return draw_op(t, place->op, out, e);
    if (place->event)
        return draw_event(t, place, out, e);
    cell_add(&out->cells[WHAT], STYLE_PRETEND, "%s ", glyph(GLYPH_PRETEND));
    add_fix(&out->cells[WHAT], t->analysis->session,
            graph_fix_at(t->analysis->graph, place->position));
    return true;
}

/* --- Details and the rest ------------------------------------------------------------------ */

static bool durable_line(struct schedule_table *t, uint32_t op, struct cell *out, struct error *e)
{
    struct analysis *a = t->analysis;
    bool never = a->graph->durable[op] == NEVER;

    cell_add(out, STYLE_PLAIN, "op %" PRIu32 ", %s", op,
             never ? "never made durable" : "durable when it returns: ");
    return never || op_durable_words(out, a, op, e);
}

static bool detail(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                   struct error *e)
{
    struct schedule_table *t = (struct schedule_table *)v;
    struct analysis *a = t->analysis;
    const struct place *place = place_of_row(t, row);
    struct event event;

    *more = false;
    if (!place) {
        *more = n == 0;
        return n || schedule_crash_words(out, a, t->walk, e);
    }
    if (!place->event && place->op == NO_OP)
        return true;
    if (!place->event && n == 0) {
        *more = true;
        return durable_line(t, place->op, out, e);
    }
    uint64_t number = place->event ? place->event : a->graph->ops[place->op].event;
    if (!session_event(a->session, number, &event, e))
        return false;
    stack_line(a->session, a->symbols, event.stack, n - !place->event, out, more);
    return true;
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    const struct place *place = place_of_row((struct schedule_table *)v, row);

    if (!place || (!place->event && place->op == NO_OP))
        return view_no_subject(v, row, out, e);
    *out = place->event ? (struct subject){SUBJECT_EVENT, place->event, NULL}
                        : (struct subject){SUBJECT_OP, place->op, NULL};
    return true;
}

static const struct column *columns(struct view *v, size_t *n)
{
    *n = COLUMNS;
    return ((struct schedule_table *)v)->columns;
}

bool schedule_crash_words(struct cell *c, struct analysis *a, const struct walk *w, struct error *e)
{
    uint64_t crash = walk_crash(w);

    if (crash == NEVER) {
        cell_add(c, STYLE_PLAIN, "crash after the end of the run");
        return true;
    }
    uint64_t returned = moment_returned(a->session, crash);
    if (returned) {
        /* What matters comes first: the end may be cut from a title. */
        cell_add(c, STYLE_PLAIN, "crash during ");
        return event_words(c, a, returned, e);
    }
    const struct fix *fix = graph_fix_at(a->graph, crash);
    if (fix) {
        cell_add(c, STYLE_PLAIN, "crash before ");
        add_fix(c, a->session, fix);
        return true;
    }
    uint64_t begun = moment_begun(a->session, crash);
    cell_add(c, STYLE_PLAIN, begun ? "crash after " : "crash before anything");
    return !begun || event_words(c, a, begun, e);
}

void schedule_count_words(struct cell *c, const struct walk *w)
{
    struct walk_counts n = walk_counts(w);

    cell_add(c, STYLE_PLAIN, "%zu of %zu ops persisted", n.persisted,
             n.persisted + n.lost + n.flight);
}

struct view *schedule_view(struct schedule_rows *rows, struct walk *walk)
{
    static const struct view_ops ops = {
        .name = "schedule",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = detail,
        .subject = subject,
        .find = find,
        .close = view_close_plain,
    };
    static const struct column all[COLUMNS] = {
        [EVENT] = {.title = "ev", .least = 4, .right = true},
        [WHAT] = {.title = "op", .least = 20, .most = 60, .yields = 1},
        [FILE_PATH] = {.title = "file", .least = 8, .most = 32, .yields = 2},
        [FUNCTION] = {.title = "function", .least = 10, .most = 32, .yields = 3},
        [NOTE] = {.title = "", .least = 4},
    };
    struct schedule_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->rows = rows;
    t->analysis = rows->analysis;
    t->walk = walk;
    memcpy(t->columns, all, sizeof all);
    for (uint64_t n = session_event_count(rows->analysis->session), digits = 1; n;
         n /= 10, digits++)
        if ((int)digits > t->columns[EVENT].least)
            t->columns[EVENT].least = (int)digits;
    return &t->view;
}
