/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Schedules as order ideals: each once, cheapest first; against trying all sets of ops.
 */
#include "tests/unit/poset_sample.h"

#include <malloc.h>
#include <string.h>
#include <time.h>

#include "engine/ideal.h"

enum { CASES = 20000, SIZE = 10, SETS = 1 << SIZE };

/* ---- trying all sets ---- */

/* A random order with random rules, in one word a set. */
struct trial {
    struct sample s;
    struct ideals_options options;
    uint64_t last, lost;
    uint32_t location[SIZE];
    bool wanted[SETS]; /* the ideals that the rules allow */
    size_t count;
};

/* The ops before the last one that are missing, without those that only miss because of others. */
static uint64_t lost_of(const struct poset *p, uint64_t set, size_t last)
{
    uint64_t missing = ~set & ((UINT64_C(1) << last) - 1), lost = 0;
    for (size_t i = 0; i < last; i++)
        if (missing >> i & 1 && !(poset_below(p, i)[0] & missing))
            lost |= UINT64_C(1) << i;
    return lost;
}

static bool allowed(const struct trial *t, uint64_t set)
{
    if (set == 0)
        return true;
    size_t last = BITS_WORD - 1 - (size_t)__builtin_clzll(set);
    uint64_t lost = lost_of(&t->s.p, set, last);
    uint32_t location = 0;
    for (size_t i = 0; i < last; i++) {
        if (!(lost >> i & 1) || t->location[i] == 0)
            continue;
        if (location && location != t->location[i] && !t->options.all_locations)
            return false;
        location = t->location[i];
    }
    return t->last >> last & 1 && !(lost & ~t->lost);
}

static void trial_begin(struct trial *t, size_t n)
{
    const uint64_t all = (UINT64_C(1) << n) - 1;
    memset(t, 0, sizeof *t);
    sample_random(&t->s, n);
    t->last = rand() % 2 ? all : (uint64_t)rand() & all;
    t->lost = rand() % 2 ? all : (uint64_t)rand() & all;
    bool foreign = rand() % 2;
    for (size_t i = 0; i < n; i++)
        t->location[i] = foreign ? (uint32_t)(rand() % 4) * 1000000007U : 0;
    t->options = (struct ideals_options){
        .last = t->last == all && rand() % 2 ? NULL : &t->last,
        .lost = t->lost == all && rand() % 2 ? NULL : &t->lost,
        .location = foreign || rand() % 2 ? t->location : NULL,
        .all_locations = rand() % 4 == 0,
    };
    for (uint64_t set = 0; set <= all; set++) {
        bool closed = true;
        for (size_t i = 0; i < n; i++)
            closed = closed && !(set >> i & 1 && poset_below(&t->s.p, i)[0] & ~set);
        assert_int_equal(closed, ideal_is(&t->s.p, &set));
        t->wanted[set] = closed && allowed(t, set);
        t->count += t->wanted[set];
    }
}

static void trial_end(struct trial *t)
{
    sample_free(&t->s);
}

/* ---- comparing ideals ---- */

struct kept {
    struct ideal ideal;
    uint32_t lost[SIZE];
};

static void keep(struct kept *k, const struct ideal *ideal)
{
    k->ideal = *ideal;
    assert_true(ideal->level <= SIZE);
    for (size_t d = 0; d < ideal->level; d++)
        k->lost[d] = ideal->lost[d];
    k->ideal.lost = k->lost;
}

static void assert_same(const struct ideal *a, const struct ideal *b)
{
    assert_int_equal(a->last, b->last);
    assert_int_equal(a->level, b->level);
    for (size_t d = 0; d < a->level; d++)
        assert_int_equal(a->lost[d], b->lost[d]);
}

/* By level, then last, then lost; the empty ideal is the first of all. */
static bool comes_before(const struct ideal *a, const struct ideal *b)
{
    if (a->level != b->level)
        return a->level < b->level;
    if (a->last != b->last)
        return a->last == IDEAL_EMPTY || (b->last != IDEAL_EMPTY && a->last < b->last);
    for (size_t d = 0; d < a->level; d++)
        if (a->lost[d] != b->lost[d])
            return a->lost[d] < b->lost[d];
    return false;
}

