/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernel/run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/falloc.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/mem.h"
#include "engine/vec.h"

/* ---- files ---- */

/* A file of the program that is held open. */
struct held {
    uint32_t file;
    int fd;
};

struct run {
    const struct litmus *litmus;
    int root, data;
    struct chance *chance;
    bool holds; /* files stay open to the end, instead of being closed after each call */
    vec_of(struct held) held;
    vec_of(char *) paths; /* files and directories that there have been */
};

static int held_fd(const struct run *r, uint32_t file)
{
    for (size_t i = 0; i < r->held.n; i++)
        if (r->held.at[i].file == file)
            return r->held.at[i].fd;
    return -1;
}

/* A descriptor of the file; release it when done. */
static int acquire(struct run *r, const struct event *event)
{
    int creates = event->call == CALL_OPEN ? O_CREAT | O_TRUNC : 0;
    int fd = creates ? -1 : held_fd(r, event->file);
    if (fd >= 0)
        return fd;
    const char *path = litmus_string(r->litmus, event->path);
    fd = openat(r->data, path, O_RDWR | O_CLOEXEC | creates, 0644);
    if (fd < 0 && errno == EISDIR)
        fd = openat(r->data, path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && r->holds && held_fd(r, event->file) < 0)
        vec_push(&r->held, (struct held){event->file, fd});
    return fd;
}

static void release(struct run *r, const struct event *event, int fd)
{
    if (fd >= 0 && held_fd(r, event->file) != fd)
        close(fd);
}

static void release_all(struct run *r)
{
    for (size_t i = 0; i < r->held.n; i++)
        close(r->held.at[i].fd);
    vec_free(&r->held);
}

/* ---- calls ---- */

static int do_write(const struct run *r, const struct event *event, int fd)
{
    char *bytes = xmalloc(event->size + 1);
    struct iovec part = {bytes, event->size};
    int flags = event->traits & EVENT_SYNC ? RWF_SYNC : event->traits & EVENT_DSYNC ? RWF_DSYNC : 0;
    litmus_payload(r->litmus, event->payload, 0, bytes, event->size);
    ssize_t n = pwritev2(fd, &part, 1, (off_t)event->offset, flags);
    free(bytes);
    return n == (ssize_t)event->size ? 0 : -1;
}

/* A call on a file's contents or a sync of it. */
static int do_contents(struct run *r, const struct event *event)
{
    int fd = acquire(r, event), status = fd < 0 ? -1 : 0;
    unsigned range =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    if (status == 0)
        switch (event->call) {
        case CALL_WRITE:
            status = do_write(r, event, fd);
            break;
        case CALL_TRUNCATE:
            status = ftruncate(fd, (off_t)event->size);
            break;
        case CALL_FALLOCATE:
            status = fallocate(fd, (int)event->flags, (off_t)event->offset, (off_t)event->size);
            break;
        case CALL_FSYNC:
            status = fsync(fd);
            break;
        case CALL_FDATASYNC:
            status = fdatasync(fd);
            break;
        case CALL_SYNC_RANGE:
            status = sync_file_range(fd, (off_t)event->offset, (off_t)event->size, range);
            break;
        default:
            break;
        }
    release(r, event, fd);
    return status;
}

static int do_symlink(const struct run *r, const struct event *event, const char *path)
{
    char *target = xcalloc(1, event->size + 1);
    litmus_payload(r->litmus, event->payload, 0, target, event->size);
    int status = symlinkat(target, r->data, path);
    free(target);
    return status;
}

/* The event has the new name only. */
static int do_link(const struct run *r, uint64_t number, const char *path)
{
    char *line = xstrdup(litmus_line(r->litmus, number)), *rest;
    strtok_r(line, " \t", &rest);
    int status = linkat(r->data, strtok_r(NULL, " \t", &rest), r->data, path, 0);
    free(line);
    return status;
}

static int do_call(struct run *r, uint64_t number)
{
    const struct event *event = litmus_event(r->litmus, number);
    const char *path = litmus_string(r->litmus, event->path);
    const char *other = litmus_string(r->litmus, event->other_path);
    switch (event->call) {
    case CALL_PRINT:
        return 0;
    case CALL_MKDIR:
        return mkdirat(r->data, path, 0755);
    case CALL_RMDIR:
        return unlinkat(r->data, path, AT_REMOVEDIR);
    case CALL_UNLINK:
        return unlinkat(r->data, path, 0);
    case CALL_RENAME:
        return renameat(r->data, path, r->data, other);
    case CALL_LINK:
        return do_link(r, number, path);
    case CALL_SYMLINK:
        return do_symlink(r, event, path);
    case CALL_SYNC:
        return syncfs(r->data);
    default:
        return do_contents(r, event);
    }
}

