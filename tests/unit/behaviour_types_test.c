/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Behaviours of stores: the paper's worked example (figures 5 and 8), and epochs against their
 * definition, read off pair by pair, on random runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/behaviour_types.h"
#include "engine/graph.h"
#include "engine/group.h"
#include "engine/vec.h"

/* ---- the paper's example ---- */

/* Objects M and N; each field has a cache line of its own, so that nothing but flushes orders. */
struct step {
    enum { STORES, FLUSHES, FENCES } does;
    char object;
    int field; /* a line of the file */
};

enum { A, B, C, D, E };

/* Three fields of M are stored and made durable; then M.a again, N as a whole, and M.c. */
static const struct step figure[] = {
    {STORES, 'M', A},  {STORES, 'M', B},  {STORES, 'M', C}, {FLUSHES, 'M', A}, {FLUSHES, 'M', B},
    {FLUSHES, 'M', C}, {FENCES, 0, 0},    {STORES, 'M', A}, {STORES, 'N', D},  {STORES, 'N', E},
    {FLUSHES, 'N', D}, {FLUSHES, 'N', E}, {FENCES, 0, 0},   {STORES, 'M', C},  {FLUSHES, 'M', A},
    {FLUSHES, 'M', C}, {FENCES, 0, 0},
};
enum { FIGURE = sizeof figure / sizeof *figure };

static bool figure_event(void *data, uint64_t number, struct event *out, struct error *e)
{
    const struct step *s = &((const struct step *)data)[number - 1];
    static const uint16_t calls[] = {CALL_STORE, CALL_FLUSH, CALL_FENCE};
    (void)e;
    *out = (struct event){.entry = 4 * number,
                          .exit = 4 * number + 2,
                          .call = calls[s->does],
                          .flags = s->does == FLUSHES ? FLUSH_CLWB : s->does == FENCES,
                          .thread = 1,
                          .file = s->does == FENCES ? 0 : 2,
                          .offset = (uint64_t)s->field * CACHE_LINE,
                          .size = s->does == FLUSHES ? CACHE_LINE : 8,
                          .payload = number};
    return true;
}

static uint64_t figure_length(void *data, uint32_t file)
{
    (void)data;
    return file == 2 ? OP_BLOCK_SIZE : 0;
}

static bool figure_block(void *data, uint32_t file, uint64_t block)
{
    (void)data, (void)file, (void)block;
    return true;
}

static size_t no_path(void *data, uint32_t stack, const struct call_frame **out)
{
    (void)data, (void)stack, (void)out;
    return 0;
}

struct example {
    struct graph *g;
    struct action actions[FIGURE];
    struct action_object objects[FIGURE];
    size_t n;
    struct behaviours *list;
};

static void example_make(struct example *x)
{
    struct graph_source source = {(void *)figure, FIGURE, figure_event, figure_length, figure_block,
                                  NULL,           0,      NULL};
    struct call_stacks stacks = {NULL, no_path};
    struct behaviour_options options = BEHAVIOUR_DEFAULTS;
    struct model model;
    struct error e;
    *x = (struct example){0};
    assert_true(model_find("ext4 stores=px86", &model, &e));
    assert_true(graph_build(&x->g, &model, &source, &e));
    for (uint64_t i = 1; i <= FIGURE; i++) {
        const struct step *s = &figure[i - 1];
        size_t count;
        uint32_t first = graph_event_ops(x->g, i, &count);
        if (s->does == FLUSHES)
            continue;
        x->actions[x->n] = (struct action){.event = i,
                                           .thread = 1,
                                           .first_op = first,
                                           .op_count = (uint32_t)count,
                                           .call = s->does == STORES ? CALL_STORE : CALL_FENCE,
                                           .syncs = s->does != STORES};
        if (s->does == STORES)
            x->objects[x->n] = (struct action_object){.type = (uint64_t)s->object,
                                                      .instance = (uint64_t)s->object + 1000,
                                                      .outer_type = (uint64_t)s->object,
                                                      .outer_instance = (uint64_t)s->object + 1000,
                                                      .field = (uint64_t)s->field + 1};
        x->n++;
    }
    options.objects = x->objects;
    options.graph = x->g;
    assert_true(behaviours_find(&x->list, x->actions, x->n, &stacks, &options, &e));
}

static void example_free(struct example *x)
{
    behaviours_free(x->list);
    graph_free(x->g);
}

