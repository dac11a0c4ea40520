/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/symbols.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/binary.h"
#include "engine/buf.h"
#include "engine/log.h"
#include "engine/map.h"
#include "engine/mem.h"
#include "engine/source.h"
#include "engine/vec.h"

/* A session may come from anybody: more inlined functions than this at one address are damage. */
enum { DEPTH_MAX = 256 };

/* The C library's part of every program, whatever module it is in. */
#define PROGRAM_ENTRY "_start"

/* The answer for one address: the locations, innermost first. */
struct answer {
    uint32_t module;
    uint64_t address; /* the one that was looked up */
    size_t n;
    struct location at[];
};

struct module {
    char *path; /* "" when the session does not know the module */
    char *build_id;
    bool tried;
    struct binary *binary; /* NULL until tried, and when it cannot be used */
    char *problem;         /* why not; NULL when there is none */
};

struct symbols {
    struct session *session;
    time_t recorded;    /* when the recording ended; 0 when unknown */
    struct map strings; /* text to its char *, which live as long as this does */
    vec_of(char *) owned;
    struct map module_numbers; /* id to place in modules + 1 */
    vec_of(struct module) modules;
    struct map answer_numbers; /* (module, address) to struct answer * */
    vec_of(struct answer *) answers;
    vec_of(struct answer *) unsaved; /* those that the session's table does not have */
    bool any_stack, any_source;      /* among the stacks asked for */
    struct map stacks;               /* id to const struct location *, 0 for an empty stack */
    sqlite3_stmt *find;              /* NULL when the session has no table */
};

/* --- Opening and closing ------------------------------------------------------------------- */

static time_t end_of_recording(struct session *s)
{
    const char *started = session_meta(s, "started"), *seconds = session_meta(s, "seconds");
    struct tm tm = {0};

    if (!started || !strptime(started, "%Y-%m-%dT%H:%M:%S", &tm))
        return 0;
    double duration = seconds ? strtod(seconds, NULL) : 0;
    if (!(duration >= 0 && duration < INT32_MAX))
        duration = 0;
    return timegm(&tm) + (time_t)duration + 1;
}

struct symbols *symbols_open(struct session *s)
{
    struct symbols *sy = xcalloc(1, sizeof *sy);

    sy->session = s;
    sy->recorded = end_of_recording(s);
    if (sqlite3_prepare_v2(session_db(s),
                           "SELECT function, file, line FROM symbols"
                           " WHERE module = ? AND address = ? ORDER BY depth",
                           -1, &sy->find, NULL) != SQLITE_OK)
        log_info(SYMBOLS, "no table of symbols: %s", sqlite3_errmsg(session_db(s)));
    return sy;
}

static bool save(struct symbols *sy, struct error *e);

void symbols_close(struct symbols *sy)
{
    struct error e;

    if (!sy)
        return;
    if (!save(sy, &e)) /* only a cache: a session on a read-only disk is no failure */
        log_info(SYMBOLS, "not kept: %s", e.text);
    sqlite3_finalize(sy->find);
    for (size_t i = 0; i < sy->modules.n; i++) {
        binary_close(sy->modules.at[i].binary);
        free(sy->modules.at[i].path);
        free(sy->modules.at[i].build_id);
        free(sy->modules.at[i].problem);
    }
    for (size_t i = 0; i < sy->answers.n; i++)
        free(sy->answers.at[i]);
    for (size_t i = 0; i < sy->owned.n; i++)
        free(sy->owned.at[i]);
    vec_free(&sy->modules);
    vec_free(&sy->answers);
    vec_free(&sy->unsaved);
    vec_free(&sy->owned);
    map_free(&sy->strings);
    map_free(&sy->module_numbers);
    map_free(&sy->answer_numbers);
    map_free(&sy->stacks);
    free(sy);
}

/* --- Pieces of an answer ------------------------------------------------------------------- */

