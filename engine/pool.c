/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/log.h"
#include "engine/mem.h"
#include "engine/pool_command.h"
#include "engine/pool_files.h"
#include "engine/pool_store.h"
#include "engine/vec.h"
#include "engine/zygote.h"

extern char **environ;

enum {
    NUMBER_MAX = 24, /* characters of a 64-bit number, and some */
    NOTE_MAX = 512,  /* room behind the output, for what the pool has to say */
    /* All workers together may fill this part of memory with what their checkers write. */
    MEMORY_SHARE = 4,
};

static const uint64_t DISK_LIMIT_LEAST = 64 << 20;

/* A file that the checker reads, and what was last written to it. */
struct told {
    char *path;
    int fd;
    struct buf last;
};

/* What the zygote and the pool share. */
struct shared {
    _Atomic uint64_t kept; /* of the output, by the checker that runs */
    char output[];
};

struct worker {
    struct zygote zygote;
    struct zygote_plan plan;
    char *folder, *lower, *copy, *dir;
    struct pool_command command;
    vec_of(char *) environment;
    struct told printed, markers;
    struct shared *shared;
    char *output; /* in it: output_limit and NOTE_MAX bytes */
    bool busy;
    bool copied; /* the checker works on the copy */
    uint64_t ticket;
};

struct pool {
    struct pool_options options; /* strings are owned */
    struct pool_store store;
    enum pool_way way;
    struct pool_place place; /* the program's own directory */
    struct worker *workers;
    int count, running;
    int epoll;
};

/* ---- what the checker is told ---- */

static size_t shared_size(const struct pool *p)
{
    return sizeof(struct shared) + p->options.output_limit + NOTE_MAX;
}

