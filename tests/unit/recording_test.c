/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is recorded can be read back, whatever happens to the recorder.
 */
#include "tests/unit/session_sample.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "engine/buf.h"
#include "engine/session_schema.h"
#include "engine/vec.h"

/* ---- Numbers ---- */

static void equal_things_get_equal_numbers(void **state)
{
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    const struct frame a[] = {{1, 0, 10}, {1, 0, 20}}, b[] = {{1, 0, 10}, {1, 0, 21}};

    assert_int_equal(recording_string(r, "", 0), 0);
    assert_int_equal(recording_string(r, "one", 3), 1);
    assert_int_equal(recording_string(r, "two", 3), 2);
    assert_int_equal(recording_string(r, "one", 3), 1);
    assert_int_equal(recording_module(r, "/a", "b"), 1);
    assert_int_equal(recording_module(r, "/ab", ""), 2);
    assert_int_equal(recording_module(r, "/a", "b"), 1);
    assert_int_equal(recording_stack(r, a, 0), 0);
    assert_int_equal(recording_stack(r, a, 2), 1);
    assert_int_equal(recording_stack(r, b, 2), 2);
    assert_int_equal(recording_stack(r, a, 1), 3);
    assert_int_equal(recording_stack(r, a, 2), 1);
    assert_int_equal(recording_file(r, FILE_DIRECTORY, ""), FILE_ROOT);
    assert_int_equal(recording_file(r, FILE_REGULAR, "x"), 2);
    assert_int_equal(recording_file(r, FILE_REGULAR, "x"), 3);
    sample_finish(r);
}

static void payloads_are_kept_once_and_zeros_not_at_all(void **state)
{
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    static const char zeros[100000];
    uint64_t first = recording_payload(r, "hello", 5);

    assert_int_equal(recording_payload(r, zeros, sizeof zeros), PAYLOAD_ZEROS);
    assert_int_equal(recording_payload(r, zeros, 1), PAYLOAD_ZEROS);
    assert_int_equal(recording_payload(r, zeros, 0), PAYLOAD_ZEROS);
    assert_int_not_equal(first, PAYLOAD_ZEROS);
    assert_int_equal(recording_payload(r, "hello", 5), first);
    assert_int_not_equal(recording_payload(r, "hello", 6), first);
    assert_int_not_equal(recording_payload(r, "hell", 4), first);
    assert_int_not_equal(recording_payload(r, "\0\0\1", 3), PAYLOAD_ZEROS);
    sample_finish(r);
}

/* ---- Round trips ---- */

enum { BIG = 8 << 20 };

/* A payload that ends one byte before a pack does, one that spans two, one of many packs. */
static void payloads_span_packs(void **state)
{
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    static const size_t sizes[] = {PACK_SIZE - 2, 5, 3 * PACK_SIZE, BIG, 1};
    enum { N = sizeof sizes / sizeof sizes[0] };
    uint8_t *bytes[N], *read = malloc(BIG);
    uint64_t at[N], seed = 7;
    struct error e;

    for (int i = 0; i < N; i++) {
        bytes[i] = malloc(sizes[i]);
        for (size_t k = 0; k < sizes[i]; k++)
            bytes[i][k] = (uint8_t)sample_random(&seed) | 1;
        at[i] = recording_payload(r, bytes[i], sizes[i]);
    }
    sample_finish(r);
    struct session *s = sample_open(p->path);
    for (int i = N - 1; i >= 0; i--) {
        assert_true(session_payload(s, at[i], 0, read, sizes[i], &e));
        assert_memory_equal(read, bytes[i], sizes[i]);
        uint64_t from = sample_random(&seed) % sizes[i];
        assert_true(session_payload(s, at[i], from, read, sizes[i] - from, &e));
        assert_memory_equal(read, bytes[i] + from, sizes[i] - from);
        free(bytes[i]);
    }
    memset(read, 1, 100);
    assert_true(session_payload(s, PAYLOAD_ZEROS, 1000, read, 100, &e));
    for (int i = 0; i < 100; i++)
        assert_int_equal(read[i], 0);
    assert_false(session_payload(s, at[N - 1], 0, read, 2, &e));
    assert_false(session_payload(s, at[N - 1], UINT64_MAX, read, 1, &e));
    session_close(s);
    free(read);
}

