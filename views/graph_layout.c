/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/graph_layout.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/mem.h"
#include "engine/vec.h"
#include "views/graphviz.h"

/* How large a cell is for dot, in points. Any would do; this looks like a terminal's. */
enum { CELL_WIDTH = 8, CELL_HEIGHT = 16, POINTS_AN_INCH = 72 };

/* Rows between neighbours, and columns between ranks: the picture makes the room that it needs
 * there, this only says that there is some. */
enum { ROWS_BETWEEN = 1, COLUMNS_BETWEEN = 6 };

/* Dot tries so often to get rid of crossings, and then some more: enough for what fits a screen,
 * and the time stays within reason for what does not. */
#define EFFORT       "2.0"
#define EFFORT_RANKS "200"

/* ---- a graph for dot ---- */

static char *number_name(char *out, size_t size, const char *prefix, size_t n)
{
    snprintf(out, size, "%s%zu", prefix, n);
    return out;
}

static void set_graph(Agraph_t *g)
{
    graphviz_set(g, "rankdir", "LR");
    graphviz_set(g, "splines", "polyline");
    graphviz_set(g, "newrank", "true"); /* else edges between lanes could lead backwards */
    graphviz_set(g, "mclimit", EFFORT);
    graphviz_set(g, "nslimit", EFFORT_RANKS);
    graphviz_setf(g, "nodesep", "%f", (double)ROWS_BETWEEN * CELL_HEIGHT / POINTS_AN_INCH);
    graphviz_setf(g, "ranksep", "%f", (double)COLUMNS_BETWEEN * CELL_WIDTH / POINTS_AN_INCH);
}

static Agnode_t *add_node(Agraph_t *g, const struct layout_node *node, size_t i)
{
    char name[32];
    Agraph_t *lane = g;

    if (node->lane != NO_LANE) {
        lane = agsubg(g, number_name(name, sizeof name, "cluster", node->lane), 1);
        graphviz_setf(lane, "margin", "%d", CELL_HEIGHT);
    }
    Agnode_t *n = agnode(lane, number_name(name, sizeof name, "n", i), 1);
    graphviz_set(n, "shape", "box");
    graphviz_set(n, "label", "");
    graphviz_set(n, "fixedsize", "true");
    graphviz_setf(n, "width", "%f", (double)node->width * CELL_WIDTH / POINTS_AN_INCH);
    graphviz_setf(n, "height", "%f", (double)node->height * CELL_HEIGHT / POINTS_AN_INCH);
    if (node->lane != NO_LANE)
        graphviz_setf(n, "group", "%lu", (unsigned long)node->lane);
    return n;
}

static Agedge_t *add_edge(Agraph_t *g, Agnode_t **nodes, const struct layout_edge *edge, size_t i)
{
    char name[32];
    Agedge_t *e =
        agedge(g, nodes[edge->from], nodes[edge->to], number_name(name, sizeof name, "e", i), 1);

    graphviz_set(e, "arrowhead", "none");
    if (edge->hidden) {
        graphviz_set(e, "style", "invis");
        graphviz_set(e, "weight", "0");
    }
    return e;
}

/* ---- what dot says ---- */

static struct layout_place place(pointf at, double top)
{
    return (struct layout_place){at.x / CELL_WIDTH, (top - at.y) / CELL_HEIGHT};
}

/* Of a spline of lines every third control point lies on it; the others are on the way. */
static void read_way(struct layout_way *way, Agedge_t *e, double top)
{
    vec_of(struct layout_place) points = {0};
    const splines *spl = ED_spl(e);

    for (int i = 0; spl && i < spl->size; i++)
        for (int k = 0; k < spl->list[i].size; k += 3)
            vec_push(&points, place(spl->list[i].list[k], top));
    way->at = points.at;
    way->n = points.n;
}

static struct graph_layout *read_layout(Agraph_t *g, Agnode_t **nodes, size_t n, Agedge_t **drawn,
                                        size_t edge_count)
{
    struct graph_layout *l = xcalloc(1, sizeof *l);
    double top = GD_bb(g).UR.y;

    l->n = n;
    l->edge_count = edge_count;
    l->nodes = xcalloc(n + 1, sizeof *l->nodes);
    l->ways = xcalloc(edge_count + 1, sizeof *l->ways);
    for (size_t i = 0; i < n; i++)
        l->nodes[i] = place(ND_coord(nodes[i]), top);
    for (size_t i = 0; i < edge_count; i++)
        if (drawn[i])
            read_way(&l->ways[i], drawn[i], top);
    return l;
}

void graph_layout_free(struct graph_layout *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->edge_count; i++)
        free(l->ways[i].at);
    free(l->ways);
    free(l->nodes);
    free(l);
}

