/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * state_naive: what engine/state.h promises, done in the plainest way: whole files in memory, a
 * table of entries, every state from the beginning. And the text of what can be seen of a state,
 * the same for both. Include after state_program.h.
 */
#ifndef TESTS_UNIT_STATE_NAIVE_H
#define TESTS_UNIT_STATE_NAIVE_H

#include <stdlib.h>
#include <xxhash.h>

#include "tests/unit/state_program.h"

enum { NAIVE_FILES = PROGRAM_FILES_MAX * 3 };

struct naive_file {
    bool exists;
    enum file_kind kind;
    uint32_t mode;
    uint64_t size, born;
    struct buf bytes; /* what is not there is zeros */
    char target[8];
};

struct naive {
    struct program *program;
    struct naive_file files[NAIVE_FILES];
    uint32_t entries[NAIVE_FILES][PROGRAM_NAMES + 1];
    bool *applied;
};

/* Contents */

static void naive_reach(struct naive_file *f, uint64_t end)
{
    if (f->bytes.n < end) {
        size_t more = end - f->bytes.n;
        memset(buf_room(&f->bytes, more), 0, more);
    }
}

static void naive_write(struct naive *n, struct naive_file *f, uint64_t offset, uint64_t length,
                        uint64_t payload)
{
    naive_reach(f, offset + length);
    program_payload(n->program, payload, 0, f->bytes.at + offset, length, NULL);
}

static void naive_resize(struct naive_file *f, uint64_t size)
{
    if (f->bytes.n > size)
        f->bytes.n = size;
    f->size = size;
}

static void naive_extend(struct naive_file *f, uint64_t size)
{
    if (size > f->size)
        f->size = size;
}

static void naive_shift(struct naive_file *f, const struct event *v)
{
    uint64_t offset = v->offset, end = offset + v->size;
    naive_reach(f, end);
    if (v->flags & FALLOC_FL_COLLAPSE_RANGE) {
        memmove(f->bytes.at + offset, f->bytes.at + end, f->bytes.n - end);
        f->bytes.n -= v->size;
        f->size = f->size >= end ? f->size - v->size : f->size > offset ? offset : f->size;
        return;
    }
    size_t behind = f->bytes.n - offset;
    buf_room(&f->bytes, v->size);
    memmove(f->bytes.at + end, f->bytes.at + offset, behind);
    memset(f->bytes.at + offset, 0, v->size);
    if (offset < f->size)
        f->size += v->size;
}

static void naive_range(struct naive *n, struct naive_file *f, const struct event *v)
{
    if (v->flags & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) {
        naive_shift(f, v);
        return;
    }
    naive_write(n, f, v->offset, v->size, PAYLOAD_ZEROS);
    if (!(v->flags & FALLOC_FL_KEEP_SIZE))
        naive_extend(f, v->offset + v->size);
}

/* Files and names */

static struct naive_file *naive_get(struct naive *n, uint32_t file)
{
    struct naive_file *f = &n->files[file];
    struct program *p = n->program;
    struct event v;
    if (f->exists)
        return f;
    for (uint64_t i = 1; program_event(p, i, &v, NULL); i++) {
        if (v.file != file || v.call == CALL_CHMOD || v.call == CALL_WRITE)
            continue;
        *f = (struct naive_file){.exists = true, .kind = p->kinds.at[file], .born = i};
        f->mode = v.mode & 07777;
        if (v.call == CALL_SYMLINK)
            memcpy(f->target, p->bytes.at + v.payload, v.size);
        if (v.traits & EVENT_MOVED_IN) {
            naive_write(n, f, 0, v.size, v.payload);
            f->size = v.size;
        }
        return f;
    }
    fail_msg("nothing made file %u", file);
    return NULL;
}

/* The directory that a directory has its name in, 0 for none. */
static uint32_t naive_parent(const struct naive *n, uint32_t dir)
{
    for (uint32_t d = 1; d < NAIVE_FILES; d++)
        for (uint32_t name = 1; name <= PROGRAM_NAMES; name++)
            if (n->entries[d][name] == dir)
                return d;
    return 0;
}

static bool naive_lies_in(const struct naive *n, uint32_t dir, uint32_t above)
{
    while (dir && dir != above)
        dir = naive_parent(n, dir);
    return dir == above;
}

