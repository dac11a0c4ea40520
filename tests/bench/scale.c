/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How what comes before the first checker grows with the trace: time and memory for sessions of ten
 * thousand to a million events, each in a process of its own. The last line is what counts; the
 * program fails when it is not near-linear.
 *
 *     scale [MODEL]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/analysis.h"
#include "engine/clock.h"
#include "engine/explore_inside.h"
#include "tests/bench/made.h"

/* What is asked for: 100 times the events may take this many times the time, and each event this
 * much memory. */
enum { MAX_TIMES = 150, MAX_BYTES = 300 };

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
    struct exploration x = {
        .analysis = a,
        .options = {.strategy = STRATEGY_REPRESENTATIVE, .progress = go_on, .data = &asked}};
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
        bool done =
            out ? analyse(path, model, &result, &e) : made_session(path, events, 0, MADE_PLAIN, &e);
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
           "signatures", "groups", "analysis", "groups", "ideals", "total", "wall", "analysis",
           "MiB");
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
