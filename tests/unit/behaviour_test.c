/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Update behaviours: the call tree, Algorithm 1 against its own words, merging and density against
 * the definition, the limits, and environments against all pairs.
 */
#include "tests/unit/graph_sample.h"

#include <stdio.h>

#include "engine/environment.h"

enum { FAR = 1000000, MANY = 1000000, RANDOM_CASES = 10000 };

static const struct behaviour_options NO_LIMITS = {.max = MANY, .gap = FAR};

/* ---- the call tree ---- */

static uint32_t place(struct calltree *t, struct sample *s, const char *stack)
{
    return calltree_place(t, sample_stack(s, stack));
}

static uint64_t common(struct calltree *t, struct sample *s, const char *a, const char *b)
{
    uint32_t x = place(t, s, a), y = place(t, s, b);
    return calltree_node(t, calltree_common(t, x, y))->function;
}

#define FUNCTION(name) sample_key(name, strlen(name))

static void common_function_wants_equal_frames_above(void **state)
{
    (void)state;
    struct sample s = {0};
    struct call_stacks stacks = sample_stacks(&s);
    struct calltree *t = calltree_new(&stacks, false);
    assert_int_equal(common(t, &s, "main:1 a:1", "main:1 a:2"), FUNCTION("a"));
    assert_int_equal(common(t, &s, "main:1 a:1", "main:1 a:1"), FUNCTION("a"));
    /* Called from another line it is another call of a. */
    assert_int_equal(common(t, &s, "main:1 a:1", "main:2 a:1"), FUNCTION("main"));
    assert_int_equal(common(t, &s, "main:1 a:1 b:1", "main:1 a:1"), FUNCTION("a"));
    assert_int_equal(common(t, &s, "main:1", "worker:1"), 0);
    calltree_free(t);
    sample_free(&s);
}

static void frames_without_source_do_not_count(void **state)
{
    (void)state;
    struct sample s = {0};
    struct call_stacks stacks = sample_stacks(&s);
    struct calltree *t = calltree_new(&stacks, false);
    assert_int_equal(
        common(t, &s, "~start:9 main:1 -lib:1 a:1 ~write:3", "~start:8 main:1 -lib:2 a:2 ~fsync:3"),
        FUNCTION("a"));
    assert_int_equal(place(t, &s, "main:1 a:1"), place(t, &s, "main:1 ~qsort:4 a:1 ~write:1"));
    assert_int_equal(calltree_sourceless(t), 0);
    /* Without any source: by what is not the system's; without that, by what there is. */
    assert_int_equal(common(t, &s, "~start:1 -x:1 -y:1 ~write:1", "~start:1 -x:1 -y:2 ~write:1"),
                     FUNCTION("y"));
    assert_int_equal(common(t, &s, "~start:1 ~exit:1", "~start:1 ~exit:2"), FUNCTION("exit"));
    assert_int_equal(calltree_sourceless(t), 4);
    assert_int_equal(calltree_node(t, calltree_at(t, place(t, &s, ""))->node)->function, 0);
    calltree_free(t);
    t = calltree_new(&stacks, true);
    assert_int_equal(common(t, &s, "main:1 -lib:1 ~write:1", "main:1 -lib:2 ~write:1"),
                     FUNCTION("lib"));
    calltree_free(t);
    sample_free(&s);
}

static void relative_path_forgets_what_lies_above(void **state)
{
    (void)state;
    struct sample s = {0};
    struct call_stacks stacks = sample_stacks(&s);
    struct calltree *t = calltree_new(&stacks, false);
    uint32_t a = place(t, &s, "main:1 put:3 emit:5"), b = place(t, &s, "main:2 x:7 put:3 emit:5");
    uint32_t c = place(t, &s, "main:1 put:4 emit:5"), d = place(t, &s, "main:1 put:3 emit:6");
    uint32_t put_a = calltree_node(t, calltree_at(t, a)->node)->parent;
    uint32_t put_b = calltree_node(t, calltree_at(t, b)->node)->parent;
    assert_int_not_equal(put_a, put_b);
    assert_int_equal(calltree_relative(t, put_a, a), calltree_relative(t, put_b, b));
    assert_int_not_equal(calltree_relative(t, put_a, a), calltree_relative(t, put_a, c));
    assert_int_not_equal(calltree_relative(t, put_a, a), calltree_relative(t, put_a, d));
    assert_int_not_equal(calltree_relative(t, put_a, a), calltree_relative(t, CALLTREE_ROOT, a));
    calltree_free(t);
    sample_free(&s);
}

