/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * session_sample: what the tests of both sides of a session share: private folders, numbers that
 * repeat, and a run whose every event can be worked out from its number.
 */
#ifndef TESTS_SESSION_SAMPLE_H
#define TESTS_SESSION_SAMPLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/recording.h"
#include "engine/session.h"

/* A fresh folder, the state of each test. */
struct place {
    char folder[64];
    char path[128]; /* of the session in it */
};

static inline int place_setup(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    strcpy(p->folder, "/tmp/flotsam-test-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/s.flotsam", p->folder);
    *state = p;
    return 0;
}

static inline int place_remove(const char *path, const struct stat *st, int kind, struct FTW *f)
{
    (void)st;
    (void)kind;
    (void)f;
    return remove(path);
}

static inline int place_teardown(void **state)
{
    struct place *p = *state;
    nftw(p->folder, place_remove, 16, FTW_DEPTH | FTW_PHYS);
    free(p);
    return 0;
}

#define place_test(function) cmocka_unit_test_setup_teardown(function, place_setup, place_teardown)

/* Equal seeds give equal rows of numbers. */
static inline uint64_t sample_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static inline struct recording *sample_create(const char *path)
{
    struct recording *r;
    struct error e;
    if (!recording_create(&r, path, &e))
        fail_msg("%s", e.text);
    return r;
}

static inline void sample_finish(struct recording *r)
{
    struct error e;
    if (!recording_finish(r, &e))
        fail_msg("%s", e.text);
}

static inline struct session *sample_open(const char *path)
{
    struct session *s;
    struct error e;
    if (!session_open(&s, path, &e))
        fail_msg("%s", e.text);
    return s;
}

/* What every sample run begins with: the root, one thread, one name, one stack. */
static inline void sample_begin(struct recording *r)
{
    const struct frame frame = {.module = recording_module(r, "/bin/sample", "abcd"),
                                .address = 0x1234};
    recording_meta(r, "program", "sample");
    recording_file(r, FILE_DIRECTORY, "");
    recording_file(r, FILE_REGULAR, "log");
    recording_thread(r, recording_process(r, 100, 0), 100);
    recording_string(r, "log", 3);
    recording_stack(r, &frame, 1);
}

enum { SAMPLE_BYTES = 32 };

/* The bytes of the sample's write number n. */
static inline void sample_bytes(uint64_t n, uint8_t bytes[SAMPLE_BYTES])
{
    uint64_t seed = n * 2 + 1;
    for (size_t i = 0; i < SAMPLE_BYTES; i += 8) {
        uint64_t word = sample_random(&seed);
        memcpy(bytes + i, &word, 8);
    }
}

static inline struct event sample_event(uint64_t n)
{
    return (struct event){.entry = 2 * n,
                          .exit = 2 * n + 1,
                          .time = n * 1000,
                          .call = CALL_WRITE,
                          .syscall = 1,
                          .result = SAMPLE_BYTES,
                          .size = SAMPLE_BYTES,
                          .offset = n * SAMPLE_BYTES,
                          .file = 2,
                          .path = 1,
                          .stack = 1,
                          .thread = 1,
                          .fd = 3};
}

/* Records the sample's event n; its payload is given before its end, as a recorder does. */
static inline void sample_record(struct recording *r, uint64_t n)
{
    uint8_t bytes[SAMPLE_BYTES];
    struct event event = sample_event(n);
    uint64_t number = recording_begin(r, &event);
    assert_int_equal(number, n);
    sample_bytes(n, bytes);
    event.payload = recording_payload(r, bytes, sizeof bytes);
    recording_end(r, number, &event);
}

/* Checks that event n is the sample's; the newest may still be unfinished. */
static inline void sample_check(struct session *s, uint64_t n)
{
    struct event found, wanted = sample_event(n);
    struct error e;
    wanted.entry = session_position(wanted.entry);
    wanted.exit = session_position(wanted.exit);
    if (!session_event(s, n, &found, &e))
        fail_msg("%s", e.text);
    if (found.traits & EVENT_UNFINISHED) {
        assert_int_equal(n, session_event_count(s));
        wanted.traits = EVENT_UNFINISHED;
        wanted.exit = UINT64_MAX;
        assert_memory_equal(&found, &wanted, sizeof found);
        return;
    }
    wanted.payload = found.payload;
    assert_memory_equal(&found, &wanted, sizeof found);
    uint8_t bytes[SAMPLE_BYTES], read[SAMPLE_BYTES];
    sample_bytes(n, bytes);
    if (!session_payload(s, found.payload, 0, read, sizeof read, &e))
        fail_msg("%s", e.text);
    assert_memory_equal(read, bytes, sizeof bytes);
}

#endif