/* ---- the tests ---- */

/* All of an enumerator's ideals in order; each has the form that the set of its survivors has. */
static size_t enumerate(const struct trial *t, struct kept *all)
{
    struct ideals *it = ideals_new(&t->s.p, &t->options);
    struct ideal ideal, form;
    uint32_t lost[SIZE];
    size_t n = 0;
    assert_int_equal(ideals_level(it), 0);
    while (ideals_next(it, &ideal)) {
        uint64_t set = 0;
        assert_true(n < t->count);
        ideal_survivors(&t->s.p, &ideal, &set);
        assert_true(t->wanted[set]);
        assert_true(ideal_of(&t->s.p, &set, lost, &form));
        assert_same(&ideal, &form);
        assert_int_equal(ideals_level(it), ideal.level);
        keep(&all[n], &ideal);
        if (n > 0)
            assert_true(comes_before(&all[n - 1].ideal, &all[n].ideal));
        n++;
    }
    assert_false(ideals_next(it, &ideal));
    assert_int_equal(ideals_level(it), all[n - 1].ideal.level + 1);
    ideals_free(it);
    return n;
}

static void resumes_anywhere(const struct trial *t, const struct kept *all, size_t n)
{
    struct ideals *it = ideals_new(&t->s.p, &t->options);
    struct ideal ideal;
    for (int tries = 0; tries < 4; tries++) {
        size_t from = (size_t)rand() % n;
        assert_true(ideals_resume(it, &all[from].ideal));
        assert_int_equal(ideals_level(it), all[from].ideal.level);
        for (size_t i = from + 1; i < n && i < from + 5; i++) {
            assert_true(ideals_next(it, &ideal));
            assert_same(&ideal, &all[i].ideal);
        }
        uint32_t level = (uint32_t)rand() % (SIZE + 2);
        size_t first = 0;
        while (first < n && all[first].ideal.level < level)
            first++;
        ideals_seek(it, level);
        assert_int_equal(ideals_level(it), level);
        assert_int_equal(ideals_next(it, &ideal), first < n);
        if (first < n)
            assert_same(&ideal, &all[first].ideal);
    }
    ideals_free(it);
}

static void counts(const struct trial *t)
{
    struct ideals *it = ideals_new(&t->s.p, &t->options);
    struct ideals_total total = ideals_count(it, IDEALS_COUNT_EFFORT);
    assert_int_equal(total.known, IDEALS_EXACT);
    assert_int_equal(total.count, t->count);
    for (uint64_t effort = 0; effort < 100; effort += 1 + (uint64_t)rand() % 50) {
        total = ideals_count(it, effort);
        assert_int_not_equal(total.known, IDEALS_BEYOND);
        assert_true(total.count >= t->count);
        if (total.known == IDEALS_EXACT)
            assert_int_equal(total.count, t->count);
    }
    ideals_free(it);
}

static void gives_each_ideal_once_cheapest_first(void **state)
{
    (void)state;
    static struct kept all[SETS];
    static struct trial t;
    srand(1);
    for (int c = 0; c < CASES; c++) {
        trial_begin(&t, (size_t)rand() % (SIZE + 1));
        /* All are wanted, they come in a strict order, and there are as many as are wanted. */
        assert_int_equal(enumerate(&t, all), t.count);
        resumes_anywhere(&t, all, t.count);
        counts(&t);
        trial_end(&t);
    }
}