/* Everything that a random run says, to be compared with what is read. */
struct model {
    vec_of(struct event) events;
    vec_of(uint64_t) open; /* events that have not ended */
    uint64_t seed;
    uint32_t strings, stacks, files, threads;
};

static uint64_t pick(struct model *m, uint64_t below)
{
    return sample_random(&m->seed) % below;
}

static struct event random_event(struct model *m)
{
    static const uint16_t calls[] = {CALL_WRITE, CALL_FSYNC, CALL_CLOSE, CALL_LSEEK, CALL_PRINT};
    return (struct event){
        .entry = 2 * m->events.n,
        .exit = 2 * m->events.n + 1 + pick(m, 100),
        .time = pick(m, UINT64_MAX),
        .result = -(int64_t)pick(m, 100),
        .offset = pick(m, 1 << 30),
        .address = pick(m, UINT64_MAX),
        .other_offset = pick(m, UINT64_MAX),
        .file = (uint32_t)pick(m, m->files + 1),
        .other = (uint32_t)pick(m, m->files + 1),
        .dir = (uint32_t)pick(m, m->files + 1),
        .other_dir = (uint32_t)pick(m, m->files + 1),
        .name = (uint32_t)pick(m, m->strings + 1),
        .other_path = (uint32_t)pick(m, m->strings + 1),
        .stack = (uint32_t)pick(m, m->stacks + 1),
        .thread = (uint32_t)pick(m, m->threads + 1),
        .flags = (uint32_t)pick(m, UINT32_MAX),
        .mode = (uint32_t)pick(m, UINT32_MAX),
        .traits = pick(m, 2) ? EVENT_APPEND : 0,
        .fd = (int32_t)pick(m, 100) - 50,
        .call = calls[pick(m, sizeof calls / sizeof calls[0])],
        .syscall = (uint16_t)pick(m, UINT16_MAX + 1),
    };
}

static void end_random(struct model *m, struct recording *r)
{
    uint64_t at = pick(m, m->open.n), number = m->open.at[at];
    char bytes[300];
    memset(bytes, (int)pick(m, 5), sizeof bytes);
    struct event event = random_event(m);
    event.entry = m->events.at[number - 1].entry;
    event.exit = event.entry + 1 + pick(m, 100);
    event.size = pick(m, sizeof bytes);
    event.payload = recording_payload(r, bytes, event.size);
    recording_end(r, number, &event);
    m->events.at[number - 1] = event;
    m->open.at[at] = vec_last(&m->open);
    m->open.n--;
}

static void random_run(struct model *m, struct recording *r, int steps)
{
    recording_file(r, FILE_DIRECTORY, "");
    m->files = 1;
    for (int i = 0; i < steps; i++) {
        char text[32];
        int n = snprintf(text, sizeof text, "name %d", i);
        struct frame frame = {.address = pick(m, 50)};
        switch (pick(m, 10)) {
        case 0:
            m->strings = recording_string(r, text, (size_t)n);
            break;
        case 1:
            m->files = recording_file(r, FILE_REGULAR, text);
            break;
        case 2:
            m->threads = recording_thread(r, recording_process(r, i + 1, 0), i + 2);
            break;
        case 3: {
            uint32_t stack = recording_stack(r, &frame, 1);
            m->stacks = stack > m->stacks ? stack : m->stacks;
            break;
        }
        case 4:
        case 5:
        case 6: {
            struct event event = random_event(m);
            uint64_t number = recording_begin(r, &event);
            event.traits |= EVENT_UNFINISHED;
            event.exit = UINT64_MAX;
            vec_push(&m->events, event);
            assert_int_equal(number, m->events.n);
            vec_push(&m->open, number);
            break;
        }
        default:
            if (m->open.n > pick(m, 20))
                end_random(m, r);
        }
    }
}

