/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/session.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/mem.h"
#include "engine/session_inside.h"

enum {
    BUSY_TIMEOUT_MS = 10 * 1000, /* a recorder's transaction takes far less */
    /* No value in a session is longer; the largest are source files. Keeps a hostile file, whose
     * pages may be used over and over, from claiming memory that it does not fill. */
    VALUE_MAX = 32 << 20,
    /* The least that a row, and a row with a block, takes in the file: more of them than that
     * cannot be, whatever the highest number says. */
    ROW_BYTES_MIN = 4,
    BLOCK_BYTES_MIN = 16,
};

static const char *const query_sql[QUERY_COUNT] = {
    [QUERY_META] = "SELECT value FROM meta WHERE key = ?",
    [QUERY_STRING] = "SELECT text FROM strings WHERE id = ?",
    [QUERY_MODULE] = "SELECT path, build_id FROM modules WHERE id = ?",
    [QUERY_STACK] = "SELECT frames FROM stacks WHERE id = ?",
    [QUERY_FILE] = "SELECT kind, path FROM files WHERE id = ?",
    [QUERY_THREAD] = ("SELECT p.id, parent, tid, pid FROM threads t "
                      "JOIN processes p ON p.id = process WHERE t.id = ?"),
    [QUERY_SOURCE] = "SELECT absolute, text FROM sources WHERE path = ?",
    [QUERY_CHUNK] = "SELECT count, records FROM events WHERE first = ?",
    [QUERY_PACK] = "SELECT size, bytes FROM packs WHERE number = ?",
};

/* ---- Errors ---- */

bool session_damaged(const struct session *s, struct error *e, const char *format, ...)
{
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    return error_prefix(e, "%s is damaged", s->path);
}

bool session_sqlite_error(struct session *s, struct error *e)
{
    int system = sqlite3_system_errno(s->db);
    switch (sqlite3_errcode(s->db) & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(e, "%s is in use by another program: try again", s->path);
    case SQLITE_READONLY:
        return error_set(
            e,
            "%s was left by a recorder that was killed, and cannot be put right "
            "because it is read-only: copy it, with %s-journal, to where you may write",
            s->path, s->path);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return error_set(e, "cannot read %s: %s", s->path,
                         system ? strerror(system) : sqlite3_errmsg(s->db));
    default:
        return session_damaged(s, e, "%s", sqlite3_errmsg(s->db));
    }
}

/* ---- Opening ---- */

static bool check_file(const char *path, struct error *e)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return error_errno(e, "cannot open %s", path);
    if (S_ISDIR(st.st_mode))
        return error_set(e, "%s is a directory, not a flotsam session", path);
    if (!S_ISREG(st.st_mode))
        return error_set(e, "%s is not a file, so it is no flotsam session", path);
    if (st.st_size == 0)
        return error_set(e, "%s is empty: nothing was recorded in it", path);
    return true;
}

/* SQLite's own handle, because closing another descriptor of the file would drop its locks. */
static bool read_header(struct session *s, uint8_t header[SQLITE_HEADER_SIZE], uint64_t *file_size,
                        struct error *e)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (!file || !file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        return error_set(e, "cannot read %s", s->path);
    *file_size = (uint64_t)size;
    if (size < SQLITE_HEADER_SIZE ||
        file->pMethods->xRead(file, header, SQLITE_HEADER_SIZE, 0) != SQLITE_OK)
        return error_set(e, "%s is not a flotsam session: it is too short", s->path);
    return true;
}

static bool check_header(struct session *s, struct error *e)
{
    uint8_t header[SQLITE_HEADER_SIZE];
    uint64_t file_size;
    if (!read_header(s, header, &file_size, e))
        return false;
    switch (session_header_kind(header)) {
    case HEADER_FOREIGN:
        return error_set(e, "%s is not a flotsam session", s->path);
    case HEADER_OTHER_SQLITE:
        return error_set(e, "%s is an SQLite database of another program, not a flotsam session",
                         s->path);
    case HEADER_SESSION:
        break;
    }
    uint32_t format = session_header_number(header, SQLITE_HEADER_USER_VERSION);
    if (format > SESSION_FORMAT)
        return error_set(e,
                         "%s was made by a newer flotsam (format %" PRIu32 ", this one reads up "
                         "to %d): upgrade flotsam to open it",
                         s->path, format, SESSION_FORMAT);
    if (format == 0)
        return session_damaged(s, e, "it has no format version");
    return true;
}

