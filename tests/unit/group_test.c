/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Groups: the paper's figures 4 and 6, the decisions that Definition 3.5 leaves open, the
 * definition itself by brute force on random traces, and a million events.
 */
#include "tests/unit/graph_sample.h"

#include <stdio.h>
#include <time.h>

#include "engine/group.h"

enum { FAR = 1000000, MANY = 100000 };

static const struct behaviour_options NO_LIMITS = {.max = MANY, .gap = FAR};
static const struct group_options BARE = {.variants = GROUP_VARIANTS};

#define FUNCTION(name) sample_key(name, strlen(name))

/* A sample with everything made of it. */
struct formed {
    struct behaviours *list;
    struct environments *environments;
    struct groups *groups;
};

static struct formed form(struct sample *s, const struct group_options *options)
{
    struct formed f;
    const struct graph *g = sample_graph(s);
    f.list = sample_behaviours(s, &NO_LIMITS);
    f.environments = environments_new(g, NULL, NULL);
    f.groups = groups_form(f.list, g, f.environments, options);
    return f;
}

static void free_formed(struct formed *f)
{
    groups_free(f->groups);
    environments_free(f->environments);
    behaviours_free(f->list);
}

/* The largest behaviour of a function in a thread. */
static uint32_t of(const struct formed *f, const char *function, uint32_t thread)
{
    uint32_t best = NO_BEHAVIOUR;
    for (uint32_t i = 0; i < f->list->n; i++) {
        const struct behaviour *b = &f->list->at[i];
        if (b->function == FUNCTION(function) && b->thread == thread &&
            (best == NO_BEHAVIOUR || b->ops > f->list->at[best].ops))
            best = i;
    }
    assert_int_not_equal(best, NO_BEHAVIOUR);
    return best;
}

static bool stands_for(const struct formed *f, uint32_t a, uint32_t b)
{
    const struct groups *s = f->groups;
    return groups_represents(s, s->signature_of[a], s->signature_of[b]);
}

static bool in_group(const struct groups *s, uint32_t group, uint32_t behaviour)
{
    const struct group_signature *signature = &s->signatures[s->signature_of[behaviour]];
    for (uint32_t k = 0; k < signature->joined; k++)
        if (s->joined[signature->first_group + k] == group)
            return true;
    return false;
}

/* The verdict of explaining, which must agree with that of grouping. */
static struct group_reason why(const struct formed *f, uint32_t a, uint32_t b)
{
    struct group_why *w = group_explain(f->groups, a, b);
    struct group_reason reason = w->a_represents_b;
    assert_int_equal(reason.verdict == GROUP_REPRESENTS, stands_for(f, a, b));
    assert_int_equal(w->b_represents_a.verdict == GROUP_REPRESENTS, stands_for(f, b, a));
    group_why_free(w);
    return reason;
}

static uint32_t step(struct sample *s, uint64_t event, uint32_t thread, const char *stack,
                     uint32_t call, uint32_t file)
{
    sample_event(s, event, thread, stack, call);
    return sample_op(s, call == CALL_WRITE ? OP_DATA : OP_NAME, file, 0);
}

/* ---- figures 4 and 6 ---- */

/* The run of figure 4, with or without the rename of Fn3. Writes of f1 are of one block; the
 * fdatasync is between the write and the rename of f2; all is synced at the end. */
static void figure_4(struct sample *s, uint64_t e, uint32_t thread, bool rename)
{
    enum { F1 = 2, F2 = 3 };
    uint32_t one = step(s, e + 1, thread, "Fn1:1 Fn2:1", CALL_WRITE, F1);
    uint32_t two = step(s, e + 2, thread, "Fn1:1 Fn2:2", CALL_WRITE, F1);
    uint32_t three = step(s, e + 3, thread, "Fn1:2 Fn3:1 Fn4:1", CALL_WRITE, F1);
    uint32_t four = step(s, e + 4, thread, "Fn1:2 Fn3:1 Fn4:2", CALL_WRITE, F2);
    sample_edge(s, one, two);
    sample_edge(s, two, three);
    sample_event(s, e + 5, thread, "Fn1:2 Fn3:1 Fn4:3", CALL_FDATASYNC);
    sample_sync(s, four);
    uint32_t last = four;
    if (rename)
        last = step(s, e + 6, thread, "Fn1:2 Fn3:2 Fn5:1", CALL_RENAME, F2);
    sample_event(s, e + 7, thread, "Fn1:2 Fn3:2 Fn5:2", CALL_SYNC);
    for (uint32_t op = one; op <= last; op++)
        sample_sync(s, op);
}

