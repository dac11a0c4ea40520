/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The session's table of fields: four arrays, each cut into packed pieces. A session may come from
 * anybody: what is read is checked, so that every number leads somewhere.
 */
#include "engine/fields_inside.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "engine/session_block.h"
#include "engine/session_schema.h"
#include "engine/types.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS fields ( -- what stores wrote, and how types are laid out\n"
    "  part TEXT NOT NULL, -- stores, types, leaves, texts: the arrays of engine/fields_inside.h\n"
    "  piece INTEGER NOT NULL, -- from 0; each but the last unpacks to 262144 bytes\n"
    "  size INTEGER NOT NULL,\n"
    "  bytes BLOB NOT NULL, -- zstd\n"
    "  PRIMARY KEY (part, piece)\n"
    ") WITHOUT ROWID;";

static bool run(struct session *s, const char *sql, struct error *e)
{
    return sqlite3_exec(session_db(s), sql, NULL, NULL, NULL) == SQLITE_OK ||
           error_set(e, "%s: %s", session_path(s), sqlite3_errmsg(session_db(s)));
}

/* ---- keeping ---- */

static bool keep_piece(sqlite3_stmt *insert, const char *part, size_t piece, size_t size,
                       const struct buf *block)
{
    sqlite3_reset(insert);
    return sqlite3_bind_text(insert, 1, part, -1, SQLITE_STATIC) == SQLITE_OK &&
           sqlite3_bind_int64(insert, 2, (sqlite3_int64)piece) == SQLITE_OK &&
           sqlite3_bind_int64(insert, 3, (sqlite3_int64)size) == SQLITE_OK &&
           sqlite3_bind_blob64(insert, 4, block->at, block->n, SQLITE_STATIC) == SQLITE_OK &&
           sqlite3_step(insert) == SQLITE_DONE;
}

/* An array without elements still has a piece: the session was looked at. */
static bool keep_part(sqlite3_stmt *insert, struct packer *packer, const char *part,
                      const void *bytes, size_t size)
{
    struct buf block = {0};
    bool done = true;
    for (size_t at = 0, piece = 0; done && (at < size || !piece); at += PACK_SIZE, piece++) {
        size_t n = size - at < PACK_SIZE ? size - at : PACK_SIZE;
        done = packer_bytes(packer, n ? (const char *)bytes + at : "", n, &block) &&
               keep_piece(insert, part, piece, n, &block);
    }
    buf_free(&block);
    return done;
}

bool fields_keep(const struct fields *f, struct session *s, struct error *e)
{
    if (!run(s, schema, e) || !run(s, "BEGIN IMMEDIATE; DELETE FROM fields", e))
        return false;
    sqlite3_stmt *insert = NULL;
    struct packer *packer = packer_new();
    bool done =
        sqlite3_prepare_v2(session_db(s), "INSERT INTO fields VALUES (?, ?, ?, ?)", -1, &insert,
                           NULL) == SQLITE_OK &&
        keep_part(insert, packer, "stores", f->stores.at, f->stores.n * sizeof *f->stores.at) &&
        keep_part(insert, packer, "types", f->types.at, f->types.n * sizeof *f->types.at) &&
        keep_part(insert, packer, "leaves", f->leaves.at, f->leaves.n * sizeof *f->leaves.at) &&
        keep_part(insert, packer, "texts", f->texts.at, f->texts.n);
    if (!done)
        error_set(e, "%s: %s", session_path(s), sqlite3_errmsg(session_db(s)));
    sqlite3_finalize(insert);
    packer_free(packer);
    return run(s, done ? "COMMIT" : "ROLLBACK", done ? e : NULL) && done;
}

/* ---- loading ---- */

static bool load_part(sqlite3_stmt *select, struct unpacker *unpacker, const char *part,
                      struct buf *out)
{
    int row;
    bool whole = true, any = false;
    sqlite3_reset(select);
    sqlite3_bind_text(select, 1, part, -1, SQLITE_STATIC);
    while (whole && (row = sqlite3_step(select)) == SQLITE_ROW) {
        sqlite3_int64 size = sqlite3_column_int64(select, 0);
        whole = size >= 0 && size <= PACK_SIZE;
        if (whole && size)
            whole = unpacker_bytes(unpacker, sqlite3_column_blob(select, 1),
                                   (size_t)sqlite3_column_bytes(select, 1),
                                   buf_room(out, (size_t)size), (size_t)size);
        any = true;
    }
    return whole && any;
}

/* Turns bytes into the elements of an array. */
#define TAKE(v, bytes)                                                                             \
    ((bytes)->n % sizeof *(v)->at == 0 &&                                                          \
     ((v)->at = (void *)(bytes)->at, (v)->n = (v)->cap = (bytes)->n / sizeof *(v)->at,             \
      *(bytes) = (struct buf){0}, true))

static bool find_texts(struct fields *f)
{
    if (f->texts.n && f->texts.at[f->texts.n - 1])
        return false;
    for (size_t at = 0; at < f->texts.n; at += strlen(f->texts.at + at) + 1)
        vec_push(&f->text_at, at);
    return true;
}

static bool makes_sense(const struct fields *f)
{
    for (size_t i = 0; i < f->types.n; i++)
        if (f->types.at[i].first > f->leaves.n ||
            f->types.at[i].count > f->leaves.n - f->types.at[i].first)
            return false;
    for (size_t i = 0; i < f->leaves.n; i++) {
        const struct field_leaf *leaf = &f->leaves.at[i];
        if (leaf->kind > TYPE_OTHER || leaf->bits > 64 || leaf->bit >= 64 ||
            leaf->offset > TYPE_SIZE_MAX || leaf->size > TYPE_SIZE_MAX)
            return false;
    }
    for (size_t i = 0; i < f->stores.n; i++) {
        const struct stored_field *store = &f->stores.at[i];
        if ((i && store->event <= store[-1].event) || store->type > f->types.n ||
            store->outer > f->types.n || store->confidence > TYPE_EXACT)
            return false;
    }
    return true;
}

enum fields_loaded fields_load(struct fields *f, struct session *s, struct error *e)
{
    sqlite3_stmt *select;
    if (sqlite3_prepare_v2(session_db(s),
                           "SELECT size, bytes FROM fields WHERE part = ? ORDER BY piece", -1,
                           &select, NULL) != SQLITE_OK)
        return FIELDS_ABSENT;
    struct unpacker *unpacker = unpacker_new();
    struct buf stores = {0}, types = {0}, leaves = {0};
    bool whole = load_part(select, unpacker, "stores", &stores) &&
                 load_part(select, unpacker, "types", &types) &&
                 load_part(select, unpacker, "leaves", &leaves) &&
                 load_part(select, unpacker, "texts", &f->texts) && TAKE(&f->stores, &stores) &&
                 TAKE(&f->types, &types) && TAKE(&f->leaves, &leaves) && find_texts(f) &&
                 makes_sense(f);
    if (!whole)
        error_set(e, "%s: what it says of fields is damaged", session_path(s));
    buf_free(&stores);
    buf_free(&types);
    buf_free(&leaves);
    unpacker_free(unpacker);
    sqlite3_finalize(select);
    return whole ? FIELDS_LOADED : FIELDS_DAMAGED;
}