/* Ends come in any order, some late, some never, so chunks far behind still change. */
static void random_events_come_back(void **state)
{
    struct place *p = *state;
    for (uint64_t run = 1; run <= 5; run++) {
        struct model m = {.seed = run * 7919};
        struct recording *r = sample_create(p->path);
        random_run(&m, r, 20000);
        assert_int_equal(recording_events(r), m.events.n);
        sample_finish(r);
        struct session *s = sample_open(p->path);
        assert_int_equal(session_event_count(s), m.events.n);
        assert_int_equal(session_file_count(s), m.files);
        for (uint64_t i = 1; i <= m.events.n; i++) {
            struct event event;
            struct error e;
            if (!session_event(s, i, &event, &e))
                fail_msg("%s", e.text);
            event.entry = session_position_recorded(event.entry);
            event.exit = session_position_recorded(event.exit);
            assert_memory_equal(&event, &m.events.at[i - 1], sizeof event);
        }
        session_close(s);
        vec_free(&m.events);
        vec_free(&m.open);
    }
}

/* Events that begin and end at once, over several chunks, while others are still open. */
static void instants_come_back_between_the_others(void **state)
{
    enum { EVENTS = 3 * EVENTS_PER_CHUNK + 7, OPEN_EVERY = 100 };
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    vec_of(uint64_t) open = {0};
    sample_begin(r);
    for (uint64_t n = 1; n <= EVENTS; n++) {
        struct event event = sample_event(n);
        uint8_t bytes[SAMPLE_BYTES];
        sample_bytes(n, bytes);
        if (n % OPEN_EVERY == 0) {
            assert_int_equal(recording_begin(r, &event), n);
            vec_push(&open, n);
            continue;
        }
        event.payload = recording_payload(r, bytes, sizeof bytes);
        recording_instant(r, &event);
        assert_int_equal(recording_events(r), n);
    }
    for (size_t i = 0; i < open.n; i++) {
        struct event event = sample_event(open.at[i]);
        uint8_t bytes[SAMPLE_BYTES];
        sample_bytes(open.at[i], bytes);
        event.payload = recording_payload(r, bytes, sizeof bytes);
        recording_end(r, open.at[i], &event);
    }
    vec_free(&open);
    sample_finish(r);
    struct session *s = sample_open(p->path);
    assert_int_equal(session_event_count(s), EVENTS);
    for (uint64_t n = 1; n <= EVENTS; n++)
        sample_check(s, n);
    session_close(s);
}

/* More small payloads than are remembered: each is what it was. */
static void small_payloads_come_back(void **state)
{
    enum { MANY = 50000 };
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    vec_of(uint64_t) at = {0};
    for (uint64_t n = 1; n <= MANY; n++) {
        uint64_t value = n * UINT64_C(0x9e3779b97f4a7c15);
        vec_push(&at, recording_payload(r, &value, 1 + n % sizeof value));
    }
    sample_finish(r);
    struct session *s = sample_open(p->path);
    for (uint64_t n = 1; n <= MANY; n++) {
        uint64_t value = n * UINT64_C(0x9e3779b97f4a7c15), read = 0;
        struct error e;
        if (!session_payload(s, at.at[n - 1], 0, &read, 1 + n % sizeof value, &e))
            fail_msg("%s", e.text);
        assert_memory_equal(&read, &value, 1 + n % sizeof value);
    }
    vec_free(&at);
    session_close(s);
}

