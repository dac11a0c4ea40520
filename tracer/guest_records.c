/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a tracer of stores says, as events.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tracer/guest.h"
#include "tracer/stores.h"
#include "tracer/threads.h"

static uint32_t known_stack(const struct guest *g, uint32_t number)
{
    return number / 4 < g->stack.n ? g->stack.at[number / 4] : 0;
}

static bool take_stack(struct tracer *t, struct guest *g, const struct stores_record *r,
                       const void *bytes)
{
    size_t n = r->size / sizeof(uint64_t);
    if (n > STORES_FRAMES_MAX || r->stack / 4 > g->stack.n + STORES_RING)
        return false;
    while (g->stack.n <= r->stack / 4)
        vec_push(&g->stack, 0);
    g->stack.at[r->stack / 4] = unwind_given(t->unwinder, g->process->space, g->tid, bytes, n);
    return true;
}

static void take_thread(struct tracer *t, struct guest *g, const struct stores_record *r)
{
    struct thread *th = thread_find(t, (pid_t)r->address);
    g->tid = (pid_t)r->address;
    g->thread = th ? th->number : 0;
}

static void add_event(struct tracer *t, struct guest *g, const struct stores_record *r,
                      struct event *event)
{
    event->syscall = SYSCALL_NONE;
    event->fd = -1;
    event->thread = g->thread;
    event->stack = known_stack(g, r->stack);
    event->time = t->told_at;
    event->entry = ++t->position;
    event->exit = ++t->position;
    recording_instant(t->recording, event);
}

/* The mapping at an address, or the next one above it; NULL when there is none. */
static const struct shared_mapping *mapping_from(struct guest *g, uint64_t address)
{
    const struct process *p = g->process;
    const struct shared_mapping *best = NULL;
    if (g->mapping < p->mappings.n) {
        const struct shared_mapping *m = &p->mappings.at[g->mapping];
        if (address - m->address < m->size)
            return m;
    }
    for (size_t i = 0; i < p->mappings.n; i++) {
        const struct shared_mapping *m = &p->mappings.at[i];
        if (address < m->address + m->size && (!best || m->address < best->address)) {
            best = m;
            g->mapping = i;
        }
    }
    return best;
}

/* One event for each mapping that the range touches: most often one. */
static void tell_range(struct tracer *t, struct guest *g, const struct stores_record *r,
                       enum call call, const char *bytes)
{
    uint64_t at = r->address, end = at + r->size;
    while (at < end) {
        const struct shared_mapping *m = mapping_from(g, at);
        if (!m || m->address >= end)
            return;
        uint64_t from = at > m->address ? at : m->address;
        uint64_t to = end < m->address + m->size ? end : m->address + m->size;
        struct event event = {.call = (uint16_t)call,
                              .file = m->file,
                              .path = m->path,
                              .address = from,
                              .offset = m->offset + (from - m->address),
                              .size = to - from,
                              .flags = r->flags};
        if (bytes)
            event.payload = recording_payload(t->recording, bytes + (from - r->address), to - from);
        add_event(t, g, r, &event);
        at = to;
    }
}

static void tell_flush(struct tracer *t, struct guest *g, const struct stores_record *r)
{
    struct stores_record line = *r;
    line.address &= ~(uint64_t)(CACHE_LINE - 1);
    line.size = CACHE_LINE;
    tell_range(t, g, &line, CALL_FLUSH, NULL);
}

static const char *const mark_words[] = {
    [MARK_TX_BEGIN] = "transaction begins",
    [MARK_TX_END] = "transaction ends",
    [MARK_TX_ADD] = "added to the transaction",
    [MARK_TX_REMOVE] = "removed from the transaction",
};

static bool tell_mark(struct tracer *t, struct guest *g, const struct stores_record *r,
                      const void *bytes)
{
    uint64_t size;
    if (r->size != sizeof size || r->flags >= sizeof mark_words / sizeof *mark_words ||
        !mark_words[r->flags])
        return false;
    memcpy(&size, bytes, sizeof size);
    const char *words = mark_words[r->flags];
    struct event event = {.call = CALL_MARKER, .flags = r->flags, .size = strlen(words)};
    event.payload = recording_payload(t->recording, words, strlen(words));
    const struct shared_mapping *m = size ? mapping_from(g, r->address) : NULL;
    if (m && r->address >= m->address) {
        event.file = m->file;
        event.path = m->path;
        event.address = r->address;
        event.offset = m->offset + (r->address - m->address);
        event.other_offset = size;
    }
    add_event(t, g, r, &event);
    return true;
}

/* ---- instructions that the tracer does not know ---- */

