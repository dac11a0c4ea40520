/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/graph_route.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "views/graph_route_inside.h"

/* Dot gives the nodes of one rank the same centre; ranks are further apart than this. */
#define RANK_TOLERANCE 0.5

/* A line rather keeps its row than follow dot for so few rows. */
enum { KEEP_ROW = 2 };

int route_height(size_t edges)
{
    return edges < 1 ? 3 : (int)edges + 2;
}

int route_port(int height)
{
    return (height - 1) / 2;
}

/* ---- ranks and boxes ---- */

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void find_ranks(struct router *r)
{
    double *x = xcalloc(r->n + 1, sizeof *x);

    for (size_t i = 0; i < r->n; i++)
        x[i] = r->layout->nodes[i].x;
    qsort(x, r->n, sizeof *x, by_double);
    r->ranks = xcalloc(r->n + 1, sizeof *r->ranks);
    for (size_t i = 0; i < r->n; i++)
        if (!i || x[i] - x[i - 1] > RANK_TOLERANCE)
            r->ranks[r->rank_count++].centre = x[i];
    for (size_t i = 0; i < r->n; i++) {
        size_t k = 0;
        while (k + 1 < r->rank_count && r->layout->nodes[i].x - r->ranks[k].centre > RANK_TOLERANCE)
            k++;
        r->rank_of[i] = k;
        vec_push(&r->ranks[k].nodes, (uint32_t)i);
        if (r->nodes[i].width > r->ranks[k].width)
            r->ranks[k].width = r->nodes[i].width;
    }
    free(x);
}

/* Rounding can bring boxes of a rank a row too close: those below give way. */
static void place_boxes(struct router *r)
{
    for (size_t i = 0; i < r->n; i++) {
        r->boxes[i].width = r->nodes[i].width;
        r->boxes[i].height = r->nodes[i].height;
        r->boxes[i].y = (int)lround(r->layout->nodes[i].y - r->nodes[i].height / 2.0);
    }
    for (size_t k = 0; k < r->rank_count; k++) {
        struct rank *rank = &r->ranks[k];
        for (size_t i = 1; i < rank->nodes.n; i++) /* by row; a rank is short */
            for (size_t j = i; j > 0; j--) {
                uint32_t *a = &rank->nodes.at[j - 1], *b = &rank->nodes.at[j], t = *a;
                if (r->boxes[*a].y <= r->boxes[*b].y)
                    break;
                *a = *b;
                *b = t;
            }
        for (size_t i = 1; i < rank->nodes.n; i++) {
            const struct route_box *above = &r->boxes[rank->nodes.at[i - 1]];
            struct route_box *below = &r->boxes[rank->nodes.at[i]];
            if (below->y < above->y + above->height + 1)
                below->y = above->y + above->height + 1;
        }
    }
}

/* ---- rows of lines between boxes ---- */

/* Where dot's line of an edge is at a rank. */
static double way_row(const struct router *r, size_t edge, double x)
{
    const struct layout_way *way = &r->layout->ways[edge];

    if (!way->n)
        return r->layout->nodes[r->edges[edge].from].y;
    for (size_t i = 1; i < way->n; i++) {
        struct layout_place a = way->at[i - 1], b = way->at[i];
        if (x <= b.x && b.x > a.x)
            return a.y + (b.y - a.y) * (x < a.x ? 0 : (x - a.x) / (b.x - a.x));
    }
    return way->at[way->n - 1].y;
}

static bool is_free(const struct router *r, const struct rank *rank, int row, bool arrives)
{
    for (size_t i = 0; i < rank->nodes.n; i++) {
        uint32_t node = rank->nodes.at[i];
        const struct route_box *box = &r->boxes[node];
        if (r->nodes[node].bar ? !arrives && row == box->y + route_port(box->height)
                               : row >= box->y && row < box->y + box->height)
            return false;
    }
    for (size_t i = 0; i < rank->stops.n; i++)
        if (rank->stops.at[i].row == row)
            return false;
    return true;
}

static int nearest_free(const struct router *r, const struct rank *rank, int row, bool arrives)
{
    for (int away = 0;; away++) {
        if (is_free(r, rank, row + away, arrives))
            return row + away;
        if (is_free(r, rank, row - away, arrives))
            return row - away;
    }
}

static const struct stop *find_stop(const struct rank *rank, uint32_t source, bool arrives)
{
    for (size_t i = 0; i < rank->stops.n; i++)
        if (rank->stops.at[i].source == source && rank->stops.at[i].arrives == arrives)
            return &rank->stops.at[i];
    return NULL;
}

int router_row(const struct router *r, uint32_t source, size_t rank)
{
    if (rank == r->rank_of[source])
        return r->boxes[source].y + route_port(r->boxes[source].height);
    return find_stop(&r->ranks[rank], source, false)->row;
}

int router_arrival(const struct router *r, size_t edge)
{
    uint32_t to = r->edges[edge].to;

    if (r->nodes[to].bar)
        return find_stop(&r->ranks[r->rank_of[to]], r->edges[edge].from, true)->row;
    return r->boxes[to].y + (int)r->ports[edge];
}

