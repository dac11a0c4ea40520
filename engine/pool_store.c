/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/pool_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "engine/mem.h"
#include "engine/pool_files.h"

static const char PREFIX[] = "flotsam-pool-";

/* How often another flotsam may take a new folder for an old one. */
enum { TRIES = 16 };

static int lock_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (fd >= 0 &&
        (fstat(fd, &st) != 0 || st.st_uid != geteuid() || flock(fd, LOCK_EX | LOCK_NB) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void remove_stale(const char *base)
{
    DIR *dir = opendir(base);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1))
            continue;
        char *path = xasprintf("%s/%s", base, entry->d_name);
        int fd = lock_folder(path);
        if (fd >= 0) {
            pool_files_remove(path);
            close(fd);
        }
        free(path);
    }
    if (dir)
        closedir(dir);
}

static bool is_inside(const char *path, const char *folder)
{
    char *real = folder ? realpath(folder, NULL) : NULL;
    size_t n = real ? strlen(real) : 0;
    bool inside = n && !strncmp(path, real, n) && (path[n] == '/' || !path[n] || n == 1);
    free(real);
    return inside;
}

static uint64_t bytes_free(const char *base)
{
    struct statvfs st;
    return statvfs(base, &st) == 0 ? (uint64_t)st.f_bavail * st.f_frsize : 0;
}

/* The store in base, an existing folder; what fails is in errno. */
static bool make_in(struct pool_store *s, const char *base)
{
    remove_stale(base);
    for (int i = 0; i < TRIES; i++) {
        char *path = xasprintf("%s/%sXXXXXX", base, PREFIX);
        if (!mkdtemp(path)) {
            free(path);
            return false;
        }
        int lock = lock_folder(path);
        struct stat st;
        if (lock >= 0 && stat(path, &st) == 0) {
            *s = (struct pool_store){.path = path, .lock = lock};
            return true;
        }
        if (lock >= 0)
            close(lock);
        rmdir(path); /* whoever looked into it need not be a flotsam that removes it */
        free(path);
    }
    errno = EAGAIN;
    return false;
}

/* NULL, with the reason, when states cannot lie there. The caller frees it. */
static char *base_of(const char *path, const char *outside, struct error *e)
{
    char *base = realpath(path, NULL);
    if (!base) {
        error_errno(e, "no place for crash states: %s", path);
    } else if (is_inside(base, outside)) {
        error_set(e, "no place for crash states: %s lies in the data directory", base);
        free(base);
        base = NULL;
    }
    return base;
}

size_t pool_store_best(const uint64_t *bytes, size_t n, uint64_t room)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] && bytes[i] >= room)
            return i;
        if (bytes[i] && (best == n || bytes[i] > bytes[best]))
            best = i;
    }
    return best;
}

bool pool_store_open(struct pool_store *s, const char *work, const char *outside, uint64_t room,
                     struct error *e)
{
    const char *paths[] = {"/dev/shm", getenv("TMPDIR"), "/tmp", "/var/tmp"};
    char *bases[sizeof paths / sizeof *paths] = {NULL};
    uint64_t bytes[sizeof paths / sizeof *paths] = {0};
    size_t n = work ? 1 : sizeof paths / sizeof *paths, best;
    if (work)
        paths[0] = work;
    for (size_t i = 0; i < n; i++) {
        bases[i] = paths[i] ? base_of(paths[i], outside, e) : NULL;
        bytes[i] = bases[i] ? 1 + bytes_free(bases[i]) : 0; /* a full one is one still */
    }
    *s = (struct pool_store){.lock = -1};
    while (!s->path && (best = pool_store_best(bytes, n, room)) < n) {
        if (!make_in(s, bases[best]))
            error_errno(e, "no place for crash states: %s", bases[best]);
        bytes[best] = 0;
    }
    for (size_t i = 0; i < n; i++)
        free(bases[i]);
    return s->path;
}

void pool_store_close(struct pool_store *s)
{
    if (s->path)
        pool_files_remove(s->path);
    if (s->lock >= 0)
        close(s->lock);
    free(s->path);
    *s = (struct pool_store){.lock = -1};
}

/* ---- places ---- */

static void unmake(char *path, unsigned made)
{
    for (unsigned i = 0; i < made && rmdir(path) == 0; i++)
        *strrchr(path, '/') = '\0';
}

static bool make_parents(char *path, unsigned *made)
{
    for (char *at = path; *at;) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        char end = *at;
        *at = '\0';
        bool there = mkdir(path, 0777) == 0;
        *made += there;
        there |= errno == EEXIST;
        *at = end;
        if (!there)
            return false;
    }
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int hold_empty(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return -1;
    int names = 0, hold = -1;
    while (names <= 2 && readdir(dir))
        names++;
    if (names == 2) /* itself and its parent */
        hold = fcntl(dirfd(dir), F_DUPFD_CLOEXEC, 0);
    closedir(dir);
    if (hold >= 0)
        flock(hold, LOCK_SH | LOCK_NB);
    return hold;
}

bool pool_place_open(struct pool_place *p, const char *path)
{
    *p = (struct pool_place){.path = xstrdup(path), .hold = -1};
    if (make_parents(p->path, &p->made)) {
        p->hold = hold_empty(path);
        return true;
    }
    unmake(p->path, p->made);
    free(p->path);
    *p = (struct pool_place){.hold = -1};
    return false;
}

void pool_place_close(struct pool_place *p)
{
    if (p->path && p->hold >= 0 && flock(p->hold, LOCK_EX | LOCK_NB) == 0)
        unmake(p->path, p->made);
    if (p->hold >= 0)
        close(p->hold);
    free(p->path);
    *p = (struct pool_place){.hold = -1};
}
