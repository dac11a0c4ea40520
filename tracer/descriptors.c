/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/descriptors.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engine/vec.h"

/* A program may dup2() to any number; beyond this ours is no table but a waste. */
enum { MOST_REMEMBERED = 1 << 20 };

struct descriptors {
    int users;
    const uint64_t *flags_changed;
    uint64_t seen; /* *flags_changed when the table was last empty */
    vec_of(struct descriptor) at;
};

struct descriptors *descriptors_new(const uint64_t *flags_changed)
{
    struct descriptors *d = xcalloc(1, sizeof *d);
    d->users = 1;
    d->flags_changed = flags_changed;
    d->seen = *flags_changed;
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

int descriptor_fetch(int pidfd, int fd)
{
    return (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
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

static struct descriptor ask(int fd, pid_t pid, int pidfd, struct files *files,
                             const struct standard_streams *streams)
{
    struct descriptor found = {.kind = DESCRIPTOR_OUTSIDE};
    struct stat st;
    int copy = descriptor_fetch(pidfd, fd);
    if (copy < 0)
        return found;
    if (fstat(copy, &st) == 0) {
        found.flags = (uint32_t)fcntl(copy, F_GETFL);
        found.regular = S_ISREG(st.st_mode);
        if (same_inode(&st, &streams->mark))
            found.kind = DESCRIPTOR_MARK;
        else if (fd == 2 && is_stream(streams, 2, &st, pid, fd))
            found.kind = DESCRIPTOR_ERRORS;
        else if (is_stream(streams, 1, &st, pid, fd))
            found.kind = DESCRIPTOR_OUTPUT;
        else if (is_stream(streams, 2, &st, pid, fd))
            found.kind = DESCRIPTOR_ERRORS;
        else if ((found.regular || S_ISDIR(st.st_mode)) &&
                 !files_excluded(files, st.st_dev, st.st_ino)) {
            found.file = files_find(files, &st);
            if (found.file)
                found.kind = DESCRIPTOR_DATA;
        }
    }
    close(copy);
    return found;
}

struct descriptor descriptor_find(struct descriptors *d, int fd, pid_t pid, int pidfd,
                                  struct files *files, const struct standard_streams *streams)
{
    if (fd < 0)
        return (struct descriptor){.kind = DESCRIPTOR_OUTSIDE};
    if (d->seen != *d->flags_changed) {
        d->at.n = 0;
        d->seen = *d->flags_changed;
    }
    if ((size_t)fd < d->at.n && d->at.at[fd].kind != DESCRIPTOR_UNKNOWN)
        return d->at.at[fd];
    struct descriptor found = ask(fd, pid, pidfd, files, streams);
    descriptor_set(d, fd, found);
    return found;
}

void descriptor_set(struct descriptors *d, int fd, struct descriptor what)
{
    if (fd < 0 || fd >= MOST_REMEMBERED)
        return;
    while (d->at.n <= (size_t)fd)
        vec_push(&d->at, (struct descriptor){0});
    d->at.at[fd] = what;
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