static void figure_6(void **state)
{
    (void)state;
    struct sample s = {0};
    figure_4(&s, 0, 1, true);
    figure_4(&s, 10, 2, false);
    struct formed f = form(&s, &BARE);
    uint32_t s31 = of(&f, "Fn3", 1), s2 = of(&f, "Fn2", 1);
    uint32_t s32 = of(&f, "Fn4", 2); /* without the rename only Fn4 has ops */
    /* Figure 4's order: 1 → 2 → 3, and 4 → 6 by the fdatasync. */
    assert_true(graph_before(&s.g, 0, 2));
    assert_true(graph_before(&s.g, 3, 4));
    assert_false(graph_before(&s.g, 2, 3));
    assert_false(graph_before(&s.g, 0, 4));
    assert_true(graph_before(&s.g, 4, 5));
    /* Fn4's work is the same in both runs; S2 has other nodes than S3-1. */
    assert_int_equal(f.groups->signature_of[s32], f.groups->signature_of[of(&f, "Fn4", 1)]);
    assert_false(stands_for(&f, s31, s2));
    assert_false(stands_for(&f, s2, s31));
    assert_int_equal(why(&f, s31, s2).verdict, GROUP_FUNCTION);
    /* Fn1 with the rename stands for Fn1 without. */
    uint32_t with = of(&f, "Fn1", 1), without = of(&f, "Fn1", 2);
    assert_int_equal(why(&f, with, without).verdict, GROUP_REPRESENTS);
    struct group_reason reason = why(&f, without, with);
    assert_int_equal(reason.verdict, GROUP_UNMATCHED);
    assert_int_equal(reason.op, 4);
    free_formed(&f);
    sample_free(&s);
}

/* S3-1 and S3-2 themselves, under one function: {write f1, write f2, rename f2} represents {write
 * f1, write f2}, and they make one group beside that of S2. */
static void figure_6_one_function(void **state)
{
    (void)state;
    struct sample s = {0};
    uint32_t op = 0;
    for (uint32_t thread = 1; thread <= 2; thread++) {
        uint64_t e = 10 * thread;
        step(&s, e, thread, "Fn3:1", CALL_WRITE, 2);
        op = step(&s, e + 1, thread, "Fn3:2", CALL_WRITE, 3);
        sample_event(&s, e + 2, thread, "Fn3:3", CALL_FDATASYNC);
        sample_sync(&s, op);
        if (thread == 1)
            step(&s, e + 3, thread, "Fn3:4", CALL_RENAME, 3);
    }
    step(&s, 30, 3, "Fn2:1", CALL_WRITE, 2);
    step(&s, 31, 3, "Fn2:2", CALL_WRITE, 2);
    struct formed f = form(&s, &BARE);
    assert_int_equal(f.list->n, 3);
    assert_int_equal(f.groups->n, 2);
    assert_int_equal(f.groups->at[0].representative, of(&f, "Fn3", 1));
    assert_int_equal(f.groups->at[0].members, 2);
    assert_true(in_group(f.groups, 0, of(&f, "Fn3", 2)));
    assert_int_equal(f.groups->at[1].representative, of(&f, "Fn2", 3));
    free_formed(&f);
    sample_free(&s);
}

/* ---- what the definition leaves open ---- */

static void loop_of_ten_is_not_represented_by_one(void **state)
{
    (void)state;
    struct sample s = {0};
    step(&s, 1, 1, "put:1", CALL_WRITE, 2);
    for (uint64_t e = 2; e < 12; e++)
        step(&s, e, 2, "put:1", CALL_WRITE, 2);
    struct formed f = form(&s, &BARE);
    uint32_t one = of(&f, "put", 1), ten = of(&f, "put", 2);
    assert_true(stands_for(&f, ten, one));
    struct group_reason reason = why(&f, one, ten);
    assert_int_equal(reason.verdict, GROUP_UNMATCHED);
    assert_int_equal(reason.op, 2); /* the first occurrence has its match */
    free_formed(&f);
    sample_free(&s);
}

/* All writes go through one helper: the way to it tells them apart; what lies above the function
 * does not, nor does another call from the same line fail to. */
