/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/calls.h"

#include <seccomp.h>

#include "engine/stream.h"

static const char *const names[] = {[CALL_NONE] = "?",
#define X(id, name) [CALL_##id] = name,
                                    CALLS(X)
#undef X
};

const char *call_name(uint16_t call)
{
    return names[call < CALL_COUNT ? call : CALL_NONE];
}

bool call_is_sync(uint16_t call)
{
    return call == CALL_FSYNC || call == CALL_FDATASYNC || call == CALL_SYNC ||
           call == CALL_SYNCFS || call == CALL_MSYNC || call == CALL_FENCE;
}

bool event_syncs(const struct event *event)
{
    return call_is_sync(event->call) || event->traits & (EVENT_SYNC | EVENT_DSYNC);
}

char *syscall_name(uint16_t number)
{
    return seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, number);
}

uint16_t syscall_number(const char *name)
{
    int number = seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, name);
    return number >= 0 && number < SYSCALL_NONE ? (uint16_t)number : SYSCALL_NONE;
}
