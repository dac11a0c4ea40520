/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * treecmp [--except NAME]... A B
 *
 * Compares two folders: names, kinds, modes, sizes, contents, symbolic links' targets, link counts,
 * and which names are one file. Says what differs on standard output, up to a limit; the status is
 * 0 when nothing does, 1 when something does, 2 when it could not be found out. Entries called
 * NAME are skipped, wherever they are.
 *
 * Standalone on purpose: it judges flotsam's replay and shares no code with it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DIFFERENCES_SHOWN = 20,
    CHUNK = 1024 * 1024,
    EXCEPT_MAX = 64,
    EQUAL = 0,
    DIFFERENT,
    TROUBLE
};

/* A file with several names: the inode in each folder that its first name had. */
struct link {
    dev_t dev_a, dev_b;
    ino_t ino_a, ino_b;
    char *path;
};

static const char *except[EXCEPT_MAX];
static int except_count;
static unsigned long differences;
static struct link *links;
static size_t link_count, link_room;

static void print_escaped(const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c < ' ' || c >= 0x7f || c == '\\')
            printf("\\x%02x", c);
        else
            putchar(c);
    }
}

static void trouble(const char *what, const char *path)
{
    fflush(stdout);
    fprintf(stderr, "treecmp: cannot %s %s: %s\n", what, path, strerror(errno));
    exit(TROUBLE);
}

static void *grow(void *old, size_t size)
{
    void *p = realloc(old, size);
    if (!p)
        trouble("find memory for", "names");
    return p;
}

/* Counts a difference; true while they are still shown, with the path printed. */
static bool differs(const char *path)
{
    if (++differences > DIFFERENCES_SHOWN)
        return false;
    print_escaped(*path ? path : ".");
    fputs(": ", stdout);
    return true;
}

static void differ_in(const char *path, const char *what, unsigned long long a,
                      unsigned long long b, const char *format)
{
    if (!differs(path))
        return;
    printf("%s ", what);
    printf(format[0] == 'o' ? "%llo in A, %llo in B\n" : "%llu in A, %llu in B\n", a, b);
}

static char *join(const char *dir, const char *name)
{
    char *path = grow(NULL, strlen(dir) + strlen(name) + 2);
    sprintf(path, "%s%s%s", dir, *dir ? "/" : "", name);
    return path;
}

/* Contents */

