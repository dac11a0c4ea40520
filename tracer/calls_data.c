/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Calls on the contents of an open file: write and its relatives, sizes, syncs, offsets.
 */
#include "tracer/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* For calls that concern a regular data file behind their first argument. */
static enum proceed about_regular(struct tracer *t, struct thread *th)
{
    int fd = (int)th->args[0];
    struct descriptor d = tracer_descriptor(t, th, fd);
    if (d.kind != DESCRIPTOR_DATA || !d.regular)
        return descriptor_not_ours(d);
    tracer_about(t, th, fd, d.file);
    return PROCEED_RECORD;
}

/* pwritev2's own flags change what the description says, for one call. */
static void per_call_flags(struct event *event, uint32_t flags)
{
    enum { NOAPPEND = 0x20 }; /* RWF_NOAPPEND, newer than Debian's headers */
    event->flags = flags;
    if (flags & RWF_SYNC)
        event->traits |= EVENT_SYNC;
    else if (flags & RWF_DSYNC)
        event->traits |= EVENT_DSYNC;
    if (flags & RWF_APPEND)
        event->traits |= EVENT_APPEND;
    if (flags & NOAPPEND)
        event->traits &= ~(uint32_t)EVENT_APPEND;
}

enum { OWN_POSITION = -1 };

/* Where the call says that it writes; OWN_POSITION when it goes by the description's offset. */
static int64_t given_position(const struct thread *th)
{
    switch (th->syscall) {
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
        return (int64_t)th->args[3];
    default:
        return OWN_POSITION;
    }
}

enum proceed enter_write(struct tracer *t, struct thread *th)
{
    int fd = (int)th->args[0];
    struct descriptor d = tracer_descriptor(t, th, fd);
    switch (d.kind) {
    case DESCRIPTOR_MARK:
        th->holds_turn = false;
        return PROCEED_WATCH;
    case DESCRIPTOR_OUTPUT:
    case DESCRIPTOR_ERRORS:
        th->holds_turn = false; /* the reader of a pipe may be slow, or one of our own threads */
        th->event.call = CALL_PRINT;
        th->event.fd = d.kind == DESCRIPTOR_OUTPUT ? 1 : 2;
        return PROCEED_RECORD;
    case DESCRIPTOR_DATA:
        if (!d.regular)
            return descriptor_not_ours(d);
        tracer_about(t, th, fd, d.file);
        th->event.traits |= descriptor_traits(d.flags);
        if (th->syscall == SYS_pwritev2)
            per_call_flags(&th->event, (uint32_t)th->args[5]);
        return PROCEED_RECORD;
    default:
        return descriptor_not_ours(d);
    }
}

static bool is_vector(const struct thread *th)
{
    return th->syscall == SYS_writev || th->syscall == SYS_pwritev || th->syscall == SYS_pwritev2;
}

/* A write of more than this is read when it has returned: it may be short. */
enum { MOST_READ_AHEAD = 64 << 10 };

bool tracer_bytes_wanted(struct thread *th, struct snapshot_along *along)
{
    buf_clear(&th->bytes);
    bool one_piece = th->syscall == SYS_write || th->syscall == SYS_pwrite64;
    if (!one_piece || !th->args[2] || th->args[2] > MOST_READ_AHEAD)
        return false;
    size_t size = th->args[2];
    *along = (struct snapshot_along){th->args[1], buf_room(&th->bytes, size), size, false};
    return true;
}

/* The bytes of a write, from the program's memory: as they were at the entry, or now that it has
 * just returned from the call. */
static void take_payload(struct tracer *t, struct thread *th, uint64_t size)
{
    bool readable = true;
    buf_clear(&t->scratch);
    if (th->event_number && th->bytes.n >= size)
        buf_add(&t->scratch, th->bytes.at, size);
    else if (is_vector(th))
        readable = memory_gather(th->tid, th->args[1], th->args[2], size, &t->scratch);
    else
        readable = memory_read(th->tid, th->args[1], buf_room(&t->scratch, size), size);
    if (!readable)
        recording_notice(t->recording, "bytes written could not be read", "write");
    th->event.size = size;
    th->event.payload = recording_payload(t->recording, t->scratch.at, size);
}

