/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/behaviour.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/behaviour_types.h"
#include "engine/mem.h"
#include "engine/op.h"
#include "engine/scratch.h"
#include "engine/vec.h"

#define NO_PART UINT32_MAX

typedef vec_of(struct behaviour) behaviour_list;

/* A node of the forest of merges. A leaf is a run of neighbouring actions of one thread; an inner
 * one has children. Parts that wait at a node of the call tree are chained by `next`, and so are
 * the children of one part. */
struct part {
    uint64_t first, last; /* events */
    uint64_t ops;
    uint32_t first_op, last_op;
    uint32_t node;
    uint32_t begin, end; /* of a leaf: in the thread's order; later of all: in the final order */
    uint32_t child, next, parent;
    uint32_t number; /* as a behaviour, or NO_BEHAVIOUR */
    uint16_t flags;
    bool full;  /* may not be merged any further */
    bool ghost; /* only says that this time is full: no part of the forest */
};

/* Parts that wait at a node of the call tree, by time once the node has been merged. */
struct waiting {
    uint32_t head, tail;
    bool mixed; /* from more than one side: neighbours may have to be merged */
    bool known; /* in finder.nodes */
};

struct finder {
    struct behaviours *list;
    uint32_t *thread_order; /* actions by thread, then by event */
    vec_of(struct part) parts;
    struct waiting *at;      /* by node */
    vec_of(uint32_t) nodes;  /* those where something will wait, for the thread at hand */
    vec_of(uint32_t) sorted; /* the parts of one node */
    vec_of(struct behaviour_unmerged) unmerged;
    struct scratch seen; /* place → where it came first */
};

static const struct action *action_of(const struct finder *f, uint32_t i)
{
    return &f->list->actions[f->thread_order[i]];
}

static uint32_t place_of(const struct finder *f, uint32_t i)
{
    return f->list->places[f->thread_order[i]];
}

/* ---- parts, and where they wait ---- */

static void wait_at(struct finder *f, uint32_t node, uint32_t head, uint32_t tail)
{
    struct waiting *w = &f->at[node];
    if (w->head == NO_PART) {
        w->head = head;
    } else {
        f->parts.at[w->tail].next = head;
        w->mixed = true;
    }
    w->tail = tail;
    for (; node != CALLTREE_ROOT && !f->at[node].known;
         node = calltree_node(f->list->tree, node)->parent) {
        f->at[node].known = true;
        vec_push(&f->nodes, node);
    }
}

static uint32_t add_part(struct finder *f, uint32_t node)
{
    struct part p = {
        .first = UINT64_MAX,
        .first_op = NO_OP,
        .node = node,
        .child = NO_PART,
        .next = NO_PART,
        .parent = NO_PART,
        .number = NO_BEHAVIOUR,
    };
    vec_push(&f->parts, p);
    return (uint32_t)f->parts.n - 1;
}

static void count_action(struct part *p, const struct action *a)
{
    if (p->first > a->event)
        p->first = a->event;
    if (p->last < a->event)
        p->last = a->event;
    if (!a->op_count)
        return;
    if (p->first_op == NO_OP || p->first_op > a->first_op)
        p->first_op = a->first_op;
    if (p->last_op < a->first_op + a->op_count - 1)
        p->last_op = a->first_op + a->op_count - 1;
    p->ops += a->op_count;
}

static void add_leaf(struct finder *f, uint32_t node, uint32_t begin, uint32_t end, uint16_t flags)
{
    uint32_t part = add_part(f, node);
    struct part *p = &f->parts.at[part];
    p->begin = begin;
    p->end = end;
    p->flags = flags;
    for (uint32_t i = begin; i < end; i++)
        count_action(p, action_of(f, i));
    if (p->ops > f->list->options.max) {
        p->flags |= BEHAVIOUR_LARGE;
        f->list->large++;
    }
    p->full = p->flags & (BEHAVIOUR_CUT | BEHAVIOUR_LARGE);
    wait_at(f, node, part, part);
}

/* ---- step 1: Algorithm 1, then density, then the limit ---- */

/* A run that is too large is cut into pieces of a 64th of the limit or more, where its loops
 * allow that: a few turns of a loop are often alike, many of them never are. The beginning of a
 * loop is looked for up to a quarter of the limit. */
enum { CUT_LEAST = 64, CUT_LOOK = 4 };

