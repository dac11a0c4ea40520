/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pub_tool_vkiscnums.h"
#include "tracer/valgrind/tool.h"

/* ---- system calls ---- */

enum { ARGUMENTS = 6 };

static Bool is_watched(UInt syscall)
{
    return syscall < STORES_SYSCALLS && (tool_shared.watched[syscall / 8] >> (syscall % 8) & 1);
}

/* Takes memory away from a region without a call that the recorder watches: it has to be told. */
static Bool replaces_mapping(UInt syscall, const UWord *args)
{
    return syscall == __NR_mremap ||
           (syscall == __NR_mmap && (args[3] & VKI_MAP_FIXED) && !(args[3] & VKI_MAP_SHARED) &&
            ring_in_region(args[0], args[1]));
}

static Bool matters(UInt syscall, const UWord *args)
{
    if (syscall == __NR_mmap)
        return (args[2] & VKI_PROT_EXEC) || (args[3] & VKI_MAP_SHARED) ||
               replaces_mapping(syscall, args);
    return is_watched(syscall);
}

static void before_call(ThreadId tid, UInt syscall, UWord *args, UInt n)
{
    ULong all[ARGUMENTS] = {0};
    (void)tid;
    if (!matters(syscall, args))
        return;
    for (UInt i = 0; i < n && i < ARGUMENTS; i++)
        all[i] = args[i];
    ring_put(STORES_CALL_BEGINS, 0, ring_stack_here(), syscall, all, sizeof all);
}

static void after_call(ThreadId tid, UInt syscall, UWord *args, UInt n, SysRes result)
{
    (void)tid, (void)n;
    if (!matters(syscall, args))
        return;
    Long value = sr_isError(result) ? -(Long)sr_Err(result) : (Long)sr_Res(result);
    ring_put(STORES_CALL_ENDS, 0, 0, syscall, &value, sizeof value);
    if (replaces_mapping(syscall, args))
        ring_tell(STORES_LOOK);
}

/* read() into a mapping and the like. */
static void after_kernel_write(CorePart part, ThreadId tid, Addr address, SizeT size)
{
    (void)part, (void)tid;
    if (!size || !tool_shared.region_count || !ring_in_region(address, size))
        return;
    UInt stack = ring_stack_here();
    while (size) {
        UInt piece = size < STORES_PIECE ? size : STORES_PIECE;
        ring_put(STORES_STORE, STORE_KERNEL, stack, address, (const void *)address, piece);
        address += piece;
        size -= piece;
    }
}

/* ---- what libraries announce ---- */

/* The requests of Valgrind's pmemcheck, by which PMDK announces its transactions. */
enum {
    PMC_REGISTER_PMEM_MAPPING = 0,
    PMC_CHECK_IS_PMEM_MAPPING = 3,
    PMC_START_TX = 18,
    PMC_START_TX_N,
    PMC_END_TX,
    PMC_END_TX_N,
    PMC_ADD_TO_TX,
    PMC_ADD_TO_TX_N,
    PMC_REMOVE_FROM_TX,
    PMC_REMOVE_FROM_TX_N,
};

static void put_mark(UInt kind, Addr address, ULong size)
{
    ring_put(STORES_MARK, kind, ring_stack_here(), address, &size, sizeof size);
}

static Bool take_request(ThreadId tid, UWord *args, UWord *result)
{
    static UWord registered; /* PMDK registers something and asks for it, to see who answers */
    (void)tid;
    if (!VG_IS_TOOL_USERREQ('P', 'C', args[0]))
        return False;
    *result = 0;
    switch (args[0] - VG_USERREQ_TOOL_BASE('P', 'C')) {
    case PMC_REGISTER_PMEM_MAPPING:
        registered = args[1];
        break;
    case PMC_CHECK_IS_PMEM_MAPPING:
        *result = args[1] == registered || ring_in_region(args[1], args[2]);
        break;
    case PMC_START_TX:
    case PMC_START_TX_N:
        put_mark(MARK_TX_BEGIN, 0, 0);
        break;
    case PMC_END_TX:
    case PMC_END_TX_N:
        put_mark(MARK_TX_END, 0, 0);
        break;
    case PMC_ADD_TO_TX:
        put_mark(MARK_TX_ADD, args[1], args[2]);
        break;
    case PMC_ADD_TO_TX_N:
        put_mark(MARK_TX_ADD, args[2], args[3]);
        break;
    case PMC_REMOVE_FROM_TX:
        put_mark(MARK_TX_REMOVE, args[1], args[2]);
        break;
    case PMC_REMOVE_FROM_TX_N:
        put_mark(MARK_TX_REMOVE, args[2], args[3]);
        break;
    default:
        break;
    }
    return True;
}

/* ---- threads and processes ---- */

static void thread_comes(ThreadId parent, ThreadId child)
{
    (void)parent, (void)child;
    ring_forget_thread();
}

static void thread_goes(ThreadId tid)
{
    (void)tid;
    ring_forget_thread();
}

/* ---- the tool ---- */

static Bool take_option(const HChar *arg)
{
    return VG_BOOL_CLO(arg, "--stacks", tool_options.stacks) ||
           VG_BOOL_CLO(arg, "--loads", tool_options.loads) ||
           VG_STR_CLO(arg, "--clock", tool_options.clock);
}

static void print_usage(void)
{
    VG_(printf)
    ("    --stacks=no|yes   take the stack of every store [yes]\n"
     "    --loads=no|yes    tell of loads too [no]\n"
     "    --clock=FILE      a counter that processes share\n");
}

static void print_debug_usage(void)
{
    VG_(printf)("    (none)\n");
}

static void started(void)
{
    ring_start();
    ring_tell(STORES_HELLO);
}

static void ended(Int status)
{
    (void)status; /* the recorder reads the ring when it sees the process end */
}

static void before_options(void)
{
    VG_(details_name)("flotsam");
    VG_(details_version)(NULL);
    VG_(details_description)("a tracer of stores to mapped files");
    VG_(details_copyright_author)("GPL-2.0-or-later, by flotsam's authors.");
    VG_(details_bug_reports_to)("flotsam's authors");
    VG_(basic_tool_funcs)(started, tool_instrument, ended);
    VG_(needs_command_line_options)(take_option, print_usage, print_debug_usage);
    VG_(needs_syscall_wrapper)(before_call, after_call);
    VG_(needs_client_requests)(take_request);
    VG_(track_post_mem_write)(after_kernel_write);
    VG_(track_pre_thread_ll_create)(thread_comes);
    VG_(track_pre_thread_ll_exit)(thread_goes);
    VG_(atfork)(NULL, NULL, thread_goes);
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
