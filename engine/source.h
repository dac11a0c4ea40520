/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * source: the text of source files as it was when the run was recorded, kept in the session, and
 * whether the file on this machine still says the same.
 *
 * A file goes by the path that a struct location has. Text is kept only by the recorder: reading
 * somebody's session never copies files of this machine into it.
 */
#ifndef ENGINE_SOURCE_H
#define ENGINE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/session.h"

/* A larger source file is generated, and nobody reads it; all of them together should not dwarf
 * the trace in a session that is mailed. */
enum { SOURCE_FILE_MAX = 4 << 20, SOURCE_TOTAL_MAX = 64 << 20 };

/* Keeps the text of the named files in the session, in one transaction. A file that is gone,
 * unreadable or too large is passed over. Relative paths are taken from where the program was
 * started. Fails only when the session cannot be written. */
bool source_capture(struct session *s, const char *const *paths, size_t n, struct error *e);

enum source_state {
    SOURCE_SAME,    /* the file here is as it was recorded */
    SOURCE_CHANGED, /* the file here differs; the text is the recorded one */
    SOURCE_GONE,    /* no such file here; the text is the recorded one */
    SOURCE_LATER,   /* not in the session: the text is the file's now, perhaps changed */
    SOURCE_NONE,    /* neither in the session nor here */
};

/* The path of a file whose text the session has, by the end of it ("store.c", "db/store.c"). NULL
 * when there is none; the caller frees it. */
char *source_find(struct session *s, const char *end);

struct source;

/* Reads one file, from the session first. Never NULL; SOURCE_NONE has no lines. */
struct source *source_open(struct session *s, const char *path);
void source_close(struct source *src);

enum source_state source_state(const struct source *src);

/* Where it was found: absolute, or the path as given when it was not found. */
const char *source_path(const struct source *src);

/* What state means, in words for people ("changed since the recording"); "" for SOURCE_SAME. */
const char *source_state_words(enum source_state state);

uint32_t source_line_count(const struct source *src);

/* Line `line`, 1 … count, without its newline; raw bytes that want escaping. NULL and *n = 0 for a
 * line that is not there. O(1). */
const char *source_line(const struct source *src, uint32_t line, size_t *n);

#endif
