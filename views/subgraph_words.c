/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/subgraph_words.h"

#include <inttypes.h>
#include <string.h>

#include "engine/calls.h"
#include "engine/report.h"
#include "views/op_words.h"
#include "views/store_words.h"
#include "views/trace_what.h"

/* Of what was printed; more says nothing in a picture. */
enum { TOLD_BYTES = 24 };

static bool read_event(const struct subgraph *s, size_t node, struct event *event, struct error *e)
{
    *event = (struct event){0};
    return !s->nodes[node].event ||
           session_event(s->analysis->session, s->nodes[node].event, event, e);
}

/* What a sync pretends; NULL: the program made it. */
static const struct fix *pretended(const struct subgraph *s, size_t node)
{
    const struct subgraph_node *at = &s->nodes[node];
    return at->kind == SUBGRAPH_SYNC && !at->event ? graph_fix_at(s->analysis->graph, at->position)
                                                   : NULL;
}

static void op_what_short(struct cell *c, const struct analysis *a, const struct op *op,
                          const struct event *event)
{
    if (op->kind == OP_STORE && store_field(c, a->fields, op->event))
        return;
    bool writes = event->call == CALL_WRITE || event->call == CALL_COPY;
    bool creates = event->call == CALL_OPEN && op->kind == OP_NAME;
    enum style style = trace_call_style(creates ? CALL_MKNOD : event->call);
    size_t begin = c->text.n;

    if (creates)
        cell_add(c, style, "create");
    else if (op->kind == OP_ALLOC || op->kind == OP_ZERO)
        cell_add(c, style, "%s", report_op_kind(op));
    else if (op->kind != OP_SIZE || !writes)
        cell_add(c, style, "%s", event->call ? call_name(event->call) : report_op_kind(op));
    if (op->kind != OP_NAME) {
        if (c->text.n > begin)
            cell_gap(c);
        op_part(c, op);
    }
    if (op->flags & OP_REPLACED)
        cell_add(c, STYLE_FLAG, " replaced");
    if (op->flags & OP_CARRIED)
        cell_add(c, STYLE_FLAG, " carried");
}

static bool told_what(struct cell *c, struct session *s, const struct event *event, struct error *e)
{
    char text[TOLD_BYTES];
    size_t n = event->size < TOLD_BYTES ? (size_t)event->size : TOLD_BYTES;

    if (n && !session_payload(s, event->payload, 0, text, n, e))
        return false;
    bool cut = n < event->size;
    while (n && text[n - 1] == '\n')
        n--;
    cell_add(c, STYLE_ACK, "%s \"", call_name(event->call));
    cell_escape(c, STYLE_ACK, text, n);
    cell_add(c, STYLE_ACK, "%s\"", cut ? ".." : "");
    return true;
}

bool node_what(struct cell *c, const struct subgraph *s, size_t node, struct error *e)
{
    const struct subgraph_node *at = &s->nodes[node];
    struct event event;

    if (!read_event(s, node, &event, e))
        return false;
    if (at->kind == SUBGRAPH_ACK)
        return told_what(c, s->analysis->session, &event, e);
    const struct fix *fix = pretended(s, node);
    if (at->kind == SUBGRAPH_OP)
        op_what_short(c, s->analysis, &s->analysis->graph->ops[at->op], &event);
    else if (fix)
        cell_add(c, STYLE_PRETEND, "%s %s", glyph(GLYPH_PRETEND), call_name(fix->call));
    else
        cell_add(c, STYLE_CALL_SYNC, "%s", at->event ? sync_name(&event) : "sync");
    return true;
}

bool node_path(struct cell *c, const struct subgraph *s, size_t node, struct error *e)
{
    const struct subgraph_node *at = &s->nodes[node];
    struct event event;

    if (at->kind == SUBGRAPH_OP) {
        const struct op *op = &s->analysis->graph->ops[at->op];
        bool ok = op_path(c, s->analysis, at->op, e);
        if (ok && op->kind == OP_STORE && fields_of(s->analysis->fields, op->event))
            cell_add(c, STYLE_NUMBER, " %" PRIu64 "+%" PRIu64, op->offset, op->length);
        return ok;
    }
    if (!read_event(s, node, &event, e))
        return false;
    const struct fix *fix = pretended(s, node);
    if (fix && fix->file)
        trace_path(c, s->analysis->session, 0, fix->file);
    if (at->kind == SUBGRAPH_SYNC && (event.path || event.file))
        trace_path(c, s->analysis->session, event.path, event.file);
    return true;
}

bool node_place(struct cell *function, struct cell *source, const struct subgraph *s, size_t node,
                struct error *e)
{
    struct analysis *a = s->analysis;
    struct event event;

    if (!read_event(s, node, &event, e))
        return false;
    const struct location *l = symbols_stack(a->symbols, event.stack);
    if (l)
        trace_location(a->session, l, function, location_has_source(l) ? source : NULL);
    return true;
}

void node_name(struct cell *c, const struct subgraph *s, size_t node)
{
    const struct fix *fix = pretended(s, node);

    if (s->nodes[node].kind == SUBGRAPH_OP)
        cell_add(c, STYLE_NUMBER, "op %" PRIu32, s->nodes[node].op);
    else if (fix)
        cell_add(c, STYLE_PRETEND, "pretended after event %" PRIu64, fix->after);
    else
        cell_add(c, STYLE_NUMBER, "event %" PRIu64, s->nodes[node].event);
}

static const struct {
    enum glyph sign;
    enum style style;
    const char *word;
} marks[] = {
    [MARK_PERSISTED] = {GLYPH_PERSISTED, STYLE_OP_PERSISTED, "persisted"},
    [MARK_LOST] = {GLYPH_LOST, STYLE_OP_LOST, "lost"},
    [MARK_FLIGHT] = {GLYPH_FLIGHT, STYLE_OP_FLIGHT, "in flight"},
    [MARK_UNISSUED] = {GLYPH_UNISSUED, STYLE_OP_UNISSUED, "not yet issued"},
};

const char *mark_sign(enum subgraph_mark mark)
{
    return mark == MARK_NONE ? "" : glyph(marks[mark].sign);
}

enum style mark_style(enum subgraph_mark mark)
{
    return mark == MARK_NONE ? STYLE_PLAIN : marks[mark].style;
}

const char *mark_word(enum subgraph_mark mark)
{
    return mark == MARK_NONE ? "" : marks[mark].word;
}
