/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/why.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/escape.h"
#include "views/op_words.h"
#include "views/sentence.h"

enum { LABEL, LEFT, SIGN, RIGHT, COLUMNS };

/* As many edges fit a side of a row. */
enum { EDGES_A_ROW = 5 };

typedef vec_of(uint32_t) edge_list; /* places in why->edges */

struct why {
    struct view view;
    struct analysis *analysis;
    const struct groups *groups;
    uint32_t left, right;
    struct group_why *why;
    edge_list left_edges, right_edges;
    char *titles[2];
    struct column columns[COLUMNS];
    struct sentences sentences;
};

/* --- Rows ---------------------------------------------------------------------------------- */

static const struct column *columns(struct view *v, size_t *n)
{
    *n = COLUMNS;
    return ((struct why *)v)->columns;
}

/* A row a pair of ops, then the edges, at least a row of them for the prose to follow. */
static uint64_t count(struct view *v)
{
    const struct why *w = (struct why *)v;
    size_t most = w->left_edges.n > w->right_edges.n ? w->left_edges.n : w->right_edges.n;

    return w->why->match_count + (most ? (most + EDGES_A_ROW - 1) / EDGES_A_ROW : 1);
}

/* a … z, aa, ab, … */
static void add_label(struct cell *c, uint32_t place, enum style style)
{
    enum { LETTERS = 26 };

    if (place >= LETTERS)
        add_label(c, place / LETTERS - 1, style);
    cell_add(c, style, "%c", (char)('a' + place % LETTERS));
}

static bool add_op(struct why *w, struct cell *c, uint32_t op, struct error *e)
{
    if (op == NO_OP) {
        cell_add(c, STYLE_UNMATCHED, "%s", glyph(GLYPH_DASH));
        return true;
    }
    cell_add(c, STYLE_NUMBER, "%" PRIu64 " ", w->analysis->graph->ops[op].event);
    bool ok = op_what(c, w->analysis, op, e);
    cell_gap(c);
    return ok && op_place(c, c, w->analysis, op, e);
}

static bool is_matched(const struct group_match *m)
{
    return m->a != NO_OP && m->b != NO_OP;
}

/* Between ops that both have: what binds one side only is what the comparison is about. */
static bool binds_one(const struct group_why *why, const struct group_edge *edge)
{
    return !(edge->flags & GROUP_EDGE_A) != !(edge->flags & GROUP_EDGE_B) &&
           is_matched(&why->matches[edge->from]) && is_matched(&why->matches[edge->to]);
}

static void add_edge(struct cell *c, const struct group_edge *edge, enum style style)
{
    add_label(c, edge->from, style);
    cell_add(c, style, "%s", glyph(GLYPH_ARROW));
    add_label(c, edge->to, style);
}

static void add_edges(struct why *w, struct cell *c, const edge_list *list, uint64_t line)
{
    for (size_t i = line * EDGES_A_ROW; i < list->n && i < (line + 1) * EDGES_A_ROW; i++) {
        if (i % EDGES_A_ROW)
            cell_add(c, STYLE_PLAIN, "  ");
        const struct group_edge *edge = &w->why->edges[list->at[i]];
        bool alone = binds_one(w->why, edge);
        add_edge(c, edge, alone ? STYLE_EDGE_MISSING : STYLE_EDGE);
        if (alone)
            cell_add(c, STYLE_EDGE_MISSING, "!");
    }
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct why *w = (struct why *)v;
    const struct group_why *why = w->why;

    if (row <= why->match_count) {
        const struct group_match *m = &why->matches[row - 1];
        bool both = is_matched(m);
        add_label(&out->cells[LABEL], (uint32_t)row - 1, STYLE_NUMBER);
        cell_add(&out->cells[SIGN], both ? STYLE_MATCHED : STYLE_UNMATCHED, both ? "=" : " ");
        return add_op(w, &out->cells[LEFT], m->a, e) && add_op(w, &out->cells[RIGHT], m->b, e);
    }
    uint64_t line = row - why->match_count - 1;
    cell_add(&out->cells[LABEL], STYLE_DIM, "%s", line ? "" : "edges");
    add_edges(w, &out->cells[LEFT], &w->left_edges, line);
    add_edges(w, &out->cells[RIGHT], &w->right_edges, line);
    return true;
}

static bool detail(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                   struct error *e)
{
    (void)e;
    *more = false;
    return row != count(v) || sentences_detail(&((struct why *)v)->sentences, n, out, more);
}

/* The left op, or the right one where there is none: rows of edges are about nothing. */
static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    const struct group_why *why = ((struct why *)v)->why;

    if (row > why->match_count)
        return view_no_subject(v, row, out, e);
    const struct group_match *m = &why->matches[row - 1];
    *out = (struct subject){SUBJECT_OP, m->a != NO_OP ? m->a : m->b, NULL};
    return true;
}