/* Inside graphviz_enter(). */
static bool make(struct graphviz *z, struct graph_layout **out, const struct layout_node *nodes,
                 size_t n, const struct layout_edge *edges, size_t edge_count, struct error *e)
{
    char name[] = "flotsam";
    Agraph_t *g = agopen(name, Agdirected, NULL);
    Agnode_t **placed = xcalloc(n + 1, sizeof *placed);
    Agedge_t **drawn = xcalloc(edge_count + 1, sizeof *drawn);

    set_graph(g);
    for (size_t i = 0; i < n; i++)
        placed[i] = add_node(g, &nodes[i], i);
    for (size_t i = 0; i < edge_count; i++) {
        Agedge_t *edge = add_edge(g, placed, &edges[i], i);
        drawn[i] = edges[i].hidden ? NULL : edge;
    }
    bool ok = graphviz_lay_out(z, g, e);
    if (ok) {
        *out = read_layout(g, placed, n, drawn, edge_count);
        gvFreeLayout(z->context, g);
    }
    agclose(g);
    free(placed);
    free(drawn);
    return ok;
}

bool graph_layout_make(struct graph_layout **out, const struct layout_node *nodes, size_t n,
                       const struct layout_edge *edges, size_t edge_count, struct error *e)
{
    struct graphviz z;

    *out = NULL;
    if (!n) {
        *out = xcalloc(1, sizeof **out);
        return true;
    }
    graphviz_enter(&z);
    bool ok = make(&z, out, nodes, n, edges, edge_count, e);
    graphviz_leave(&z);
    return ok;
}

/* ---- jobs ---- */

struct layout_job {
    struct layout_node *nodes;
    struct layout_edge *edges;
    size_t n, edge_count;
    int fd;
    bool done, dropped; /* by `jobs`; whoever comes second frees it */
    bool ok;
    struct graph_layout *layout;
    struct error error;
};

/* All jobs of the process share the library, so they can share this. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    size_t running;
} jobs = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void job_free(struct layout_job *job)
{
    graph_layout_free(job->layout);
    free(job->nodes);
    free(job->edges);
    free(job);
}

static bool is_dropped(struct layout_job *job)
{
    pthread_mutex_lock(&jobs.lock);
    bool dropped = job->dropped;
    pthread_mutex_unlock(&jobs.lock);
    return dropped;
}

static void *run_job(void *data)
{
    struct layout_job *job = data;
    uint64_t one = 1;

    /* One that had to wait for others may have been outdated meanwhile. */
    if (!is_dropped(job))
        job->ok = graph_layout_make(&job->layout, job->nodes, job->n, job->edges, job->edge_count,
                                    &job->error);
    pthread_mutex_lock(&jobs.lock);
    job->done = true;
    if (job->dropped)
        job_free(job);
    else if (write(job->fd, &one, sizeof one) < 0)
        one = 0; /* the counter is full: it is readable already */
    jobs.running--;
    pthread_cond_broadcast(&jobs.ended);
    pthread_mutex_unlock(&jobs.lock);
    return NULL;
}

/* Signals are for the thread that has the terminal. */
static bool start_thread(struct layout_job *job)
{
    pthread_t thread;
    pthread_attr_t detached;
    sigset_t all, old;

    sigfillset(&all);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool ok = pthread_create(&thread, &detached, run_job, job) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&detached);
    return ok;
}

static void *copy(const void *from, size_t n, size_t size)
{
    void *to = xcalloc(n + 1, size);
    if (n)
        memcpy(to, from, n * size);
    return to;
}

struct layout_job *layout_job_start(const struct layout_node *nodes, size_t n,
                                    const struct layout_edge *edges, size_t edge_count, int fd,
                                    struct error *e)
{
    struct layout_job *job = xcalloc(1, sizeof *job);

    job->nodes = copy(nodes, n, sizeof *nodes);
    job->edges = copy(edges, edge_count, sizeof *edges);
    job->n = n;
    job->edge_count = edge_count;
    job->fd = fd;
    pthread_mutex_lock(&jobs.lock);
    bool ok = start_thread(job);
    jobs.running += ok;
    pthread_mutex_unlock(&jobs.lock);
    if (ok)
        return job;
    error_errno(e, "cannot start a thread to lay the graph out");
    job_free(job);
    return NULL;
}

bool layout_job_done(struct layout_job *job)
{
    pthread_mutex_lock(&jobs.lock);
    bool done = job->done;
    pthread_mutex_unlock(&jobs.lock);
    return done;
}

void layout_job_wait(struct layout_job *job)
{
    pthread_mutex_lock(&jobs.lock);
    while (!job->done)
        pthread_cond_wait(&jobs.ended, &jobs.lock);
    pthread_mutex_unlock(&jobs.lock);
}

struct graph_layout *layout_job_take(struct layout_job *job, struct error *e)
{
    struct graph_layout *l = job->layout;

    job->layout = NULL;
    if (!job->ok && e)
        *e = job->error;
    return job->ok ? l : NULL;
}

void layout_job_drop(struct layout_job *job)
{
    if (!job)
        return;
    pthread_mutex_lock(&jobs.lock);
    bool done = job->done;
    job->dropped = true;
    pthread_mutex_unlock(&jobs.lock);
    if (done)
        job_free(job);
}

void layout_jobs_wait(void)
{
    pthread_mutex_lock(&jobs.lock);
    while (jobs.running)
        pthread_cond_wait(&jobs.ended, &jobs.lock);
    pthread_mutex_unlock(&jobs.lock);
}