static void call_path_below_the_function_matters(void **state)
{
    (void)state;
    struct sample s = {0};
    step(&s, 1, 1, "main:1 save:1 header:1 emit:9", CALL_WRITE, 2);
    step(&s, 2, 1, "main:1 save:2 body:1 emit:9", CALL_WRITE, 2);
    step(&s, 3, 2, "main:2 save:1 header:1 emit:9", CALL_WRITE, 5);
    step(&s, 4, 2, "main:2 save:2 body:1 emit:9", CALL_WRITE, 5);
    step(&s, 5, 3, "main:1 save:1 header:1 emit:9", CALL_WRITE, 2);
    step(&s, 6, 3, "main:1 save:3 tail:1 emit:9", CALL_WRITE, 2);
    step(&s, 7, 4, "main:1 save:1 header:1 emit:9", CALL_UNLINK, 2);
    step(&s, 8, 4, "main:1 save:2 body:1 emit:9", CALL_WRITE, 2);
    struct formed f = form(&s, &BARE);
    uint32_t a = of(&f, "save", 1), b = of(&f, "save", 2), c = of(&f, "save", 3),
             d = of(&f, "save", 4);
    assert_int_equal(f.groups->signature_of[a], f.groups->signature_of[b]);
    assert_int_equal(why(&f, a, c).verdict, GROUP_UNMATCHED);
    assert_int_equal(why(&f, a, d).verdict, GROUP_UNMATCHED);
    free_formed(&f);
    sample_free(&s);
}

/* x binds y in the representative only; then: something unmatched must come before y. */
static void order_and_closure(void **state)
{
    (void)state;
    struct sample s = {0};
    uint32_t x = step(&s, 1, 1, "f:1", CALL_WRITE, 2);
    uint32_t y = step(&s, 2, 1, "f:2", CALL_WRITE, 3);
    sample_edge(&s, x, y);
    step(&s, 3, 2, "f:1", CALL_WRITE, 2);
    step(&s, 4, 2, "f:2", CALL_WRITE, 3);
    uint32_t lone = step(&s, 5, 3, "f:2", CALL_WRITE, 3);
    (void)lone;
    struct formed f = form(&s, &BARE);
    uint32_t ordered = of(&f, "f", 1), loose = of(&f, "f", 2), second = of(&f, "f", 3);
    struct group_reason reason = why(&f, ordered, loose);
    assert_int_equal(reason.verdict, GROUP_ORDER);
    assert_int_equal(reason.from, x);
    assert_int_equal(reason.op, y);
    assert_int_equal(why(&f, loose, ordered).verdict, GROUP_REPRESENTS);
    reason = why(&f, ordered, second);
    assert_int_equal(reason.verdict, GROUP_OPEN);
    assert_int_equal(reason.from, x);
    assert_int_equal(reason.op, y);
    assert_int_equal(why(&f, loose, second).verdict, GROUP_REPRESENTS);
    assert_int_equal(f.groups->n, 1);
    assert_int_equal(f.groups->at[0].representative, loose);
    free_formed(&f);
    struct group_options paper = BARE;
    paper.paper = true;
    free(s.g.issued);
    free(s.g.first);
    free(s.g.edges);
    f = form(&s, &paper);
    assert_int_equal(why(&f, ordered, second).verdict, GROUP_REPRESENTS);
    assert_int_equal(why(&f, ordered, loose).verdict, GROUP_ORDER);
    free_formed(&f);
    sample_free(&s);
}

/* The order may come from a foreign op: 0 → 1 → 2 with 1 in another thread. */
static void edges_are_those_of_the_whole_graph(void **state)
{
    (void)state;
    struct sample s = {0};
    step(&s, 1, 1, "f:1", CALL_WRITE, 2);
    step(&s, 2, 9, "g:1", CALL_WRITE, 2);
    step(&s, 3, 1, "f:2", CALL_WRITE, 2);
    sample_edge(&s, 0, 1);
    sample_edge(&s, 1, 2);
    step(&s, 4, 2, "f:1", CALL_WRITE, 3);
    step(&s, 5, 2, "f:2", CALL_WRITE, 4);
    struct formed f = form(&s, &BARE);
    assert_int_equal(why(&f, of(&f, "f", 1), of(&f, "f", 2)).verdict, GROUP_ORDER);
    assert_int_equal(why(&f, of(&f, "f", 2), of(&f, "f", 1)).verdict, GROUP_REPRESENTS);
    free_formed(&f);
    sample_free(&s);
}

/* The second call of f runs while what g wrote is still in flight. */
static void environment_is_part_of_the_signature(void **state)
{
    (void)state;
    struct sample s = {0};
    struct group_options options = GROUP_DEFAULTS;
    step(&s, 1, 1, "f:1", CALL_WRITE, 2);
    sample_event(&s, 2, 9, "x:1", CALL_SYNC);
    sample_sync(&s, 0);
    step(&s, 3, 9, "g:1", CALL_WRITE, 5);
    step(&s, 4, 2, "f:1", CALL_WRITE, 2);
    sample_event(&s, 5, 9, "x:1", CALL_SYNC);
    sample_sync(&s, 1);
    sample_sync(&s, 2);
    step(&s, 6, 3, "f:1", CALL_WRITE, 2);
    struct formed f = form(&s, &options);
    uint32_t alone = of(&f, "f", 1), among = of(&f, "f", 2), third = of(&f, "f", 3);
    assert_int_equal(why(&f, among, alone).verdict, GROUP_REPRESENTS);
    struct group_reason reason = why(&f, alone, among);
    assert_int_equal(reason.verdict, GROUP_ENVIRONMENT);
    assert_int_equal(reason.op, 1);
    assert_int_equal(f.groups->signature_of[alone], f.groups->signature_of[third]);
    free_formed(&f);
    sample_free(&s);
}

