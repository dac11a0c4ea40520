/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/made.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "engine/buf.h"
#include "engine/graph.h"
#include "engine/recording.h"
#include "engine/scratch.h"
#include "engine/session.h"

enum {
    THREADS = 4,
    TASKS = 10,
    LOG_STEPS_MAX = 5,
    APPLY_STEPS_MAX = 6,
    DATA_BLOCKS = 1024,
    STRETCHES = 8, /* of the trace: nobody syncs in every other one */
    RECORD = 2048, /* of the log */
    BYTES_MAX = 2 * OP_BLOCK_SIZE,
    NAME_SIZE = 64,
    TURNS_TOLD = 8, /* an acknowledgement after so many turns of a thread */
    LINES = 320,    /* of a source file */
};

/* A task is the outermost function of its thread, unless the run is rich: there all are called by
 * the main function, and write by a helper. */
enum function { TASK, LOG, APPLY, MAIN, HELPER, FUNCTIONS };

struct thread {
    uint32_t number, log, data, table;
    uint64_t log_size, table_size;
    uint32_t fresh; /* the file being made */
    uint32_t fresh_name, table_name;
    uint32_t folder, alias; /* in a rich run */
    uint32_t task, phase, step, turns;
};

struct maker {
    struct recording *r;
    sqlite3 *db;
    enum made_kind kind;
    uint64_t events, position, random;
    uint64_t payload, told;
    uint32_t module, library;
    uint32_t tables; /* made so far */
    struct thread threads[THREADS];
    uint32_t stacks[TASKS][2][APPLY_STEPS_MAX + 1];
};

static uint64_t next_random(struct maker *m)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return m->random;
}

/* What a place of the program always does the same way. */
static uint32_t trait(uint32_t task, uint32_t phase, uint32_t step, uint32_t choices)
{
    return (uint32_t)scratch_mix(((uint64_t)task << 32 | phase << 16 | step) + 1) % choices;
}

/* A return address stands for a function and a line of it. */
static uint64_t address_of(enum function function, uint32_t task, uint32_t line)
{
    return ((uint64_t)task * FUNCTIONS + function) << 8 | line;
}

static uint32_t stack_of(struct maker *m, uint32_t task, uint32_t phase, uint32_t step)
{
    uint32_t *known = &m->stacks[task][phase][step];
    if (*known)
        return *known;
    struct frame at = {m->module, FRAME_EXACT, address_of(phase ? APPLY : LOG, task, 1 + step)};
    struct frame in = {m->module, FRAME_EXACT, address_of(TASK, task, 1 + phase)};
    const struct frame plain[] = {at, in};
    const struct frame rich[] = {
        {m->library, FRAME_EXACT, 16 + phase},
        {m->module, FRAME_EXACT, address_of(HELPER, task, 1)},
        at,
        in,
        {m->module, FRAME_EXACT, address_of(MAIN, task, 1)},
    };
    if (m->kind == MADE_RICH)
        *known = recording_stack(m->r, rich, sizeof rich / sizeof *rich);
    else
        *known = recording_stack(m->r, plain, sizeof plain / sizeof *plain);
    return *known;
}

static void add_event(struct maker *m, struct thread *t, struct event event)
{
    static const uint16_t numbers[CALL_COUNT] = {
        [CALL_OPEN] = SYS_openat,        [CALL_WRITE] = SYS_pwrite64,
        [CALL_TRUNCATE] = SYS_ftruncate, [CALL_FALLOCATE] = SYS_fallocate,
        [CALL_RENAME] = SYS_rename,      [CALL_UNLINK] = SYS_unlink,
        [CALL_MKDIR] = SYS_mkdir,        [CALL_RMDIR] = SYS_rmdir,
        [CALL_SYMLINK] = SYS_symlink,    [CALL_CHMOD] = SYS_fchmod,
        [CALL_FSYNC] = SYS_fsync,        [CALL_FDATASYNC] = SYS_fdatasync,
        [CALL_PRINT] = SYS_write,
    };
    event.entry = ++m->position;
    event.exit = ++m->position;
    event.time = m->position * 1000;
    event.thread = t->number;
    event.syscall = numbers[event.call];
    event.stack = stack_of(m, t->task, t->phase, t->step);
    recording_end(m->r, recording_begin(m->r, &event), &event);
}

