/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The side of flotsam, and the life of the process: its namespaces, its mounts, its end. One run
 * of a checker is in zygote_run.c.
 */
#include "engine/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/clock.h"
#include "engine/mem.h"
#include "engine/pool_files.h"
#include "engine/zygote_run.h"

enum {
    /* Emptying folders takes about 100 kB of it, struct zygote_life as much. */
    STACK_SIZE = 1024 * 1024,
    /* Descriptors in the process. */
    FD_SOCKET = 3,
    FD_FIRST_FOREIGN = 4,
    /* A hundredth of a second each. */
    HOLD_TRIES = 100,
};

/* What the new process begins with. */
struct birth {
    const struct zygote_plan *plan;
    int socket;
    uid_t uid;
    gid_t gid;
};

/* ---- in the process: beginning ---- */

/* Nothing of flotsam's is left open: no session, no terminal, no other zygote's socket. */
static bool settle(const struct birth *b)
{
    for (int signal = 1; signal < NSIG; signal++)
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    setsid();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return false;
    int high_null = fcntl(null, F_DUPFD_CLOEXEC, FD_FIRST_FOREIGN);
    int high_socket = fcntl(b->socket, F_DUPFD_CLOEXEC, FD_FIRST_FOREIGN);
    if (high_null < 0 || high_socket < 0)
        return false;
    for (int fd = 0; fd < FD_SOCKET; fd++)
        dup2(high_null, fd);
    dup3(high_socket, FD_SOCKET, O_CLOEXEC);
    close_range(FD_FIRST_FOREIGN, ~0U, 0);
    return chdir("/") == 0;
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool written = write(fd, text, strlen(text)) >= 0;
    close(fd);
    return written;
}

static bool map_user(const struct birth *b)
{
    char map[64];
    snprintf(map, sizeof map, "%u %u 1\n", (unsigned)b->uid, (unsigned)b->uid);
    if (!write_text("/proc/self/uid_map", map) || !write_text("/proc/self/setgroups", "deny\n"))
        return false;
    snprintf(map, sizeof map, "%u %u 1\n", (unsigned)b->gid, (unsigned)b->gid);
    return write_text("/proc/self/gid_map", map);
}

static int open_below(const char *folder, const char *name)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool make_read_only(const char *path)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};
    /* The old way loses other flags of the mount; before Linux 5.12 it is the only one. */
    return mount_setattr(AT_FDCWD, path, 0, &attributes, sizeof attributes) == 0 ||
           mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) == 0;
}

