/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines between boxes. A picture is drawn and then read as a person would read it, following lines
 * with a finger: from each box they must lead to exactly those that the edges say, whatever the
 * graph and wherever its nodes are. First with places that no layout would choose, then with dot's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/mem.h"
#include "views/graph_canvas.h"

enum { NODES = 24, EDGES = 80, CASES = 4000, DOT_CASES = 150 };

struct drawn {
    struct layout_node sizes[NODES];
    struct layout_edge hints[EDGES];
    struct route_node nodes[NODES];
    struct route_edge edges[EDGES];
    size_t n, edge_count;
    struct layout_place places[NODES];
    struct layout_way ways[EDGES];
    struct graph_route *route;
    char **rows; /* what is drawn, a glyph a column: see read_glyph */
};

/* ---- drawing ---- */

/* One character for each that a line can be made of; letters stay. */
static char read_glyph(const char *text, size_t n)
{
    static const struct {
        const char *glyph;
        char sign;
    } signs[] = {{"─", '-'}, {"│", '|'}, {"┌", 'r'}, {"┐", '7'}, {"└", 'L'},
                 {"┘", 'J'}, {"├", '>'}, {"┤", '<'}, {"┬", 'T'}, {"┴", 'A'},
                 {"┼", '+'}, {"▸", '*'}, {"║", '#'}, {"╌", '-'}, {"╎", '|'}};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strlen(signs[i].glyph) == n && !memcmp(signs[i].glyph, text, n))
            return signs[i].sign;
    return n == 1 ? *text : '?';
}

static char *read_row(const struct canvas *c, int y, int width)
{
    struct cell cell = {0};
    char *row = xcalloc((size_t)width + 1, 1);

    canvas_row(c, y, 0, width, &cell);
    const char *at = buf_string(&cell.text);
    for (int x = 0; x < width; x++) {
        size_t n = 1;
        while ((at[n] & 0xc0) == 0x80)
            n++;
        row[x] = read_glyph(at, n);
        at += n;
    }
    assert_int_equal(*at, '\0');
    cell_free(&cell);
    return row;
}

static void draw(struct drawn *d)
{
    const struct graph_route *r = d->route;
    struct canvas *c = canvas_new(r->width, r->height);

    for (size_t i = 0; i < d->n; i++) {
        struct cell label = {0};
        cell_add(&label, STYLE_PLAIN, "%c%zu", 'a' + (char)(i % 26), i);
        if (!d->nodes[i].bar)
            canvas_box(c, &r->boxes[i], false, STYLE_PLAIN);
        canvas_text(c, r->boxes[i].x + (d->nodes[i].bar ? 0 : 1),
                    r->boxes[i].y + route_port(r->boxes[i].height), 3, &label, STYLE_COUNT);
        cell_free(&label);
    }
    for (size_t i = 0; i < d->edge_count; i++)
        canvas_line(c, &r->lines[i], STYLE_EDGE, i % 5 ? 0 : CANVAS_BROKEN);
    for (size_t i = 0; i < d->n; i++)
        if (d->nodes[i].bar)
            canvas_bar(c, r->boxes[i].x + r->boxes[i].width / 2, r->boxes[i].bar_top,
                       r->boxes[i].bar_bottom, STYLE_PLAIN);
    d->rows = xcalloc((size_t)r->height + 1, sizeof *d->rows);
    for (int y = 0; y < r->height; y++)
        d->rows[y] = read_row(c, y, r->width);
    canvas_free(c);
}

static void finish(struct drawn *d)
{
    for (int y = 0; y < d->route->height; y++)
        free(d->rows[y]);
    free(d->rows);
    graph_route_free(d->route);
}

static void failed(const struct drawn *d, const char *why, size_t node)
{
    for (int y = 0; y < d->route->height; y++)
        print_message("%s\n", d->rows[y]);
    for (size_t i = 0; i < d->edge_count; i++)
        print_message("%u->%u ", d->edges[i].from, d->edges[i].to);
    fail_msg("%s: node %zu", why, node);
}

/* ---- reading ---- */

enum side { LEFT = 1, RIGHT = 2, UP = 4, DOWN = 8 };

static int sides_of(char sign)
{
    static const char signs[] = "-|r7LJ><TA";
    static const int sides[] = {
        LEFT | RIGHT, UP | DOWN,         RIGHT | DOWN,     LEFT | DOWN,         RIGHT | UP,
        LEFT | UP,    UP | DOWN | RIGHT, UP | DOWN | LEFT, LEFT | RIGHT | DOWN, LEFT | RIGHT | UP};
    const char *at = strchr(signs, sign);
    return sign && at ? sides[at - signs] : 0;
}

