/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/snapshot.h"

#include <string.h>
#include <sys/uio.h>

#include "tracer/memory.h"

enum { PAGE = MEMORY_PAGE, FORGET = 64 };

static void fill(struct snapshot_window *w, pid_t tid, uint64_t start, uint64_t end)
{
    w->start = start;
    w->size = end > start ? memory_some(tid, start, w->bytes, end - start) : 0;
}

/* Ends on a page boundary: a whole page costs no more than a part of it. */
static uint64_t page_end(uint64_t address)
{
    return (address + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* Each page costs a fifth of what a call does, so a copy that is too small is worse than one that
 * is too large: the reach follows a deep stack at once and forgets it slowly. */
static size_t learn(size_t reach, uint64_t used)
{
    size_t slowly = reach - reach / FORGET;
    if (used > SNAPSHOT_WINDOW - PAGE)
        return SNAPSHOT_WINDOW - PAGE;
    return used > slowly ? (size_t)used : slowly;
}

/* The window and the bytes along with it; what is missing of the window is read by fill() then. */
static bool fill_both(struct snapshot_window *w, pid_t tid, uint64_t start, uint64_t end,
                      struct snapshot_along *along)
{
    struct iovec local[] = {{w->bytes, end - start}, {along->bytes, along->size}};
    struct iovec remote[] = {{(void *)(uintptr_t)start, end - start},           // NOLINT
                             {(void *)(uintptr_t)along->address, along->size}}; // NOLINT
    ssize_t n = process_vm_readv(tid, local, 2, remote, 2, 0);
    if (n < 0 || (uint64_t)n < end - start)
        return false;
    w->start = start;
    w->size = end - start;
    along->taken = (uint64_t)n == end - start + along->size;
    return true;
}

void snapshot_take(struct snapshot *s, pid_t tid, uint64_t sp, struct snapshot_along *along)
{
    s->tid = tid;
    s->reach = learn(s->reach, s->used);
    s->used = sizeof(uint64_t);
    uint64_t end = page_end(sp + s->reach);
    if (!along || !fill_both(&s->stack, tid, sp, end, along))
        fill(&s->stack, tid, sp, end);
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

static bool fetch_word(struct snapshot *s, uint64_t address, uint64_t *value)
{
    uint64_t start = address & ~(uint64_t)(PAGE - 1);
    fill(&s->other, s->tid, start, start + SNAPSHOT_WINDOW);
    return window_word(&s->other, address, value);
}

bool snapshot_word(struct snapshot *s, uint64_t address, uint64_t *value)
{
    if (!window_word(&s->stack, address, value) && !window_word(&s->other, address, value) &&
        !fetch_word(s, address, value))
        return false;
    uint64_t used = address + sizeof *value - s->stack.start;
    if (used > s->used && used <= SNAPSHOT_WINDOW)
        s->used = used;
    return true;
}
