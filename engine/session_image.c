/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The part of engine/session.h that walks the starting image and the notices. Keys must grow
 * strictly from row to row: a hostile file could otherwise use one page over and over and make a
 * walk endless.
 */
#include <inttypes.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/session_inside.h"
#include "engine/vec.h"

/* What is known of a file of the image, kept under its number. */
struct image_file {
    uint64_t size;
    enum file_kind kind;
    bool named;
};

struct walk {
    struct session *s;
    const struct image_visitor *visitor;
    void *data;
    struct error *e;
    struct map index; /* file number to index in files */
    vec_of(struct image_file) files;
    vec_of(uint32_t) queue; /* directories whose names are still to be read */
};

static struct image_file *image_file(struct walk *w, int64_t file)
{
    uint32_t id = (uint32_t)file;
    const uint64_t *index =
        file > 0 && file <= UINT32_MAX ? map_get(&w->index, &id, sizeof id) : NULL;
    return index ? &w->files.at[*index] : NULL;
}

static bool one_file(struct walk *w, sqlite3_stmt *row, int64_t *last)
{
    int64_t file = sqlite3_column_int64(row, 0), kind = sqlite3_column_int64(row, 1);
    int64_t mode = sqlite3_column_int64(row, 2), size = sqlite3_column_int64(row, 3);
    const char *target = (const char *)sqlite3_column_text(row, 4);
    if (file <= *last || file > w->s->limits.files)
        return session_damaged(w->s, w->e, "file %" PRId64 " of the image is not there", file);
    if (kind < FILE_REGULAR || kind > FILE_OTHER || mode < 0 || mode > UINT32_MAX || size < 0 ||
        (kind == FILE_SYMLINK && !target) || (file == FILE_ROOT && kind != FILE_DIRECTORY))
        return session_damaged(w->s, w->e, "file %" PRId64 " of the image makes no sense", file);
    *last = file;
    uint32_t id = (uint32_t)file;
    *map_put(&w->index, &id, sizeof id, NULL) = w->files.n;
    vec_push(&w->files, (struct image_file){.kind = (enum file_kind)kind,
                                            .size = (uint64_t)size,
                                            .named = file == FILE_ROOT});
    return !w->visitor->file ||
           w->visitor->file(w->data, id, (enum file_kind)kind, (uint32_t)mode, (uint64_t)size,
                            kind == FILE_SYMLINK ? target : NULL);
}

static sqlite3_stmt *prepare(struct session *s, const char *sql, struct error *e)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) != SQLITE_OK)
        session_sqlite_error(s, e);
    return statement;
}

static bool walk_files(struct walk *w)
{
    sqlite3_stmt *row =
        prepare(w->s, "SELECT file, kind, mode, size, target FROM image_files ORDER BY file", w->e);
    if (!row)
        return false;
    int64_t last = 0;
    bool ok = true;
    int code = SQLITE_DONE;
    while (ok && (code = sqlite3_step(row)) == SQLITE_ROW)
        ok = one_file(w, row, &last);
    if (ok && code != SQLITE_DONE)
        ok = session_sqlite_error(w->s, w->e);
    sqlite3_finalize(row);
    return ok;
}

/* A directory has one name, so the walk meets it once and cannot go round in circles. */
static bool one_name(struct walk *w, sqlite3_stmt *row, uint32_t dir, struct buf *last)
{
    const char *name = (const char *)sqlite3_column_text(row, 0);
    int64_t file = sqlite3_column_int64(row, 1);
    struct image_file *f = image_file(w, file);
    if (!name || !session_name_ok(name) || (last->n && strcmp(name, last->at) <= 0))
        return session_damaged(w->s, w->e, "directory %" PRIu32 " of the image has a bad name",
                               dir);
    if (!f || (f->kind == FILE_DIRECTORY && f->named))
        return session_damaged(w->s, w->e,
                               "a name in directory %" PRIu32 " leads to file %" PRId64
                               ", which cannot be",
                               dir, file);
    f->named = true;
    buf_clear(last);
    buf_text(last, name);
    return !w->visitor->name || w->visitor->name(w->data, dir, name, (uint32_t)file);
}

static bool walk_directory(struct walk *w, sqlite3_stmt *row, uint32_t dir)
{
    struct buf last = {0};
    bool ok = true;
    int code = SQLITE_DONE;
    sqlite3_bind_int64(row, 1, dir);
    while (ok && (code = sqlite3_step(row)) == SQLITE_ROW) {
        ok = one_name(w, row, dir, &last);
        int64_t file = sqlite3_column_int64(row, 1);
        if (ok && image_file(w, file)->kind == FILE_DIRECTORY)
            vec_push(&w->queue, (uint32_t)file);
    }
    if (ok && code != SQLITE_DONE)
        ok = session_sqlite_error(w->s, w->e);
    sqlite3_reset(row);
    buf_free(&last);
    return ok;
}