static void an_event_that_never_ends_stays_unfinished(void **state)
{
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    struct event event = {.call = CALL_SYNC, .entry = 5, .exit = 6};
    struct error e;
    assert_int_equal(recording_begin(r, &event), 1);
    for (uint64_t i = 2; i < 5000; i++) {
        assert_int_equal(recording_begin(r, &event), i);
        recording_end(r, i, &event);
    }
    recording_end(r, 2, &(struct event){.call = CALL_EXIT}); /* a second end changes nothing */
    sample_finish(r);
    struct session *s = sample_open(p->path);
    assert_true(session_event(s, 1, &event, &e));
    assert_true(event.traits & EVENT_UNFINISHED);
    assert_int_equal(event.exit, UINT64_MAX);
    assert_true(session_event(s, 2, &event, &e));
    assert_int_equal(event.call, CALL_SYNC);
    assert_int_equal(event.exit, session_position(6));
    assert_false(event.traits & EVENT_UNFINISHED);
    session_close(s);
}

static void facts_and_modules_come_back(void **state)
{
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    const struct frame frames[] = {{1, FRAME_EXACT, 0x10}, {2, 0, UINT64_MAX}, {0, 0, 3}};
    const struct frame *read;
    struct module_info module;
    struct file_info file;
    struct thread_info thread;

    recording_meta(r, "program", "sh -c 'true'");
    recording_meta(r, "status", "running");
    recording_meta(r, "status", "exited with 0");
    recording_module(r, "/bin/sh", "0123");
    recording_module(r, "/lib/x.so", NULL);
    recording_stack(r, frames, 3);
    recording_string(r, "\xff\x01\n", 3);
    recording_file(r, FILE_DIRECTORY, "");
    recording_file(r, FILE_SYMLINK, "a/link");
    recording_process(r, 41, 0);
    recording_thread(r, recording_process(r, 42, 1), 43);
    sample_finish(r);

    struct session *s = sample_open(p->path);
    assert_string_equal(session_meta(s, "program"), "sh -c 'true'");
    assert_string_equal(session_meta(s, "status"), "exited with 0");
    assert_string_equal(session_meta(s, "complete"), "1");
    assert_null(session_meta(s, "nonsense"));
    assert_string_equal(session_string(s, 1), "\xff\x01\n");
    assert_string_equal(session_string(s, 0), "");
    assert_string_equal(session_string(s, 2), "");
    assert_ptr_equal(session_string(s, 1), session_string(s, 1));
    assert_true(session_module(s, 1, &module));
    assert_string_equal(module.path, "/bin/sh");
    assert_string_equal(module.build_id, "0123");
    assert_true(session_module(s, 2, &module));
    assert_string_equal(module.build_id, "");
    assert_false(session_module(s, 0, &module));
    assert_false(session_module(s, 3, &module));
    assert_int_equal(session_stack(s, 1, &read), 3);
    assert_memory_equal(read, frames, sizeof frames);
    assert_int_equal(session_stack(s, 0, &read), 0);
    assert_int_equal(session_stack(s, 2, &read), 0);
    assert_true(session_file(s, 2, &file));
    assert_int_equal(file.kind, FILE_SYMLINK);
    assert_string_equal(file.path, "a/link");
    assert_false(session_file(s, 3, &file));
    assert_true(session_thread(s, 1, &thread));
    assert_int_equal(thread.process, 2);
    assert_int_equal(thread.parent, 1);
    assert_int_equal(thread.pid, 42);
    assert_int_equal(thread.tid, 43);
    assert_false(session_thread(s, 2, &thread));
    session_close(s);
}

static bool say_file(void *data, uint32_t file, enum file_kind kind, uint32_t mode, uint64_t size,
                     const char *target)
{
    buf_printf(data, "file %u %d %o %lu %s\n", file, kind, mode, (unsigned long)size,
               target ? target : "-");
    return true;
}

static bool say_name(void *data, uint32_t dir, const char *name, uint32_t file)
{
    buf_printf(data, "name %u/%s %u\n", dir, name, file);
    return true;
}

