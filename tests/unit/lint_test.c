/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Work that a program could leave out: each kind by an example, then random small programs against
 * the definitions of engine/lint_pass.h, which are looked up event by event over the whole program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/lint_pass.h"

enum {
    EVENTS_MAX = 14,
    PROGRAMS = 60000,
    LEAST = 400, /* findings of each kind in all of them, or the test shows little */
    FILES = 2,
    THREADS = 2,
    PAGE = 4096,
    PAGES = 3,
    PLACE = 0x1000, /* where transactions add ranges */
};

/* ---- programs ---- */

struct program {
    struct event at[EVENTS_MAX + 1]; /* from 1 */
    uint64_t n;
    unsigned found[EVENTS_MAX + 1][LINT_KIND_COUNT];
};

static struct event *add(struct program *p, enum call call, uint32_t thread, uint32_t file)
{
    assert_true(p->n < EVENTS_MAX);
    struct event *e = &p->at[++p->n];
    *e = (struct event){.call = (uint16_t)call, .thread = thread, .file = file};
    e->entry = p->n * 10;
    e->exit = e->entry + 1;
    return e;
}

static struct event *range(struct event *e, uint64_t offset, uint64_t size, uint32_t flags)
{
    e->offset = offset;
    e->size = size;
    e->flags = flags;
    return e;
}

static void store(struct program *p, uint64_t offset, uint64_t size, uint32_t flags)
{
    range(add(p, CALL_STORE, 1, 2), offset, size, flags);
}

static void flush(struct program *p, uint64_t offset, uint32_t kind)
{
    range(add(p, CALL_FLUSH, 1, 2), offset, CACHE_LINE, kind);
}

static void fence(struct program *p)
{
    add(p, CALL_FENCE, 1, 0)->flags = FENCE_SFENCE;
}

static void mark(struct program *p, uint32_t what, uint64_t from, uint64_t size)
{
    struct event *e = add(p, CALL_MARKER, 1, 0);
    e->flags = what;
    e->address = from ? PLACE + from : 0;
    e->other_offset = size;
}

static void note(void *data, enum lint_kind kind, uint64_t event)
{
    struct program *p = data;
    assert_in_range(event, 1, p->n);
    p->found[event][kind]++;
}

static enum lint_stores run(struct program *p, enum lint_stores stores, bool has_stores)
{
    struct lint_pass *pass = lint_pass_new(stores, has_stores, note, p);
    for (uint64_t i = 1; i <= p->n; i++)
        lint_pass_take(pass, i, &p->at[i]);
    stores = lint_pass_end(pass);
    lint_pass_free(pass);
    return stores;
}

/* What was found is this, in pairs of an event and a kind, ended by 0; and nothing else. */
static void expect(const struct program *p, const int *pairs)
{
    unsigned all = 0, expected = 0;
    for (uint64_t i = 1; i <= p->n; i++)
        for (int k = 0; k < LINT_KIND_COUNT; k++)
            all += p->found[i][k];
    for (; *pairs; pairs += 2, expected++)
        assert_int_equal(p->found[pairs[0]][pairs[1]], 1);
    assert_int_equal(all, expected);
}

#define EXPECT(p, ...)    expect(p, (const int[]){__VA_ARGS__, 0})
#define EXPECT_NOTHING(p) expect(p, (const int[]){0})

/* ---- examples ---- */

static void a_line_is_flushed_once(void **state)
{
    (void)state;
    struct program p = {0};
    store(&p, 0, 8, 0);
    flush(&p, 0, FLUSH_CLWB);
    flush(&p, 0, FLUSH_CLWB); /* 3: no fence yet */
    fence(&p);
    flush(&p, 0, FLUSH_CLWB); /* 5: it is clean by now */
    fence(&p);                /* 6: and so this orders nothing */
    flush(&p, 64, FLUSH_CLWB);
    assert_int_equal(run(&p, LINT_AUTO, true), LINT_PX86);
    EXPECT(&p, 3, LINT_FLUSH_TWICE, 5, LINT_FLUSH_CLEAN, 6, LINT_FENCE_NOTHING, 7,
           LINT_FLUSH_CLEAN);
}