/* How long the unsynced stretch before it is does not make a behaviour a new one. */
static void environment_counts_kinds_not_ops(void **state)
{
    (void)state;
    struct sample s = {0};
    struct group_options options = GROUP_DEFAULTS;
    for (uint32_t i = 0; i < 1000; i++) {
        sample_event(&s, i + 1, i, "f:1", CALL_WRITE);
        sample_op(&s, OP_DATA, 2, i);
    }
    struct formed f = form(&s, &options);
    assert_int_equal(f.list->n, 1000);
    assert_int_equal(f.groups->signature_count, 2);
    assert_int_equal(f.groups->n, 1);
    /* ops 0 … 999 have 0 … 999 earlier ones, of which 64 are looked at */
    assert_int_equal(f.groups->env_left_out, (1000 - 64) * (1000 - 64 - 1) / 2);
    free_formed(&f);
    sample_free(&s);
}

/* More environments than are told apart: those that are part of another go with it, the others are
 * counted. */
static void many_environments_are_folded(void **state)
{
    (void)state;
    struct sample s = {0};
    struct group_options options = GROUP_DEFAULTS;
    static const char *const others[] = {"a:1", "b:1", "c:1", "d:1"};
    uint64_t e = 1;
    uint32_t thread = 100;
    options.variants = 2;
    for (uint32_t round = 0; round < 4; round++) { /* environments {a}, {b}, {c}, {d} */
        uint32_t op = step(&s, e++, round, others[round], CALL_WRITE, 10 + round);
        step(&s, e++, thread++, "f:1", CALL_WRITE, 2);
        sample_event(&s, e++, 50, "x:1", CALL_SYNC);
        sample_sync(&s, op);
        sample_sync(&s, op + 1);
    }
    step(&s, e++, 60, others[0], CALL_WRITE, 10);
    step(&s, e++, 61, others[1], CALL_WRITE, 11);
    step(&s, e++, thread, "f:1", CALL_WRITE, 2); /* {a, b}: takes the place of {a} or {b} */
    struct formed f = form(&s, &options);
    assert_int_equal(f.groups->folded, 2);
    uint32_t both = of(&f, "f", 104);
    uint32_t signature = f.groups->signature_of[both];
    assert_int_equal(f.groups->signatures[signature].example, both);
    assert_int_equal(f.groups->signatures[signature].environment, 2);
    free_formed(&f);
    sample_free(&s);
}

/* ---- explaining ---- */

/* The sketch of two behaviours side by side: d is A's only; c → e and b → e bind B only. */
static void explains_a_pair(void **state)
{
    (void)state;
    static const char *const stacks[] = {"f:1 w:53", "f:1 w:60", "f:2", "f:3", "f:4 log:17"};
    static const uint32_t calls[] = {CALL_OPEN, CALL_WRITE, CALL_RENAME, CALL_UNLINK, CALL_WRITE};
    struct sample s = {0};
    uint32_t a[5], b[5] = {0};
    for (uint32_t i = 0; i < 5; i++)
        a[i] = step(&s, i + 1, 1, stacks[i], calls[i], 2 + i);
    for (uint32_t i = 0; i < 5; i++)
        if (i != 3)
            b[i] = step(&s, i + 10, 2, stacks[i], calls[i], 2 + i);
    sample_edge(&s, a[0], a[1]);
    sample_edge(&s, a[1], a[2]);
    sample_edge(&s, a[2], a[3]);
    sample_edge(&s, b[0], b[1]);
    sample_edge(&s, b[1], b[2]);
    sample_edge(&s, b[2], b[4]);
    struct formed f = form(&s, &BARE);
    struct group_why *w = group_explain(f.groups, of(&f, "f", 1), of(&f, "f", 2));
    assert_int_equal(w->a_represents_b.verdict, GROUP_REPRESENTS);
    assert_int_equal(w->b_represents_a.verdict, GROUP_UNMATCHED);
    assert_int_equal(w->b_represents_a.op, a[3]);
    assert_int_equal(w->match_count, 5);
    assert_int_equal(w->matched, 4);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(w->matches[i].a, a[i]);
        assert_int_equal(w->matches[i].b, i == 3 ? NO_OP : b[i]);
    }
    static const struct group_edge expected[] = {
        {0, 1, GROUP_EDGE_A | GROUP_EDGE_B | GROUP_EDGE_NEXT_A | GROUP_EDGE_NEXT_B},
        {1, 2, GROUP_EDGE_A | GROUP_EDGE_B | GROUP_EDGE_NEXT_A | GROUP_EDGE_NEXT_B},
        {2, 3, GROUP_EDGE_A | GROUP_EDGE_NEXT_A},
        {0, 4, GROUP_EDGE_B},
        {1, 4, GROUP_EDGE_B},
        {2, 4, GROUP_EDGE_B | GROUP_EDGE_NEXT_B},
    };
    assert_int_equal(w->edge_count, 6);
    assert_memory_equal(w->edges, expected, sizeof expected);
    assert_int_equal(w->edges_a, 6);
    assert_int_equal(w->edges_b, 6);
    assert_int_equal(w->edges_left_out, 0);
    group_why_free(w);
    free_formed(&f);
    sample_free(&s);
}

