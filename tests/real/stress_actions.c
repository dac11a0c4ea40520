/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The random calls of the stress program: one function an action, and the table that weighs them.
 */
#include "stress.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

enum { VECTOR_MAX = 4 };

/* The owner keeps his rights, so that the tree can be compared by anybody. */
static mode_t file_mode(struct actor *a)
{
    return 0600 | below(a, 0100) | (chance(a, 10) ? below(a, 8) << 9 : 0);
}

static mode_t directory_mode(struct actor *a)
{
    return 0700 | below(a, 0100) | (chance(a, 10) ? below(a, 8) << 9 : 0);
}

/* Every open has O_NONBLOCK: a FIFO must not stop the thread. */
static int open_flags(struct actor *a)
{
    static const int access[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR, O_RDWR};
    int flags = O_NONBLOCK | access[below(a, 5)];

    flags |= chance(a, 60) ? O_CREAT : 0;
    flags |= chance(a, 15) ? O_EXCL : 0;
    flags |= chance(a, 15) ? O_TRUNC : 0;
    flags |= chance(a, 25) ? O_APPEND : 0;
    flags |= chance(a, 5) ? O_DSYNC : 0;
    flags |= chance(a, 3) ? O_SYNC : 0;
    flags |= chance(a, 20) ? O_CLOEXEC : 0;
    flags |= chance(a, 5) ? O_NOFOLLOW : 0;
    flags |= chance(a, 2) ? O_PATH : 0;
    flags |= chance(a, 2) ? O_DIRECTORY : 0;
    return flags;
}

/* A FIFO is not kept: a call on it runs unwatched, since it may block, and so it is anybody's guess
 * whether it comes before or after another thread puts a file in its slot. */
static long opened(struct actor *a, int fd)
{
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
        close(fd);
    else
        keep(a, fd);
    return fd;
}

static long do_open(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    const char *name = chance(a, 4) ? fifo(a, p) : path(a, p);
    int flags = open_flags(a);
    return opened(a, (int)syscall(SYS_open, name, flags, file_mode(a)));
}

static long do_openat(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    struct at at = at_path(a, p);
    int flags = open_flags(a);
    return opened(a, openat(at.dir, at.name, flags, file_mode(a)));
}

static long do_openat2(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    struct at at = at_path(a, p);
    unsigned flags = (unsigned)open_flags(a) & ~(unsigned)O_PATH;
    struct open_how how = {.flags = flags,
                           .mode = flags & O_CREAT ? file_mode(a) : 0,
                           .resolve = chance(a, 20) ? RESOLVE_NO_SYMLINKS : 0};
    return opened(a, (int)syscall(SYS_openat2, at.dir, at.name, &how, sizeof how));
}

static long do_creat(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    path(a, p);
    return opened(a, (int)syscall(SYS_creat, p, file_mode(a)));
}

static long do_open_directory(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    int to = DIRECTORY_SLOT + (int)below(a, DIRECTORY_SLOTS);
    int fd = open(directory(a, p), O_DIRECTORY | (chance(a, 30) ? O_PATH : O_RDONLY));

    if (fd >= 0) {
        dup2(fd, to);
        close(fd);
    }
    return fd;
}

static long do_reopen(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    int flags = open_flags(a) & ~O_EXCL;
    snprintf(p, sizeof p, "/proc/self/fd/%d", slot(a));
    return opened(a, open(p, flags, file_mode(a)));
}

/* A file without a name, written, and then given one in either of the two ways. */
static long do_tmpfile(struct actor *a)
{
    char d[PATH_MAX_LENGTH], p[PATH_MAX_LENGTH], self[64];
    size_t size = length(a);
    int fd = open(directory(a, d), O_TMPFILE | O_RDWR, file_mode(a));
    path(a, p);
    const void *data = bytes(a, &size);
    bool link = chance(a, 80), empty = chance(a, 50);

    if (fd < 0)
        return fd;
    long result = write(fd, data, size);
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    if (link && empty)
        result = linkat(fd, "", AT_FDCWD, p, AT_EMPTY_PATH);
    else if (link)
        result = linkat(AT_FDCWD, self, AT_FDCWD, p, AT_SYMLINK_FOLLOW);
    keep(a, fd);
    return result;
}

