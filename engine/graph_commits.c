/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Contents that come with a commit. Where a sync keeps a file's contents whatever the journal has
 * (btrfs), those of other files are found only once a commit has their places, and a commit has all
 * names and truncations that were made before. So contents wait for these, unless a sync logs them:
 * a sync of their file, or one that carries a name of it, which may log its contents, too.
 *
 * Whether that happens is known only when the trace has gone on. When it does, what had reached the
 * disk before the sync began is waited for all the same, as far as it is the beginning of all that
 * was made: the state with the contents and without such a name cannot have come from that sync.
 * For the rest nothing is waited for at all, also before the sync: such a state may be left during
 * it.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/graph_inside.h"

/* How far back truncations are looked for that came after the last name, each of which is waited
 * for by itself. Of those before them, logged by a sync while the contents waited, nothing is said:
 * so many at a time are rare. The name before them is waited for all the same. */
enum { LOOKS_MAX = 256 };

static bool keeps_contents(const struct builder *b)
{
    return b->model.sync == SYNC_OWN_NAME;
}

void builder_committed(struct builder *b, uint32_t op)
{
    if (!keeps_contents(b))
        return;
    uint32_t before = b->last_names.n ? vec_last(&b->last_names) : 0;
    vec_push(&b->order, op);
    vec_push(&b->last_names, b->ops.at[op].kind == OP_NAME ? (uint32_t)b->order.n : before);
}

static bool was_before(const struct builder *b, const struct last_sync *sync, uint32_t op)
{
    return op < sync->ops && b->returned.at[op] < sync->entry && sync->exit < b->event.entry;
}

/* Whether its effect was on the disk before the event began. */
static bool has_settled(struct builder *b, uint32_t op)
{
    const uint64_t *copy = map_get(&b->copies, &op, sizeof op);
    const struct op *at = &b->ops.at[op];

    return was_before(b, &b->last_sync, op) ||
           (copy && *copy && b->covered.at[*copy] < b->event.entry) ||
           (at->kind != OP_NAME && was_before(b, &builder_inode(b, at->file)->last_sync, op));
}

/* How many of the names and truncations, from the first on, were on the disk before the event. */
static size_t settled(struct builder *b)
{
    while (b->settled < b->order.n && has_settled(b, b->order.at[b->settled]))
        b->settled++;
    return b->settled;
}

static void wait_late(struct builder *b, struct waiting w, size_t most)
{
    if (w.before > most)
        w.before = (uint32_t)most;
    if (w.before)
        vec_push(&b->late, w);
}

void builder_await_commit(struct builder *b, uint32_t op)
{
    if (!keeps_contents(b) || settled(b) == b->order.n)
        return;
    struct inode *inode = builder_inode(b, b->ops.at[op].file);
    struct waiting w = {op, (uint32_t)b->order.n};
    if (inode->logging > b->event.entry)
        wait_late(b, w, inode->logged_after);
    else
        vec_push(&inode->waiting, w);
}

void builder_logged(struct builder *b, uint32_t file)
{
    if (!keeps_contents(b))
        return;
    settled(b);
    struct inode *inode = builder_inode(b, file);
    for (size_t i = 0; i < inode->waiting.n; i++)
        wait_late(b, inode->waiting.at[i], b->settled);
    inode->waiting.n = 0;
    /* What is written while the sync runs may go into the log as well. */
    uint64_t until = b->event.traits & EVENT_UNFINISHED ? NEVER : b->event.exit;
    if (inode->logging <= b->event.entry || b->settled < inode->logged_after)
        inode->logged_after = (uint32_t)b->settled;
    if (until > inode->logging)
        inode->logging = until;
}

static int by_op(const void *x, const void *y)
{
    const struct waiting *a = x, *b = y;
    return (a->op > b->op) - (a->op < b->op);
}

/* Whether all that was made before the i-th comes before it anyhow: it is a name, or a truncation
 * that no sync has logged, which waits as contents do. */
static bool has_all_before(const struct builder *b, uint32_t i)
{
    struct waiting key = {b->order.at[i], 0};
    if (b->ops.at[key.op].kind == OP_NAME)
        return true;
    const struct waiting *own = bsearch(&key, b->late.at, b->late.n, sizeof key, by_op);
    return own && own->before == i;
}

/* From the last one before the op that all before come before, and from truncations since then,
 * unless they were durable already. What ran at the same time came in any order. */
static void add_edges(const struct builder *b, struct waiting w, struct graph_edge *edges,
                      uint32_t *n)
{
    *n = 0;
    for (uint32_t i = w.before, looks = 0; i > 0; i--) {
        if (looks++ >= LOOKS_MAX && (i = b->last_names.at[i - 1]) == 0)
            break;
        uint32_t from = b->order.at[i - 1];
        if (from >= w.op || b->returned.at[from] >= b->issued.at[w.op])
            continue;
        if (b->covered.at[from] >= b->issued.at[w.op]) /* else it is there anyhow */
            edges[(*n)++] = (struct graph_edge){from, RULE_COMMIT};
        if (has_all_before(b, i - 1))
            break;
    }
}

void builder_never_logged(struct builder *b)
{
    for (size_t f = 0; f < b->inodes.n; f++)
        for (size_t i = 0; i < b->inodes.at[f].waiting.n; i++)
            vec_push(&b->late, b->inodes.at[f].waiting.at[i]);
}

void builder_commits(struct builder *b)
{
    if (!b->late.n)
        return;
    qsort(b->late.at, b->late.n, sizeof *b->late.at, by_op);

    /* Edges into an op lie together: all are laid out anew. */
    vec_of(struct graph_edge) edges = {0};
    struct graph_edge more[LOOKS_MAX + 1];
    size_t next = 0;
    for (uint32_t op = 0; op < b->ops.n; op++) {
        uint32_t from = b->first.at[op], end = builder_edges_end(b, op), n = 0;
        b->first.at[op] = (uint32_t)edges.n;
        for (uint32_t i = from; i < end; i++)
            vec_push(&edges, b->edges.at[i]);
        if (next < b->late.n && b->late.at[next].op == op)
            add_edges(b, b->late.at[next++], more, &n);
        for (uint32_t i = 0; i < n; i++)
            vec_push(&edges, more[i]);
    }
    vec_free(&b->edges);
    b->edges.at = edges.at;
    b->edges.n = edges.n;
    b->edges.cap = edges.cap;
}
