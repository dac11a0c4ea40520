/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/litmus.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/map.h"
#include "engine/nearest.h"
#include "engine/vec.h"

enum { MOST_WORDS = 8 };

/* What a program can say of a file: its states are held in memory, and shown in full. */
static const uint64_t most_bytes = UINT64_C(1) << 30;

/* A name that is there at this point of the program. */
struct name {
    uint32_t dir, file;
    char *text;
};

struct live {
    enum file_kind kind;
    uint64_t length;
};

struct litmus {
    const char *source_name; /* while parsing */
    unsigned line;
    vec_of(struct event) events;
    vec_of(char *) lines;
    vec_of(char *) strings;
    struct map string_ids;
    struct buf payloads; /* byte 0 is not used */
    vec_of(struct litmus_file) files;
    vec_of(struct name) names;
    vec_of(struct live) live; /* by file number */
    struct graph_source source;
};

/* A line cut into words. */
struct words {
    size_t n;
    char *at[MOST_WORDS];
};

static bool wrong(const struct litmus *l, struct error *e, const char *what, const char *word)
{
    return error_set(e, "%s:%u: %s%s%s", l->source_name, l->line, what, word ? ": " : "",
                     word ? word : "");
}

static uint32_t string_id(struct litmus *l, const char *text)
{
    bool added;
    uint64_t *id = map_put(&l->string_ids, text, strlen(text), &added);
    if (added) {
        vec_push(&l->strings, xstrdup(text));
        *id = l->strings.n;
    }
    return (uint32_t)*id;
}

/* ---- names ---- */

static struct name *find_name(struct litmus *l, uint32_t dir, const char *text, size_t n)
{
    for (size_t i = 0; i < l->names.n; i++) {
        struct name *at = &l->names.at[i];
        if (at->dir == dir && strlen(at->text) == n && memcmp(at->text, text, n) == 0)
            return at;
    }
    return NULL;
}

struct where {
    uint32_t dir, file; /* file 0: there is none */
    const char *last;   /* "" for the data directory itself */
};

static bool find(struct litmus *l, const char *path, struct where *out, struct error *e)
{
    *out = (struct where){FILE_ROOT, 0, path};
    if (strcmp(path, ".") == 0) {
        *out = (struct where){0, FILE_ROOT, ""};
        return true;
    }
    for (const char *slash; (slash = strchr(out->last, '/')); out->last = slash + 1) {
        struct name *dir = find_name(l, out->dir, out->last, (size_t)(slash - out->last));
        if (!dir || l->live.at[dir->file].kind != FILE_DIRECTORY)
            return wrong(l, e, "there is no such directory", path);
        out->dir = dir->file;
    }
    if (!*out->last)
        return wrong(l, e, "a name is missing", path);
    struct name *name = find_name(l, out->dir, out->last, strlen(out->last));
    out->file = name ? name->file : 0;
    return true;
}

static bool find_file(struct litmus *l, const char *path, struct where *out, struct error *e)
{
    return find(l, path, out, e) && (out->file || wrong(l, e, "there is no such file", path));
}

static uint32_t new_file(struct litmus *l, enum file_kind kind)
{
    vec_push(&l->live, (struct live){kind, 0});
    return (uint32_t)l->live.n - 1;
}

static void add_name(struct litmus *l, const struct where *w, uint32_t file)
{
    vec_push(&l->names, (struct name){w->dir, file, xstrdup(w->last)});
}

static void drop_name(struct litmus *l, const struct where *w)
{
    struct name *name = find_name(l, w->dir, w->last, strlen(w->last));
    if (!name)
        return;
    free(name->text);
    *name = vec_last(&l->names);
    l->names.n--;
}

/* ---- events ---- */

static struct event *add_event(struct litmus *l, enum call call, const char *path,
                               const struct where *w)
{
    struct event *event = vec_add(&l->events);
    *event = (struct event){.call = (uint16_t)call, .syscall = UINT16_MAX, .thread = 1, .fd = -1};
    event->entry = 4 * l->events.n - 2; /* even, as a session's are */
    event->exit = 4 * l->events.n;
    if (w) {
        event->file = w->file;
        event->path = string_id(l, path);
    }
    return event;
}

