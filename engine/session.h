/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * session: one `.flotsam` file, opened to be read. It is an SQLite database (the schema with a
 * line for each table is in session_schema.h) and may come from anybody: everything read from it
 * is checked, and a damaged or hostile file gives an error, never a crash.
 *
 * Opening costs nothing that grows with the trace. An event is found by its number in one look-up;
 * chunks, packs, strings and stacks are read when asked for and the recent ones are kept.
 *
 * Not safe for several threads at once: each thread opens its own.
 */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/stream.h"

struct session;
struct sqlite3;

/* Keys of session_meta(), all text:
 *   program     the command line, shell-quoted       directory   the data directory, absolute
 *   cwd         where it was started                 backend     ptrace | valgrind
 *   status      how the program ended, in words      exit        its status as wait() gives it
 *   started     UTC, ISO 8601                        seconds     how long the recording took
 *   complete    1 when the recorder finished; absent when it was killed or the disk filled
 *   events      how many there are; absent likewise
 *   flotsam     the version that recorded it         streamed    bytes from the store tracer
 *   checker     the command of the target's config   folder      where it is run
 *   acknowledgements, strategy, behaviour_max, gap   as in that config
 *   model                                            likewise, as model_find takes it */

/* Opens for reading, and for caching symbols when the file can be written. */
bool session_open(struct session **out, const char *path, struct error *e);
void session_close(struct session *s);

const char *session_path(const struct session *s);
struct sqlite3 *session_db(struct session *s); /* for the modules that keep tables of their own */

/* NULL when the key is absent. Valid until the session is closed, whatever is written meanwhile. */
const char *session_meta(struct session *s, const char *key);

/* From now on what another process wrote meanwhile is seen as well. */
void session_read_meta_again(struct session *s);

/* Whether the backend saw stores to mapped files: they are in the trace then. */
bool session_has_stores(struct session *s);

/* Keeps a fact with the session. Fails when the file cannot be written. */
bool session_set_meta(struct session *s, const char *key, const char *value, struct error *e);

uint64_t session_event_count(const struct session *s);

/* Event `number`, 1 … count. O(1): reads one chunk, or none when it was read lately. Its positions
 * are even: twice what was recorded. The odd ones between belong to what is pretended (graph.h). */
bool session_event(struct session *s, uint64_t number, struct event *out, struct error *e);

/* From a position of session_event(), or of anything that follows from it, to the one that was
 * recorded there or next; and back. What was told before the one was told before the other: so the
 * session's own tables keep positions as they were recorded. UINT64_MAX stays: it never comes. */
uint64_t session_position_recorded(uint64_t position);
uint64_t session_position(uint64_t recorded);

/* The string's bytes, NUL-terminated (they may hold anything, see engine/escape.h); "" for 0 and
 * for a number that is not there. Valid until the session is closed. */
const char *session_string(struct session *s, uint32_t id);

/* The stack's frames, innermost first; 0 frames when there is none. Valid until closed. */
size_t session_stack(struct session *s, uint32_t id, const struct frame **frames);

struct module_info {
    const char *path;
    const char *build_id; /* hexadecimal, "" when it has none */
};
bool session_module(struct session *s, uint32_t id, struct module_info *out);

struct file_info {
    enum file_kind kind;
    const char *path; /* where it was first seen, from the data directory */
};
bool session_file(struct session *s, uint32_t id, struct file_info *out);
uint32_t session_file_count(struct session *s);

struct thread_info {
    uint32_t process; /* numbers of this trace */
    uint32_t parent;  /* the process's parent, 0 for the first */
    int tid, pid;
};
bool session_thread(struct session *s, uint32_t id, struct thread_info *out);

/* A source file's text as it was when recorded (engine/source.h). */
struct source_info {
    const char *absolute; /* where it was found; NULL: unknown */
    const char *text;
    size_t size;
};
bool session_source(struct session *s, const char *path, struct source_info *out);

/* Copies size bytes of a payload, beginning `from` bytes into it. */
bool session_payload(struct session *s, uint64_t payload, uint64_t from, void *out, size_t size,
                     struct error *e);

/* The starting image, in an order that names every directory before what is in it. Each visitor
 * may be NULL; returning false stops the walk, which then returns false too. */
struct image_visitor {
    bool (*file)(void *data, uint32_t file, enum file_kind kind, uint32_t mode, uint64_t size,
                 const char *target);
    bool (*name)(void *data, uint32_t dir, const char *name, uint32_t file);
    bool (*extent)(void *data, uint32_t file, uint64_t offset, uint64_t size, uint64_t payload);
};
bool session_image(struct session *s, const struct image_visitor *visitor, void *data,
                   struct error *e);

/* What a reader must know: calls notice for each kind and thing, with its count. */
bool session_notices(struct session *s,
                     void (*notice)(void *data, const char *kind, const char *what, uint64_t count),
                     void *data, struct error *e);

#endif
