/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * state_program: small programs in memory for tests of states: a starting image, events that could
 * have happened (engine/tree.h decides), and ops made of them. A program is a state_source, and can
 * be written to a session. Include after cmocka.h.
 */
#ifndef TESTS_UNIT_STATE_PROGRAM_H
#define TESTS_UNIT_STATE_PROGRAM_H

#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/buf.h"
#include "engine/op.h"
#include "engine/recording.h"
#include "engine/state.h"
#include "engine/tree.h"
#include "engine/vec.h"

#define PROGRAM_UNUSED __attribute__((unused))

enum { PROGRAM_NAMES = 4, PROGRAM_REACH = 3 * OP_BLOCK_SIZE, PROGRAM_FILES_MAX = 64 };

struct program {
    unsigned seed;
    struct tree *tree;           /* what the events did so far */
    uint64_t image_events;       /* how many of them make the starting image */
    vec_of(struct event) events; /* the image's too, which ops and sources do not show */
    vec_of(struct op) ops;
    vec_of(enum file_kind) kinds; /* by file number */
    struct buf bytes;             /* the long row; 0 is no place in it */
    bool payload_fails;           /* the next reads fail */
};

static const char *const program_names[PROGRAM_NAMES + 1] = {"", "a", "b", "c", "d"};

static unsigned pick(struct program *p, unsigned n)
{
    p->seed = p->seed * 1103515245u + 12345u;
    return (p->seed >> 8) % n;
}

/* As a source */

static bool program_event(void *data, uint64_t number, struct event *out, struct error *e)
{
    struct program *p = data;
    if (!number || number > p->events.n - p->image_events)
        return error_set(e, "there is no event %u", (unsigned)number);
    *out = p->events.at[p->image_events + number - 1];
    return true;
}

static const char *program_string(void *data, uint32_t id)
{
    (void)data;
    return id <= PROGRAM_NAMES ? program_names[id] : "";
}

static bool program_payload(void *data, uint64_t payload, uint64_t from, void *out, size_t size,
                            struct error *e)
{
    struct program *p = data;
    if (p->payload_fails)
        return error_set(e, "the bytes cannot be read");
    if (payload == PAYLOAD_ZEROS)
        memset(out, 0, size);
    else if (payload + from + size > p->bytes.n)
        return error_set(e, "there are no bytes at %u", (unsigned)payload);
    else
        memcpy(out, p->bytes.at + payload + from, size);
    return true;
}

static enum file_kind program_kind(void *data, uint32_t file)
{
    struct program *p = data;
    return file < p->kinds.n ? p->kinds.at[file] : 0;
}

static struct tree *program_image_tree(struct program *p);

static bool walk_names(const struct tree *t, uint32_t dir, const struct image_visitor *v, void *to)
{
    const struct tree_file *d = tree_file(t, dir);
    for (size_t i = 0; i < d->entries.n; i++) {
        uint32_t file = d->entries.at[i].file;
        if (!v->name(to, dir, d->entries.at[i].name, file))
            return false;
        if (tree_file(t, file)->kind == FILE_DIRECTORY && !walk_names(t, file, v, to))
            return false;
    }
    return true;
}

static bool program_image(void *data, const struct image_visitor *v, void *to, struct error *e)
{
    struct program *p = data;
    struct tree *t = program_image_tree(p);
    bool ok = true;
    (void)e;
    for (uint32_t file = 1; ok && file < p->kinds.n; file++) {
        const struct tree_file *f = tree_file(t, file);
        ok = !f || v->file(to, file, f->kind, f->mode, f->size, f->target);
    }
    ok = ok && walk_names(t, FILE_ROOT, v, to);
    for (uint32_t file = 1; ok && file < p->kinds.n; file++) {
        const struct tree_file *f = tree_file(t, file);
        struct extent x;
        if (!f || f->kind != FILE_REGULAR)
            continue;
        for (uint64_t at = 0; ok && at < f->size && extents_find(&f->extents, at, &x);) {
            at = x.offset + x.size;
            uint64_t size = at <= f->size ? x.size : f->size > x.offset ? f->size - x.offset : 0;
            uint64_t payload = x.payload == PAYLOAD_ZEROS ? PAYLOAD_ZEROS : x.payload + x.from;
            ok = !size || v->extent(to, file, x.offset, size, payload);
        }
    }
    tree_free(t);
    return ok;
}

static struct state_source program_source(struct program *p)
{
    return (struct state_source){
        .data = p,
        .events = p->events.n - p->image_events,
        .event = program_event,
        .string = program_string,
        .payload = program_payload,
        .image = program_image,
        .kind = program_kind,
    };
}