struct finger {
    const struct drawn *d;
    size_t from;
    unsigned ends[NODES]; /* how often the line led there */
};

static void arrive(struct finger *f, int x, int y)
{
    for (size_t i = 0; i < f->d->n; i++) {
        const struct route_box *b = &f->d->route->boxes[i];
        bool bar = f->d->nodes[i].bar;
        bool on_bar = bar && x == b->x + b->width / 2 - 1 && y >= b->bar_top && y <= b->bar_bottom;
        bool at_label = x == b->x - 1 && (bar ? y == b->y + route_port(b->height)
                                              : y > b->y && y < b->y + b->height - 1);
        if (on_bar || at_label) {
            f->ends[i]++;
            return;
        }
    }
    failed(f->d, "a line ends at nothing", f->from);
}

/* Goes on in a direction, into the cell at x, y, and from there by all sides that it has. */
static void follow(struct finger *f, int x, int y, enum side going)
{
    enum side back = going == RIGHT ? LEFT : going == UP ? DOWN : UP;

    if (x < 0 || y < 0 || x >= f->d->route->width || y >= f->d->route->height)
        failed(f->d, "a line leaves the sheet", f->from);
    char sign = f->d->rows[y][x];
    bool crosses = sign == '+' || (sign == '#' && going == RIGHT);
    int sides = crosses ? (int)(going | back) : sides_of(sign);
    if (sign == '*' && going == RIGHT) {
        arrive(f, x, y);
        return;
    }
    if (!(sides & (int)back))
        failed(f->d, "a line is broken", f->from);
    if (sides & LEFT && going != RIGHT) /* nothing says which way it goes from here */
        failed(f->d, "two lines become one", f->from);
    if (sides & RIGHT && going != LEFT)
        follow(f, x + 1, y, RIGHT);
    if (sides & UP && going != DOWN)
        follow(f, x, y - 1, UP);
    if (sides & DOWN && going != UP)
        follow(f, x, y + 1, DOWN);
}

static void read_lines(const struct drawn *d, size_t node)
{
    const struct route_box *b = &d->route->boxes[node];
    struct finger f = {.d = d, .from = node};
    unsigned expected[NODES] = {0};
    bool any = false;

    for (size_t i = 0; i < d->edge_count; i++)
        if (d->edges[i].from == node) {
            expected[d->edges[i].to] = 1;
            any = true;
        }
    if (any)
        follow(&f, b->x + b->width, b->y + route_port(b->height), RIGHT);
    for (size_t i = 0; i < d->n; i++)
        if ((f.ends[i] > 0) != (expected[i] > 0))
            failed(d, expected[i] ? "a line is missing" : "a line too many", node);
}

static void check_boxes(const struct drawn *d)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct route_box *a = &d->route->boxes[i];
        char label[16];
        int n = snprintf(label, sizeof label, "%c%zu", 'a' + (char)(i % 26), i);
        const char *row = d->rows[a->y + route_port(a->height)];
        /* A bar may stand in the middle of its label; its first letter is left. */
        if (strncmp(row + a->x + (d->nodes[i].bar ? 0 : 1), label, d->nodes[i].bar ? 1 : (size_t)n))
            failed(d, "its label was overwritten", i);
        for (size_t k = 0; k < i; k++) {
            const struct route_box *b = &d->route->boxes[k];
            if (a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
                b->y < a->y + a->height)
                failed(d, "two boxes overlap", i);
        }
    }
}

static void check(struct drawn *d)
{
    draw(d);
    check_boxes(d);
    for (size_t i = 0; i < d->n; i++)
        read_lines(d, i);
    finish(d);
}

/* ---- graphs ---- */

/* Ranks of a few nodes each, some of them a single bar, and edges from any rank to later ones. */
static void random_graph(struct drawn *d, size_t *rank_of, unsigned *seed)
{
    size_t most = (size_t)rand_r(seed) % NODES + 1, wide = (size_t)rand_r(seed) % 5 + 1;
    int density = rand_r(seed) % 6;

    memset(d, 0, sizeof *d);
    for (size_t rank = 0; d->n < most; rank++) {
        bool bar = rank && rand_r(seed) % 4 == 0;
        size_t count = bar ? 1 : (size_t)rand_r(seed) % wide + 1;
        for (size_t k = 0; k < count && d->n < most; k++) {
            d->nodes[d->n] = (struct route_node){6 + rand_r(seed) % 8, 3, bar};
            rank_of[d->n++] = rank;
        }
    }
    for (uint32_t to = 0; to < d->n; to++) {
        size_t in = 0;
        for (uint32_t from = 0; from < to && d->edge_count < EDGES; from++)
            if (rank_of[from] < rank_of[to] && !d->nodes[from].bar && rand_r(seed) % 10 < density) {
                d->edges[d->edge_count++] = (struct route_edge){from, to};
                in++;
            }
        d->nodes[to].height = route_height(d->nodes[to].bar ? 0 : in);
    }
}

