/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/recording_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/log.h"
#include "engine/mem.h"
#include "engine/session_block.h"
#include "engine/session_schema.h"
#include "engine/triage.h"

enum {
    /* A reader holds the file for the length of one query; one that holds it longer than this is
     * stuck, and so would we be. */
    BUSY_TIMEOUT_MS = 30 * 1000,
};

struct store {
    sqlite3 *db;
    char *path; /* absolute: the recorder may change its directory */
    sqlite3_stmt *rows[ROW_KIND_COUNT];
    sqlite3_stmt *chunk, *pack;
    struct packer *packer;
    struct buf block;
    uint64_t events; /* in the file so far */
    size_t carried;  /* bugs of the session that was replaced of which something was said */
};

/* REPLACE, because the starting image or a fact may be told twice; the last word counts. */
static const char *const row_sql[ROW_KIND_COUNT] = {
    [ROW_META] = "REPLACE INTO meta VALUES (?,?)",
    [ROW_STRING] = "INSERT INTO strings VALUES (?,?)",
    [ROW_MODULE] = "INSERT INTO modules VALUES (?,?,?)",
    [ROW_STACK] = "INSERT INTO stacks VALUES (?,?)",
    [ROW_FILE] = "INSERT INTO files VALUES (?,?,?)",
    [ROW_PROCESS] = "INSERT INTO processes VALUES (?,?,?)",
    [ROW_THREAD] = "INSERT INTO threads VALUES (?,?,?)",
    [ROW_IMAGE_FILE] = "REPLACE INTO image_files VALUES (?,?,?,?,?)",
    [ROW_IMAGE_NAME] = "REPLACE INTO image_names VALUES (?,?,?)",
    [ROW_IMAGE_EXTENT] = "REPLACE INTO image_extents VALUES (?,?,?,?)",
    [ROW_NOTICE] = "REPLACE INTO notices VALUES (?,?,?)",
};

/* A batch's rows are kept as headers, each followed by its fields' headers and bytes. */
struct row_header {
    uint16_t kind, fields;
};

struct field_header {
    enum field_kind kind;
    int64_t number_or_size;
};

void batch_row(struct batch *b, enum row_kind kind, const struct field *fields, size_t n)
{
    struct row_header row = {.kind = (uint16_t)kind, .fields = (uint16_t)n};
    buf_add(&b->rows, &row, sizeof row);
    for (size_t i = 0; i < n; i++) {
        const struct field *f = &fields[i];
        bool has_bytes = f->kind == FIELD_TEXT || f->kind == FIELD_BLOB;
        struct field_header head;
        memset(&head, 0, sizeof head);
        head.kind = f->kind;
        head.number_or_size = has_bytes ? (int64_t)f->size : f->number;
        buf_add(&b->rows, &head, sizeof head);
        if (has_bytes)
            buf_add(&b->rows, f->bytes, f->size);
    }
}

void batch_free(struct batch *b)
{
    buf_free(&b->rows);
    for (size_t i = 0; i < b->chunks.n; i++)
        free(b->chunks.at[i].records);
    for (size_t i = 0; i < b->packs.n; i++)
        free(b->packs.at[i].bytes);
    vec_free(&b->chunks);
    vec_free(&b->packs);
}

static bool fail_moved(const struct store *s, struct error *e)
{
    return error_set(e, "%s was removed or replaced while it was being recorded: record again",
                     s->path);
}

/* The errno behind an SQLite error: of the file itself, of its journal, or the last one; 0 when
 * there was none. */
static int system_error(sqlite3 *db)
{
    int code = 0;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &code);
    sqlite3_file *journal = NULL;
    if (!code)
        sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal);
    if (journal && journal->pMethods)
        journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &code);
    return code ? code : sqlite3_system_errno(db);
}

/* Says why SQLite failed, in the system's words where it was the system. */
static bool fail(struct store *s, struct error *e)
{
    if (sqlite3_extended_errcode(s->db) == SQLITE_READONLY_DBMOVED)
        return fail_moved(s, e);
    int code = sqlite3_errcode(s->db) & 0xff;
    int system = system_error(s->db);
    const char *why = sqlite3_errmsg(s->db);
    if (code == SQLITE_FULL)
        why = strerror(ENOSPC);
    else if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && system)
        why = strerror(system);
    return error_set(e, "cannot write %s: %s", s->path, why);
}

/* Adds what a failure leaves behind. */
static bool say_kept(const struct store *s, struct error *e)
{
    if (sqlite3_extended_errcode(s->db) == SQLITE_READONLY_DBMOVED)
        return false;
    size_t n = strlen(e->text);
    snprintf(e->text + n, sizeof e->text - n, "; the %" PRIu64 " events before that are kept in it",
             s->events);
    return false;
}

