/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * symbols: from the addresses of a stack to functions, files and lines.
 *
 * Answers come from the session's own table first, then from the binaries on this machine, if they
 * are still those that ran (engine/binary.h). What was found is kept in memory and written into
 * the session when that can be written, so that the session explains itself elsewhere.
 *
 * A frame gives one location or more: the function that the address is in comes last, before it
 * the functions that the compiler inlined there, the innermost first. Every frame gives an answer;
 * when nothing is known it is "libfoo.so+0x1234".
 */
#ifndef ENGINE_SYMBOLS_H
#define ENGINE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/session.h"

struct binary;
struct symbols;

enum {
    LOCATION_INLINED = 1 << 0, /* inlined into the location that follows */
    LOCATION_LINE = 1 << 1,    /* file and line are known */
    LOCATION_SYSTEM = 1 << 2,  /* the C or C++ library, the loader, a system header, no file */
    LOCATION_UNKNOWN = 1 << 3, /* no name: function is a module and an offset */
};

struct location {
    const char *function; /* demangled and without parameters; never NULL */
    const char *file;     /* as in the debug info, joined to its directory; "" when unknown */
    uint32_t line;        /* 0 when unknown */
    uint32_t flags;
};

/* The session must stay open until symbols_close(), which writes what was found on the way. */
struct symbols *symbols_open(struct session *s);
void symbols_close(struct symbols *sy);

/* The locations of one frame, innermost first, at least one. Valid until symbols_close(). */
size_t symbols_frame(struct symbols *sy, const struct frame *frame, const struct location **out);

/* What stands for the whole stack: its innermost location with a line outside the system's
 * libraries and headers; without one, the innermost named function outside them; then the innermost
 * address outside them; then the innermost location. NULL for an empty stack. O(1) when the stack
 * was asked for before. */
const struct location *symbols_stack(struct symbols *sy, uint32_t stack);

/* True when symbols_stack() was asked and never found source, though every module could be read:
 * the program wants building with -g, and people should be told. */
bool symbols_sourceless(const struct symbols *sy);

/* Whether a location has source that a person can be shown and be expected to know. */
static inline bool location_has_source(const struct location *l)
{
    return (l->flags & LOCATION_LINE) && !(l->flags & LOCATION_SYSTEM);
}

/* Resolves every frame of every stack and writes all of it in one transaction. Fails only when the
 * session cannot be read or written. */
bool symbols_resolve_all(struct symbols *sy, struct error *e);

/* The binary of a module, for types_open(): data is the struct symbols, which owns it. NULL when it
 * cannot be had; the C library's and the like have no debug info here. */
struct binary *symbols_binary(void *data, uint32_t module);

/* Calls visit once for each module that was needed but could not be used: why says that it is
 * gone, has changed since the recording, or cannot be read. */
void symbols_problems(const struct symbols *sy,
                      void (*visit)(void *data, const char *path, const char *why), void *data);

/* For the recorder, once the trace is complete: opens the session, resolves all stacks and keeps
 * the source text of the files they name, so that the session is self-contained. A failure leaves
 * the trace as it was. */
bool symbols_capture(const char *session_path, struct error *e);

#endif
