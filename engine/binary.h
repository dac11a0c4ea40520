/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * binary: one executable or library as it lies on the disk, and what its debug info says of an
 * address. Uses separate debug files where they are installed (by build id); asks a debuginfod
 * server only if the user has set DEBUGINFOD_URLS. Damaged debug info gives fewer answers.
 */
#ifndef ENGINE_BINARY_H
#define ENGINE_BINARY_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "engine/error.h"

struct binary;

/* How much is asked of a binary. The debug info of the C library takes longer to unpack than most
 * recordings take, and nobody is shown its lines. */
enum binary_detail { BINARY_NAMES, BINARY_LINES };

/* One function at an address. The strings are valid during the call that hands it out. */
struct binary_site {
    const char *function; /* NULL when unknown; demangled, without parameters */
    const char *file;     /* NULL when unknown; relative only when the debug info says no more */
    uint32_t line;
    int inlined; /* into the site that follows */
};

/* Opens the file that was recorded as `path` with `build_id` (hexadecimal, "" for none). NULL, with
 * a reason to tell people, when the file is gone, is another one now, or is not a binary. Without
 * a build id a file changed later than `recorded` counts as another (0: unknown, take it). */
struct binary *binary_open(const char *path, const char *build_id, time_t recorded,
                           enum binary_detail detail, struct error *why);
void binary_close(struct binary *b);

/* Hands out the functions at an address (as linked), the innermost inlined one first and the one
 * that is really there last. Hands out nothing when neither debug info nor a symbol table says
 * anything. */
void binary_sites(struct binary *b, uint64_t address,
                  void (*site)(void *data, const struct binary_site *site), void *data);

#endif
