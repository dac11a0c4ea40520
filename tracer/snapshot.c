/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/snapshot.h"

#include <string.h>
#include <sys/uio.h>

enum { PAGE = 4096 };

static size_t read_once(pid_t tid, uint64_t address, void *bytes, size_t size)
{
    struct iovec local = {bytes, size};
    struct iovec remote = {(void *)(uintptr_t)address, size}; // NOLINT: another process's address
    ssize_t n = process_vm_readv(tid, &local, 1, &remote, 1, 0);
    return n < 0 ? 0 : (size_t)n;
}

/* One call gives everything up to the first page that is not there, on the kernels seen so far.
 * The manual promises less (all of an iovec or nothing), so nothing is tried again by pages. */
size_t snapshot_bytes(pid_t tid, uint64_t address, void *bytes, size_t size)
{
    size_t done = read_once(tid, address, bytes, size);
    while (done < size) {
        size_t piece = PAGE - (address + done) % PAGE;
        if (piece > size - done)
            piece = size - done;
        size_t n = read_once(tid, address + done, (char *)bytes + done, piece);
        if (n == 0)
            break;
        done += n;
    }
    return done;
}

static void fill(struct snapshot_window *w, pid_t tid, uint64_t start, uint64_t end)
{
    w->start = start;
    w->size = end > start ? snapshot_bytes(tid, start, w->bytes, end - start) : 0;
}

/* Ends on a page boundary, so that no page is pinned for a few bytes. */
static uint64_t window_end(uint64_t start)
{
    return (start + SNAPSHOT_WINDOW) & ~(uint64_t)(PAGE - 1);
}

void snapshot_take(struct snapshot *s, pid_t tid, uint64_t sp)
{
    s->tid = tid;
    fill(&s->stack, tid, sp, window_end(sp));
    s->other.size = 0;
}

static inline bool window_word(const struct snapshot_window *w, uint64_t address, uint64_t *value)
{
    uint64_t offset = address - w->start;
    if (w->size < sizeof *value || offset > w->size - sizeof *value)
        return false;
    memcpy(value, w->bytes + offset, sizeof *value);
    return true;
}

bool snapshot_word(struct snapshot *s, uint64_t address, uint64_t *value)
{
    if (window_word(&s->stack, address, value) || window_word(&s->other, address, value))
        return true;
    uint64_t start = address & ~(uint64_t)(PAGE - 1);
    fill(&s->other, s->tid, start, window_end(start));
    return window_word(&s->other, address, value);
}