static void deep_recursion_is_folded_and_counted(void **state)
{
    (void)state;
    struct sample s = {0};
    char one[4 * SAMPLE_FRAMES + 1] = "", two[4 * SAMPLE_FRAMES + 1] = "";
    for (size_t i = 0; i < CALLTREE_DEPTH_MAX + 20; i++) {
        strcat(one, "f:1 ");
        strcat(two, i == CALLTREE_DEPTH_MAX + 10 ? "f:2 " : "f:1 ");
    }
    struct call_stacks stacks = sample_stacks(&s);
    struct calltree *t = calltree_new(&stacks, false);
    uint32_t a = place(t, &s, one), b = place(t, &s, two);
    assert_int_not_equal(a, b);
    assert_int_equal(calltree_at(t, a)->node, calltree_at(t, b)->node);
    assert_int_equal(calltree_node(t, calltree_at(t, a)->node)->depth, CALLTREE_DEPTH_MAX);
    assert_int_equal(calltree_deep(t), 2);
    calltree_free(t);
    sample_free(&s);
}

/* ---- what a list holds, as text ---- */

static void write_step(struct sample *s, uint64_t event, uint32_t thread, const char *stack)
{
    sample_event(s, event, thread, stack, CALL_WRITE);
    sample_op(s, OP_DATA, 2, event);
}

static void sync_step(struct sample *s, uint64_t event, uint32_t thread, const char *stack)
{
    sample_event(s, event, thread, stack, CALL_FSYNC);
}

/* Whether there is exactly one behaviour of that function with exactly those events. */
static const struct behaviour *find(const struct behaviours *list, const char *function, size_t n,
                                    const uint64_t *events)
{
    const struct behaviour *found = NULL;
    uint32_t *actions = xmalloc((list->action_count + 1) * sizeof *actions);
    for (size_t i = 0; i < list->n; i++) {
        const struct behaviour *b = &list->at[i];
        bool equal = b->function == FUNCTION(function) && b->end - b->begin == n;
        behaviour_actions(list, b, actions);
        for (size_t k = 0; equal && k < n; k++)
            equal = list->actions[actions[k]].event == events[k];
        assert_false(found && equal);
        found = equal ? b : found;
    }
    free(actions);
    return found;
}

#define EVENTS(...)                                                                                \
    sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (const uint64_t[])                       \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define FOUND(list, function, ...)     assert_non_null(find(list, function, EVENTS(__VA_ARGS__)))
#define NOT_FOUND(list, function, ...) assert_null(find(list, function, EVENTS(__VA_ARGS__)))

/* Figures 4 and 7. The text gives: seven operations, 1 to 3 write f1, 4 writes f2, 5 fdatasyncs it,
 * 6 renames it, 7 syncs all; Fn1 calls Fn2 and Fn3, Fn3 calls Fn4 and Fn5; [3–7] is Fn3's, merged
 * from Fn4 and Fn5; [1–7] is Fn1's, merged from Fn2 and Fn3. Which of 3 to 7 are Fn4's it leaves
 * open. */