struct wish {
    uint32_t source;
    bool arrives;
    int row, before; /* that dot would take; that the line comes from */
};

static int by_wish(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;

    if (x->arrives != y->arrives)
        return x->arrives ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->source < y->source ? -1 : x->source > y->source;
}

/* A bar has its label where the first of its lines ends. */
static void place_bar(struct router *r, struct rank *rank, const struct wish *wishes, size_t n)
{
    uint32_t node = rank->nodes.at[0];

    if (r->nodes[node].bar && n && wishes[0].arrives)
        r->boxes[node].y = wishes[0].row - route_port(r->boxes[node].height);
}

/* Lines that go through a rank, or end at its bar: one for each source. Those that end there come
 * first, and straight. */
static void place_stops(struct router *r, size_t k)
{
    struct rank *rank = &r->ranks[k];
    vec_of(struct wish) wishes = {0};

    for (size_t i = 0; i < r->edge_count; i++) {
        uint32_t from = r->edges[i].from, to = r->edges[i].to;
        bool arrives = r->rank_of[to] == k && r->nodes[to].bar;
        bool known = false;
        if (r->rank_of[from] >= k || (r->rank_of[to] <= k && !arrives))
            continue;
        for (size_t j = 0; j < wishes.n; j++)
            known |= wishes.at[j].source == from && wishes.at[j].arrives == arrives;
        if (known)
            continue;
        int before = router_row(r, from, k - 1);
        int row = arrives ? before : (int)lround(way_row(r, i, rank->centre) - 0.5);
        vec_push(&wishes, (struct wish){from, arrives, row, before});
    }
    if (wishes.n)
        qsort(wishes.at, wishes.n, sizeof *wishes.at, by_wish);
    place_bar(r, rank, wishes.at, wishes.n);
    for (size_t i = 0; i < wishes.n; i++) {
        const struct wish *w = &wishes.at[i];
        bool keep = abs(w->row - w->before) <= KEEP_ROW && is_free(r, rank, w->before, w->arrives);
        int row = keep ? w->before : nearest_free(r, rank, w->row, w->arrives);
        vec_push(&rank->stops, (struct stop){w->source, w->arrives, row});
    }
    vec_free(&wishes);
}

struct port_wish {
    size_t edge;
    int row; /* that its line comes from */
};

