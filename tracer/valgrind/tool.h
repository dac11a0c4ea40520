/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The store tracer: a Valgrind tool that tells the recorder of every store, flush and fence that
 * concerns a mapped data file, and of the program's stack at each system call that the recorder
 * watches. tracer/stores.h says how the two talk; this is the side inside the program.
 *
 *     debuginfo.c   what Valgrind need not read of programs
 *     decode.c      instructions that Valgrind does not know or takes for others: flushes, CPUID
 *     instrument.c  from each instruction to the calls of the helpers below
 *     ring.c        from a helper's call to a record
 *     main.c        options, system calls, client requests
 *
 * Built out of tree against the libraries of the installed package (rules.mk). Valgrind runs one
 * thread at a time, so nothing here needs a lock.
 */
#ifndef TRACER_VALGRIND_TOOL_H
#define TRACER_VALGRIND_TOOL_H

#include "libvex_guest_amd64.h"
#include "pub_tool_basics.h"
#include "pub_tool_clreq.h"
#include "pub_tool_execontext.h"
#include "pub_tool_guest.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_stacktrace.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"

#include "tracer/stores.h"

/* ring.c */

extern struct stores_shared tool_shared;

/* Set by options. */
struct tool_options {
    Bool stacks; /* of stores; system calls always have theirs */
    Bool loads;
    const HChar *clock; /* file with the counter that all processes share */
};
extern struct tool_options tool_options;

/* Maps the clock; without one the process has its own. */
void ring_start(void);
void ring_tell(enum stores_reason reason);
/* Another thread may run under the number of the last one. */
void ring_forget_thread(void);

/* A record with size bytes behind it. The stack's number comes from ring_stack. */
void ring_put(enum stores_kind kind, UInt flags, UInt stack, Addr address, const void *bytes,
              UInt size);
/* The running thread's stack, whose innermost frame is at pc. */
UInt ring_stack(Addr pc);
/* The same at a system call or a client request, where the guest's own pc is right. */
UInt ring_stack_here(void);

/* Whether some byte of the range lies in a region. */
Bool ring_in_region(Addr address, SizeT size);

/* The helpers that instrumented code calls. how: size in the low 16 bits, flags above. */
VG_REGPARM(3) void helper_store(Addr address, UWord how, Addr pc);
VG_REGPARM(3) void helper_load(Addr address, UWord size, Addr pc);
VG_REGPARM(3) void helper_locked(Addr address, UWord how, Addr pc);
VG_REGPARM(3) void helper_flush(Addr address, UWord kind, Addr pc);
VG_REGPARM(2) void helper_fence(UWord kind, Addr pc);
VG_REGPARM(1) void helper_unknown(Addr pc);
enum { HOW_FLAGS_SHIFT = 16, HOW_DONE_SHIFT = 32 };

/* instrument.c */
IRSB *tool_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                      const VexGuestExtents *extents, const VexArchInfo *archinfo, IRType word,
                      IRType host_word);

/* A call of a helper that may look at the stack. */
IRDirty *tool_call(Int regparms, const HChar *name, void *helper, IRExpr **args);

/* decode.c: what the bytes of an instruction say that its translation does not. */
Bool decode_is_nontemporal(const UChar *bytes, UInt size);
/* FENCE_*; 0 for lfence. */
UInt decode_fence(const UChar *bytes, UInt size);

#endif