/* Past the page cache, with everything aligned and nobody else at the descriptor: what a misaligned
 * write leaves when it fails half-way is the kernel's secret. */
static long do_direct(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    size_t size = (1 + below(a, 3)) * BLOCK;
    off_t at = (off_t)below(a, 12) * BLOCK;
    int fd = open(path(a, p), O_CREAT | O_RDWR | O_NONBLOCK | O_DIRECT, file_mode(a));

    if (fd < 0)
        return fd;
    memset(a->buffer, (int)('A' + below(a, 58)), size);
    long result = chance(a, 50) ? write(fd, a->buffer, size) : pwrite(fd, a->buffer, size, at);
    close(fd);
    return result;
}

static long do_write(struct actor *a)
{
    int fd = slot(a);
    size_t size = length(a);
    const void *data = bytes(a, &size);
    return write(fd, data, size);
}

static long do_pwrite(struct actor *a)
{
    int fd = slot(a);
    size_t size = length(a);
    const void *data = bytes(a, &size);
    return pwrite(fd, data, size, chance(a, 2) ? -1 : place(a));
}

static int vector(struct actor *a, struct iovec v[VECTOR_MAX])
{
    int n = (int)below(a, VECTOR_MAX + 1);
    for (int i = 0; i < n; i++) {
        v[i].iov_len = length(a);
        v[i].iov_base = (void *)(uintptr_t)bytes(a, &v[i].iov_len);
    }
    return n;
}

static long do_writev(struct actor *a)
{
    struct iovec v[VECTOR_MAX];
    int fd = slot(a);
    int n = vector(a, v);
    return writev(fd, v, n);
}

static long do_pwritev(struct actor *a)
{
    struct iovec v[VECTOR_MAX];
    int fd = slot(a);
    int n = vector(a, v);
    return pwritev(fd, v, n, place(a));
}

static long do_pwritev2(struct actor *a)
{
    static const int flags[] = {0,          RWF_APPEND, RWF_DSYNC, RWF_SYNC, RWF_APPEND | RWF_DSYNC,
                                RWF_NOWAIT, 1 << 30};
    struct iovec v[VECTOR_MAX];
    int fd = slot(a);
    int n = vector(a, v);
    off_t at = chance(a, 30) ? -1 : place(a);
    return pwritev2(fd, v, n, at, flags[below(a, 7)]);
}

static long do_read(struct actor *a)
{
    int fd = slot(a);
    struct iovec v[2] = {{a->buffer, below(a, 5000)}, {a->buffer + 8192, below(a, 5000)}};
    unsigned how = below(a, 3);
    if (how == 0)
        return readv(fd, v, 2);
    return how == 1 ? read(fd, v[0].iov_base, v[0].iov_len)
                    : pread(fd, v[0].iov_base, v[0].iov_len, 0);
}

static long do_lseek(struct actor *a)
{
    static const int whence[] = {SEEK_SET, SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE, 77};
    int fd = slot(a);
    off_t to = chance(a, 20) ? -(off_t)below(a, 3000) : place(a);
    unsigned how = below(a, 7);
    /* From the end or from here in small steps, or the files would grow out of hand. */
    if (whence[how] == SEEK_CUR || whence[how] == SEEK_END)
        to %= 10000;
    return lseek(fd, to, whence[how]);
}

static long do_ftruncate(struct actor *a)
{
    int fd = slot(a);
    return ftruncate(fd, chance(a, 3) ? -1 : place(a));
}

static long do_truncate(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    path(a, p);
    return truncate(p, place(a));
}

static long do_fallocate(struct actor *a)
{
    static const int modes[] = {0,
                                FALLOC_FL_KEEP_SIZE,
                                FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                FALLOC_FL_ZERO_RANGE,
                                FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
                                FALLOC_FL_COLLAPSE_RANGE,
                                FALLOC_FL_INSERT_RANGE,
                                FALLOC_FL_UNSHARE_RANGE,
                                FALLOC_FL_PUNCH_HOLE};
    int fd = slot(a), mode = modes[below(a, 9)];
    off_t at = place(a), size = (off_t)length(a);
    /* Collapse and insert want whole blocks; now and then they get none. */
    if (chance(a, 85) && (mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE))) {
        at -= at % BLOCK;
        size = BLOCK * (off_t)(1 + below(a, 3));
    }
    return fallocate(fd, mode, at, size);
}