/* Where to cut: at the place that came first among those that come again soon, because that is
 * where the outermost loop begins; without one, where the limit is reached. */
static uint32_t cut_point(struct finder *f, uint32_t begin, uint32_t end)
{
    const uint64_t max = f->list->options.max;
    uint64_t ops = 0, loop = UINT64_MAX; /* where the loop was first entered */
    uint32_t cut = end;
    scratch_clear(&f->seen);
    for (uint32_t i = begin; i < end; i++) {
        uint64_t first = *scratch_put(&f->seen, place_of(f, i), i);
        if (first < i && first < loop && CUT_LEAST * ops >= max) {
            loop = first;
            cut = i;
        }
        ops += action_of(f, i)->op_count;
        if (cut < end && CUT_LOOK * ops >= max)
            break;
        if (ops > max && i > begin)
            return i;
    }
    return cut;
}

static void add_dense(struct finder *f, uint32_t node, uint32_t begin, uint32_t end)
{
    uint64_t ops = 0;
    for (uint32_t i = begin; i < end; i++)
        ops += action_of(f, i)->op_count;
    if (ops <= f->list->options.max || begin + 1 == end) {
        add_leaf(f, node, begin, end, 0);
        return;
    }
    f->list->cut++;
    while (begin < end) {
        uint32_t next = cut_point(f, begin, end);
        add_leaf(f, node, begin, next, BEHAVIOUR_CUT);
        begin = next;
    }
}

static void add_run(struct finder *f, uint32_t node, uint32_t begin, uint32_t end)
{
    uint32_t start = begin;
    for (uint32_t i = begin + 1; i < end; i++) {
        if (action_of(f, i)->event - action_of(f, i - 1)->event <= f->list->options.gap)
            continue;
        add_dense(f, node, start, i);
        start = i;
    }
    add_dense(f, node, start, end);
}

/* Neighbours that share no function are not at one task: each is alone in its own. Events without
 * any stack stay together. */
static void add_strangers(struct finder *f, uint32_t begin, uint32_t end)
{
    for (uint32_t i = begin, j; i < end; i = j) {
        uint32_t node = calltree_at(f->list->tree, place_of(f, i))->node;
        j = i + 1;
        while (node == CALLTREE_ROOT && j < end &&
               calltree_at(f->list->tree, place_of(f, j))->node == CALLTREE_ROOT)
            j++;
        add_run(f, node, i, j);
    }
}

static void end_behaviour(struct finder *f, uint32_t node, uint32_t begin, uint32_t end)
{
    if (node == CALLTREE_ROOT)
        add_strangers(f, begin, end);
    else
        add_run(f, node, begin, end);
}

/* Algorithm 1 over the actions begin … end − 1 of one thread. Its behaviours are runs: the current
 * one is start … i, under `function`. */
static void algorithm_1(struct finder *f, uint32_t begin, uint32_t end)
{
    const struct calltree *tree = f->list->tree;
    uint32_t start = begin, function = CALLTREE_ROOT;
    bool open = false;
    for (uint32_t i = begin; i + 1 < end; i++) {
        uint32_t shared = calltree_common(tree, place_of(f, i), place_of(f, i + 1));
        if (!open) {
            start = i;
            open = true;
        } else if (calltree_node(tree, function)->depth < calltree_node(tree, shared)->depth) {
            end_behaviour(f, function, start, i);
            start = i;
        } else if (function != shared) {
            end_behaviour(f, function, start, i + 1);
            open = false;
        }
        function = shared;
    }
    if (open)
        end_behaviour(f, function, start, end);
    else
        end_behaviour(f, calltree_at(tree, place_of(f, end - 1))->node, end - 1, end);
}

/* ---- step 2: merging up the call tree ---- */

static int by_time(const void *a, const void *b, void *parts)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct part *x = (const struct part *)parts + i, *y = (const struct part *)parts + j;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (i > j) - (i < j);
}

static int downwards(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    return (i < j) - (i > j);
}

/* What a cluster, the parts begin … end − 1 of f->sorted, comes to. */
struct cluster {
    uint64_t first, last, ops;
    uint32_t parts; /* that still could be merged */
};

static void count_part(struct cluster *c, const struct part *p)
{
    if (c->last < p->last)
        c->last = p->last;
    c->ops += p->ops;
    c->parts += !p->full;
}

