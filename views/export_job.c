/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/export_job.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/mem.h"
#include "engine/output.h"
#include "views/export_plan.h"

struct export_job {
    pthread_t thread;
    char *path;
    const struct export_format *format;
    struct export_plan *plan; /* NULL: the bytes are there */
    struct buf bytes;
    _Atomic bool done;
    int fd;
    bool ok;
    struct error error;
};

static void *run(void *data)
{
    struct export_job *job = data;
    uint64_t one = 1;

    job->ok = (!job->plan || export_draw(job->plan, job->format->name, &job->bytes, &job->error)) &&
              output_file(job->path, &job->bytes, "the graph", &job->error);
    atomic_store(&job->done, true);
    ssize_t woken = write(job->fd, &one, sizeof one);
    (void)woken; /* who cannot be woken sees it when he looks */
    return NULL;
}

static void job_free(struct export_job *job)
{
    export_plan_free(job->plan);
    buf_free(&job->bytes);
    if (job->fd >= 0)
        close(job->fd);
    free(job->path);
    free(job);
}

/* Signals are for the thread that has the terminal. */
static bool start_thread(struct export_job *job, struct error *e)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool ok = pthread_create(&job->thread, NULL, run, job) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return ok || error_set(e, "cannot start a thread to write %s", job->path);
}

struct export_job *export_job_start(const struct subgraph *s, const char *path, struct error *e)
{
    const struct export_format *format = export_format_of(path, e);

    if (!format)
        return NULL;
    struct export_job *job = xcalloc(1, sizeof *job);
    job->path = xstrdup(path);
    job->format = format;
    job->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool ok = job->fd >= 0 || error_errno(e, "cannot watch the export of a graph");
    if (ok && format->drawn)
        ok = (job->plan = export_plan_make(s, e)) != NULL;
    else if (ok)
        ok = format->write(s, &job->bytes, e);
    if (ok && start_thread(job, e))
        return job;
    job_free(job);
    return NULL;
}

int export_job_fd(const struct export_job *job)
{
    return job->fd;
}

bool export_job_done(const struct export_job *job)
{
    return atomic_load(&job->done);
}

const char *export_job_path(const struct export_job *job)
{
    return job->path;
}

bool export_job_finish(struct export_job *job, struct error *e)
{
    pthread_join(job->thread, NULL);
    bool ok = job->ok;
    if (!ok && e)
        *e = job->error;
    job_free(job);
    return ok;
}