static void lines_lead_where_edges_do(void **state)
{
    (void)state;
    unsigned seed = 1;

    for (int c = 0; c < CASES; c++) {
        struct drawn d;
        size_t rank_of[NODES];
        random_graph(&d, rank_of, &seed);
        int spread = rand_r(&seed) % 30 + 1;
        for (size_t i = 0; i < d.n; i++)
            d.places[i] = (struct layout_place){20.0 * (double)rank_of[i],
                                                rand_r(&seed) % spread + 0.5 * (i % 2)};
        const struct graph_layout layout = {d.places, d.ways, d.n, d.edge_count};
        d.route = graph_route_make(&layout, d.nodes, d.n, d.edges, d.edge_count);
        check(&d);
    }
}

/* As the picture asks for it: bars alone in their ranks by edges that are not drawn. */
static size_t describe(struct drawn *d, const size_t *rank_of, struct layout_edge *hints)
{
    size_t n = 0;

    for (size_t i = 0; i < d->edge_count; i++)
        hints[n++] = (struct layout_edge){d->edges[i].from, d->edges[i].to, false};
    for (uint32_t bar = 0; bar < d->n; bar++)
        for (uint32_t i = 0; d->nodes[bar].bar && i < d->n; i++)
            if (rank_of[i] != rank_of[bar])
                hints[n++] = rank_of[i] < rank_of[bar] ? (struct layout_edge){i, bar, true}
                                                       : (struct layout_edge){bar, i, true};
    for (size_t i = 0; i < d->n; i++)
        d->sizes[i] = (struct layout_node){d->nodes[i].width, d->nodes[i].height,
                                           d->nodes[i].bar ? NO_LANE : (uint32_t)(i % 4)};
    return n;
}

static void with_places_of_dot_too(void **state)
{
    (void)state;
    unsigned seed = 2;

    for (int c = 0; c < DOT_CASES; c++) {
        struct drawn d;
        size_t rank_of[NODES];
        struct layout_edge hints[EDGES + NODES * NODES];
        struct graph_layout *layout;
        struct error e;
        random_graph(&d, rank_of, &seed);
        size_t n = describe(&d, rank_of, hints);
        if (!graph_layout_make(&layout, d.sizes, d.n, hints, n, &e))
            fail_msg("%s", e.text);
        d.route = graph_route_make(layout, d.nodes, d.n, d.edges, d.edge_count);
        check(&d);
        graph_layout_free(layout);
    }
}

/* ---- the thread ---- */

static void jobs_end_and_can_be_dropped(void **state)
{
    (void)state;
    const struct layout_node nodes[] = {{8, 3, 0}, {8, 3, 0}, {8, 3, 1}};
    const struct layout_edge edges[] = {{0, 1, false}, {1, 2, false}};
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    struct error e;

    /* Several at once: all but the last are outdated. */
    for (int i = 0; i < 10; i++)
        layout_job_drop(layout_job_start(nodes, 3, edges, 2, fd, &e));
    struct layout_job *job = layout_job_start(nodes, 3, edges, 2, fd, &e);
    assert_non_null(job);
    assert_int_equal(poll(&poll_fd, 1, 60000), 1);
    layout_job_wait(job);
    assert_true(layout_job_done(job));
    struct graph_layout *layout = layout_job_take(job, &e);
    assert_non_null(layout);
    assert_int_equal(layout->n, 3);
    assert_true(layout->nodes[0].x < layout->nodes[1].x && layout->nodes[1].x < layout->nodes[2].x);
    graph_layout_free(layout);
    layout_job_drop(job);

    /* One that ended and was never asked for. */
    job = layout_job_start(nodes, 3, edges, 2, fd, &e);
    layout_job_wait(job);
    layout_job_drop(job);
    layout_jobs_wait();
    close(fd);
}

int main(void)
{
    if (!setlocale(LC_ALL, "C.UTF-8"))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_lead_where_edges_do),
        cmocka_unit_test(with_places_of_dot_too),
        cmocka_unit_test(jobs_end_and_can_be_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
