/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * memory: reading the memory of a program that is followed. Addresses are the program's, and may be
 * anything: what cannot be read is said, and never harms.
 */
#ifndef TRACER_MEMORY_H
#define TRACER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/buf.h"

enum { MEMORY_PAGE = 4096 }; /* on x86-64: what is mapped or not, as a whole */

/* Returns how many bytes could be read from the beginning of the range, in one go. */
size_t memory_some(pid_t tid, uint64_t address, void *out, size_t size);

/* These return false when not all of it can be read; what is in out then has no meaning. */
bool memory_read(pid_t tid, uint64_t address, void *out, size_t size);
/* A path, at most PATH_MAX with its NUL. errno is EPERM when the process may not be looked into. */
bool memory_path(pid_t tid, uint64_t address, char *out);
/* Appends the first `size` bytes that an array of `count` iovecs describes. */
bool memory_gather(pid_t tid, uint64_t iovecs, uint64_t count, uint64_t size, struct buf *out);

#endif
