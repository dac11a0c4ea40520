/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The part of engine/session.h that reads events and payloads: blocks of them, of which the recent
 * ones are kept, and what a record must satisfy to be believed.
 */
#include <inttypes.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/session_inside.h"

/* ---- Blocks ---- */

static struct block *find_block(struct block_cache *c, uint64_t number)
{
    for (int i = 0; i < CACHED_BLOCKS; i++) {
        int at = (c->last + i) % CACHED_BLOCKS;
        struct block *b = &c->blocks[at];
        if (b->used && b->number == number) {
            b->used = ++c->clock;
            c->last = at;
            return b;
        }
    }
    return NULL;
}

/* The block that was not used for longest, emptied. */
static struct block *oldest_block(struct block_cache *c, size_t size)
{
    struct block *oldest = &c->blocks[0];
    for (int i = 1; i < CACHED_BLOCKS; i++)
        if (c->blocks[i].used < oldest->used)
            oldest = &c->blocks[i];
    oldest->used = 0;
    if (!oldest->data)
        oldest->data = xmalloc(size);
    return oldest;
}

/* ---- Positions ---- */

/* The highest that a record may have: twice as much is still a number that tables can hold. */
static const uint64_t position_max = INT64_MAX / 2;

uint64_t session_position_recorded(uint64_t position)
{
    return position == UINT64_MAX ? position : position / 2 + position % 2;
}

uint64_t session_position(uint64_t recorded)
{
    return recorded > position_max ? UINT64_MAX : 2 * recorded;
}

/* ---- Events ---- */

bool session_payload_ok(const struct session *s, uint64_t payload, uint64_t size)
{
    return payload == PAYLOAD_ZEROS ||
           (payload <= s->limits.row_end && size <= s->limits.row_end - payload);
}

bool session_name_ok(const char *name)
{
    return name[0] && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/');
}

static bool changes_entries(const struct event *event)
{
    switch (event->call) {
    case CALL_OPEN:
        return event->traits & EVENT_CREATED;
    case CALL_RENAME:
    case CALL_LINK:
    case CALL_SYMLINK:
    case CALL_UNLINK:
    case CALL_MKDIR:
    case CALL_RMDIR:
    case CALL_MKNOD:
        return true;
    default:
        return false;
    }
}

static bool changes_bytes(const struct event *event)
{
    return event->call == CALL_WRITE || event->call == CALL_COPY || event->call == CALL_TRUNCATE ||
           event->call == CALL_FALLOCATE || event->call == CALL_STORE;
}

const char *session_event_problem(struct session *s, const struct event *event)
{
    const struct limits *l = &s->limits;
    if (event->call == CALL_NONE || event->call >= CALL_COUNT)
        return "its call is unknown";
    if (event->file > l->files || event->other > l->files || event->dir > l->files ||
        event->other_dir > l->files)
        return "it names a file that is not there";
    if (event->name > l->strings || event->other_name > l->strings || event->path > l->strings ||
        event->other_path > l->strings)
        return "it names a string that is not there";
    if (event->stack > l->stacks)
        return "it names a stack that is not there";
    if (event->thread > l->threads)
        return "it names a thread that is not there";
    if (event->exit < event->entry)
        return "it ends before it begins";
    if (event->entry > position_max || (event->exit > position_max && event->exit != UINT64_MAX))
        return "its position is beyond what a run can reach";
    if (!session_payload_ok(s, event->payload, event->size))
        return "its bytes are not there";
    if (event->traits & EVENT_FAILED)
        return NULL;
    if (changes_bytes(event) &&
        (event->offset > INT64_MAX || event->size > INT64_MAX - event->offset))
        return "it goes beyond what a file can hold";
    if (changes_entries(event) &&
        ((event->name && !session_name_ok(session_string(s, event->name))) ||
         (event->other_name && !session_name_ok(session_string(s, event->other_name)))))
        return "its name is not one of a directory entry";
    return NULL;
}

/* A recorder that is at work may have ended events meanwhile that refer to new things. */
static const char *problem_now(struct session *s, const struct event *event)
{
    const char *problem = session_event_problem(s, event);
    if (!problem || !session_read_limits(s, NULL))
        return problem;
    return session_event_problem(s, event);
}

static bool unpack_chunk(struct session *s, struct block *b, sqlite3_stmt *row, uint64_t first,
                         struct error *e)
{
    int64_t count = sqlite3_column_int64(row, 0);
    const void *bytes = sqlite3_column_blob(row, 1);
    size_t size = (size_t)sqlite3_column_bytes(row, 1);
    uint64_t left = s->events - first + 1;
    uint64_t wanted = left < EVENTS_PER_CHUNK ? left : EVENTS_PER_CHUNK;
    if (count < (int64_t)wanted || count > EVENTS_PER_CHUNK)
        return session_damaged(s, e, "the chunk of event %" PRIu64 " has %" PRId64 " records",
                               first, count);
    if (!unpacker_events(s->unpacker, bytes, size, b->data, (size_t)count))
        return session_damaged(s, e, "the chunk of event %" PRIu64 " does not unpack", first);
    b->count = (size_t)wanted;
    return true;
}