static void close_view(struct view *v)
{
    struct why *w = (struct why *)v;

    sentences_free(&w->sentences);
    vec_free(&w->left_edges);
    vec_free(&w->right_edges);
    free(w->titles[0]);
    free(w->titles[1]);
    group_why_free(w->why);
    free(w);
}

/* --- In prose ------------------------------------------------------------------------------ */

/* The group that both are in; NO_OP when there is none. */
static uint32_t common_group(const struct groups *g, uint32_t left, uint32_t right)
{
    const struct group_signature *a = &g->signatures[g->signature_of[left]];
    const struct group_signature *b = &g->signatures[g->signature_of[right]];

    for (uint32_t i = 0; i < a->joined; i++)
        for (uint32_t k = 0; k < b->joined; k++)
            if (g->joined[a->first_group + i] == g->joined[b->first_group + k])
                return g->joined[a->first_group + i];
    return NO_OP;
}

static void say_group(struct why *w, struct cell *c)
{
    uint32_t group = common_group(w->groups, w->left, w->right);

    if (group == NO_OP) {
        cell_add(c, STYLE_PLAIN, "#%" PRIu32 " and #%" PRIu32 " are in no common group.", w->left,
                 w->right);
        return;
    }
    uint32_t representative = w->groups->at[group].representative;
    cell_add(c, STYLE_PLAIN, "Both are in group %" PRIu32 ", which #%" PRIu32 " represents.", group,
             representative);
    if (representative != w->left && representative != w->right)
        cell_add(c, STYLE_PLAIN,
                 " Whatever the two have to do with each other, it stands for both:"
                 " compare each with it.");
}

/* Edges between matched ops that bind only the represented. */
static void add_freed(struct why *w, struct cell *c, bool right)
{
    enum { SHOWN = 6 };
    uint32_t mine = right ? GROUP_EDGE_B : GROUP_EDGE_A;
    size_t n = 0;

    for (size_t i = 0; i < w->why->edge_count; i++) {
        const struct group_edge *edge = &w->why->edges[i];
        if (!(edge->flags & mine) || !binds_one(w->why, edge) || n++ >= SHOWN)
            continue;
        cell_add(c, STYLE_PLAIN, n == 1 ? " (" : ", ");
        add_edge(c, edge, STYLE_EDGE_MISSING);
    }
    if (n > SHOWN)
        cell_add(c, STYLE_PLAIN, " and %zu more", n - SHOWN);
    if (n)
        cell_add(c, STYLE_PLAIN, n == 1 ? " binds only #%" PRIu32 ")" : " bind only #%" PRIu32 ")",
                 right ? w->right : w->left);
}

static bool name_op(struct why *w, struct cell *c, uint32_t op, struct error *e)
{
    cell_add(c, STYLE_PLAIN, "op %" PRIu32 " (", op);
    bool ok = op_what(c, w->analysis, op, e);
    cell_add(c, STYLE_PLAIN, ")");
    return ok;
}

/* Why `rep` represents `other`, or does not. */
static bool say_reason(struct why *w, struct cell *c, const struct group_reason *r, bool right,
                       struct error *e)
{
    uint32_t rep = right ? w->left : w->right, other = right ? w->right : w->left;
    bool ok = true;

    if (r->verdict == GROUP_REPRESENTS) {
        cell_add(c, STYLE_PLAIN,
                 "#%" PRIu32 " represents #%" PRIu32 ": every op of #%" PRIu32
                 " has its match in #%" PRIu32 ", and #%" PRIu32
                 " orders them no more than #%" PRIu32 " does",
                 rep, other, other, rep, rep, other);
        add_freed(w, c, right);
        cell_add(c, STYLE_PLAIN,
                 ". So each crash state of #%" PRIu32 " has its like among those of #%" PRIu32 ".",
                 other, rep);
        return true;
    }
    cell_add(c, STYLE_PLAIN, "#%" PRIu32 " does not represent #%" PRIu32 ": ", rep, other);
    switch (r->verdict) {
    case GROUP_FUNCTION:
        cell_add(c, STYLE_PLAIN, "they belong to different functions or types.");
        break;
    case GROUP_UNMATCHED:
        ok = name_op(w, c, r->op, e);
        cell_add(c, STYLE_PLAIN, " has no match in #%" PRIu32 ".", rep);
        break;
    case GROUP_ORDER:
        cell_add(c, STYLE_PLAIN, "in #%" PRIu32 " ", rep);
        ok = name_op(w, c, r->from, e);
        cell_add(c, STYLE_PLAIN, " must persist before ");
        ok = ok && name_op(w, c, r->op, e);
        cell_add(c, STYLE_PLAIN,
                 ", and their matches in #%" PRIu32
                 " are free: it has crash states without a like.",
                 other);
        break;
    case GROUP_OPEN:
        ok = name_op(w, c, r->op, e);
        cell_add(c, STYLE_PLAIN, " of #%" PRIu32 " has a match, but needs ", rep);
        ok = ok && name_op(w, c, r->from, e);
        cell_add(c, STYLE_PLAIN, ", which has none.");
        break;
    case GROUP_ENVIRONMENT:
        cell_add(c, STYLE_PLAIN, "with #%" PRIu32 " a crash may also lose ", other);
        ok = name_op(w, c, r->op, e);
        cell_add(c, STYLE_PLAIN,
                 ", which is of another behaviour; with #%" PRIu32
                 " it can lose nothing of that kind that came by the same calls.",
                 rep);
        break;
    default:
        cell_add(c, STYLE_PLAIN, "one has more than %d ops, too many to compare.", GROUP_OPS_MAX);
        break;
    }
    return ok;
}