static bool connect(struct session *s, struct error *e)
{
    /* An absolute path, or one with "./" in front, never looks like a URI or ":memory:". */
    char *path = s->path[0] == '/' ? xstrdup(s->path) : xasprintf("./%s", s->path);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int code = sqlite3_open_v2(path, &s->db, flags, NULL);
    free(path);
    if (code != SQLITE_OK)
        return session_sqlite_error(s, e);
    sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
    /* What SQLite advises for files that anybody may have written. No session has views or
     * triggers; mapped reads would turn a truncation under way into a SIGBUS. */
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, VALUE_MAX);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    /* With FULL, the default, a commit just before a power failure may be rolled back: the removal
     * of the journal is not synced. */
    return check_header(s, e) &&
           (sqlite3_exec(s->db, "PRAGMA synchronous = EXTRA", NULL, NULL, NULL) == SQLITE_OK ||
            session_sqlite_error(s, e));
}

/* One number that a query gives; 0 for NULL. */
static bool read_number(struct session *s, const char *sql, int64_t *out, struct error *e)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return session_sqlite_error(s, e);
    int code = sqlite3_step(statement);
    *out = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    bool ok = code == SQLITE_ROW || code == SQLITE_DONE || session_sqlite_error(s, e);
    sqlite3_finalize(statement);
    return ok;
}

static bool read_highest(struct session *s, const char *sql, uint64_t file_size, uint32_t *out,
                         struct error *e)
{
    int64_t highest;
    if (!read_number(s, sql, &highest, e))
        return false;
    uint64_t most = file_size / ROW_BYTES_MIN < UINT32_MAX ? file_size / ROW_BYTES_MIN : UINT32_MAX;
    if (highest < 0 || (uint64_t)highest > most)
        return session_damaged(s, e, "number %" PRId64 " does not fit in it", highest);
    *out = (uint32_t)highest;
    return true;
}

/* How far the rows of blocks reach: the last block's number times their size, plus its own. */
static bool read_extent(struct session *s, const char *last_sql, const char *count_sql,
                        uint64_t file_size, uint64_t block_size, uint64_t *out, struct error *e)
{
    int64_t last, count;
    if (!read_number(s, last_sql, &last, e) || !read_number(s, count_sql, &count, e))
        return false;
    if (last < 0 || count < 0 || (uint64_t)last > file_size / BLOCK_BYTES_MIN ||
        (uint64_t)count > block_size)
        return session_damaged(s, e,
                               "its last block is number %" PRId64 " with %" PRId64
                               " entries, which does not fit",
                               last, count);
    *out = (uint64_t)last * block_size + (uint64_t)count;
    return true;
}

/* What these queries know of a chunk. */
_Static_assert(EVENTS_PER_CHUNK == 1024, "the queries of read_limits() say so");
#define LAST_CHUNK "FROM events ORDER BY first DESC LIMIT 1"
#define LAST_PACK  "FROM packs ORDER BY number DESC LIMIT 1"

