/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/source.h"

#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "engine/buf.h"
#include "engine/log.h"
#include "engine/mem.h"
#include "engine/vec.h"

struct source {
    char *path;
    enum source_state state;
    struct buf text;
    vec_of(size_t) lines; /* where each begins */
};

/* --- Files on this machine ----------------------------------------------------------------- */

/* The path from the root, with links and dots resolved. NULL when there is no such file; the
 * caller frees. */
static char *absolute_path(struct session *s, const char *path)
{
    const char *cwd = session_meta(s, "cwd");

    if (path[0] == '/')
        return realpath(path, NULL);
    if (!path[0] || !cwd)
        return NULL;
    char *joined = xasprintf("%s/%s", cwd, path);
    char *found = realpath(joined, NULL);
    free(joined);
    return found;
}

/* False when the file is not a regular one, cannot be read, or is larger than SOURCE_FILE_MAX. */
static bool read_file(const char *path, struct buf *out, struct stat *st)
{
    /* A path from a stranger's session may be a pipe or a device: look first, never wait. */
    if (stat(path, st) != 0 || !S_ISREG(st->st_mode) || st->st_size > SOURCE_FILE_MAX)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    ssize_t n = 1;
    size_t room = (size_t)st->st_size;
    while (room && n > 0) {
        char *at = buf_room(out, room);
        n = read(fd, at, room);
        size_t got = n > 0 ? (size_t)n : 0;
        out->n -= room - got;
        room -= got;
    }
    close(fd);
    return n >= 0;
}

/* --- Keeping ------------------------------------------------------------------------------- */

/* XXH3-128 in hexadecimal. */
static void hash_text(const struct buf *text, struct buf *out)
{
    XXH128_canonical_t hash;

    XXH128_canonicalFromHash(&hash, XXH3_128bits(buf_string(text), text->n));
    buf_hex(out, hash.digest, sizeof hash.digest);
}

static bool keep(struct session *s, sqlite3_stmt *q, const char *path, size_t *total)
{
    struct buf text = {0}, hash = {0};
    struct stat st;
    bool ok = true;
    char *absolute = absolute_path(s, path);

    if (absolute && read_file(absolute, &text, &st) && *total + text.n <= SOURCE_TOTAL_MAX) {
        *total += text.n;
        hash_text(&text, &hash);
        sqlite3_bind_text(q, 1, path, -1, SQLITE_STATIC);
        sqlite3_bind_text(q, 2, absolute, -1, SQLITE_STATIC);
        sqlite3_bind_int64(q, 3, st.st_mtime);
        sqlite3_bind_text(q, 4, hash.at, -1, SQLITE_STATIC);
        sqlite3_bind_blob64(q, 5, buf_string(&text), text.n, SQLITE_STATIC);
        ok = sqlite3_step(q) == SQLITE_DONE;
        sqlite3_reset(q);
    } else {
        log_info(SYMBOLS, "source not kept: %s", path);
    }
    buf_free(&text);
    buf_free(&hash);
    free(absolute);
    return ok;
}

