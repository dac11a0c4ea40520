/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * folders: temporary folders for unit tests, and the comparison of two of them. The functions end
 * the test when they fail; include after cmocka.h.
 */
#ifndef TESTS_UNIT_FOLDERS_H
#define TESTS_UNIT_FOLDERS_H

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/map.h"
#include "engine/mem.h"

#define FOLDERS_UNUSED __attribute__((unused))

static char *folder_new_in(const char *where)
{
    char *path = xasprintf("%s/flotsam-test-XXXXXX", where);
    assert_non_null(mkdtemp(path));
    return path;
}

/* A new folder in $TMPDIR or /tmp; folder_remove removes and frees it. */
FOLDERS_UNUSED static char *folder_new(void)
{
    const char *tmp = getenv("TMPDIR");
    return folder_new_in(tmp ? tmp : "/tmp");
}

/* One in memory where there is such a thing, for what would wait for the disk. */
FOLDERS_UNUSED static char *folder_new_quick(void)
{
    static const char memory[] = "/dev/shm";
    return access(memory, W_OK) == 0 ? folder_new_in(memory) : folder_new();
}

FOLDERS_UNUSED static void folder_remove(char *path)
{
    /* fts and not nftw, which cannot go deeper than a path name is long. */
    char *const paths[] = {path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOSTAT, NULL);
    for (FTSENT *entry; walk && (entry = fts_read(walk));)
        if (entry->fts_info != FTS_D)
            remove(entry->fts_accpath);
    fts_close(walk);
    free(path);
}

static void folder_same_contents(const char *a, const char *b)
{
    enum { CHUNK = 64 * 1024 };
    static char chunk_a[CHUNK], chunk_b[CHUNK];
    int fd_a = open(a, O_RDONLY | O_NOFOLLOW), fd_b = open(b, O_RDONLY | O_NOFOLLOW);
    assert_true(fd_a >= 0 && fd_b >= 0);
    for (uint64_t at = 0;; at += CHUNK) {
        ssize_t n = pread(fd_a, chunk_a, CHUNK, (off_t)at);
        assert_true(n >= 0);
        assert_int_equal(pread(fd_b, chunk_b, CHUNK, (off_t)at), n);
        if (memcmp(chunk_a, chunk_b, (size_t)n))
            fail_msg("%s and %s differ after %llu bytes", a, b, (unsigned long long)at);
        if (n < CHUNK)
            break;
    }
    close(fd_a);
    close(fd_b);
}

static size_t folder_count(const char *path)
{
    DIR *dir = opendir(path);
    assert_non_null(dir);
    size_t n = 0;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* links: inodes of a to those of b, and of b to those of a. */
static void folder_same_at(const char *a, const char *b, struct map links[static 2])
{
    struct stat sa, sb;
    if (lstat(a, &sa) != 0 || lstat(b, &sb) != 0)
        fail_msg("only one of %s and %s is there", a, b);
    if (sa.st_mode != sb.st_mode)
        fail_msg("%s has mode %o, %s has %o", a, sa.st_mode, b, sb.st_mode);
    uint64_t *b_of_a = map_put(&links[0], &sa.st_ino, sizeof sa.st_ino, NULL);
    uint64_t *a_of_b = map_put(&links[1], &sb.st_ino, sizeof sb.st_ino, NULL);
    if ((*b_of_a && *b_of_a != sb.st_ino) || (*a_of_b && *a_of_b != sa.st_ino))
        fail_msg("%s is linked to other names than %s", a, b);
    *b_of_a = sb.st_ino;
    *a_of_b = sa.st_ino;
    if (!S_ISDIR(sa.st_mode) && sa.st_nlink != sb.st_nlink)
        fail_msg("%s has %lu links, %s has %lu", a, (unsigned long)sa.st_nlink, b,
                 (unsigned long)sb.st_nlink);
    if (S_ISLNK(sa.st_mode)) {
        char target_a[PATH_MAX] = "", target_b[PATH_MAX] = "";
        assert_true(readlink(a, target_a, PATH_MAX - 1) > 0);
        assert_true(readlink(b, target_b, PATH_MAX - 1) > 0);
        assert_string_equal(target_a, target_b);
    }
    if (S_ISREG(sa.st_mode)) {
        if (sa.st_size != sb.st_size)
            fail_msg("%s has %lld bytes, %s has %lld", a, (long long)sa.st_size, b,
                     (long long)sb.st_size);
        folder_same_contents(a, b);
    }
    if (!S_ISDIR(sa.st_mode))
        return;
    assert_int_equal(folder_count(a), folder_count(b));
    DIR *dir = opendir(a);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        char *below_a = xasprintf("%s/%s", a, entry->d_name);
        char *below_b = xasprintf("%s/%s", b, entry->d_name);
        folder_same_at(below_a, below_b, links);
        free(below_a);
        free(below_b);
    }
    closedir(dir);
}

/* Fails unless both hold the same: names, kinds, modes, sizes, contents, targets, links. */
FOLDERS_UNUSED static void folder_same(const char *a, const char *b)
{
    struct map links[2] = {{0}};
    folder_same_at(a, b, links);
    map_free(&links[0]);
    map_free(&links[1]);
}

#endif
