/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The backend that sees stores: the program runs inside Valgrind with a tool of ours
 * (tracer/valgrind/), and Valgrind runs under the system-call recorder.
 *
 * Why both. The system-call recorder knows inodes, offsets, O_APPEND, renames, descriptors that
 * travel; all that would have to be told a second time inside the tool. The calls that a program
 * makes inside Valgrind are made by the very process that ptrace follows, with the program's own
 * pointers; only their stacks are Valgrind's, and some of the calls are Valgrind's own. Both are
 * mended by announcements (tracer/stores.h), and the order is exact: the ring is read at the entry
 * of every call that matters, and one thread at a time runs inside Valgrind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/mem.h"
#include "engine/storetool.h"
#include "tracer/backend.h"

enum { COUNTER_SIZE = 4096 };

/* The memory of the counter that orders the records of several processes. It has no name, and is
 * gone with us. */
static int make_clock(void)
{
    int fd = memfd_create("flotsam-clock", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, COUNTER_SIZE) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* What is executed; the caller frees the array. Nobody's settings change the tool, children are
 * followed, nothing is printed but what ends the program, the lock between threads is no pipe (each
 * write to it would be a stop), stacks are whole. */
static char **make_arguments(const struct record_options *options, const char *launcher,
                             const char *clock)
{
    const char *const own[] = {launcher,
                               "--tool=flotsam",
                               "--command-line-only=yes",
                               "--quiet",
                               "--trace-children=yes",
                               "--child-silent-after-fork=yes",
                               "--vgdb=no",
                               "--fair-sched=try",
                               "--sigill-diagnostics=no",
                               "--show-below-main=yes",
                               "--num-callers=500",
                               clock,
                               options->plain_stores ? "--stacks=no" : "--stacks=yes",
                               options->loads ? "--loads=yes" : "--loads=no",
                               "--"};
    size_t n = 0, first = sizeof own / sizeof *own;
    while (options->argv[n])
        n++;
    char **all = xcalloc(first + n + 1, sizeof *all);
    memcpy(all, own, sizeof own);
    memcpy(all + first, options->argv, n * sizeof *all);
    return all;
}

static bool ready(struct error *e)
{
    struct storetool tool;
    return storetool_find(&tool, e);
}

static bool run(const struct record_options *options, struct recording *recording,
                struct files *files, struct record_result *result, struct error *e)
{
    struct storetool tool;
    if (!storetool_find(&tool, e))
        return false;
    int fd = make_clock();
    if (fd < 0)
        return error_errno(e, "cannot make the counter of the store tracer");
    char clock[64];
    snprintf(clock, sizeof clock, "--clock=/proc/%d/fd/%d", (int)getpid(), fd);
    char *before = getenv("VALGRIND_LIB");
    before = before ? xstrdup(before) : NULL;
    setenv("VALGRIND_LIB", tool.folder, true);
    char **argv = make_arguments(options, tool.launcher, clock);
    struct trace_setup setup = {.options = options, .argv = argv, .stores = true};
    bool done = trace_program(&setup, recording, files, result, e);
    free(argv);
    if (before)
        setenv("VALGRIND_LIB", before, true);
    else
        unsetenv("VALGRIND_LIB");
    free(before);
    close(fd);
    return done;
}

const struct backend backend_valgrind = {
    .name = "valgrind",
    .summary = "stores to mapped files as well, by a tool inside Valgrind",
    .ready = ready,
    .run = run,
};
