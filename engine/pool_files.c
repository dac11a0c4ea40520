/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/pool_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/map.h"
#include "engine/vec.h"

/* ---- emptying ---- */

enum {
    /* Levels that are walked down; what lies deeper is moved up first. Each costs a descriptor and
     * a batch of names on the stack. */
    DEPTH_MAX = 48,
    BATCH = 2048,
    /* Names tried for a folder that is moved up: the checker may have taken some. */
    NAMES_TRIED = 64,
};

struct emptying {
    int top;
    unsigned moved; /* folders brought up so far: their names are counted */
};

static bool empty_level(struct emptying *w, int dir, unsigned depth);

static bool move_up(struct emptying *w, int dir, const char *name)
{
    for (int i = 0; i < NAMES_TRIED; i++) {
        char moved[32];
        snprintf(moved, sizeof moved, ".deep-%u", w->moved++);
        if (renameat(dir, name, w->top, moved) == 0)
            return true;
        if (errno == EACCES)
            fchmodat(dir, name, S_IRWXU, 0);
    }
    return false;
}

static bool remove_directory(struct emptying *w, int dir, const char *name, unsigned depth)
{
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
        return true;
    if (depth == DEPTH_MAX)
        return move_up(w, dir, name);
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int below = openat(dir, name, flags);
    if (below < 0 && errno == EACCES && fchmodat(dir, name, S_IRWXU, 0) == 0)
        below = openat(dir, name, flags);
    if (below < 0)
        return false;
    bool empty = empty_level(w, below, depth + 1);
    int why = errno;
    close(below);
    errno = why;
    return empty && unlinkat(dir, name, AT_REMOVEDIR) == 0;
}

/* Root's checkers may forbid changes even to root. */
static void thaw(int dir, const char *name)
{
    int none = 0;
    ioctl(dir, FS_IOC_SETFLAGS, &none);
    int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    ioctl(fd, FS_IOC_SETFLAGS, &none);
    close(fd);
}

static bool remove_entry(struct emptying *w, int dir, const struct dirent64 *entry, unsigned depth)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        if (entry->d_type != DT_DIR && unlinkat(dir, entry->d_name, 0) == 0)
            return true;
        if ((entry->d_type == DT_DIR || errno == EISDIR) &&
            remove_directory(w, dir, entry->d_name, depth))
            return true;
        /* The folder around it may not be writable: it is ours, and about to go. */
        if (errno == EPERM)
            thaw(dir, entry->d_name);
        else if (errno != EACCES || fchmod(dir, S_IRWXU) != 0)
            return false;
    }
    return false;
}

/* getdents64 and not readdir, which allocates. Passes go on while they remove something. */
static bool empty_level(struct emptying *w, int dir, unsigned depth)
{
    _Alignas(struct dirent64) char batch[BATCH];
    for (;;) {
        bool any = false, progress = false;
        lseek(dir, 0, SEEK_SET);
        for (long n; (n = syscall(SYS_getdents64, dir, batch, sizeof batch)) > 0;) {
            for (long at = 0; at < n;) {
                const struct dirent64 *entry = (const void *)(batch + at);
                at += entry->d_reclen;
                if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
                    continue;
                any = true;
                progress |= remove_entry(w, dir, entry, depth);
            }
        }
        if (!any)
            return true;
        if (!progress)
            return false;
    }
}

bool pool_files_empty(int dir)
{
    struct emptying w = {.top = dir};
    return empty_level(&w, dir, 0);
}

bool pool_files_remove(const char *path)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0)
        return errno == ENOENT;
    bool empty = pool_files_empty(dir);
    close(dir);
    return rmdir(path) == 0 && empty;
}

/* ---- copying ---- */

struct copying {
    const char *to;
    struct buf path;      /* of the entry at hand, below to */
    struct map links;     /* device and inode to place in names, plus one */
    vec_of(char *) names; /* paths below to of files with several names */
    struct error *e;
};

static bool copy_failed(struct copying *c)
{
    return error_errno(c->e, "cannot copy the crash state to %s/%s", c->to, buf_string(&c->path));
}

static bool copy_range(int in, int out, off_t at, off_t end)
{
    char bytes[64 * 1024];
    while (at < end) {
        size_t want = end - at < (off_t)sizeof bytes ? (size_t)(end - at) : sizeof bytes;
        ssize_t n = pread(in, bytes, want, at);
        if (n <= 0)
            return n == 0;
        for (ssize_t done = 0; done < n;) {
            ssize_t put = pwrite(out, bytes + done, (size_t)(n - done), at + done);
            if (put < 0)
                return false;
            done += put;
        }
        at += n;
    }
    return true;
}

