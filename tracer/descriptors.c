/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engine/vec.h"

/* A program may dup2() to any number; beyond this ours is no table but a waste. */
enum { MOST_REMEMBERED = 1 << 20 };

struct descriptors {
    int users;
    const uint64_t *stale;
    uint64_t seen; /* *stale when the table was last emptied */
    vec_of(struct descriptor) at;
};

struct descriptors *descriptors_new(const uint64_t *stale)
{
    struct descriptors *d = xcalloc(1, sizeof *d);
    d->users = 1;
    d->stale = stale;
    d->seen = *stale;
    return d;
}

struct descriptors *descriptors_share(struct descriptors *d)
{
    d->users++;
    return d;
}

void descriptors_release(struct descriptors *d)
{
    if (!d || --d->users)
        return;
    vec_free(&d->at);
    free(d);
}

void streams_init(struct standard_streams *streams, int mark_fd)
{
    *streams = (struct standard_streams){.recorder = getpid()};
    for (int fd = 1; fd <= 2; fd++)
        streams->open[fd] = fstat(fd, &streams->st[fd]) == 0;
    fstat(mark_fd, &streams->mark);
}

/* Through a descriptor of our own for the same description. */
static bool ask_copy(int copy, struct stat *st, uint32_t *flags, int64_t *position)
{
    bool known = !st || fstat(copy, st) == 0;
    if (flags)
        *flags = (uint32_t)fcntl(copy, F_GETFL);
    if (position)
        *position = lseek(copy, 0, SEEK_CUR);
    close(copy);
    return known;
}

/* Through /proc: slower, but it also works in a process whose first thread has ended. */
static bool ask_proc(pid_t tid, int fd, struct stat *st, uint32_t *flags, int64_t *position)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)tid, fd);
    if (st && stat(path, st) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)tid, fd);
    FILE *info = fopen(path, "re");
    if (!info)
        return false;
    long long pos = 0;
    unsigned mode = 0;
    int n = fscanf(info, "pos: %lld flags: %o", &pos, &mode);
    fclose(info);
    if (flags)
        *flags = mode;
    if (position)
        *position = pos;
    return n == 2;
}

bool descriptor_ask(struct asked who, int fd, struct stat *st, uint32_t *flags, int64_t *position)
{
    int copy = (int)syscall(SYS_pidfd_getfd, who.pidfd, fd, 0);
    if (copy >= 0)
        return ask_copy(copy, st, flags, position);
    return errno != EBADF && ask_proc(who.tid, fd, st, flags, position);
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Of a device such as /dev/null everybody's inode is the same: there only the description that we
 * passed on is the standard stream. A terminal, a pipe or a file is the world by any way to it. */
static bool is_stream(const struct standard_streams *streams, int stream, const struct stat *st,
                      pid_t pid, int fd)
{
    if (!streams->open[stream] || !same_inode(st, &streams->st[stream]))
        return false;
    enum { MEMORY_DEVICES = 1 };
    if (!S_ISCHR(st->st_mode) || major(st->st_rdev) != MEMORY_DEVICES)
        return true;
    long order = syscall(SYS_kcmp, streams->recorder, pid, KCMP_FILE, stream, fd);
    return order == 0 || (order < 0 && fd == stream);
}

static enum descriptor_kind kind_of(int fd, pid_t tid, const struct stat *st, struct files *files,
                                    const struct standard_streams *streams, uint32_t *file)
{
    if (same_inode(st, &streams->mark))
        return DESCRIPTOR_MARK;
    if (fd == 2 && is_stream(streams, 2, st, tid, fd))
        return DESCRIPTOR_ERRORS;
    if (is_stream(streams, 1, st, tid, fd))
        return DESCRIPTOR_OUTPUT;
    if (is_stream(streams, 2, st, tid, fd))
        return DESCRIPTOR_ERRORS;
    if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
        return DESCRIPTOR_OUTSIDE;
    if (files_excluded(files, st->st_dev, st->st_ino))
        return DESCRIPTOR_OUTSIDE;
    *file = files_find(files, st);
    return *file ? DESCRIPTOR_DATA : DESCRIPTOR_OUTSIDE;
}

static void remember(struct descriptors *d, int fd, struct descriptor what)
{
    if (fd >= MOST_REMEMBERED)
        return;
    while (d->at.n <= (size_t)fd)
        vec_push(&d->at, (struct descriptor){0});
    d->at.at[fd] = what;
}

struct descriptor descriptor_find(struct descriptors *d, int fd, struct asked who,
                                  struct files *files, const struct standard_streams *streams)
{
    if (fd < 0)
        return (struct descriptor){.kind = DESCRIPTOR_CLOSED};
    if (d->seen != *d->stale) {
        d->at.n = 0;
        d->seen = *d->stale;
    }
    if ((size_t)fd < d->at.n && d->at.at[fd].kind != DESCRIPTOR_UNKNOWN)
        return d->at.at[fd];
    struct descriptor found = {.kind = DESCRIPTOR_CLOSED};
    struct stat st;
    /* A number that is closed is not remembered: calls that are not watched may open it, such as
     * one that receives a descriptor over a socket. */
    if (!descriptor_ask(who, fd, &st, &found.flags, NULL))
        return found;
    found.regular = S_ISREG(st.st_mode);
    found.kind = (uint8_t)kind_of(fd, who.tid, &st, files, streams, &found.file);
    remember(d, fd, found);
    return found;
}

void descriptor_moved(struct descriptors *d, int fd, struct files *files, int64_t position)
{
    if (fd < 0 || (size_t)fd >= d->at.n || d->at.at[fd].kind != DESCRIPTOR_DATA)
        return;
    struct descriptor *at = &d->at.at[fd];
    at->moved = files_move(files, at->file);
    at->position = position;
}

void descriptor_forget(struct descriptors *d, int fd)
{
    if (fd >= 0 && (size_t)fd < d->at.n)
        d->at.at[fd].kind = DESCRIPTOR_UNKNOWN;
}

void descriptors_forget_range(struct descriptors *d, unsigned first, unsigned last)
{
    for (size_t fd = first; fd < d->at.n && fd <= last; fd++)
        d->at.at[fd].kind = DESCRIPTOR_UNKNOWN;
}
