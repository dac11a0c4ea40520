/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How what comes before the first checker grows with the trace: time and memory for sessions of ten
 * thousand to a million events, each in a process of its own. The last line is what counts; the
 * program fails when it is not near-linear.
 *
 *     scale [MODEL]
 *
 * The run that the sessions tell of is made up: a few threads at a few dozen tasks, each of which
 * appends to a log and then replaces a file, changes blocks in place or writes a new file. Some
 * tasks never sync; and for long stretches nobody does.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/analysis.h"
#include "engine/clock.h"
#include "engine/explore_inside.h"
#include "engine/recording.h"
#include "engine/scratch.h"

/* What is asked for: 100 times the events may take this many times the time, and each event this
 * much memory. */
enum { MAX_TIMES = 150, MAX_BYTES = 300 };

enum {
    THREADS = 4,
    TASKS = 10,
    LOG_STEPS_MAX = 5,
    APPLY_STEPS_MAX = 6,
    DATA_BLOCKS = 1024,
    STRETCHES = 8, /* of the trace: nobody syncs in every other one */
    RECORD = 2048, /* of the log */
    BYTES_MAX = 2 * OP_BLOCK_SIZE,
};

/* ---- the made-up program ---- */

/* A task is the outermost function of its thread. */
enum function { TASK, LOG, APPLY, FUNCTIONS };

struct thread {
    uint32_t number, log, data, table;
    uint64_t log_size, table_size;
    uint32_t fresh; /* the file being made */
    uint32_t fresh_name, table_name;
    uint32_t task, phase, step;
};

struct maker {
    struct recording *r;
    sqlite3 *db;
    uint64_t events, position, random;
    uint64_t payload;
    uint32_t module;
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
    if (!*known) {
        const struct frame frames[] = {
            {m->module, FRAME_EXACT, address_of(phase ? APPLY : LOG, task, 1 + step)},
            {m->module, FRAME_EXACT, address_of(TASK, task, 1 + phase)},
        };
        *known = recording_stack(m->r, frames, sizeof frames / sizeof *frames);
    }
    return *known;
}

static void add_event(struct maker *m, struct thread *t, struct event event)
{
    event.entry = ++m->position;
    event.exit = ++m->position;
    event.time = m->position * 1000;
    event.thread = t->number;
    event.stack = stack_of(m, t->task, t->phase, t->step);
    recording_end(m->r, recording_begin(m->r, &event), &event);
}

static uint32_t name_of(struct maker *m, const char *sort, uint64_t number)
{
    char name[64];
    int n = snprintf(name, sizeof name, "%s-%" PRIu64, sort, number);
    return recording_string(m->r, name, (size_t)n);
}