/* "log-3" */
static void write_name(char *name, const char *sort, uint64_t number)
{
    snprintf(name, NAME_SIZE, "%s-%" PRIu64, sort, number);
}

static uint32_t name_of(struct maker *m, const char *sort, uint64_t number)
{
    char name[NAME_SIZE];
    write_name(name, sort, number);
    return recording_string(m->r, name, strlen(name));
}

static void make_file(struct maker *m, struct thread *t, const char *sort, uint64_t number)
{
    char path[NAME_SIZE];
    write_name(path, sort, number);
    uint32_t name = t->fresh_name = name_of(m, sort, number);
    t->fresh = recording_file(m->r, FILE_REGULAR, path);
    add_event(m, t,
              (struct event){.call = CALL_OPEN,
                             .traits = EVENT_CREATED,
                             .file = t->fresh,
                             .dir = FILE_ROOT,
                             .name = name,
                             .mode = 0644,
                             .flags = O_CREAT | O_RDWR});
}

static void write_bytes(struct maker *m, struct thread *t, uint32_t file, uint64_t offset,
                        uint64_t size)
{
    add_event(m, t,
              (struct event){.call = CALL_WRITE,
                             .file = file,
                             .offset = offset,
                             .size = size,
                             .result = (int64_t)size,
                             .payload = m->payload});
}

/* Does nothing where this task, or everybody at the time, does not sync. */
static void sync_file(struct maker *m, struct thread *t, uint32_t file, uint16_t call)
{
    uint64_t stretch = recording_events(m->r) * STRETCHES / m->events;
    if (stretch % 2 == 0 && trait(t->task, 0, 0, 3))
        add_event(m, t, (struct event){.call = call, .file = file});
}

/* The log takes a few records, then perhaps a sync. */
static bool log_step(struct maker *m, struct thread *t)
{
    uint32_t records = 1 + trait(t->task, 0, 1, LOG_STEPS_MAX - 1);
    if (t->step == records) {
        sync_file(m, t, t->log, CALL_FDATASYNC);
        return false;
    }
    write_bytes(m, t, t->log, t->log_size, RECORD);
    t->log_size += RECORD;
    return true;
}

/* A new file beside the old one, then in its place. */
static bool replace_step(struct maker *m, struct thread *t)
{
    switch (t->step) {
    case 0:
        make_file(m, t, "temporary", t->number);
        return true;
    case 1:
        write_bytes(m, t, t->fresh, 0, OP_BLOCK_SIZE + trait(t->task, 1, 1, OP_BLOCK_SIZE));
        return true;
    case 2:
        sync_file(m, t, t->fresh, CALL_FSYNC);
        return true;
    case 3:
        add_event(m, t,
                  (struct event){.call = CALL_RENAME,
                                 .file = t->fresh,
                                 .dir = FILE_ROOT,
                                 .name = t->fresh_name,
                                 .other_dir = FILE_ROOT,
                                 .other_name = name_of(m, "current", t->number)});
        return true;
    default:
        sync_file(m, t, FILE_ROOT, CALL_FSYNC);
        return false;
    }
}

static bool in_place_step(struct maker *m, struct thread *t)
{
    uint32_t writes = 1 + trait(t->task, 1, 0, APPLY_STEPS_MAX - 2);
    if (t->step == writes) {
        sync_file(m, t, t->data, CALL_FSYNC);
        return false;
    }
    uint64_t block = next_random(m) % DATA_BLOCKS;
    write_bytes(m, t, t->data, block * OP_BLOCK_SIZE, 512 + trait(t->task, 1, t->step, 3000));
    return true;
}

/* A table of its own; the one before it goes. */
static bool table_step(struct maker *m, struct thread *t)
{
    switch (t->step) {
    case 0:
        make_file(m, t, "table", ++m->tables);
        t->table_size = 0;
        return true;
    case 1:
    case 2:
    case 3: {
        uint64_t size = 500 + trait(t->task, 1, t->step, OP_BLOCK_SIZE);
        write_bytes(m, t, t->fresh, t->table_size, size);
        t->table_size += size;
        return true;
    }
    case 4:
        sync_file(m, t, t->fresh, CALL_FSYNC);
        return true;
    default:
        if (t->table)
            add_event(m, t,
                      (struct event){.call = CALL_UNLINK,
                                     .traits = EVENT_LAST_NAME,
                                     .file = t->table,
                                     .dir = FILE_ROOT,
                                     .name = t->table_name});
        t->table = t->fresh;
        t->table_name = t->fresh_name;
        return false;
    }
}

