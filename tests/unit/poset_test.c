/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Small orders: what must follow, and the fewest chains, against trying all.
 */
#include "tests/unit/poset_sample.h"

enum { CASES = 5000, SIZE = 10 };

static bool related(const struct poset *p, size_t a, size_t b)
{
    return bits_has(poset_below(p, a), b) || bits_has(poset_below(p, b), a);
}

static size_t largest_antichain(const struct poset *p)
{
    size_t largest = 0;
    for (uint64_t set = 0; set < UINT64_C(1) << p->n; set++) {
        bool antichain = true;
        for (size_t i = 0; i < p->n; i++)
            antichain = antichain && !(set >> i & 1 && poset_below(p, i)[0] & set);
        size_t n = bits_count(&set, 1);
        if (antichain && n > largest)
            largest = n;
    }
    return largest;
}

static void above_mirrors_below(void **state)
{
    (void)state;
    srand(1);
    for (int c = 0; c < CASES; c++) {
        struct sample s;
        sample_random(&s, (size_t)rand() % 200 / (c % 20 ? 20 : 1));
        for (size_t i = 0; i < s.p.n; i++)
            for (size_t j = 0; j < s.p.n; j++)
                assert_int_equal(bits_has(poset_below(&s.p, i), j),
                                 bits_has(poset_above(&s.p, j), i));
        sample_free(&s);
    }
}

static void closes_sets(void **state)
{
    (void)state;
    srand(2);
    for (int c = 0; c < CASES; c++) {
        struct sample s;
        sample_random(&s, 1 + (size_t)rand() % SIZE);
        uint64_t set = (uint64_t)rand() & ((1U << s.p.n) - 1), up = set, down = set;
        poset_close_up(&s.p, &up);
        poset_close_down(&s.p, &down);
        for (size_t i = 0; i < s.p.n; i++) {
            assert_int_equal(up >> i & 1, (set >> i & 1) || (poset_below(&s.p, i)[0] & set));
            assert_int_equal(down >> i & 1, (set >> i & 1) || (poset_above(&s.p, i)[0] & set));
        }
        sample_free(&s);
    }
}

static void splits_into_as_few_chains_as_possible(void **state)
{
    (void)state;
    srand(3);
    for (int c = 0; c < CASES; c++) {
        struct sample s;
        uint32_t chain[SIZE];
        sample_random(&s, (size_t)rand() % (SIZE + 1));
        size_t chains = poset_chains(&s.p, chain);
        assert_int_equal(chains, largest_antichain(&s.p));
        for (size_t i = 0; i < s.p.n; i++) {
            assert_true(chain[i] < chains);
            for (size_t j = 0; j < i; j++)
                assert_true(chain[i] != chain[j] || related(&s.p, i, j));
        }
        sample_free(&s);
    }
}

/* Numbers across word boundaries: the sets of bits.h themselves. */
static void finds_numbers_in_sets(void **state)
{
    (void)state;
    enum { WORDS = 3 };
    for (size_t n = 0; n <= WORDS * BITS_WORD; n++) {
        uint64_t set[WORDS];
        bits_first(set, WORDS, n);
        assert_int_equal(bits_count(set, WORDS), n);
        assert_int_equal(bits_next(set, WORDS, n), WORDS * BITS_WORD);
        size_t met = 0;
        for (size_t i = 0; bits_find(set, WORDS, &i); i++) {
            assert_int_equal(i, met++);
            bits_remove(set, i);
        }
        assert_int_equal(met, n);
        assert_int_equal(bits_count(set, WORDS), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_numbers_in_sets),
        cmocka_unit_test(above_mirrors_below),
        cmocka_unit_test(closes_sets),
        cmocka_unit_test(splits_into_as_few_chains_as_possible),
    };
    return cmocka_run_group_tests_name("poset", tests, NULL, NULL);
}
