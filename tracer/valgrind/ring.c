/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracer/valgrind/tool.h"

/* Not in the headers for tools. */
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd,
                                                      Off64T offset);

enum { CLOCK_SIZE = 4096, INSTRUCTION_LONGEST = 15 };

struct stores_shared tool_shared __attribute__((aligned(CLOCK_SIZE)));
struct tool_options tool_options = {True, False, NULL};

static ULong own_clock;
static ULong *clock = &own_clock;

/* Whose record the last one was. */
static ThreadId last_thread = VG_INVALID_THREADID;

/* Whether the thread stored to or flushed a region since its last fence. Indexed by ThreadId. */
static UChar *unfenced;
static UInt unfenced_size;

/* Which stacks the recorder knows, by their number; Valgrind's are multiples of 4. */
static UChar *known_stacks;
static UInt known_size;

void ring_start(void)
{
    tool_shared.version = STORES_VERSION;
    if (!tool_options.clock)
        return;
    SysRes fd = VG_(open)(tool_options.clock, VKI_O_RDWR, 0);
    if (sr_isError(fd))
        return;
    SysRes at = VG_(am_shared_mmap_file_float_valgrind)(CLOCK_SIZE, VKI_PROT_READ | VKI_PROT_WRITE,
                                                        (Int)sr_Res(fd), 0);
    if (!sr_isError(at))
        clock = (ULong *)sr_Res(at);
    VG_(close)((Int)sr_Res(fd));
}

void ring_tell(enum stores_reason reason)
{
    ULong result = STORES_CALL;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"((ULong)reason), "S"(&tool_shared)
                     : "rcx", "r11", "memory");
    (void)result; /* there is no such call; the stop was all */
}

void ring_forget_thread(void)
{
    last_thread = VG_INVALID_THREADID;
}

/* Where n bytes may be written. When nobody takes what is there, it is given up. */
static UChar *room(UInt n)
{
    volatile struct stores_shared *shared = &tool_shared;
    UInt at = shared->head % STORES_RING, left = STORES_RING - at;
    UInt wanted = n <= left ? n : n + left;
    if (shared->head + wanted - shared->tail > STORES_RING) {
        ring_tell(STORES_FULL);
        if (shared->head + wanted - shared->tail > STORES_RING)
            shared->tail = shared->head;
    }
    if (n > left) {
        tool_shared.ring[at] = STORES_PAD;
        shared->head += left;
        at = 0;
    }
    return tool_shared.ring + at;
}

static UInt padded(UInt size)
{
    return (size + 7) & ~7U;
}

static void put(enum stores_kind kind, UInt flags, UInt stack, Addr address, const void *bytes,
                UInt bytes_size, UInt size)
{
    UInt n = sizeof(struct stores_record) + padded(bytes_size);
    struct stores_record *record = (struct stores_record *)room(n);
    *record = (struct stores_record){.kind = kind,
                                     .flags = flags,
                                     .size = size,
                                     .stack = stack,
                                     .sequence = __atomic_fetch_add(clock, 1, __ATOMIC_SEQ_CST),
                                     .address = address};
    if (bytes_size == 8)
        *(ULong *)(record + 1) = *(const ULong *)bytes;
    else if (bytes_size)
        VG_(memcpy)(record + 1, bytes, bytes_size);
    __asm__ volatile("" ::: "memory"); /* the recorder may read at any time */
    tool_shared.head += n;
}

static void say_thread(void)
{
    ThreadId now = VG_(get_running_tid)();
    if (now == last_thread)
        return;
    last_thread = now;
    put(STORES_THREAD, 0, 0, VG_(gettid)(), NULL, 0, 0);
}

void ring_put(enum stores_kind kind, UInt flags, UInt stack, Addr address, const void *bytes,
              UInt size)
{
    say_thread();
    put(kind, flags, stack, address, bytes, size, size);
}

/* ---- stacks ---- */

static UChar *at_index(UChar **array, UInt *size, UInt index)
{
    enum { LEAST = 1024 };
    if (index >= *size) {
        UInt wanted = index * 2 > LEAST ? index * 2 : LEAST;
        *array = VG_(realloc)("flotsam.array", *array, wanted);
        VG_(memset)(*array + *size, 0, wanted - *size);
        *size = wanted;
    }
    return *array + index;
}