/* ---- stirring ---- */

static void pause_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Another program makes a small change and syncs it: the journal goes with it. */
static void sync_another(const struct run *r)
{
    int fd = openat(r->root, RUN_OTHER "/file", O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    if (write(fd, "s", 1) == 1)
        fsync(fd);
    close(fd);
}

/* Its data is written back as the kernel's own threads do, without anybody waiting for it. */
static void write_back(const struct run *r, const char *path, bool waits)
{
    int fd = openat(r->data, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (waits)
        sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    else
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

/* btrfs: a transaction is committed, and no data for its sake. Others do not know the call. */
static void commit(const struct run *r)
{
    uint64_t transaction = 0;
    if (ioctl(r->root, BTRFS_IOC_START_SYNC, &transaction) == 0)
        ioctl(r->root, BTRFS_IOC_WAIT_SYNC, &transaction);
    else
        sync_another(r);
}

static void write_back_some(const struct run *r)
{
    if (r->paths.n)
        write_back(r, r->paths.at[chance_below(r->chance, (uint32_t)r->paths.n)],
                   chance_below(r->chance, 4) == 0);
}

/* Everything is written back by nobody in particular, with commits while that is under way. */
static void stir_all(const struct run *r)
{
    enum { COMMITS = 3 };
    for (size_t i = 0; i < r->paths.n; i++)
        write_back(r, r->paths.at[i], false);
    for (int i = 0; i < COMMITS; i++) {
        commit(r);
        pause_us(chance_below(r->chance, 500));
    }
}

static void stir_once(const struct run *r)
{
    switch (chance_below(r->chance, 12)) {
    case 0:
        sync_another(r);
        break;
    case 1:
    case 2:
        write_back_some(r);
        break;
    case 3:
        stir_all(r);
        break;
    case 4: /* while it is under way */
        write_back_some(r);
        sync_another(r);
        break;
    case 5: /* or, on btrfs, when it is done */
        if (chance_below(r->chance, 2))
            write_back_some(r);
        commit(r);
        break;
    case 6:
        pause_us(5000); /* longer than a tick */
        break;
    case 7:
        if (chance_below(r->chance, 3) == 0)
            syncfs(r->root);
        break;
    default:
        break;
    }
}

static void stir(const struct run *r)
{
    enum { TIMES_MOST = 3 };
    for (uint32_t n = chance_below(r->chance, TIMES_MOST); n-- > 0;)
        stir_once(r);
}

/* The same at the side, while calls are under way. */
struct stirrer {
    struct run run;
    struct chance chance;
    atomic_bool done;
    pthread_t thread;
};

static void *stir_beside(void *data)
{
    enum { PAUSE_MOST = 1500 }; /* microseconds */
    struct stirrer *s = data;
    while (!atomic_load(&s->done)) {
        switch (chance_below(&s->chance, 5)) {
        case 0:
            commit(&s->run);
            break;
        case 1:
        case 2:
            sync_another(&s->run);
            break;
        default:
            write_back_some(&s->run);
        }
        pause_us(chance_below(&s->chance, PAUSE_MOST));
    }
    return NULL;
}

static bool stirrer_start(struct stirrer *s, const struct run *r)
{
    *s = (struct stirrer){.run = *r, .chance = chance_new(chance_below(r->chance, 1U << 31))};
    s->run.chance = &s->chance;
    return pthread_create(&s->thread, NULL, stir_beside, s) == 0;
}

static void stirrer_stop(struct stirrer *s)
{
    atomic_store(&s->done, true);
    pthread_join(s->thread, NULL);
}

/* ---- a run ---- */

static bool make_file(const struct litmus_file *file, const char *path, int data, struct error *e)
{
    if (file->kind == FILE_DIRECTORY)
        return mkdirat(data, path, 0755) == 0 || error_errno(e, "cannot make %s", path);
    int fd = openat(data, path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_errno(e, "cannot make %s", path);
    char *bytes = xmalloc(file->length + 1);
    memset(bytes, file->fill, file->length);
    bool ok = pwrite(fd, bytes, file->length, 0) == (ssize_t)file->length ||
              error_errno(e, "cannot write %s", path);
    free(bytes);
    close(fd);
    return ok;
}

/* Directories come before what is in them. */
static char *path_of(const struct litmus_file *files, size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++)
        if (files[k].file == files[i].dir) {
            char *dir = path_of(files, n, k), *path = xasprintf("%s/%s", dir, files[i].name);
            free(dir);
            return path;
        }
    return xstrdup(files[i].name);
}

/* Leaves of the free space single blocks only, so that nothing new is contiguous; as many as ext4
 * wants to have before it stops to put allocations off. */
static bool fragment(int root, struct error *e)
{
    enum { HOLES = 400, LEAST = 4096 };
    off_t end = 0, step = 1 << 28;
    int fd = openat(root, RUN_OTHER "/filler", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_errno(e, "cannot make a file to fill the disk with");
    while (step >= LEAST) {
        if (fallocate(fd, 0, end, step) == 0)
            end += step;
        else
            step /= 2;
    }
    bool ok = true;
    for (off_t i = 0; i < HOLES && ok; i++)
        ok = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * i * DISK_BLOCK,
                       DISK_BLOCK) == 0 ||
             error_errno(e, "cannot punch holes");
    close(fd);
    return ok;
}

/* btrfs gives space in chunks, and has none left for itself then. */
static bool can_fragment(int root)
{
    struct statfs fs;
    return fstatfs(root, &fs) == 0 && fs.f_type != BTRFS_SUPER_MAGIC;
}

bool run_begin(const struct litmus *l, int root, struct chance *chance, struct error *e)
{
    enum { FRAGMENTED = 4 }; /* one in so many */
    const struct litmus_file *files;
    size_t n = litmus_files(l, &files);
    if (mkdirat(root, RUN_DATA, 0755) != 0 || mkdirat(root, RUN_OTHER, 0755) != 0)
        return error_errno(e, "cannot make a directory");
    int data = openat(root, RUN_DATA, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = data >= 0 || error_errno(e, "cannot open %s", RUN_DATA);
    for (size_t i = 0; i < n && ok; i++) {
        char *path = path_of(files, n, i);
        ok = make_file(&files[i], path, data, e);
        free(path);
    }
    if (data >= 0)
        close(data);
    if (ok && chance_below(chance, FRAGMENTED) == 0 && can_fragment(root))
        ok = fragment(root, e);
    return ok && (syncfs(root) == 0 || error_errno(e, "cannot sync the starting files"));
}

static void note_paths(struct run *r)
{
    const struct litmus_file *files;
    size_t n = litmus_files(r->litmus, &files);
    for (size_t i = 0; i < n; i++)
        vec_push(&r->paths, path_of(files, n, i));
    for (uint64_t k = 1; k <= litmus_events(r->litmus); k++) {
        const struct event *event = litmus_event(r->litmus, k);
        if (event->path)
            vec_push(&r->paths, xstrdup(litmus_string(r->litmus, event->path)));
        if (event->other_path)
            vec_push(&r->paths, xstrdup(litmus_string(r->litmus, event->other_path)));
    }
}

bool run_calls(const struct litmus *l, int root, const struct disk *disk, struct chance *chance,
               size_t *marks, struct error *e)
{
    enum { LATE = 3 }; /* how often things are stirred after the last call */
    struct run r = {.litmus = l, .root = root, .chance = chance};
    r.holds = chance_below(chance, 2);
    r.data = openat(root, RUN_DATA, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = r.data >= 0 || error_errno(e, "cannot open %s", RUN_DATA);
    note_paths(&r);
    struct stirrer stirrer;
    bool beside = ok && chance_below(chance, 2) && stirrer_start(&stirrer, &r);
    for (uint64_t k = 1; ok && k <= litmus_events(l); k++) {
        stir(&r);
        if (do_call(&r, k) != 0)
            ok = error_errno(e, "a call failed: %s", litmus_line(l, k));
        marks[k - 1] = disk_logged(disk);
    }
    release_all(&r);
    if (beside)
        stirrer_stop(&stirrer);
    if (ok && chance_below(chance, 2))
        stir_all(&r);
    for (int i = 0; ok && i < LATE; i++)
        stir(&r);
    if (ok && syncfs(root) != 0)
        ok = error_errno(e, "cannot sync");
    if (r.data >= 0)
        close(r.data);
    for (size_t i = 0; i < r.paths.n; i++)
        free(r.paths.at[i]);
    vec_free(&r.paths);
    return ok;
}