PROGRAM_UNUSED static struct state *program_start(struct program *p)
{
    struct error e;
    struct state *s;
    struct state_source source = program_source(p);
    if (!state_new(&s, &source, &e))
        fail_msg("%s", e.text);
    return s;
}

PROGRAM_UNUSED static void program_apply(struct program *p, struct state *s, uint32_t op)
{
    struct error e;
    if (!state_apply(s, &p->ops.at[op], op, &e))
        fail_msg("op %u: %s", op, e.text);
}

/* Events that are possible */

static uint64_t program_bytes(struct program *p, size_t size)
{
    if (pick(p, 5) == 0)
        return PAYLOAD_ZEROS;
    uint64_t at = p->bytes.n;
    bool few = pick(p, 2); /* so that different ways lead to equal contents */
    for (size_t i = 0; i < size; i++)
        buf_char(&p->bytes, few ? (char)(i % 7 == 0) : (char)pick(p, 256));
    return at;
}

static uint32_t new_file(struct program *p, enum file_kind kind)
{
    vec_push(&p->kinds, kind);
    return (uint32_t)p->kinds.n - 1;
}

/* Whether the event can happen now; then it does, in the tree. */
static bool happens(struct program *p, const struct event *v)
{
    const char *name = program_names[v->name], *other = program_names[v->other_name];
    struct tree *t = p->tree;
    char target[8] = "";
    switch (v->call) {
    case CALL_OPEN:
        if (!(v->traits & EVENT_CREATED))
            return tree_truncate(t, v->file, 0, NULL);
        return v->name ? tree_make(t, v->dir, name, v->file, FILE_REGULAR, v->mode, NULL, NULL)
                       : tree_create(t, v->file, FILE_REGULAR, v->mode, NULL, NULL);
    case CALL_MKDIR:
        return tree_make(t, v->dir, name, v->file, FILE_DIRECTORY, v->mode, NULL, NULL);
    case CALL_MKNOD:
        return tree_make(t, v->dir, name, v->file, p->kinds.at[v->file], v->mode, NULL, NULL);
    case CALL_SYMLINK:
        memcpy(target, p->bytes.at + v->payload, v->size);
        return tree_make(t, v->dir, name, v->file, FILE_SYMLINK, 0777, target, NULL);
    case CALL_LINK:
        return tree_link(t, v->dir, name, v->file, NULL);
    case CALL_UNLINK:
        return tree_unlink(t, v->dir, name, v->file, NULL);
    case CALL_RMDIR:
        return tree_rmdir(t, v->dir, name, v->file, NULL);
    case CALL_RENAME:
        if (!v->dir) {
            if (v->other && tree_file(t, v->other)->kind == FILE_DIRECTORY)
                return false;
            return tree_create(t, v->file, FILE_REGULAR, v->mode, NULL, NULL) &&
                   tree_write(t, v->file, 0, v->size, v->payload, 0, NULL) &&
                   (!v->other || tree_detach(t, v->other_dir, other, v->other, NULL)) &&
                   tree_link(t, v->other_dir, other, v->file, NULL);
        }
        if (!v->other_dir)
            return tree_detach(t, v->dir, name, v->file, NULL);
        return tree_rename(t, v->dir, name, v->other_dir, other, v->flags, NULL);
    case CALL_CHMOD:
        return tree_chmod(t, v->file, v->mode, NULL);
    case CALL_WRITE:
        return tree_write(t, v->file, v->offset, v->size, v->payload, 0, NULL);
    case CALL_TRUNCATE:
        return tree_truncate(t, v->file, v->size, NULL);
    default:
        return tree_fallocate(t, v->file, v->flags, v->offset, v->size, NULL);
    }
}

static struct event pick_contents(struct program *p)
{
    static const uint32_t modes[] = {
        0,
        FALLOC_FL_KEEP_SIZE,
        FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
        FALLOC_FL_ZERO_RANGE,
        FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
        FALLOC_FL_COLLAPSE_RANGE,
        FALLOC_FL_INSERT_RANGE,
    };
    struct event v = {.file = 1 + pick(p, (unsigned)p->kinds.n - 1)};
    v.offset = pick(p, PROGRAM_REACH);
    v.size = 1 + pick(p, pick(p, 2) ? 100 : PROGRAM_REACH / 2);
    if (pick(p, 3) == 0) {
        v.offset -= v.offset % 1024; /* file systems with small blocks shift by those */
        v.size += 1023 - (v.size - 1) % 1024;
    }
    switch (pick(p, 8)) {
    case 0:
    case 1:
        v.call = CALL_TRUNCATE;
        v.size = pick(p, PROGRAM_REACH);
        break;
    case 2:
        v.call = CALL_OPEN;
        v.traits = EVENT_TRUNCATED;
        break;
    case 3:
        v.call = CALL_FALLOCATE;
        v.flags = modes[pick(p, sizeof modes / sizeof *modes)];
        break;
    default:
        v.call = CALL_WRITE;
        v.payload = program_bytes(p, v.size);
    }
    return v;
}