/* ---- what only rich runs do ---- */

/* Makes and changes names of all sorts in a folder; those of the last time go first. */
static bool names_step(struct maker *m, struct thread *t)
{
    uint32_t name = name_of(m, "folder", t->number), other = name_of(m, "alias", t->number);
    bool there = t->folder != 0;
    switch (t->step) {
    case 0:
        if (there)
            add_event(m, t,
                      (struct event){.call = CALL_UNLINK,
                                     .file = t->alias,
                                     .dir = t->folder,
                                     .name = other,
                                     .traits = EVENT_LAST_NAME});
        return true;
    case 1:
        if (there)
            add_event(m, t,
                      (struct event){.call = CALL_RMDIR,
                                     .file = t->folder,
                                     .dir = FILE_ROOT,
                                     .name = name,
                                     .traits = EVENT_LAST_NAME});
        return true;
    case 2:
        t->folder = recording_file(m->r, FILE_DIRECTORY, "folder");
        add_event(m, t,
                  (struct event){.call = CALL_MKDIR,
                                 .file = t->folder,
                                 .dir = FILE_ROOT,
                                 .name = name,
                                 .mode = 0755});
        return true;
    case 3:
        t->alias = recording_file(m->r, FILE_SYMLINK, "alias");
        add_event(m, t,
                  (struct event){.call = CALL_SYMLINK,
                                 .file = t->alias,
                                 .dir = t->folder,
                                 .name = other,
                                 .size = 8,
                                 .payload = m->payload});
        return true;
    default:
        add_event(m, t, (struct event){.call = CALL_CHMOD, .file = t->log, .mode = 0640});
        return false;
    }
}

/* The log begins anew, with room for what will come. */
static bool rotate_step(struct maker *m, struct thread *t)
{
    switch (t->step) {
    case 0:
        t->log_size = RECORD / 2; /* in the middle of a block: its rest is zeroed */
        add_event(m, t, (struct event){.call = CALL_TRUNCATE, .file = t->log, .size = t->log_size});
        return true;
    case 1:
        add_event(m, t,
                  (struct event){.call = CALL_FALLOCATE,
                                 .file = t->log,
                                 .offset = t->log_size,
                                 .size = BYTES_MAX,
                                 .flags = FALLOC_FL_KEEP_SIZE});
        return true;
    case 2:
        write_bytes(m, t, t->log, t->log_size, RECORD);
        t->log_size += RECORD;
        return true;
    default:
        sync_file(m, t, t->log, CALL_FSYNC);
        return false;
    }
}

static void tell(struct maker *m, struct thread *t)
{
    static const char words[] = "saved\n";
    if (!m->told)
        m->told = recording_payload(m->r, words, sizeof words - 1);
    if (++t->turns % TURNS_TOLD == 0)
        add_event(m, t,
                  (struct event){.call = CALL_PRINT,
                                 .payload = m->told,
                                 .size = sizeof words - 1,
                                 .result = (int64_t)sizeof words - 1,
                                 .fd = 1});
}

/* ---- the whole ---- */

/* Log and files are behind a lock: threads take turns between phases. */
static void thread_turn(struct maker *m, struct thread *t)
{
    static bool (*const apply[])(struct maker *, struct thread *) = {
        replace_step, in_place_step, table_step, names_step, rotate_step};
    enum { PLAIN_WAYS = 3, RICH_WAYS = sizeof apply / sizeof *apply };
    uint32_t ways = m->kind == MADE_RICH ? RICH_WAYS : PLAIN_WAYS;
    t->step = 0;
    while (t->phase ? apply[t->task % ways](m, t) : log_step(m, t))
        t->step++;
    if (m->kind == MADE_RICH && t->phase)
        tell(m, t);
    if (t->phase)
        t->task = (uint32_t)(next_random(m) % TASKS);
    t->phase = !t->phase;
}

/* One that is there before the run, empty. */
static uint32_t find_file(struct maker *m, const char *sort, uint64_t number)
{
    char name[NAME_SIZE];
    write_name(name, sort, number);
    uint32_t file = recording_file(m->r, FILE_REGULAR, name);
    recording_image_file(m->r, file, FILE_REGULAR, 0644, 0, NULL);
    recording_image_name(m->r, FILE_ROOT, name, file);
    return file;
}