/* What is saved may be damaged: every (last, lost) that is not an ideal's form is refused. */
static void resumes_only_behind_what_it_gives(void **state)
{
    (void)state;
    enum { FEW = 5 };
    static struct trial t;
    srand(2);
    for (int c = 0; c < 1000; c++) {
        size_t n = (size_t)rand() % (FEW + 1), accepted = 0;
        trial_begin(&t, n);
        struct ideals *it = ideals_new(&t.s.p, &t.options);
        for (uint32_t last = 0; last <= n + 1; last++)
            for (uint32_t set = 0; set < 1U << (FEW + 1); set++) {
                uint32_t lost[FEW + 1];
                struct ideal ideal = {.last = last > n ? IDEAL_EMPTY : last, .lost = lost};
                for (uint32_t i = 0; i <= FEW; i++)
                    if (set >> i & 1)
                        lost[ideal.level++] = i;
                accepted += ideals_resume(it, &ideal);
            }
        assert_int_equal(accepted, t.count);
        if (n > 2) {
            struct ideal unsorted = {.last = 2, .level = 2, .lost = (const uint32_t[]){1, 0}};
            assert_false(ideals_resume(it, &unsorted));
            struct ideal twice = {.last = 2, .level = 2, .lost = (const uint32_t[]){0, 0}};
            assert_false(ideals_resume(it, &twice));
        }
        ideals_free(it);
        trial_end(&t);
    }
}

static void toggling_moves_what_must_follow(void **state)
{
    (void)state;
    static struct trial t;
    srand(3);
    for (int c = 0; c < 2000; c++) {
        trial_begin(&t, 1 + (size_t)rand() % SIZE);
        const struct poset *p = &t.s.p;
        uint64_t set = (uint64_t)rand() & ((UINT64_C(1) << p->n) - 1), changed;
        poset_close_down(p, &set);
        for (uint32_t i = 0; i < p->n; i++) {
            uint64_t before = set;
            ideal_toggle(p, &set, i, &changed);
            assert_true(ideal_is(p, &set));
            assert_int_equal(before ^ set, changed);
            assert_true(changed >> i & 1);
            uint64_t others = changed & ~(UINT64_C(1) << i);
            uint64_t related = before >> i & 1 ? poset_above(p, i)[0] : poset_below(p, i)[0];
            assert_int_equal(others & ~related, 0);
        }
        trial_end(&t);
    }
}

/* Three ops, each needed by the next, and one beside them:
 *
 *     0 ──→ 1 ──→ 2        3 beside
 */
static void reads_like_this(void **state)
{
    (void)state;
    struct sample s;
    sample_begin(&s, 4);
    sample_before(&s, 0, 1);
    sample_before(&s, 1, 2);
    sample_end(&s);
    static const struct {
        uint32_t last, level, lost, survivors;
    } expected[] = {
        {IDEAL_EMPTY, 0, 0, 0x0}, {0, 0, 0, 0x1}, {1, 0, 0, 0x3}, {2, 0, 0, 0x7},
        {3, 0, 0, 0xf},           {3, 1, 0, 0x8}, {3, 1, 1, 0x9}, {3, 1, 2, 0xb},
    };
    struct ideals *it = ideals_new(&s.p, &(struct ideals_options){0});
    struct ideal ideal;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        uint64_t set;
        assert_true(ideals_next(it, &ideal));
        assert_int_equal(ideal.last, expected[i].last);
        assert_int_equal(ideal.level, expected[i].level);
        if (ideal.level == 1)
            assert_int_equal(ideal.lost[0], expected[i].lost);
        ideal_survivors(&s.p, &ideal, &set);
        assert_int_equal(set, expected[i].survivors);
    }
    assert_false(ideals_next(it, &ideal));
    ideals_free(it);
    sample_free(&s);
}

static struct ideals_total total_of(const struct poset *p, uint64_t effort)
{
    struct ideals *it = ideals_new(p, &(struct ideals_options){0});
    struct ideals_total total = ideals_count(it, effort);
    ideals_free(it);
    return total;
}

static void assert_total(struct sample *s, uint64_t count)
{
    struct ideals_total total = total_of(&s->p, IDEALS_COUNT_EFFORT);
    assert_int_equal(total.known, IDEALS_EXACT);
    assert_int_equal(total.count, count);
    sample_free(s);
}