static void giants_are_groups_of_their_own(void **state)
{
    (void)state;
    struct sample s = {0};
    for (uint32_t thread = 0; thread < 2; thread++) {
        sample_event(&s, thread + 1, thread, "f:1", CALL_WRITE);
        for (uint64_t block = 0; block <= GROUP_OPS_MAX; block++)
            sample_op(&s, OP_DATA, 2, block);
    }
    struct formed f = form(&s, &BARE);
    assert_int_equal(f.groups->n, 2);
    assert_int_equal(f.groups->too_large, 2);
    assert_int_equal(why(&f, 0, 1).verdict, GROUP_TOO_LARGE);
    free_formed(&f);
    sample_free(&s);
}

/* ---- the definition by brute force ---- */

enum { RANDOM_CASES = 12000, OPS_MAX = 64 };

/* What makes an op equivalent to another, word for word. */
struct node {
    char path[64]; /* from the line in the behaviour's function down */
    uint32_t call, occurrence, kind, ordinal, op;
};

struct nodes {
    struct node at[OPS_MAX];
    size_t n;
};

static const char *below_function(const struct sample *s, const struct behaviours *list,
                                  const struct behaviour *b, const struct action *a)
{
    const char *text = s->stacks.at[a->stack];
    for (uint32_t d = 1; d < calltree_node(list->tree, b->node)->depth; d++)
        text = strchr(text, ' ') + 1;
    return strchr(text, ':');
}

static void describe(const struct sample *s, const struct behaviours *list, uint32_t behaviour,
                     struct nodes *out)
{
    const struct behaviour *b = &list->at[behaviour];
    uint32_t actions[OPS_MAX];
    size_t n = behaviour_actions(list, b, actions);
    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct action *a = &s->actions.at[actions[i]];
        const char *path = below_function(s, list, b, a);
        uint32_t occurrence = 0;
        for (size_t k = 0; k < i; k++) {
            const struct action *other = &s->actions.at[actions[k]];
            occurrence += other->op_count && other->call == a->call &&
                          !strcmp(path, below_function(s, list, b, other));
        }
        for (uint32_t op = a->first_op; op < a->first_op + a->op_count; op++) {
            struct node *node = &out->at[out->n++];
            *node = (struct node){.call = a->call, .occurrence = occurrence, .op = op};
            node->kind = (uint32_t)s->ops.at[op].kind << 8 | s->ops.at[op].flags;
            snprintf(node->path, sizeof node->path, "%s", path);
            for (uint32_t k = a->first_op; k < op; k++)
                node->ordinal +=
                    ((uint32_t)s->ops.at[k].kind << 8 | s->ops.at[k].flags) == node->kind;
        }
    }
}

static bool equivalent(const struct node *a, const struct node *b)
{
    return !strcmp(a->path, b->path) && a->call == b->call && a->occurrence == b->occurrence &&
           a->kind == b->kind && a->ordinal == b->ordinal;
}

static const struct node *like(const struct nodes *in, const struct node *node)
{
    for (size_t i = 0; i < in->n; i++)
        if (equivalent(&in->at[i], node))
            return &in->at[i];
    return NULL;
}

/* Reachability over all ops, by edges and by syncs. */
struct order {
    bool before[OPS_MAX][OPS_MAX];
};

static void close_order(const struct sample *s, struct order *o)
{
    memset(o, 0, sizeof *o);
    for (size_t i = 0; i < s->edges.n; i++)
        o->before[s->edges.at[i].from][s->edges.at[i].to] = true;
    for (size_t a = 0; a < s->ops.n; a++)
        for (size_t b = 0; b < s->ops.n; b++)
            o->before[a][b] |= s->g.durable[a] < s->g.issued[b];
    for (size_t k = 0; k < s->ops.n; k++)
        for (size_t a = 0; a < s->ops.n; a++)
            for (size_t b = 0; b < s->ops.n; b++)
                o->before[a][b] |= o->before[a][k] && o->before[k][b];
}