static void start_threads(struct maker *m)
{
    uint32_t process = recording_process(m->r, 1, 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        struct thread *t = &m->threads[i];
        *t = (struct thread){.task = i};
        t->number = recording_thread(m->r, process, 1 + (int)i);
        t->log = find_file(m, "log", i);
        t->data = find_file(m, "data", i);
    }
}

static bool add_symbol(struct maker *m, enum function function, uint32_t task, uint32_t line)
{
    static const char *const names[] = {"task", "log", "apply", "main", "write_all"};
    char *sql =
        sqlite3_mprintf("INSERT INTO symbols VALUES (%u, %lld, 0, '%s_%u', '/made/task_%u.c', %u)",
                        m->module, (long long)address_of(function, task, line), names[function],
                        task, task, line + LINES / FUNCTIONS * function);
    bool done = sqlite3_exec(m->db, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_free(sql);
    return done;
}

static bool add_source(struct maker *m, uint32_t task)
{
    struct buf text = {0};
    for (int line = 1; line <= LINES; line++)
        buf_printf(&text, "    step(%d); /* of task %u */\n", line, task);
    char *sql = sqlite3_mprintf("INSERT INTO sources VALUES ('/made/task_%u.c', '/made/task_%u.c', "
                                "0, '', CAST(%Q AS BLOB))",
                                task, task, buf_string(&text));
    bool done = sqlite3_exec(m->db, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_free(sql);
    buf_free(&text);
    return done;
}

static bool add_task(struct maker *m, uint32_t task)
{
    bool done = add_symbol(m, TASK, task, 1) && add_symbol(m, TASK, task, 2) &&
                add_symbol(m, MAIN, task, 1) && add_symbol(m, HELPER, task, 1);
    for (uint32_t step = 0; done && step <= APPLY_STEPS_MAX; step++)
        done = add_symbol(m, LOG, task, 1 + step) && add_symbol(m, APPLY, task, 1 + step);
    return done && (m->kind == MADE_PLAIN || add_source(m, task));
}

/* What the recorder keeps of the debug info. */
static bool add_symbols(struct maker *m, const char *path, struct error *e)
{
    struct session *s;
    if (!session_open(&s, path, e))
        return false;
    m->db = session_db(s);
    bool done = sqlite3_exec(m->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
    for (uint32_t task = 0; done && task < TASKS; task++)
        done = add_task(m, task);
    done = done && sqlite3_exec(m->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    if (!done)
        error_set(e, "%s: %s", path, sqlite3_errmsg(m->db));
    session_close(s);
    return done;
}

/* One write, which makes a behaviour of very many ops. */
static void write_large(struct maker *m, struct thread *t, uint64_t blocks)
{
    uint64_t size = blocks * OP_BLOCK_SIZE;

    add_event(m, t,
              (struct event){.call = CALL_WRITE,
                             .file = t->data,
                             .size = size,
                             .result = (int64_t)size,
                             .payload = PAYLOAD_ZEROS});
}

bool made_session(const char *path, uint64_t events, uint64_t files, enum made_kind kind,
                  struct error *e)
{
    struct maker m = {.kind = kind, .events = events, .random = 88172645463325252U};
    unsigned char bytes[BYTES_MAX];
    if (!recording_create(&m.r, path, e))
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)next_random(&m);
    m.payload = recording_payload(m.r, bytes, sizeof bytes);
    recording_meta(m.r, "program", "made");
    recording_meta(m.r, "started", "2026-01-01T00:00:00Z");
    recording_meta(m.r, "status", "exited with status 0");
    recording_meta(m.r, "directory", "/made/data");
    recording_meta(m.r, "cwd", "/made");
    m.module = recording_module(m.r, "made", "");
    m.library = recording_module(m.r, "library", "");
    recording_file(m.r, FILE_DIRECTORY, "");
    recording_image_file(m.r, FILE_ROOT, FILE_DIRECTORY, 0755, 0, NULL);
    start_threads(&m);
    for (uint64_t i = 0; i < files; i++)
        find_file(&m, "file", i);
    if (files)
        write_large(&m, &m.threads[0], 2 * files);
    while (recording_events(m.r) < events)
        thread_turn(&m, &m.threads[next_random(&m) % THREADS]);
    return recording_finish(m.r, e) && add_symbols(&m, path, e);
}
