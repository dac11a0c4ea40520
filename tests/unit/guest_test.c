/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a tracer of stores writes into its ring becomes events; and what a program may have made of
 * the ring does no harm. The tracer is played by the test: its ring lies in our own memory, which
 * the recorder reads as it reads any process's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/session.h"
#include "tracer/guest.h"
#include "tracer/stores.h"
#include "tracer/threads.h"

enum { MAP = 0x100000, MAP_SIZE = 0x3000, FILE_OFFSET = 0x5000, DATA_FILE = 2 };

struct player {
    struct stores_shared shared;
    struct thread *thread;
};

struct stage {
    char folder[64], path[128]; /* of the session */
    struct tracer t;
    struct call_table calls;
    struct record_options options;
    struct record_result result;
    uint64_t clock;
    struct player *one, *two;
};

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void say_nothing(const char *text)
{
    (void)text;
}

/* A process of our own number, so that its memory is ours; its thread has a number of its own. */
static struct player *add_player(struct stage *s, pid_t tid)
{
    struct player *p = calloc(1, sizeof *p);
    p->shared.version = STORES_VERSION;
    p->thread = thread_add(&s->t, tid);
    thread_settle(&s->t, p->thread, NULL, 0);
    p->thread->process->pid = getpid();
    p->thread->tid = getpid();
    guest_begins(&s->t, p->thread, (uintptr_t)&p->shared);
    assert_non_null(p->thread->process->guest);
    return p;
}

