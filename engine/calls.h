/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * calls: the names of calls: families of engine/stream.h, and system calls of x86-64 (the machine
 * of the recording, whichever reads it).
 */
#ifndef ENGINE_CALLS_H
#define ENGINE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* The name of a family: "write" for CALL_WRITE; "?" for a number that is none. */
const char *call_name(uint16_t call);

/* Whether calls of a family are syncs, whatever they sync and whether they succeed. */
bool call_is_sync(uint16_t call);

/* Whether the call is one, or a write that syncs itself. */
struct event;
bool event_syncs(const struct event *event);

/* The name of a system call; NULL when the number has none. The caller frees it. */
char *syscall_name(uint16_t number);

/* The number of a system call, or SYSCALL_NONE. */
uint16_t syscall_number(const char *name);

#endif
