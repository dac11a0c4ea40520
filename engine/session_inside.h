/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * session_inside: what the files that make up engine/session.h share. For nobody else.
 */
#ifndef ENGINE_SESSION_INSIDE_H
#define ENGINE_SESSION_INSIDE_H

#include <sqlite3.h>

#include "engine/map.h"
#include "engine/session.h"
#include "engine/session_block.h"
#include "engine/session_schema.h"
#include "engine/vec.h"

enum query {
    QUERY_META,
    QUERY_STRING,
    QUERY_MODULE,
    QUERY_STACK,
    QUERY_FILE,
    QUERY_THREAD,
    QUERY_SOURCE,
    QUERY_CHUNK,
    QUERY_PACK,
    QUERY_COUNT
};

/* The highest numbers in the file: anything above them is damage. */
struct limits {
    uint32_t strings, modules, stacks, files, threads;
    uint64_t events;
    uint64_t row_end; /* the first position after the payload row */
};

enum { CACHED_BLOCKS = 64 }; /* 9 MiB of events, 16 MiB of payloads, where there are as many */

/* The blocks read lately, by chunk or pack number. */
struct block_cache {
    struct block {
        uint64_t number;
        uint64_t used; /* when; 0: never filled */
        size_t count;  /* records or bytes in it */
        void *data;
    } blocks[CACHED_BLOCKS];
    int last; /* which was found last: mostly that is the next as well */
    uint64_t clock;
};

struct session {
    char *path;
    sqlite3 *db;
    sqlite3_stmt *queries[QUERY_COUNT];
    struct limits limits;
    uint64_t events; /* as many as there were at opening */
    /* Numbers, keys and paths to allocated objects. */
    struct map strings, modules, stacks, files, threads, sources;
    struct map meta;      /* keys to what was read of them last */
    vec_of(char *) facts; /* all values that were handed out */
    struct block_cache chunks, packs;
    struct unpacker *unpacker;
};

/* Both return false. The first is for what SQLite refused, the second for what we found. */
bool session_sqlite_error(struct session *s, struct error *e);
bool session_damaged(const struct session *s, struct error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads the limits anew: another process may be recording. */
bool session_read_limits(struct session *s, struct error *e);

/* What is wrong with a record, in words; NULL when nothing is. */
const char *session_event_problem(struct session *s, const struct event *event);

/* Whether a string can be one directory entry's name. */
bool session_name_ok(const char *name);

/* Whether these bytes are in the payload row. */
bool session_payload_ok(const struct session *s, uint64_t payload, uint64_t size);

#endif