static void what_is_needed_is_no_finding(void **state)
{
    (void)state;
    struct program p = {0};
    store(&p, 0, 8, 0);
    flush(&p, 0, FLUSH_CLFLUSHOPT);
    fence(&p);
    store(&p, 8, 8, STORE_NT);
    fence(&p);
    store(&p, 16, 8, 0);
    flush(&p, 0, FLUSH_CLFLUSH);
    fence(&p);
    run(&p, LINT_AUTO, true);
    EXPECT_NOTHING(&p);
}

/* A flush of the other thread may still be under way. */
static void threads_may_flush_for_each_other(void **state)
{
    (void)state;
    struct program p = {0};
    store(&p, 0, 8, 0);
    flush(&p, 0, FLUSH_CLWB);
    range(add(&p, CALL_FLUSH, 2, 2), 0, CACHE_LINE, FLUSH_CLWB);
    add(&p, CALL_FENCE, 2, 0)->flags = FENCE_SFENCE;
    run(&p, LINT_PX86, true);
    EXPECT_NOTHING(&p);
}

static void stores_without_a_fence_are_not_durable(void **state)
{
    (void)state;
    struct program p = {0};
    store(&p, 60, 8, 0);         /* 1: two lines, of which one is flushed */
    store(&p, 128, 8, 0);        /* 2: flushed, no fence */
    store(&p, 192, 8, STORE_NT); /* 3: likewise */
    store(&p, 0, 8, 0);
    flush(&p, 0, FLUSH_CLFLUSH);
    flush(&p, 128, FLUSH_CLWB);
    run(&p, LINT_AUTO, true);
    EXPECT(&p, 1, LINT_NEVER_DURABLE, 2, LINT_NEVER_DURABLE, 3, LINT_NEVER_DURABLE);
}

static void models_differ(void **state)
{
    (void)state;
    struct program p = {0}, q;
    store(&p, 0, 8, 0);
    flush(&p, 0, FLUSH_CLWB);
    fence(&p);
    q = p;
    assert_int_equal(run(&q, LINT_PAGECACHE, true), LINT_PAGECACHE);
    EXPECT(&q, 1, LINT_NEVER_DURABLE, 2, LINT_FLUSH_USELESS);
    q = p;
    assert_int_equal(run(&q, LINT_EADR, true), LINT_EADR);
    EXPECT(&q, 2, LINT_FLUSH_USELESS);

    /* A program that never flushes keeps its data in an ordinary file, unless it asked for more. */
    struct program r = {0};
    store(&r, 0, 8, 0);
    q = r;
    assert_int_equal(run(&q, LINT_AUTO, true), LINT_PAGECACHE);
    EXPECT(&q, 1, LINT_NEVER_DURABLE);
    range(add(&r, CALL_MMAP, 1, 2), 0, PAGE, MAP_SHARED_VALIDATE | MAP_SYNC);
    assert_int_equal(run(&r, LINT_AUTO, true), LINT_PX86);
}

static void syncs_want_something_to_sync(void **state)
{
    (void)state;
    struct program p = {0};
    range(add(&p, CALL_WRITE, 1, 2), 0, 10, 0);
    add(&p, CALL_FSYNC, 1, 3); /* 2: another file */
    add(&p, CALL_FSYNC, 1, 2);
    add(&p, CALL_FDATASYNC, 1, 2); /* 4 */
    range(add(&p, CALL_WRITE, 1, 2), 0, 10, 0)->traits = EVENT_DSYNC;
    add(&p, CALL_SYNC, 1, 0); /* 6 */
    struct event *rename = add(&p, CALL_RENAME, 1, 2);
    rename->dir = rename->other_dir = FILE_ROOT;
    add(&p, CALL_FSYNC, 1, FILE_ROOT);
    add(&p, CALL_FSYNC, 1, 2);
    add(&p, CALL_SYNCFS, 1, 0); /* 10 */
    run(&p, LINT_AUTO, false);
    EXPECT(&p, 2, LINT_SYNC_CLEAN, 4, LINT_SYNC_CLEAN, 6, LINT_SYNC_CLEAN, 10, LINT_SYNC_CLEAN);
}