static void sample_chains(struct sample *s, size_t chains, size_t length)
{
    sample_begin(s, chains * length);
    for (size_t i = chains; i < chains * length; i++)
        sample_before(s, i - chains, i);
    sample_end(s);
}

static void sample_grid(struct sample *s, size_t rows, size_t columns)
{
    sample_begin(s, rows * columns);
    for (size_t i = 0; i < rows * columns; i++) {
        if (i % columns)
            sample_before(s, i - 1, i);
        if (i >= columns)
            sample_before(s, i - columns, i);
    }
    sample_end(s);
}

static void knows_counts_of_regular_orders(void **state)
{
    (void)state;
    struct sample s;
    sample_chains(&s, 1, 300);
    assert_total(&s, 301);
    sample_chains(&s, 63, 1);
    assert_total(&s, UINT64_C(1) << 63);
    sample_chains(&s, 7, 99);
    assert_total(&s, UINT64_C(100) * 100 * 100 * 100 * 100 * 100 * 100);
    sample_grid(&s, 2, 40);
    assert_total(&s, 42 * 41 / 2);
    sample_grid(&s, 5, 5);
    assert_total(&s, 252);
    sample_grid(&s, 8, 8);
    assert_total(&s, 12870);
    sample_grid(&s, 10, 12);
    assert_total(&s, 646646);
    sample_grid(&s, 20, 20); /* exact only because what was counted is kept */
    assert_total(&s, 137846528820);
}

/* A bound by chains: independent ones meet it; and numbers past 64 bits are said to be so. */
static void says_what_it_does_not_know(void **state)
{
    (void)state;
    struct sample s;
    sample_chains(&s, 3, 9);
    struct ideals_total total = total_of(&s.p, 0);
    assert_int_equal(total.known, IDEALS_AT_MOST);
    assert_int_equal(total.count, 1000);
    sample_free(&s);
    /* Three chains again, of whatever lengths; the grid has (12 over 3) ideals. */
    sample_grid(&s, 3, 9);
    total = total_of(&s.p, 0);
    assert_int_equal(total.known, IDEALS_AT_MOST);
    assert_in_range(total.count, 220, 1000);
    sample_free(&s);
    sample_chains(&s, 64, 1);
    total = total_of(&s.p, IDEALS_COUNT_EFFORT);
    assert_int_equal(total.known, IDEALS_BEYOND);
    assert_true(total.count == UINT64_MAX);
    sample_free(&s);
}