static void about_entry(struct litmus *l, struct event *event, const struct where *w)
{
    event->dir = w->dir;
    event->name = string_id(l, w->last);
}

static bool number(struct litmus *l, const char *word, uint64_t *out, struct error *e)
{
    char *end;
    *out = strtoull(word, &end, 0);
    if (!isdigit((unsigned char)*word) || *end)
        return wrong(l, e, "not a number", word);
    return *out <= most_bytes || wrong(l, e, "too large for a litmus program", word);
}

static bool fill(struct litmus *l, const char *word, char *out, struct error *e)
{
    if (strlen(word) != 3 || word[0] != '\'' || word[2] != '\'')
        return wrong(l, e, "a letter in quotes is wanted, like 'x', not", word);
    *out = word[1];
    return true;
}

static uint64_t add_payload(struct litmus *l, char byte, uint64_t size)
{
    uint64_t at = l->payloads.n;
    memset(buf_room(&l->payloads, size), byte, size);
    return at;
}

static bool write_to(struct litmus *l, const char *path, const struct where *w, uint64_t offset,
                     const char *size_word, const char *fill_word, const char *how, struct error *e)
{
    enum { MOST = 16 << 20 };
    uint64_t size;
    char byte = 0;
    if (!number(l, size_word, &size, e) || !fill(l, fill_word, &byte, e))
        return false;
    if (size > MOST)
        return wrong(l, e, "too large for a litmus program", size_word);
    struct event *event = add_event(l, CALL_WRITE, path, w);
    event->offset = offset;
    event->size = size;
    event->result = (int64_t)size;
    event->payload = add_payload(l, byte, size);
    if (how && strcmp(how, "dsync") == 0)
        event->traits |= EVENT_DSYNC;
    else if (how && strcmp(how, "sync") == 0)
        event->traits |= EVENT_SYNC;
    else if (how)
        return wrong(l, e, "dsync or sync may stand here, not", how);
    struct live *live = &l->live.at[w->file];
    if (size && offset + size > live->length)
        live->length = offset + size;
    return true;
}

/* ---- the calls ---- */

typedef bool handler(struct litmus *l, const struct words *w, struct error *e);

static bool do_file(struct litmus *l, const struct words *w, struct error *e)
{
    struct where at;
    struct litmus_file file = {.kind = FILE_REGULAR};
    bool dir = strcmp(w->at[0], "dir") == 0;
    if (l->events.n)
        return wrong(l, e, "what is there before the run comes before the calls", w->at[0]);
    if (w->n == 3)
        return wrong(l, e, "a length wants a letter after", w->at[2]);
    if (!find(l, w->at[1], &at, e))
        return false;
    if (at.file)
        return wrong(l, e, "it is there already", w->at[1]);
    if (!dir && w->n == 4 &&
        (!number(l, w->at[2], &file.length, e) || !fill(l, w->at[3], &file.fill, e)))
        return false;
    file.kind = dir ? FILE_DIRECTORY : FILE_REGULAR;
    file.file = new_file(l, file.kind);
    l->live.at[file.file].length = file.length;
    add_name(l, &at, file.file);
    file.dir = at.dir;
    uint32_t name = string_id(l, at.last);
    file.name = l->strings.at[name - 1];
    vec_push(&l->files, file);
    return true;
}

static bool do_create(struct litmus *l, const struct words *w, struct error *e)
{
    struct where at;
    if (!find(l, w->at[1], &at, e))
        return false;
    bool fresh = !at.file;
    if (fresh) {
        at.file = new_file(l, FILE_REGULAR);
        add_name(l, &at, at.file);
    }
    struct event *event = add_event(l, CALL_OPEN, w->at[1], &at);
    event->flags = O_CREAT | O_TRUNC | O_WRONLY;
    event->mode = 0644;
    about_entry(l, event, &at);
    if (fresh)
        event->traits |= EVENT_CREATED;
    else if (l->live.at[at.file].length)
        event->traits |= EVENT_TRUNCATED;
    l->live.at[at.file].length = 0;
    return true;
}

