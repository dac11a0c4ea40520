/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Positions back to events, where calls of several threads overlap.
 */
#include "tests/unit/session_sample.h"

#include "engine/moment.h"

enum { THREADS = 5, EVENTS = 200 };

struct run {
    struct event events[EVENTS + 1]; /* by number */
    uint64_t positions;
};

/* Threads enter and return at random; what is under way at the end never returns. */
static struct run random_run(uint64_t *seed)
{
    struct run run = {.positions = 1};
    uint64_t under_way[THREADS] = {0};

    for (uint64_t n = 0; n < EVENTS; run.positions++) {
        uint64_t thread = sample_random(seed) % THREADS;
        if (under_way[thread]) {
            run.events[under_way[thread]].exit = run.positions;
            under_way[thread] = 0;
        } else {
            under_way[thread] = ++n;
            run.events[n] = sample_event(n);
            run.events[n].entry = run.positions;
            run.events[n].exit = UINT64_MAX;
        }
    }
    return run;
}

static void record(const char *path, const struct run *run)
{
    struct recording *r = sample_create(path);

    sample_begin(r);
    for (uint64_t n = 1; n <= EVENTS; n++)
        recording_end(r, recording_begin(r, &run->events[n]), &run->events[n]);
    sample_finish(r);
}

static void finds_what_a_search_through_all_events_finds(void **state)
{
    const struct place *p = *state;
    uint64_t seed = 7;
    struct run run = random_run(&seed);

    record(p->path, &run);
    struct session *s = sample_open(p->path);
    for (uint64_t position = 0; position <= session_position(run.positions); position++) {
        uint64_t begun = 0, returned = 0; /* nothing returns at the odd ones */
        for (uint64_t n = 1; n <= EVENTS; n++) {
            begun = session_position(run.events[n].entry) < position ? n : begun;
            returned = session_position(run.events[n].exit) == position ? n : returned;
        }
        assert_int_equal(moment_begun(s, position), begun);
        assert_int_equal(moment_returned(s, position), returned);
    }
    session_close(s);
}

static void all_had_begun_at_a_position_that_never_comes(void **state)
{
    const struct place *p = *state;
    uint64_t seed = 11;
    struct run run = random_run(&seed);

    record(p->path, &run);
    struct session *s = sample_open(p->path);
    assert_int_equal(moment_begun(s, UINT64_MAX), EVENTS);
    session_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(finds_what_a_search_through_all_events_finds),
        place_test(all_had_begun_at_a_position_that_never_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