static bool say_extent(void *data, uint32_t file, uint64_t offset, uint64_t size, uint64_t payload)
{
    buf_printf(data, "extent %u %lu+%lu %lu\n", file, (unsigned long)offset, (unsigned long)size,
               (unsigned long)payload);
    return true;
}

static bool stop_at_once(void *data, uint32_t dir, const char *name, uint32_t file)
{
    (void)dir;
    (void)name;
    (void)file;
    ++*(int *)data;
    return false;
}

/* The names are given from the leaves up here, and still come from the root down. */
static void the_image_comes_back(void **state)
{
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    struct buf said = {0};
    struct error e;
    int stops = 0;
    recording_file(r, FILE_DIRECTORY, "");
    recording_file(r, FILE_REGULAR, "b/z");
    recording_file(r, FILE_DIRECTORY, "b");
    recording_file(r, FILE_SYMLINK, "a");
    recording_image_file(r, 2, FILE_REGULAR, 0644, 10000, NULL);
    recording_image_file(r, 1, FILE_DIRECTORY, 0755, 0, NULL);
    recording_image_file(r, 3, FILE_DIRECTORY, 01777, 0, NULL);
    recording_image_file(r, 4, FILE_SYMLINK, 0777, 3, "b/z");
    recording_image_name(r, 3, "z", 2);
    recording_image_name(r, 1, "b", 3);
    recording_image_name(r, 1, "hard", 2);
    recording_image_name(r, 1, "a", 4);
    recording_image_extent(r, 2, 8192, 5, recording_payload(r, "bytes", 5));
    recording_image_extent(r, 2, 0, 4096, PAYLOAD_ZEROS);
    sample_finish(r);

    struct session *s = sample_open(p->path);
    const struct image_visitor visitor = {say_file, say_name, say_extent};
    if (!session_image(s, &visitor, &said, &e))
        fail_msg("%s", e.text);
    assert_string_equal(buf_string(&said), "file 1 2 755 0 -\n"
                                           "file 2 1 644 10000 -\n"
                                           "file 3 2 1777 0 -\n"
                                           "file 4 3 777 3 b/z\n"
                                           "name 1/a 4\n"
                                           "name 1/b 3\n"
                                           "name 1/hard 2\n"
                                           "name 3/z 2\n"
                                           "extent 2 0+4096 0\n"
                                           "extent 2 8192+5 1\n");
    const struct image_visitor stopper = {.name = stop_at_once};
    assert_false(session_image(s, &stopper, &stops, &e));
    assert_int_equal(stops, 1);
    session_close(s);
    buf_free(&said);
}

static void say_notice(void *data, const char *kind, const char *what, uint64_t count)
{
    buf_printf(data, "%s: %s: %lu\n", kind, what, (unsigned long)count);
}

static void notices_are_counted(void **state)
{
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    struct buf said = {0};
    struct error e;
    for (int i = 0; i < 1000; i++)
        recording_notice(r, "unsupported call", i % 4 ? "io_uring_setup" : "quotactl");
    recording_notice(r, "mapping", "a/b");
    sample_finish(r);
    struct session *s = sample_open(p->path);
    assert_true(session_notices(s, say_notice, &said, &e));
    assert_string_equal(buf_string(&said), "mapping: a/b: 1\n"
                                           "unsupported call: io_uring_setup: 750\n"
                                           "unsupported call: quotactl: 250\n");
    session_close(s);
    buf_free(&said);
}

static void any_of_many_events_is_found(void **state)
{
    struct place *p = *state;
    enum { MANY = 100000 };
    struct recording *r = sample_create(p->path);
    uint64_t seed = 3;
    sample_begin(r);
    for (uint64_t i = 1; i <= MANY; i++)
        sample_record(r, i);
    sample_finish(r);
    struct session *s = sample_open(p->path);
    assert_int_equal(session_event_count(s), MANY);
    for (int i = 0; i < 2000; i++)
        sample_check(s, 1 + sample_random(&seed) % MANY);
    sample_check(s, 1);
    sample_check(s, MANY);
    struct event event;
    struct error e;
    assert_false(session_event(s, 0, &event, &e));
    assert_false(session_event(s, MANY + 1, &event, &e));
    session_close(s);
}