/* Two names: of files, of directories, or of whatever they happen to be. */
static void two_paths(struct actor *a, char from[PATH_MAX_LENGTH], char to[PATH_MAX_LENGTH])
{
    bool directories = chance(a, 25), fifos = chance(a, 3);
    if (fifos) {
        fifo(a, from);
        fifo(a, to);
    } else if (directories) {
        directory(a, from);
        directory(a, to);
    } else {
        path(a, from);
        path(a, to);
    }
}

static long do_rename(struct actor *a)
{
    char from[PATH_MAX_LENGTH], to[PATH_MAX_LENGTH];
    two_paths(a, from, to);
    return syscall(SYS_rename, from, to);
}

static long do_renameat(struct actor *a)
{
    char from[PATH_MAX_LENGTH], to[PATH_MAX_LENGTH];
    struct at old = at_path(a, from), new = at_path(a, to);
    return syscall(SYS_renameat, old.dir, old.name, new.dir, new.name);
}

static long do_renameat2(struct actor *a)
{
    static const unsigned flags[] = {0, RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_EXCHANGE,
                                     RENAME_EXCHANGE | RENAME_NOREPLACE};
    char from[PATH_MAX_LENGTH], to[PATH_MAX_LENGTH];
    two_paths(a, from, to);
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, flags[below(a, 5)]);
}

static long do_link(struct actor *a)
{
    char from[PATH_MAX_LENGTH], to[PATH_MAX_LENGTH];
    path(a, from);
    path(a, to);
    return link(from, to);
}

static long do_linkat(struct actor *a)
{
    char from[PATH_MAX_LENGTH], to[PATH_MAX_LENGTH];
    struct at old = at_path(a, from), new = at_path(a, to);
    return linkat(old.dir, old.name, new.dir, new.name, chance(a, 50) ? AT_SYMLINK_FOLLOW : 0);
}

static long do_link_slot(struct actor *a)
{
    char to[PATH_MAX_LENGTH];
    int fd = slot(a);
    struct at new = at_path(a, to);
    return linkat(fd, "", new.dir, new.name, AT_EMPTY_PATH);
}

static const char *target(struct actor *a, char out[PATH_MAX_LENGTH])
{
    static const char *const targets[] = {"a",  "b",    "c",       "a/b",       "b/c", "f0",
                                          "f1", "a/f2", "missing", "missing/f", "l1",  "l2/f0"};
    const char *to = targets[below(a, 12)];
    if (chance(a, 30) && snprintf(out, PATH_MAX_LENGTH, "%s/%s", top(), to) < PATH_MAX_LENGTH)
        return out;
    return strcpy(out, to);
}

static long do_symlink(struct actor *a)
{
    char to[PATH_MAX_LENGTH], p[PATH_MAX_LENGTH];
    target(a, to);
    struct at at = at_path(a, p);
    return chance(a, 50) ? symlink(to, at.name) : symlinkat(to, at.dir, at.name);
}

static long do_unlink(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    const char *name = chance(a, 10) ? fifo(a, p) : path(a, p);
    return syscall(SYS_unlink, name);
}

static long do_unlinkat(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    struct at at = at_path(a, p);
    return unlinkat(at.dir, at.name, chance(a, 20) ? AT_REMOVEDIR : 0);
}

static long do_mkdir(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    directory(a, p);
    return syscall(SYS_mkdir, p, directory_mode(a));
}

static long do_mkdirat(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    struct at at = at_path(a, p);
    return mkdirat(at.dir, at.name, directory_mode(a));
}

static long do_rmdir(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    return rmdir(directory(a, p));
}

