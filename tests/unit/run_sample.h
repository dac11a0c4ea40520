/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run_sample: a small run that a test makes up, event by event, instead of recording a program;
 * then the session that holds it. Include after cmocka.h.
 */
#ifndef TESTS_UNIT_RUN_SAMPLE_H
#define TESTS_UNIT_RUN_SAMPLE_H

#include "engine/recording.h"
#include "engine/session.h"
#include "tests/unit/folders.h"

#define RUN_UNUSED __attribute__((unused))

struct run {
    char *top, *path, *data; /* the test's folder, the session and the data directory in it */
    struct recording *r;
    struct session *s;
    uint64_t position;
};

/* An empty data directory, about to be recorded. */
static int run_set_up(void **state)
{
    struct run *f = xcalloc(1, sizeof *f);
    struct error e;
    f->top = folder_new();
    f->path = xasprintf("%s/s.flotsam", f->top);
    f->data = xasprintf("%s/data", f->top);
    assert_int_equal(mkdir(f->data, 0755), 0);
    f->position = 1;
    *state = f;
    if (!recording_create(&f->r, f->path, &e))
        fail_msg("%s", e.text);
    recording_file(f->r, FILE_DIRECTORY, ".");
    recording_image_file(f->r, FILE_ROOT, FILE_DIRECTORY, 0755, 0, NULL);
    recording_thread(f->r, recording_process(f->r, 1, 0), 1);
    return 0;
}

static int run_tear_down(void **state)
{
    struct run *f = *state;
    if (f->r)
        recording_abandon(f->r, true);
    session_close(f->s);
    folder_remove(f->top);
    free(f->path);
    free(f->data);
    free(f);
    return 0;
}

#define run_case(function) cmocka_unit_test_setup_teardown(function, run_set_up, run_tear_down)

/* One call after the other; gives its event's number. */
static uint64_t run_event(struct run *f, struct event v)
{
    v.thread = 1;
    v.entry = f->position++;
    v.exit = f->position++;
    uint64_t number = recording_begin(f->r, &v);
    recording_end(f->r, number, &v);
    return number;
}

RUN_UNUSED static uint32_t run_string(struct run *f, const char *text)
{
    return recording_string(f->r, text, strlen(text));
}

/* As if called from one place of the program, another one for each address. */
RUN_UNUSED static uint32_t run_stack(struct run *f, uint64_t address)
{
    const struct frame frame = {.module = recording_module(f->r, "/bin/sample", "abcd"),
                                .address = address};
    return recording_stack(f->r, &frame, 1);
}

RUN_UNUSED static uint64_t run_print(struct run *f, const char *text)
{
    return run_event(f, (struct event){.call = CALL_PRINT,
                                       .fd = 1,
                                       .size = strlen(text),
                                       .payload = recording_payload(f->r, text, strlen(text))});
}

/* Makes a regular file in the root. */
RUN_UNUSED static uint32_t run_create(struct run *f, const char *name)
{
    uint32_t file = recording_file(f->r, FILE_REGULAR, name);
    run_event(f, (struct event){.call = CALL_OPEN,
                                .traits = EVENT_CREATED,
                                .mode = 0644,
                                .file = file,
                                .dir = FILE_ROOT,
                                .name = run_string(f, name),
                                .path = run_string(f, name),
                                .stack = run_stack(f, 0x1000)});
    return file;
}

RUN_UNUSED static uint64_t run_write(struct run *f, uint32_t file, const char *text)
{
    return run_event(f, (struct event){.call = CALL_WRITE,
                                       .file = file,
                                       .size = strlen(text),
                                       .payload = recording_payload(f->r, text, strlen(text)),
                                       .stack = run_stack(f, 0x2000)});
}

RUN_UNUSED static uint64_t run_rename(struct run *f, uint32_t file, const char *from,
                                      const char *to, uint32_t replaced)
{
    return run_event(f, (struct event){.call = CALL_RENAME,
                                       .traits = replaced ? EVENT_LAST_NAME : 0,
                                       .file = file,
                                       .other = replaced,
                                       .dir = FILE_ROOT,
                                       .name = run_string(f, from),
                                       .other_dir = FILE_ROOT,
                                       .other_name = run_string(f, to),
                                       .stack = run_stack(f, 0x3000)});
}

RUN_UNUSED static uint64_t run_sync(struct run *f)
{
    return run_event(f, (struct event){.call = CALL_SYNC});
}

/* The run has ended: opens its session. */
static void run_end(struct run *f)
{
    struct recording *r = f->r;
    struct error e;
    f->r = NULL;
    if (!recording_finish(r, &e) || !session_open(&f->s, f->path, &e))
        fail_msg("%s", e.text);
}

#endif