static bool definition_3_5(const struct order *o, const struct nodes *u1, const struct nodes *u2,
                           bool paper)
{
    for (size_t i = 0; i < u2->n; i++)
        if (!like(u1, &u2->at[i]))
            return false;
    for (size_t i = 0; i < u1->n; i++) {
        for (size_t j = 0; j < u1->n; j++) {
            const struct node *from = like(u2, &u1->at[i]), *to = like(u2, &u1->at[j]);
            if (!to || !o->before[u1->at[i].op][u1->at[j].op])
                continue;
            if (from ? !o->before[from->op][to->op] : !paper)
                return false;
        }
    }
    return true;
}

/* One location of an environment, as far as it counts. */
struct surroundings {
    struct {
        uint32_t sort, kinds, origin_stack, origin_call, relation;
        struct node own; /* with relation 1 or 2 */
    } at[OPS_MAX];
    size_t n;
};

static uint32_t sort_of(const struct op *o)
{
    return o->kind == OP_NAME   ? LOCATION_ENTRY
           : o->kind == OP_SIZE ? LOCATION_SIZE
                                : LOCATION_BLOCK;
}

static bool one_place(const struct op *a, const struct op *b)
{
    return sort_of(a) == sort_of(b) && a->file == b->file &&
           (sort_of(a) != LOCATION_BLOCK || a->offset == b->offset);
}

static const struct action *issuer(const struct sample *s, uint32_t op)
{
    for (size_t i = 0; i < s->actions.n; i++)
        if (op >= s->actions.at[i].first_op &&
            op < s->actions.at[i].first_op + s->actions.at[i].op_count)
            return &s->actions.at[i];
    return NULL;
}

static bool in_environment(const struct sample *s, const struct nodes *u, uint32_t op)
{
    for (size_t i = 0; i < u->n; i++)
        if (u->at[i].op == op)
            return false;
    return op < u->at[u->n - 1].op && s->g.durable[op] > s->g.issued[u->at[0].op];
}

static void surround(const struct sample *s, const struct nodes *u, struct surroundings *out)
{
    out->n = 0;
    for (uint32_t op = 0; op < s->ops.n; op++) {
        const struct op *o = &s->ops.at[op];
        uint32_t kinds = 0;
        bool latest = in_environment(s, u, op);
        for (uint32_t k = 0; latest && k < s->ops.n; k++) {
            if (!in_environment(s, u, k) || !one_place(o, &s->ops.at[k]))
                continue;
            kinds |= 1U << s->ops.at[k].kind;
            latest = k <= op;
        }
        if (!latest)
            continue;
        size_t at = out->n++;
        memset(&out->at[at], 0, sizeof out->at[at]);
        out->at[at].sort = sort_of(o);
        out->at[at].kinds = kinds;
        out->at[at].origin_stack = issuer(s, op)->stack;
        out->at[at].origin_call = issuer(s, op)->call;
        for (size_t i = u->n; i-- > 0;) {
            const struct op *own = &s->ops.at[u->at[i].op];
            uint32_t relation = one_place(o, own) ? 2 : o->file == own->file ? 1 : 0;
            if (!relation || relation < out->at[at].relation)
                continue;
            out->at[at].relation = relation;
            out->at[at].own = u->at[i];
        }
    }
}

static bool surrounded(const struct surroundings *rep, const struct surroundings *other)
{
    for (size_t i = 0; i < other->n; i++) {
        bool found = false;
        for (size_t k = 0; k < rep->n && !found; k++)
            found = rep->at[k].sort == other->at[i].sort &&
                    rep->at[k].kinds == other->at[i].kinds &&
                    rep->at[k].origin_stack == other->at[i].origin_stack &&
                    rep->at[k].origin_call == other->at[i].origin_call &&
                    rep->at[k].relation == other->at[i].relation &&
                    (!rep->at[k].relation || equivalent(&rep->at[k].own, &other->at[i].own));
        if (!found)
            return false;
    }
    return true;
}

/* Several threads that each do a few of the same things, now and then in another order, more of
 * them or fewer, with a few edges and syncs. */