/* Where data begins at or after `at`; size when there is none. */
static off_t next_data(int fd, off_t at, off_t size)
{
    off_t data = lseek(fd, at, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? size : at;
    return data < size ? data : size;
}

static size_t read_at(int fd, char *to, size_t size, off_t at, const char *path)
{
    size_t have = 0;
    while (have < size) {
        ssize_t n = pread(fd, to + have, size - have, at + (off_t)have);
        if (n < 0 && errno != EINTR)
            trouble("read", path);
        if (n == 0)
            break;
        have += n > 0 ? (size_t)n : 0;
    }
    return have;
}

static void compare_bytes(int a, int b, off_t size, const char *path)
{
    static char chunk_a[CHUNK], chunk_b[CHUNK];
    for (off_t at = 0; at < size;) {
        off_t data_a = next_data(a, at, size), data_b = next_data(b, at, size);
        at = data_a < data_b ? data_a : data_b; /* before it both are holes */
        size_t want = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
        if (read_at(a, chunk_a, want, at, path) != want ||
            read_at(b, chunk_b, want, at, path) != want) {
            errno = EIO;
            trouble("read all of", path);
        }
        if (memcmp(chunk_a, chunk_b, want)) {
            size_t i = 0;
            while (chunk_a[i] == chunk_b[i])
                i++;
            if (differs(path))
                printf("byte %lld is %02x in A, %02x in B\n", (long long)at + (long long)i,
                       (unsigned char)chunk_a[i], (unsigned char)chunk_b[i]);
            return;
        }
        at += (off_t)want;
    }
}

static void compare_regular(int dir_a, int dir_b, const char *name, off_t size, const char *path)
{
    int a = openat(dir_a, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int b = openat(dir_b, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (a < 0 || b < 0)
        trouble("open", path);
    compare_bytes(a, b, size, path);
    close(a);
    close(b);
}

static void compare_targets(int dir_a, int dir_b, const char *name, const char *path)
{
    char a[PATH_MAX + 1], b[PATH_MAX + 1];
    ssize_t n = readlinkat(dir_a, name, a, PATH_MAX), m = readlinkat(dir_b, name, b, PATH_MAX);
    if (n < 0 || m < 0)
        trouble("read the link", path);
    a[n] = b[m] = '\0';
    if (!strcmp(a, b) || !differs(path))
        return;
    fputs("leads to ", stdout);
    print_escaped(a);
    fputs(" in A, ", stdout);
    print_escaped(b);
    fputs(" in B\n", stdout);
}

/* Names */

/* Names that are one file in A must be one file in B, and the other way round. */
static void compare_links(const struct stat *a, const struct stat *b, const char *path)
{
    for (size_t i = 0; i < link_count; i++) {
        const struct link *l = &links[i];
        bool same_a = l->dev_a == a->st_dev && l->ino_a == a->st_ino;
        bool same_b = l->dev_b == b->st_dev && l->ino_b == b->st_ino;
        if (same_a != same_b && differs(path)) {
            printf("is one file with ");
            print_escaped(l->path);
            printf(" only in %s\n", same_a ? "A" : "B");
        }
        if (same_a || same_b)
            return;
    }
    if (link_count == link_room) {
        link_room = link_room ? link_room * 2 : 64;
        links = grow(links, link_room * sizeof *links);
    }
    links[link_count++] = (struct link){a->st_dev, b->st_dev, a->st_ino, b->st_ino, join("", path)};
}

static const char *kind(mode_t mode)
{
    return S_ISREG(mode)    ? "a regular file"
           : S_ISDIR(mode)  ? "a directory"
           : S_ISLNK(mode)  ? "a symbolic link"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

static void compare_directories(int a, int b, const char *path);

static void compare_below(int dir_a, int dir_b, const char *name, const char *path)
{
    int a = openat(dir_a, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int b = openat(dir_b, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (a < 0 || b < 0)
        trouble("open", path);
    compare_directories(a, b, path);
    close(a);
    close(b);
}

static void compare_entry(int dir_a, int dir_b, const char *name, const char *path)
{
    struct stat a, b;
    if (fstatat(dir_a, name, &a, AT_SYMLINK_NOFOLLOW) ||
        fstatat(dir_b, name, &b, AT_SYMLINK_NOFOLLOW))
        trouble("look at", path);
    if ((a.st_mode & S_IFMT) != (b.st_mode & S_IFMT)) {
        if (differs(path))
            printf("is %s in A, %s in B\n", kind(a.st_mode), kind(b.st_mode));
        return;
    }
    if (a.st_mode != b.st_mode)
        differ_in(path, "has mode", a.st_mode & 07777, b.st_mode & 07777, "o");
    /* A directory's link count and size are its file system's own business. */
    if (S_ISDIR(a.st_mode)) {
        compare_below(dir_a, dir_b, name, path);
        return;
    }
    if (a.st_nlink != b.st_nlink)
        differ_in(path, "has links:", a.st_nlink, b.st_nlink, "u");
    if (a.st_nlink > 1 || b.st_nlink > 1)
        compare_links(&a, &b, path);
    if (S_ISLNK(a.st_mode))
        compare_targets(dir_a, dir_b, name, path);
    if (!S_ISREG(a.st_mode))
        return;
    if (a.st_size != b.st_size)
        differ_in(path, "has bytes:", (unsigned long long)a.st_size, (unsigned long long)b.st_size,
                  "u");
    else
        compare_regular(dir_a, dir_b, name, a.st_size, path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool skipped(const char *name)
{
    for (int i = 0; i < except_count; i++)
        if (!strcmp(except[i], name))
            return true;
    return !strcmp(name, ".") || !strcmp(name, "..");
}

static char **read_names(int fd, size_t *count, const char *path)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (!dir)
        trouble("read", path);
    char **names = NULL;
    size_t n = 0, room = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (skipped(entry->d_name))
            continue;
        if (n == room) {
            room = room ? room * 2 : 64;
            names = grow(names, room * sizeof *names);
        }
        names[n++] = join("", entry->d_name);
    }
    closedir(dir);
    if (n)
        qsort(names, n, sizeof *names, by_name);
    *count = n;
    return names;
}

static void free_names(char **names, size_t n)
{
    while (n)
        free(names[--n]);
    free(names);
}

static void compare_directories(int a, int b, const char *path)
{
    size_t n, m;
    char **names_a = read_names(a, &n, path), **names_b = read_names(b, &m, path);
    for (size_t i = 0, j = 0; i < n || j < m;) {
        int order = i == n ? 1 : j == m ? -1 : strcmp(names_a[i], names_b[j]);
        char *below = join(path, order <= 0 ? names_a[i] : names_b[j]);
        if (order == 0)
            compare_entry(a, b, names_a[i], below);
        else if (differs(below))
            printf("only in %s\n", order < 0 ? "A" : "B");
        free(below);
        i += order <= 0;
        j += order >= 0;
    }
    free_names(names_a, n);
    free_names(names_b, m);
}

static int open_top(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        trouble("open", path);
    return fd;
}

int main(int argc, char **argv)
{
    int at = 1;
    while (at + 1 < argc && !strcmp(argv[at], "--except") && except_count < EXCEPT_MAX) {
        except[except_count++] = argv[at + 1];
        at += 2;
    }
    if (argc - at != 2) {
        fputs("usage: treecmp [--except NAME]... A B\n", stderr);
        return TROUBLE;
    }
    int a = open_top(argv[at]), b = open_top(argv[at + 1]);
    compare_entry(a, b, ".", "");
    if (differences > DIFFERENCES_SHOWN)
        printf("and %lu more\n", differences - DIFFERENCES_SHOWN);
    for (size_t i = 0; i < link_count; i++)
        free(links[i].path);
    free(links);
    close(a);
    close(b);
    return differences ? DIFFERENT : EQUAL;
}
