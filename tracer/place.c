/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Paths are walked by the kernel itself, from the program's own working directory, root and
 * descriptors under /proc, so that links, mounts and renamed directories come out as they do for
 * the program.
 */
#include "tracer/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/log.h"

/* What means another thing to us than to the program: its own folder under /proc. */
static const struct {
    const char *from, *below; /* below: inside /proc/TID */
} own_paths[] = {
    {"/proc/self/", "/"},    {"/proc/thread-self/", "/"}, {"/dev/fd/", "/fd/"},
    {"/dev/stdin", "/fd/0"}, {"/dev/stdout", "/fd/1"},    {"/dev/stderr", "/fd/2"},
};

enum { OWN_PREFIX_ROOM = 32 };

/* The path as it would have to read in our process. */
static void translate_own(pid_t tid, const char *path, char *out, size_t size)
{
    for (size_t i = 0; i < sizeof own_paths / sizeof *own_paths; i++) {
        size_t n = strlen(own_paths[i].from);
        if (strncmp(path, own_paths[i].from, n) == 0) {
            snprintf(out, size, "/proc/%d%s%s", (int)tid, own_paths[i].below, path + n);
            return;
        }
    }
    snprintf(out, size, "%s", path);
}

/* Opens where the walk begins and moves *path past what that covers. */
static int open_base(struct thread *th, int dirfd, const char **path)
{
    char base[64];
    if (**path == '/') {
        snprintf(base, sizeof base, "/proc/%d/root", (int)th->tid);
        while (**path == '/')
            (*path)++;
    } else if (dirfd == AT_FDCWD)
        snprintf(base, sizeof base, "/proc/%d/cwd", (int)th->tid);
    else
        snprintf(base, sizeof base, "/proc/%d/fd/%d", (int)th->tid, dirfd);
    return open(base, O_PATH | O_CLOEXEC);
}

/* Cuts the path in two at its last component. An entry that is "." or ".." or nothing has no name
 * of its own: the whole path is then the directory. */
static const char *split_last(char *path)
{
    size_t n = strlen(path);
    while (n && path[n - 1] == '/')
        path[--n] = '\0';
    char *slash = strrchr(path, '/');
    char *last = slash ? slash + 1 : path;
    if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return NULL;
    if (slash)
        *slash = '\0';
    return last;
}

static void look_up(struct tracer *t, struct thread *th, struct place *p)
{
    p->exists = fstatat(p->fd, p->name, &p->st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!p->exists)
        return;
    if (S_ISLNK(p->st.st_mode))
        p->found = fstatat(p->fd, p->name, &p->target, 0) == 0;
    else {
        p->found = true;
        p->target = p->st;
    }
    if (files_excluded(t->files, p->st.st_dev, p->st.st_ino)) {
        p->inside = false;
        return;
    }
    p->file = files_find(t->files, &p->st);
    if (p->inside && !p->file)
        p->file = adopt(t, th, p->dir, p->fd, p->name, &p->st, "appeared without a recorded call");
    if (p->found)
        p->target_file = files_find(t->files, &p->target);
}

static void resolve_text(struct tracer *t, struct thread *th, int dirfd, const char *text,
                         struct place *p)
{
    char own[PATH_MAX + OWN_PREFIX_ROOM], parent[PATH_MAX + OWN_PREFIX_ROOM];
    translate_own(th->tid, text, own, sizeof own);
    const char *rest = own;
    int base = open_base(th, dirfd, &rest);
    if (base < 0)
        return;
    snprintf(parent, sizeof parent, "%s", rest);
    const char *last = split_last(parent);
    const char *up = last == parent ? "." : parent;
    p->fd = openat(base, *up ? up : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    close(base);
    struct stat st;
    if (p->fd < 0 || fstat(p->fd, &st) != 0)
        return;
    if (!last) {
        p->exists = p->found = true;
        p->st = p->target = st;
        p->file = p->target_file = files_find(t->files, &st);
        return;
    }
    if (strlen(last) >= sizeof p->name)
        return;
    memcpy(p->name, last, strlen(last) + 1);
    p->dir = files_find(t->files, &st);
    p->inside = p->dir != 0;
    look_up(t, th, p);
}

bool place_resolve(struct tracer *t, struct thread *th, int dirfd, uint64_t path, struct place *out)
{
    char text[PATH_MAX];
    *out = (struct place){.fd = -1};
    errno = 0;
    if (!memory_path(th->tid, path, text)) {
        if (errno == EPERM)
            tracer_unseen(t, th);
        return false;
    }
    if (*text)
        resolve_text(t, th, dirfd, text, out);
    log_debug(RECORD, "thread %d: path %s from %d: directory %u, entry %s, file %u", (int)th->tid,
              text, dirfd, out->dir, out->name, out->file);
    return true;
}

void place_descriptor(struct tracer *t, struct thread *th, int fd, struct place *out)
{
    char link[64];
    *out = (struct place){.fd = -1};
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)th->tid, fd);
    out->found = out->exists = stat(link, &out->target) == 0;
    out->st = out->target;
    if (out->found)
        out->file = out->target_file = files_find(t->files, &out->target);
}

void place_of_open_file(struct tracer *t, struct thread *th, int fd, struct place *out)
{
    char link[64], path[PATH_MAX];
    *out = (struct place){.fd = -1};
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)th->tid, fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return;
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash || strlen(slash + 1) >= sizeof out->name)
        return;
    *slash = '\0';
    out->fd = open(*path ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat st;
    if (out->fd < 0 || fstat(out->fd, &st) != 0)
        return;
    snprintf(out->name, sizeof out->name, "%s", slash + 1);
    out->dir = files_find(t->files, &st);
    out->inside = out->dir != 0;
}

void place_close(struct place *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

enum proceed place_not_ours(const struct place *p)
{
    return p->fd < 0 && !p->found ? PROCEED_WAIT : PROCEED_IGNORE;
}
