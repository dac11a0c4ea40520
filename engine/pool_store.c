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

static bool has_room(const char *base, uint64_t room)
{
    struct statvfs st;
    return statvfs(base, &st) == 0 && (uint64_t)st.f_bavail * st.f_frsize >= room;
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
        free(path);
    }
    errno = EAGAIN;
    return false;
}

bool pool_store_open(struct pool_store *s, const char *work, const char *outside, uint64_t room,
                     struct error *e)
{
    const char *choices[] = {"/dev/shm", getenv("TMPDIR"), "/tmp", "/var/tmp"};
    size_t n = sizeof choices / sizeof *choices;
    if (work) {
        choices[0] = work;
        n = 1;
    }
    *s = (struct pool_store){.lock = -1};
    for (size_t i = 0; i < n; i++) {
        char *base = choices[i] ? realpath(choices[i], NULL) : NULL;
        if (!base) {
            if (choices[i])
                error_errno(e, "no place for crash states: %s", choices[i]);
            continue;
        }
        bool made = false;
        if (is_inside(base, outside))
            error_set(e, "no place for crash states: %s lies in the data directory", base);
        else if (!has_room(base, room))
            error_set(e, "no place for crash states: %s has less than %llu MiB free", base,
                      (unsigned long long)(room >> 20));
        else if (!(made = make_in(s, base)))
            error_errno(e, "no place for crash states: %s", base);
        free(base);
        if (made)
            return true;
    }
    return false;
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

bool pool_store_make(const char *path, unsigned *made)
{
    *made = 0;
    char *part = xstrdup(path);
    bool good = true;
    for (char *at = part; good && *at;) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        char end = *at;
        *at = '\0';
        if (mkdir(part, 0777) == 0)
            (*made)++;
        else
            good = errno == EEXIST;
        *at = end;
    }
    struct stat st;
    good = good && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    free(part);
    if (!good)
        pool_store_unmake(path, *made);
    return good;
}

void pool_store_unmake(const char *path, unsigned made)
{
    char *part = xstrdup(path);
    for (unsigned i = 0; i < made; i++) {
        size_t n = strlen(part);
        while (n > 1 && part[n - 1] == '/')
            part[--n] = '\0';
        rmdir(part);
        char *slash = strrchr(part, '/');
        if (slash)
            *slash = '\0';
    }
    free(part);
}
