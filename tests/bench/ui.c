/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How long people wait for the debugger: from a key to the finished frame, on a session of a
 * million events, beside one of a thousand in the same run; and on one of a hundred thousand files
 * and a behaviour of hundreds of thousands of ops.
 * Fails when it is too long.
 *
 *     ui [EVENTS [FACTOR]]        PROGRAM: the flotsam that is measured on a terminal
 *
 *     ui check|use|many SESSION   one part of it, in this process, and which frames were slow
 *
 * FACTOR makes the limits in milliseconds larger, for machines that do other things besides.
 */
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/clock.h"
#include "engine/mem.h"
#include "engine/worker.h"
#include "tests/bench/made.h"
#include "tests/bench/ui.h"

/* Milliseconds. */
enum { FRAME_LIMIT = 50, OPENING_LIMIT = 1000, QUITTING_LIMIT = 200 };

/* What does not go on by itself costs the same however long the trace is: its median may be so many
 * times that of the small session. */
enum { GROWTH_LIMIT = 6 };
static const enum measure constant[] = {MEASURE_MOVING,    MEASURE_PAGING,   MEASURE_ENDS,
                                        MEASURE_SWITCHING, MEASURE_STEPPING, MEASURE_SELECTING};

enum { EVENTS = 1000000, BASELINE = 1000, EVENTS_A_FILE = 10, PERCENT_HIGH = 99 };

/* ---- samples ---- */

void samples_add(struct samples *s, double wall, double own, const char *what)
{
    if (s->n == s->room) {
        s->room = s->room ? 2 * s->room : 1024;
        s->wall = xrealloc(s->wall, s->room * sizeof *s->wall);
        s->own = xrealloc(s->own, s->room * sizeof *s->own);
    }
    if (own > s->most) {
        s->most = own;
        snprintf(s->worst, sizeof s->worst, "%s", what);
    }
    s->wall[s->n] = wall;
    s->own[s->n++] = own;
}

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

void samples_take(struct samples *s, struct frames *out)
{
    size_t high = (s->n - 1) * PERCENT_HIGH / 100;

    qsort(s->wall, s->n, sizeof *s->wall, compare);
    qsort(s->own, s->n, sizeof *s->own, compare);
    *out = (struct frames){.n = s->n,
                           .median = s->own[s->n / 2],
                           .high = s->own[high],
                           .most = s->own[s->n - 1],
                           .wall = s->wall[high]};
    memcpy(out->worst, s->worst, sizeof s->worst);
    free(s->wall);
    free(s->own);
    *s = (struct samples){0};
}

/* ---- one after the other, each in a process of its own ---- */

enum step { MAKE, FIRST, USE, LEAVE, GIVE_UP, STEPS, MANY };

struct job {
    const char *path;
    uint64_t events, files;
    double took;   /* LEAVE: how long, */
    uint64_t left; /* and when it was done; the process goes after that */
    struct figures figures;
};

static bool run_step(struct job *job, enum step step, struct error *e)
{
    switch (step) {
    case MAKE:
        return made_session(job->path, job->events, job->files, MADE_RICH, e);
    case FIRST:
        return ui_first(job->path, &job->figures, e);
    case USE:
        return ui_use(job->path, &job->figures, e);
    case LEAVE:
        return ui_leave(job->path, false, &job->took, &job->left, e);
    case GIVE_UP:
        return ui_leave(job->path, true, &job->took, &job->left, e);
    case MANY:
        return ui_many(job->path, &job->figures, e);
    case STEPS:
        break;
    }
    return false;
}

