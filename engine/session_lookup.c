/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The part of engine/session.h that looks small things up by number or key: each is read once and
 * kept until the session is closed.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/session_inside.h"
#include "engine/session_keep.h"

/* Makes an object from the row that the query stands on; NULL when the row makes no sense. */
typedef void *make_object(struct session *s, sqlite3_stmt *row);

static void *look_up(struct session *s, struct map *kept, enum query query, uint32_t id,
                     make_object *make)
{
    if (id == 0)
        return NULL;
    const uint64_t *known = map_get(kept, &id, sizeof id);
    if (known)
        return (void *)(uintptr_t)*known;
    sqlite3_stmt *statement = s->queries[query];
    sqlite3_bind_int64(statement, 1, id);
    void *object = sqlite3_step(statement) == SQLITE_ROW ? make(s, statement) : NULL;
    sqlite3_reset(statement);
    if (object)
        *map_put(kept, &id, sizeof id, NULL) = (uintptr_t)object;
    return object;
}

static char *column_string(sqlite3_stmt *row, int column)
{
    const unsigned char *text = sqlite3_column_text(row, column);
    size_t size = (size_t)sqlite3_column_bytes(row, column);
    char *copy = xmalloc(size + 1);
    if (text && size)
        memcpy(copy, text, size);
    copy[text ? size : 0] = '\0';
    return copy;
}

const char *session_meta(struct session *s, const char *key)
{
    const uint64_t *known = map_get(&s->meta, key, strlen(key));
    if (known)
        return (const char *)(uintptr_t)*known;
    sqlite3_stmt *statement = s->queries[QUERY_META];
    sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    char *value = sqlite3_step(statement) == SQLITE_ROW ? column_string(statement, 0) : NULL;
    sqlite3_reset(statement);
    if (value) {
        *map_put(&s->meta, key, strlen(key), NULL) = (uintptr_t)value;
        vec_push(&s->facts, value);
    }
    return value;
}

void session_read_meta_again(struct session *s)
{
    map_free(&s->meta);
}

bool session_has_stores(struct session *s)
{
    const char *backend = session_meta(s, "backend");
    return backend && strcmp(backend, "ptrace") != 0;
}

bool session_set_meta(struct session *s, const char *key, const char *value, struct error *e)
{
    sqlite3_stmt *statement = NULL;
    bool done = sqlite3_prepare_v2(s->db, "REPLACE INTO meta VALUES (?, ?)", -1, &statement,
                                   NULL) == SQLITE_OK &&
                sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC) == SQLITE_OK &&
                sqlite3_bind_text(statement, 2, value, -1, SQLITE_STATIC) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_DONE;
    if (!done)
        session_not_kept(s, e);
    sqlite3_finalize(statement);
    session_read_meta_again(s);
    return done;
}

static void *make_string(struct session *s, sqlite3_stmt *row)
{
    (void)s;
    return column_string(row, 0);
}

const char *session_string(struct session *s, uint32_t id)
{
    const char *text = look_up(s, &s->strings, QUERY_STRING, id, make_string);
    return text ? text : "";
}

struct kept_stack {
    size_t n;
    struct frame frames[];
};

static void *make_stack(struct session *s, sqlite3_stmt *row)
{
    const void *bytes = sqlite3_column_blob(row, 0);
    size_t size = (size_t)sqlite3_column_bytes(row, 0);
    struct kept_stack *stack = xmalloc(sizeof *stack + size);
    stack->n = bytes && size % sizeof(struct frame) == 0 ? size / sizeof(struct frame) : 0;
    if (stack->n)
        memcpy(stack->frames, bytes, size);
    for (size_t i = 0; i < stack->n; i++)
        if (stack->frames[i].module > s->limits.modules)
            stack->n = 0;
    return stack;
}