static const char *intern(struct symbols *sy, const char *text)
{
    bool added;
    uint64_t *value = map_put(&sy->strings, text, strlen(text), &added);

    if (added) {
        char *copy = xstrdup(text);
        vec_push(&sy->owned, copy);
        *value = (uint64_t)(uintptr_t)copy;
    }
    return (const char *)(uintptr_t)*value;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Code that nobody debugs with us, though its debug info may be installed: a write() is shown
 * where the program called it, not inside the C library. */
static bool is_system_module(const char *path)
{
    static const char *const names[] = {
        "libc.so", "libc-2.",   "libpthread", "ld-linux", "ld-musl", "libm.so",     "librt.so",
        "libdl.",  "libstdc++", "libc++",     "libgcc_s", "[vdso]",  "linux-vdso.",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (has_prefix(base_name(path), names[i]))
            return true;
    }
    return false;
}

static bool is_system_file(const char *file)
{
    return has_prefix(file, "/usr/include/") || has_prefix(file, "/usr/lib/");
}

static struct module *module_of(struct symbols *sy, uint32_t id)
{
    bool added;
    uint64_t *number = map_put(&sy->module_numbers, &id, sizeof id, &added);

    if (added) {
        struct module_info info;
        bool known = id && session_module(sy->session, id, &info);
        vec_push(&sy->modules, (struct module){
                                   .path = xstrdup(known ? info.path : ""),
                                   .build_id = xstrdup(known ? info.build_id : ""),
                                   .tried = !known, /* code of no file: nothing to open */
                               });
        *number = sy->modules.n - 1;
    }
    return &sy->modules.at[*number];
}

static struct binary *binary_of(struct symbols *sy, struct module *m)
{
    struct error why;

    if (!m->tried) {
        m->tried = true;
        enum binary_detail detail = is_system_module(m->path) ? BINARY_NAMES : BINARY_LINES;
        m->binary = binary_open(m->path, m->build_id, sy->recorded, detail, &why);
        if (!m->binary && m->path[0] == '/')
            m->problem = xstrdup(why.text);
        if (!m->binary)
            log_info(SYMBOLS, "%s: %s", m->path, why.text);
    }
    return m->binary;
}

struct binary *symbols_binary(void *data, uint32_t module)
{
    struct symbols *sy = data;

    return binary_of(sy, module_of(sy, module));
}

typedef vec_of(struct location) locations;

/* Appends a location. function NULL stands for "not known", file NULL likewise. */
static void add_location(struct symbols *sy, locations *out, const struct module *m,
                         uint64_t address, const struct binary_site *site)
{
    struct location l = {.file = "", .line = site->line};

    if (site->function && site->function[0]) {
        l.function = intern(sy, site->function);
    } else {
        char *name = xasprintf("%s%s0x%llx", base_name(m->path), m->path[0] ? "+" : "",
                               (unsigned long long)address);
        l.function = intern(sy, name);
        l.flags |= LOCATION_UNKNOWN;
        free(name);
    }
    if (site->file && site->file[0])
        l.file = intern(sy, site->file);
    if (l.file[0] && l.line)
        l.flags |= LOCATION_LINE;
    if (!m->path[0] || is_system_module(m->path) || is_system_file(l.file) ||
        strcmp(l.function, PROGRAM_ENTRY) == 0)
        l.flags |= LOCATION_SYSTEM;
    vec_push(out, l);
}

/* --- Finding answers ----------------------------------------------------------------------- */

struct finding {
    struct symbols *sy;
    const struct module *module;
    uint64_t address;
    locations found;
};

static void found_site(void *data, const struct binary_site *site)
{
    struct finding *f = data;

    if (f->found.n < DEPTH_MAX)
        add_location(f->sy, &f->found, f->module, f->address, site);
}

static void find_in_session(struct finding *f, uint32_t module)
{
    sqlite3_stmt *q = f->sy->find;

    if (!q)
        return;
    sqlite3_bind_int64(q, 1, module);
    sqlite3_bind_int64(q, 2, (sqlite3_int64)f->address);
    while (sqlite3_step(q) == SQLITE_ROW) {
        sqlite3_int64 line = sqlite3_column_int64(q, 2);
        struct binary_site site = {
            .function = (const char *)sqlite3_column_text(q, 0),
            .file = (const char *)sqlite3_column_text(q, 1),
            .line = line > 0 && line <= INT32_MAX ? (uint32_t)line : 0,
        };
        found_site(f, &site);
    }
    sqlite3_reset(q);
}

static const struct answer *find(struct symbols *sy, uint32_t module, uint64_t address)
{
    struct module *m = module_of(sy, module);
    struct finding f = {.sy = sy, .module = m, .address = address};
    bool save_it = false;

    find_in_session(&f, module);
    if (f.found.n == 0) {
        struct binary *b = binary_of(sy, m);
        if (b)
            binary_sites(b, address, found_site, &f);
        /* "Nothing is known" is kept only when the right binary said so. */
        save_it = b != NULL;
    }
    if (f.found.n == 0)
        found_site(&f, &(struct binary_site){0});
    for (size_t i = 0; i + 1 < f.found.n; i++)
        f.found.at[i].flags |= LOCATION_INLINED;

    struct answer *a = xmalloc(sizeof *a + f.found.n * sizeof *f.found.at);
    *a = (struct answer){.module = module, .address = address, .n = f.found.n};
    memcpy(a->at, f.found.at, f.found.n * sizeof *f.found.at);
    vec_free(&f.found);
    vec_push(&sy->answers, a);
    if (save_it)
        vec_push(&sy->unsaved, a);
    return a;
}

size_t symbols_frame(struct symbols *sy, const struct frame *frame, const struct location **out)
{
    /* A return address may be the first of another line or function: look at the call itself. */
    bool exact = (frame->flags & FRAME_EXACT) || frame->address == 0;
    struct {
        uint64_t module, address;
    } key = {frame->module, frame->address - !exact};
    uint64_t *known = map_get(&sy->answer_numbers, &key, sizeof key);
    const struct answer *a;

    if (known) {
        a = (const struct answer *)(uintptr_t)*known;
    } else {
        a = find(sy, frame->module, key.address);
        *map_put(&sy->answer_numbers, &key, sizeof key, NULL) = (uint64_t)(uintptr_t)a;
    }
    *out = a->at;
    return a->n;
}

/* How well a location can stand for its stack; the innermost of the best wins. */
static int merit(const struct location *l)
{
    if (location_has_source(l))
        return 3;
    if (l->flags & LOCATION_SYSTEM)
        return 0;
    return l->flags & LOCATION_UNKNOWN ? 1 : 2;
}

static const struct location *choose(struct symbols *sy, uint32_t stack)
{
    const struct frame *frames;
    const struct location *best = NULL;
    size_t n = session_stack(sy->session, stack, &frames);

    for (size_t i = 0; i < n; i++) {
        const struct location *at;
        size_t m = symbols_frame(sy, &frames[i], &at);
        for (size_t k = 0; k < m; k++) {
            if (!best || merit(&at[k]) > merit(best))
                best = &at[k];
            if (location_has_source(best))
                return best;
        }
    }
    return best;
}

const struct location *symbols_stack(struct symbols *sy, uint32_t stack)
{
    bool added;
    uint64_t *known = map_put(&sy->stacks, &stack, sizeof stack, &added);

    if (added) {
        const struct location *l = choose(sy, stack);
        *known = (uint64_t)(uintptr_t)l;
        sy->any_stack |= l != NULL;
        sy->any_source |= l && location_has_source(l);
    }
    return (const struct location *)(uintptr_t)*known;
}

bool symbols_sourceless(const struct symbols *sy)
{
    for (size_t i = 0; i < sy->modules.n; i++) {
        if (sy->modules.at[i].problem) /* -g would not have helped */
            return false;
    }
    return sy->any_stack && !sy->any_source;
}

void symbols_problems(const struct symbols *sy,
                      void (*visit)(void *data, const char *path, const char *why), void *data)
{
    for (size_t i = 0; i < sy->modules.n; i++) {
        if (sy->modules.at[i].problem)
            visit(data, sy->modules.at[i].path, sy->modules.at[i].problem);
    }
}

/* --- Keeping answers ----------------------------------------------------------------------- */

static bool insert(sqlite3_stmt *q, const struct answer *a)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct location *l = &a->at[i];
        sqlite3_bind_int64(q, 1, a->module);
        sqlite3_bind_int64(q, 2, (sqlite3_int64)a->address);
        sqlite3_bind_int64(q, 3, (sqlite3_int64)i);
        if (l->flags & LOCATION_UNKNOWN)
            sqlite3_bind_null(q, 4);
        else
            sqlite3_bind_text(q, 4, l->function, -1, SQLITE_STATIC);
        if (l->file[0])
            sqlite3_bind_text(q, 5, l->file, -1, SQLITE_STATIC);
        else
            sqlite3_bind_null(q, 5);
        sqlite3_bind_int64(q, 6, l->line);
        if (sqlite3_step(q) != SQLITE_DONE)
            return false;
        sqlite3_reset(q);
    }
    return true;
}