static bool naive_refuses(struct naive *n, uint32_t dir, uint32_t file)
{
    naive_get(n, dir);
    return naive_get(n, file)->kind == FILE_DIRECTORY && naive_lies_in(n, dir, file);
}

static void naive_give(struct naive *n, uint32_t dir, uint32_t name, uint32_t file)
{
    if (naive_refuses(n, dir, file))
        return;
    if (n->files[file].kind == FILE_DIRECTORY)
        for (uint32_t d = 1; d < NAIVE_FILES; d++)
            for (uint32_t i = 1; i <= PROGRAM_NAMES; i++)
                if (n->entries[d][i] == file)
                    n->entries[d][i] = 0;
    n->entries[dir][name] = file;
}

static void naive_rename(struct naive *n, const struct event *v)
{
    bool exchange = v->flags & RENAME_EXCHANGE;
    if (!v->dir) {
        naive_give(n, v->other_dir, v->other_name, v->file);
        return;
    }
    if (!v->other_dir) {
        n->entries[v->dir][v->name] = 0;
        return;
    }
    if (v->file == v->other || naive_refuses(n, v->other_dir, v->file) ||
        (exchange && naive_refuses(n, v->dir, v->other)))
        return;
    n->entries[v->dir][v->name] = 0;
    if (exchange) {
        n->entries[v->other_dir][v->other_name] = 0;
        naive_give(n, v->dir, v->name, v->other);
    }
    naive_give(n, v->other_dir, v->other_name, v->file);
}

static void naive_name(struct naive *n, const struct event *v)
{
    switch (v->call) {
    case CALL_UNLINK:
    case CALL_RMDIR:
        n->entries[v->dir][v->name] = 0;
        break;
    case CALL_RENAME:
        naive_rename(n, v);
        break;
    case CALL_CHMOD:
        naive_get(n, v->file)->mode = v->mode;
        break;
    default:
        naive_get(n, v->file);
        if (v->name)
            naive_give(n, v->dir, v->name, v->file);
    }
}

static void naive_apply(struct naive *n, uint32_t number)
{
    const struct op *op = &n->program->ops.at[number];
    struct event v;
    bool skip = (op->flags & (OP_CARRIED | OP_REPLACED)) && n->applied[op->carried];
    n->applied[number] = true;
    if (op->flags & OP_CARRIED)
        n->applied[op->carried] = true;
    if (skip)
        return;
    assert_true(program_event(n->program, op->event, &v, NULL));
    if (op->kind == OP_NAME && (op->flags & OP_REPLACED)) {
        n->entries[v.other_dir][v.other_name] = 0;
        return;
    }
    if (op->kind == OP_NAME) {
        naive_name(n, &v);
        return;
    }
    struct naive_file *f = naive_get(n, op->file);
    if (op->kind == OP_SIZE && !(op->flags & OP_EXTENDS))
        naive_resize(f, op->size);
    else if (op->kind == OP_DATA)
        naive_write(n, f, op->offset, op->length, op->payload);
    else if (op->kind == OP_ZERO)
        naive_write(n, f, op->offset, op->length, PAYLOAD_ZEROS);
    else if (op->kind == OP_RANGE)
        naive_range(n, f, &v);
    if (op->flags & OP_EXTENDS)
        naive_extend(f, op->size);
}

/* The starting image */

static bool naive_image_file(void *data, uint32_t file, enum file_kind kind, uint32_t mode,
                             uint64_t size, const char *target)
{
    struct naive *n = data;
    n->files[file] = (struct naive_file){.exists = true, .kind = kind, .mode = mode, .size = size};
    if (target)
        snprintf(n->files[file].target, sizeof n->files[file].target, "%s", target);
    return true;
}

static bool naive_image_name(void *data, uint32_t dir, const char *name, uint32_t file)
{
    struct naive *n = data;
    for (uint32_t i = 1; i <= PROGRAM_NAMES; i++)
        if (!strcmp(program_names[i], name))
            n->entries[dir][i] = file;
    return true;
}

static bool naive_image_extent(void *data, uint32_t file, uint64_t offset, uint64_t size,
                               uint64_t payload)
{
    struct naive *n = data;
    naive_write(n, &n->files[file], offset, size, payload);
    return true;
}