/* One part that is all of them. */
static uint32_t merge_cluster(struct finder *f, uint32_t node, size_t begin, size_t end,
                              const struct cluster *c)
{
    uint32_t merged = add_part(f, node);
    struct part *parts = f->parts.at, *p = &parts[merged];
    uint32_t children_with_ops = 0;
    for (size_t i = end; i-- > begin;) {
        struct part *child = &parts[f->sorted.at[i]];
        child->parent = merged;
        child->next = p->child;
        p->child = f->sorted.at[i];
        if (!child->ops)
            continue;
        children_with_ops++;
        if (p->first_op == NO_OP || p->first_op > child->first_op)
            p->first_op = child->first_op;
        if (p->last_op < child->last_op)
            p->last_op = child->last_op;
    }
    p->first = c->first;
    p->last = c->last;
    p->ops = c->ops;
    /* With ops from one child only it would be that child again. */
    p->flags = children_with_ops > 1 ? BEHAVIOUR_MERGED : 0;
    return merged;
}

/* The parts stay as they are; a ghost goes on upwards in their place, because whatever comes close
 * to them in time is too large as well. */
static uint32_t leave_apart(struct finder *f, uint32_t node, const struct cluster *c)
{
    if (c->parts)
        vec_push(&f->unmerged, (struct behaviour_unmerged){.first_event = c->first,
                                                           .last_event = c->last,
                                                           .ops = c->ops,
                                                           .node = node,
                                                           .parts = c->parts});
    uint32_t ghost = add_part(f, node);
    struct part *p = &f->parts.at[ghost];
    p->first = c->first;
    p->last = c->last;
    p->ops = c->ops;
    p->full = p->ghost = true;
    return ghost;
}

/* Splits what waits at a node by density and makes one part of each cluster. */
static void merge_node(struct finder *f, uint32_t node)
{
    struct waiting *w = &f->at[node];
    f->sorted.n = 0;
    for (uint32_t i = w->head; i != NO_PART; i = f->parts.at[i].next)
        vec_push(&f->sorted, i);
    qsort_r(f->sorted.at, f->sorted.n, sizeof *f->sorted.at, by_time, f->parts.at);
    w->head = w->tail = NO_PART;
    for (size_t begin = 0, end; begin < f->sorted.n; begin = end) {
        struct cluster c = {.first = f->parts.at[f->sorted.at[begin]].first};
        for (end = begin; end < f->sorted.n; end++) {
            const struct part *p = &f->parts.at[f->sorted.at[end]];
            if (end > begin && p->first > c.last && p->first - c.last > f->list->options.gap)
                break;
            count_part(&c, p);
        }
        /* What is full already brings more than max ops with it. */
        uint32_t one = f->sorted.at[begin];
        if (end - begin > 1)
            one = c.ops > f->list->options.max ? leave_apart(f, node, &c)
                                               : merge_cluster(f, node, begin, end, &c);
        f->parts.at[one].next = NO_PART;
        if (w->head == NO_PART)
            w->head = one;
        else
            f->parts.at[w->tail].next = one;
        w->tail = one;
    }
}

/* From the leaves to the root: children have larger numbers than their parents. */
static void merge_thread(struct finder *f)
{
    if (f->nodes.n)
        qsort(f->nodes.at, f->nodes.n, sizeof *f->nodes.at, downwards);
    for (size_t i = 0; i < f->nodes.n; i++) {
        uint32_t node = f->nodes.at[i];
        struct waiting *w = &f->at[node];
        if (w->mixed)
            merge_node(f, node);
        uint32_t head = w->head, tail = w->tail;
        *w = (struct waiting){.head = NO_PART, .tail = NO_PART, .known = true};
        uint32_t parent = calltree_node(f->list->tree, node)->parent;
        if (parent != CALLTREE_ROOT)
            wait_at(f, parent, head, tail);
    }
    for (size_t i = 0; i < f->nodes.n; i++)
        f->at[f->nodes.at[i]].known = false;
    f->at[CALLTREE_ROOT] = (struct waiting){.head = NO_PART, .tail = NO_PART};
    f->nodes.n = 0;
}

/* ---- the list ---- */

/* Lays the actions of a part and of all its children side by side. As deep as the call tree. */
static void lay_out(struct finder *f, uint32_t part, uint32_t *used)
{
    struct part *p = &f->parts.at[part];
    uint32_t begin = *used;
    if (p->child == NO_PART) {
        size_t n = p->end - p->begin;
        memcpy(f->list->order + begin, f->thread_order + p->begin, n * sizeof *f->list->order);
        *used += (uint32_t)n;
    }
    for (uint32_t child = p->child; child != NO_PART; child = f->parts.at[child].next)
        lay_out(f, child, used);
    p->begin = begin;
    p->end = *used;
}

