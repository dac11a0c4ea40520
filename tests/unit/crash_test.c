/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a power failure can leave of a logged disk: what a flush covers is there, what came after
 * may be, and a flush covers only what had been answered before it came.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernel/crash.h"

enum { BLOCKS = 16 };

static struct disk *new_disk(void)
{
    struct error e;
    struct disk *d = disk_new(BLOCKS, &e);
    assert_non_null(d);
    disk_log(d);
    return d;
}

static void fill(unsigned char *block, char letter)
{
    memset(block, letter, DISK_BLOCK);
}

static uint32_t put(struct disk *d, uint32_t block, char letter)
{
    unsigned char bytes[DISK_BLOCK];
    fill(bytes, letter);
    uint32_t request = disk_write(d, (uint64_t)block * DISK_BLOCK, bytes, sizeof bytes);
    assert_int_not_equal(request, 0);
    return request;
}

static char letter_at(const struct disk *d, uint32_t block)
{
    unsigned char bytes[DISK_BLOCK];
    disk_read(d, (uint64_t)block * DISK_BLOCK, bytes, sizeof bytes);
    return (char)bytes[0];
}

/* Which sets of the log's first entries there are images of, by the flush that they come before. */
struct seen {
    bool sets[8][16]; /* [position][set of entries 0 to 3] */
};

static bool note(void *data, const struct crash_image *image)
{
    struct seen *seen = data;
    unsigned set = 0;
    for (size_t i = 0; i < image->n; i++)
        set |= 1U << image->entries[i];
    seen->sets[image->position][set] = true;
    return true;
}

static void images(const struct disk *d, struct seen *seen)
{
    enum { MANY = 100 };
    struct chance chance = chance_new(1);
    memset(seen, 0, sizeof *seen);
    assert_true(crash_images(d, disk_logged(d), MANY, &chance, note, seen));
}

/* Entries: 0 write a, 1 flush, 2 write b. */
static void test_what_was_flushed_stays(void **state)
{
    (void)state;
    struct disk *d = new_disk();
    struct seen seen;
    disk_answer(d, put(d, 1, 'a'), 1);
    disk_flush(d, 2);
    disk_answer(d, put(d, 2, 'b'), 3);
    images(d, &seen);
    assert_true(seen.sets[1][0] && seen.sets[1][1]);     /* before the flush: a or not */
    assert_true(seen.sets[3][1] && seen.sets[3][1 | 4]); /* after it: a, with or without b */
    assert_false(seen.sets[3][0] || seen.sets[3][4]);
    disk_free(d);
}

/* Entries: 0 write a, 1 flush that came before a was answered, 2 write b. */
static void test_a_flush_beside_a_write_says_nothing_of_it(void **state)
{
    (void)state;
    struct disk *d = new_disk();
    struct seen seen;
    uint32_t a = put(d, 1, 'a');
    disk_flush(d, 1);
    disk_answer(d, a, 1);
    disk_answer(d, put(d, 2, 'b'), 2);
    images(d, &seen);
    assert_true(seen.sets[3][0] && seen.sets[3][1] && seen.sets[3][4] && seen.sets[3][1 | 4]);
    disk_free(d);
}

static void test_an_image_is_undone(void **state)
{
    (void)state;
    struct disk *d = new_disk();
    put(d, 1, 'a');
    put(d, 1, 'b');
    const uint32_t both[] = {0, 1};
    disk_image(d, both, 1);
    assert_int_equal(letter_at(d, 1), 'a');
    disk_image_end(d);
    assert_int_equal(letter_at(d, 1), DISK_PATTERN);
    disk_image(d, both, 2);
    put(d, 1, 'c'); /* by the file system that was mounted */
    put(d, 3, 'c');
    assert_int_equal(letter_at(d, 1), 'c');
    disk_image_end(d);
    assert_int_equal(letter_at(d, 1), DISK_PATTERN);
    assert_int_equal(letter_at(d, 3), DISK_PATTERN);
    disk_image(d, both, 2);
    assert_int_equal(letter_at(d, 1), 'b'); /* the log is as it was */
    assert_int_equal(disk_logged(d), 2);
    disk_free(d);
}

/* Writes a burst each time that it is asked. */
struct writer {
    struct disk *disk;
    atomic_uint asked, done;
};

enum { ROUNDS = 20000, BURST = 2 * BLOCKS };

static void *write_bursts(void *data)
{
    struct writer *w = data;
    for (unsigned round = 1; round <= ROUNDS; round++) {
        while (atomic_load(&w->asked) < round)
            sched_yield();
        for (uint32_t n = 0; n < BURST; n++)
            put(w->disk, n % BLOCKS, (char)('A' + n));
        atomic_store(&w->done, round);
    }
    return NULL;
}

/* The moment at which a log begins is between two writes: with all of the log, the image is what
 * the disk holds. */
static void test_a_log_begins_between_writes(void **state)
{
    (void)state;
    struct disk *d = new_disk();
    struct writer w = {.disk = d};
    uint32_t all[BURST];
    pthread_t thread;
    for (uint32_t i = 0; i < BURST; i++)
        all[i] = i;
    disk_keep(d);
    assert_int_equal(pthread_create(&thread, NULL, write_bursts, &w), 0);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        disk_back(d);
        atomic_store(&w.asked, round);
        while (!disk_logged(d))
            continue;
        disk_log(d);
        while (atomic_load(&w.done) < round)
            sched_yield();
        assert_true(disk_logged(d) < BURST);
        disk_image(d, all, disk_logged(d));
        for (uint32_t i = 0; i < BLOCKS; i++)
            assert_int_equal(letter_at(d, i), 'A' + BLOCKS + i);
        disk_image_end(d);
    }
    pthread_join(thread, NULL);
    disk_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_flushed_stays),
        cmocka_unit_test(test_a_flush_beside_a_write_says_nothing_of_it),
        cmocka_unit_test(test_an_image_is_undone),
        cmocka_unit_test(test_a_log_begins_between_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