static long do_mknod(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    bool regular = chance(a, 60);
    const char *name = regular ? path(a, p) : fifo(a, p);
    mode_t type = !regular ? S_IFIFO : chance(a, 50) ? S_IFREG : 0;
    mode_t mode = type | file_mode(a);
    return chance(a, 50) ? syscall(SYS_mknod, name, mode, 0) : mknodat(AT_FDCWD, name, mode, 0);
}

static long do_chmod(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    const char *name = chance(a, 5) ? fifo(a, p) : path(a, p);
    return syscall(SYS_chmod, name, directory_mode(a));
}

static long do_fchmod(struct actor *a)
{
    int fd = chance(a, 70) ? slot(a) : DIRECTORY_SLOT + (int)below(a, DIRECTORY_SLOTS);
    return fchmod(fd, directory_mode(a));
}

static long do_fchmodat(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    struct at at = at_path(a, p);
    return syscall(SYS_fchmodat, at.dir, at.name, directory_mode(a));
}

static long do_umask(struct actor *a)
{
    return umask(below(a, 0100));
}

static long do_copy_file_range(struct actor *a)
{
    int in = slot(a), out = slot(a);
    off_t from = place(a), to = place(a);
    bool given_from = chance(a, 60), given_to = chance(a, 60);
    return copy_file_range(in, given_from ? &from : NULL, out, given_to ? &to : NULL,
                           below(a, 20000), 0);
}

static long do_sendfile(struct actor *a)
{
    int out = slot(a), in = slot(a);
    off_t from = place(a);
    return sendfile(out, in, chance(a, 60) ? &from : NULL, below(a, 20000));
}

static long do_splice(struct actor *a)
{
    char drain[BLOCK];
    int fd = slot(a);
    off_t at = place(a);
    size_t size = 1 + below(a, sizeof drain);
    bool given = chance(a, 50), from_file = chance(a, 20);

    if (from_file) {
        long moved = splice(fd, given ? &at : NULL, a->pipe[1], NULL, size, SPLICE_F_NONBLOCK);
        while (read(a->pipe[0], drain, sizeof drain) > 0)
            ;
        return moved;
    }
    memset(drain, (int)('0' + below(a, 10)), sizeof drain);
    if (write(a->pipe[1], drain, size) < 0)
        return -1;
    long moved = splice(a->pipe[0], NULL, fd, given ? &at : NULL, size, 0);
    while (read(a->pipe[0], drain, sizeof drain) > 0)
        ;
    return moved;
}

static long do_dup(struct actor *a)
{
    int from = slot(a), to = slot(a);
    unsigned how = below(a, 5);
    if (how == 0)
        return dup2(from, to);
    if (how == 1)
        return dup3(from, to, chance(a, 50) ? O_CLOEXEC : 0);
    if (how == 2)
        return opened(a, dup(from));
    return opened(a, fcntl(from, how == 3 ? F_DUPFD : F_DUPFD_CLOEXEC, 20));
}

static long do_set_flags(struct actor *a)
{
    static const int flags[] = {O_APPEND, O_APPEND, 0, 0, 0, O_APPEND | O_NOATIME};
    int fd = slot(a);
    return fcntl(fd, F_SETFL, O_NONBLOCK | flags[below(a, 6)]);
}

static long do_close(struct actor *a)
{
    return close(slot(a));
}

static long do_close_range(struct actor *a)
{
    unsigned from = (unsigned)slot(a), to = from + below(a, 3);
    if (to >= DIRECTORY_SLOT)
        to = DIRECTORY_SLOT - 1;
    return syscall(SYS_close_range, from, to, chance(a, 30) ? CLOSE_RANGE_CLOEXEC : 0);
}

static long do_chdir(struct actor *a)
{
    char p[PATH_MAX_LENGTH];
    unsigned how = below(a, 3);
    int fd = DIRECTORY_SLOT + (int)below(a, DIRECTORY_SLOTS);
    if (how == 0 && chance(a, 50))
        return chdir(directory(a, p));
    return how == 1 ? fchdir(fd) : chdir(top());
}