static bool run_apart(struct job *job, enum step step)
{
    int pipes[2], status = 0;
    struct job result;

    if (pipe(pipes) != 0)
        return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct error e;
        bool done = run_step(job, step, &e);
        if (!done)
            fprintf(stderr, "ui: %s\n", e.text);
        done = done && write(pipes[1], job, sizeof *job) == (ssize_t)sizeof *job;
        exit(done ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    close(pipes[1]);
    bool got = child > 0 && read(pipes[0], &result, sizeof result) == (ssize_t)sizeof result;
    bool ended = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    close(pipes[0]);
    if (!got || !ended) {
        fprintf(stderr, "ui: step %d ended with status %#x\n", step, (unsigned)status);
        return false;
    }
    double since = (double)(clock_now() - result.left) / (double)NANOSECONDS_PER_MS;
    *job = result;
    if (step == LEAVE)
        job->figures.quitting = job->took + since;
    if (step == GIVE_UP)
        job->figures.giving_up = job->took + since;
    return true;
}

/* What loading shows with a report is the longer of both. */
static bool measure(const char *path, uint64_t events, struct figures *out)
{
    struct job job = {.path = path, .events = events};

    for (int step = 0; step < STEPS; step++)
        if (!run_apart(&job, (enum step)step))
            return false;
    *out = job.figures;
    struct error e;
    if (getenv("PROGRAM") && !ui_terminal(getenv("PROGRAM"), path, out, &e)) {
        fprintf(stderr, "ui: %s\n", e.text);
        return false;
    }
    return unlink(path) == 0;
}

/* The run is short: what counts are its files, and one write. */
static bool measure_many(const char *path, uint64_t files, struct figures *out)
{
    struct job job = {.path = path, .events = BASELINE, .files = files};

    if (!run_apart(&job, MAKE) || !run_apart(&job, MANY))
        return false;
    out->frames[MEASURE_MANY] = job.figures.frames[MEASURE_MANY];
    out->frames[MEASURE_LARGE] = job.figures.frames[MEASURE_LARGE];
    return unlink(path) == 0;
}

/* ---- the table ---- */

static bool within(const char *what, double is, double limit)
{
    if (is <= limit)
        return true;
    printf("TOO SLOW: %s takes %.1f ms; the limit is %.0f ms\n", what, is, limit);
    return false;
}

static void print_line(const char *name, const struct frames *f, const struct frames *base)
{
    if (!f->n)
        return;
    printf("%-28s %6" PRIu64 " %7.2f %7.2f %7.2f %7.2f  %7.2f %7.2f", name, f->n, f->median,
           f->high, f->most, f->wall, base->median, base->high);
    if (base->n)
        printf("  x%.1f x%.1f", f->median / base->median, f->high / base->high);
    printf("  %s\n", f->worst);
}

static const char *const names[] = {
#define X(id, name) [MEASURE_##id] = name,
    MEASURES(X)
#undef X
};

static void print_all(const struct figures *f, const struct figures *base, uint64_t events)
{
    printf("%" PRIu64 " events: %" PRIu64 " ops, %" PRIu64 " states, %" PRIu64 " bugs\n", events,
           f->ops, f->states, f->bugs);
    printf("ms from key to frame; beside it a session of %d events; how many times as long\n",
           BASELINE);
    printf("%-28s %6s %7s %7s %7s %7s  %7s %7s  %s\n", "", "frames", "50 %", "99 %", "most",
           "by wall", "50 %", "99 %", "x50 x99  the longest");
    for (int i = 0; i < MEASURE_COUNT; i++)
        print_line(names[i], &f->frames[i], &base->frames[i]);
    printf("opening: %.1f ms to the first frame (%.1f), %.0f ms until everything is there (%.0f)\n",
           f->opening, base->opening, f->loading, base->loading);
    printf("leaving: %.1f ms (%.1f), while it loads %.1f ms (%.1f)\n", f->quitting, base->quitting,
           f->giving_up, base->giving_up);
    printf("memory: %.0f bytes an event\n",
           (f->memory - base->memory) / (double)(events - BASELINE));
}

static bool grows(const struct frames *f, const struct frames *base, const char *what)
{
    if (f->median <= GROWTH_LIMIT * base->median)
        return false;
    printf("GROWS WITH THE TRACE: %s takes %.1f times as long; the limit is %d\n", what,
           f->median / base->median, GROWTH_LIMIT);
    return true;
}

static bool judge(const struct figures *f, const struct figures *base, double factor)
{
    bool held = within("opening", f->opening, OPENING_LIMIT * factor);

    held &= within("leaving", f->quitting, QUITTING_LIMIT * factor);
    held &= within("leaving while it loads", f->giving_up, QUITTING_LIMIT * factor);
    for (int i = 0; i < MEASURE_COUNT; i++)
        held &= within(names[i], f->frames[i].high, FRAME_LIMIT * factor);
    for (size_t i = 0; i < sizeof constant / sizeof *constant; i++)
        held &= !grows(&f->frames[constant[i]], &base->frames[constant[i]], names[constant[i]]);
    return held;
}

static enum step part_step(const char *part)
{
    return !strcmp(part, "check")  ? FIRST
           : !strcmp(part, "use")  ? USE
           : !strcmp(part, "many") ? MANY
                                   : STEPS;
}

static int run_part(enum step step, const char *session)
{
    struct job job = {.path = session, .figures.slow = FRAME_LIMIT / 5};
    struct error e;

    if (!run_step(&job, step, &e)) {
        fprintf(stderr, "ui: %s\n", e.text);
        return 2;
    }
    print_all(&job.figures, &(struct figures){0}, BASELINE);
    return 0;
}

/* The debugger kept a history there. */
static void clean_up(const char *folder)
{
    char path[128];

    snprintf(path, sizeof path, "%s/flotsam/history", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/flotsam", folder);
    rmdir(path);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/flotsam-ui-XXXXXX", path[64];
    struct figures base, large;
    struct error e;

    setlocale(LC_ALL, "C.UTF-8");
    /* The debugger's worker is this program again. */
    if (argc == 3 && !strcmp(argv[1], "worker"))
        return !worker_serve(argv[2], STDIN_FILENO, STDOUT_FILENO, &e);
    if (argc == 3 && part_step(argv[1]) != STEPS)
        return run_part(part_step(argv[1]), argv[2]);
    uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : EVENTS;
    double factor = argc > 2 ? strtod(argv[2], NULL) : 1;
    if (!mkdtemp(folder)) {
        perror("ui: /tmp");
        return 2;
    }
    snprintf(path, sizeof path, "%s/s.flotsam", folder);
    /* Nothing of the person who runs it is read. */
    setenv("XDG_CONFIG_HOME", folder, 1);
    setenv("XDG_STATE_HOME", folder, 1);
    bool done = measure(path, BASELINE, &base) && measure(path, events, &large) &&
                measure_many(path, events / EVENTS_A_FILE, &large);
    unlink(path);
    clean_up(folder);
    if (!done)
        return 2;
    print_all(&large, &base, events);
    return !judge(&large, &base, factor);
}
