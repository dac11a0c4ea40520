/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For the tests of the checker pool: a crash state, a pool over it in each way that works here,
 * and single runs. Include after cmocka.h.
 */
#ifndef TESTS_UNIT_POOL_SAMPLE_H
#define TESTS_UNIT_POOL_SAMPLE_H

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "engine/buf.h"
#include "engine/pool.h"
#include "engine/pool_files.h"
#include "tests/unit/folders.h"

#define SAMPLE_UNUSED __attribute__((unused))

enum { SAMPLE_TIMEOUT = 20, SAMPLE_WAIT_MS = 60 * 1000 };

struct sample {
    char *top;  /* the test's folder: checkers are written to it, and run in it */
    char *data; /* the program's data directory; "my data" in top */
    char *base; /* what each lower holds */
    struct pool_options options;
    struct pool *pool;
};

static void sample_shell(const struct sample *s, const char *command)
{
    char *line = xasprintf("cd '%s' && { %s\n}", s->top, command);
    if (system(line) != 0)
        fail_msg("failed: %s", line);
    free(line);
}

/* Two files, one of two names, a directory with a file, a link. */
static struct sample *sample_new(void)
{
    struct sample *s = xcalloc(1, sizeof *s);
    char *folder = folder_new();
    s->top = realpath(folder, NULL);
    free(folder);
    assert_non_null(s->top);
    assert_int_equal(chmod(s->top, 0755), 0);
    s->data = xasprintf("%s/my data", s->top);
    s->base = xasprintf("%s/base", s->top);
    sample_shell(s, "mkdir base 'my data' && cd base && echo alpha >a && mkdir sub && "
                    "echo beta >sub/b && ln -s a link && chmod 640 a && chmod 711 .");
    s->options = (struct pool_options){
        .dir = s->data, .folder = s->top, .jobs = 1, .timeout = SAMPLE_TIMEOUT};
    return s;
}

static void sample_close(struct sample *s)
{
    pool_free(s->pool);
    s->pool = NULL;
}

static void sample_free(struct sample *s)
{
    sample_close(s);
    free(s->data);
    free(s->base);
    folder_remove(s->top);
    free(s);
}

/* A pool for the command, each lower filled. */
static void sample_open(struct sample *s, const char *command)
{
    struct error e;
    sample_close(s);
    s->options.command = command;
    if (!pool_new(&s->pool, &s->options, &e))
        fail_msg("%s: %s", command, e.text);
    for (int i = 0; i < pool_workers(s->pool); i++)
        if (!pool_files_copy(s->base, pool_lower(s->pool, i), &e))
            fail_msg("%s", e.text);
}

static void sample_start(struct sample *s, int worker, const struct pool_input *input)
{
    struct error e;
    if (!pool_run(s->pool, worker, input, &e))
        fail_msg("%s: %s", s->options.command, e.text);
}

/* Runs it on worker 0 of the open pool; the state must be as before then. */
static struct pool_verdict sample_again(struct sample *s)
{
    struct pool_verdict v;
    sample_start(s, 0, &(struct pool_input){.ticket = 7});
    if (!pool_wait(s->pool, &v, SAMPLE_WAIT_MS))
        fail_msg("%s: no verdict", s->options.command);
    assert_int_equal(v.ticket, 7);
    assert_int_equal(v.worker, 0);
    folder_same(s->base, pool_lower(s->pool, 0));
    return v;
}

static struct pool_verdict sample_run(struct sample *s, const char *command)
{
    sample_open(s, command);
    return sample_again(s);
}

static void sample_expect(struct sample *s, const char *command, enum pool_outcome outcome)
{
    struct pool_verdict v = sample_run(s, command);
    if (v.outcome != outcome)
        fail_msg("%s: outcome %d, not %d; status %d, signal %d: %s", command, v.outcome, outcome,
                 v.exit_status, v.signal, v.output);
}

static const char *sample_way_name(enum pool_way way)
{
    static const char *const names[] = {"auto", "namespaces", "user namespace", "copies"};
    return names[way];
}

/* Whether pools work that way here; says so when not. */
static bool sample_way_works(enum pool_way way)
{
    struct sample *s = sample_new();
    struct error e;
    s->options.way = way;
    s->options.command = "true";
    bool works = pool_new(&s->pool, &s->options, &e);
    if (!works)
        print_message("not tested: %s: %s\n", sample_way_name(way), e.text);
    sample_free(s);
    return works;
}

/* Calls the test once for each way, with a sample of its own. */
SAMPLE_UNUSED static void sample_each_way(void (*test)(struct sample *s))
{
    for (enum pool_way way = POOL_ROOT; way <= POOL_COPY; way++) {
        if (!sample_way_works(way))
            continue;
        struct sample *s = sample_new();
        s->options.way = way;
        test(s);
        sample_free(s);
    }
}

/* How many processes have the word on their command line. */
SAMPLE_UNUSED static int sample_processes(const char *word)
{
    int found = 0;
    DIR *proc = opendir("/proc");
    assert_non_null(proc);
    for (struct dirent *entry; (entry = readdir(proc));) {
        char *path = xasprintf("/proc/%s/cmdline", entry->d_name);
        char line[4096];
        int fd = open(path, O_RDONLY);
        ssize_t n = fd >= 0 ? read(fd, line, sizeof line) : 0;
        found += n > 0 && memmem(line, (size_t)n, word, strlen(word));
        if (fd >= 0)
            close(fd);
        free(path);
    }
    closedir(proc);
    return found;
}

/* Entries of a folder that begin like this. */
SAMPLE_UNUSED static int sample_entries(const char *folder, const char *prefix)
{
    int found = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        found += !strncmp(entry->d_name, prefix, strlen(prefix));
    if (dir)
        closedir(dir);
    return found;
}

#endif