static struct naive *naive_new(struct program *p)
{
    static const struct image_visitor visitor = {naive_image_file, naive_image_name,
                                                 naive_image_extent};
    struct naive *n = xcalloc(1, sizeof *n);
    assert_true(p->kinds.n <= NAIVE_FILES);
    n->program = p;
    n->applied = xcalloc(p->ops.n + 1, sizeof *n->applied);
    assert_true(program_image(p, &visitor, n, NULL));
    return n;
}

static void naive_free(struct naive *n)
{
    for (size_t i = 0; i < NAIVE_FILES; i++)
        buf_free(&n->files[i].bytes);
    free(n->applied);
    free(n);
}

/* What can be seen */

struct description {
    struct buf text;
    struct map first; /* a file to the line of its first name, from 1 */
    uint64_t lines;
    struct state *state;
};

/* Files are told apart by where they were first seen, so that numbers do not show. */
static void describe(struct description *d, const char *path, uint32_t file, enum file_kind kind,
                     uint32_t mode, const char *target, uint64_t size, const void *bytes)
{
    uint64_t *line = map_put(&d->first, &file, sizeof file, NULL);
    d->lines++;
    if (!*line)
        *line = d->lines;
    buf_printf(&d->text, "%s %d %o %s %llu", path, (int)kind, kind == FILE_SYMLINK ? 0 : mode,
               kind == FILE_SYMLINK ? target : "", (unsigned long long)*line);
    if (kind == FILE_REGULAR)
        buf_printf(&d->text, " %llu %llx", (unsigned long long)size,
                   (unsigned long long)XXH3_64bits(bytes, size));
    buf_char(&d->text, '\n');
}

static char *description_end(struct description *d)
{
    map_free(&d->first);
    buf_char(&d->text, '\0');
    return d->text.at;
}

static void naive_describe_file(struct naive *n, struct description *d, const char *path,
                                uint32_t file)
{
    struct naive_file *f = &n->files[file];
    if (f->kind == FILE_OTHER)
        return;
    naive_reach(f, f->size);
    describe(d, path, file, f->kind, f->mode, f->target, f->size, f->bytes.at ? f->bytes.at : "");
    if (f->kind != FILE_DIRECTORY)
        return;
    for (uint32_t name = 1; name <= PROGRAM_NAMES; name++) {
        uint32_t below = n->entries[file][name];
        char *deeper = xasprintf("%s%s%s", path, *path ? "/" : "", program_names[name]);
        if (below)
            naive_describe_file(n, d, deeper, below);
        free(deeper);
    }
}

static char *naive_describe(struct naive *n)
{
    struct description d = {.lines = 0};
    naive_describe_file(n, &d, "", FILE_ROOT);
    return description_end(&d);
}

/* What a walk visits is found by its path, and by its file under the first of its names. */
static void is_found(struct state *s, const struct state_name *name)
{
    struct buf path = {0};
    struct state_name found;
    assert_true(state_find(s, name->path, &found));
    assert_int_equal(found.file, name->file);
    assert_int_equal(found.size, name->size);
    assert_int_equal(state_find_file(s, name->file, &path, &found), name->file != FILE_ROOT);
    if (name->file != FILE_ROOT) {
        int order = state_compare_paths(found.path, name->path);
        assert_true(name->names == 1 ? order == 0 : order <= 0);
        assert_true(state_find(s, buf_string(&path), &found));
        assert_int_equal(found.file, name->file);
    }
    buf_free(&path);
}

static bool state_describe_name(void *data, const struct state_name *name)
{
    struct description *d = data;
    struct error e;
    is_found(d->state, name);
    if (name->kind == FILE_OTHER)
        return true;
    char *bytes = xmalloc(name->size + 1);
    if (name->kind == FILE_REGULAR && !state_read(d->state, name->file, 0, bytes, name->size, &e))
        fail_msg("%s", e.text);
    describe(d, name->path, name->file, name->kind, name->mode, name->target, name->size, bytes);
    free(bytes);
    return true;
}

PROGRAM_UNUSED static char *state_describe(struct state *s)
{
    struct description d = {.state = s};
    assert_true(state_walk(s, state_describe_name, &d));
    return description_end(&d);
}

#endif