struct frames {
    ULong pc[STORES_FRAMES_MAX];
    UInt n;
};

/* Valgrind keeps return addresses less 1. */
static void add_frame(UInt n, DiEpoch epoch, Addr ip, void *data)
{
    struct frames *frames = data;
    (void)epoch;
    if (frames->n < STORES_FRAMES_MAX)
        frames->pc[frames->n++] = n ? ip + 1 : ip;
}

static UInt stack_from(ThreadId tid, Word first_ip_delta)
{
    static struct frames frames;
    ExeContext *context = VG_(record_ExeContext)(tid, first_ip_delta);
    UInt number = VG_(get_ECU_from_ExeContext)(context);
    UChar *known = at_index(&known_stacks, &known_size, number / 4);
    if (!*known) {
        *known = 1;
        frames.n = 0;
        VG_(apply_ExeContext)(add_frame, &frames, context);
        ring_put(STORES_STACK, 0, number, 0, frames.pc, frames.n * sizeof *frames.pc);
    }
    return number;
}

/* The guest's own pc is stale inside a superblock. */
UInt ring_stack(Addr pc)
{
    ThreadId tid = VG_(get_running_tid)();
    return stack_from(tid, (Word)(pc - VG_(get_IP)(tid)));
}

UInt ring_stack_here(void)
{
    return stack_from(VG_(get_running_tid)(), 0);
}

static UInt stack_of_store(Addr pc)
{
    return tool_options.stacks ? ring_stack(pc) : 0;
}

/* ---- what instrumented code calls ---- */

Bool ring_in_region(Addr address, SizeT size)
{
    const struct stores_region *regions = tool_shared.regions;
    if (address - tool_shared.low >= tool_shared.span)
        return False;
    UInt low = 0, high = tool_shared.region_count;
    while (low < high) {
        UInt middle = (low + high) / 2;
        if (address >= regions[middle].end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tool_shared.region_count && address + size > regions[low].start;
}

static UChar *unfenced_now(void)
{
    return at_index(&unfenced, &unfenced_size, VG_(get_running_tid)());
}

VG_REGPARM(3) void helper_store(Addr address, UWord how, Addr pc)
{
    UInt size = how & 0xffff;
    if (!ring_in_region(address, size))
        return;
    *unfenced_now() = 1;
    UInt stack = stack_of_store(pc);
    ring_put(STORES_STORE, how >> HOW_FLAGS_SHIFT, stack, address, (const void *)address, size);
}

VG_REGPARM(3) void helper_load(Addr address, UWord size, Addr pc)
{
    if (!ring_in_region(address, size))
        return;
    UInt stack = stack_of_store(pc);
    say_thread();
    put(STORES_LOAD, 0, stack, address, NULL, 0, size);
}

/* how says at HOW_DONE_SHIFT whether it stored; it is a fence either way. */
VG_REGPARM(3) void helper_locked(Addr address, UWord how, Addr pc)
{
    if ((how >> HOW_DONE_SHIFT) && ring_in_region(address, how & 0xffff)) {
        helper_store(address, (how & 0xffff) | (STORE_LOCKED << HOW_FLAGS_SHIFT), pc);
        *unfenced_now() = 0;
    } else if (tool_shared.region_count && *unfenced_now())
        helper_fence(FENCE_LOCKED, pc);
}

VG_REGPARM(3) void helper_flush(Addr address, UWord kind, Addr pc)
{
    if (!ring_in_region(address, 1))
        return;
    *unfenced_now() = 1;
    UInt stack = stack_of_store(pc);
    ring_put(STORES_FLUSH, kind, stack, address, NULL, 0);
}

VG_REGPARM(2) void helper_fence(UWord kind, Addr pc)
{
    if (!tool_shared.region_count)
        return;
    *unfenced_now() = 0;
    UInt stack = stack_of_store(pc);
    ring_put(STORES_FENCE, kind, stack, 0, NULL, 0);
}

/* Its beginning names it, and the next page may not be there. */
VG_REGPARM(1) void helper_unknown(Addr pc)
{
    UInt left = VKI_PAGE_SIZE - pc % VKI_PAGE_SIZE;
    ring_put(STORES_UNKNOWN, 0, ring_stack(pc), pc, (const void *)pc,
             left < INSTRUCTION_LONGEST ? left : INSTRUCTION_LONGEST);
}
