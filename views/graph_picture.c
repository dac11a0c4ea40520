/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/graph_picture.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/mem.h"
#include "views/graph_detail.h"
#include "views/graph_drawing.h"

struct graph_picture {
    struct view view;
    int fd;
    struct drawing *shown, *coming;
    struct layout_job *job; /* of what is coming */
    size_t selected;
    enum picture_colour colour;
    struct graph_detail detail;
};

/* ---- showing ---- */

struct graph_picture *graph_picture_new(struct error *e)
{
    struct graph_picture *p = xcalloc(1, sizeof *p);

    p->selected = NO_NODE;
    p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->fd >= 0)
        return p;
    error_errno(e, "cannot watch the layout of a graph");
    free(p);
    return NULL;
}

/* Nobody is to be woken for it any more. */
static void forget_coming(struct graph_picture *p)
{
    uint64_t count;

    layout_job_drop(p->job);
    if (read(p->fd, &count, sizeof count) < 0)
        count = 0; /* there was nothing to take back */
    drawing_free(p->coming);
    p->job = NULL;
    p->coming = NULL;
}

void graph_picture_forget(struct graph_picture *p)
{
    forget_coming(p);
    drawing_free(p->shown);
    p->shown = NULL;
    p->selected = NO_NODE;
    graph_detail_clear(&p->detail);
}

void graph_picture_free(struct graph_picture *p)
{
    if (!p)
        return;
    graph_picture_forget(p);
    layout_jobs_wait();
    close(p->fd);
    free(p);
}

bool graph_picture_show(struct graph_picture *p, struct subgraph *s, struct error *e)
{
    struct layout_node *nodes;
    struct layout_edge *edges;
    size_t n = s->n, edge_count;

    forget_coming(p);
    if (n > PICTURE_NODES_MAX) {
        subgraph_free(s);
        return error_set(e,
                         "%zu nodes are too many to draw; show a part of them, such as what is "
                         "around an op",
                         n);
    }
    p->coming = drawing_new(s, e);
    if (!p->coming)
        return false;
    drawing_describe(p->coming, &nodes, &edges, &edge_count);
    p->job = layout_job_start(nodes, n, edges, edge_count, p->fd, e);
    free(nodes);
    free(edges);
    if (!p->job)
        forget_coming(p);
    return p->job != NULL;
}

int graph_picture_fd(const struct graph_picture *p)
{
    return p->fd;
}

static void paint(struct graph_picture *p)
{
    graph_detail_clear(&p->detail);
    if (p->shown)
        drawing_paint(p->shown, p->selected, p->colour);
}

static bool take_coming(struct graph_picture *p, struct error *e)
{
    struct graph_layout *layout = layout_job_take(p->job, e);
    uint32_t op = p->selected == NO_NODE ? NO_OP : p->shown->subgraph->nodes[p->selected].op;

    if (!layout) {
        forget_coming(p);
        return false;
    }
    drawing_lay_out(p->coming, layout);
    graph_layout_free(layout);
    drawing_free(p->shown);
    p->shown = p->coming;
    p->coming = NULL;
    forget_coming(p);
    p->selected = op == NO_OP ? NO_NODE : graph_picture_find(p, op);
    paint(p);
    return true;
}

enum picture_state graph_picture_poll(struct graph_picture *p, struct error *e)
{
    uint64_t count;

    if (!p->job)
        return PICTURE_READY;
    if (!layout_job_done(p->job))
        return PICTURE_WAITING;
    if (read(p->fd, &count, sizeof count) < 0)
        count = 0; /* nothing to take back */
    return take_coming(p, e) ? PICTURE_NEW : PICTURE_FAILED;
}

bool graph_picture_wait(struct graph_picture *p, struct error *e)
{
    if (p->job)
        layout_job_wait(p->job);
    return graph_picture_poll(p, e) != PICTURE_FAILED;
}

const struct subgraph *graph_picture_subgraph(const struct graph_picture *p)
{
    return p->shown ? p->shown->subgraph : NULL;
}

/* ---- drawing ---- */

int graph_picture_width(const struct graph_picture *p)
{
    return p->shown ? p->shown->route->width : 0;
}

int graph_picture_height(const struct graph_picture *p)
{
    return p->shown ? p->shown->route->height : 0;
}

void graph_picture_row(const struct graph_picture *p, int y, int x, int width, struct cell *out)
{
    if (p->shown)
        canvas_row(p->shown->canvas, y, x, width, out);
}

void graph_picture_colour(struct graph_picture *p, enum picture_colour by)
{
    p->colour = by;
    paint(p);
}

/* ---- nodes ---- */

static bool on_bar(const struct route_box *box, int x, int y)
{
    return x == box->x + box->width / 2 && y >= box->bar_top && y <= box->bar_bottom;
}

size_t graph_picture_at(const struct graph_picture *p, int x, int y)
{
    for (size_t i = 0; p->shown && i < p->shown->subgraph->n; i++) {
        const struct route_box *box = &p->shown->route->boxes[i];
        bool bar = p->shown->nodes[i].bar;
        int top = bar ? box->y + route_port(box->height) : box->y;
        int height = bar ? 1 : box->height;
        if ((x >= box->x && x < box->x + box->width && y >= top && y < top + height) ||
            (bar && on_bar(box, x, y)))
            return i;
    }
    return NO_NODE;
}