static void figure_7(void **state)
{
    (void)state;
    struct sample s = {0};
    write_step(&s, 1, 1, "Fn1:1 Fn2:1");
    write_step(&s, 2, 1, "Fn1:1 Fn2:2");
    write_step(&s, 3, 1, "Fn1:2 Fn3:1 Fn4:1");
    write_step(&s, 4, 1, "Fn1:2 Fn3:1 Fn4:2");
    sync_step(&s, 5, 1, "Fn1:2 Fn3:1 Fn4:3");
    write_step(&s, 6, 1, "Fn1:2 Fn3:2 Fn5:1");
    sync_step(&s, 7, 1, "Fn1:2 Fn3:2 Fn5:2");
    struct behaviour_options defaults = BEHAVIOUR_DEFAULTS;
    struct behaviours *list = sample_behaviours(&s, &defaults);
    FOUND(list, "Fn2", 1, 2);
    FOUND(list, "Fn4", 3, 4, 5);
    FOUND(list, "Fn5", 6, 7);
    FOUND(list, "Fn3", 3, 4, 5, 6, 7);
    FOUND(list, "Fn1", 1, 2, 3, 4, 5, 6, 7);
    assert_int_equal(list->n, 5);
    const struct behaviour *fn3 = find(list, "Fn3", EVENTS(3, 4, 5, 6, 7));
    assert_true(fn3->flags & BEHAVIOUR_MERGED);
    assert_int_equal(fn3->ops, 3);
    assert_int_equal(list->at[fn3->parent].function, FUNCTION("Fn1"));
    assert_int_equal(list->unmerged_count, 0);
    behaviours_free(list);
    sample_free(&s);
}

/* The three branches of Algorithm 1, an event alone at the end, and one alone in its thread. */
static void algorithm_1_by_hand(void **state)
{
    (void)state;
    struct sample s = {0};
    write_step(&s, 1, 1, "main:1");
    write_step(&s, 2, 1, "main:2 b:1"); /* deeper: 1 stays alone under main */
    write_step(&s, 3, 1, "main:2 b:2");
    write_step(&s, 4, 1, "main:2 b:3");
    write_step(&s, 5, 1, "main:3 c:1"); /* b has ended; 5 begins anew with 6 */
    write_step(&s, 6, 1, "main:4");
    write_step(&s, 7, 1, "main:5 d:1");
    write_step(&s, 8, 1, "main:5 d:2");
    write_step(&s, 9, 1, "main:6 e:1"); /* the last: alone in its own function */
    write_step(&s, 10, 2, "worker:1 f:1");
    struct behaviour_options apart = {.max = 1000, .gap = 0}; /* density keeps all apart */
    struct behaviours *list = sample_behaviours(&s, &NO_LIMITS);
    FOUND(list, "main", 1);
    FOUND(list, "b", 2, 3, 4);
    FOUND(list, "main", 5, 6);
    FOUND(list, "d", 7, 8);
    FOUND(list, "e", 9);
    FOUND(list, "f", 10);
    FOUND(list, "main", 1, 2, 3, 4, 5, 6, 7, 8, 9);
    assert_int_equal(list->n, 7);
    behaviours_free(list);
    list = sample_behaviours(&s, &apart);
    assert_int_equal(list->n, 10);
    behaviours_free(list);
    sample_free(&s);
}

static void strangers_are_alone_in_their_functions(void **state)
{
    (void)state;
    struct sample s = {0};
    write_step(&s, 1, 1, "constructor:1");
    write_step(&s, 2, 1, "main:1");
    write_step(&s, 3, 1, "");
    write_step(&s, 4, 1, "");
    write_step(&s, 5, 1, "atexit:1 flush:1");
    struct behaviours *list = sample_behaviours(&s, &NO_LIMITS);
    FOUND(list, "constructor", 1);
    FOUND(list, "main", 2);
    FOUND(list, "flush", 5);
    assert_int_equal(list->n, 4);
    assert_int_equal(list->at[2].function, 0);
    assert_int_equal(list->at[2].ops, 2);
    behaviours_free(list);
    sample_free(&s);
}

/* A background call every 50 events, in a thread of its own: each is its own behaviour. */
static void periodic_work_is_split_by_density(void **state)
{
    (void)state;
    struct sample s = {0};
    for (uint64_t e = 1; e <= 500; e++) {
        if (e % 50 < 3)
            write_step(&s, e, 2, e % 50 == 2 ? "loop:1 tick:1 log:1" : "loop:1 tick:1");
        else
            write_step(&s, e, 1, e % 2 ? "main:1 put:1" : "main:1 put:2");
    }
    struct behaviour_options defaults = BEHAVIOUR_DEFAULTS;
    struct behaviours *list = sample_behaviours(&s, &defaults);
    FOUND(list, "tick", 1, 2);
    FOUND(list, "tick", 50, 51, 52);
    FOUND(list, "tick", 450, 451, 452);
    size_t ticks = 0;
    for (size_t i = 0; i < list->n; i++)
        ticks += list->at[i].function == FUNCTION("tick");
    assert_int_equal(ticks, 11);
    behaviours_free(list);
    /* The gap decides: 48 events are not too far apart with a gap of 48. */
    defaults.gap = 48;
    list = sample_behaviours(&s, &defaults);
    ticks = 0;
    for (size_t i = 0; i < list->n; i++)
        ticks += list->at[i].function == FUNCTION("tick");
    assert_int_equal(ticks, 1);
    behaviours_free(list);
    sample_free(&s);
}