static bool check_chunk(struct session *s, const struct block *b, uint64_t first, struct error *e)
{
    const struct event *records = b->data;
    for (size_t i = 0; i < b->count; i++) {
        const char *problem = problem_now(s, &records[i]);
        if (problem)
            return session_damaged(s, e, "event %" PRIu64 ": %s", first + i, problem);
    }
    return true;
}

static struct block *load_chunk(struct session *s, uint64_t chunk, struct error *e)
{
    struct block *b = oldest_block(&s->chunks, EVENTS_PER_CHUNK * sizeof(struct event));
    uint64_t first = chunk * EVENTS_PER_CHUNK + 1;
    sqlite3_stmt *statement = s->queries[QUERY_CHUNK];
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)first);
    int code = sqlite3_step(statement);
    bool ok;
    if (code == SQLITE_ROW)
        ok = unpack_chunk(s, b, statement, first, e);
    else if (code == SQLITE_DONE)
        ok = session_damaged(s, e, "the chunk of event %" PRIu64 " is missing", first);
    else
        ok = session_sqlite_error(s, e);
    sqlite3_reset(statement);
    if (!ok || !check_chunk(s, b, first, e))
        return NULL;
    struct event *records = b->data;
    for (size_t i = 0; i < b->count; i++) {
        records[i].entry = session_position(records[i].entry);
        records[i].exit = session_position(records[i].exit);
    }
    b->number = chunk;
    b->used = ++s->chunks.clock;
    return b;
}

bool session_event(struct session *s, uint64_t number, struct event *out, struct error *e)
{
    if (number == 0 || number > s->events)
        return error_set(e, "%s has no event %" PRIu64 ": the last one is %" PRIu64, s->path,
                         number, s->events);
    uint64_t chunk = (number - 1) / EVENTS_PER_CHUNK;
    const struct block *b = find_block(&s->chunks, chunk);
    if (!b)
        b = load_chunk(s, chunk, e);
    if (!b)
        return false;
    *out = ((const struct event *)b->data)[(number - 1) % EVENTS_PER_CHUNK];
    return true;
}

/* ---- Payloads ---- */

static bool unpack_pack(struct session *s, struct block *b, sqlite3_stmt *row, uint64_t number,
                        struct error *e)
{
    int64_t count = sqlite3_column_int64(row, 0);
    const void *bytes = sqlite3_column_blob(row, 1);
    size_t size = (size_t)sqlite3_column_bytes(row, 1);
    if (count <= 0 || count > PACK_SIZE)
        return session_damaged(s, e, "pack %" PRIu64 " has %" PRId64 " bytes", number, count);
    if (!unpacker_bytes(s->unpacker, bytes, size, b->data, (size_t)count))
        return session_damaged(s, e, "pack %" PRIu64 " does not unpack", number);
    b->count = (size_t)count;
    return true;
}

static struct block *load_pack(struct session *s, uint64_t number, struct error *e)
{
    struct block *b = oldest_block(&s->packs, PACK_SIZE);
    sqlite3_stmt *statement = s->queries[QUERY_PACK];
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
    int code = sqlite3_step(statement);
    bool ok;
    if (code == SQLITE_ROW)
        ok = unpack_pack(s, b, statement, number, e);
    else if (code == SQLITE_DONE)
        ok = session_damaged(s, e, "pack %" PRIu64 " is missing", number);
    else
        ok = session_sqlite_error(s, e);
    sqlite3_reset(statement);
    if (!ok)
        return NULL;
    b->number = number;
    b->used = ++s->packs.clock;
    return b;
}

bool session_payload(struct session *s, uint64_t payload, uint64_t from, void *out, size_t size,
                     struct error *e)
{
    if (payload == PAYLOAD_ZEROS) {
        memset(out, 0, size);
        return true;
    }
    uint64_t at = payload + from;
    if (at < payload || !session_payload_ok(s, at, size))
        return session_damaged(s, e, "there are no %zu bytes at %" PRIu64, size, at);
    for (char *to = out; size;) {
        uint64_t number = at / PACK_SIZE;
        size_t begin = at % PACK_SIZE;
        size_t n = size < PACK_SIZE - begin ? size : PACK_SIZE - begin;
        struct block *b = find_block(&s->packs, number);
        if (b && b->count < begin + n)
            b->used = 0; /* the recorder has filled it further since */
        if (!b || !b->used)
            b = load_pack(s, number, e);
        if (!b)
            return false;
        if (b->count < begin + n)
            return session_damaged(s, e, "pack %" PRIu64 " has only %zu bytes", number, b->count);
        memcpy(to, (const char *)b->data + begin, n);
        to += n;
        at += n;
        size -= n;
    }
    return true;
}