static void add_marker(struct tracer *t, struct thread *th, const char *line, size_t size,
                       uint16_t syscall, uint32_t stack)
{
    struct event event = {.call = CALL_MARKER, .syscall = syscall, .fd = -1, .size = size};
    event.payload = recording_payload(t->recording, line, size);
    event.stack = stack;
    tracer_instant(t, th, &event);
}

void tracer_last_mark(struct tracer *t, struct thread *th)
{
    if (t->mark.n)
        add_marker(t, th, t->mark.at, t->mark.n, SYSCALL_NONE, 0);
    buf_clear(&t->mark);
}

/* Every complete line becomes a marker; the rest waits for its end. */
static void take_marks(struct tracer *t, struct thread *th)
{
    buf_add(&t->mark, t->scratch.at, t->scratch.n);
    size_t from = 0;
    for (;;) {
        char *line = t->mark.at + from;
        char *end = from < t->mark.n ? memchr(line, '\n', t->mark.n - from) : NULL;
        if (!end)
            break;
        size_t size = (size_t)(end - line);
        add_marker(t, th, line, size, (uint16_t)th->syscall, tracer_stack(t, th, NULL));
        from += size + 1;
    }
    size_t rest = t->mark.n - from;
    memmove(t->mark.at, t->mark.at + from, rest);
    t->mark.n = rest;
}

/* Whether the file now has, at offset, the bytes that were just written. */
static bool is_there(struct tracer *t, struct thread *th, uint64_t offset, uint64_t size)
{
    char *now = xmalloc(size);
    bool same = tracer_read_file(th, (int)th->args[0], offset, now, size) &&
                memcmp(now, t->scratch.at, size) == 0;
    free(now);
    return same;
}

/* Where a write by the description's offset went. What nobody reads is moved by recorded calls
 * alone, so its offset is known; otherwise the kernel is asked where it is now. When others live, a
 * read may have moved it since: then the bytes themselves must be there. */
static int64_t own_offset(struct tracer *t, struct thread *th, uint64_t size)
{
    int fd = (int)th->args[0];
    struct descriptor d = tracer_descriptor(t, th, fd);
    bool known = d.kind == DESCRIPTOR_DATA && d.moved == files_moves(t->files, d.file);
    if (known && (d.flags & O_ACCMODE) == O_WRONLY)
        return d.position;
    int64_t end = -1;
    descriptor_ask(tracer_asked(th), fd, NULL, NULL, &end);
    int64_t begin = end - (int64_t)size;
    bool sure = t->alive == 1 || (known && begin == d.position);
    if (!sure && known && (begin < 0 || !is_there(t, th, (uint64_t)begin, size)))
        begin = d.position;
    return begin;
}

/* Where the bytes went, asked just after the call. Linux appends with O_APPEND even when pwrite()
 * gives an offset, and does not move the description's offset then. */
static uint64_t find_offset(struct tracer *t, struct thread *th, uint64_t size)
{
    int fd = (int)th->args[0];
    int64_t begin = given_position(th);
    bool append = th->event.traits & EVENT_APPEND;
    struct stat st;
    if (begin == OWN_POSITION && !append) {
        begin = own_offset(t, th, size);
        descriptor_moved(th->process->descriptors, fd, t->files, begin + (int64_t)size);
    } else if (append) {
        begin = files_size(t->files, th->event.file);
        if (begin < 0 && descriptor_ask(tracer_asked(th), fd, &st, NULL, NULL))
            begin = (int64_t)st.st_size - (int64_t)size;
        files_set_size(t->files, th->event.file, begin + (int64_t)size);
        files_move(t->files, th->event.file);
    }
    if (!append)
        files_set_size(t->files, th->event.file, -1);
    if (begin < 0) {
        recording_notice(t->recording, "offset of a write is not known", "write");
        return 0;
    }
    return (uint64_t)begin;
}