static void random_trace(struct sample *s)
{
    static const char *const stacks[] = {"f:1",         "f:2",     "f:3 g:1", "f:3 g:2",
                                         "f:4 h:1 g:1", "m:1 f:1", "m:1 f:2", "m:1 f:3 g:1"};
    static const uint32_t calls[] = {CALL_WRITE, CALL_WRITE, CALL_WRITE, CALL_RENAME};
    uint32_t threads = 2 + (uint32_t)rand() % 4;
    int edges = rand() % 4, steps = 5 + rand() % 14;
    size_t shift = (size_t)rand() % 3;
    for (uint64_t e = 1; e <= (uint64_t)steps; e++) {
        size_t which = (size_t)rand() % 3 + (rand() % 3 ? shift : (size_t)rand() % 6);
        sample_event(s, e, (uint32_t)rand() % threads, stacks[which], calls[rand() % 4]);
        for (int k = rand() % 3; k >= 0 && s->ops.n < OPS_MAX; k--) {
            uint8_t kind = rand() % 3 ? OP_DATA : (uint8_t)(OP_NAME + rand() % 4);
            uint32_t op = sample_op(s, kind, 2 + (uint32_t)rand() % 3, (uint64_t)rand() % 2);
            s->ops.at[op].flags = rand() % 12 ? 0 : OP_CARRIED;
            for (int i = 0; op && i < edges; i++)
                if (rand() % 3 == 0)
                    sample_edge(s, (uint32_t)rand() % op, op);
        }
        if (rand() % 6 == 0)
            for (uint32_t op = 0; op < vec_last(&s->actions).first_op; op++)
                if (rand() % 3)
                    sample_sync(s, op);
    }
}

/* Every behaviour is in exactly the groups that represent it, and no representative in another. */
static void check_groups(const struct formed *f)
{
    const struct groups *s = f->groups;
    for (uint32_t g = 0; g < s->n; g++) {
        uint32_t members = 0, rep = s->at[g].representative;
        assert_int_equal(s->taken[s->at[g].first], s->at[g].signature);
        for (uint32_t b = 0; b < f->list->n; b++) {
            assert_int_equal(in_group(s, g, b), stands_for(f, rep, b));
            members += in_group(s, g, b);
        }
        assert_int_equal(s->at[g].members, members);
        for (uint32_t h = 0; h < s->n; h++)
            assert_int_equal(in_group(s, h, rep), g == h);
    }
    for (uint32_t b = 0; b < f->list->n; b++)
        assert_true(s->signatures[s->signature_of[b]].joined > 0);
}

static void represents_is_definition_3_5(void **state)
{
    (void)state;
    size_t pairs = 0, yes = 0, by_paper_only = 0;
    srand(13);
    for (size_t c = 0; c < RANDOM_CASES; c++) {
        struct sample s = {0};
        static struct order order;
        static struct nodes u[2 * OPS_MAX];
        static struct surroundings around[2 * OPS_MAX];
        struct group_options options = {
            .paper = c % 2, .environment_max = c % 3 ? 0 : OPS_MAX, .variants = MANY};
        random_trace(&s);
        struct formed f = form(&s, &options);
        close_order(&s, &order);
        for (uint32_t i = 0; i < f.list->n; i++) {
            describe(&s, f.list, i, &u[i]);
            surround(&s, &u[i], &around[i]);
        }
        for (uint32_t i = 0; i < f.list->n; i++) {
            for (uint32_t k = 0; k < f.list->n; k++) {
                bool same = f.list->at[i].function == f.list->at[k].function &&
                            (!options.environment_max || surrounded(&around[i], &around[k]));
                bool expected = same && definition_3_5(&order, &u[i], &u[k], options.paper);
                assert_int_equal(why(&f, i, k).verdict == GROUP_REPRESENTS, expected);
                pairs++;
                yes += expected && i != k;
                by_paper_only += expected && !definition_3_5(&order, &u[i], &u[k], false);
            }
        }
        check_groups(&f);
        free_formed(&f);
        sample_free(&s);
    }
    printf("%zu pairs, %zu represent another, %zu of them by the paper's rule only\n", pairs, yes,
           by_paper_only);
    assert_true(yes > pairs / 100 && by_paper_only > 100);
}

/* ---- a million events ---- */

enum { SHAPES = 1000, THREADS = 4, FILES = 64 };

/* A bound that only something worse than linear passes, sanitizers and busy machines included. */
enum { SECONDS_MAX = 120 };

struct big {
    struct call_frame frames[4];
    struct action *actions;
    struct graph g;
};

/* main → task → step, with a line of its own for each call. Stack = task × 16 + line. */
static size_t big_path(void *data, uint32_t stack, const struct call_frame **out)
{
    struct big *big = data;
    big->frames[0] = (struct call_frame){1, stack / 16, CALLTREE_SOURCE};
    big->frames[1] = (struct call_frame){2 + stack / 16 % 50, stack % 16, CALLTREE_SOURCE};
    big->frames[2] = (struct call_frame){1000 + stack % 16 / 4, stack % 4, CALLTREE_SOURCE};
    *out = big->frames;
    return 3;
}