static bool do_mkdir(struct litmus *l, const struct words *w, struct error *e)
{
    struct where at;
    if (!find(l, w->at[1], &at, e))
        return false;
    if (at.file)
        return wrong(l, e, "it is there already", w->at[1]);
    at.file = new_file(l, FILE_DIRECTORY);
    add_name(l, &at, at.file);
    struct event *event = add_event(l, CALL_MKDIR, w->at[1], &at);
    event->mode = 0755;
    about_entry(l, event, &at);
    return true;
}

static bool do_symlink(struct litmus *l, const struct words *w, struct error *e)
{
    struct where at;
    if (!find(l, w->at[2], &at, e))
        return false;
    if (at.file)
        return wrong(l, e, "it is there already", w->at[2]);
    at.file = new_file(l, FILE_SYMLINK);
    add_name(l, &at, at.file);
    struct event *event = add_event(l, CALL_SYMLINK, w->at[2], &at);
    about_entry(l, event, &at);
    event->size = strlen(w->at[1]);
    event->payload = l->payloads.n;
    buf_text(&l->payloads, w->at[1]);
    return true;
}

static bool do_unlink(struct litmus *l, const struct words *w, struct error *e)
{
    struct where at;
    if (!find_file(l, w->at[1], &at, e))
        return false;
    bool dir = l->live.at[at.file].kind == FILE_DIRECTORY;
    if (dir != (strcmp(w->at[0], "rmdir") == 0))
        return wrong(l, e, dir ? "it is a directory" : "it is not a directory", w->at[1]);
    struct event *event = add_event(l, dir ? CALL_RMDIR : CALL_UNLINK, w->at[1], &at);
    about_entry(l, event, &at);
    drop_name(l, &at);
    return true;
}

static bool do_link(struct litmus *l, const struct words *w, struct error *e)
{
    struct where old, at;
    if (!find_file(l, w->at[1], &old, e) || !find(l, w->at[2], &at, e))
        return false;
    if (at.file)
        return wrong(l, e, "it is there already", w->at[2]);
    at.file = old.file;
    struct event *event = add_event(l, CALL_LINK, w->at[2], &at);
    about_entry(l, event, &at);
    add_name(l, &at, at.file);
    return true;
}

static bool do_rename(struct litmus *l, const struct words *w, struct error *e)
{
    struct where from, to;
    if (!find_file(l, w->at[1], &from, e) || !find(l, w->at[2], &to, e))
        return false;
    struct event *event = add_event(l, CALL_RENAME, w->at[1], &from);
    about_entry(l, event, &from);
    event->other = to.file;
    event->other_dir = to.dir;
    event->other_name = string_id(l, to.last);
    event->other_path = string_id(l, w->at[2]);
    if (from.file != to.file) {
        drop_name(l, &to);
        drop_name(l, &from);
        add_name(l, &to, from.file);
    }
    return true;
}

static bool do_pwrite(struct litmus *l, const struct words *w, struct error *e)
{
    struct where at;
    uint64_t offset;
    return find_file(l, w->at[1], &at, e) && number(l, w->at[2], &offset, e) &&
           write_to(l, w->at[1], &at, offset, w->at[3], w->at[4], w->n > 5 ? w->at[5] : NULL, e);
}

static bool do_append(struct litmus *l, const struct words *w, struct error *e)
{
    struct where at;
    return find_file(l, w->at[1], &at, e) &&
           write_to(l, w->at[1], &at, l->live.at[at.file].length, w->at[2], w->at[3],
                    w->n > 4 ? w->at[4] : NULL, e);
}

static bool do_truncate(struct litmus *l, const struct words *w, struct error *e)
{
    struct where at;
    uint64_t length;
    if (!find_file(l, w->at[1], &at, e) || !number(l, w->at[2], &length, e))
        return false;
    add_event(l, CALL_TRUNCATE, w->at[1], &at)->size = length;
    l->live.at[at.file].length = length;
    return true;
}