static void make_file(struct maker *m, struct thread *t, uint32_t name)
{
    t->fresh = recording_file(m->r, FILE_REGULAR, "");
    t->fresh_name = name;
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
        make_file(m, t, name_of(m, "temporary", t->number));
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
        make_file(m, t, name_of(m, "table", ++m->tables));
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

/* Log and files are behind a lock: threads take turns between phases. */
static void thread_turn(struct maker *m, struct thread *t)
{
    static bool (*const apply[])(struct maker *, struct thread *) = {replace_step, in_place_step,
                                                                     table_step};
    enum { WAYS = sizeof apply / sizeof *apply };
    t->step = 0;
    while (t->phase ? apply[t->task % WAYS](m, t) : log_step(m, t))
        t->step++;
    if (t->phase)
        t->task = (uint32_t)(next_random(m) % TASKS);
    t->phase = !t->phase;
}

/* Files that the threads find, empty. */
static void start_threads(struct maker *m)
{
    uint32_t process = recording_process(m->r, 1, 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        struct thread *t = &m->threads[i];
        *t = (struct thread){.task = i};
        t->number = recording_thread(m->r, process, 1 + (int)i);
        t->log = recording_file(m->r, FILE_REGULAR, "log");
        t->data = recording_file(m->r, FILE_REGULAR, "data");
        recording_image_file(m->r, t->log, FILE_REGULAR, 0644, 0, NULL);
        recording_image_file(m->r, t->data, FILE_REGULAR, 0644, 0, NULL);
        char name[32];
        snprintf(name, sizeof name, "log-%" PRIu32, i);
        recording_image_name(m->r, FILE_ROOT, name, t->log);
        snprintf(name, sizeof name, "data-%" PRIu32, i);
        recording_image_name(m->r, FILE_ROOT, name, t->data);
    }
}

static bool add_symbol(struct maker *m, enum function function, uint32_t task, uint32_t line)
{
    static const char *const names[] = {"task", "log", "apply"};
    char *sql = sqlite3_mprintf("INSERT INTO symbols VALUES (%u, %lld, 0, '%s_%u', 'made.c', %u)",
                                m->module, (long long)address_of(function, task, line),
                                names[function], task, line + 100 * (function + 10 * task));
    bool done = sqlite3_exec(m->db, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_free(sql);
    return done;
}

/* What the recorder keeps of the debug info. */
static bool add_symbols(struct maker *m, const char *path, struct error *e)
{
    struct session *s;
    if (!session_open(&s, path, e))
        return false;
    m->db = session_db(s);
    bool done = sqlite3_exec(m->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
    for (uint32_t task = 0; done && task < TASKS; task++) {
        done = add_symbol(m, TASK, task, 1) && add_symbol(m, TASK, task, 2);
        for (uint32_t step = 0; done && step <= APPLY_STEPS_MAX; step++)
            done = add_symbol(m, LOG, task, 1 + step) && add_symbol(m, APPLY, task, 1 + step);
    }
    done = done && sqlite3_exec(m->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    if (!done)
        error_set(e, "%s: %s", path, sqlite3_errmsg(m->db));
    session_close(s);
    return done;
}

static bool make_session(const char *path, uint64_t events, struct error *e)
{
    struct maker m = {.events = events, .random = 88172645463325252U};
    unsigned char bytes[BYTES_MAX];
    if (!recording_create(&m.r, path, e))
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)next_random(&m);
    m.payload = recording_payload(m.r, bytes, sizeof bytes);
    m.module = recording_module(m.r, "made", "");
    recording_file(m.r, FILE_DIRECTORY, "");
    recording_image_file(m.r, FILE_ROOT, FILE_DIRECTORY, 0755, 0, NULL);
    start_threads(&m);
    while (recording_events(m.r) < events)
        thread_turn(&m, &m.threads[next_random(&m) % THREADS]);
    return recording_finish(m.r, e) && add_symbols(&m, path, e);
}

/* ---- measuring ---- */

enum stage { ANALYSIS, GROUPS, IDEALS, STAGES };

struct result {
    uint64_t ops, behaviours, signatures, groups;
    double cpu[STAGES]; /* seconds at which each stage ended */
    double wall;
    double peak, analysis_peak; /* bytes */
};

/* Time of the processor rather than of the clock: others may use the machine. */
static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

/* Exploring asks whether to go on: first when the units are known, then before the first state of
 * the first of them, whose ideals are made by then. */
struct asked {
    struct result *result;
    double begin;
    int times;
};

static bool go_on(void *data, const struct explore_counts *counts)
{
    enum { BEFORE_FIRST_STATE = 3 };
    struct asked *asked = data;
    (void)counts;
    if (!asked->times++)
        asked->result->cpu[GROUPS] = cpu_seconds() - asked->begin;
    asked->result->cpu[IDEALS] = cpu_seconds() - asked->begin;
    return asked->times < BEFORE_FIRST_STATE;
}

static bool analyse(const char *path, const struct model *model, struct result *out,
                    struct error *e)
{
    struct session *s;
    struct analysis *a;
    struct analysis_options options = {.model = *model, .behaviours = BEHAVIOUR_DEFAULTS};
    struct asked asked = {out, cpu_seconds(), 0};
    uint64_t begin = clock_now();
    if (!session_open(&s, path, e) || !analysis_new(&a, s, &options, e))
        return false;
    out->cpu[ANALYSIS] = cpu_seconds() - asked.begin;
    out->analysis_peak = out->peak = peak_bytes();
    if (!a->graph->n) /* the empty session: there is nothing to go through */
        return true;
    struct exploration x = {.analysis = a,
                            .options = {.strategy = STRATEGY_REPRESENTATIVE,
                                        .progress = go_on,
                                        .data = &asked}};
    if (!exploration_units(&x, e))
        return false;
    out->wall = (double)(clock_now() - begin) / 1e9;
    out->ops = a->graph->n;
    out->behaviours = a->behaviours->n;
    out->signatures = x.groups->signature_count;
    out->groups = x.groups->n;
    out->peak = peak_bytes();
    return true;
}

/* In a process of its own, so that its peak of memory is its own: makes the session when there is
 * no result to fill. */
static bool run_apart(const char *path, uint64_t events, const struct model *model,
                      struct result *out)
{
    int pipes[2], status = 0;
    if (pipe(pipes) != 0)
        return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct error e = {0};
        struct result result = {0};
        bool done = out ? analyse(path, model, &result, &e) : make_session(path, events, &e);
        if (!done)
            fprintf(stderr, "scale: %s\n", e.text);
        done = done && write(pipes[1], &result, sizeof result) == (ssize_t)sizeof result;
        _exit(done ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    struct result result;
    close(pipes[1]);
    bool got = child > 0 && read(pipes[0], &result, sizeof result) == (ssize_t)sizeof result;
    close(pipes[0]);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return false;
    if (got && out)
        *out = result;
    return got;
}

/* The least of a few runs where one is too short to be measured well. */
static bool measure(const char *path, uint64_t events, const struct model *model,
                    struct result *out)
{
    enum { SHORT = 10000, SHORT_RUNS = 3 };
    if (!run_apart(path, events, model, NULL))
        return false;
    for (int i = 0; i < (events <= SHORT ? SHORT_RUNS : 1); i++) {
        struct result result;
        if (!run_apart(path, events, model, &result))
            return false;
        if (!i || result.cpu[IDEALS] < out->cpu[IDEALS])
            *out = result;
    }
    return unlink(path) == 0;
}

static bool measure_all(const char *path, const struct model *model, bool *held)
{
    static const uint64_t sizes[] = {10000, 100000, 1000000};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    struct result empty, r[SIZES];
    if (!measure(path, 0, model, &empty))
        return false;
    printf("model %s; seconds of CPU; MiB beyond an empty session\n", model->name);
    printf("%8s %8s %10s %10s %7s %9s %7s %7s %7s %7s %9s %7s\n", "events", "ops", "behaviours",
           "signatures", "groups", "analysis", "groups", "ideals", "total", "wall", "analysis", "MiB");
    for (size_t i = 0; i < SIZES; i++) {
        if (!measure(path, sizes[i], model, &r[i]))
            return false;
        const double *cpu = r[i].cpu;
        printf("%8" PRIu64 " %8" PRIu64 " %10" PRIu64 " %10" PRIu64 " %7" PRIu64
               " %9.3f %7.3f %7.3f %7.3f %7.3f %9.1f %7.1f\n",
               sizes[i], r[i].ops, r[i].behaviours, r[i].signatures, r[i].groups, cpu[ANALYSIS],
               cpu[GROUPS] - cpu[ANALYSIS], cpu[IDEALS] - cpu[GROUPS], cpu[IDEALS], r[i].wall,
               (r[i].analysis_peak - empty.analysis_peak) / (1024 * 1024),
               (r[i].peak - empty.peak) / (1024 * 1024));
    }
    double times = r[SIZES - 1].cpu[IDEALS] / r[0].cpu[IDEALS];
    double bytes = (r[SIZES - 1].peak - empty.peak) / (double)sizes[SIZES - 1];
    printf("1e4→1e6: time ×%.0f, memory %.0f bytes/event\n", times, bytes);
    *held = times <= MAX_TIMES && bytes <= MAX_BYTES;
    return true;
}

int main(int argc, char **argv)
{
    struct error e;
    struct model model = *model_table()[0];
    char folder[] = "/tmp/flotsam-scale-XXXXXX", path[64];
    bool held = false;
    if (argc > 1 && !model_find(argv[1], &model, &e)) {
        fprintf(stderr, "scale: %s\n", e.text);
        return 2;
    }
    if (!mkdtemp(folder)) {
        perror("scale: /tmp");
        return 2;
    }
    snprintf(path, sizeof path, "%s/s.flotsam", folder);
    bool done = measure_all(path, &model, &held);
    unlink(path);
    rmdir(folder);
    return done ? !held : 2;
}