/* ---- While it is being recorded ---- */

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Waits for a session with some events; a recorder at work makes it so by itself. */
static struct session *wait_for_events(const char *path, uint64_t events)
{
    for (int tries = 0; tries < 1000; tries++) {
        struct session *s;
        if (session_open(&s, path, NULL)) {
            if (session_event_count(s) >= events)
                return s;
            session_close(s);
        }
        pause_ms(10);
    }
    fail_msg("nothing came");
    return NULL;
}

static void it_can_be_read_while_it_grows(void **state)
{
    struct place *p = *state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct recording *r = sample_create(p->path);
        sample_begin(r);
        for (uint64_t i = 1;; i++) {
            sample_record(r, i);
            if (i % 100 == 0)
                pause_ms(1);
        }
    }
    struct session *s = wait_for_events(p->path, 100);
    uint64_t before = session_event_count(s);
    struct session *later = wait_for_events(p->path, before + 5000);
    for (uint64_t i = 1; i <= before; i++)
        sample_check(s, i);
    for (uint64_t i = 1; i <= session_event_count(later); i++)
        sample_check(later, i);
    assert_null(session_meta(later, "complete"));
    session_close(later);
    session_close(s);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Killed at any moment: what is there is a prefix, and all of it is right. */
static void a_killed_recorder_leaves_a_prefix(void **state)
{
    struct place *p = *state;
    for (int round = 0; round < 15; round++) {
        unlink(p->path);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct recording *r = sample_create(p->path);
            sample_begin(r);
            for (uint64_t i = 1;; i++) {
                sample_record(r, i);
                if (i % 1000 == 0)
                    pause_ms(1);
            }
        }
        session_close(wait_for_events(p->path, 1));
        pause_ms(7 * round % 60);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        struct session *s = sample_open(p->path);
        uint64_t n = session_event_count(s);
        assert_true(n > 0);
        for (uint64_t i = 1; i <= n; i++)
            sample_check(s, i);
        assert_null(session_meta(s, "complete"));
        session_close(s);
    }
}

/* ---- Failures ---- */

/* Records until the disk is full, in a process of its own; passes on what the failure says. */
static void record_until_full(const char *path, int report)
{
    struct recording *r = sample_create(path);
    struct error e, end;
    sample_begin(r);
    uint64_t n = 0;
    while (!recording_failed(r, &e))
        sample_record(r, ++n);
    sample_record(r, ++n);
    if (recording_events(r) != n || recording_finish(r, &end) || strcmp(e.text, end.text) != 0)
        _exit(2);
    if (write(report, e.text, strlen(e.text) + 1) < 0)
        _exit(3);
    _exit(0);
}

static void expect_failure(int report, pid_t child, const char *path, const char *why)
{
    char text[ERROR_TEXT_MAX] = "";
    int status;
    assert_true(read(report, text, sizeof text - 1) > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    if (!strstr(text, path) || !strstr(text, why))
        fail_msg("\"%s\" does not name %s and %s", text, path, why);
    struct session *s = sample_open(path);
    uint64_t n = session_event_count(s);
    char kept[64];
    snprintf(kept, sizeof kept, "the %lu events", (unsigned long)n);
    assert_non_null(strstr(text, kept));
    assert_true(n > 0);
    assert_null(session_meta(s, "complete"));
    for (uint64_t i = 1; i <= n; i++)
        sample_check(s, i);
    session_close(s);
}

enum { SMALL_DISK = 16 << 20 };

static void a_file_size_limit_is_reported(void **state)
{
    struct place *p = *state;
    int report[2];
    assert_int_equal(pipe(report), 0);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){SMALL_DISK, SMALL_DISK});
        record_until_full(p->path, report[1]);
    }
    close(report[1]);
    expect_failure(report[0], child, p->path, "File too large");
    close(report[0]);
}