static const char *name_instruction(const uint8_t *bytes, size_t n)
{
    static const struct {
        uint8_t bytes[4];
        size_t n;
        const char *name;
    } known[] = {
        {{0x62}, 1, "an AVX-512 instruction"},
        {{0x66, 0x0f, 0x38, 0xf8}, 4, "MOVDIR64B"},
        {{0x0f, 0x38, 0xf9}, 3, "MOVDIRI"},
        {{0x66, 0x0f, 0x3a, 0xcf}, 4, "a GFNI instruction"},
    };
    uint8_t plain[16];
    size_t m = 0;
    for (size_t i = 0; i < n && m < sizeof plain; i++) {
        bool rex = (bytes[i] & 0xf0) == 0x40 && (m == 0 || (m == 1 && plain[0] == 0x66));
        if (!rex)
            plain[m++] = bytes[i];
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (m >= known[i].n && memcmp(plain, known[i].bytes, known[i].n) == 0)
            return known[i].name;
    return "an instruction";
}

static void tell_unknown(struct tracer *t, const struct stores_record *r, const uint8_t *bytes)
{
    struct buf text = {0};
    buf_text(&text, name_instruction(bytes, r->size));
    buf_text(&text, " (bytes ");
    buf_hex(&text, bytes, r->size < 8 ? r->size : 8);
    buf_text(&text, ")");
    recording_notice(t->recording,
                     "instruction that the store tracer cannot run: the program got "
                     "SIGILL",
                     buf_string(&text));
    struct buf said = {0};
    buf_printf(&said,
               "the store tracer cannot run %s at 0x%" PRIx64
               "; the program gets an illegal-instruction signal there. Valgrind has no AVX-512, "
               "MOVDIRI or MOVDIR64B: build the program without -march=native (or with "
               "-mno-avx512f -mno-movdiri -mno-movdir64b) for this recording",
               buf_string(&text), r->address);
    t->options->say(buf_string(&said));
    buf_free(&said);
    buf_free(&text);
}

/* ---- calls ---- */

static bool take_call(struct tracer *t, struct guest *g, const struct stores_record *r,
                      const void *bytes)
{
    struct thread *th = thread_find(t, g->tid);
    struct announced *a = th ? &th->announced : NULL;
    if (r->size != sizeof a->args || r->address >= SYSCALL_NUMBERS)
        return false;
    if (!a)
        return true;
    a->pending = true;
    a->made = false;
    a->syscall = (int)r->address;
    a->stack = known_stack(g, r->stack);
    memcpy(a->args, bytes, sizeof a->args);
    return true;
}

/* Valgrind has room for less than the machine, and refuses the rest without asking the kernel. */
static void tell_refused(struct tracer *t, struct thread *th)
{
    const struct announced *a = &th->announced;
    struct descriptor d = tracer_descriptor(t, th, (int)a->args[4]);
    if (d.kind != DESCRIPTOR_DATA || a->made)
        return;
    char *text = xasprintf("Valgrind has no room for a mapping of %" PRIu64
                           " bytes, and the program was told that there is none; make the file "
                           "smaller for this recording",
                           a->args[1]);
    recording_notice(t->recording, "mapping that Valgrind refused", "mmap");
    t->options->say(text);
    free(text);
}

/* The tracer does an mremap by calls of its own, and a private mapping over a shared one needs no
 * call that is watched: what they did to the mappings comes here. */
static void finish_mapping(struct tracer *t, struct thread *th, int64_t result)
{
    const struct announced *a = &th->announced;
    bool over = a->syscall == SYS_mmap, failed = result < 0 && result >= -SYSCALL_ERRNO_LAST;
    if (over && failed)
        tell_refused(t, th);
    if (over && ((a->args[3] & MAP_SHARED) || !(a->args[3] & MAP_FIXED)))
        return;
    const struct call_rule *rule = t->calls->by_number[over ? SYS_munmap : SYS_mremap];
    th->syscall = a->syscall;
    memcpy(th->args, a->args, sizeof th->args);
    th->event = (struct event){.call = rule->call, .syscall = (uint16_t)a->syscall, .fd = -1};
    if (rule->enter(t, th) != PROCEED_RECORD)
        return;
    th->event.result = result;
    if (failed)
        th->event.traits |= EVENT_FAILED;
    th->event.stack = a->stack;
    rule->leave(t, th);
    tracer_instant(t, th, &th->event);
    guest_look_for(t, th);
}

static bool take_return(struct tracer *t, struct guest *g, const struct stores_record *r,
                        const void *bytes)
{
    struct thread *th = thread_find(t, g->tid);
    int64_t result;
    if (r->size != sizeof result)
        return false;
    memcpy(&result, bytes, sizeof result);
    if (!th || !th->announced.pending)
        return true;
    if (th->announced.syscall == SYS_mremap || th->announced.syscall == SYS_mmap)
        finish_mapping(t, th, result);
    th->announced.pending = false;
    return true;
}

bool guest_record(struct tracer *t, struct guest *g, const struct stores_record *r,
                  const void *bytes)
{
    switch ((enum stores_kind)r->kind) {
    case STORES_THREAD:
        take_thread(t, g, r);
        return true;
    case STORES_STACK:
        return take_stack(t, g, r, bytes);
    case STORES_STORE:
        tell_range(t, g, r, CALL_STORE, bytes);
        t->result->stores++;
        return true;
    case STORES_LOAD:
        tell_range(t, g, r, CALL_LOAD, NULL);
        return true;
    case STORES_FLUSH:
        tell_flush(t, g, r);
        return true;
    case STORES_FENCE:
        add_event(t, g, r, &(struct event){.call = CALL_FENCE, .flags = r->flags});
        return true;
    case STORES_CALL_BEGINS:
        return take_call(t, g, r, bytes);
    case STORES_CALL_ENDS:
        return take_return(t, g, r, bytes);
    case STORES_MARK:
        return tell_mark(t, g, r, bytes);
    case STORES_UNKNOWN:
        tell_unknown(t, r, bytes);
        return true;
    case STORES_PAD:
        break;
    }
    return false;
}