void why_view_verdict(struct view *v, struct cell *c)
{
    const struct why *w = (struct why *)v;
    bool left = w->why->a_represents_b.verdict == GROUP_REPRESENTS;
    bool right = w->why->b_represents_a.verdict == GROUP_REPRESENTS;

    cell_add(c, STYLE_NUMBER, "#%" PRIu32, left || !right ? w->left : w->right);
    cell_add(c, left || right ? STYLE_MATCHED : STYLE_UNMATCHED,
             left && right   ? " and "
             : left || right ? " represents "
                             : " and ");
    cell_add(c, STYLE_NUMBER, "#%" PRIu32, left || !right ? w->right : w->left);
    if (left == right)
        cell_add(c, left ? STYLE_MATCHED : STYLE_UNMATCHED,
                 left ? " represent each other" : " do not represent each other");
}

static bool say(struct why *w, struct error *e)
{
    struct cell c = {0};

    say_group(w, &c);
    sentences_add(&w->sentences, buf_string(&c.text));
    cell_clear(&c);
    bool ok = say_reason(w, &c, &w->why->a_represents_b, true, e);
    sentences_add(&w->sentences, buf_string(&c.text));
    cell_clear(&c);
    ok = ok && say_reason(w, &c, &w->why->b_represents_a, false, e);
    if (w->why->a_represents_b.verdict != GROUP_FUNCTION)
        sentences_add(&w->sentences, buf_string(&c.text));
    cell_clear(&c);
    if (w->why->edges_left_out) {
        cell_add(&c, STYLE_PLAIN, "%zu edges are not shown.", w->why->edges_left_out);
        sentences_add(&w->sentences, buf_string(&c.text));
    }
    cell_free(&c);
    return ok;
}

/* --- Opening ------------------------------------------------------------------------------- */

/* The edges are those that are listed. What may be cut comes last. */
static char *title(struct analysis *a, uint32_t behaviour, size_t edges)
{
    const struct behaviour *b = &a->behaviours->at[behaviour];
    struct buf work = {0};
    analysis_add_work(&work, a, b);
    char *function = escape_text(buf_string(&work));
    buf_free(&work);
    char *text = xasprintf("#%" PRIu32 ", %" PRIu32 " op%s, %zu edge%s: %s", behaviour, b->ops,
                           b->ops == 1 ? "" : "s", edges, edges == 1 ? "" : "s", function);
    free(function);
    return text;
}

/* Edges that people draw, and those between matched ops that only one side has. */
static void sort_edges(struct why *w)
{
    for (uint32_t i = 0; i < w->why->edge_count; i++) {
        uint32_t flags = w->why->edges[i].flags;
        bool one_sided = !(flags & GROUP_EDGE_A) != !(flags & GROUP_EDGE_B);
        if ((flags & GROUP_EDGE_NEXT_A) || (one_sided && (flags & GROUP_EDGE_A)))
            vec_push(&w->left_edges, i);
        if ((flags & GROUP_EDGE_NEXT_B) || (one_sided && (flags & GROUP_EDGE_B)))
            vec_push(&w->right_edges, i);
    }
}

bool why_view(struct view **out, struct analysis *a, const struct groups *groups, uint32_t left,
              uint32_t right, struct error *e)
{
    static const struct view_ops ops = {
        .name = "why",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = detail,
        .subject = subject,
        .find = view_find_nothing,
        .close = close_view,
    };
    struct why *w = xcalloc(1, sizeof *w);

    w->view.ops = &ops;
    w->analysis = a;
    w->groups = groups;
    w->left = left;
    w->right = right;
    w->why = group_explain(groups, left, right);
    sort_edges(w);
    w->titles[0] = title(a, left, w->left_edges.n);
    w->titles[1] = title(a, right, w->right_edges.n);
    w->columns[LABEL] = (struct column){.title = "", .least = 5, .right = true};
    w->columns[LEFT] = (struct column){.title = w->titles[0], .least = 20, .yields = 1};
    w->columns[SIGN] = (struct column){.title = "", .least = 1};
    w->columns[RIGHT] = (struct column){.title = w->titles[1], .least = 20, .yields = 1};
    if (!say(w, e)) {
        close_view(&w->view);
        return false;
    }
    *out = &w->view;
    return true;
}