size_t session_stack(struct session *s, uint32_t id, const struct frame **frames)
{
    const struct kept_stack *stack = look_up(s, &s->stacks, QUERY_STACK, id, make_stack);
    *frames = stack ? stack->frames : NULL;
    return stack ? stack->n : 0;
}

struct kept_module {
    struct module_info info;
    char text[]; /* the path, then the build id */
};

static void *make_module(struct session *s, sqlite3_stmt *row)
{
    (void)s;
    char *path = column_string(row, 0), *build_id = column_string(row, 1);
    size_t path_size = strlen(path) + 1, build_id_size = strlen(build_id) + 1;
    struct kept_module *m = xmalloc(sizeof *m + path_size + build_id_size);
    m->info.path = memcpy(m->text, path, path_size);
    m->info.build_id = memcpy(m->text + path_size, build_id, build_id_size);
    free(path);
    free(build_id);
    return m;
}

bool session_module(struct session *s, uint32_t id, struct module_info *out)
{
    const struct kept_module *m = look_up(s, &s->modules, QUERY_MODULE, id, make_module);
    if (m)
        *out = m->info;
    return m;
}

struct kept_file {
    struct file_info info;
    char path[];
};

static void *make_file(struct session *s, sqlite3_stmt *row)
{
    (void)s;
    int64_t kind = sqlite3_column_int64(row, 0);
    if (kind < FILE_REGULAR || kind > FILE_OTHER)
        return NULL;
    char *path = column_string(row, 1);
    size_t size = strlen(path) + 1;
    struct kept_file *f = xmalloc(sizeof *f + size);
    f->info.kind = (enum file_kind)kind;
    f->info.path = memcpy(f->path, path, size);
    free(path);
    return f;
}

bool session_file(struct session *s, uint32_t id, struct file_info *out)
{
    const struct kept_file *f = look_up(s, &s->files, QUERY_FILE, id, make_file);
    if (f)
        *out = f->info;
    return f;
}

static void *make_thread(struct session *s, sqlite3_stmt *row)
{
    (void)s;
    struct thread_info *t = xmalloc(sizeof *t);
    *t = (struct thread_info){
        .process = (uint32_t)sqlite3_column_int64(row, 0),
        .parent = (uint32_t)sqlite3_column_int64(row, 1),
        .tid = sqlite3_column_int(row, 2),
        .pid = sqlite3_column_int(row, 3),
    };
    return t;
}

bool session_thread(struct session *s, uint32_t id, struct thread_info *out)
{
    const struct thread_info *t = look_up(s, &s->threads, QUERY_THREAD, id, make_thread);
    if (t)
        *out = *t;
    return t;
}

struct kept_source {
    struct source_info info;
    char text[]; /* the text, then where it was found */
};

static struct kept_source *make_source(sqlite3_stmt *row)
{
    const void *absolute = sqlite3_column_text(row, 0), *text = sqlite3_column_blob(row, 1);
    size_t size = text ? (size_t)sqlite3_column_bytes(row, 1) : 0;
    size_t path_size = absolute ? (size_t)sqlite3_column_bytes(row, 0) + 1 : 0;
    struct kept_source *k = xmalloc(sizeof *k + size + path_size + 1);
    k->info = (struct source_info){.text = k->text, .size = size};
    if (size)
        memcpy(k->text, text, size);
    if (absolute)
        k->info.absolute = memcpy(k->text + size, absolute, path_size);
    return k;
}

bool session_source(struct session *s, const char *path, struct source_info *out)
{
    const uint64_t *known = map_get(&s->sources, path, strlen(path));
    const struct kept_source *kept = known ? (void *)(uintptr_t)*known : NULL;
    if (!kept) {
        sqlite3_stmt *statement = s->queries[QUERY_SOURCE];
        sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) == SQLITE_ROW) {
            kept = make_source(statement);
            *map_put(&s->sources, path, strlen(path), NULL) = (uintptr_t)kept;
        }
        sqlite3_reset(statement);
    }
    if (kept)
        *out = kept->info;
    return kept;
}