static int by_port(const void *a, const void *b)
{
    const struct port_wish *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* Edges end in rows of their own, in the order in which they come. A single one ends in the row in
 * which a chain goes on. */
static void place_ports(struct router *r, uint32_t node)
{
    vec_of(struct port_wish) in = {0};

    for (size_t i = 0; i < r->edge_count; i++)
        if (r->edges[i].to == node && !r->nodes[node].bar)
            vec_push(&in,
                     (struct port_wish){i, router_row(r, r->edges[i].from, r->rank_of[node] - 1)});
    if (in.n)
        qsort(in.at, in.n, sizeof *in.at, by_port);
    for (size_t i = 0; i < in.n; i++)
        r->ports[in.at[i].edge] = in.n == 1 ? (size_t)route_port(r->boxes[node].height) : i + 1;
    vec_free(&in);
}

/* ---- from rows to a grid ---- */

static void mark_row(struct router *r, int row)
{
    r->used[row - r->top] = true;
}

static void spread(struct router *r, int row)
{
    r->top = row < r->top ? row : r->top;
    r->bottom = row > r->bottom ? row : r->bottom;
}

static void each_row(struct router *r, void (*visit)(struct router *r, int row))
{
    for (size_t i = 0; i < r->n; i++)
        for (int y = 0; y < r->boxes[i].height; y++)
            visit(r, r->boxes[i].y + y);
    for (size_t k = 0; k < r->rank_count; k++) {
        for (size_t i = 0; i < r->ranks[k].stops.n; i++)
            visit(r, r->ranks[k].stops.at[i].row);
        for (size_t i = 0; i < r->ranks[k].wires.n; i++)
            if (r->ranks[k].wires.at[i].detours)
                visit(r, r->ranks[k].wires.at[i].detour);
    }
}

/* Of rows in which nothing happens, one is left to keep things apart. */
static void number_rows(struct router *r)
{
    int next = 0;

    r->top = r->n ? r->boxes[0].y : 0;
    r->bottom = r->top;
    each_row(r, spread);
    size_t count = (size_t)(r->bottom - r->top) + 1;
    r->used = xcalloc(count, sizeof *r->used);
    r->rows = xcalloc(count, sizeof *r->rows);
    each_row(r, mark_row);
    for (size_t y = 0; y < count; y++)
        r->rows[y] = !y || r->used[y] || r->used[y - 1] ? next++ : next - 1;
    r->height = r->n ? next : 0;
}

static int grid_row(const struct router *r, int row)
{
    return r->rows[row - r->top];
}

/* Columns: each rank is as wide as its widest box, each channel as it needs for its lines. */
static void number_columns(struct router *r)
{
    int x = 0;

    for (size_t k = 0; k < r->rank_count; k++) {
        r->ranks[k].x = x;
        r->ranks[k].channel = x + r->ranks[k].width;
        x = r->ranks[k].channel + (k + 1 < r->rank_count ? channel_width(&r->ranks[k]) : 0);
    }
    r->width = x;
}

/* ---- lines ---- */

static void go(struct route_line *line, int x, int y)
{
    size_t n = line->at.n;

    if (n && line->at.at[n - 1].x == x && line->at.at[n - 1].y == y)
        return;
    vec_push(&line->at, (struct route_point){x, y});
}

static void cross_channel(const struct router *r, struct route_line *line, const struct wire *w,
                          const struct rank *rank)
{
    int from = grid_row(r, w->from), to = grid_row(r, w->to);

    if (w->from == w->to)
        return;
    go(line, channel_column(rank, w->track), from);
    if (w->detours) {
        go(line, channel_column(rank, w->track), grid_row(r, w->detour));
        go(line, channel_column(rank, w->second_track), grid_row(r, w->detour));
        go(line, channel_column(rank, w->second_track), to);
    } else {
        go(line, channel_column(rank, w->track), to);
    }
}

static void draw_line(const struct router *r, struct route_line *line, size_t edge)
{
    uint32_t from = r->edges[edge].from, to = r->edges[edge].to;
    size_t first = r->rank_of[from], last = r->rank_of[to];
    const struct route_box *a = &r->boxes[from], *b = &r->boxes[to];

    go(line, a->x + a->width, grid_row(r, router_row(r, from, first)));
    for (size_t k = first; k < last; k++) {
        int row = k + 1 == last ? router_arrival(r, edge) : router_row(r, from, k + 1);
        const struct wire *w = channel_wire(&r->ranks[k], from, row);
        cross_channel(r, line, w, &r->ranks[k]);
    }
    int row = grid_row(r, router_arrival(r, edge));
    bool on_bar = r->nodes[to].bar && router_arrival(r, edge) != r->label_row[to];
    go(line, on_bar ? b->x + b->width / 2 - 1 : b->x - 1, row);
}

static void settle_boxes(struct router *r)
{
    for (size_t i = 0; i < r->n; i++) {
        struct route_box *box = &r->boxes[i];
        r->label_row[i] = box->y + route_port(box->height);
        box->bar_top = grid_row(r, box->y);
        box->bar_bottom = grid_row(r, box->y + box->height - 1);
    }
    for (size_t i = 0; i < r->edge_count; i++) {
        struct route_box *box = &r->boxes[r->edges[i].to];
        int row = grid_row(r, router_arrival(r, i));
        if (r->nodes[r->edges[i].to].bar && row < box->bar_top)
            box->bar_top = row;
        if (r->nodes[r->edges[i].to].bar && row > box->bar_bottom)
            box->bar_bottom = row;
    }
    for (size_t i = 0; i < r->n; i++)
        r->boxes[i].x = r->ranks[r->rank_of[i]].x;
}

static void router_free(struct router *r)
{
    for (size_t k = 0; k < r->rank_count; k++) {
        vec_free(&r->ranks[k].nodes);
        vec_free(&r->ranks[k].stops);
        vec_free(&r->ranks[k].wires);
    }
    free(r->ranks);
    free(r->rank_of);
    free(r->ports);
    free(r->label_row);
    free(r->used);
    free(r->rows);
}

struct graph_route *graph_route_make(const struct graph_layout *layout,
                                     const struct route_node *nodes, size_t n,
                                     const struct route_edge *edges, size_t edge_count)
{
    struct graph_route *out = xcalloc(1, sizeof *out);
    struct router r = {.layout = layout,
                       .nodes = nodes,
                       .n = n,
                       .edges = edges,
                       .edge_count = edge_count,
                       .boxes = xcalloc(n + 1, sizeof *r.boxes),
                       .rank_of = xcalloc(n + 1, sizeof *r.rank_of),
                       .label_row = xcalloc(n + 1, sizeof *r.label_row),
                       .ports = xcalloc(edge_count + 1, sizeof *r.ports)};

    find_ranks(&r);
    place_boxes(&r);
    for (size_t k = 0; k < r.rank_count; k++) {
        place_stops(&r, k);
        for (size_t i = 0; i < r.ranks[k].nodes.n; i++)
            place_ports(&r, r.ranks[k].nodes.at[i]);
    }
    for (size_t k = 0; k + 1 < r.rank_count; k++)
        channel_route(&r, k);
    number_rows(&r);
    number_columns(&r);
    settle_boxes(&r);
    out->lines = xcalloc(edge_count + 1, sizeof *out->lines);
    for (size_t i = 0; i < edge_count; i++)
        draw_line(&r, &out->lines[i], i);
    for (size_t i = 0; i < n; i++)
        r.boxes[i].y = grid_row(&r, r.boxes[i].y);
    out->boxes = r.boxes;
    out->n = n;
    out->edge_count = edge_count;
    out->width = r.width;
    out->height = r.height;
    router_free(&r);
    return out;
}

void graph_route_free(struct graph_route *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->edge_count; i++)
        vec_free(&r->lines[i].at);
    free(r->lines);
    free(r->boxes);
    free(r);
}