static void msync_goes_by_pages(void **state)
{
    (void)state;
    struct program p = {0};
    store(&p, PAGE - 4, 8, 0);
    range(add(&p, CALL_MSYNC, 1, 2), 0, PAGE, MS_SYNC);
    range(add(&p, CALL_MSYNC, 1, 2), 0, PAGE, MS_SYNC);  /* 3 */
    range(add(&p, CALL_MSYNC, 1, 2), 0, PAGE, MS_ASYNC); /* is none */
    range(add(&p, CALL_MSYNC, 1, 2), PAGE, PAGE, MS_SYNC);
    add(&p, CALL_TRUNCATE, 1, 2);
    range(add(&p, CALL_MSYNC, 1, 2), 0, PAGE, MS_SYNC);
    run(&p, LINT_AUTO, true);
    EXPECT(&p, 3, LINT_SYNC_CLEAN);
}

/* A write that had not returned when the sync began is not covered by it. */
static void what_runs_at_the_same_time_is_not_synced(void **state)
{
    (void)state;
    struct program p = {0};
    struct event *w = range(add(&p, CALL_WRITE, 1, 2), 0, 10, 0);
    add(&p, CALL_FSYNC, 2, 2);
    add(&p, CALL_FSYNC, 2, 2);
    w->exit = p.at[2].entry + 5;
    add(&p, CALL_FSYNC, 2, 2); /* 4 */
    run(&p, LINT_AUTO, true);
    EXPECT(&p, 4, LINT_SYNC_CLEAN);
}

/* Stores that are not in the trace may have changed what is mapped. */
static void unseen_stores_count(void **state)
{
    (void)state;
    struct program p = {0};
    range(add(&p, CALL_MMAP, 1, 2), 0, PAGE, MAP_SHARED)->traits = EVENT_WRITABLE;
    add(&p, CALL_FSYNC, 1, 2);
    range(add(&p, CALL_MSYNC, 1, 2), 0, PAGE, MS_SYNC);
    add(&p, CALL_SYNC, 1, 0);
    struct program q = p;
    run(&p, LINT_AUTO, false);
    EXPECT_NOTHING(&p);
    run(&q, LINT_AUTO, true);
    EXPECT(&q, 2, LINT_SYNC_CLEAN, 3, LINT_SYNC_CLEAN, 4, LINT_SYNC_CLEAN);
}

static void ranges_are_added_once(void **state)
{
    (void)state;
    struct program p = {0};
    mark(&p, MARK_TX_BEGIN, 0, 0);
    mark(&p, MARK_TX_ADD, 8, 8);
    mark(&p, MARK_TX_ADD, 16, 8);
    mark(&p, MARK_TX_BEGIN, 0, 0);
    mark(&p, MARK_TX_ADD, 12, 8); /* 5: partly the one, partly the other */
    mark(&p, MARK_TX_END, 0, 0);  /* of the inner one */
    mark(&p, MARK_TX_ADD, 20, 8); /* new in part */
    mark(&p, MARK_TX_REMOVE, 8, 4);
    mark(&p, MARK_TX_ADD, 8, 8);
    mark(&p, MARK_TX_END, 0, 0);
    mark(&p, MARK_TX_ADD, 8, 8); /* outside */
    mark(&p, MARK_TX_BEGIN, 0, 0);
    mark(&p, MARK_TX_ADD, 8, 8);
    run(&p, LINT_AUTO, true);
    EXPECT(&p, 5, LINT_ADDED_TWICE);
}

static void failed_calls_do_nothing(void **state)
{
    (void)state;
    struct program p = {0};
    range(add(&p, CALL_WRITE, 1, 2), 0, 10, 0)->traits = EVENT_FAILED;
    add(&p, CALL_FSYNC, 1, 2); /* 2 */
    add(&p, CALL_FSYNC, 1, 2)->traits = EVENT_FAILED;
    run(&p, LINT_AUTO, true);
    EXPECT(&p, 2, LINT_SYNC_CLEAN);
}

/* A session may say anything. */
static void impossible_numbers_do_no_harm(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {
        0, 1, 63, UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 2 + 1, UINT64_MAX - PAGE};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    for (int call = 0; call <= CALL_COUNT; call++)
        for (int i = 0; i < NUMBERS * NUMBERS; i++) {
            struct program p = {0};
            mark(&p, MARK_TX_BEGIN, 0, 0);
            for (uint32_t flags = 0; flags < 8; flags++) {
                struct event *e = add(&p, (enum call)call, UINT32_MAX, UINT32_MAX);
                range(e, numbers[i % NUMBERS], numbers[i / NUMBERS], flags);
                e->address = e->offset;
                e->other_offset = e->size;
            }
            run(&p, LINT_AUTO, true);
        }
}