/* A program can only work in directories that it can reach. */
static uint32_t pick_dir(struct program *p)
{
    for (int i = 0; i < 8; i++) {
        uint32_t dir = 1 + pick(p, (unsigned)p->kinds.n - 1), top = dir;
        if (p->kinds.at[dir] != FILE_DIRECTORY)
            continue;
        while (tree_file(p->tree, top)->parent)
            top = tree_file(p->tree, top)->parent;
        if (top == FILE_ROOT)
            return dir;
    }
    return FILE_ROOT;
}

static struct event pick_creation(struct program *p)
{
    struct event v = {.call = CALL_OPEN, .traits = EVENT_CREATED, .dir = pick_dir(p)};
    v.name = 1 + pick(p, PROGRAM_NAMES);
    v.mode = 0600 + pick(p, 2) * 044;
    switch (pick(p, 8)) {
    case 0:
        v.call = CALL_SYMLINK;
        v.payload = p->bytes.n;
        v.size = 1 + pick(p, 3);
        buf_add(&p->bytes, "../x", 4);
        break;
    case 1:
        v.call = CALL_MKNOD;
        v.mode |= pick(p, 3) ? S_IFIFO : S_IFSOCK;
        break;
    case 2:
    case 3:
        v.call = CALL_MKDIR;
        v.mode |= 0100;
        break;
    case 4:
        if (pick(p, 3) == 0)
            v.name = 0; /* O_TMPFILE */
    }
    v.traits = v.call == CALL_OPEN ? EVENT_CREATED : 0;
    enum file_kind kind = v.call == CALL_OPEN      ? FILE_REGULAR
                          : v.call == CALL_SYMLINK ? FILE_SYMLINK
                          : v.call == CALL_MKDIR   ? FILE_DIRECTORY
                          : S_ISFIFO(v.mode)       ? FILE_FIFO
                                                   : FILE_OTHER;
    v.file = new_file(p, kind);
    return v;
}

static struct event pick_rename(struct program *p)
{
    struct event v = {.call = CALL_RENAME, .dir = pick_dir(p), .other_dir = pick_dir(p)};
    v.name = 1 + pick(p, PROGRAM_NAMES);
    v.other_name = 1 + pick(p, PROGRAM_NAMES);
    v.file = tree_lookup(p->tree, v.dir, program_names[v.name]);
    v.other = tree_lookup(p->tree, v.other_dir, program_names[v.other_name]);
    switch (pick(p, 8)) {
    case 0:
        v.traits = EVENT_MOVED_IN;
        v.dir = v.name = 0;
        v.mode = 0640;
        v.size = 1 + pick(p, PROGRAM_REACH);
        v.payload = program_bytes(p, v.size);
        v.file = new_file(p, FILE_REGULAR);
        break;
    case 1:
        v.traits = EVENT_MOVED_OUT;
        v.other_dir = v.other_name = v.other = 0;
        break;
    case 2:
    case 3:
        v.flags = RENAME_EXCHANGE;
    }
    return v;
}

static struct event pick_names(struct program *p)
{
    struct event v = {.dir = pick_dir(p), .name = 1 + pick(p, PROGRAM_NAMES)};
    v.file = tree_lookup(p->tree, v.dir, program_names[v.name]);
    switch (pick(p, 4)) {
    case 0:
        v.call = CALL_LINK;
        v.file = 1 + pick(p, (unsigned)p->kinds.n - 1);
        return v;
    case 1:
        v.call = v.file && p->kinds.at[v.file] == FILE_DIRECTORY ? CALL_RMDIR : CALL_UNLINK;
        return v;
    case 2:
        v.call = CALL_CHMOD;
        v.file = 1 + pick(p, (unsigned)p->kinds.n - 1);
        v.mode = 0700 + pick(p, 2) * 055;
        return v;
    default:
        return pick_rename(p);
    }
}

static void program_step(struct program *p)
{
    for (;;) {
        unsigned what = pick(p, 10);
        size_t files = p->kinds.n;
        struct event v = what < 3 && files < PROGRAM_FILES_MAX ? pick_creation(p)
                         : what < 7                            ? pick_names(p)
                                                               : pick_contents(p);
        v.entry = 2 * p->events.n;
        v.exit = v.entry + 1;
        if (happens(p, &v)) {
            vec_push(&p->events, v);
            return;
        }
        p->kinds.n = files;
    }
}

