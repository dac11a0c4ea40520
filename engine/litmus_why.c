/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/litmus_why.h"

#include <stdint.h>

static const char *op_word(const struct op *op)
{
    switch (op->kind) {
    case OP_SIZE:
        return "size";
    case OP_ALLOC:
        return "allocation";
    case OP_DATA:
        return "data";
    case OP_ZERO:
        return "zeroing";
    default:
        return "change";
    }
}

/* What would have to hold for lost to precede kept, and does not. */
static const char *absence(const struct graph *g, const struct op *lost, const struct op *kept)
{
    bool truncation =
        lost->kind == OP_RANGE || (lost->kind == OP_SIZE && !(lost->flags & OP_EXTENDS));
    bool lost_name = lost->kind == OP_NAME, kept_name = kept->kind == OP_NAME;
    if (kept->flags & OP_REPLACED)
        return "any sync takes along that a synced name is replaced";
    if (kept->flags & OP_CARRIED)
        return "a sync carried the later one past it";
    if (lost_name && kept_name)
        return "no order between these names";
    if (kept_name)
        return "a name does not wait for this";
    if (g->model.sync == SYNC_OWN_NAME && (lost_name || (truncation && lost->file != kept->file)))
        return "a sync logs these contents past the commit that has the other";
    if (lost_name)
        return "contents do not wait for a name";
    if (lost->file != kept->file)
        return "files do not wait for each other";
    if (lost->kind == OP_DATA && kept->kind == OP_ALLOC)
        return "a block is allocated before its data is written";
    if (lost->kind == OP_DATA && kept->kind == OP_SIZE)
        return "a size does not wait for data";
    if (lost->event == kept->event)
        return "a call may persist in part";
    return "blocks of a file persist by themselves";
}

/* Whether neither the op nor a copy of it survived. Copies themselves are never lost. */
static bool is_lost(const struct graph *g, const bool *survived, uint32_t op)
{
    if (survived[op] || (g->ops[op].flags & OP_CARRIED))
        return false;
    for (uint32_t copy = op + 1; copy < g->n; copy++)
        if (survived[copy] && (g->ops[copy].flags & OP_CARRIED) && g->ops[copy].carried == op)
            return false;
    return true;
}

/* Lost lines, with what of them is lost when not all is. */
static void add_lost(const struct litmus *l, const struct graph *g, const bool *survived,
                     struct buf *out)
{
    for (uint64_t number = 1; number <= litmus_events(l); number++) {
        size_t n, lost = 0, kept = 0;
        uint32_t first = graph_event_ops(g, number, &n), one = NO_OP;
        bool same = true;
        for (uint32_t op = first; op < first + n; op++) {
            if (!is_lost(g, survived, op)) {
                kept += !(g->ops[op].flags & OP_CARRIED);
                continue;
            }
            same = same && (one == NO_OP || g->ops[op].kind == g->ops[one].kind);
            one = op;
            lost++;
        }
        if (!lost)
            continue;
        buf_printf(out, "%s%s", out->n ? "; " : "", litmus_line(l, number));
        if (kept)
            buf_printf(out, " (%s)", same ? op_word(&g->ops[one]) : "in part");
    }
}

/* The last op that survived though an earlier one did not, and why it may. */
static void add_reason(const struct litmus *l, const struct graph *g, const bool *survived,
                       struct buf *out)
{
    for (uint32_t kept = (uint32_t)g->n; kept-- > 0;) {
        for (uint32_t lost = kept; survived[kept] && lost-- > 0;)
            if (is_lost(g, survived, lost)) {
                size_t ops;
                graph_event_ops(g, g->ops[kept].event, &ops);
                buf_printf(out, "; kept: %s", litmus_line(l, g->ops[kept].event));
                if (ops > 1)
                    buf_printf(out, " (%s)", op_word(&g->ops[kept]));
                buf_printf(out, ": %s", absence(g, &g->ops[lost], &g->ops[kept]));
                return;
            }
    }
}

void litmus_why(const struct litmus *l, const struct graph *g, const bool *survived,
                struct buf *out)
{
    size_t before = out->n;
    add_lost(l, g, survived, out);
    if (out->n > before)
        add_reason(l, g, survived, out);
}
