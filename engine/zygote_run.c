/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/zygote_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/pool_files.h"

enum {
    /* Files of a process that was just killed may be let go a moment later. */
    UNMOUNT_TRIES = 200,
    UNMOUNT_PAUSE_NS = 1000 * 1000,
    TMP_MODE = 01777,
};

static const char UPPER[] = "upper", WORK[] = "work";
/* What the kernel makes in the latter. */
static const char WORK_WORK[] = "work/work", WORK_INDEX[] = "work/index";

/* ---- the state ---- */

/* The layer's own folder is what the checker sees as the state's: it has the same mode, owner and
 * times. */
static bool make_layer(struct zygote_life *z)
{
    struct stat st;
    if (fstat(z->lower, &st) != 0 || mkdirat(z->scratch, UPPER, st.st_mode & 07777) != 0 ||
        (mkdirat(z->scratch, WORK, S_IRWXU) != 0 && errno != EEXIST))
        return false;
    if ((st.st_uid != geteuid() || st.st_gid != getegid()) &&
        fchownat(z->scratch, UPPER, st.st_uid, st.st_gid, 0) != 0 && errno != EINVAL &&
        errno != EPERM)
        return false;
    const struct timespec times[] = {st.st_atim, st.st_mtim};
    return fchmodat(z->scratch, UPPER, st.st_mode & 07777, 0) == 0 &&
           utimensat(z->scratch, UPPER, times, 0) == 0;
}

static const char *mount_copy(struct zygote_life *z)
{
    char path[64];
    int copy = openat(z->worker, "copy", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0)
        return "cannot open the copy of the crash state";
    snprintf(path, sizeof path, "/proc/self/fd/%d", copy);
    z->mounted = mount(path, z->plan->dir, NULL, MS_BIND, NULL) == 0;
    int why = errno;
    close(copy);
    errno = why;
    return z->mounted ? NULL : "cannot mount the copy of the crash state";
}

const char *zygote_mount(struct zygote_life *z, const struct zygote_request *request)
{
    if (request->copied)
        return mount_copy(z);
    if (!make_layer(z))
        return "cannot make a layer for the checker's writes";
    /* By descriptor, so that no character of a path can mean something to the kernel. */
    char options[256];
    snprintf(options, sizeof options,
             "lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d/%s,workdir=/proc/self/fd/%d/%s,"
             "index=%s,%s",
             z->lower, z->scratch, UPPER, z->scratch, WORK, request->hard_links ? "on" : "off",
             z->options);
    z->mounted = mount("flotsam", z->plan->dir, "overlay", MS_NOSUID | MS_NODEV, options) == 0;
    return z->mounted ? NULL : "cannot mount the crash state";
}

bool zygote_has_index(const struct zygote_life *z)
{
    return faccessat(z->scratch, WORK_INDEX, F_OK, 0) == 0;
}