static bool execute(struct store *s, const char *sql, struct error *e)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(s, e);
}

static bool run(struct store *s, sqlite3_stmt *statement, struct error *e)
{
    bool ok = sqlite3_step(statement) == SQLITE_DONE || fail(s, e);
    sqlite3_reset(statement);
    return ok;
}

/* Refuses to destroy what is not a session. */
static bool may_replace(const char *path, struct error *e)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return errno == ENOENT || error_errno(e, "cannot create %s", path);
    if (!S_ISREG(st.st_mode))
        return error_set(e, "cannot create %s: it exists and is not a file; give another name",
                         path);
    if (st.st_size == 0)
        return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(e, "cannot replace %s", path);
    enum header_kind kind = session_file_kind(fd);
    close(fd);
    if (kind != HEADER_SESSION)
        return error_set(e,
                         "%s exists and is not a flotsam session: it was left as it is; "
                         "give another name",
                         path);
    return true;
}

static void erase_journal(const char *path)
{
    char *journal = xasprintf("%s-journal", path);
    unlink(journal);
    free(journal);
}

/* An empty file of our own beside the one that is wanted, whose absolute path becomes s->path. */
static char *fresh_file(struct store *s, const char *path, struct error *e)
{
    if (!may_replace(path, e))
        return NULL;
    char *old = realpath(path, NULL);
    const char *target = old ? old : path;
    char *suffix = xasprintf(".new-%ld", (long)getpid());
    char *beside = xasprintf("%s%s", target, suffix);
    unlink(beside); /* another process of this number was killed */
    int fd = open(beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    char *fresh = fd >= 0 ? realpath(beside, NULL) : NULL;
    if (fresh)
        s->path = xstrndup(fresh, strlen(fresh) - strlen(suffix));
    else
        error_errno(e, old ? "cannot replace %s" : "cannot create %s", path);
    if (fd >= 0)
        close(fd);
    free(beside);
    free(suffix);
    free(old);
    return fresh;
}

static bool open_file(struct store *s, const char *path, struct error *e)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    if (sqlite3_open_v2(path, &s->db, flags, NULL) != SQLITE_OK)
        return fail(s, e);
    sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
    return execute(s, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF", e);
}

/* What was said of the bugs of the session that is replaced. One that cannot be read, or that is
 * not there, stops no recording. */
static bool carry_triage(struct store *s, struct error *e)
{
    struct session *old;
    struct error why;
    if (access(s->path, F_OK) != 0)
        return true;
    if (!session_open(&old, s->path, &why)) {
        log_info(RECORD, "what was said of bugs before is not kept: %s", why.text);
        return true;
    }
    bool done = triage_carry(old, s->db, &s->carried) || fail(s, e);
    session_close(old);
    return done;
}

static bool make_schema(struct store *s, struct error *e)
{
    char *marks = xasprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;",
                            SESSION_APPLICATION_ID, SESSION_FORMAT);
    bool ok = execute(s, "BEGIN", e) && execute(s, marks, e) && execute(s, session_schema, e) &&
              carry_triage(s, e) && execute(s, "COMMIT", e);
    free(marks);
    return ok;
}

/* Makes the session under another name, and gives it its own when it is one: whenever we are
 * killed, either the older session is there or what was said of its bugs is in the new one. The
 * older one is not emptied: whoever has it open may go on reading. */
static bool make_file(struct store *s, const char *path, struct error *e)
{
    char *fresh = fresh_file(s, path, e);
    bool ok = fresh && open_file(s, fresh, e) && make_schema(s, e);
    sqlite3_close(s->db);
    s->db = NULL;
    if (ok) {
        erase_journal(s->path);
        ok = rename(fresh, s->path) == 0 || error_errno(e, "cannot replace %s", path);
    }
    if (fresh && !ok) {
        unlink(fresh);
        erase_journal(fresh);
    }
    free(fresh);
    return ok;
}

static bool prepare(struct store *s, sqlite3_stmt **out, const char *sql, struct error *e)
{
    return sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK ||
           fail(s, e);
}

static bool prepare_all(struct store *s, struct error *e)
{
    for (int i = 0; i < ROW_KIND_COUNT; i++)
        if (!prepare(s, &s->rows[i], row_sql[i], e))
            return false;
    return prepare(s, &s->chunk, "REPLACE INTO events VALUES (?,?,?)", e) &&
           prepare(s, &s->pack, "REPLACE INTO packs VALUES (?,?,?)", e);
}