/* Ops are the stores, in order: M.a M.b M.c, M.a, N.d N.e, M.c. */
static void figure_5_orders_by_flush_and_fence(void **state)
{
    struct example x;
    (void)state;
    example_make(&x);
    assert_int_equal(x.g->n, 7);
    for (uint32_t a = 0; a < 7; a++)
        for (uint32_t b = a + 1; b < 7; b++) {
            bool ordered = (a < 3 && b >= 3) || ((a == 4 || a == 5) && b == 6);
            assert_int_equal(graph_before(x.g, a, b), ordered);
        }
    example_free(&x);
}

static void figure_8_splits_into_epochs(void **state)
{
    static const struct {
        char type;
        uint32_t n, ops[3];
    } expected[] = {{'M', 3, {0, 1, 2}}, {'M', 1, {3}}, {'N', 2, {4, 5}}, {'M', 1, {6}}};
    struct example x;
    (void)state;
    example_make(&x);
    assert_int_equal(x.list->n, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct behaviour *b = &x.list->at[i];
        uint32_t ops[8];
        assert_int_equal(b->flags, BEHAVIOUR_TYPE);
        assert_int_equal(b->function, expected[i].type);
        assert_int_equal(behaviour_ops(x.list, b, ops), expected[i].n);
        assert_memory_equal(ops, expected[i].ops, expected[i].n * sizeof *ops);
    }
    example_free(&x);
}

/* By the paper's rule the first epoch of M does all that the others do, in any order. */
static void figure_8_groups_by_type(void **state)
{
    struct example x;
    struct group_options options = {.paper = true};
    (void)state;
    example_make(&x);
    struct groups *s = groups_form(x.list, x.g, NULL, &options);
    assert_int_equal(s->n, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct group *g = &s->at[i];
        assert_int_equal(g->representative, g->function == 'M' ? 0 : 2);
        assert_int_equal(g->members, g->function == 'M' ? 3 : 1);
    }
    groups_free(s);
    example_free(&x);
}

/* While M.c is stored, M.a of the epoch before may still be lost: nothing of the first epoch is. */
static void environments_tell_epochs_apart(void **state)
{
    struct example x;
    struct group_options options = GROUP_DEFAULTS;
    (void)state;
    example_make(&x);
    struct environments *all = environments_new(x.g, NULL, NULL);
    struct groups *s = groups_form(x.list, x.g, all, &options);
    assert_int_not_equal(s->signature_of[0], s->signature_of[3]);
    assert_false(groups_represents(s, s->signature_of[0], s->signature_of[3]));
    assert_true(groups_represents(s, s->signature_of[0], s->signature_of[1]));
    groups_free(s);
    environments_free(all);
    example_free(&x);
}

/* ---- epochs by definition ---- */

enum { STEPS = 40, INNER = 4, FIELDS = 3 };