static void threads_do_not_mix(void **state)
{
    (void)state;
    struct sample s = {0};
    write_step(&s, 1, 7, "worker:1 a:1");
    write_step(&s, 2, 9, "worker:1 a:1");
    write_step(&s, 3, 7, "worker:1 a:2");
    write_step(&s, 4, 9, "worker:2 b:1");
    write_step(&s, 5, 7, "worker:2 b:1");
    struct behaviours *list = sample_behaviours(&s, &NO_LIMITS);
    FOUND(list, "a", 1, 3);
    FOUND(list, "b", 5);
    FOUND(list, "worker", 1, 3, 5);
    FOUND(list, "worker", 2, 4);
    assert_int_equal(list->n, 4);
    assert_int_equal(find(list, "worker", EVENTS(2, 4))->thread, 9);
    behaviours_free(list);
    sample_free(&s);
}

/* ---- limits ---- */

static void too_large_is_left_apart_and_said(void **state)
{
    (void)state;
    struct sample s = {0};
    for (uint64_t e = 1; e <= 4; e++)
        write_step(&s, e, 1, e % 2 ? "main:1 top:1 a:1" : "main:1 top:1 a:2");
    for (uint64_t e = 5; e <= 8; e++)
        write_step(&s, e, 1, e % 2 ? "main:1 top:2 b:1" : "main:1 top:2 b:2");
    write_step(&s, 9, 1, "main:2 c:1");
    for (uint64_t e = 100; e <= 101; e++) /* far away, so this one is not too large for main */
        write_step(&s, e, 1, "main:3 d:1");
    write_step(&s, 102, 1, "main:4");
    struct behaviour_options options = {.max = 7, .gap = 10};
    struct behaviours *list = sample_behaviours(&s, &options);
    FOUND(list, "a", 1, 2, 3, 4);
    FOUND(list, "b", 5, 6, 7, 8);
    NOT_FOUND(list, "top", 1, 2, 3, 4, 5, 6, 7, 8);
    FOUND(list, "main", 9);
    FOUND(list, "main", 100, 101, 102);
    assert_int_equal(list->unmerged_count, 2);
    assert_int_equal(calltree_node(list->tree, list->unmerged[0].node)->function, FUNCTION("top"));
    assert_int_equal(list->unmerged[0].ops, 8);
    assert_int_equal(list->unmerged[0].parts, 2);
    assert_int_equal(calltree_node(list->tree, list->unmerged[1].node)->function, FUNCTION("main"));
    assert_int_equal(list->unmerged[1].ops, 9);
    assert_int_equal(list->unmerged[1].parts, 1);
    behaviours_free(list);
    options.max = 8;
    list = sample_behaviours(&s, &options);
    FOUND(list, "top", 1, 2, 3, 4, 5, 6, 7, 8);
    behaviours_free(list);
    sample_free(&s);
}

/* One function in a loop: too large from the start, cut where its body begins again, not where an
 * inner loop does. The limit is reached where nothing comes again. */