/* Holes stay holes. */
static bool copy_bytes(int in, int out, off_t size)
{
    if (ftruncate(out, size) != 0)
        return false;
    for (off_t at = 0; at < size;) {
        off_t data = lseek(in, at, SEEK_DATA);
        if (data < 0)
            return errno == ENXIO;
        off_t hole = lseek(in, data, SEEK_HOLE);
        if (hole < 0 || !copy_range(in, out, data, hole))
            return false;
        at = hole;
    }
    return true;
}

static bool copy_file(struct copying *c, int from, int to, const char *name, const struct stat *st)
{
    int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    bool done = in >= 0 && out >= 0 && copy_bytes(in, out, st->st_size);
    if (!done)
        copy_failed(c);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return done;
}

/* A name of a file that was copied under another: linked, and *done. */
static bool copy_link(struct copying *c, int to, const char *name, const struct stat *st,
                      bool *done)
{
    const uint64_t key[] = {st->st_dev, st->st_ino};
    bool added;
    uint64_t *place = map_put(&c->links, key, sizeof key, &added);
    *done = !added;
    if (added) {
        vec_push(&c->names, xasprintf("%s/%s", c->to, buf_string(&c->path)));
        *place = c->names.n;
        return true;
    }
    return linkat(AT_FDCWD, c->names.at[*place - 1], to, name, 0) == 0 || copy_failed(c);
}

static void copy_attributes(int to, const char *name, const struct stat *st)
{
    /* Owners take privileges, and modes of links do not exist: what cannot be set stays. */
    if (fchownat(to, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) != 0)
        errno = 0;
    if (!S_ISLNK(st->st_mode))
        fchmodat(to, name, st->st_mode & 07777, 0);
    const struct timespec times[] = {st->st_atim, st->st_mtim};
    utimensat(to, name, times, AT_SYMLINK_NOFOLLOW);
}

static bool copy_level(struct copying *c, int from, int to);

static bool copy_directory(struct copying *c, int from, int to, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if (mkdirat(to, name, S_IRWXU) != 0)
        return copy_failed(c);
    int in = openat(from, name, flags), out = openat(to, name, flags);
    bool done = in >= 0 && out >= 0;
    if (!done) {
        copy_failed(c);
        if (in >= 0)
            close(in);
    } else {
        done = copy_level(c, in, out); /* closes in */
    }
    if (out >= 0)
        close(out);
    return done;
}

static bool copy_symlink(struct copying *c, int from, int to, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(from, name, target, sizeof target - 1);
    if (n < 0)
        return copy_failed(c);
    target[n] = '\0';
    return symlinkat(target, to, name) == 0 || copy_failed(c);
}

static bool copy_entry(struct copying *c, int from, int to, const char *name)
{
    struct stat st;
    if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return copy_failed(c);
    bool done = false;
    if (!S_ISDIR(st.st_mode) && st.st_nlink > 1 && !copy_link(c, to, name, &st, &done))
        return false;
    if (done)
        return true;
    if (S_ISDIR(st.st_mode))
        done = copy_directory(c, from, to, name);
    else if (S_ISREG(st.st_mode))
        done = copy_file(c, from, to, name, &st);
    else if (S_ISLNK(st.st_mode))
        done = copy_symlink(c, from, to, name);
    else
        done = mknodat(to, name, st.st_mode, st.st_rdev) == 0 || copy_failed(c);
    if (done)
        copy_attributes(to, name, &st);
    return done;
}

static bool copy_level(struct copying *c, int from, int to)
{
    DIR *dir = fdopendir(from);
    if (!dir) {
        copy_failed(c);
        close(from);
        return false;
    }
    bool done = true;
    for (struct dirent *entry; done && (entry = readdir(dir));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        size_t before = c->path.n;
        buf_printf(&c->path, "%s%s", before ? "/" : "", entry->d_name);
        done = copy_entry(c, from, to, entry->d_name);
        c->path.n = before;
        c->path.at[before] = '\0';
    }
    closedir(dir);
    return done;
}

bool pool_files_copy(const char *from, const char *to, struct error *e)
{
    struct copying c = {.to = to, .e = e};
    struct stat st;
    bool done = false;
    int in = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int out = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (in < 0 || out < 0 || fstat(in, &st) != 0) {
        copy_failed(&c);
        if (in >= 0)
            close(in);
    } else {
        done = copy_level(&c, in, out); /* closes in */
        copy_attributes(AT_FDCWD, to, &st);
    }
    if (out >= 0)
        close(out);
    for (size_t i = 0; i < c.names.n; i++)
        free(c.names.at[i]);
    vec_free(&c.names);
    map_free(&c.links);
    buf_free(&c.path);
    return done;
}
