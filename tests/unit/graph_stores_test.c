/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stores beside system calls: one file that is mapped and written, what syncs and msync() make
 * durable, which model a file is under, and pretended flushes. What the models say of stores alone
 * is held against a machine by stores_simulator_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "engine/graph.h"

enum { MOST = 16, FIRST = 2, SECOND = 3, BLOCKS = 4 };

struct run {
    struct event events[MOST];
    uint64_t n;
    uint64_t length; /* of both files, before the run */
    struct fix fix;
    size_t fixes;
    struct graph *g;
};

static bool run_event(void *data, uint64_t number, struct event *out, struct error *e)
{
    (void)e;
    *out = ((struct run *)data)->events[number - 1];
    return true;
}

static uint64_t run_length(void *data, uint32_t file)
{
    return file >= FIRST ? ((struct run *)data)->length : 0;
}

static bool run_block(void *data, uint32_t file, uint64_t block)
{
    return file >= FIRST && block * OP_BLOCK_SIZE < ((struct run *)data)->length;
}

static struct event *add(struct run *r, uint16_t call, uint32_t file, uint64_t offset,
                         uint64_t size)
{
    struct event *e = &r->events[r->n++];
    *e = (struct event){.entry = 4 * r->n,
                        .exit = 4 * r->n + 2,
                        .call = call,
                        .file = file,
                        .offset = offset,
                        .size = size,
                        .thread = 1,
                        .payload = r->n};
    return e;
}

static void store(struct run *r, uint32_t file, uint64_t offset)
{
    add(r, CALL_STORE, file, offset, 8);
}

static void build(struct run *r, const char *text)
{
    struct graph_source source = {r,         r->n,    run_event, run_length,
                                  run_block, &r->fix, r->fixes,  NULL};
    struct model model;
    struct error e;
    assert_true(model_find(text, &model, &e));
    assert_true(graph_build(&r->g, &model, &source, &e));
}

static bool durable_by(const struct run *r, uint32_t op, uint64_t event)
{
    return r->g->durable[op] <= r->events[event - 1].exit;
}

static struct run begin(void)
{
    return (struct run){.length = BLOCKS * OP_BLOCK_SIZE};
}

static void stores_and_writes_keep_the_order_of_their_place(void **state)
{
    static const char *const models[] = {"ext4 stores=px86", "xfs stores=px86",
                                         "btrfs stores=pagecache", "posix stores=pagecache"};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct run r = begin();
        store(&r, FIRST, 0);
        add(&r, CALL_WRITE, FIRST, 32, 16);
        store(&r, FIRST, 8);
        build(&r, models[i]);
        assert_int_equal(r.g->n, 3);
        assert_int_equal(r.g->ops[1].kind, OP_DATA);
        assert_true(graph_before(r.g, 0, 1));
        assert_true(graph_before(r.g, 1, 2));
        graph_free(r.g);
    }
}

static void lines_and_pages_apart_are_free(void **state)
{
    (void)state;
    for (int pages = 0; pages < 2; pages++) {
        struct run r = begin();
        store(&r, FIRST, 0);
        store(&r, FIRST, 64);
        store(&r, FIRST, OP_BLOCK_SIZE);
        store(&r, SECOND, 0);
        build(&r, pages ? "ext4 stores=pagecache" : "ext4 stores=px86");
        assert_int_equal(graph_before(r.g, 0, 1), pages);
        assert_false(graph_before(r.g, 0, 2));
        assert_false(graph_before(r.g, 0, 3));
        graph_free(r.g);
    }
}

static void strict_orders_calls_not_stores(void **state)
{
    struct run r = begin();
    (void)state;
    add(&r, CALL_WRITE, FIRST, 0, 8);
    store(&r, SECOND, 0);
    add(&r, CALL_WRITE, FIRST, OP_BLOCK_SIZE, 8);
    add(&r, CALL_FSYNC, FIRST, 0, 0);
    build(&r, "strict stores=px86");
    assert_true(graph_before(r.g, 0, 2));
    assert_false(graph_before(r.g, 1, 2));
    assert_true(durable_by(&r, 0, 4));
    assert_false(durable_by(&r, 1, 4));
    graph_free(r.g);
}

static void syncs_take_stores_along(void **state)
{
    static const uint16_t calls[] = {CALL_FSYNC, CALL_FDATASYNC, CALL_SYNC, CALL_SYNCFS};
    static const char *const stores[] = {"ext4 stores=px86", "ext4 stores=pagecache",
                                         "posix stores=pagecache", "btrfs stores=px86"};
    (void)state;
    for (size_t i = 0; i < 16; i++) {
        bool all = calls[i % 4] == CALL_SYNC || calls[i % 4] == CALL_SYNCFS;
        struct run r = begin();
        store(&r, FIRST, 0);
        store(&r, SECOND, 0);
        add(&r, calls[i % 4], all ? 0 : FIRST, 0, 0);
        store(&r, FIRST, 0);
        build(&r, stores[i / 4]);
        assert_true(durable_by(&r, 0, 3));
        assert_int_equal(durable_by(&r, 1, 3), all);
        assert_false(durable_by(&r, 2, 4));
        graph_free(r.g);
    }
}