static void loop_is_cut_at_its_beginning(void **state)
{
    (void)state;
    struct sample s = {0};
    static const char *const body[] = {"put:5", "put:6", "put:6", "put:7", "put:8"};
    write_step(&s, 1, 1, "put:1");
    write_step(&s, 2, 1, "put:2");
    for (uint64_t e = 3; e < 3 + 150; e++)
        write_step(&s, e, 1, body[(e - 3) % 5]);
    struct behaviour_options options = {.max = 130, .gap = 10};
    struct behaviours *list = sample_behaviours(&s, &options);
    assert_int_equal(list->cut, 1);
    assert_int_equal(list->n, 30);
    FOUND(list, "put", 1, 2, 3, 4, 5, 6, 7);
    FOUND(list, "put", 8, 9, 10, 11, 12);
    FOUND(list, "put", 148, 149, 150, 151, 152);
    for (size_t i = 0; i < list->n; i++)
        assert_true(list->at[i].flags & BEHAVIOUR_CUT);
    behaviours_free(list);
    sample_free(&s);
    static const char *const lines[] = {"f:1", "f:2", "f:3", "f:4", "f:5"};
    for (uint64_t e = 1; e <= 5; e++)
        write_step(&s, e, 1, lines[e - 1]);
    options.max = 4;
    list = sample_behaviours(&s, &options);
    FOUND(list, "f", 1, 2, 3, 4);
    FOUND(list, "f", 5);
    behaviours_free(list);
    sample_free(&s);
}

static void large_event_stays_whole(void **state)
{
    (void)state;
    struct sample s = {0};
    write_step(&s, 1, 1, "main:1 a:1");
    sample_event(&s, 2, 1, "main:1 a:2", CALL_WRITE);
    for (uint64_t block = 0; block < 20; block++)
        sample_op(&s, OP_DATA, 2, block);
    write_step(&s, 3, 1, "main:1 a:3");
    struct behaviour_options options = {.max = 10, .gap = 10};
    struct behaviours *list = sample_behaviours(&s, &options);
    assert_int_equal(list->large, 1);
    assert_int_equal(list->n, 3);
    FOUND(list, "a", 2);
    behaviours_free(list);
    sample_free(&s);
}

static void syncs_alone_are_no_behaviour(void **state)
{
    (void)state;
    struct sample s = {0};
    write_step(&s, 1, 1, "main:1 a:1");
    write_step(&s, 2, 1, "main:1 a:2");
    sync_step(&s, 3, 1, "main:2 b:1");
    sync_step(&s, 4, 1, "main:2 b:2");
    struct behaviours *list = sample_behaviours(&s, &NO_LIMITS);
    /* main would have the ops of a once more. */
    assert_int_equal(list->n, 1);
    FOUND(list, "a", 1, 2);
    assert_int_equal(list->idle, 1);
    behaviours_free(list);
    struct error e;
    struct call_stacks stacks = sample_stacks(&s);
    s.actions.at[2].event = 2;
    assert_false(behaviours_find(&list, s.actions.at, 4, &stacks, &NO_LIMITS, &e));
    assert_non_null(strstr(e.text, "out of order"));
    assert_true(behaviours_find(&list, NULL, 0, &stacks, &NO_LIMITS, &e));
    assert_int_equal(list->n, 0);
    behaviours_free(list);
    sample_free(&s);
}

/* ---- against the definitions ---- */

enum { EVENTS_MAX = 24, SETS_MAX = 512 };

static const char *const STACKS[] = {
    "m:1",         "m:2",         "m:1 a:1",     "m:1 a:2",     "m:1 a:1 b:1",
    "m:1 a:1 b:2", "m:1 a:2 c:1", "m:2 c:1",     "m:2 c:2",     "m:1 a:1 b:1 d:1",
    "w:1",         "w:1 a:1",     "w:1 a:1 b:1", "w:1 a:1 b:2", "w:2 d:1",
};

/* Where the common function of two stacks ends in the first: frames above it must be equal as
 * text, of it only the name. 0: none. */
static size_t common_end(const char *a, const char *b)
{
    size_t end = 0, at = 0;
    for (;;) {
        size_t name = strcspn(a + at, ":");
        if (!a[at] || strncmp(a + at, b + at, name + 1))
            return end;
        end = at + name;
        size_t all = strcspn(a + at, " ");
        if (all != strcspn(b + at, " ") || strncmp(a + at, b + at, all) || !a[at + all] ||
            !b[at + all])
            return end;
        at += all + 1;
    }
}

/* A set of events (bit e) under a function, which is the beginning of a stack. */
struct set {
    uint32_t events;
    char function[32];
};

struct sets {
    struct set at[SETS_MAX];
    size_t n;
};