bool source_capture(struct session *s, const char *const *paths, size_t n, struct error *e)
{
    sqlite3 *db = session_db(s);
    sqlite3_stmt *q = NULL;
    size_t total = 0;

    if (n == 0)
        return true;
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return error_set(e, "%s: cannot keep sources: %s", session_path(s), sqlite3_errmsg(db));
    bool ok = sqlite3_prepare_v2(db,
                                 "INSERT OR REPLACE INTO sources"
                                 " (path, absolute, mtime, hash, text) VALUES (?, ?, ?, ?, ?)",
                                 -1, &q, NULL) == SQLITE_OK;
    for (size_t i = 0; ok && i < n; i++)
        ok = keep(s, q, paths[i], &total);
    if (!ok)
        error_set(e, "%s: cannot keep sources: %s", session_path(s), sqlite3_errmsg(db));
    sqlite3_finalize(q);
    if (ok && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        ok = error_set(e, "%s: cannot keep sources: %s", session_path(s), sqlite3_errmsg(db));
    if (!ok)
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return ok;
}

/* --- Reading ------------------------------------------------------------------------------- */

static void find_lines(struct source *src)
{
    for (size_t i = 0; i < src->text.n;) {
        vec_push(&src->lines, i);
        const char *end = memchr(src->text.at + i, '\n', src->text.n - i);
        i = end ? (size_t)(end - src->text.at) + 1 : src->text.n;
    }
}

static bool read_recorded(struct session *s, struct source *src, const char *path)
{
    struct source_info recorded;

    if (!session_source(s, path, &recorded))
        return false;
    src->path = xstrdup(recorded.absolute ? recorded.absolute : path);
    if (recorded.size <= SOURCE_FILE_MAX)
        buf_add(&src->text, recorded.text, recorded.size);
    return true;
}

static enum source_state compare_with_file(const struct source *src)
{
    struct buf now = {0};
    struct stat st;
    enum source_state state = SOURCE_CHANGED;

    if (access(src->path, F_OK) != 0)
        return SOURCE_GONE;
    if (read_file(src->path, &now, &st) && now.n == src->text.n &&
        (now.n == 0 || memcmp(now.at, src->text.at, now.n) == 0))
        state = SOURCE_SAME;
    buf_free(&now);
    return state;
}

struct source *source_open(struct session *s, const char *path)
{
    struct source *src = xcalloc(1, sizeof *src);
    struct stat st;

    if (read_recorded(s, src, path)) {
        src->state = compare_with_file(src);
    } else {
        src->path = absolute_path(s, path);
        src->state = SOURCE_LATER;
        if (!src->path || !read_file(src->path, &src->text, &st)) {
            buf_clear(&src->text);
            src->state = SOURCE_NONE;
        }
        if (!src->path)
            src->path = xstrdup(path);
    }
    find_lines(src);
    return src;
}

void source_close(struct source *src)
{
    if (!src)
        return;
    free(src->path);
    buf_free(&src->text);
    vec_free(&src->lines);
    free(src);
}

enum source_state source_state(const struct source *src)
{
    return src->state;
}

const char *source_path(const struct source *src)
{
    return src->path;
}

const char *source_state_words(enum source_state state)
{
    static const char *const words[] = {
        [SOURCE_SAME] = "",
        [SOURCE_CHANGED] = "changed since the recording; shown as recorded",
        [SOURCE_GONE] = "no longer there; shown as recorded",
        [SOURCE_LATER] = "not kept in the session; shown as it is now",
        [SOURCE_NONE] = "neither in the session nor here",
    };

    return words[state];
}

uint32_t source_line_count(const struct source *src)
{
    return (uint32_t)src->lines.n;
}

const char *source_line(const struct source *src, uint32_t line, size_t *n)
{
    *n = 0;
    if (line == 0 || line > src->lines.n)
        return NULL;
    size_t begin = src->lines.at[line - 1];
    size_t end = line < src->lines.n ? src->lines.at[line] : src->text.n;
    if (end > begin && src->text.at[end - 1] == '\n')
        end--;
    if (end > begin && src->text.at[end - 1] == '\r')
        end--;
    *n = end - begin;
    return src->text.at + begin;
}

char *source_find(struct session *s, const char *end)
{
    static const char query[] = "SELECT path FROM sources WHERE path = ?1 OR"
                                " substr(path, -length(?1) - 1) = '/' || ?1"
                                " ORDER BY length(path) LIMIT 1";
    sqlite3_stmt *q = NULL;
    char *found = NULL;

    if (sqlite3_prepare_v2(session_db(s), query, -1, &q, NULL) == SQLITE_OK &&
        sqlite3_bind_text(q, 1, end, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(q) == SQLITE_ROW && sqlite3_column_text(q, 0))
        found = xstrdup((const char *)sqlite3_column_text(q, 0));
    sqlite3_finalize(q);
    return found;
}