static bool save(struct symbols *sy, struct error *e)
{
    sqlite3 *db = session_db(sy->session);
    sqlite3_stmt *q = NULL;

    if (sy->unsaved.n == 0 || sqlite3_db_readonly(db, "main") == 1)
        return true;
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return error_set(e, "symbols: %s", sqlite3_errmsg(db));
    bool ok = sqlite3_prepare_v2(db,
                                 "INSERT OR REPLACE INTO symbols"
                                 " (module, address, depth, function, file, line)"
                                 " VALUES (?, ?, ?, ?, ?, ?)",
                                 -1, &q, NULL) == SQLITE_OK;
    for (size_t i = 0; ok && i < sy->unsaved.n; i++)
        ok = insert(q, sy->unsaved.at[i]);
    if (!ok)
        error_set(e, "symbols: %s", sqlite3_errmsg(db));
    sqlite3_finalize(q);
    if (ok && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        ok = error_set(e, "symbols: %s", sqlite3_errmsg(db));
    if (!ok)
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    else
        sy->unsaved.n = 0;
    return ok;
}

bool symbols_resolve_all(struct symbols *sy, struct error *e)
{
    sqlite3 *db = session_db(sy->session);
    sqlite3_stmt *q;

    if (sqlite3_prepare_v2(db, "SELECT id FROM stacks", -1, &q, NULL) != SQLITE_OK)
        return error_set(e, "%s: cannot read the stacks: %s", session_path(sy->session),
                         sqlite3_errmsg(db));
    while (sqlite3_step(q) == SQLITE_ROW) {
        sqlite3_int64 id = sqlite3_column_int64(q, 0);
        const struct frame *frames;
        size_t n =
            id > 0 && id <= UINT32_MAX ? session_stack(sy->session, (uint32_t)id, &frames) : 0;
        for (size_t i = 0; i < n; i++) {
            const struct location *at;
            symbols_frame(sy, &frames[i], &at);
        }
    }
    if (sqlite3_finalize(q) != SQLITE_OK)
        return error_set(e, "%s: cannot read the stacks: %s", session_path(sy->session),
                         sqlite3_errmsg(db));
    return save(sy, e);
}

/* --- After a recording --------------------------------------------------------------------- */

/* Keeps the text of each file that a location names, once. */
static bool capture_sources(struct symbols *sy, struct error *e)
{
    struct map seen = {0};
    vec_of(const char *) files = {0};

    for (size_t i = 0; i < sy->answers.n; i++) {
        for (size_t k = 0; k < sy->answers.at[i]->n; k++) {
            const struct location *l = &sy->answers.at[i]->at[k];
            bool added = false;
            if (l->flags & LOCATION_LINE)
                map_put(&seen, l->file, strlen(l->file), &added);
            if (added)
                vec_push(&files, l->file);
        }
    }
    bool ok = source_capture(sy->session, files.at, files.n, e);
    vec_free(&files);
    map_free(&seen);
    return ok;
}

bool symbols_capture(const char *path, struct error *e)
{
    struct session *s;

    if (!session_open(&s, path, e))
        return false;
    struct symbols *sy = symbols_open(s);
    bool ok = symbols_resolve_all(sy, e) && capture_sources(sy, e);
    symbols_close(sy);
    session_close(s);
    return ok;
}