/* Behaviours of objects, behind those of functions. */
static void add_types(struct behaviours *list, uint32_t used, behaviour_list *found)
{
    struct type_behaviours types;
    if (!list->options.objects)
        return;
    behaviours_by_type(&types, list->actions, list->action_count, &list->options);
    list->order = xrealloc(list->order, (used + types.order_count + 1) * sizeof *list->order);
    if (types.order_count)
        memcpy(list->order + used, types.order, types.order_count * sizeof *types.order);
    for (size_t i = 0; i < types.n; i++) {
        struct behaviour b = types.at[i];
        b.begin += used;
        b.end += used;
        b.parent = NO_PART;
        vec_push(found, b);
    }
    list->cut += types.cut;
    list->large += types.large;
    type_behaviours_free(&types);
}

static int by_first_op(const void *a, const void *b)
{
    const struct behaviour *x = a, *y = b;
    if (x->first_op != y->first_op)
        return x->first_op < y->first_op ? -1 : 1;
    if (x->ops != y->ops)
        return x->ops < y->ops ? -1 : 1;
    return (x->node < y->node) - (x->node > y->node);
}

static void name_parents(struct finder *f)
{
    struct behaviours *list = f->list;
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].parent != NO_PART)
            f->parts.at[list->at[i].parent].number = (uint32_t)i;
    for (size_t i = 0; i < list->n; i++) {
        uint32_t own = list->at[i].parent, part = own;
        if (own != NO_PART)
            part = f->parts.at[own].parent;
        while (part != NO_PART && f->parts.at[part].number == NO_BEHAVIOUR)
            part = f->parts.at[part].parent;
        list->at[i].parent = part == NO_PART ? NO_BEHAVIOUR : f->parts.at[part].number;
    }
}

static void make_list(struct finder *f)
{
    struct behaviours *list = f->list;
    uint32_t used = 0;
    behaviour_list found = {0};
    for (uint32_t i = 0; i < f->parts.n; i++)
        if (f->parts.at[i].parent == NO_PART && !f->parts.at[i].ghost)
            lay_out(f, i, &used);
    free(f->thread_order);
    f->thread_order = NULL;
    for (uint32_t i = 0; i < f->parts.n; i++) {
        const struct part *p = &f->parts.at[i];
        bool leaf = p->child == NO_PART && !p->ghost;
        list->idle += leaf && !p->ops;
        if (!(leaf && p->ops) && !(p->flags & BEHAVIOUR_MERGED))
            continue;
        vec_push(&found, (struct behaviour){
                             .function = calltree_node(list->tree, p->node)->function,
                             .node = p->node,
                             .thread = list->actions[list->order[p->begin]].thread,
                             .begin = p->begin,
                             .end = p->end,
                             .ops = (uint32_t)p->ops,
                             .first_op = p->first_op,
                             .last_op = p->last_op,
                             .parent = i, /* the part, until all have their numbers */
                             .flags = p->flags,
                         });
    }
    add_types(list, used, &found);
    if (found.n)
        qsort(found.at, found.n, sizeof *found.at, by_first_op);
    list->at = found.at;
    list->n = found.n;
    name_parents(f);
}

/* ---- the whole ---- */

/* Whether an action goes by the object that it stores to. */
static bool is_object(const struct behaviours *list, size_t action)
{
    return list->options.objects && list->options.objects[action].instance;
}

/* Sorts actions by thread, in the order in which threads appear, and keeps their order otherwise;
 * ends[t] is where thread t ends. */
static size_t sort_by_thread(struct finder *f, uint32_t **ends)
{
    const struct behaviours *list = f->list;
    struct scratch number = {0};
    vec_of(uint32_t) next = {0};
    scratch_clear(&number);
    for (size_t i = 0; i < list->action_count; i++) {
        if (is_object(list, i))
            continue;
        uint64_t t = *scratch_put(&number, list->actions[i].thread, next.n);
        if (t == next.n)
            vec_push(&next, 0);
        next.at[t]++;
    }
    for (uint32_t t = 0, begin = 0; t < next.n; t++) {
        uint32_t count = next.at[t];
        next.at[t] = begin;
        begin += count;
    }
    for (size_t i = 0; i < list->action_count; i++) {
        if (is_object(list, i))
            continue;
        uint64_t t = *scratch_get(&number, list->actions[i].thread);
        f->thread_order[next.at[t]++] = (uint32_t)i;
    }
    scratch_free(&number);
    *ends = next.at;
    return next.n;
}