/* In the cover, which is read-only, a folder that is not. */
static bool mount_tmp(struct zygote_life *z)
{
    char tmp[64], at[PATH_MAX];
    if (mkdirat(z->scratch, "tmp", 01777) != 0 || fchmodat(z->scratch, "tmp", 01777, 0) != 0)
        return false;
    z->tmp = openat(z->scratch, "tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(tmp, sizeof tmp, "/proc/self/fd/%d", z->tmp);
    return z->tmp >= 0 && (size_t)snprintf(at, sizeof at, "%s/tmp", z->plan->top) < sizeof at &&
           mount(tmp, at, NULL, MS_BIND, NULL) == 0;
}

/* What the checker writes goes to a file system of its own, so that it can fill nobody's disk. It
 * is mounted on the pool's folder and then covered: by paths, neither it nor the crash states of
 * the workers can be reached. */
static const char *mount_cover(struct zygote_life *z)
{
    const struct zygote_plan *p = z->plan;
    char options[64], about[64];
    int about_fd = open_below(p->worker, "about");
    if (about_fd < 0)
        return "cannot open the worker's folder";
    snprintf(options, sizeof options, "mode=0700,size=%llu",
             (unsigned long long)p->disk_limit); /* 0: no limit for tmpfs too */
    if (mount("flotsam", p->top, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0)
        return "cannot mount a tmpfs";
    z->scratch = open_below(p->top, ".");
    snprintf(about, sizeof about, "/proc/self/fd/%d", about_fd);
    if (z->scratch < 0 || mount(about, p->top, NULL, MS_BIND, NULL) != 0 || !make_read_only(p->top))
        return "cannot cover the crash states";
    close(about_fd);
    if (!mount_tmp(z))
        return "cannot make a folder for temporary files";
    return NULL;
}

/* Which options the kernel accepts is found out by mounting. */
static const char *choose_options(struct zygote_life *z)
{
    static const char *const choices[][2] = {
        [POOL_ROOT] = {"redirect_dir=on,xino=off", "redirect_dir=on"},
        [POOL_USER] = {"userxattr,xino=off", "userxattr"},
    };
    /* With hard links in mind: the kernel gives up the index without a word where it must. */
    const struct zygote_request probe = {.hard_links = true};
    for (int i = 0; i < 2; i++) {
        z->options = choices[z->plan->way][i];
        const char *failed = zygote_mount(z, &probe);
        int why = errno;
        z->links = zygote_has_index(z);
        if (!zygote_unmount(z))
            return "cannot unmount an overlay";
        errno = why;
        if (!failed)
            return NULL;
    }
    return "cannot mount an overlay";
}

/* NULL, or what failed with errno. */
static const char *enter(struct zygote_life *z, const struct birth *b)
{
    const struct zygote_plan *p = z->plan;
    if (!settle(b))
        return "cannot settle the zygote";
    z->worker = open(p->worker, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    z->lower = open_below(p->worker, "lower");
    if (z->worker < 0 || z->lower < 0)
        return "cannot open the worker's folder";
    if (p->way == POOL_COPY)
        return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 ? NULL : "cannot adopt orphans";
    if (p->way == POOL_USER && !map_user(b))
        return "cannot set up a user namespace";
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return "cannot make mounts private";
    /* In containers a new /proc may be refused; the old one does, only that it shows more. */
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    const char *failed = mount_cover(z);
    if (!failed)
        failed = choose_options(z);
    /* No checker may look at, or through, this process. */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return failed;
}

/* ---- in the process: its end ---- */

/* As pool_place_close does: not what another pool has its states on. flotsam's own hold may outlast
 * its end of the socket by a moment. */
static void remove_place(const struct zygote_plan *p)
{
    const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    int hold = -1;
    for (int i = 0; i < HOLD_TRIES; i++) {
        hold = open(p->made, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (hold < 0 || flock(hold, LOCK_EX | LOCK_NB) == 0)
            break;
        close(hold);
        hold = -1;
        nanosleep(&moment, NULL);
    }
    if (hold < 0)
        return;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", p->made);
    for (unsigned i = 0; i < p->made_parts && rmdir(path) == 0; i++)
        *strrchr(path, '/') = '\0';
}

/* flotsam was killed, and cannot tidy up. Everything goes, also what belongs to workers that had no
 * process yet, or have none any more; several that do so at once finish each other's work. */
static void leave(struct zygote_life *z)
{
    const struct zygote_plan *p = z->plan;
    zygote_kill_all(z);
    if (p->way != POOL_COPY) {
        if (z->mounted)
            umount2(p->dir, MNT_DETACH);
        umount2(p->top, MNT_DETACH);
        umount2(p->top, MNT_DETACH);
    }
    pool_files_remove(p->top);
    remove_place(p);
}

static bool reply_with(const struct zygote_reply *reply)
{
    return send(FD_SOCKET, reply, sizeof *reply, MSG_NOSIGNAL) == (ssize_t)sizeof *reply;
}

static int live(void *argument)
{
    const struct birth *b = argument;
    struct zygote_life z = {.plan = b->plan, .socket = FD_SOCKET, .scratch = -1, .tmp = -1};
    struct zygote_reply reply = {0};
    const char *failed = enter(&z, b);
    if (failed) {
        reply.error = errno ? errno : EINVAL;
        snprintf(reply.what, sizeof reply.what, "%s", failed);
    }
    reply.links = z.links;
    bool heard = reply_with(&reply);
    if (!heard)
        leave(&z);
    if (!heard || failed)
        _exit(1);
    struct zygote_request request;
    ssize_t n;
    while ((n = recv(FD_SOCKET, &request, sizeof request, 0)) > 0 && !request.stop) {
        double own = clock_busy(RUSAGE_SELF), checkers = clock_busy(RUSAGE_CHILDREN);
        memset(&reply, 0, sizeof reply);
        zygote_run(&z, &request, &reply);
        reply.own_cpu = clock_busy(RUSAGE_SELF) - own;
        reply.checker_cpu = clock_busy(RUSAGE_CHILDREN) - checkers;
        if (!z.stopping)
            reply_with(&reply);
    }
    if (n > 0)
        zygote_kill_all(&z);
    else
        leave(&z);
    _exit(0);
}

/* ---- flotsam's side ---- */

static pid_t give_birth(struct birth *b)
{
    static const int flags[] = {
        [POOL_ROOT] = CLONE_NEWNS | CLONE_NEWPID,
        [POOL_USER] = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID,
        [POOL_COPY] = 0,
    };
    /* flotsam's handlers must not run in the copy: signals stay blocked until they are reset, and
     * then for good. Without an exit signal nobody's waitpid(-1) takes its status. */
    sigset_t all, before;
    sigfillset(&all);
    char *stack = xmalloc(STACK_SIZE);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = clone(live, stack + STACK_SIZE, flags[b->plan->way], b);
    int why = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(stack);
    errno = why;
    return pid;
}

bool zygote_start(struct zygote *z, const struct zygote_plan *plan, struct error *e)
{
    *z = (struct zygote){.way = plan->way, .socket = -1};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return error_errno(e, "cannot make a socket");
    struct birth b = {.plan = plan, .socket = pair[1], .uid = geteuid(), .gid = getegid()};
    z->pid = give_birth(&b);
    int why = errno;
    close(pair[1]);
    if (z->pid < 0) {
        close(pair[0]);
        errno = why;
        return error_errno(e, "cannot start a process for checkers");
    }
    z->socket = pair[0];
    struct zygote_reply reply;
    if (!zygote_receive(z, &reply)) {
        zygote_stop(z);
        return error_set(e, "the process for checkers ended at once");
    }
    z->links = reply.links;
    if (reply.error == 0)
        return true;
    zygote_stop(z);
    errno = reply.error;
    return error_errno(e, "%s", reply.what);
}

bool zygote_send(struct zygote *z, const struct zygote_request *request)
{
    return send(z->socket, request, sizeof *request, MSG_NOSIGNAL) == (ssize_t)sizeof *request;
}

bool zygote_receive(struct zygote *z, struct zygote_reply *reply)
{
    ssize_t n;
    do
        n = recv(z->socket, reply, sizeof *reply, 0);
    while (n < 0 && errno == EINTR);
    reply->what[ZYGOTE_WHAT_MAX - 1] = '\0';
    return n == (ssize_t)sizeof *reply;
}

void zygote_stop(struct zygote *z)
{
    if (z->socket < 0)
        return;
    /* In its namespace everything dies with it; without one it has to see to that itself. */
    if (z->way == POOL_COPY)
        zygote_send(z, &(struct zygote_request){.stop = true});
    else
        kill(z->pid, SIGKILL);
    while (waitpid(z->pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
    close(z->socket);
    *z = (struct zygote){.way = z->way, .socket = -1};
}