static bool read_limits(struct session *s, struct error *e)
{
    uint8_t header[SQLITE_HEADER_SIZE];
    uint64_t size;
    int64_t tables;
    struct limits l = {0};
    /* The first query takes the lock, under which the header and the size hold still. */
    if (!read_number(s, "SELECT count(*) FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%'",
                     &tables, e) ||
        !read_header(s, header, &size, e))
        return false;
    if (tables)
        return session_damaged(s, e, "it has tables that no session has");
    uint64_t page =
        (uint64_t)header[SQLITE_HEADER_PAGE_SIZE] << 8 | header[SQLITE_HEADER_PAGE_SIZE + 1];
    uint64_t wanted = session_header_number(header, SQLITE_HEADER_PAGE_COUNT) *
                      (page == 1 ? UINT64_C(65536) : page);
    if (wanted > size)
        return session_damaged(s, e, "it was cut off: %" PRIu64 " of %" PRIu64 " bytes are left",
                               size, wanted);
    int64_t misplaced;
    if (!read_highest(s, "SELECT max(id) FROM strings", size, &l.strings, e) ||
        !read_highest(s, "SELECT max(id) FROM modules", size, &l.modules, e) ||
        !read_highest(s, "SELECT max(id) FROM stacks", size, &l.stacks, e) ||
        !read_highest(s, "SELECT max(id) FROM files", size, &l.files, e) ||
        !read_highest(s, "SELECT max(id) FROM threads", size, &l.threads, e) ||
        !read_number(s, "SELECT (first - 1) % 1024 " LAST_CHUNK, &misplaced, e) ||
        !read_extent(s, "SELECT (first - 1) / 1024 " LAST_CHUNK, "SELECT count " LAST_CHUNK, size,
                     EVENTS_PER_CHUNK, &l.events, e) ||
        !read_extent(s, "SELECT number " LAST_PACK, "SELECT size " LAST_PACK, size, PACK_SIZE,
                     &l.row_end, e))
        return false;
    if (misplaced)
        return session_damaged(s, e, "its last chunk of events begins in the wrong place");
    s->limits = l;
    return true;
}

bool session_read_limits(struct session *s, struct error *e)
{
    bool own = sqlite3_get_autocommit(s->db);
    if (own && sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return session_sqlite_error(s, e);
    bool ok = read_limits(s, e);
    if (own)
        sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    return ok;
}

static bool prepare_all(struct session *s, struct error *e)
{
    for (int i = 0; i < QUERY_COUNT; i++)
        if (sqlite3_prepare_v3(s->db, query_sql[i], -1, SQLITE_PREPARE_PERSISTENT, &s->queries[i],
                               NULL) != SQLITE_OK)
            return session_sqlite_error(s, e);
    return true;
}

/* The last chunks could be lost without a gap. */
static bool check_count(struct session *s, struct error *e)
{
    const char *events = session_meta(s, "events");
    if (events && strtoull(events, NULL, 10) != s->events)
        return session_damaged(s, e, "%" PRIu64 " of %s events are left", s->events, events);
    return true;
}

bool session_open(struct session **out, const char *path, struct error *e)
{
    if (!check_file(path, e))
        return false;
    struct session *s = xcalloc(1, sizeof *s);
    s->path = xstrdup(path);
    s->unpacker = unpacker_new();
    bool ok = connect(s, e) && session_read_limits(s, e) && prepare_all(s, e);
    s->events = s->limits.events;
    ok = ok && check_count(s, e);
    if (!ok)
        session_close(s);
    else
        *out = s;
    return ok;
}

void session_close(struct session *s)
{
    if (!s)
        return;
    struct map *maps[] = {&s->strings, &s->modules, &s->stacks,
                          &s->files,   &s->threads, &s->sources};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        map_free_owned(maps[i]);
    map_free(&s->meta);
    for (size_t i = 0; i < s->facts.n; i++)
        free(s->facts.at[i]);
    vec_free(&s->facts);
    for (int i = 0; i < CACHED_BLOCKS; i++) {
        free(s->chunks.blocks[i].data);
        free(s->packs.blocks[i].data);
    }
    for (int i = 0; i < QUERY_COUNT; i++)
        sqlite3_finalize(s->queries[i]);
    sqlite3_close_v2(s->db);
    unpacker_free(s->unpacker);
    free(s->path);
    free(s);
}

const char *session_path(const struct session *s)
{
    return s->path;
}

struct sqlite3 *session_db(struct session *s)
{
    return s->db;
}

uint64_t session_event_count(const struct session *s)
{
    return s->events;
}

uint32_t session_file_count(struct session *s)
{
    return s->limits.files;
}