static double seconds_since(clock_t start)
{
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* Ample even under sanitizers; what it guards against takes hours. */
static const double FAST = 5;

/* A long chain, with free ops strewn between its elements. */
static void stays_lazy_on_a_large_order(void **state)
{
    (void)state;
    enum { CHAIN = 2000, FREE = 30, N = CHAIN + FREE, STEP = 60, FIRST = 10000 };
    struct sample s;
    sample_begin(&s, N);
    size_t previous = N;
    for (size_t i = 0; i < N; i++) {
        if (i % STEP == STEP / 2 && i / STEP < FREE)
            continue;
        if (previous < N)
            sample_before(&s, previous, i);
        previous = i;
    }
    sample_end(&s);

    clock_t start = clock();
    struct ideals *it = ideals_new(&s.p, &(struct ideals_options){0});
    struct ideal ideal;
    uint64_t set[(N + BITS_WORD - 1) / BITS_WORD];
    size_t memory = mallinfo2().uordblks;
    for (size_t i = 0; i < FIRST; i++) {
        assert_true(ideals_next(it, &ideal));
        assert_int_equal(ideal.level, i > N);
        ideal_survivors(&s.p, &ideal, set);
        assert_true(i % 100 || ideal_is(&s.p, set));
    }
    for (uint32_t level = FREE - 1; level <= FREE; level++) {
        ideals_seek(it, level);
        for (size_t i = 0; i < 1000 && ideals_next(it, &ideal); i++)
            assert_true(ideal.level >= level);
    }
    assert_true(mallinfo2().uordblks - memory < 2 * FREE * sizeof set);
    struct ideals_total total = ideals_count(it, IDEALS_COUNT_EFFORT);
    assert_int_equal(total.known, IDEALS_EXACT);
    assert_int_equal(total.count, (UINT64_C(1) << FREE) * (CHAIN + 1));
    assert_true(seconds_since(start) < FAST);
    ideals_free(it);
    sample_free(&s);
}

/* Layers, each op of one before each of the next: when more is lost than a layer has, there is
 * nothing, and that must not take trying all that is smaller. */
static void sees_early_that_a_level_is_empty(void **state)
{
    (void)state;
    enum { LAYERS = 5, WIDTH = 40 };
    struct sample s;
    sample_begin(&s, (size_t)LAYERS * WIDTH);
    for (size_t i = WIDTH; i < (size_t)LAYERS * WIDTH; i++)
        for (size_t j = i / WIDTH * WIDTH - WIDTH; j < i / WIDTH * WIDTH; j++)
            sample_before(&s, j, i);
    sample_end(&s);
    clock_t start = clock();
    struct ideals *it = ideals_new(&s.p, &(struct ideals_options){0});
    struct ideal ideal;
    ideals_seek(it, WIDTH - 1);
    for (size_t i = 0; i < LAYERS; i++) {
        assert_true(ideals_next(it, &ideal));
        assert_int_equal(ideal.last, i * WIDTH + WIDTH - 1);
    }
    assert_false(ideals_next(it, &ideal));
    assert_int_equal(ideals_level(it), WIDTH);
    assert_true(seconds_since(start) < FAST);
    ideals_free(it);
    sample_free(&s);
}

/* Many foreign places with an op each, then three own ops: one foreign and two own can be lost. */
static void varies_one_location_at_a_time(void **state)
{
    (void)state;
    enum { PLACES = 500, OWN = 3, N = PLACES + OWN };
    struct sample s;
    uint32_t location[N] = {0};
    uint64_t last[(N + BITS_WORD - 1) / BITS_WORD] = {0};
    sample_begin(&s, N);
    sample_end(&s);
    for (uint32_t i = 0; i < PLACES; i++)
        location[i] = i + 1;
    for (size_t i = PLACES; i < N; i++)
        bits_add(last, i);
    clock_t start = clock();
    struct ideals_options options = {.last = last, .location = location};
    struct ideals *it = ideals_new(&s.p, &options);
    struct ideal ideal;
    uint64_t n = 0;
    while (ideals_next(it, &ideal)) {
        assert_true(ideal.level <= OWN);
        n++;
    }
    assert_int_equal(n, 1 + (1 + 2 + 4) * (PLACES + 1));
    struct ideals_total total = ideals_count(it, IDEALS_COUNT_EFFORT);
    assert_int_equal(total.known, IDEALS_EXACT);
    assert_int_equal(total.count, n);
    assert_true(seconds_since(start) < FAST);
    ideals_free(it);
    options.all_locations = true;
    it = ideals_new(&s.p, &options);
    ideals_seek(it, N - 1);
    assert_true(ideals_next(it, &ideal));
    assert_int_equal(ideal.level, N - 1);
    assert_int_equal(ideals_count(it, IDEALS_COUNT_EFFORT).known, IDEALS_BEYOND);
    ideals_free(it);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_like_this),
        cmocka_unit_test(gives_each_ideal_once_cheapest_first),
        cmocka_unit_test(resumes_only_behind_what_it_gives),
        cmocka_unit_test(toggling_moves_what_must_follow),
        cmocka_unit_test(knows_counts_of_regular_orders),
        cmocka_unit_test(says_what_it_does_not_know),
        cmocka_unit_test(stays_lazy_on_a_large_order),
        cmocka_unit_test(sees_early_that_a_level_is_empty),
        cmocka_unit_test(varies_one_location_at_a_time),
    };
    return cmocka_run_group_tests_name("ideal", tests, NULL, NULL);
}
