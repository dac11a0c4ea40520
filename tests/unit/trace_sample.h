/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tests of views: a session with one event of most kinds, its symbols already in the table, so
 * that nothing depends on this machine's binaries.
 */
#ifndef TESTS_UNIT_TRACE_SAMPLE_H
#define TESTS_UNIT_TRACE_SAMPLE_H

#include "tests/unit/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "engine/recording.h"
#include "engine/session.h"
#include "engine/symbols.h"

struct sample {
    char *folder, *path;
    struct session *session;
    struct symbols *symbols;
};

/* Adds an event that has returned. */
static inline void sample_event(struct recording *r, struct event event)
{
    uint64_t number = recording_begin(r, &event);

    event.entry = 2 * number - 1;
    event.exit = event.traits & EVENT_UNFINISHED ? UINT64_MAX : 2 * number;
    recording_end(r, number, &event);
}

static inline uint32_t sample_string(struct recording *r, const char *text)
{
    return recording_string(r, text, strlen(text));
}

static inline void sample_events(struct recording *r, uint32_t thread, uint32_t stack)
{
    uint32_t tmp = recording_file(r, FILE_REGULAR, "log.tmp");
    uint32_t log = sample_string(r, "log"), log_tmp = sample_string(r, "log.tmp");
    uint32_t odd = sample_string(r, "sub/\x1b[31m\xff");
    const char text[] = "done \xff\n";
    uint64_t payload = recording_payload(r, text, sizeof text - 1);
    uint32_t second = recording_thread(r, 1, 102);

    sample_event(r, (struct event){.call = CALL_OPEN,
                                   .syscall = SYS_openat,
                                   .path = log_tmp,
                                   .file = tmp,
                                   .flags = O_WRONLY | O_CREAT | O_TRUNC | O_DSYNC,
                                   .mode = 0644,
                                   .result = 3,
                                   .fd = 3,
                                   .thread = thread,
                                   .stack = stack,
                                   .traits = EVENT_CREATED});
    sample_event(r, (struct event){.call = CALL_WRITE,
                                   .syscall = SYS_pwrite64,
                                   .path = log_tmp,
                                   .file = tmp,
                                   .offset = 4096,
                                   .size = 7,
                                   .payload = payload,
                                   .result = 7,
                                   .fd = 3,
                                   .thread = thread,
                                   .stack = stack,
                                   .traits = EVENT_DSYNC});
    sample_event(r, (struct event){.call = CALL_FALLOCATE,
                                   .syscall = SYS_fallocate,
                                   .path = log_tmp,
                                   .file = tmp,
                                   .offset = 0,
                                   .size = 8192,
                                   .flags = FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE,
                                   .thread = thread,
                                   .stack = stack});
    sample_event(r, (struct event){.call = CALL_FSYNC,
                                   .syscall = SYS_fsync,
                                   .path = log_tmp,
                                   .file = tmp,
                                   .fd = 3,
                                   .thread = thread,
                                   .stack = stack});
    sample_event(r, (struct event){.call = CALL_RENAME,
                                   .syscall = SYS_rename,
                                   .path = log_tmp,
                                   .other_path = log,
                                   .file = tmp,
                                   .thread = thread,
                                   .stack = stack});
    sample_event(r, (struct event){.call = CALL_UNLINK,
                                   .syscall = SYS_unlink,
                                   .path = odd,
                                   .thread = second,
                                   .result = -ENOENT,
                                   .traits = EVENT_FAILED});
    sample_event(r, (struct event){.call = CALL_PRINT,
                                   .syscall = SYS_write,
                                   .payload = payload,
                                   .size = sizeof text - 1,
                                   .result = sizeof text - 1,
                                   .fd = 1,
                                   .thread = second});
    sample_event(r, (struct event){.call = CALL_SYNC,
                                   .syscall = SYS_sync,
                                   .thread = second,
                                   .traits = EVENT_UNFINISHED});
}

static inline void sample_symbols(const char *path)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "INSERT INTO symbols VALUES (1, 9, 0, 'put', '/home/me/s/l.c', 12);"
                     "INSERT INTO symbols VALUES (1, 9, 1, 'db::Log::save', '/home/me/log.cc', 34);"
                     "INSERT INTO symbols VALUES (1, 19, 0, 'main', '/elsewhere/main.c', 5);",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
}

static inline int sample_set_up(void **state)
{
    struct sample *s = xcalloc(1, sizeof *s);
    struct recording *r;
    struct error e;

    s->folder = folder_make();
    s->path = path_in(s->folder, "s.flotsam");
    if (!recording_create(&r, s->path, &e))
        fail_msg("%s", e.text);
    recording_meta(r, "cwd", "/home/me");
    recording_file(r, FILE_DIRECTORY, ".");
    uint32_t process = recording_process(r, 101, 0);
    uint32_t thread = recording_thread(r, process, 101);
    uint32_t module = recording_module(r, "/nowhere/prog", "00");
    uint32_t stack =
        recording_stack(r, (const struct frame[]){{module, 0, 10}, {module, 0, 20}}, 2);
    sample_events(r, thread, stack);
    if (!recording_finish(r, &e))
        fail_msg("%s", e.text);
    sample_symbols(s->path);
    if (!session_open(&s->session, s->path, &e))
        fail_msg("%s", e.text);
    s->symbols = symbols_open(s->session);
    *state = s;
    return 0;
}

static inline int sample_tear_down(void **state)
{
    struct sample *s = *state;

    symbols_close(s->symbols);
    session_close(s->session);
    folder_remove(s->folder);
    free(s->path);
    free(s);
    return 0;
}

#endif
