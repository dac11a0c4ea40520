/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Calls on names: open, rename, link, symlink, unlink, mkdir, rmdir, mknod, chmod.
 *
 * The entry finds out where the paths lead; the exit, when the call succeeded, what it made.
 */
#include "tracer/tracee.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool failed(const struct thread *th)
{
    return th->event.traits & EVENT_FAILED;
}

static uint32_t name_string(struct tracer *t, const struct place *p)
{
    return recording_string(t->recording, p->name, strlen(p->name));
}

/* The event is about an entry of a data directory: dir, name and path. */
static void about_entry(struct tracer *t, struct event *event, const struct place *p)
{
    event->dir = p->dir;
    event->name = name_string(t, p);
    event->path = files_entry_path(t->files, p->dir, p->name);
}

/* The same for the second entry of a rename. */
static void about_other_entry(struct tracer *t, struct event *event, const struct place *p)
{
    event->other_dir = p->dir;
    event->other_name = name_string(t, p);
    event->other_path = files_entry_path(t->files, p->dir, p->name);
}

/* What a call has just made at the place: a new file with its name. */
static void take_new(struct tracer *t, struct event *event, struct place *p)
{
    struct stat st;
    if (fstatat(p->fd, p->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    event->file = files_create(t->files, &st, p->name);
    bool plain = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
    event->mode = plain ? st.st_mode & FILE_MODE_BITS : st.st_mode;
    files_name(t->files, p->dir, p->name, event->file);
}

/* Takes a name away from a file, and says so when it was the last. */
static void take_away(struct tracer *t, struct event *event, const struct place *p)
{
    if (!p->file)
        return;
    files_unname(t->files, p->dir, p->name, p->file);
    if (files_nameless(t->files, p->file))
        event->traits |= EVENT_LAST_NAME;
}

/* ---- open ---- */

struct open_arguments {
    int dirfd;
    uint64_t path;
    uint64_t flags;
};

static struct open_arguments open_arguments(const struct thread *th)
{
    const uint64_t *a = th->args;
    switch (th->syscall) {
    case SYS_open:
        return (struct open_arguments){AT_FDCWD, a[0], a[1]};
    case SYS_creat:
        return (struct open_arguments){AT_FDCWD, a[0], O_CREAT | O_WRONLY | O_TRUNC};
    case SYS_openat2: {
        struct open_how how = {0};
        memory_read(th->tid, a[2], &how, sizeof how);
        return (struct open_arguments){(int)a[0], a[1], how.flags};
    }
    default:
        return (struct open_arguments){(int)a[0], a[1], a[2]};
    }
}

/* O_PATH neither creates nor truncates, whatever else is asked for. */
enum { KEPT_WITH_PATH = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static bool is_tmpfile(uint64_t flags)
{
    return (flags & O_TMPFILE) == O_TMPFILE;
}

enum proceed enter_open(struct tracer *t, struct thread *th)
{
    struct open_arguments a = open_arguments(th);
    struct event *event = &th->event;
    struct place *p = &th->place;
    if (!place_resolve(t, th, a.dirfd, a.path, p))
        return PROCEED_IGNORE;
    if (p->found && !S_ISREG(p->target.st_mode) && !S_ISDIR(p->target.st_mode))
        return PROCEED_IGNORE; /* what goes through a FIFO or a device leaves nothing behind */
    if (!p->target_file && !(p->inside && !p->found))
        return place_not_ours(p);
    event->flags = (uint32_t)(a.flags & O_PATH ? a.flags & KEPT_WITH_PATH : a.flags);
    event->file = p->target_file;
    if (p->target_file)
        event->path = files_path(t->files, p->target_file);
    if (p->inside && !p->target_file)
        about_entry(t, event, p);
    return PROCEED_RECORD;
}

/* A dangling link was followed: the file was made where the link points. */
static bool place_made(struct tracer *t, struct thread *th)
{
    if (!th->place.exists)
        return th->place.inside;
    place_close(&th->place);
    place_of_open_file(t, th, (int)th->event.result, &th->place);
    if (th->place.inside)
        about_entry(t, &th->event, &th->place);
    return th->place.inside;
}

static void leave_tmpfile(struct tracer *t, struct thread *th)
{
    struct place opened;
    place_descriptor(t, th, (int)th->event.result, &opened);
    if (!opened.found)
        return;
    th->event.dir = th->event.file;
    th->event.file = files_create(t->files, &opened.target, "(no name)");
    th->event.mode = opened.target.st_mode & FILE_MODE_BITS;
    th->event.traits |= EVENT_CREATED;
    th->event.path = recording_string(t->recording, "(no name)", strlen("(no name)"));
}

void leave_open(struct tracer *t, struct thread *th)
{
    struct event *event = &th->event;
    struct place *p = &th->place;
    if (failed(th))
        return;
    event->fd = (int32_t)event->result;
    descriptor_forget(th->process->descriptors, event->fd);
    if (is_tmpfile(event->flags)) {
        leave_tmpfile(t, th);
        return;
    }
    if (!p->found && (event->flags & O_CREAT) && place_made(t, th)) {
        event->traits |= EVENT_CREATED;
        take_new(t, event, p);
    } else if ((event->flags & O_TRUNC) && p->target.st_size > 0)
        event->traits |= EVENT_TRUNCATED;
}

/* ---- rename ---- */

static void rename_arguments(const struct thread *th, int dirfd[2], uint64_t path[2],
                             uint32_t *flags)
{
    const uint64_t *a = th->args;
    if (th->syscall == SYS_rename) {
        dirfd[0] = dirfd[1] = AT_FDCWD;
        path[0] = a[0];
        path[1] = a[1];
        *flags = 0;
        return;
    }
    dirfd[0] = (int)a[0];
    path[0] = a[1];
    dirfd[1] = (int)a[2];
    path[1] = a[3];
    *flags = th->syscall == SYS_renameat2 ? (uint32_t)a[4] : 0;
}

enum proceed enter_rename(struct tracer *t, struct thread *th)
{
    int dirfd[2];
    uint64_t path[2];
    struct event *event = &th->event;
    rename_arguments(th, dirfd, path, &event->flags);
    if (!place_resolve(t, th, dirfd[0], path[0], &th->place) ||
        !place_resolve(t, th, dirfd[1], path[1], &th->other))
        return PROCEED_IGNORE;
    if (!th->place.inside && !th->other.inside)
        return place_not_ours(&th->place) == PROCEED_WAIT ? PROCEED_WAIT
                                                          : place_not_ours(&th->other);
    if (th->place.inside)
        about_entry(t, event, &th->place);
    if (th->other.inside)
        about_other_entry(t, event, &th->other);
    event->file = th->place.inside ? th->place.file : 0;
    event->other = th->other.inside ? th->other.file : 0;
    return PROCEED_RECORD;
}

/* Two names of one file: rename() does nothing then. When only one of them is in the data, the
 * event says that it was renamed to itself, for nothing went in or out. */
static void rename_nothing(struct tracer *t, struct event *event, const struct place *from,
                           const struct place *to)
{
    event->file = event->other = from->file;
    if (!from->inside)
        about_entry(t, event, to);
    if (!to->inside)
        about_other_entry(t, event, from);
}

/* Where the name was that moved, something else has it now: what came from outside in exchange, or
 * a whiteout. It follows as an event of its own. */
static void take_left_behind(struct tracer *t, struct thread *th, const struct place *from)
{
    struct stat st;
    if (from->inside && fstatat(from->fd, from->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        adopt(t, th, from->dir, from->fd, from->name, &st, NULL);
}

void leave_rename(struct tracer *t, struct thread *th)
{
    struct event *event = &th->event;
    struct place *from = &th->place, *to = &th->other;
    if (failed(th))
        return;
    if (from->file && from->file == to->file) {
        rename_nothing(t, event, from, to);
        return;
    }
    bool exchange = event->flags & RENAME_EXCHANGE;
    if (to->inside)
        take_away(t, event, to);
    if (from->inside) {
        files_unname(t->files, from->dir, from->name, from->file);
        if (exchange && to->inside)
            files_name(t->files, from->dir, from->name, to->file);
    }
    if (exchange)
        event->traits &= ~(uint32_t)EVENT_LAST_NAME;
    if (!to->inside) {
        event->traits |= EVENT_MOVED_OUT;
        files_detach(t->files, from->file);
        t->stale++;
    } else if (!from->inside) {
        if (exchange && to->file)
            files_detach(t->files, to->file);
        adopt_moved(t, th, to->dir, to->fd, to->name);
    } else
        files_name(t->files, to->dir, to->name, from->file);
    if ((event->flags & RENAME_WHITEOUT) || (exchange && !to->inside))
        take_left_behind(t, th, from);
}

/* ---- link, symlink, unlink, mkdir, mknod ---- */

enum proceed enter_link(struct tracer *t, struct thread *th)
{
    const uint64_t *a = th->args;
    bool plain = th->syscall == SYS_link;
    uint32_t flags = plain ? 0 : (uint32_t)a[4];
    int from_dirfd = plain ? AT_FDCWD : (int)a[0], to_dirfd = plain ? AT_FDCWD : (int)a[2];
    if (!place_resolve(t, th, to_dirfd, plain ? a[1] : a[3], &th->place) ||
        !place_resolve(t, th, from_dirfd, plain ? a[0] : a[1], &th->other))
        return PROCEED_IGNORE;
    if (!th->place.inside)
        return place_not_ours(&th->place);
    if (!th->other.exists && (flags & AT_EMPTY_PATH)) {
        place_close(&th->other);
        place_descriptor(t, th, from_dirfd, &th->other);
    }
    about_entry(t, &th->event, &th->place);
    th->event.flags = flags;
    th->event.file = flags & AT_SYMLINK_FOLLOW ? th->other.target_file : th->other.file;
    if (th->event.file == th->other.file && th->other.inside)
        th->event.other_path = files_entry_path(t->files, th->other.dir, th->other.name);
    else if (th->event.file)
        th->event.other_path = files_path(t->files, th->event.file);
    return PROCEED_RECORD;
}

void leave_link(struct tracer *t, struct thread *th)
{
    if (failed(th))
        return;
    if (th->event.file)
        files_name(t->files, th->place.dir, th->place.name, th->event.file);
    else
        adopt_moved(t, th, th->place.dir, th->place.fd, th->place.name);
}

enum proceed enter_symlink(struct tracer *t, struct thread *th)
{
    const uint64_t *a = th->args;
    bool plain = th->syscall == SYS_symlink;
    char target[PATH_MAX];
    if (!place_resolve(t, th, plain ? AT_FDCWD : (int)a[1], plain ? a[1] : a[2], &th->place) ||
        !memory_path(th->tid, a[0], target))
        return PROCEED_IGNORE;
    if (!th->place.inside)
        return place_not_ours(&th->place);
    about_entry(t, &th->event, &th->place);
    th->event.size = strlen(target);
    th->event.payload = recording_payload(t->recording, target, th->event.size);
    return PROCEED_RECORD;
}

void leave_symlink(struct tracer *t, struct thread *th)
{
    if (!failed(th))
        take_new(t, &th->event, &th->place);
}

enum proceed enter_unlink(struct tracer *t, struct thread *th)
{
    const uint64_t *a = th->args;
    bool at = th->syscall == SYS_unlinkat;
    if (!place_resolve(t, th, at ? (int)a[0] : AT_FDCWD, at ? a[1] : a[0], &th->place))
        return PROCEED_IGNORE;
    if (!th->place.inside)
        return th->place.file == FILE_ROOT ? PROCEED_WATCH : place_not_ours(&th->place);
    if (at && (a[2] & AT_REMOVEDIR))
        th->event.call = CALL_RMDIR;
    about_entry(t, &th->event, &th->place);
    th->event.file = th->place.file;
    return PROCEED_RECORD;
}

void leave_unlink(struct tracer *t, struct thread *th)
{
    const struct place *p = &th->place;
    if (failed(th))
        return;
    if (p->inside)
        take_away(t, &th->event, p);
    else
        files_lose_root(t->files, p->st.st_dev, p->st.st_ino);
}

enum proceed enter_make(struct tracer *t, struct thread *th)
{
    const uint64_t *a = th->args;
    bool at = th->syscall == SYS_mkdirat || th->syscall == SYS_mknodat;
    if (!place_resolve(t, th, at ? (int)a[0] : AT_FDCWD, at ? a[1] : a[0], &th->place))
        return PROCEED_IGNORE;
    if (!th->place.inside)
        return files_rootless(t->files) ? PROCEED_WATCH : place_not_ours(&th->place);
    about_entry(t, &th->event, &th->place);
    th->event.mode = (uint32_t)(at ? a[2] : a[1]);
    return PROCEED_RECORD;
}

/* A program that begins by removing the data directory and making it again: what its path leads to
 * now is the data directory. */
static void find_new_root(struct tracer *t, struct thread *th)
{
    struct stat st;
    if (stat(files_root(t->files), &st) != 0 || !S_ISDIR(st.st_mode))
        return;
    files_add(t->files, st.st_dev, st.st_ino, FILE_ROOT, FILE_DIRECTORY);
    t->stale++;
    th->event.file = FILE_ROOT;
    tracer_take_mode(t, th, &st);
}

void leave_make(struct tracer *t, struct thread *th)
{
    if (failed(th))
        return;
    if (th->place.inside)
        take_new(t, &th->event, &th->place);
    else
        find_new_root(t, th);
}

/* ---- chmod ---- */

enum proceed enter_chmod(struct tracer *t, struct thread *th)
{
    enum { SYS_FCHMODAT2 = 452 }; /* newer than Debian's headers */
    const uint64_t *a = th->args;
    struct place *p = &th->place;
    struct event *event = &th->event;
    if (th->syscall == SYS_fchmod) {
        event->fd = (int32_t)a[0];
        place_descriptor(t, th, event->fd, p);
    } else {
        bool plain = th->syscall == SYS_chmod;
        if (!place_resolve(t, th, plain ? AT_FDCWD : (int)a[0], plain ? a[0] : a[1], p))
            return PROCEED_IGNORE;
        bool empty = th->syscall == SYS_FCHMODAT2 && (a[3] & AT_EMPTY_PATH) && !p->exists;
        if (empty)
            place_descriptor(t, th, (int)a[0], p);
    }
    event->mode = (uint32_t)(th->syscall == SYS_chmod || th->syscall == SYS_fchmod ? a[1] : a[2]);
    event->file = p->target_file ? p->target_file : p->inside ? p->file : 0;
    if (!event->file && !p->inside)
        return place_not_ours(p);
    event->path = event->file ? files_path(t->files, event->file)
                              : files_entry_path(t->files, p->dir, p->name);
    return PROCEED_RECORD;
}

/* The kernel may drop bits (set-group-ID): the mode is what the file has now. */
void leave_chmod(struct tracer *t, struct thread *th)
{
    struct place now = {.fd = -1};
    if (failed(th))
        return;
    if (th->event.fd >= 0)
        place_descriptor(t, th, th->event.fd, &now);
    else if (th->place.fd >= 0 && *th->place.name)
        now.found = fstatat(th->place.fd, th->place.name, &now.target, 0) == 0;
    if (now.found)
        th->event.mode = now.target.st_mode & FILE_MODE_BITS;
    if (th->event.file)
        files_set_mode(t->files, th->event.file, th->event.mode & FILE_MODE_BITS);
}