static bool check_actions(const struct action *actions, size_t n, struct error *e)
{
    if (n >= UINT32_MAX)
        return error_set(e, "too many events for one trace: %zu", n);
    for (size_t i = 1; i < n; i++)
        if (actions[i].event <= actions[i - 1].event)
            return error_set(e, "events out of order: %" PRIu64 " after %" PRIu64, actions[i].event,
                             actions[i - 1].event);
    return true;
}

static void find_all(struct finder *f)
{
    struct behaviours *list = f->list;
    uint32_t *ends;
    size_t threads = sort_by_thread(f, &ends);
    size_t nodes = calltree_nodes(list->tree);
    f->at = xmalloc(nodes * sizeof *f->at);
    for (size_t i = 0; i < nodes; i++)
        f->at[i] = (struct waiting){.head = NO_PART, .tail = NO_PART};
    for (size_t t = 0; t < threads; t++) {
        algorithm_1(f, t ? ends[t - 1] : 0, ends[t]);
        merge_thread(f);
    }
    make_list(f);
    list->unmerged = f->unmerged.at;
    list->unmerged_count = f->unmerged.n;
    free(ends);
}

bool behaviours_find(struct behaviours **out, const struct action *actions, size_t n,
                     const struct call_stacks *stacks, const struct behaviour_options *options,
                     struct error *e)
{
    if (!check_actions(actions, n, e))
        return false;
    struct behaviours *list = xcalloc(1, sizeof *list);
    *list = (struct behaviours){.options = *options, .actions = actions, .action_count = n};
    list->tree = calltree_new(stacks, options->all_frames);
    list->places = xmalloc((n + 1) * sizeof *list->places);
    list->order = xmalloc((n + 1) * sizeof *list->order);
    list->options.interrupt = NULL; /* it is gone when the list is looked at */
    for (size_t i = 0; i < n; i++) {
        list->places[i] = calltree_place(list->tree, actions[i].stack);
        if (i % INTERRUPT_EVERY == 0 && !interrupt_go_on(options->interrupt, e)) {
            behaviours_free(list);
            return false;
        }
    }
    struct finder f = {.list = list, .thread_order = xmalloc((n + 1) * sizeof *f.thread_order)};
    find_all(&f);
    free(f.at);
    vec_free(&f.parts);
    vec_free(&f.nodes);
    vec_free(&f.sorted);
    scratch_free(&f.seen);
    *out = list;
    return true;
}

void behaviours_free(struct behaviours *list)
{
    if (!list)
        return;
    calltree_free(list->tree);
    free(list->places);
    free(list->order);
    free(list->at);
    free(list->unmerged);
    free(list);
}

static int upwards(const void *a, const void *b)
{
    return downwards(b, a);
}

size_t behaviour_actions(const struct behaviours *list, const struct behaviour *b, uint32_t *out)
{
    size_t n = b->end - b->begin;
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        out[i] = list->order[b->begin + i];
        sorted &= !i || out[i - 1] < out[i];
    }
    if (!sorted)
        qsort(out, n, sizeof *out, upwards);
    return n;
}

size_t behaviour_ops(const struct behaviours *list, const struct behaviour *b, uint32_t *out)
{
    size_t n = 0;
    bool sorted = true;
    for (uint32_t i = b->begin; i < b->end; i++) {
        const struct action *a = &list->actions[list->order[i]];
        for (uint32_t k = 0; k < a->op_count; k++, n++) {
            out[n] = a->first_op + k;
            sorted &= !n || out[n - 1] < out[n];
        }
    }
    if (!sorted)
        qsort(out, n, sizeof *out, upwards);
    return n;
}

void behaviour_events(const struct behaviours *list, const struct behaviour *b, uint64_t *first,
                      uint64_t *last)
{
    *first = UINT64_MAX;
    *last = 0;
    for (uint32_t i = b->begin; i < b->end; i++) {
        uint64_t event = list->actions[list->order[i]].event;
        *first = event < *first ? event : *first;
        *last = event > *last ? event : *last;
    }
}
