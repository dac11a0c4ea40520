/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Calls that copy from one file to another inside the kernel: copy_file_range, sendfile, splice,
 * reflinks. The bytes never pass through the program: they are read back from where they went.
 */
#include "tracer/tracee.h"

#include <linux/fs.h>
#include <sys/syscall.h>

/* What one call can copy, but for a reflink, which knows no limit: the bytes are held in memory. */
#define MOST_KEPT (UINT64_C(2) << 30)

/* Who copies to whom; offsets are pointers into the program, 0 for the description's own. */
struct copy {
    int in, out;
    uint64_t in_offset, out_offset;
    /* FICLONE, FICLONERANGE: the range is in the arguments, the result is 0. A size of 0 means to
     * the end. */
    bool reflink;
    struct file_clone_range range;
};

static struct copy reflink_arguments(const struct thread *th)
{
    struct copy copy = {.in = -1, .out = (int)th->args[0], .reflink = true};
    if (th->args[1] == FICLONE)
        copy.in = (int)th->args[2];
    else if (memory_read(th->tid, th->args[2], &copy.range, sizeof copy.range))
        copy.in = (int)copy.range.src_fd;
    return copy;
}

static struct copy copy_arguments(const struct thread *th)
{
    const uint64_t *a = th->args;
    switch (th->syscall) {
    case SYS_sendfile:
        return (struct copy){.in = (int)a[1], .out = (int)a[0], .in_offset = a[2]};
    case SYS_ioctl:
        return reflink_arguments(th);
    default: /* copy_file_range and splice agree */
        return (struct copy){
            .in = (int)a[0], .out = (int)a[2], .in_offset = a[1], .out_offset = a[3]};
    }
}

enum proceed enter_copy(struct tracer *t, struct thread *th)
{
    struct copy copy = copy_arguments(th);
    struct descriptor out = tracer_descriptor(t, th, copy.out);
    if (out.kind == DESCRIPTOR_OUTPUT || out.kind == DESCRIPTOR_ERRORS) {
        th->holds_turn = false; /* the reader of a pipe may be slow, or one of our own threads */
        th->event.call = CALL_PRINT;
        th->event.fd = out.kind == DESCRIPTOR_OUTPUT ? 1 : 2;
        return PROCEED_RECORD;
    }
    if (out.kind != DESCRIPTOR_DATA || !out.regular)
        return descriptor_not_ours(out);
    tracer_about(t, th, copy.out, out.file);
    th->event.traits |= descriptor_traits(out.flags);
    struct descriptor in = tracer_descriptor(t, th, copy.in);
    if (in.kind == DESCRIPTOR_DATA) {
        th->event.other = in.file;
        th->event.other_path = files_path(t->files, in.file);
    }
    return PROCEED_RECORD;
}

/* Where a side of a copy stands after the call. */
static int64_t side_position(const struct thread *th, int fd, uint64_t pointer)
{
    int64_t position = -1;
    bool known = pointer ? memory_read(th->tid, pointer, &position, sizeof position)
                         : descriptor_ask(tracer_asked(th), fd, NULL, NULL, &position);
    return known ? position : -1;
}

/* Reads what was copied back from the file that now has it. */
static bool read_back(struct tracer *t, const struct thread *th, int fd, uint64_t offset,
                      uint64_t size)
{
    buf_clear(&t->scratch);
    return tracer_read_file(th, fd, offset, buf_room(&t->scratch, size), size);
}

static uint64_t reflink_size(const struct thread *th, const struct copy *copy)
{
    if (copy->range.src_length)
        return copy->range.src_length;
    struct stat st = {0};
    descriptor_ask(tracer_asked(th), copy->in, &st, NULL, NULL);
    uint64_t end = (uint64_t)st.st_size;
    return end > copy->range.src_offset ? end - copy->range.src_offset : 0;
}

void leave_copy(struct tracer *t, struct thread *th)
{
    struct event *event = &th->event;
    if (event->traits & EVENT_FAILED)
        return;
    struct copy copy = copy_arguments(th);
    uint64_t in = 0, out = 0, size = (uint64_t)event->result;
    if (copy.reflink) {
        in = copy.range.src_offset;
        out = copy.range.dest_offset;
        size = reflink_size(th, &copy);
    } else {
        int64_t in_end = side_position(th, copy.in, copy.in_offset);
        int64_t out_end = side_position(th, copy.out, copy.out_offset);
        in = in_end >= (int64_t)size ? (uint64_t)in_end - size : 0;
        out = out_end >= (int64_t)size ? (uint64_t)out_end - size : 0;
    }
    bool print = event->call == CALL_PRINT;
    bool known = size <= MOST_KEPT && (print ? read_back(t, th, copy.in, in, size)
                                             : read_back(t, th, copy.out, out, size));
    if (!known)
        recording_notice(t->recording, "bytes copied could not be read", "copy");
    if (!print)
        files_move(t->files, event->file);
    event->size = size;
    event->offset = print ? 0 : out;
    event->other_offset = in;
    event->payload = known ? recording_payload(t->recording, t->scratch.at, size) : PAYLOAD_ZEROS;
}