static void add_set(struct sets *sets, uint32_t events, const char *stack, size_t end)
{
    assert_true(sets->n < SETS_MAX);
    struct set *s = &sets->at[sets->n++];
    s->events = events;
    snprintf(s->function, sizeof s->function, "%.*s", (int)end, stack);
}

static bool has_set(const struct sets *sets, uint32_t events, const char *function)
{
    for (size_t i = 0; i < sets->n; i++)
        if (sets->at[i].events == events && !strcmp(sets->at[i].function, function))
            return true;
    return false;
}

static const char *stack_text(const struct sample *s, uint32_t action)
{
    return s->stacks.at[s->actions.at[action].stack];
}

static size_t leaf_end(const char *stack)
{
    return common_end(stack, stack);
}

/* Splits by gaps and adds what comes out. */
static void add_clusters(const struct sample *s, struct sets *sets, uint32_t events,
                         const char *stack, size_t end, uint64_t gap)
{
    uint32_t cluster = 0;
    uint64_t last = 0;
    for (uint32_t i = 0; i < s->actions.n; i++) {
        if (!(events >> i & 1))
            continue;
        if (cluster && s->actions.at[i].event - last > gap) {
            add_set(sets, cluster, stack, end);
            cluster = 0;
        }
        cluster |= 1U << i;
        last = s->actions.at[i].event;
    }
    if (cluster)
        add_set(sets, cluster, stack, end);
}

static void end_set(const struct sample *s, struct sets *sets, uint32_t events, const char *stack,
                    size_t end, uint64_t gap)
{
    if (end) {
        add_clusters(s, sets, events, stack, end, gap);
        return;
    }
    for (uint32_t i = 0; i < s->actions.n; i++)
        if (events >> i & 1)
            add_set(sets, 1U << i, stack_text(s, i), leaf_end(stack_text(s, i)));
}

/* Algorithm 1 as the paper writes it, with sets. */
static void paper_algorithm_1(const struct sample *s, uint32_t thread, uint64_t gap,
                              struct sets *out)
{
    uint32_t trace[EVENTS_MAX], n = 0, ub = 0;
    size_t previous = 0;
    for (uint32_t i = 0; i < s->actions.n; i++)
        if (s->actions.at[i].thread == thread)
            trace[n++] = i;
    for (uint32_t i = 0; i + 1 < n; i++) {
        const char *stack = stack_text(s, trace[i]);
        size_t lcp = common_end(stack, stack_text(s, trace[i + 1]));
        uint32_t op = 1U << trace[i], following = 1U << trace[i + 1];
        if (!(ub & op)) {
            ub = op | following;
        } else if (previous == lcp) {
            ub |= following;
        } else if (previous < lcp) {
            end_set(s, out, ub & ~op, stack, previous, gap);
            ub = op | following;
        } else {
            end_set(s, out, ub, stack, previous, gap);
            ub = 0;
        }
        previous = lcp;
    }
    if (!n)
        return;
    const char *stack = stack_text(s, trace[n - 1]);
    if (ub)
        end_set(s, out, ub, stack, previous, gap);
    else
        end_set(s, out, 1U << trace[n - 1], stack, leaf_end(stack), gap);
}

static bool above(const char *function, const char *other)
{
    size_t n = strlen(function);
    return !strncmp(function, other, n) && (!other[n] || other[n] == ':');
}

/* What merging must give: at every function, the clusters of all that hangs on it or below,
 * unless one is too large or is there already. */