/* A write past the end whose bytes cannot be read fails with EFAULT, but Linux has set the size to
 * where it would have begun. The trace says so by an event of its own. */
static void take_failed_growth(struct tracer *t, struct thread *th)
{
    struct stat st;
    int64_t at = given_position(th), own;
    if (!descriptor_ask(tracer_asked(th), th->event.fd, &st, NULL, &own))
        return;
    at = at == OWN_POSITION ? own : at;
    if (at <= 0 || st.st_size != at)
        return;
    struct event event = {.call = CALL_TRUNCATE, .syscall = SYSCALL_NONE, .size = (uint64_t)at};
    event.fd = th->event.fd;
    event.file = th->event.file;
    event.path = th->event.path;
    event.stack = th->event.stack;
    tracer_instant(t, th, &event);
}

void leave_write(struct tracer *t, struct thread *th)
{
    struct event *event = &th->event;
    if (event->result == -EFAULT && event->file)
        take_failed_growth(t, th);
    if (event->traits & EVENT_FAILED)
        return;
    uint64_t size = (uint64_t)event->result;
    take_payload(t, th, size);
    if (event->call == CALL_WRITE && event->file && size)
        event->offset = find_offset(t, th, size);
    else if (!th->event_number)
        take_marks(t, th);
}

/* ---- sizes ---- */

enum proceed enter_ftruncate(struct tracer *t, struct thread *th)
{
    th->event.size = th->args[1];
    return about_regular(t, th);
}

enum proceed enter_truncate(struct tracer *t, struct thread *th)
{
    th->event.size = th->args[1];
    if (!place_resolve(t, th, AT_FDCWD, th->args[0], &th->place))
        return PROCEED_IGNORE;
    uint32_t file = th->place.target_file ? th->place.target_file : th->place.file;
    if (!file && !th->place.inside)
        return place_not_ours(&th->place);
    th->event.file = file;
    th->event.path = file ? files_path(t->files, file)
                          : files_entry_path(t->files, th->place.dir, th->place.name);
    return PROCEED_RECORD;
}

enum proceed enter_fallocate(struct tracer *t, struct thread *th)
{
    th->event.flags = (uint32_t)th->args[1];
    th->event.offset = th->args[2];
    th->event.size = th->args[3];
    return about_regular(t, th);
}

/* ---- syncs and offsets ---- */

/* syncfs() through any descriptor on the data directory's file system. */
static bool on_our_filesystem(struct tracer *t, struct thread *th, int fd)
{
    struct stat root, st;
    return descriptor_ask(tracer_asked(th), fd, &st, NULL, NULL) &&
           stat(files_root(t->files), &root) == 0 && st.st_dev == root.st_dev;
}

enum proceed enter_sync(struct tracer *t, struct thread *th)
{
    if (th->syscall == SYS_sync)
        return PROCEED_RECORD;
    int fd = (int)th->args[0];
    if (th->syscall == SYS_syncfs)
        return on_our_filesystem(t, th, fd) ? PROCEED_RECORD : PROCEED_IGNORE;
    struct descriptor d = tracer_descriptor(t, th, fd);
    if (d.kind != DESCRIPTOR_DATA)
        return descriptor_not_ours(d);
    tracer_about(t, th, fd, d.file);
    if (th->syscall == SYS_sync_file_range) {
        th->event.offset = th->args[1];
        th->event.size = th->args[2];
        th->event.flags = (uint32_t)th->args[3];
    }
    return PROCEED_RECORD;
}

enum proceed enter_lseek(struct tracer *t, struct thread *th)
{
    th->event.flags = (uint32_t)th->args[2];
    return about_regular(t, th);
}

void leave_lseek(struct tracer *t, struct thread *th)
{
    if (th->event.traits & EVENT_FAILED)
        return;
    th->event.offset = (uint64_t)th->event.result;
    descriptor_moved(th->process->descriptors, th->event.fd, t->files, th->event.result);
}