bool store_create(struct store **out, const char *path, struct error *e)
{
    struct store *s = xcalloc(1, sizeof *s);
    s->packer = packer_new();
    bool made = make_file(s, path, e);
    if (!made || !open_file(s, s->path, e) || !prepare_all(s, e)) {
        store_close(s, made);
        return false;
    }
    *out = s;
    return true;
}

size_t store_carried(const struct store *s)
{
    return s->carried;
}

/* Binds and runs the row at *at, and moves *at behind it. */
static bool write_row(struct store *s, const char **at, struct error *e)
{
    struct row_header row;
    memcpy(&row, *at, sizeof row);
    *at += sizeof row;
    sqlite3_stmt *statement = s->rows[row.kind];
    for (int i = 1; i <= row.fields; i++) {
        struct field_header head;
        memcpy(&head, *at, sizeof head);
        *at += sizeof head;
        sqlite3_uint64 size = (sqlite3_uint64)head.number_or_size;
        switch (head.kind) {
        case FIELD_NUMBER:
            sqlite3_bind_int64(statement, i, head.number_or_size);
            continue;
        case FIELD_NULL:
            sqlite3_bind_null(statement, i);
            continue;
        case FIELD_TEXT:
            sqlite3_bind_text64(statement, i, *at, size, SQLITE_STATIC, SQLITE_UTF8);
            break;
        case FIELD_BLOB:
            sqlite3_bind_blob64(statement, i, *at, size, SQLITE_STATIC);
            break;
        }
        *at += size;
    }
    return run(s, statement, e);
}

static bool write_block(struct store *s, sqlite3_stmt *statement, uint64_t key, size_t count,
                        struct error *e)
{
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)key);
    sqlite3_bind_int64(statement, 2, (sqlite3_int64)count);
    sqlite3_bind_blob64(statement, 3, s->block.at, s->block.n, SQLITE_STATIC);
    return run(s, statement, e);
}

static bool write_all(struct store *s, const struct batch *b, struct error *e)
{
    const char *at = b->rows.at;
    while (b->rows.n && at < b->rows.at + b->rows.n)
        if (!write_row(s, &at, e))
            return false;
    for (size_t i = 0; i < b->packs.n; i++) {
        const struct batch_pack *p = &b->packs.at[i];
        if (!packer_bytes(s->packer, p->bytes, p->size, &s->block))
            return error_set(e, "cannot write %s: compressing failed", s->path);
        if (!write_block(s, s->pack, p->number, p->size, e))
            return false;
    }
    for (size_t i = 0; i < b->chunks.n; i++) {
        const struct batch_chunk *c = &b->chunks.at[i];
        if (!packer_events(s->packer, c->records, c->count, &s->block))
            return error_set(e, "cannot write %s: compressing failed", s->path);
        if (!write_block(s, s->chunk, c->first, c->count, e))
            return false;
    }
    return true;
}

bool store_write(struct store *s, const struct batch *b, struct error *e)
{
    /* IMMEDIATE: waits here for readers, where waiting cannot end in a deadlock. */
    if (!execute(s, "BEGIN IMMEDIATE", e))
        return say_kept(s, e);
    if (!write_all(s, b, e) || !execute(s, "COMMIT", e)) {
        say_kept(s, e);
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        return false;
    }
    for (size_t i = 0; i < b->chunks.n; i++) {
        uint64_t last = b->chunks.at[i].first + b->chunks.at[i].count - 1;
        if (last > s->events)
            s->events = last;
    }
    return true;
}

static bool sync_path(const char *path, int flags, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        error_errno(e, "cannot make %s durable", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool store_finish(struct store *s, struct error *e)
{
    int moved = 0;
    sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved)
        return fail_moved(s, e);
    char *marks = xasprintf("REPLACE INTO meta VALUES ('events', '%" PRIu64 "'), ('complete', '1')",
                            s->events);
    bool marked = execute(s, "PRAGMA synchronous = FULL", e) && execute(s, marks, e);
    free(marks);
    if (!marked)
        return say_kept(s, e);
    char *copy = xstrdup(s->path);
    bool ok = sync_path(s->path, 0, e) && sync_path(dirname(copy), O_DIRECTORY, e);
    free(copy);
    return ok;
}

void store_close(struct store *s, bool erase)
{
    if (!s)
        return;
    for (int i = 0; i < ROW_KIND_COUNT; i++)
        sqlite3_finalize(s->rows[i]);
    sqlite3_finalize(s->chunk);
    sqlite3_finalize(s->pack);
    sqlite3_close(s->db);
    if (erase && !s->carried) {
        unlink(s->path);
        erase_journal(s->path);
    }
    packer_free(s->packer);
    buf_free(&s->block);
    free(s->path);
    free(s);
}
