/* SPDX-License-Identifier: GPL-3.0-or-later */
#define FUSE_USE_VERSION 35
#include "tests/kernel/server.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/vec.h"
#include "tests/kernel/chance.h"

enum { BATCH_MAX = 64 };

/* A write whose answer waits. */
struct waiting {
    fuse_req_t request;
    size_t size;
    uint32_t number; /* the disk's, */
    uint64_t due;    /* and when, in microseconds */
};

struct server {
    struct disk *disk;
    uint32_t batch;
    vec_of(struct waiting) waiting;
    struct chance chance;
    char *room; /* for what is read */
    size_t room_size;
};

static struct server *server_of(fuse_req_t request)
{
    return fuse_req_userdata(request);
}

static void do_getattr(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info)
{
    (void)info;
    struct stat st = {.st_ino = inode, .st_mode = S_IFREG | 0600, .st_nlink = 1};
    st.st_size = (off_t)disk_size(server_of(request)->disk);
    fuse_reply_attr(request, &st, 3600);
}

static void do_open(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info)
{
    (void)inode;
    info->direct_io = 1;
    fuse_reply_open(request, info);
}

static bool fits(const struct server *s, off_t offset, size_t size)
{
    return offset >= 0 && offset % DISK_BLOCK == 0 && size % DISK_BLOCK == 0 &&
           (uint64_t)offset + size <= disk_size(s->disk);
}

static void do_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                    struct fuse_file_info *info)
{
    (void)inode, (void)info;
    struct server *s = server_of(request);
    if (!fits(s, offset, size)) {
        fuse_reply_err(request, EINVAL);
        return;
    }
    if (size > s->room_size) {
        s->room = xrealloc(s->room, size);
        s->room_size = size;
    }
    disk_read(s->disk, (uint64_t)offset, s->room, size);
    fuse_reply_buf(request, s->room, size);
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Half of the writes are answered at once. */
static uint64_t delay(struct server *s)
{
    uint32_t most = disk_delay(s->disk);
    return most && chance_below(&s->chance, 2) ? chance_below(&s->chance, most) : 0;
}

static void do_write(fuse_req_t request, fuse_ino_t inode, const char *bytes, size_t size,
                     off_t offset, struct fuse_file_info *info)
{
    (void)inode, (void)info;
    struct server *s = server_of(request);
    if (!fits(s, offset, size))
        fuse_reply_err(request, EINVAL);
    else {
        uint32_t number = disk_write(s->disk, (uint64_t)offset, bytes, size);
        if (number)
            vec_push(&s->waiting, (struct waiting){request, size, number, now() + delay(s)});
        else
            fuse_reply_err(request, ENOSPC);
    }
}

/* Answers those whose time has come; how many milliseconds there are until the next, or -1. */
static int answer(struct server *s)
{
    uint64_t time = now(), next = UINT64_MAX;
    size_t kept = 0;
    for (size_t i = 0; i < s->waiting.n; i++) {
        struct waiting w = s->waiting.at[i];
        if (w.due > time) {
            next = w.due < next ? w.due : next;
            s->waiting.at[kept++] = w;
            continue;
        }
        disk_answer(s->disk, w.number, s->batch);
        fuse_reply_write(w.request, w.size);
    }
    s->waiting.n = kept;
    return next == UINT64_MAX ? -1 : (int)((next - time) / 1000) + 1;
}

static void do_fsync(fuse_req_t request, fuse_ino_t inode, int data_only,
                     struct fuse_file_info *info)
{
    (void)inode, (void)info, (void)data_only;
    disk_flush(server_of(request)->disk, server_of(request)->batch);
    fuse_reply_err(request, 0);
}

static const struct fuse_lowlevel_ops operations = {
    .getattr = do_getattr,
    .open = do_open,
    .read = do_read,
    .write = do_write,
    .fsync = do_fsync,
};

/* What has arrived is taken in before any of it is answered: a flush among it says nothing of the
 * writes beside it. */
static void serve(struct fuse_session *session, struct server *s)
{
    struct fuse_buf batch[BATCH_MAX] = {0};
    struct pollfd ready = {.fd = fuse_session_fd(session), .events = POLLIN};
    fcntl(ready.fd, F_SETFL, fcntl(ready.fd, F_GETFL) | O_NONBLOCK);
    int wait = -1;
    while (!fuse_session_exited(session)) {
        if (poll(&ready, 1, wait) < 0 && errno != EINTR)
            break;
        if (ready.revents & (POLLERR | POLLHUP))
            break;
        size_t n = 0;
        while (n < BATCH_MAX && fuse_session_receive_buf(session, &batch[n]) > 0)
            n++;
        s->batch++;
        for (size_t i = 0; i < n; i++)
            fuse_session_process_buf(session, &batch[i]);
        wait = answer(s);
    }
    for (size_t i = 0; i < BATCH_MAX; i++)
        free(batch[i].mem);
}

static int server_main(struct disk *disk, int fuse)
{
    char *arguments[] = {"server", NULL}, at[32];
    struct fuse_args args = FUSE_ARGS_INIT(1, arguments);
    struct server server = {.disk = disk};
    struct fuse_session *session = fuse_session_new(&args, &operations, sizeof operations, &server);
    snprintf(at, sizeof at, "/dev/fd/%d", fuse);
    if (!session || fuse_session_mount(session, at) != 0)
        return EXIT_FAILURE;
    serve(session, &server);
    return EXIT_SUCCESS;
}

bool server_start(struct disk *disk, int fuse, pid_t *pid, struct error *e)
{
    pid_t parent = getpid();
    *pid = fork();
    if (*pid < 0)
        return error_errno(e, "cannot start the server of the disk");
    if (*pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        /* Of mounts and devices it must hold nothing. */
        close_range(STDERR_FILENO + 1, (unsigned)fuse - 1, 0);
        close_range((unsigned)fuse + 1, ~0U, 0);
        /* Memory that it asks for must not wait for the very device that it answers for. */
        prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
        _exit(getppid() == parent ? server_main(disk, fuse) : EXIT_FAILURE);
    }
    return true;
}