static bool told_open(struct told *t, const char *folder, const char *name, struct error *e)
{
    t->path = xasprintf("%s/%s", folder, name);
    t->fd = open(t->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return t->fd >= 0 || error_errno(e, "cannot make %s", t->path);
}

static void told_close(struct told *t)
{
    if (t->path && t->fd >= 0)
        close(t->fd);
    free(t->path);
    buf_free(&t->last);
}

/* From one state to the next the end comes or goes, mostly. */
static bool told_write(struct told *t, const void *bytes, size_t n, struct error *e)
{
    size_t least = n < t->last.n ? n : t->last.n;
    size_t same = least && memcmp(bytes, t->last.at, least) ? 0 : least;
    if (same == n && same == t->last.n)
        return true;
    t->last.n = same;
    if (ftruncate(t->fd, (off_t)same) != 0)
        return error_errno(e, "cannot write %s", t->path);
    for (size_t done = same; done < n;) {
        ssize_t put = pwrite(t->fd, (const char *)bytes + done, n - done, (off_t)done);
        if (put < 0)
            return error_errno(e, "cannot write %s", t->path);
        done += (size_t)put;
    }
    if (n > same)
        buf_add(&t->last, (const char *)bytes + same, n - same);
    return true;
}

/* Without namespaces nothing keeps a checker from changing the files. */
static bool told_renew(struct told *t, struct error *e)
{
    close(t->fd);
    unlink(t->path);
    buf_clear(&t->last);
    t->fd = open(t->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    return t->fd >= 0 || error_errno(e, "cannot make %s", t->path);
}

/* ---- workers ---- */

static bool is_ours(const char *variable)
{
    static const char *const names[] = {
        "FLOTSAM_DIR=",     "FLOTSAM_STDOUT=", "FLOTSAM_CRASH_EVENT=",
        "FLOTSAM_MARKERS=", "FLOTSAM_MARK=",   "PWD=",
        "TMPDIR="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(variable, names[i], strlen(names[i])))
            return true;
    return false;
}

/* about: the folder with printed and markers as the checker sees it. */
static void make_environment(struct pool *p, struct worker *w, const char *about)
{
    for (char **variable = environ; variable && *variable; variable++)
        if (!is_ours(*variable))
            vec_push(&w->environment, xstrdup(*variable));
    vec_push(&w->environment, xasprintf("PWD=%s", p->options.folder));
    vec_push(&w->environment, xasprintf("FLOTSAM_DIR=%s", w->dir));
    vec_push(&w->environment, xasprintf("FLOTSAM_STDOUT=%s/stdout", about));
    vec_push(&w->environment, xasprintf("FLOTSAM_MARKERS=%s/markers", about));
    vec_push(&w->environment, xasprintf("TMPDIR=%s/tmp", about));
    w->plan.crash_event = xasprintf("FLOTSAM_CRASH_EVENT=%*s", NUMBER_MAX, "");
    w->plan.crash_event_size = strlen(w->plan.crash_event);
    vec_push(&w->environment, w->plan.crash_event);
    vec_push(&w->environment, NULL);
}

static bool make_folders(struct worker *w, const char *about, struct error *e)
{
    char *state = xasprintf("%s/state", about), *tmp = xasprintf("%s/tmp", about);
    const char *const folders[] = {w->folder, w->lower, about, state, tmp};
    bool made = true;
    for (size_t i = 0; made && i < sizeof folders / sizeof *folders; i++) {
        made = mkdir(folders[i], 0755) == 0 || error_errno(e, "cannot make %s", folders[i]);
        if (made)
            chmod(folders[i], 0755); /* whatever the umask: a checker may be another user */
    }
    if (made)
        chmod(tmp, 01777);
    free(state);
    free(tmp);
    return made;
}

static void fill_plan(struct pool *p, struct worker *w)
{
    const struct pool_options *o = &p->options;
    struct zygote_plan *plan = &w->plan;
    plan->way = p->way;
    plan->top = p->store.path;
    plan->worker = w->folder;
    plan->dir = w->dir;
    plan->made = o->dir ? o->dir : "";
    plan->made_parts = p->place.made;
    plan->folder = o->folder;
    plan->path = w->command.path;
    plan->argv = w->command.argv;
    plan->environment = w->environment.at;
    plan->timeout = o->timeout;
    plan->memory_limit = o->memory_limit;
    plan->file_size_limit = o->file_size_limit;
    plan->disk_limit = o->disk_limit;
    plan->output = w->output;
    plan->output_limit = o->output_limit;
    plan->kept = &w->shared->kept;
}

static bool start_zygote(struct pool *p, int index, struct error *e)
{
    struct worker *w = &p->workers[index];
    if (!zygote_start(&w->zygote, &w->plan, e))
        return false;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    if (epoll_ctl(p->epoll, EPOLL_CTL_ADD, w->zygote.socket, &event) == 0)
        return true;
    error_errno(e, "cannot watch a worker");
    zygote_stop(&w->zygote);
    return false;
}

static void worker_close(struct pool *p, struct worker *w)
{
    zygote_stop(&w->zygote);
    told_close(&w->printed);
    told_close(&w->markers);
    pool_command_free(&w->command);
    for (size_t i = 0; i < w->environment.n; i++)
        free(w->environment.at[i]);
    vec_free(&w->environment);
    if (w->shared)
        munmap(w->shared, shared_size(p));
    if (w->folder)
        pool_files_remove(w->folder);
    free(w->folder);
    free(w->lower);
    free(w->copy);
    free(w->dir);
    *w = (struct worker){.zygote.socket = -1};
}

static bool worker_open(struct pool *p, int index, struct error *e)
{
    struct worker *w = &p->workers[index];
    const struct pool_options *o = &p->options;
    bool copies = p->way == POOL_COPY;
    w->folder = xasprintf("%s/%d", p->store.path, index);
    w->lower = xasprintf("%s/lower", w->folder);
    w->copy = xasprintf("%s/copy", w->folder);
    char *about = xasprintf("%s/about", w->folder);
    const char *seen = copies ? about : p->store.path;
    w->dir = copies ? xstrdup(w->copy)
                    : (o->dir ? xstrdup(o->dir) : xasprintf("%s/state", p->store.path));
    make_environment(p, w, seen);
    bool good = make_folders(w, about, e) && told_open(&w->printed, about, "stdout", e) &&
                told_open(&w->markers, about, "markers", e) &&
                pool_command_make(&w->command, o->command, w->dir, o->folder, e);
    free(about);
    if (!good)
        return false;
    void *shared =
        mmap(NULL, shared_size(p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return error_errno(e, "no memory for the checkers' output");
    w->shared = shared;
    w->output = w->shared->output;
    fill_plan(p, w);
    return start_zygote(p, index, e);
}

/* ---- the pool ---- */

/* A copy without slashes at the end. */
static char *copy_path(const char *s)
{
    size_t n = s ? strlen(s) : 0;
    while (n > 1 && s[n - 1] == '/')
        n--;
    return s ? xstrndup(s, n) : NULL;
}

static int processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static bool take_options(struct pool *p, const struct pool_options *o, struct error *e)
{
    p->options = *o;
    struct pool_options *own = &p->options;
    own->command = xstrdup(o->command ? o->command : "");
    own->dir = copy_path(o->dir);
    own->work = copy_path(o->work);
    own->folder = o->folder ? realpath(o->folder, NULL) : getcwd(NULL, 0);
    if (!own->folder)
        return error_set(e, "cannot enter the checker's folder %s: %s; give one with --checker",
                         o->folder ? o->folder : ".", strerror(errno));
    if (own->dir && *own->dir != '/')
        return error_set(e, "the data directory %s is not an absolute path", own->dir);
    p->count = o->jobs > 0 ? o->jobs : processors();
    if (!own->output_limit)
        own->output_limit = POOL_OUTPUT_LIMIT;
    struct sysinfo system;
    if (!own->disk_limit && sysinfo(&system) == 0)
        own->disk_limit =
            (uint64_t)system.totalram * system.mem_unit / MEMORY_SHARE / (uint64_t)p->count;
    if (!o->disk_limit && own->disk_limit < DISK_LIMIT_LEAST)
        own->disk_limit = DISK_LIMIT_LEAST;
    return true;
}

/* The program's own path, where something can be mounted there; else a private one. */
static void settle_dir(struct pool *p)
{
    if (p->options.dir && strspn(p->options.dir, "/") < strlen(p->options.dir) &&
        pool_place_open(&p->place, p->options.dir))
        return;
    free((char *)p->options.dir);
    p->options.dir = NULL;
}

static bool open_workers(struct pool *p, struct error *e)
{
    for (int i = 0; i < p->count; i++)
        if (!worker_open(p, i, e))
            return false;
    return true;
}

static void close_workers(struct pool *p)
{
    for (int i = 0; i < p->count; i++)
        worker_close(p, &p->workers[i]);
}

/* The ways in their order, until one works. */
static bool choose_way(struct pool *p, struct error *e)
{
    struct error unheard;
    e = e ? e : &unheard;
    enum pool_way first = p->options.way ? p->options.way : POOL_ROOT;
    enum pool_way last = p->options.way ? p->options.way : POOL_COPY;
    for (p->way = first;; p->way++) {
        if (open_workers(p, e))
            return true;
        close_workers(p);
        log_info(CHECK, "checkers cannot be run in way %d: %s", (int)p->way, e->text);
        if (p->way == last)
            return error_prefix(e, "cannot run checkers");
    }
}

bool pool_new(struct pool **out, const struct pool_options *options, struct error *e)
{
    struct pool *p = xcalloc(1, sizeof *p);
    struct pool_command probe = {0};
    p->store.lock = p->place.hold = p->epoll = -1;
    bool good = take_options(p, options, e);
    p->workers = xcalloc((size_t)(p->count > 0 ? p->count : 1), sizeof *p->workers);
    for (int i = 0; i < p->count; i++)
        p->workers[i].zygote.socket = -1;
    good = good && pool_command_make(&probe, p->options.command, "/", p->options.folder, e);
    pool_command_free(&probe);
    if (good) {
        p->epoll = epoll_create1(EPOLL_CLOEXEC);
        good = p->epoll >= 0 || error_errno(e, "cannot watch workers");
    }
    if (good) {
        settle_dir(p);
        good = pool_store_open(&p->store, p->options.work, p->options.dir,
                               p->options.room * (uint64_t)p->count, e) &&
               choose_way(p, e);
    }
    if (!good) {
        pool_free(p);
        p = NULL;
    }
    *out = p;
    return good;
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    /* As long as there are zygotes, they go on with it if flotsam is killed. Checkers that write to
     * copies end first. */
    if (p->store.path && (p->way != POOL_COPY || !p->running))
        pool_files_remove(p->store.path);
    close_workers(p);
    pool_store_close(&p->store);
    pool_place_close(&p->place);
    if (p->epoll >= 0)
        close(p->epoll);
    free((char *)p->options.command);
    free((char *)p->options.dir);
    free((char *)p->options.folder);
    free((char *)p->options.work);
    free(p->workers);
    free(p);
}

enum pool_way pool_way(const struct pool *p)
{
    return p->way;
}

int pool_workers(const struct pool *p)
{
    return p->count;
}

int pool_idle(const struct pool *p)
{
    for (int i = 0; i < p->count; i++)
        if (!p->workers[i].busy)
            return i;
    return -1;
}

const char *pool_lower(const struct pool *p, int worker)
{
    return p->workers[worker].lower;
}

const char *pool_dir(const struct pool *p, int worker)
{
    return p->workers[worker].dir;
}

size_t pool_output(const struct pool *p, int worker, const char **out)
{
    const struct worker *w = &p->workers[worker];
    *out = w->output;
    return w->busy ? (size_t)atomic_load(&w->shared->kept) : 0;
}

/* ---- running ---- */

static bool copy_state(struct worker *w, struct error *e)
{
    if (!pool_files_remove(w->copy) || mkdir(w->copy, 0755) != 0)
        return error_errno(e, "cannot make %s anew", w->copy);
    return pool_files_copy(w->lower, w->copy, e);
}

static bool tell(struct pool *p, struct worker *w, const struct pool_input *input, struct error *e)
{
    if (p->way == POOL_COPY && (!told_renew(&w->printed, e) || !told_renew(&w->markers, e)))
        return false;
    const char *markers = input->markers ? input->markers : "";
    return told_write(&w->printed, input->printed, input->printed_size, e) &&
           told_write(&w->markers, markers, strlen(markers), e);
}

/* What was killed, or had to be stopped, after the last run. */
static bool revive(struct pool *p, int worker, struct error *e)
{
    struct worker *w = &p->workers[worker];
    char byte;
    if (w->zygote.socket >= 0 &&
        recv(w->zygote.socket, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) < 0)
        return true;
    zygote_stop(&w->zygote);
    return start_zygote(p, worker, e);
}

bool pool_run(struct pool *p, int worker, const struct pool_input *input, struct error *e)
{
    struct worker *w = &p->workers[worker];
    if (w->busy)
        return error_set(e, "worker %d already runs a checker", worker);
    if (!revive(p, worker, e) || !tell(p, w, input, e))
        return false;
    w->copied = p->way == POOL_COPY || (input->hard_links && !w->zygote.links);
    if (w->copied && !copy_state(w, e))
        return false;
    atomic_store(&w->shared->kept, 0);
    const struct zygote_request request = {
        .crash_event = input->crash_event, .hard_links = input->hard_links, .copied = w->copied};
    if (!zygote_send(&w->zygote, &request))
        return error_errno(e, "the process for checkers was killed");
    w->busy = true;
    w->ticket = input->ticket;
    p->running++;
    return true;
}

/* Output that comes from the pool itself. */
__attribute__((format(printf, 3, 4))) static void say(struct worker *w, struct pool_verdict *v,
                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->output + v->output_size, NOTE_MAX, format, args);
    va_end(args);
    v->output_size += (size_t)(n < NOTE_MAX ? n : NOTE_MAX - 1);
}

static void judge(struct worker *w, const struct zygote_reply *reply, struct pool_verdict *v)
{
    v->seconds = reply->seconds;
    v->own_cpu = reply->own_cpu;
    v->checker_cpu = reply->checker_cpu;
    v->timed_out = reply->timed_out;
    if (reply->error) {
        say(w, v, "%s: %s", reply->what, strerror(reply->error));
        return;
    }
    v->output_size = reply->kept;
    v->printed = reply->printed;
    w->output[v->output_size] = '\0';
    if (reply->printed > reply->kept)
        say(w, v, "\n… %llu bytes more", (unsigned long long)(reply->printed - reply->kept));
    if (WIFEXITED(reply->status))
        v->exit_status = WEXITSTATUS(reply->status);
    else
        v->signal = WTERMSIG(reply->status);
    v->outcome = v->timed_out          ? POOL_HUNG
                 : v->signal           ? POOL_CRASHED
                 : v->exit_status == 0 ? POOL_CONSISTENT
                                       : POOL_INCONSISTENT;
}

/* Takes a worker's message. False when it was idle: its zygote was killed, and the next run starts
 * another. */
static bool finish(struct pool *p, int worker, struct pool_verdict *out)
{
    struct worker *w = &p->workers[worker];
    *out = (struct pool_verdict){.ticket = w->ticket,
                                 .worker = worker,
                                 .outcome = POOL_NOT_RUN,
                                 .exit_status = -1,
                                 .output = w->output};
    struct zygote_reply reply;
    bool received = zygote_receive(&w->zygote, &reply);
    if (received)
        judge(w, &reply, out);
    else
        say(w, out, "the process that runs checkers was killed");
    /* What a checker left that cannot be removed goes with the zygote's namespace. */
    if (!received || reply.worn)
        zygote_stop(&w->zygote);
    if (w->copied)
        pool_files_remove(w->copy);
    bool was_busy = w->busy;
    w->busy = false;
    p->running -= was_busy;
    return was_busy;
}

bool pool_wait(struct pool *p, struct pool_verdict *out, int timeout_ms)
{
    struct epoll_event event;
    while (p->running > 0 && epoll_wait(p->epoll, &event, 1, timeout_ms) == 1)
        if (finish(p, (int)event.data.u32, out))
            return true;
    return false;
}