static void define_merged(const struct sample *s, const struct sets *base,
                          const struct behaviour_options *options, struct sets *out)
{
    struct sets nodes = {0}, all = {0};
    for (size_t i = 0; i < base->n; i++) {
        const char *function = base->at[i].function;
        for (size_t end = strlen(function); end; end--) {
            char name[32];
            snprintf(name, sizeof name, "%.*s", (int)end, function);
            if ((end == strlen(function) || function[end] == ':') && !has_set(&nodes, 0, name))
                add_set(&nodes, 0, name, end);
        }
    }
    for (size_t k = 0; k < nodes.n; k++) {
        const char *node = nodes.at[k].function;
        uint32_t events = 0;
        for (size_t i = 0; i < base->n; i++)
            if (above(node, base->at[i].function))
                events |= base->at[i].events;
        add_clusters(s, &all, events, node, strlen(node), options->gap);
    }
    for (size_t i = 0; i < all.n; i++) {
        const struct set *set = &all.at[i];
        bool there = false;
        for (size_t k = 0; k < all.n; k++)
            there |= all.at[k].events == set->events && k != i &&
                     above(set->function, all.at[k].function);
        for (size_t k = 0; k < base->n; k++)
            there |= base->at[k].events == set->events;
        if (!there && (uint32_t)__builtin_popcount(set->events) <= options->max)
            add_set(out, set->events, set->function, strlen(set->function));
    }
}

static void make_random(struct sample *s, uint32_t threads)
{
    uint64_t event = 0;
    size_t n = 1 + (size_t)rand() % EVENTS_MAX;
    const char *stack = STACKS[0];
    for (size_t i = 0; i < n; i++) {
        event += 1 + (uint64_t)(rand() % 8 ? rand() % 2 : rand() % 30);
        if (rand() % 3)
            stack = STACKS[(size_t)rand() % (sizeof STACKS / sizeof *STACKS)];
        write_step(s, event, (uint32_t)rand() % threads, stack);
    }
}

/* The way from the root to the function of a behaviour, as text. */
static void function_text(const struct sample *s, const struct behaviours *list,
                          const struct behaviour *b, char *out, size_t size)
{
    const char *stack = stack_text(s, list->order[b->begin]), *end = stack;
    for (uint32_t d = 1; d < calltree_node(list->tree, b->node)->depth; d++)
        end = strchr(end, ' ') + 1;
    snprintf(out, size, "%.*s", (int)(strchr(end, ':') - stack), stack);
}

static void check_behaviour(const struct sample *s, const struct behaviours *list,
                            const struct behaviour *b, const struct sets *expected)
{
    uint32_t events = 0, ops[EVENTS_MAX];
    char function[32];
    for (uint32_t k = b->begin; k < b->end; k++)
        events |= 1U << list->order[k];
    function_text(s, list, b, function, sizeof function);
    assert_true(has_set(expected, events, function));
    size_t n = behaviour_ops(list, b, ops);
    assert_int_equal(n, b->ops);
    assert_int_equal(ops[0], b->first_op);
    assert_int_equal(ops[n - 1], b->last_op);
}

static void behaviours_are_as_defined(void **state)
{
    (void)state;
    srand(11);
    for (size_t c = 0; c < RANDOM_CASES; c++) {
        struct sample s = {0};
        struct sets base[3] = {0}, expected = {0};
        uint32_t threads = 1 + (uint32_t)rand() % 3;
        struct behaviour_options options = {.gap = (uint32_t)(1 + rand() % 12)};
        make_random(&s, threads);
        for (uint32_t t = 0; t < threads; t++) {
            paper_algorithm_1(&s, t, options.gap, &base[t]);
            for (size_t i = 0; i < base[t].n; i++) {
                uint32_t size = (uint32_t)__builtin_popcount(base[t].at[i].events);
                options.max = options.max < size ? size : options.max;
                expected.at[expected.n++] = base[t].at[i];
            }
        }
        /* At least the largest of Algorithm 1: cutting those is no part of the paper. */
        options.max += (uint32_t)rand() % 8;
        for (uint32_t t = 0; t < threads; t++)
            define_merged(&s, &base[t], &options, &expected);
        struct behaviours *list = sample_behaviours(&s, &options);
        assert_int_equal(list->n, expected.n);
        assert_int_equal(list->cut, 0);
        for (size_t i = 0; i < list->n; i++)
            check_behaviour(&s, list, &list->at[i], &expected);
        behaviours_free(list);
        sample_free(&s);
    }
}

/* ---- environments ---- */

static uint64_t entry_of(void *data, uint32_t op)
{
    const struct sample *s = data;
    return s->ops.at[op].offset;
}