static int stage_setup(void **state)
{
    struct stage *s = calloc(1, sizeof *s);
    struct error e;
    strcpy(s->folder, "/tmp/flotsam-test-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->path, sizeof s->path, "%s/s.flotsam", s->folder);
    if (!recording_create(&s->t.recording, s->path, &e))
        fail_msg("%s", e.text);
    recording_file(s->t.recording, FILE_DIRECTORY, "");
    recording_file(s->t.recording, FILE_REGULAR, "data");
    recording_string(s->t.recording, "data", 4);
    call_table_init(&s->calls);
    s->options.say = say_nothing;
    s->t.calls = &s->calls;
    s->t.options = &s->options;
    s->t.result = &s->result;
    s->t.stores = true;
    s->t.unwinder = unwinder_new(s->t.recording);
    s->one = add_player(s, 1000001);
    s->two = add_player(s, 1000002);
    *state = s;
    return 0;
}

static int stage_teardown(void **state)
{
    struct stage *s = *state;
    threads_free(&s->t);
    unwinder_free(s->t.unwinder);
    if (s->t.recording)
        recording_abandon(s->t.recording, true);
    free(s->one);
    free(s->two);
    unlink(s->path);
    rmdir(s->folder);
    free(s);
    return 0;
}

#define stage_test(function) cmocka_unit_test_setup_teardown(function, stage_setup, stage_teardown)

static void map(struct stage *s, struct player *p, uint64_t address, uint64_t size, uint64_t offset)
{
    struct shared_mapping m = {address, size, offset, DATA_FILE, 1};
    vec_push(&p->thread->process->mappings, m);
    guest_look_for(&s->t, p->thread);
}

static void write_ring(struct player *p, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        p->shared.ring[(p->shared.head + i) % STORES_RING] = ((const uint8_t *)bytes)[i];
    p->shared.head += size;
}

/* As the tracer does: a record never wraps. */
static void put(struct stage *s, struct player *p, struct stores_record r, const void *bytes)
{
    size_t size = sizeof r + (bytes ? ((size_t)r.size + 7) / 8 * 8 : 0);
    size_t left = STORES_RING - p->shared.head % STORES_RING;
    if (left < size) {
        p->shared.ring[p->shared.head % STORES_RING] = STORES_PAD;
        p->shared.head += left;
    }
    assert_true(p->shared.head + size - p->shared.tail <= STORES_RING);
    uint8_t padded[STORES_PIECE + 8] = {0};
    if (bytes)
        memcpy(padded, bytes, r.size);
    r.sequence = s->clock++;
    write_ring(p, &r, sizeof r);
    write_ring(p, padded, size - sizeof r);
}

static void be(struct stage *s, struct player *p, pid_t tid)
{
    put(s, p, (struct stores_record){.kind = STORES_THREAD, .address = (uint64_t)tid}, NULL);
}

static void store(struct stage *s, struct player *p, uint64_t address, uint64_t value, int size)
{
    put(s, p,
        (struct stores_record){.kind = STORES_STORE, .size = (uint16_t)size, .address = address},
        &value);
}

static void take(struct stage *s, struct player *p)
{
    guest_take(&s->t, p->thread);
    guest_tell(&s->t);
}

static struct session *finish(struct stage *s)
{
    struct session *session = NULL;
    struct error e;
    bool done = recording_finish(s->t.recording, &e) && session_open(&session, s->path, &e);
    s->t.recording = NULL;
    if (!done)
        fail_msg("%s", e.text);
    return session;
}

static struct event event_of(struct session *session, uint64_t n)
{
    struct event event;
    struct error e;
    if (!session_event(session, n, &event, &e))
        fail_msg("%s", e.text);
    return event;
}

static uint64_t value_of(struct session *session, const struct event *event)
{
    uint64_t value = 0;
    struct error e;
    assert_true(event->size <= sizeof value);
    if (!session_payload(session, event->payload, 0, &value, event->size, &e))
        fail_msg("%s", e.text);
    return value;
}

/* A store belongs to the file behind the mapping; parts outside of it to nobody. */
static void stores_are_cut_to_the_mappings(void **state)
{
    struct stage *s = *state;
    map(s, s->one, MAP, MAP_SIZE, FILE_OFFSET);
    map(s, s->one, MAP + MAP_SIZE, 0x1000, 0); /* the next one, of another part of the file */
    be(s, s->one, 1000001);
    store(s, s->one, MAP + 16, 42, 8);
    store(s, s->one, MAP - 3, 0x1122334455667788, 8);
    store(s, s->one, MAP + MAP_SIZE - 2, 0x44332211, 4);
    store(s, s->one, MAP + MAP_SIZE + 0x1000, 7, 8);
    store(s, s->one, MAP - 8, 7, 8);
    take(s, s->one);
    struct session *session = finish(s);
    assert_int_equal(session_event_count(session), 4);
    const struct {
        uint64_t offset, size, address, value;
    } wanted[] = {
        {FILE_OFFSET + 16, 8, MAP + 16, 42},
        {FILE_OFFSET, 5, MAP, 0x1122334455},
        {FILE_OFFSET + MAP_SIZE - 2, 2, MAP + MAP_SIZE - 2, 0x2211},
        {0, 2, MAP + MAP_SIZE, 0x4433},
    };
    for (uint64_t i = 0; i < 4; i++) {
        struct event event = event_of(session, i + 1);
        assert_int_equal(event.call, CALL_STORE);
        assert_int_equal(event.file, DATA_FILE);
        assert_int_equal(event.thread, s->one->thread->number);
        assert_int_equal(event.offset, wanted[i].offset);
        assert_int_equal(event.size, wanted[i].size);
        assert_int_equal(event.address, wanted[i].address);
        assert_int_equal(value_of(session, &event), wanted[i].value);
        assert_true(event.entry < event.exit && (!i || event_of(session, i).exit < event.entry));
    }
    session_close(session);
}

static void kinds_keep_their_flags_and_flushes_are_lines(void **state)
{
    struct stage *s = *state;
    map(s, s->one, MAP, MAP_SIZE, 0);
    be(s, s->one, 1000001);
    put(s, s->one,
        (struct stores_record){.kind = STORES_FLUSH, .flags = FLUSH_CLWB, .address = MAP + 100},
        NULL);
    put(s, s->one, (struct stores_record){.kind = STORES_FENCE, .flags = FENCE_SFENCE}, NULL);
    put(s, s->one, (struct stores_record){.kind = STORES_LOAD, .size = 4, .address = MAP + 8},
        NULL);
    uint64_t range = 24;
    put(s, s->one,
        (struct stores_record){
            .kind = STORES_MARK, .flags = MARK_TX_ADD, .size = 8, .address = MAP + 64},
        &range);
    take(s, s->one);
    struct session *session = finish(s);
    assert_int_equal(session_event_count(session), 4);
    struct event flush = event_of(session, 1), fence = event_of(session, 2);
    struct event load = event_of(session, 3), mark = event_of(session, 4);
    assert_int_equal(flush.call, CALL_FLUSH);
    assert_int_equal(flush.flags, FLUSH_CLWB);
    assert_int_equal(flush.offset, 64);
    assert_int_equal(flush.size, CACHE_LINE);
    assert_int_equal(fence.call, CALL_FENCE);
    assert_int_equal(fence.flags, FENCE_SFENCE);
    assert_int_equal(load.call, CALL_LOAD);
    assert_int_equal(load.size, 4);
    assert_int_equal(mark.call, CALL_MARKER);
    assert_int_equal(mark.flags, MARK_TX_ADD);
    assert_int_equal(mark.offset, 64);
    assert_int_equal(mark.other_offset, 24);
    session_close(session);
}

/* Two processes that store to one file: the order is that of their common clock, whoever of the two
 * stops first. */
static void records_of_processes_are_merged_by_the_clock(void **state)
{
    enum { EACH = 100 };
    struct stage *s = *state;
    map(s, s->one, MAP, MAP_SIZE, 0);
    map(s, s->two, MAP, MAP_SIZE, 0);
    be(s, s->one, 1000001);
    be(s, s->two, 1000002);
    for (uint64_t i = 1; i <= 2 * EACH; i++)
        store(s, i % 3 ? s->one : s->two, MAP, i, 8);
    take(s, s->two);
    struct session *session = finish(s);
    assert_int_equal(session_event_count(session), 2 * EACH);
    for (uint64_t i = 1; i <= 2 * EACH; i++) {
        struct event event = event_of(session, i);
        assert_int_equal(value_of(session, &event), i);
        assert_int_equal(event.thread, (i % 3 ? s->one : s->two)->thread->number);
    }
    session_close(session);
}

/* Records of all sizes, many times around. */
static void the_ring_goes_round(void **state)
{
    enum { RECORDS = 100000, TAKE_EVERY = 1000 };
    struct stage *s = *state;
    uint64_t seed = 1, stored = 0;
    map(s, s->one, MAP, MAP_SIZE, 0);
    be(s, s->one, 1000001);
    for (uint64_t i = 0; i < RECORDS; i++) {
        uint64_t bytes[128];
        struct stores_record r = {.kind = STORES_STORE, .address = MAP};
        r.size = (uint16_t)(1 + next_random(&seed) % sizeof bytes);
        if (i % 3)
            r.size = 8;
        for (size_t k = 0; k < sizeof bytes / sizeof *bytes; k++)
            bytes[k] = i;
        put(s, s->one, r, bytes);
        stored++;
        if (i % TAKE_EVERY == 0)
            take(s, s->one);
    }
    take(s, s->one);
    assert_int_equal(s->one->shared.tail, s->one->shared.head);
    assert_true(s->one->shared.head > 2 * STORES_RING);
    assert_int_equal(s->result.stores, stored);
    struct session *session = finish(s);
    for (uint64_t i = 0; i < RECORDS; i += 997) {
        struct event event = event_of(session, i + 1);
        if (event.size == 8)
            assert_int_equal(value_of(session, &event), i);
    }
    session_close(session);
}

/* The tracer is told where to look: sorted, neighbours together, never too many. */
static void regions_cover_the_mappings(void **state)
{
    struct stage *s = *state;
    map(s, s->one, 0x30000, 0x1000, 0);
    map(s, s->one, 0x10000, 0x1000, 0);
    map(s, s->one, 0x11000, 0x1000, 0);
    const struct stores_shared *shared = &s->one->shared;
    assert_int_equal(shared->region_count, 2);
    assert_int_equal(shared->regions[0].start, 0x10000);
    assert_int_equal(shared->regions[0].end, 0x12000);
    assert_int_equal(shared->regions[1].start, 0x30000);
    assert_int_equal(shared->low, 0x10000 - STORES_SLACK);
    assert_int_equal(shared->low + shared->span, 0x31000);

    for (uint64_t i = 0; i < 2 * STORES_REGIONS_MAX; i++)
        map(s, s->one, 0x1000000 + i * 0x2000, 0x1000, 0);
    assert_int_equal(shared->region_count, STORES_REGIONS_MAX);
    assert_int_equal(shared->regions[STORES_REGIONS_MAX - 1].end,
                     0x1000000 + (2 * STORES_REGIONS_MAX - 1) * 0x2000 + 0x1000);

    s->one->thread->process->mappings.n = 0;
    guest_look_for(&s->t, s->one->thread);
    assert_int_equal(shared->region_count, 0);
    assert_int_equal(shared->span, 0);
    assert_int_equal(s->two->shared.region_count, 0);
}

/* Only what was announced is the program's. */
static void calls_count_when_they_are_announced(void **state)
{
    enum { WRITE = 1, PWRITE = 18, VFORK = 58, FORK = 57 };
    struct stage *s = *state;
    struct thread *th = s->one->thread;
    const uint64_t args[6] = {3, 0x1234, 5};
    th->syscall = WRITE;
    memcpy(th->args, args, sizeof args);
    assert_false(guest_is_announced(&s->t, th));

    th->announced = (struct announced){.pending = true, .syscall = WRITE, .args = {3, 0x1234, 5}};
    assert_true(guest_is_announced(&s->t, th));
    th->args[0] = 9; /* the tracer's own */
    assert_false(guest_is_announced(&s->t, th));
    th->syscall = PWRITE;
    memcpy(th->args, args, sizeof args);
    assert_false(guest_is_announced(&s->t, th));
    th->syscall = FORK; /* made in the place of another of its kind */
    th->announced.syscall = VFORK;
    assert_true(guest_is_announced(&s->t, th));
    assert_int_equal(th->syscall, FORK);
}

/* Whatever the ring holds: no crash, an end, and a notice when it made no sense. */
static void nonsense_does_no_harm(void **state)
{
    enum { ROUNDS = 300, BYTES = 4096 };
    struct stage *s = *state;
    uint64_t seed = 7;
    map(s, s->one, MAP, MAP_SIZE, 0);
    for (int round = 0; round < ROUNDS; round++) {
        uint8_t bytes[BYTES];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(next_random(&seed) % (round % 2 ? 256 : 16));
        write_ring(s->one, bytes, sizeof bytes);
        take(s, s->one);
        struct guest *g = s->one->thread->process->guest;
        g->damaged = false; /* it would not be looked at again */
        g->told = g->waiting.n;
        s->t.deaf = false;
    }
    s->one->shared.head += STORES_RING + 1;
    take(s, s->one);
    assert_true(s->one->thread->process->guest->damaged);
    struct session *session = finish(s);
    session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        stage_test(stores_are_cut_to_the_mappings),
        stage_test(kinds_keep_their_flags_and_flushes_are_lines),
        stage_test(records_of_processes_are_merged_by_the_clock),
        stage_test(the_ring_goes_round),
        stage_test(regions_cover_the_mappings),
        stage_test(calls_count_when_they_are_announced),
        stage_test(nonsense_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