static void a_full_disk_is_reported(void **state)
{
    struct place *p = *state;
    int report[2];
    if (mount("none", p->folder, "tmpfs", 0, "size=16m") != 0)
        skip();
    assert_int_equal(pipe(report), 0);
    pid_t child = fork();
    if (child == 0)
        record_until_full(p->path, report[1]);
    close(report[1]);
    expect_failure(report[0], child, p->path, "No space left on device");
    close(report[0]);
}

static int unmount_teardown(void **state)
{
    struct place *p = *state;
    umount2(p->folder, MNT_DETACH);
    return place_teardown(state);
}

static void expect_no_create(const char *path, const char *why)
{
    struct recording *r;
    struct error e;
    assert_false(recording_create(&r, path, &e));
    if (!strstr(e.text, path) || !strstr(e.text, why))
        fail_msg("\"%s\" does not name %s and %s", e.text, path, why);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
}

static void only_sessions_are_replaced(void **state)
{
    struct place *p = *state;
    char text[16] = "", other[160];
    write_file(p->path, "precious");
    expect_no_create(p->path, "not a flotsam session");
    FILE *f = fopen(p->path, "r");
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    assert_string_equal(text, "precious");

    write_file(p->path, "");
    for (int i = 0; i < 2; i++) {
        struct recording *r = sample_create(p->path);
        recording_meta(r, i ? "new" : "old", "1");
        sample_finish(r);
    }
    struct session *s = sample_open(p->path);
    assert_null(session_meta(s, "old"));
    assert_string_equal(session_meta(s, "new"), "1");
    session_close(s);

    expect_no_create(p->folder, "is not a file");
    snprintf(other, sizeof other, "%s/none/s.flotsam", p->folder);
    expect_no_create(other, "No such file");
}

static void a_session_removed_under_way_is_reported(void **state)
{
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    struct error e;
    sample_begin(r);
    assert_int_equal(unlink(p->path), 0);
    assert_false(recording_finish(r, &e));
    assert_non_null(strstr(e.text, "removed"));
}

static void an_abandoned_one_is_not_complete(void **state)
{
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    sample_begin(r);
    sample_record(r, 1);
    recording_abandon(r, false);
    struct session *s = sample_open(p->path);
    assert_int_equal(session_event_count(s), 1);
    assert_null(session_meta(s, "complete"));
    session_close(s);
    r = sample_create(p->path);
    sample_begin(r);
    recording_abandon(r, true);
    assert_int_equal(access(p->path, F_OK), -1);
}

/* A program that we record must not inherit our files, nor see our signals. */
static void descriptors_are_not_inherited(void **state)
{
    struct place *p = *state;
    struct recording *r = sample_create(p->path);
    for (int fd = 3; fd < 64; fd++) {
        char link[64], target[256];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (strstr(target, p->folder))
            assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    }
    sample_finish(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(equal_things_get_equal_numbers),
        place_test(payloads_are_kept_once_and_zeros_not_at_all),
        place_test(payloads_span_packs),
        place_test(random_events_come_back),
        place_test(instants_come_back_between_the_others),
        place_test(small_payloads_come_back),
        place_test(an_event_that_never_ends_stays_unfinished),
        place_test(facts_and_modules_come_back),
        place_test(the_image_comes_back),
        place_test(notices_are_counted),
        place_test(any_of_many_events_is_found),
        place_test(it_can_be_read_while_it_grows),
        place_test(a_killed_recorder_leaves_a_prefix),
        place_test(a_file_size_limit_is_reported),
        cmocka_unit_test_setup_teardown(a_full_disk_is_reported, place_setup, unmount_teardown),
        place_test(only_sessions_are_replaced),
        place_test(a_session_removed_under_way_is_reported),
        place_test(an_abandoned_one_is_not_complete),
        place_test(descriptors_are_not_inherited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