/* Breadth first from the root, so that a directory's name comes before those in it. */
static bool walk_names(struct walk *w)
{
    sqlite3_stmt *row =
        prepare(w->s, "SELECT name, file FROM image_names WHERE dir = ? ORDER BY name", w->e);
    if (!row)
        return false;
    bool ok = true;
    vec_push(&w->queue, FILE_ROOT);
    for (size_t i = 0; i < w->queue.n && ok; i++)
        ok = walk_directory(w, row, w->queue.at[i]);
    sqlite3_finalize(row);
    /* A recorder that is killed while it captures the image leaves some without. */
    if (!session_meta(w->s, "complete"))
        return ok;
    for (size_t i = 0; i < w->files.n && ok; i++)
        if (w->files.at[i].kind == FILE_DIRECTORY && !w->files.at[i].named)
            ok = session_damaged(w->s, w->e, "a directory of the image has no name");
    return ok;
}

struct extent {
    int64_t file;
    uint64_t end;
};

static bool one_extent(struct walk *w, sqlite3_stmt *row, struct extent *last)
{
    int64_t file = sqlite3_column_int64(row, 0);
    uint64_t offset = (uint64_t)sqlite3_column_int64(row, 1);
    uint64_t size = (uint64_t)sqlite3_column_int64(row, 2);
    uint64_t payload = (uint64_t)sqlite3_column_int64(row, 3);
    const struct image_file *f = image_file(w, file);
    bool follows = file > last->file || (file == last->file && offset >= last->end);
    if (!f || f->kind != FILE_REGULAR || !follows || size == 0 || offset > f->size ||
        size > f->size - offset || !session_payload_ok(w->s, payload, size))
        return session_damaged(w->s, w->e,
                               "the image's data of file %" PRId64 " at %" PRIu64 " makes no sense",
                               file, offset);
    *last = (struct extent){.file = file, .end = offset + size};
    return !w->visitor->extent ||
           w->visitor->extent(w->data, (uint32_t)file, offset, size, payload);
}

static bool walk_extents(struct walk *w)
{
    sqlite3_stmt *row = prepare(
        w->s, "SELECT file, offset, size, payload FROM image_extents ORDER BY file, offset", w->e);
    if (!row)
        return false;
    struct extent last = {0};
    bool ok = true;
    int code = SQLITE_DONE;
    while (ok && (code = sqlite3_step(row)) == SQLITE_ROW)
        ok = one_extent(w, row, &last);
    if (ok && code != SQLITE_DONE)
        ok = session_sqlite_error(w->s, w->e);
    sqlite3_finalize(row);
    return ok;
}

bool session_image(struct session *s, const struct image_visitor *visitor, void *data,
                   struct error *e)
{
    struct walk w = {.s = s, .visitor = visitor, .data = data, .e = e};
    bool ok = walk_files(&w) && walk_names(&w) && walk_extents(&w);
    map_free(&w.index);
    vec_free(&w.files);
    vec_free(&w.queue);
    return ok;
}

/* One notice; *last holds the kind and the thing of the one before, each with its NUL. */
static bool one_notice(struct session *s, sqlite3_stmt *row, struct buf *last,
                       void (*notice)(void *, const char *, const char *, uint64_t), void *data,
                       struct error *e)
{
    const char *kind = (const char *)sqlite3_column_text(row, 0);
    const char *what = (const char *)sqlite3_column_text(row, 1);
    int64_t count = sqlite3_column_int64(row, 2);
    if (!kind || !what || count < 0)
        return session_damaged(s, e, "a notice makes no sense");
    if (last->n) {
        int order = strcmp(kind, last->at);
        if (order < 0 || (order == 0 && strcmp(what, last->at + strlen(last->at) + 1) <= 0))
            return session_damaged(s, e, "its notices are out of order");
    }
    buf_clear(last);
    buf_add(last, kind, strlen(kind) + 1);
    buf_text(last, what);
    notice(data, kind, what, (uint64_t)count);
    return true;
}

bool session_notices(struct session *s,
                     void (*notice)(void *data, const char *kind, const char *what, uint64_t count),
                     void *data, struct error *e)
{
    sqlite3_stmt *row = prepare(s, "SELECT kind, what, count FROM notices ORDER BY kind, what", e);
    if (!row)
        return false;
    struct buf last = {0};
    bool ok = true;
    int code = SQLITE_DONE;
    while (ok && (code = sqlite3_step(row)) == SQLITE_ROW)
        ok = one_notice(s, row, &last, notice, data, e);
    if (ok && code != SQLITE_DONE)
        ok = session_sqlite_error(s, e);
    sqlite3_finalize(row);
    buf_free(&last);
    return ok;
}