static bool do_fallocate(struct litmus *l, const struct words *w, struct error *e)
{
    struct where at;
    uint64_t offset, size;
    if (!find_file(l, w->at[1], &at, e) || !number(l, w->at[2], &offset, e) ||
        !number(l, w->at[3], &size, e))
        return false;
    const char *how = w->n > 4 ? w->at[4] : "";
    uint32_t flags = 0;
    if (strcmp(how, "keep") == 0)
        flags = FALLOC_FL_KEEP_SIZE;
    else if (strcmp(how, "punch") == 0)
        flags = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    else if (strcmp(how, "zero") == 0)
        flags = FALLOC_FL_ZERO_RANGE;
    else if (*how)
        return wrong(l, e, "keep, punch or zero may stand here, not", how);
    struct event *event = add_event(l, CALL_FALLOCATE, w->at[1], &at);
    event->offset = offset;
    event->size = size;
    event->flags = flags;
    struct live *live = &l->live.at[at.file];
    if (!(flags & FALLOC_FL_KEEP_SIZE) && offset + size > live->length)
        live->length = offset + size;
    return true;
}

static bool do_sync(struct litmus *l, const struct words *w, struct error *e)
{
    static const struct {
        const char *name;
        enum call call;
    } calls[] = {
        {"fsync", CALL_FSYNC}, {"fdatasync", CALL_FDATASYNC}, {"sync_file_range", CALL_SYNC_RANGE}};
    struct where at;
    if (strcmp(w->at[0], "sync") == 0) {
        add_event(l, CALL_SYNC, NULL, NULL);
        return true;
    }
    if (!find_file(l, w->at[1], &at, e))
        return false;
    uint64_t offset = 0, size = 0; /* size 0: to the end */
    if (w->n == 3)
        return wrong(l, e, "an offset wants a size after", w->at[2]);
    if (w->n > 3 && (!number(l, w->at[2], &offset, e) || !number(l, w->at[3], &size, e)))
        return false;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(w->at[0], calls[i].name) == 0) {
            struct event *event = add_event(l, calls[i].call, w->at[1], &at);
            event->offset = offset;
            event->size = size;
        }
    return true;
}

static bool do_print(struct litmus *l, const struct words *w, struct error *e)
{
    (void)e;
    struct event *event = add_event(l, CALL_PRINT, NULL, NULL);
    event->fd = 1;
    event->payload = l->payloads.n;
    buf_printf(&l->payloads, "%s\n", w->n > 1 ? w->at[1] : "");
    event->size = l->payloads.n - event->payload;
    return true;
}

static const struct {
    const char *name;
    size_t least, most; /* words, the name included */
    handler *run;
} calls[] = {
    {"file", 2, 4, do_file},           {"dir", 2, 2, do_file},
    {"create", 2, 2, do_create},       {"mkdir", 2, 2, do_mkdir},
    {"symlink", 3, 3, do_symlink},     {"unlink", 2, 2, do_unlink},
    {"rmdir", 2, 2, do_unlink},        {"link", 3, 3, do_link},
    {"rename", 3, 3, do_rename},       {"pwrite", 5, 6, do_pwrite},
    {"append", 4, 5, do_append},       {"truncate", 3, 3, do_truncate},
    {"fallocate", 4, 5, do_fallocate}, {"fsync", 2, 2, do_sync},
    {"fdatasync", 2, 2, do_sync},      {"sync_file_range", 2, 4, do_sync},
    {"sync", 1, 1, do_sync},           {"print", 1, 2, do_print},
};

enum { CALLS_KNOWN = sizeof calls / sizeof *calls };

static bool unknown_call(struct litmus *l, const char *word, struct error *e)
{
    struct nearest near = {.name = word};
    for (size_t i = 0; i < CALLS_KNOWN; i++)
        nearest_offer(&near, calls[i].name);
    if (!near.best)
        return wrong(l, e, "there is no such call", word);
    return error_set(e, "%s:%u: there is no call %s; is it %s?", l->source_name, l->line, word,
                     near.best);
}

