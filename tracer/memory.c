/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/memory.h"

#include <limits.h>
#include <string.h>
#include <sys/uio.h>

static size_t read_once(pid_t tid, uint64_t address, void *out, size_t size)
{
    struct iovec local = {out, size};
    struct iovec remote = {(void *)(uintptr_t)address, size}; // NOLINT: another process's address
    ssize_t n = process_vm_readv(tid, &local, 1, &remote, 1, 0);
    return n < 0 ? 0 : (size_t)n;
}

/* One call gives everything up to the first page that is not there, on the kernels seen so far.
 * The manual promises less (all of a range or nothing), so when a call gives nothing it is tried
 * again by pages. */
size_t memory_some(pid_t tid, uint64_t address, void *out, size_t size)
{
    size_t done = read_once(tid, address, out, size);
    if (done)
        return done;
    size_t n = 1;
    while (done < size && n) {
        size_t piece = MEMORY_PAGE - (address + done) % MEMORY_PAGE;
        if (piece > size - done)
            piece = size - done;
        n = read_once(tid, address + done, (char *)out + done, piece);
        done += n;
    }
    return done;
}

/* Again and again, because one call gives 2 GiB at most. */
bool memory_read(pid_t tid, uint64_t address, void *out, size_t size)
{
    size_t done = 0, n = 1;
    while (done < size && n) {
        n = memory_some(tid, address + done, (char *)out + done, size - done);
        done += n;
    }
    return done == size;
}

bool memory_path(pid_t tid, uint64_t address, char *out)
{
    /* Page by page: the string may end just before an unmapped one. */
    size_t have = 0;
    while (have < PATH_MAX) {
        size_t piece = MEMORY_PAGE - (address + have) % MEMORY_PAGE;
        if (piece > PATH_MAX - have)
            piece = PATH_MAX - have;
        if (!memory_read(tid, address + have, out + have, piece))
            return false;
        if (memchr(out + have, '\0', piece))
            return true;
        have += piece;
    }
    return false;
}

bool memory_gather(pid_t tid, uint64_t iovecs, uint64_t count, uint64_t size, struct buf *out)
{
    struct iovec at[IOV_MAX];
    if (count > IOV_MAX || !memory_read(tid, iovecs, at, count * sizeof *at))
        return false;
    for (uint64_t i = 0; i < count && size; i++) {
        uint64_t piece = at[i].iov_len < size ? at[i].iov_len : size;
        char *room = buf_room(out, piece);
        if (!memory_read(tid, (uintptr_t)at[i].iov_base, room, piece))
            return false;
        size -= piece;
    }
    return size == 0;
}