/* ---- the definitions ---- */

static bool is_fence(const struct event *e, uint32_t thread)
{
    return e->thread == thread &&
           (e->call == CALL_FENCE || (e->call == CALL_STORE && (e->flags & STORE_LOCKED)));
}

static bool is_store(const struct event *e)
{
    return e->call == CALL_STORE && e->size > 0;
}

static bool touches(const struct event *e, uint32_t file, uint64_t from, uint64_t size)
{
    return e->file == file && e->size > 0 && e->offset < from + size && from < e->offset + e->size;
}

static bool covers_all(const struct event *e, uint32_t file)
{
    return e->call == CALL_SYNC || e->call == CALL_SYNCFS ||
           ((e->call == CALL_FSYNC || e->call == CALL_FDATASYNC) && e->file == file);
}

static bool is_msync(const struct event *e, uint32_t file)
{
    return e->call == CALL_MSYNC && (e->flags & MS_SYNC) && e->file == file;
}

/* Whether a byte is synced by an event between two others. */
static bool synced(const struct program *p, uint64_t after, uint64_t before, uint32_t file,
                   uint64_t byte)
{
    for (uint64_t i = after + 1; i < before; i++)
        if (covers_all(&p->at[i], file) ||
            (is_msync(&p->at[i], file) && touches(&p->at[i], file, byte, 1)))
            return true;
    return false;
}

static bool done(const struct program *p, uint64_t flushed, uint64_t before)
{
    const struct event *f = &p->at[flushed];
    bool is = f->flags == FLUSH_CLFLUSH;
    for (uint64_t i = flushed + 1; i < before; i++)
        is |= is_fence(&p->at[i], f->thread);
    return is;
}

static bool line_durable(const struct program *p, uint64_t stored, uint64_t line)
{
    for (uint64_t i = stored + 1; i <= p->n; i++)
        if (p->at[i].call == CALL_FLUSH && p->at[i].file == p->at[stored].file &&
            p->at[i].offset == line * CACHE_LINE && done(p, i, p->n + 1))
            return true;
    return false;
}

static bool never_durable(const struct program *p, uint64_t n, bool flushes)
{
    const struct event *e = &p->at[n];
    bool by_sync = true, by_flush = flushes;
    if (!is_store(e) || (e->flags & STORE_KERNEL))
        return false;
    for (uint64_t byte = e->offset; byte < e->offset + e->size; byte++) {
        by_sync = by_sync && synced(p, n, p->n + 1, e->file, byte);
        by_flush = by_flush && ((e->flags & STORE_NT) || line_durable(p, n, byte / CACHE_LINE));
    }
    if (flushes && (e->flags & STORE_NT)) {
        by_flush = false;
        for (uint64_t i = n + 1; i <= p->n; i++)
            by_flush |= is_fence(&p->at[i], e->thread);
    }
    return !by_sync && !by_flush;
}

/* LINT_KIND_COUNT when the flush has something to do. */
static enum lint_kind flush_finding(const struct program *p, uint64_t n)
{
    const struct event *e = &p->at[n];
    uint64_t last = 0;
    for (uint64_t i = 1; i < n; i++)
        if (p->at[i].call == CALL_FLUSH && p->at[i].file == e->file && p->at[i].offset == e->offset)
            last = i;
    for (uint64_t i = last + 1; i < n; i++)
        if (is_store(&p->at[i]) && !(p->at[i].flags & STORE_NT) &&
            touches(&p->at[i], e->file, e->offset, CACHE_LINE))
            return LINT_KIND_COUNT;
    if (!last || done(p, last, n))
        return LINT_FLUSH_CLEAN;
    return p->at[last].thread == e->thread ? LINT_FLUSH_TWICE : LINT_KIND_COUNT;
}

