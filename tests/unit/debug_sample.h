/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * debug_sample: a small run in which CURRENT is renamed before the manifest that it names is
 * durable, with its analysis and the schedule in hand, for tests of what the debugger shows.
 * Include after cmocka.h.
 *
 *      1 create MANIFEST     new_db        db.c:21       (one name op)
 *      2 write MANIFEST      emit_record   log.c:103     (alloc, data)
 *      3 create tmp          set_current   db.c:53
 *      4 write tmp           set_current   db.c:60
 *      5 fdatasync tmp       set_current   db.c:61
 *      6 rename tmp CURRENT  set_current   db.c:131
 *      7 print "saved\n"     main          main.c:7
 *      8 write MANIFEST      emit_record   log.c:103
 *      9 fdatasync MANIFEST  main          main.c:8
 */
#ifndef TESTS_UNIT_DEBUG_SAMPLE_H
#define TESTS_UNIT_DEBUG_SAMPLE_H

#include <sqlite3.h>

#include "engine/analysis.h"
#include "engine/graph_session.h"
#include "engine/walk.h"
#include "tests/unit/run_sample.h"
#include "tests/unit/view_sample.h"

struct debug {
    struct run *run;
    struct analysis *analysis;
    struct walk *walk;
    const struct fix *fixes; /* that the analysis is to pretend */
    size_t fix_count;
};

/* A place in the sample's program; main is below all of them. */
RUN_UNUSED static uint32_t debug_stack(struct run *f, uint64_t address)
{
    uint32_t module = recording_module(f->r, "/bin/sample", "abcd");
    const struct frame frames[] = {{module, FRAME_EXACT, address}, {module, FRAME_EXACT, 0x900}};
    return recording_stack(f->r, frames, 2);
}

RUN_UNUSED static uint64_t debug_write(struct run *f, uint32_t file, const char *path,
                                       uint64_t offset, const char *text, uint64_t address)
{
    return run_event(f, (struct event){.call = CALL_WRITE,
                                       .file = file,
                                       .path = run_string(f, path),
                                       .offset = offset,
                                       .size = strlen(text),
                                       .result = (int64_t)strlen(text),
                                       .payload = recording_payload(f->r, text, strlen(text)),
                                       .stack = debug_stack(f, address)});
}

RUN_UNUSED static uint32_t debug_create(struct run *f, const char *name, uint64_t address)
{
    uint32_t file = recording_file(f->r, FILE_REGULAR, name);
    run_event(f, (struct event){.call = CALL_OPEN,
                                .traits = EVENT_CREATED,
                                .mode = 0644,
                                .file = file,
                                .dir = FILE_ROOT,
                                .name = run_string(f, name),
                                .path = run_string(f, name),
                                .stack = debug_stack(f, address)});
    return file;
}

RUN_UNUSED static void debug_fdatasync(struct run *f, uint32_t file, const char *path,
                                       uint64_t address)
{
    run_event(f, (struct event){.call = CALL_FDATASYNC,
                                .file = file,
                                .path = run_string(f, path),
                                .stack = debug_stack(f, address)});
}

RUN_UNUSED static void debug_rename(struct run *f, uint32_t file, const char *from, const char *to,
                                    uint64_t address)
{
    run_event(f, (struct event){.call = CALL_RENAME,
                                .file = file,
                                .dir = FILE_ROOT,
                                .name = run_string(f, from),
                                .path = run_string(f, from),
                                .other_dir = FILE_ROOT,
                                .other_name = run_string(f, to),
                                .other_path = run_string(f, to),
                                .stack = debug_stack(f, address)});
}

RUN_UNUSED static void debug_print(struct run *f, const char *text)
{
    run_event(f, (struct event){.call = CALL_PRINT,
                                .fd = 1,
                                .size = strlen(text),
                                .payload = recording_payload(f->r, text, strlen(text)),
                                .stack = debug_stack(f, 0x700)});
}

RUN_UNUSED static void debug_record(struct run *f)
{
    uint32_t manifest = debug_create(f, "MANIFEST", 0x100);
    debug_write(f, manifest, "MANIFEST", 0, "first record\n", 0x200);
    uint32_t tmp = debug_create(f, "tmp", 0x300);
    debug_write(f, tmp, "tmp", 0, "MANIFEST\n", 0x400);
    debug_fdatasync(f, tmp, "tmp", 0x500);
    debug_rename(f, tmp, "tmp", "CURRENT", 0x600);
    debug_print(f, "saved\n");
    debug_write(f, manifest, "MANIFEST", 13, "second record\n", 0x200);
    debug_fdatasync(f, manifest, "MANIFEST", 0x800);
}

RUN_UNUSED static void debug_symbols(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "INSERT INTO symbols VALUES (1, 256, 0, 'new_db', '/src/db.c', 21);"
                     "INSERT INTO symbols VALUES (1, 512, 0, 'emit_record', '/src/log.c', 103);"
                     "INSERT INTO symbols VALUES (1, 768, 0, 'set_current', '/src/db.c', 53);"
                     "INSERT INTO symbols VALUES (1, 1024, 0, 'set_current', '/src/db.c', 60);"
                     "INSERT INTO symbols VALUES (1, 1280, 0, 'set_current', '/src/db.c', 61);"
                     "INSERT INTO symbols VALUES (1, 1536, 0, 'set_current', '/src/db.c', 131);"
                     "INSERT INTO symbols VALUES (1, 1792, 0, 'main', '/src/main.c', 7);"
                     "INSERT INTO symbols VALUES (1, 2048, 0, 'main', '/src/main.c', 8);"
                     "INSERT INTO symbols VALUES (1, 2304, 0, 'main', '/src/main.c', 5);",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
}

/* The run has been recorded: works out the rest. */
RUN_UNUSED static void debug_analyse(struct debug *d, const char *model)
{
    struct analysis_options options = {
        .behaviours = BEHAVIOUR_DEFAULTS, .fixes = d->fixes, .fix_count = d->fix_count};
    struct error e;

    run_end(d->run);
    session_close(d->run->s);
    debug_symbols(d->run->path);
    if (!session_open(&d->run->s, d->run->path, &e) || !model_find(model, &options.model, &e) ||
        !analysis_new(&d->analysis, d->run->s, &options, &e))
        fail_msg("%s", e.text);
    const struct analysis *a = d->analysis;
    d->walk = walk_new(a->graph, graph_session_source(a->source), a->actions, a->action_count);
}

/* A run that the test records itself. */
RUN_UNUSED static int debug_begin(void **state)
{
    void *run;
    struct debug *d = xcalloc(1, sizeof *d);
    run_set_up(&run);
    d->run = run;
    *state = d;
    return 0;
}

RUN_UNUSED static int debug_set_up(void **state)
{
    debug_begin(state);
    struct debug *d = *state;
    debug_record(d->run);
    debug_analyse(d, "ext4");
    return 0;
}

RUN_UNUSED static int debug_tear_down(void **state)
{
    struct debug *d = *state;
    void *run = d->run;
    walk_free(d->walk);
    analysis_free(d->analysis);
    run_tear_down(&run);
    free(d);
    return 0;
}

#define debug_case(function)                                                                       \
    cmocka_unit_test_setup_teardown(function, debug_set_up, debug_tear_down)

/* The first op of an event. */
RUN_UNUSED static uint32_t debug_op(const struct debug *d, uint64_t event)
{
    size_t count;
    uint32_t op = graph_event_ops(d->analysis->graph, event, &count);
    assert_true(count > 0);
    return op;
}

#endif