struct random_run {
    struct action actions[STEPS];
    struct action_object objects[STEPS];
    uint64_t issued[STEPS], durable[STEPS];
    struct graph g;
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

/* Objects 1 and 2 lie in object 9, the others stand alone. Durability grows as it does with syncs:
 * what is durable is so at a few positions. */
static void make_random(struct random_run *r, uint64_t seed)
{
    uint64_t state = seed;
    *r = (struct random_run){0};
    for (uint32_t i = 0; i < STEPS; i++) {
        uint64_t inner = 1 + next_random(&state) % INNER;
        uint64_t wait = next_random(&state) % 6;
        r->actions[i] = (struct action){
            .event = i + 1, .thread = 1, .first_op = i, .op_count = 1, .call = CALL_STORE};
        r->objects[i] = (struct action_object){
            .type = 50 + inner % 2, .instance = inner, .field = 100 + next_random(&state) % FIELDS};
        if (inner <= 2) {
            r->objects[i].outer_type = 70;
            r->objects[i].outer_instance = 9;
        }
        r->issued[i] = 4 * (uint64_t)(i + 1);
        r->durable[i] = wait == 5 ? NEVER : r->issued[i] + 2 + 4 * wait * (1 + seed % 3);
    }
    r->g = (struct graph){.n = STEPS, .issued = r->issued, .durable = r->durable};
}

/* Whether a step stores to an object; object 9 has what its parts have. */
static bool stores_to(const struct random_run *r, uint32_t step, uint64_t object)
{
    return r->objects[step].instance == object || r->objects[step].outer_instance == object;
}

static bool related(uint64_t a, uint64_t b)
{
    return a == b || (a == 9 && b <= 2) || (b == 9 && a <= 2);
}

/* Everything stored to an object before a step is durable by then; *last is when it became so. */
static bool all_durable(const struct random_run *r, uint64_t object, uint32_t step, uint64_t *last)
{
    bool any = false;
    *last = 0;
    for (uint32_t i = 0; i < step; i++) {
        if (!stores_to(r, i, object))
            continue;
        any = true;
        if (r->durable[i] >= r->issued[step])
            return false;
        *last = r->durable[i] > *last ? r->durable[i] : *last;
    }
    return any;
}

static bool same_field(const struct random_run *r, uint32_t a, uint32_t b, uint64_t object)
{
    return r->objects[a].field == r->objects[b].field &&
           (object != 9 || r->objects[a].instance == r->objects[b].instance);
}

static bool splits(const struct random_run *r, uint64_t object, const uint32_t *epoch, size_t n,
                   uint32_t step)
{
    uint64_t last;
    bool again = false;
    for (size_t i = 0; i < n; i++)
        again |= same_field(r, epoch[i], step, object);
    if (again && all_durable(r, object, step, &last))
        return true;
    for (uint64_t other = 1; other <= 9; other++)
        if (!related(object, other) && all_durable(r, other, step, &last) &&
            last > r->issued[epoch[n - 1]])
            return true;
    return false;
}

/* Takes an epoch out of what was found; it must be there, unless an inner object has the same. */
static void expect_epoch(const struct type_behaviours *found, bool *taken, uint64_t object,
                         const uint32_t *epoch, size_t n)
{
    for (size_t i = 0; i < found->n; i++) {
        const struct behaviour *b = &found->at[i];
        bool same = b->end - b->begin == n && (b->instance == object || object == 9);
        for (size_t k = 0; same && k < n; k++) /* the last first */
            same = found->order[b->begin + k] == epoch[n - 1 - k];
        if (same) {
            taken[i] = true;
            return;
        }
    }
    fail_msg("an epoch of object %llu that begins with step %u is missing",
             (unsigned long long)object, epoch[0]);
}

static void epochs_are_as_defined(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct random_run r;
        struct type_behaviours found;
        bool taken[4 * STEPS] = {0};
        make_random(&r, seed);
        struct behaviour_options options = {.max = 1000, .objects = r.objects, .graph = &r.g};
        behaviours_by_type(&found, r.actions, STEPS, &options);
        for (uint64_t object = 1; object <= 9; object++) {
            uint32_t epoch[STEPS];
            size_t n = 0;
            for (uint32_t i = 0; i < STEPS; i++) {
                if (!stores_to(&r, i, object))
                    continue;
                if (n && splits(&r, object, epoch, n, i)) {
                    expect_epoch(&found, taken, object, epoch, n);
                    n = 0;
                }
                epoch[n++] = i;
            }
            if (n)
                expect_epoch(&found, taken, object, epoch, n);
        }
        for (size_t i = 0; i < found.n; i++)
            assert_true(taken[i]);
        type_behaviours_free(&found);
    }
}

static void long_epochs_are_cut(void **state)
{
    struct random_run r;
    struct type_behaviours found;
    size_t ops = 0;
    (void)state;
    make_random(&r, 1);
    for (uint32_t i = 0; i < STEPS; i++) {
        r.objects[i] = (struct action_object){.type = 1, .instance = 1, .field = i};
        r.durable[i] = NEVER;
    }
    struct behaviour_options options = {.max = 16, .objects = r.objects, .graph = &r.g};
    behaviours_by_type(&found, r.actions, STEPS, &options);
    assert_int_equal(found.n, 3);
    assert_int_equal(found.cut, 1);
    for (size_t i = 0; i < found.n; i++) {
        assert_true(found.at[i].flags & BEHAVIOUR_CUT);
        assert_true(found.at[i].ops <= 16);
        ops += found.at[i].ops;
    }
    assert_int_equal(ops, STEPS);
    type_behaviours_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_5_orders_by_flush_and_fence),
        cmocka_unit_test(figure_8_splits_into_epochs),
        cmocka_unit_test(figure_8_groups_by_type),
        cmocka_unit_test(environments_tell_epochs_apart),
        cmocka_unit_test(epochs_are_as_defined),
        cmocka_unit_test(long_epochs_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