/* Ops */

static void program_op(struct program *p, uint64_t event, struct op op)
{
    op.event = event;
    vec_push(&p->ops, op);
}

static void ops_of_write(struct program *p, uint64_t number, const struct event *v)
{
    struct op op = {.kind = OP_DATA, .file = v->file, .offset = v->offset, .length = v->size};
    op.payload = v->payload;
    op.size = v->offset + v->size;
    unsigned how = pick(p, 3);
    if (how == 0) { /* the whole call */
        op.flags = OP_EXTENDS;
        program_op(p, number, op);
        return;
    }
    for (uint64_t at = v->offset, end = op.size; at < end;) {
        uint64_t stop = (at / OP_BLOCK_SIZE + 1) * OP_BLOCK_SIZE;
        op.offset = at;
        op.length = (stop < end ? stop : end) - at;
        op.size = at + op.length;
        op.payload = v->payload ? v->payload + at - v->offset : PAYLOAD_ZEROS;
        op.kind = OP_ALLOC;
        op.flags = OP_EXTENDS;
        if (how == 1)
            program_op(p, number, op);
        op.kind = OP_DATA;
        op.flags = how == 1 ? 0 : OP_EXTENDS;
        program_op(p, number, op);
        at += op.length;
    }
}

static void ops_of(struct program *p, uint64_t number, const struct event *v)
{
    struct op op = {.kind = OP_NAME, .file = v->file};
    enum { PLAIN = FALLOC_FL_KEEP_SIZE };
    switch (v->call) {
    case CALL_WRITE:
        ops_of_write(p, number, v);
        return;
    case CALL_TRUNCATE:
        op.kind = OP_ZERO;
        op.offset = v->size;
        op.length = OP_BLOCK_SIZE - v->size % OP_BLOCK_SIZE;
        if (pick(p, 2))
            program_op(p, number, op);
        op.kind = OP_SIZE;
        op.size = v->size;
        break;
    case CALL_FALLOCATE:
        op.kind = v->flags & ~(uint32_t)PLAIN ? OP_RANGE : OP_ALLOC;
        op.offset = v->offset;
        op.length = v->size;
        op.size = v->offset + v->size;
        op.flags = v->flags ? 0 : OP_EXTENDS; /* ranges know their length themselves */
        break;
    case CALL_OPEN:
        if (v->traits & EVENT_TRUNCATED)
            op.kind = OP_SIZE;
    }
    program_op(p, number, op);
    if (v->call == CALL_RENAME && v->other_dir && pick(p, 2)) { /* a log loses what it replaces */
        op.flags = OP_REPLACED;
        op.carried = (uint32_t)p->ops.n - 1;
        program_op(p, number, op);
    }
    if (pick(p, 4) == 0) { /* a sync carries something past its edges */
        uint32_t original = pick(p, (unsigned)p->ops.n);
        struct op copy = p->ops.at[original];
        if (copy.flags & OP_REPLACED)
            return;
        if (!(copy.flags & OP_CARRIED))
            copy.carried = original;
        copy.flags |= OP_CARRIED;
        vec_push(&p->ops, copy);
    }
}

static struct tree *program_image_tree(struct program *p)
{
    struct program before = {
        .tree = tree_new(0755), .kinds.at = p->kinds.at, .kinds.n = p->kinds.n};
    before.bytes = p->bytes;
    for (size_t i = 0; i < p->image_events; i++)
        assert_true(happens(&before, &p->events.at[i]));
    return before.tree;
}

/* A program with a few files in its image and `steps` events. */
static struct program *program_new(unsigned seed, unsigned image, unsigned steps)
{
    struct program *p = xcalloc(1, sizeof *p);
    p->seed = seed;
    p->tree = tree_new(0755);
    buf_char(&p->bytes, 0);
    vec_push(&p->kinds, 0);
    vec_push(&p->kinds, FILE_DIRECTORY);
    while (p->events.n < image)
        program_step(p);
    p->image_events = image;
    while (p->events.n < image + steps) {
        program_step(p);
        ops_of(p, p->events.n - image, &vec_last(&p->events));
    }
    return p;
}

static void program_free(struct program *p)
{
    tree_free(p->tree);
    vec_free(&p->events);
    vec_free(&p->ops);
    vec_free(&p->kinds);
    buf_free(&p->bytes);
    free(p);
}

/* An empty program for tests that say themselves what happens; each event is number n, from 1. */
PROGRAM_UNUSED static uint64_t program_does(struct program *p, struct event v)
{
    v.entry = 2 * p->events.n;
    v.exit = v.entry + 1;
    vec_push(&p->events, v);
    return p->events.n - p->image_events;
}

#endif