static bool remove_layer(int scratch, const char *name)
{
    if (unlinkat(scratch, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return true;
    int dir = openat(scratch, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return false;
    bool empty = pool_files_empty(dir);
    close(dir);
    return empty && unlinkat(scratch, name, AT_REMOVEDIR) == 0;
}

/* Plainly, so that something that still uses the state is noticed and not left to use it. */
bool zygote_unmount(struct zygote_life *z)
{
    bool index = zygote_has_index(z);
    for (int i = 0; z->mounted && i < UNMOUNT_TRIES; i++) {
        z->mounted = umount2(z->plan->dir, 0) != 0;
        if (z->mounted && errno != EBUSY)
            break;
        if (z->mounted)
            nanosleep(&(struct timespec){.tv_nsec = UNMOUNT_PAUSE_NS}, NULL);
    }
    if (z->mounted || !remove_layer(z->scratch, UPPER))
        return false;
    /* Nearly always nothing else is in there, and the folder can stay. */
    if (unlinkat(z->scratch, WORK_WORK, AT_REMOVEDIR) == 0 && !index)
        return true;
    return remove_layer(z->scratch, WORK);
}

/* ---- the checker's process ---- */

/* Shared with the child, which borrows the zygote's memory until it executes. */
struct start {
    struct zygote_life *z;
    int output;
    int error; /* set by the child when it cannot */
    const char *what;
};

static void limit(int resource, uint64_t most)
{
    if (most)
        setrlimit(resource, &(struct rlimit){most, most});
}

/* A checker that runs as root keeps what root may do to files, but not what would let it undo its
 * view or look into the zygote. The bounding set alone decides what the executed program gets. */
static void drop_privileges(void)
{
    prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0);
    prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0);
}

static int child(void *argument)
{
    struct start *s = argument;
    const struct zygote_plan *p = s->z->plan;
    setsid();
    dup2(s->output, STDOUT_FILENO);
    dup2(s->output, STDERR_FILENO);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    limit(RLIMIT_AS, p->memory_limit);
    limit(RLIMIT_FSIZE, p->file_size_limit);
    if (p->way == POOL_COPY)
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    else
        drop_privileges();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (chdir(p->folder) != 0) {
        s->what = "cannot enter the checker's folder";
    } else {
        execve(p->path, p->argv, p->environment);
        s->what = "cannot execute the checker";
    }
    s->error = errno;
    _exit(127);
}

/* ---- watching ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Takes what is in the pipe, keeps the beginning, counts the rest. False when nothing was there. */
static bool take_output(struct zygote_life *z, int pipe, struct zygote_reply *r)
{
    size_t room = z->plan->output_limit - r->kept;
    ssize_t n = room ? read(pipe, z->plan->output + r->kept, room)
                     : read(pipe, z->discard, sizeof z->discard);
    if (n <= 0)
        return false;
    r->printed += (uint64_t)n;
    r->kept += room ? (uint64_t)n : 0;
    atomic_store(z->plan->kept, r->kept);
    return true;
}

/* Until the checker ends, its time is up or flotsam is gone. */
static void watch(struct zygote_life *z, int pidfd, int pipe, struct zygote_reply *r)
{
    const struct zygote_plan *p = z->plan;
    double begin = now();
    struct pollfd fds[] = {{.fd = pidfd, .events = POLLIN},
                           {.fd = z->socket, .events = POLLIN},
                           {.fd = pipe, .events = POLLIN}};
    for (;;) {
        double left = p->timeout > 0 ? begin + p->timeout - now() : INT_MAX;
        if (left <= 0) {
            r->timed_out = true;
            break;
        }
        int wait = left > INT_MAX / 1000 ? -1 : (int)(left * 1000) + 1;
        if (poll(fds, sizeof fds / sizeof *fds, wait) < 0)
            continue;
        if (fds[1].revents)
            z->stopping = true;
        if (fds[0].revents || z->stopping)
            break;
        if (fds[2].revents)
            take_output(z, pipe, r);
    }
    r->seconds = now() - begin;
}

/* ---- the end of all processes ---- */

/* Without a process namespace: orphans come to us, one generation after the other. */
static void kill_children(void)
{
    char path[64], list[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, list, sizeof list - 1) : 0;
    if (fd >= 0)
        close(fd);
    list[n > 0 ? n : 0] = '\0';
    /* A number at the very end may be cut off; its turn comes with the next list. */
    for (char *at = list, *end;; at = end) {
        long pid = strtol(at, &end, 10);
        if (pid <= 0 || *end != ' ')
            break;
        kill((pid_t)pid, SIGKILL);
    }
}

void zygote_kill_all(struct zygote_life *z)
{
    for (;;) {
        if (z->plan->way != POOL_COPY) {
            kill(-1, SIGKILL); /* everything in the namespace but ourselves */
        } else {
            if (z->checker > 0)
                kill(-z->checker, SIGKILL);
            kill_children();
        }
        if (waitpid(-1, NULL, __WALL) < 0 && errno == ECHILD)
            return;
    }
}

/* The checker's own status, then the end of whatever it left. */
static int reap(struct zygote_life *z, bool ended)
{
    int status = 0;
    if (!ended)
        kill(z->checker, SIGKILL);
    while (waitpid(z->checker, &status, __WALL) < 0 && errno == EINTR)
        ;
    if (waitpid(-1, NULL, __WALL | WNOHANG) >= 0 || errno != ECHILD)
        zygote_kill_all(z);
    return status;
}

/* ---- a run ---- */

static void not_run(struct zygote_reply *r, int why, const char *what)
{
    r->error = why ? why : EINVAL;
    snprintf(r->what, sizeof r->what, "%s", what);
}

static void check(struct zygote_life *z, struct zygote_reply *r)
{
    int pipe[2], pidfd = -1;
    /* A new one each time: a checker may leave its end of it non-blocking, or smaller. */
    if (pipe2(pipe, O_CLOEXEC) != 0) {
        not_run(r, errno, "cannot make a pipe");
        return;
    }
    fcntl(pipe[0], F_SETFL, O_NONBLOCK);
    struct start s = {.z = z, .output = pipe[1]};
    z->checker = clone(child, z->child_stack + sizeof z->child_stack,
                       CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &s, &pidfd);
    int why = errno;
    if (z->checker < 0) {
        not_run(r, why, "cannot start the checker");
    } else {
        watch(z, pidfd, pipe[0], r);
        r->status = reap(z, !r->timed_out && !z->stopping);
        while (take_output(z, pipe[0], r))
            ;
        close(pidfd);
        if (s.error)
            not_run(r, s.error, s.what);
    }
    z->checker = 0;
    close(pipe[0]);
    close(pipe[1]); /* not before, so that the end of the checker is one event and not two */
}

static const char TMP[] = "about/tmp";

/* Without namespaces a checker may remove the folder, or put something else in its place. */
static bool find_tmp(struct zygote_life *z)
{
    struct stat there, ours;
    if (z->tmp >= 0 && fstat(z->tmp, &ours) == 0 &&
        fstatat(z->worker, TMP, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_ino == ours.st_ino &&
        there.st_dev == ours.st_dev)
        return true;
    if (z->tmp >= 0)
        close(z->tmp);
    unlinkat(z->worker, TMP, 0);
    if (!remove_layer(z->worker, TMP) || mkdirat(z->worker, TMP, S_IRWXU) != 0)
        return false;
    z->tmp = openat(z->worker, TMP, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return z->tmp >= 0 && fchmod(z->tmp, TMP_MODE) == 0;
}

/* Nearly always nothing is in there. What a checker did to the folder itself is undone first: it
 * may be closed to us. */
static bool empty_tmp(struct zygote_life *z)
{
    if (fchmod(z->tmp, TMP_MODE) != 0)
        return false;
    int dir = openat(z->tmp, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool empty = dir >= 0 && pool_files_empty(dir);
    if (dir >= 0)
        close(dir);
    return empty;
}

void zygote_run(struct zygote_life *z, const struct zygote_request *request,
                struct zygote_reply *reply)
{
    const struct zygote_plan *p = z->plan;
    snprintf(p->crash_event, p->crash_event_size, "FLOTSAM_CRASH_EVENT=%llu",
             (unsigned long long)request->crash_event);
    if (p->way == POOL_COPY) {
        if (find_tmp(z) && empty_tmp(z))
            check(z, reply);
        else
            not_run(reply, errno, "cannot make a folder for temporary files");
        return;
    }
    const char *failed = zygote_mount(z, request);
    if (failed)
        not_run(reply, errno, failed);
    else
        check(z, reply);
    reply->worn = !zygote_unmount(z) || !empty_tmp(z);
}