/* Threads take turns; each does one of SHAPES tasks after the other, one to eight writes each, to
 * a few files. Every 5,000 events the first half of the files is synced, the rest never is. */
static void make_big(struct big *big, size_t n)
{
    uint32_t task[THREADS] = {0}, left[THREADS] = {0}, line[THREADS] = {0};
    uint32_t *last_of = xcalloc(FILES * 64, sizeof *last_of);
    struct graph *g = &big->g;
    big->actions = xcalloc(n, sizeof *big->actions);
    g->n = n;
    g->ops = xcalloc(n, sizeof *g->ops);
    g->issued = xcalloc(n, sizeof *g->issued);
    g->durable = xcalloc(n, sizeof *g->durable);
    g->first = xcalloc(n + 1, sizeof *g->first);
    g->edges = xcalloc(n, sizeof *g->edges);
    size_t edges = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t t = (uint32_t)(rand() % THREADS), file = (uint32_t)(rand() % FILES);
        uint32_t block = (uint32_t)(rand() % 64);
        if (!left[t]) {
            task[t] = (uint32_t)(rand() % SHAPES);
            left[t] = 1 + task[t] % 8;
            line[t] = 0;
        }
        left[t]--;
        big->actions[i] = (struct action){.event = i + 1,
                                          .thread = t,
                                          .stack = task[t] * 16 + line[t]++,
                                          .first_op = (uint32_t)i,
                                          .op_count = 1,
                                          .call = CALL_WRITE};
        g->ops[i] = (struct op){
            .event = i + 1, .offset = block * OP_BLOCK_SIZE, .file = file, .kind = OP_DATA};
        g->issued[i] = 2 * (i + 1);
        g->durable[i] = file < FILES / 2 ? (i / 5000 + 1) * 10000 + 1 : NEVER;
        uint32_t *last = &last_of[file * 64 + block];
        g->first[i] = (uint32_t)edges;
        if (*last)
            g->edges[edges++].from = *last - 1;
        *last = (uint32_t)i + 1;
    }
    g->first[n] = (uint32_t)edges;
    free(last_of);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void run_big(size_t n)
{
    struct big big = {0};
    struct behaviour_options defaults = BEHAVIOUR_DEFAULTS;
    struct group_options options = GROUP_DEFAULTS;
    struct behaviours *list = NULL;
    struct error e;
    make_big(&big, n);
    double start = seconds();
    struct call_stacks stacks = {&big, big_path};
    assert_true(behaviours_find(&list, big.actions, n, &stacks, &defaults, &e));
    double found = seconds();
    struct environments *environments = environments_new(&big.g, NULL, NULL);
    struct groups *groups = groups_form(list, &big.g, environments, &options);
    double end = seconds();
    printf("%zu events: %zu behaviours in %.2f s; %zu shapes, %zu signatures, %zu groups in %.2f s "
           "(%zu unmerged, %zu cut, %zu folded)\n",
           n, list->n, found - start, groups->shapes, groups->signature_count, groups->n,
           end - found, list->unmerged_count, list->cut, groups->folded);
    size_t ops = 0;
    for (size_t i = 0; i < list->n; i++)
        ops += list->at[i].flags & BEHAVIOUR_MERGED ? 0 : list->at[i].ops;
    assert_int_equal(ops, n); /* each in one behaviour of Algorithm 1 */
    assert_true(end - start < SECONDS_MAX);
    groups_free(groups);
    environments_free(environments);
    behaviours_free(list);
    free(big.actions);
    free(big.g.ops);
    free(big.g.issued);
    free(big.g.durable);
    free(big.g.first);
    free(big.g.edges);
}

static void a_million_events(void **state)
{
    (void)state;
    srand(14);
    run_big(10000);
    run_big(100000);
    run_big(1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_6),
        cmocka_unit_test(figure_6_one_function),
        cmocka_unit_test(loop_of_ten_is_not_represented_by_one),
        cmocka_unit_test(call_path_below_the_function_matters),
        cmocka_unit_test(order_and_closure),
        cmocka_unit_test(edges_are_those_of_the_whole_graph),
        cmocka_unit_test(environment_is_part_of_the_signature),
        cmocka_unit_test(environment_counts_kinds_not_ops),
        cmocka_unit_test(many_environments_are_folded),
        cmocka_unit_test(explains_a_pair),
        cmocka_unit_test(giants_are_groups_of_their_own),
        cmocka_unit_test(represents_is_definition_3_5),
        cmocka_unit_test(a_million_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