struct picture_box graph_picture_box(const struct graph_picture *p, size_t node)
{
    if (!p->shown || node >= p->shown->subgraph->n)
        return (struct picture_box){0};
    const struct route_box *box = &p->shown->route->boxes[node];
    return (struct picture_box){box->x, box->y, box->width, box->height};
}

size_t graph_picture_find(const struct graph_picture *p, uint32_t op)
{
    for (size_t i = 0; p->shown && op != NO_OP && i < p->shown->subgraph->n; i++)
        if (p->shown->subgraph->nodes[i].op == op)
            return i;
    return NO_NODE;
}

void graph_picture_select(struct graph_picture *p, size_t node)
{
    p->selected = p->shown && node < p->shown->subgraph->n ? node : NO_NODE;
    paint(p);
}

size_t graph_picture_selected(const struct graph_picture *p)
{
    return p->selected;
}

/* How far a node lies in a direction, and how far aside; false when it does not lie there. Rows
 * count double: they are higher than columns are wide. */
static bool lies(const struct graph_picture *p, size_t from, size_t to, enum picture_direction d,
                 long *ahead, long *aside)
{
    struct picture_box a = graph_picture_box(p, from), b = graph_picture_box(p, to);
    long dx = b.x - a.x, dy = 2L * (b.y + b.height / 2 - a.y - a.height / 2);
    bool across = d == PICTURE_LEFT || d == PICTURE_RIGHT;

    if (d == PICTURE_LEFT || d == PICTURE_UP) {
        dx = -dx;
        dy = -dy;
    }
    *ahead = across ? dx : dy;
    *aside = labs(across ? dy : dx);
    return *ahead > 0;
}

static bool edge_between(const struct subgraph *s, size_t a, size_t b)
{
    for (size_t i = 0; i < s->edge_count; i++)
        if ((s->edges[i].from == a && s->edges[i].to == b) ||
            (s->edges[i].from == b && s->edges[i].to == a))
            return true;
    return false;
}

size_t graph_picture_neighbour(const struct graph_picture *p, size_t node,
                               enum picture_direction direction)
{
    const struct subgraph *s = graph_picture_subgraph(p);
    bool across = direction == PICTURE_LEFT || direction == PICTURE_RIGHT, best_linked = false;
    long best = 0;
    size_t found = node;

    if (!s || !s->n)
        return NO_NODE;
    if (node >= s->n)
        return 0;
    for (size_t i = 0; i < s->n; i++) {
        long ahead, aside;
        if (!lies(p, node, i, direction, &ahead, &aside))
            continue;
        bool linked = across && edge_between(s, node, i);
        long cost = across ? ahead + 2 * aside : ahead + 4 * aside;
        if (found != node && (best_linked > linked || (best_linked == linked && best <= cost)))
            continue;
        found = i;
        best = cost;
        best_linked = linked;
    }
    return found;
}

void graph_picture_subject(const struct graph_picture *p, struct subject *out)
{
    const struct subgraph *s = graph_picture_subgraph(p);

    *out = (struct subject){0};
    if (!s || p->selected == NO_NODE)
        return;
    const struct subgraph_node *node = &s->nodes[p->selected];
    if (node->kind == SUBGRAPH_OP)
        *out = (struct subject){.kind = SUBJECT_OP, .number = node->op};
    else if (node->event)
        *out = (struct subject){.kind = SUBJECT_EVENT, .number = node->event};
}

bool graph_picture_detail(struct graph_picture *p, size_t n, struct cell *out, bool *more,
                          struct error *e)
{
    const struct subgraph *s = graph_picture_subgraph(p);

    *more = false;
    if (!s || p->selected == NO_NODE)
        return true;
    return graph_detail_line(&p->detail, s, p->selected, n, out, more, e);
}

/* ---- as a view ---- */

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[] = {{.title = ""}};
    (void)v;
    *n = 1;
    return all;
}

static uint64_t count(struct view *v)
{
    return (uint64_t)graph_picture_height((struct graph_picture *)v);
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct graph_picture *p = (struct graph_picture *)v;
    (void)e;
    graph_picture_row(p, (int)row - 1, 0, graph_picture_width(p), &out->cells[0]);
    return true;
}

static bool detail(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                   struct error *e)
{
    (void)row;
    return graph_picture_detail((struct graph_picture *)v, n, out, more, e);
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    (void)row, (void)e;
    graph_picture_subject((struct graph_picture *)v, out);
    return true;
}

static uint64_t find(struct view *v, const struct subject *s)
{
    struct graph_picture *p = (struct graph_picture *)v;

    if (s->kind != SUBJECT_OP || s->number >= NO_OP)
        return 0;
    size_t node = graph_picture_find(p, (uint32_t)s->number);
    return node == NO_NODE ? 0 : (uint64_t)graph_picture_box(p, node).y + 1;
}

/* The picture closes itself. */
static void close_view(struct view *v)
{
    (void)v;
}

struct view *graph_picture_view(struct graph_picture *p)
{
    static const struct view_ops ops = {
        .name = "graph",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = detail,
        .subject = subject,
        .find = find,
        .close = close_view,
    };

    p->view.ops = &ops;
    return &p->view;
}