static bool fence_orders(const struct program *p, uint64_t n)
{
    uint32_t thread = p->at[n].thread;
    for (uint64_t i = n - 1; i >= 1 && !is_fence(&p->at[i], thread); i--) {
        const struct event *e = &p->at[i];
        if (e->thread != thread)
            continue;
        if ((is_store(e) && (e->flags & STORE_NT)) ||
            (e->call == CALL_FLUSH && flush_finding(p, i) == LINT_KIND_COUNT))
            return true;
    }
    /* A locked store is a fence first. */
    return false;
}

/* Whether a change made by event c is still to be synced when event n begins to sync. */
static bool pending(const struct program *p, uint64_t c, uint64_t n)
{
    const struct event *e = &p->at[c], *s = &p->at[n];
    bool pages = e->call == CALL_STORE || e->call == CALL_WRITE;
    bool msync = s->call == CALL_MSYNC;
    if (!msync && !covers_all(s, e->file))
        return false;
    if (msync && e->file != s->file)
        return false;
    if (pages) {
        uint64_t first = e->offset / PAGE, last = (e->offset + e->size - 1) / PAGE;
        for (uint64_t page = first; e->size && page <= last; page++)
            if (!synced(p, c, n, e->file, page * PAGE) &&
                (!msync || touches(s, e->file, page * PAGE, PAGE)))
                return true;
        return false;
    }
    if (e->call != CALL_TRUNCATE && (e->call != CALL_CHMOD || msync))
        return false;
    for (uint64_t i = c + 1; i < n; i++)
        if (covers_all(&p->at[i], e->file) ||
            (e->call == CALL_TRUNCATE && is_msync(&p->at[i], e->file)))
            return false;
    return true;
}

static bool sync_clean(const struct program *p, uint64_t n)
{
    for (uint64_t c = 1; c < n; c++)
        if (pending(p, c, n))
            return false;
    return true;
}

static bool added_twice(const struct program *p, uint64_t n)
{
    const struct event *e = &p->at[n];
    bool in[PAGE] = {false};
    int depth = 0;
    for (uint64_t i = 1; i < n; i++) {
        const struct event *m = &p->at[i];
        if (m->call != CALL_MARKER || m->thread != e->thread)
            continue;
        depth += m->flags == MARK_TX_BEGIN;
        if (m->flags == MARK_TX_END && depth > 0 && --depth == 0)
            memset(in, 0, sizeof in);
        if ((m->flags == MARK_TX_ADD && depth > 0) || m->flags == MARK_TX_REMOVE)
            for (uint64_t b = 0; b < m->other_offset; b++)
                in[m->address - PLACE + b] = m->flags == MARK_TX_ADD;
    }
    for (uint64_t b = 0; b < e->other_offset; b++)
        if (!in[e->address - PLACE + b])
            return false;
    return depth > 0;
}

static bool defined(const struct program *p, uint64_t n, enum lint_kind kind, bool flushes)
{
    const struct event *e = &p->at[n];
    switch (kind) {
    case LINT_FLUSH_CLEAN:
    case LINT_FLUSH_TWICE:
        return e->call == CALL_FLUSH && flush_finding(p, n) == kind;
    case LINT_FENCE_NOTHING:
        return e->call == CALL_FENCE && e->flags != FENCE_LOCKED && !fence_orders(p, n);
    case LINT_SYNC_CLEAN:
        return (is_msync(e, e->file) || covers_all(e, e->file)) && sync_clean(p, n);
    case LINT_NEVER_DURABLE:
        return never_durable(p, n, flushes);
    case LINT_ADDED_TWICE:
        return e->call == CALL_MARKER && e->flags == MARK_TX_ADD && added_twice(p, n);
    default:
        return false;
    }
}

/* ---- random programs ---- */

static uint64_t pick(uint64_t *seed, uint64_t n)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed % n;
}

static void random_store(struct program *p, struct event *e, uint64_t *seed)
{
    static const uint64_t offsets[] = {0, 8, 60, 64, PAGE - 4, PAGE};
    static const uint32_t flags[] = {0, 0, 0, STORE_NT, STORE_LOCKED, STORE_KERNEL};
    (void)p;
    range(e, offsets[pick(seed, 6)], 1 + pick(seed, 16), flags[pick(seed, 6)]);
    if (e->flags & STORE_KERNEL)
        e->size *= 300;
}