static bool take_line(struct litmus *l, char *line, struct error *e)
{
    struct words w = {0};
    char *comment = strchr(line, '#'), *rest;
    if (comment)
        *comment = '\0';
    char *shown = xstrdup(line + strspn(line, " \t"));
    for (char *word = strtok_r(line, " \t\r", &rest); word && w.n < MOST_WORDS;
         word = strtok_r(NULL, " \t\r", &rest))
        w.at[w.n++] = word;
    size_t before = l->events.n;
    bool done = true;
    if (w.n) {
        size_t i = 0;
        while (i < CALLS_KNOWN && strcmp(calls[i].name, w.at[0]) != 0)
            i++;
        if (i == CALLS_KNOWN)
            done = unknown_call(l, w.at[0], e);
        else if (w.n < calls[i].least || w.n > calls[i].most)
            done = wrong(l, e, "wrong number of words after", w.at[0]);
        else
            done = calls[i].run(l, &w, e);
    }
    if (l->events.n > before) {
        shown[strcspn(shown, "\r")] = '\0';
        for (size_t n = strlen(shown); n && isspace((unsigned char)shown[n - 1]);)
            shown[--n] = '\0';
        vec_push(&l->lines, shown);
    } else
        free(shown);
    return done;
}

/* ---- as a source ---- */

static bool source_event(void *data, uint64_t n, struct event *out, struct error *e)
{
    (void)e;
    *out = ((struct litmus *)data)->events.at[n - 1];
    return true;
}

static const struct litmus_file *image_file(const struct litmus *l, uint32_t file)
{
    for (size_t i = 0; i < l->files.n; i++)
        if (l->files.at[i].file == file)
            return &l->files.at[i];
    return NULL;
}

static uint64_t source_length(void *data, uint32_t file)
{
    const struct litmus_file *at = image_file(data, file);
    return at ? at->length : 0;
}

static bool source_block(void *data, uint32_t file, uint64_t block)
{
    return block * OP_BLOCK_SIZE < source_length(data, file);
}

bool litmus_parse(struct litmus **out, const char *text, const char *name, struct error *e)
{
    struct litmus *l = xcalloc(1, sizeof *l);
    l->source_name = name;
    buf_char(&l->payloads, '\0');
    vec_push(&l->live, (struct live){0}); /* file 0 is none, */
    new_file(l, FILE_DIRECTORY);          /* 1 the data directory */
    char *copy = xstrdup(text), *rest = copy, *line;
    bool done = true;
    while (done && (line = strsep(&rest, "\n"))) {
        l->line++;
        done = take_line(l, line, e);
    }
    free(copy);
    if (!done) {
        litmus_free(l);
        return false;
    }
    l->source = (struct graph_source){.data = l,
                                      .events = l->events.n,
                                      .event = source_event,
                                      .length = source_length,
                                      .has_block = source_block};
    *out = l;
    return true;
}

void litmus_free(struct litmus *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->lines.n; i++)
        free(l->lines.at[i]);
    for (size_t i = 0; i < l->strings.n; i++)
        free(l->strings.at[i]);
    for (size_t i = 0; i < l->names.n; i++)
        free(l->names.at[i].text);
    vec_free(&l->lines);
    vec_free(&l->strings);
    vec_free(&l->names);
    vec_free(&l->events);
    vec_free(&l->files);
    vec_free(&l->live);
    map_free(&l->string_ids);
    buf_free(&l->payloads);
    free(l);
}

size_t litmus_events(const struct litmus *l)
{
    return l->events.n;
}

const struct event *litmus_event(const struct litmus *l, uint64_t n)
{
    return &l->events.at[n - 1];
}

const char *litmus_line(const struct litmus *l, uint64_t n)
{
    return l->lines.at[n - 1];
}

const char *litmus_string(const struct litmus *l, uint32_t id)
{
    return id ? l->strings.at[id - 1] : "";
}

void litmus_payload(const struct litmus *l, uint64_t payload, uint64_t from, void *out, size_t size)
{
    memcpy(out, l->payloads.at + payload + from, size);
}

size_t litmus_files(const struct litmus *l, const struct litmus_file **out)
{
    *out = l->files.at;
    return l->files.n;
}

const struct graph_source *litmus_source(const struct litmus *l)
{
    return &l->source;
}