static void msync_is_of_its_pages(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        bool sync = i & 1, lines = i & 2, later = i & 4;
        struct run r = begin();
        store(&r, FIRST, 100);
        store(&r, FIRST, OP_BLOCK_SIZE);
        add(&r, CALL_WRITE, FIRST, OP_BLOCK_SIZE + 512, 8);
        add(&r, CALL_MSYNC, FIRST, later ? OP_BLOCK_SIZE : 0, 1)->flags = sync ? MS_SYNC : MS_ASYNC;
        build(&r, lines ? "ext4 stores=px86" : "ext4 stores=pagecache");
        assert_int_equal(durable_by(&r, 0, 4), sync && !later);
        assert_int_equal(durable_by(&r, 1, 4), sync && later);
        assert_int_equal(durable_by(&r, 2, 4), sync && later);
        graph_free(r.g);
    }
}

/* What is mapped has its length by ftruncate(); msync() is fdatasync() of a part. */
static void msync_takes_the_length_along(void **state)
{
    static const char *const models[] = {"ext4", "xfs", "btrfs", "posix"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct run r = begin();
        add(&r, CALL_TRUNCATE, FIRST, 0, 8 * OP_BLOCK_SIZE);
        store(&r, FIRST, 5 * OP_BLOCK_SIZE);
        add(&r, CALL_MSYNC, FIRST, 5 * OP_BLOCK_SIZE, OP_BLOCK_SIZE)->flags = MS_SYNC;
        build(&r, models[i]);
        assert_int_equal(r.g->ops[0].kind, OP_SIZE);
        assert_true(durable_by(&r, 0, 3));
        assert_true(durable_by(&r, 1, 3));
        graph_free(r.g);
    }
}

static void nothing_is_stored_behind_the_end(void **state)
{
    struct run r = begin();
    (void)state;
    r.length = 100;
    store(&r, FIRST, 96);
    store(&r, FIRST, 200);
    build(&r, "ext4 stores=px86");
    assert_int_equal(r.g->n, 1);
    assert_int_equal(r.g->ops[0].length, 4);
    graph_free(r.g);
}

static unsigned chosen(struct run *r)
{
    build(r, "ext4");
    unsigned stores = r->g->stores;
    graph_free(r->g);
    return stores;
}

static void auto_goes_by_what_the_program_does(void **state)
{
    (void)state;
    struct run r = begin();
    store(&r, FIRST, 0);
    store(&r, SECOND, 0);
    assert_int_equal(chosen(&r), 1U << STORES_PAGECACHE);
    add(&r, CALL_FLUSH, FIRST, 0, CACHE_LINE)->flags = FLUSH_CLWB;
    assert_int_equal(chosen(&r), 1U << STORES_PAGECACHE | 1U << STORES_PX86);
    struct event *map = add(&r, CALL_MMAP, SECOND, 0, OP_BLOCK_SIZE);
    map->flags = MAP_SHARED_VALIDATE | MAP_SYNC;
    assert_int_equal(chosen(&r), 1U << STORES_PX86);
    map->flags = MAP_SHARED;
    assert_int_equal(chosen(&r), 1U << STORES_PAGECACHE | 1U << STORES_PX86);
}

static void a_pretended_flush_is_of_one_store(void **state)
{
    (void)state;
    for (size_t fixes = 0; fixes < 2; fixes++) {
        struct run r = begin();
        store(&r, FIRST, 0);
        store(&r, FIRST, 64);
        store(&r, FIRST, 128);
        r.fix = (struct fix){.after = 2, .file = FIRST, .call = CALL_FLUSH, .store = 1};
        r.fixes = fixes;
        build(&r, "ext4 stores=px86");
        assert_int_equal(graph_before(r.g, 0, 2), fixes);
        assert_false(graph_before(r.g, 0, 1));
        assert_false(graph_before(r.g, 1, 2));
        graph_free(r.g);
    }
}

static void models_of_stores_have_names(void **state)
{
    struct model model;
    struct error e;
    (void)state;
    assert_true(model_find("xfs stores=eadr stable_pages=no", &model, &e));
    assert_int_equal(model.stores, STORES_EADR);
    assert_true(model.pages_change);
    assert_true(model_is(&model, "xfs stable_pages=no stores=eadr"));
    assert_false(model_find("xfs stores=pmem", &model, &e));
    assert_non_null(strstr(e.text, "pagecache"));
    assert_false(model_find("xfs stores", &model, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_and_writes_keep_the_order_of_their_place),
        cmocka_unit_test(lines_and_pages_apart_are_free),
        cmocka_unit_test(strict_orders_calls_not_stores),
        cmocka_unit_test(syncs_take_stores_along),
        cmocka_unit_test(msync_is_of_its_pages),
        cmocka_unit_test(msync_takes_the_length_along),
        cmocka_unit_test(nothing_is_stored_behind_the_end),
        cmocka_unit_test(auto_goes_by_what_the_program_does),
        cmocka_unit_test(a_pretended_flush_is_of_one_store),
        cmocka_unit_test(models_of_stores_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
