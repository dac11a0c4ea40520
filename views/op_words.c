/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/op_words.h"

#include <inttypes.h>

#include "engine/calls.h"
#include "engine/fix.h"
#include "engine/moment.h"
#include "engine/report.h"
#include "views/store_words.h"
#include "views/trace_what.h"

static void add_path(struct cell *c, struct analysis *a, const struct op *op,
                     const struct event *event)
{
    trace_path(c, a->session, event->path, event->file ? event->file : op->file);
    if (event->call == CALL_RENAME && event->other_path) {
        cell_add(c, STYLE_PLAIN, " %s ", glyph(GLYPH_ARROW));
        trace_path(c, a->session, event->other_path, event->other);
    }
}

bool op_path(struct cell *c, struct analysis *a, uint32_t op, struct error *e)
{
    struct event event;

    if (!session_event(a->session, a->graph->ops[op].event, &event, e))
        return false;
    add_path(c, a, &a->graph->ops[op], &event);
    return true;
}

void op_part(struct cell *c, const struct op *op)
{
    if (op->kind == OP_SIZE)
        cell_add(c, STYLE_NUMBER, "length %" PRIu64, op->size);
    else if (op->kind != OP_NAME)
        cell_add(c, STYLE_NUMBER, "%" PRIu64 "+%" PRIu64, op->offset, op->length);
}

/* "bucket.tokens = 3 (table 128+8)": the field tells more than the place. */
static void add_store(struct cell *c, struct analysis *a, const struct op *op,
                      const struct event *event)
{
    bool known = store_field(c, a->fields, op->event);

    if (known)
        cell_add(c, STYLE_DIM, " (");
    add_path(c, a, op, event);
    cell_gap(c);
    op_part(c, op);
    if (known)
        cell_add(c, STYLE_DIM, ")");
    if (op->flags & OP_PAST_CACHE)
        cell_add(c, STYLE_FLAG, " nt");
}

bool op_what(struct cell *c, struct analysis *a, uint32_t number, struct error *e)
{
    const struct op *op = &a->graph->ops[number];
    struct event event;

    if (!session_event(a->session, op->event, &event, e))
        return false;
    bool creates = event.call == CALL_OPEN && op->kind == OP_NAME;
    cell_add(c, trace_call_style(creates ? CALL_MKNOD : event.call), "%s ",
             creates ? "create" : call_name(event.call));
    if (op->kind == OP_STORE) {
        add_store(c, a, op, &event);
        return true;
    }
    add_path(c, a, op, &event);
    if (op->kind != OP_NAME) {
        cell_gap(c);
        op_part(c, op);
    }
    if (op->kind != OP_NAME && op->kind != OP_SIZE)
        cell_add(c, STYLE_FLAG, " %s", report_op_kind(op));
    if (op->flags & OP_REPLACED)
        cell_add(c, STYLE_FLAG, " replaced");
    if (op->flags & OP_CARRIED)
        cell_add(c, STYLE_FLAG, " carried");
    return true;
}

bool op_place(struct cell *function, struct cell *source, struct analysis *a, uint32_t op,
              struct error *e)
{
    struct event event;

    if (!session_event(a->session, a->graph->ops[op].event, &event, e))
        return false;
    const struct location *l = symbols_stack(a->symbols, event.stack);
    if (l)
        trace_location(a->session, l, function, location_has_source(l) ? source : NULL);
    return true;
}

uint64_t op_durable(struct analysis *a, uint32_t op)
{
    uint64_t position = a->graph->durable[op];
    return position == NEVER ? 0 : moment_returned(a->session, position);
}

bool op_durable_words(struct cell *c, struct analysis *a, uint32_t op, struct error *e)
{
    uint64_t event = op_durable(a, op);
    const struct fix *fix = graph_fix_at(a->graph, a->graph->durable[op]);
    struct buf words = {0};

    if (event)
        return event_words(c, a, event, e);
    if (!fix)
        return true;
    fix_words(&words, a->session, fix);
    cell_escape(c, STYLE_CALL_SYNC, buf_string(&words), words.n);
    buf_free(&words);
    return true;
}

const char *order_model(const struct graph *g, uint32_t a, uint32_t b)
{
    const struct op *x = &g->ops[a], *y = &g->ops[b];
    bool eadr = g->stores & 1U << STORES_EADR;

    if (x->kind != OP_STORE || y->kind != OP_STORE)
        return g->model.name;
    if (x->flags & y->flags & OP_PAGED)
        return model_stores_name(STORES_PAGECACHE);
    return model_stores_name(eadr ? STORES_EADR : STORES_PX86);
}

bool event_words(struct cell *c, struct analysis *a, uint64_t number, struct error *e)
{
    struct session *s = a->session;
    struct event event;

    if (!session_event(s, number, &event, e))
        return false;
    cell_add(c, STYLE_NUMBER, "%" PRIu64 " ", number);
    cell_add(c, trace_call_style(event.call), "%s", sync_name(&event));
    if (event.call == CALL_STORE && fields_of(a->fields, number)) {
        cell_gap(c);
        store_field(c, a->fields, number);
        return true;
    }
    if (event.path || event.file) {
        cell_gap(c);
        trace_path(c, s, event.path, event.file);
    }
    if (event.call == CALL_FLUSH)
        store_line(c, event.offset);
    return true;
}