static void random_graph(struct sample *s)
{
    size_t n = 1 + (size_t)rand() % 200;
    for (uint64_t e = 1; e <= n; e++) {
        sample_event(s, e, 1, "main:1", CALL_WRITE);
        for (int k = rand() % 3; k > 0; k--) {
            uint32_t op = sample_op(s, (uint8_t)(OP_NAME + rand() % 6), 2 + (uint32_t)rand() % 3,
                                    (uint64_t)rand() % 3);
            if (op && rand() % 2)
                sample_edge(s, (uint32_t)rand() % op, op);
        }
        if (rand() % 4 == 0 && s->ops.n)
            for (uint32_t op = 0; op < vec_last(&s->actions).first_op; op++)
                if (rand() % 8)
                    sample_sync(s, op);
    }
}

static bool same_location(const struct sample *s, uint32_t a, uint32_t b)
{
    const struct op *x = &s->ops.at[a], *y = &s->ops.at[b];
    if (x->kind == OP_NAME || y->kind == OP_NAME)
        return x->kind == y->kind && x->offset == y->offset;
    if (x->kind == OP_SIZE || y->kind == OP_SIZE)
        return x->kind == y->kind && x->file == y->file;
    return x->file == y->file && x->offset == y->offset;
}

static void check_environment(const struct sample *s, const struct environment *env,
                              const uint32_t *own, size_t n, size_t limit)
{
    size_t expected = 0, left_out = 0, in_locations = 0;
    for (uint32_t op = own[n - 1]; op-- > 0;) {
        bool foreign = s->g.durable[op] > s->g.issued[own[0]];
        for (size_t i = 0; i < n; i++)
            foreign &= own[i] != op;
        if (!foreign)
            continue;
        if (expected == limit) {
            left_out++;
            continue;
        }
        assert_int_equal(env->ops[expected++], op);
    }
    assert_int_equal(env->n, expected);
    assert_int_equal(env->left_out, left_out);
    for (size_t i = 0; i < env->location_count; i++) {
        const struct environment_location *at = &env->locations[i];
        uint32_t count = 0, kinds = 0, at_op = at->last;
        for (uint32_t k = 0; k < env->n; k++) {
            if (!same_location(s, env->ops[k], env->ops[at->last]))
                continue;
            assert_int_equal(at_op, k);
            at_op = env->earlier[at_op];
            kinds |= 1U << s->ops.at[env->ops[k]].kind;
            count++;
        }
        assert_int_equal(at_op, NO_OP);
        assert_int_equal(at->count, count);
        assert_int_equal(at->kinds, kinds);
        in_locations += count;
    }
    assert_int_equal(in_locations, env->n);
}

static void environment_against_all_pairs(void **state)
{
    (void)state;
    srand(12);
    for (size_t c = 0; c < 2000; c++) {
        struct sample s = {0};
        random_graph(&s);
        const struct graph *g = sample_graph(&s);
        struct environments *all = environments_new(g, entry_of, &s);
        for (size_t k = 0; k < 5 && s.ops.n; k++) {
            uint32_t own[256];
            size_t n = 0, limit = (size_t)rand() % 300;
            for (uint32_t op = 0; op < s.ops.n && n < 256; op++)
                if (rand() % 4 == 0 || (op == s.ops.n - 1 && !n))
                    own[n++] = op;
            check_environment(&s, environment_of(all, own, n, limit), own, n, limit);
        }
        environments_free(all);
        sample_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_function_wants_equal_frames_above),
        cmocka_unit_test(frames_without_source_do_not_count),
        cmocka_unit_test(relative_path_forgets_what_lies_above),
        cmocka_unit_test(deep_recursion_is_folded_and_counted),
        cmocka_unit_test(figure_7),
        cmocka_unit_test(algorithm_1_by_hand),
        cmocka_unit_test(strangers_are_alone_in_their_functions),
        cmocka_unit_test(periodic_work_is_split_by_density),
        cmocka_unit_test(threads_do_not_mix),
        cmocka_unit_test(too_large_is_left_apart_and_said),
        cmocka_unit_test(loop_is_cut_at_its_beginning),
        cmocka_unit_test(large_event_stays_whole),
        cmocka_unit_test(syncs_alone_are_no_behaviour),
        cmocka_unit_test(behaviours_are_as_defined),
        cmocka_unit_test(environment_against_all_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
