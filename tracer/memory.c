/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/tracee.h"

#include <limits.h>
#include <string.h>
#include <sys/uio.h>

enum { PAGE = 4096 };

bool memory_read(pid_t tid, uint64_t address, void *out, size_t size)
{
    char *to = out;
    while (size) {
        struct iovec local = {to, size};
        struct iovec remote = {(void *)(uintptr_t)address, size}; /* an address of the program's */
        ssize_t n = process_vm_readv(tid, &local, 1, &remote, 1, 0);
        if (n <= 0)
            return false;
        to += n;
        address += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
}

bool memory_path(pid_t tid, uint64_t address, char *out)
{
    /* Page by page: the string may end just before an unmapped one. */
    size_t have = 0;
    while (have < PATH_MAX) {
        size_t piece = PAGE - (address + have) % PAGE;
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