static long do_sync(struct actor *a)
{
    int fd = slot(a);
    unsigned how = below(a, 20);
    if (how == 0)
        return syncfs(fd);
    if (how < 4)
        return sync_file_range(fd, place(a), (off_t)length(a), SYNC_FILE_RANGE_WRITE);
    if (how < 8)
        return fsync(DIRECTORY_SLOT + (int)below(a, DIRECTORY_SLOTS));
    return how < 14 ? fsync(fd) : fdatasync(fd);
}

static long do_map(struct actor *a)
{
    int fd = slot(a);
    void *map = mmap(NULL, BLOCK, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return -1;
    long result = msync(map, BLOCK, MS_ASYNC);
    munmap(map, BLOCK);
    return result;
}

/* Calls that cannot succeed, whatever the state of the tree. */
static long do_fail(struct actor *a)
{
    static char long_name[NAME_MAX + 2];
    char *nowhere = (char *)(uintptr_t)8;
    int fd = slot(a);
    memset(long_name, 'n', sizeof long_name - 1);
    switch (below(a, 12)) {
    case 0:
        return open(nowhere, O_RDWR | O_CREAT, 0600);
    case 1:
        return open(long_name, O_RDWR | O_CREAT, 0600);
    case 2:
        return open("", O_RDWR | O_CREAT, 0600);
    case 3:
        return write(-1, "x", 1);
    case 4:
        return syscall(SYS_writev, fd, nowhere, 1);
    case 5:
        return rename("missing", "f0");
    case 6:
        return mkdir("missing/d", 0700);
    case 7:
        return unlinkat(12345, "f0", 0);
    case 8:
        return ftruncate(12345, 0);
    case 9:
        return symlink("", "f9");
    case 10:
        return fallocate(fd, 0, -1, 0);
    default:
        return link("missing", nowhere);
    }
}

const struct action actions[] = {
    {"open", 60, do_open},
    {"openat", 40, do_openat},
    {"openat2", 15, do_openat2},
    {"creat", 12, do_creat},
    {"directory", 25, do_open_directory},
    {"reopen", 10, do_reopen},
    {"tmpfile", 15, do_tmpfile},
    {"direct", 12, do_direct},
    {"write", 120, do_write},
    {"pwrite", 80, do_pwrite},
    {"writev", 40, do_writev},
    {"pwritev", 30, do_pwritev},
    {"pwritev2", 40, do_pwritev2},
    {"read", 40, do_read},
    {"lseek", 60, do_lseek},
    {"ftruncate", 25, do_ftruncate},
    {"truncate", 20, do_truncate},
    {"fallocate", 60, do_fallocate},
    {"rename", 40, do_rename},
    {"renameat", 20, do_renameat},
    {"renameat2", 30, do_renameat2},
    {"link", 35, do_link},
    {"linkat", 30, do_linkat},
    {"link slot", 10, do_link_slot},
    {"symlink", 15, do_symlink},
    {"unlink", 40, do_unlink},
    {"unlinkat", 30, do_unlinkat},
    {"mkdir", 70, do_mkdir},
    {"mkdirat", 10, do_mkdirat},
    {"rmdir", 15, do_rmdir},
    {"mknod", 12, do_mknod},
    {"chmod", 15, do_chmod},
    {"fchmod", 15, do_fchmod},
    {"fchmodat", 10, do_fchmodat},
    {"umask", 10, do_umask},
    {"copy_file_range", 30, do_copy_file_range},
    {"sendfile", 20, do_sendfile},
    {"splice", 20, do_splice},
    {"dup", 30, do_dup},
    {"F_SETFL", 15, do_set_flags},
    {"close", 25, do_close},
    {"close_range", 4, do_close_range},
    {"chdir", 25, do_chdir},
    {"sync", 20, do_sync},
    {"map", 5, do_map},
    {"fail", 15, do_fail},
};
const size_t action_count = sizeof actions / sizeof *actions;

_Static_assert(sizeof actions / sizeof *actions <= ACTIONS_MAX, "an actor counts every action");

const struct action *pick_action(struct actor *a)
{
    unsigned total = 0;

    for (size_t i = 0; i < action_count; i++)
        total += actions[i].weight;
    unsigned left = below(a, total);
    const struct action *action = actions;
    for (; left >= action->weight; action++)
        left -= action->weight;
    return action;
}
