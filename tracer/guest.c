/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/guest.h"

#include <linux/sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "engine/clock.h"
#include "engine/log.h"
#include "tracer/stores.h"
#include "tracer/threads.h"

/* ---- the process's memory ---- */

static bool write_memory(pid_t tid, uint64_t address, const void *bytes, size_t size)
{
    struct iovec local = {(void *)(uintptr_t)bytes, size};
    struct iovec remote = {(void *)(uintptr_t)address, size}; // NOLINT
    return process_vm_writev(tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static void set_damaged(struct tracer *t, struct guest *g)
{
    if (!g->damaged)
        recording_notice(t->recording,
                         "records of the store tracer are damaged: stores are missing",
                         "the program wrote over the tracer's memory");
    g->damaged = true;
}

/* ---- its life ---- */

static struct guest *guest_new(struct tracer *t, struct process *process, uint64_t address)
{
    struct guest *g = xcalloc(1, sizeof *g);
    g->process = process;
    g->address = address;
    vec_push(&t->guests, g);
    return g;
}

void guest_free(struct tracer *t, struct guest *guest)
{
    if (!guest)
        return;
    for (size_t i = 0; i < t->guests.n; i++)
        if (t->guests.at[i] == guest) {
            t->guests.at[i] = vec_last(&t->guests);
            t->guests.n--;
            break;
        }
    buf_free(&guest->waiting);
    vec_free(&guest->stack);
    free(guest);
}

struct guest *guest_copy(struct tracer *t, const struct guest *parent, struct process *child)
{
    if (!parent)
        return NULL;
    struct guest *g = guest_new(t, child, parent->address);
    g->taken = g->position = parent->taken;
    for (size_t i = 0; i < parent->stack.n; i++)
        vec_push(&g->stack, parent->stack.at[i]);
    return g;
}

static void watch(int syscall, void *data)
{
    uint8_t *watched = data;
    if (syscall < STORES_SYSCALLS)
        watched[syscall / 8] |= (uint8_t)(1u << (syscall % 8));
}

void guest_begins(struct tracer *t, struct thread *th, uint64_t address)
{
    struct process *p = th->process;
    uint64_t version = 0;
    uint8_t watched[STORES_SYSCALLS / 8] = {0};
    guest_free(t, p->guest);
    p->guest = NULL;
    if (!memory_read(th->tid, address, &version, sizeof version) || version != STORES_VERSION) {
        recording_notice(t->recording, "store tracer of another version: its stores are missing",
                         th->exec_path ? th->exec_path : "?");
        return;
    }
    call_each(watch, watched);
    if (write_memory(th->tid, address + offsetof(struct stores_shared, watched), watched,
                     sizeof watched))
        p->guest = guest_new(t, p, address);
}

/* ---- where to look ---- */

static int by_start(const void *a, const void *b)
{
    const struct stores_region *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

struct looked_for {
    uint64_t low, span, count;
    struct stores_region regions[STORES_REGIONS_MAX];
};

_Static_assert(offsetof(struct stores_shared, regions) - offsetof(struct stores_shared, low) ==
                   offsetof(struct looked_for, regions),
               "looked_for is a part of stores_shared");

/* Neighbours become one region; what no longer fits becomes part of the last one. */
static void add_region(struct looked_for *l, struct stores_region r)
{
    struct stores_region *last = l->count ? &l->regions[l->count - 1] : NULL;
    if (last && (r.start <= last->end || l->count == STORES_REGIONS_MAX)) {
        if (r.end > last->end)
            last->end = r.end;
    } else
        l->regions[l->count++] = r;
}

void guest_look_for(struct tracer *t, struct thread *th)
{
    struct process *p = th->process;
    struct looked_for l = {0};
    if (!p->guest)
        return;
    vec_of(struct stores_region) all = {0};
    for (size_t i = 0; i < p->mappings.n && !t->deaf; i++) {
        const struct shared_mapping *m = &p->mappings.at[i];
        vec_push(&all, (struct stores_region){m->address, m->address + m->size});
    }
    if (all.n)
        qsort(all.at, all.n, sizeof *all.at, by_start);
    for (size_t i = 0; i < all.n; i++)
        add_region(&l, all.at[i]);
    vec_free(&all);
    if (l.count) {
        l.low = l.regions[0].start - STORES_SLACK;
        l.span = l.regions[l.count - 1].end - l.low;
    }
    size_t size = offsetof(struct looked_for, regions) + l.count * sizeof *l.regions;
    if (!write_memory(th->tid, p->guest->address + offsetof(struct stores_shared, low), &l, size))
        set_damaged(t, p->guest);
}

/* ---- records ---- */

/* Appends what the ring has, as far as it goes; then the tracer may write over it. */
static void take(struct tracer *t, struct guest *g, pid_t tid)
{
    uint64_t head, n;
    if (g->damaged ||
        !memory_read(tid, g->address + offsetof(struct stores_shared, head), &head, sizeof head))
        return; /* it ends; its last stop was before */
    n = head - g->taken;
    if (!n)
        return;
    if (n > STORES_RING) {
        set_damaged(t, g);
        return;
    }
    uint64_t at = g->taken % STORES_RING, first = STORES_RING - at < n ? STORES_RING - at : n;
    uint64_t ring = g->address + offsetof(struct stores_shared, ring);
    if (g->told == g->waiting.n) {
        buf_clear(&g->waiting);
        g->told = 0;
        g->position = g->taken;
    }
    char *room = buf_room(&g->waiting, n);
    struct iovec local = {room, n};
    struct iovec remote[] = {{(void *)(uintptr_t)(ring + at), first}, // NOLINT
                             {(void *)(uintptr_t)ring, n - first}};   // NOLINT
    if (process_vm_readv(tid, &local, 1, remote, 2, 0) != (ssize_t)n) {
        g->waiting.n -= n;
        return;
    }
    g->taken = head;
    t->result->streamed += n;
    write_memory(tid, g->address + offsetof(struct stores_shared, tail), &head, sizeof head);
}

void guest_take(struct tracer *t, struct thread *th)
{
    struct guest *own = th->process->guest;
    if (own)
        take(t, own, th->tid);
    for (size_t i = 0; i < t->guests.n; i++) {
        struct guest *g = t->guests.at[i];
        if (g != own && g->process->mappings.n)
            take(t, g, g->process->pid);
    }
}

/* The next record, behind paddings; NULL when there is none. */
static const struct stores_record *next_record(struct tracer *t, struct guest *g)
{
    while (g->told < g->waiting.n) {
        const char *at = g->waiting.at + g->told;
        const struct stores_record *r = (const struct stores_record *)(const void *)at;
        size_t left = g->waiting.n - g->told;
        if (*at == STORES_PAD) {
            size_t skip = STORES_RING - (g->position + g->told) % STORES_RING;
            g->told += skip < left ? skip : left;
            continue;
        }
        if (left >= sizeof *r)
            return r;
        set_damaged(t, g);
        g->told = g->waiting.n;
    }
    return NULL;
}

/* How many bytes follow a record. */
static size_t following(const struct stores_record *r)
{
    size_t n = r->kind == STORES_LOAD ? 0 : r->size;
    return (n + 7) & ~(size_t)7;
}

static void tell_one(struct tracer *t, struct guest *g, const struct stores_record *r)
{
    size_t size = sizeof *r + following(r);
    if (size > g->waiting.n - g->told || !guest_record(t, g, r, r + 1)) {
        set_damaged(t, g);
        g->told = g->waiting.n;
    } else
        g->told += size;
}

/* All records of all guests in the order in which they were made. */
void guest_tell(struct tracer *t)
{
    t->told_at = clock_now() - t->started;
    for (;;) {
        struct guest *first = NULL;
        const struct stores_record *record = NULL;
        for (size_t i = 0; i < t->guests.n; i++) {
            const struct stores_record *r = next_record(t, t->guests.at[i]);
            if (r && (!record || r->sequence < record->sequence)) {
                record = r;
                first = t->guests.at[i];
            }
        }
        if (!first)
            return;
        if (t->deaf)
            first->told = first->waiting.n;
        else
            tell_one(t, first, record);
    }
}

/* ---- calls ---- */

bool guest_is_announced(struct tracer *t, struct thread *th)
{
    struct announced *a = &th->announced;
    const struct call_rule *made =
        th->syscall < SYSCALL_NUMBERS ? t->calls->by_number[th->syscall] : NULL;
    const struct call_rule *meant = a->pending ? t->calls->by_number[a->syscall] : NULL;
    /* mremap is made of other calls; its own announcement tells of it when it is done. */
    if (!made || !meant || made->call != meant->call || meant->call == CALL_MREMAP)
        return false;
    if (made->call == CALL_FORK)
        return true; /* what the tracer really asks for: it never shares memory with a child */
    /* It chooses the address of a mapping, and executes itself anew; other calls it passes on. One
     * of the same kind may still be its own. */
    if (made->call != CALL_MMAP && made->call != CALL_EXEC &&
        (th->syscall != a->syscall || th->args[0] != a->args[0] || th->args[1] != a->args[1]))
        return false;
    a->made = true;
    th->syscall = a->syscall;
    memcpy(th->args, a->args, sizeof th->args);
    return true;
}