/* Programs with transactions have little else, or no range would be added twice. */
static void random_event(struct program *p, uint64_t *seed, bool transactions)
{
    static const uint64_t lines[] = {0, 64, PAGE - 64, PAGE};
    static const uint32_t marks[] = {MARK_LINE,   MARK_TX_BEGIN, MARK_TX_END, MARK_TX_REMOVE,
                                     MARK_TX_ADD, MARK_TX_ADD,   MARK_TX_ADD, MARK_TX_ADD};
    static const enum call calls[] = {CALL_STORE,    CALL_STORE, CALL_STORE, CALL_FLUSH,
                                      CALL_FLUSH,    CALL_FENCE, CALL_FENCE, CALL_MSYNC,
                                      CALL_FSYNC,    CALL_SYNC,  CALL_WRITE, CALL_MARKER,
                                      CALL_TRUNCATE, CALL_CHMOD, CALL_MARKER};
    enum call call = calls[pick(seed, sizeof calls / sizeof *calls)];
    if (transactions && pick(seed, 8))
        call = CALL_MARKER;
    struct event *e = add(p, call, 1 + (uint32_t)pick(seed, THREADS), 2);
    if (call != CALL_FENCE && call != CALL_SYNC && call != CALL_MARKER)
        e->file += (uint32_t)pick(seed, FILES);
    if (call == CALL_STORE)
        random_store(p, e, seed);
    else if (call == CALL_FLUSH)
        range(e, lines[pick(seed, 4)], CACHE_LINE, 1 + (uint32_t)pick(seed, FLUSH_CLWB));
    else if (call == CALL_FENCE)
        e->flags = 1 + (uint32_t)pick(seed, FENCE_LOCKED);
    else if (call == CALL_MSYNC)
        range(e, pick(seed, PAGES) * PAGE, (1 + pick(seed, PAGES)) * PAGE,
              pick(seed, 4) ? MS_SYNC : MS_ASYNC);
    else if (call == CALL_WRITE)
        range(e, pick(seed, PAGES * PAGE), pick(seed, PAGE), 0);
    else if (call == CALL_MARKER) {
        e->flags = marks[pick(seed, sizeof marks / sizeof *marks)];
        e->address = PLACE + pick(seed, 8);
        e->other_offset = 1 + pick(seed, 4);
    }
}

static void random_programs_as_defined(void **state)
{
    (void)state;
    uint64_t seed = 20261118, counts[LINT_KIND_COUNT] = {0};
    for (int i = 0; i < PROGRAMS; i++) {
        struct program p = {0};
        bool flushes = false;
        for (uint64_t n = 1 + pick(&seed, EVENTS_MAX); p.n < n;)
            random_event(&p, &seed, i % 2 == 0);
        for (uint64_t n = 1; n <= p.n; n++)
            flushes |= p.at[n].call == CALL_FLUSH;
        enum lint_stores stores = run(&p, LINT_AUTO, true);
        assert_int_equal(stores, flushes ? LINT_PX86 : LINT_PAGECACHE);
        for (uint64_t n = 1; n <= p.n; n++)
            for (int k = 0; k < LINT_KIND_COUNT; k++) {
                bool is = defined(&p, n, (enum lint_kind)k, flushes);
                if (p.found[n][k] != is)
                    fail_msg("program %d: event %d: %s %s", i, (int)n, lint_kind_name(k),
                             is ? "is missing" : "is too much");
                counts[k] += is;
            }
    }
    for (int k = 0; k < LINT_KIND_COUNT; k++)
        if (k != LINT_FLUSH_USELESS && counts[k] < LEAST)
            fail_msg("%s: only %d", lint_kind_name(k), (int)counts[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_flushed_once),
        cmocka_unit_test(what_is_needed_is_no_finding),
        cmocka_unit_test(threads_may_flush_for_each_other),
        cmocka_unit_test(stores_without_a_fence_are_not_durable),
        cmocka_unit_test(models_differ),
        cmocka_unit_test(syncs_want_something_to_sync),
        cmocka_unit_test(msync_goes_by_pages),
        cmocka_unit_test(what_runs_at_the_same_time_is_not_synced),
        cmocka_unit_test(unseen_stores_count),
        cmocka_unit_test(ranges_are_added_once),
        cmocka_unit_test(failed_calls_do_nothing),
        cmocka_unit_test(impossible_numbers_do_no_harm),
        cmocka_unit_test(random_programs_as_defined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
