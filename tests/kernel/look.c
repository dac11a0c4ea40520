/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernel/look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/litmus_states.h"
#include "engine/vec.h"

static void add_error(struct buf *out)
{
    buf_printf(out, "(%s)", strerrorname_np(errno));
}

/* Files of litmus programs are small; a size that makes no sense is shown as such. */
enum { MOST_BYTES = 1 << 20 };

static void look_at_file(int dir, const char *name, off_t size, struct buf *out)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || size > MOST_BYTES) {
        if (fd >= 0)
            close(fd);
        errno = fd >= 0 ? EFBIG : errno;
        add_error(out);
        return;
    }
    char *bytes = xmalloc((size_t)size + 1);
    ssize_t n = pread(fd, bytes, (size_t)size, 0);
    if (n == size)
        litmus_write_bytes(out, bytes, (size_t)n);
    else {
        errno = n < 0 ? errno : EIO;
        add_error(out);
    }
    free(bytes);
    close(fd);
}

static void look_at_entry(int dir, const char *name, const char *path, struct buf *out)
{
    char target[4096];
    struct stat st;
    buf_printf(out, "%s%s", out->n ? " " : "", path);
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        add_error(out);
    else if (S_ISDIR(st.st_mode))
        buf_char(out, '/');
    else if (S_ISLNK(st.st_mode)) {
        ssize_t n = readlinkat(dir, name, target, sizeof target);
        buf_printf(out, "->%.*s", n > 0 ? (int)n : 0, target);
    } else {
        buf_char(out, '=');
        look_at_file(dir, name, st.st_size, out);
    }
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void look_below(int fd, const char *prefix, struct buf *out)
{
    vec_of(char *) names = {0};
    DIR *dir = fdopendir(fd);
    if (!dir) {
        add_error(out);
        close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            vec_push(&names, xstrdup(entry->d_name));
    if (names.n)
        qsort(names.at, names.n, sizeof *names.at, by_bytes);
    for (size_t i = 0; i < names.n; i++) {
        char *path = xasprintf("%s%s", prefix, names.at[i]);
        look_at_entry(fd, names.at[i], path, out);
        int below = openat(fd, names.at[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0) {
            char *longer = xasprintf("%s/", path);
            look_below(below, longer, out);
            free(longer);
        }
        free(path);
        free(names.at[i]);
    }
    vec_free(&names);
    closedir(dir);
}

void look_at(int root, const char *dir, struct buf *out)
{
    int fd = openat(root, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        add_error(out);
    else
        look_below(fd, "", out);
    if (!out->n)
        buf_text(out, "(nothing)");
}
