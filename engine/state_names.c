/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files and their names: what name ops do. See engine/state.h for what happens when something that
 * an op relies on was lost.
 */
#include "engine/state_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/mem.h"
#include "engine/tree.h"

enum {
    MODE_BITS = 07777,
    MODE_UNKNOWN = 0700, /* of a file that nothing made: the session is damaged */
    SYMLINK_MODE = 0777,
};

/* Files */

struct state_file *file_find(const struct state *s, uint32_t number)
{
    const uint64_t *place = map_get(&s->numbers, &number, sizeof number);
    struct state_file *f = place ? s->files.at[*place - 1] : NULL;
    return f && f->exists ? f : NULL;
}

/* A file that was made and undone comes back in its old place, where scenes know it. */
struct state_file *file_make(struct state *s, uint32_t number, enum file_kind kind, uint32_t mode,
                             const char *target, uint64_t born)
{
    uint64_t *place = map_put(&s->numbers, &number, sizeof number, NULL);
    struct state_file *f;
    if (*place) {
        f = s->files.at[*place - 1];
    } else {
        f = xcalloc(1, sizeof *f);
        f->index = (uint32_t)s->files.n;
        f->number = number;
        touched_init(&f->leaves_touched);
        vec_push(&s->files, f);
        *place = s->files.n;
    }
    f->exists = true;
    f->kind = kind;
    f->mode = mode & MODE_BITS;
    f->born = born;
    free(f->target);
    f->target = kind == FILE_SYMLINK && target && *target ? xstrdup(target) : NULL;
    vec_push(&s->undo, (struct undo){.kind = UNDO_MADE, .file = f});
    touch_file(s, f);
    return f;
}

void change_mode(struct state *s, struct state_file *f, uint32_t mode)
{
    mode &= MODE_BITS;
    if (f->mode == mode)
        return;
    vec_push(&s->undo, (struct undo){.kind = UNDO_MODE, .file = f, .value = f->mode});
    f->mode = mode;
    touch_file(s, f);
    hash_file_changed(s, f);
}

/* Entries */

struct state_entry *entry_find(const struct state_file *dir, const char *name)
{
    const uint64_t *place = map_get(&dir->index_of, name, strlen(name));
    return place ? dir->entries.at[*place - 1] : NULL;
}

static struct state_entry *entry_get(struct state *s, struct state_file *dir, const char *name)
{
    uint64_t *place = map_put(&dir->index_of, name, strlen(name), NULL);
    if (*place)
        return dir->entries.at[*place - 1];
    struct state_entry *entry = xcalloc(1, sizeof *entry);
    entry->index = (uint32_t)s->entries.n;
    entry->dir = dir;
    entry->name = xstrdup(name);
    entry->name_hash = hash_name(name);
    vec_push(&s->entries, entry);
    vec_push(&dir->entries, entry);
    *place = dir->entries.n;
    return entry;
}

static void take_name(struct state_entry *entry)
{
    *(entry->before ? &entry->before->after : &entry->file->names) = entry->after;
    if (entry->after)
        entry->after->before = entry->before;
    entry->before = entry->after = NULL;
}

static void give_name(struct state *s, struct state_entry *entry, struct state_file *f)
{
    entry->after = f->names;
    if (f->names)
        f->names->before = entry;
    f->names = entry;
    if (entry->after && !f->linked) {
        f->linked = true;
        vec_push(&s->linked, f);
    }
}

static bool counts_for_links(const struct state_file *f)
{
    return f && (f->linked || f->kind == FILE_DIRECTORY);
}

void set_entry(struct state *s, struct state_entry *entry, struct state_file *f)
{
    struct state_file *old = entry->file;
    if (old)
        take_name(entry);
    entry->file = f;
    if (f)
        give_name(s, entry, f);
    if (counts_for_links(old) || counts_for_links(f))
        s->linked_step = s->step;
    touch_entry(s, entry);
    hash_entry_changed(entry);
}

void change_entry(struct state *s, struct state_entry *entry, struct state_file *f)
{
    if (entry->file == f)
        return;
    vec_push(&s->undo, (struct undo){.kind = UNDO_ENTRY, .file = entry->file, .entry = entry});
    set_entry(s, entry, f);
}

static bool name_allowed(const char *name, struct error *e)
{
    if (*name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/') &&
        strlen(name) <= TREE_NAME_MAX)
        return true;
    return error_set(e, "\"%.*s\" cannot be the name of an entry: the session is damaged",
                     TREE_NAME_MAX, name);
}

/* Whether dir is f or lies below it. */
static bool lies_in(const struct state_file *dir, const struct state_file *f)
{
    while (dir != f && dir->names)
        dir = dir->names->dir;
    return dir == f;
}

/* Whether f cannot be an entry of dir, because it is the root or dir lies in it. */
static bool would_lie_in_itself(const struct state_file *dir, const struct state_file *f)
{
    return f->kind == FILE_DIRECTORY && (f->number == FILE_ROOT || lies_in(dir, f));
}

bool name_assign(struct state *s, struct state_file *dir, const char *name, struct state_file *f,
                 struct error *e)
{
    if (!name_allowed(name, e))
        return false;
    if (dir->kind != FILE_DIRECTORY || (f && would_lie_in_itself(dir, f)))
        return true;
    struct state_entry *entry = entry_get(s, dir, name);
    if (f && f->kind == FILE_DIRECTORY && f->names && f->names != entry)
        change_entry(s, f->names, NULL);
    change_entry(s, entry, f);
    return true;
}

/* How files came into being */

static bool makes_file(const struct event *v)
{
    switch (v->call) {
    case CALL_OPEN:
        return v->traits & EVENT_CREATED;
    case CALL_MKDIR:
    case CALL_MKNOD:
    case CALL_SYMLINK:
        return true;
    case CALL_RENAME:
    case CALL_LINK:
        return v->traits & EVENT_MOVED_IN;
    default:
        return false;
    }
}

/* Asked only when an op needs a file whose creation is not among the ops applied, so the events are
 * read when that first happens. */
static bool learn_births(struct state *s, struct error *e)
{
    if (s->births_known)
        return true;
    for (uint64_t number = 1; number <= s->source.events; number++) {
        struct event v;
        if (!s->source.event(s->source.data, number, &v, e))
            return false;
        if (!makes_file(&v) || !v.file || (v.traits & EVENT_FAILED))
            continue;
        uint64_t *born = map_put(&s->births, &v.file, sizeof v.file, NULL);
        if (!*born)
            *born = number;
    }
    s->births_known = true;
    return true;
}

static bool read_target(struct state *s, const struct event *v, char *target, struct error *e)
{
    if (v->size > TREE_TARGET_MAX)
        return error_set(e, "a symbolic link's target has %llu bytes: the session is damaged",
                         (unsigned long long)v->size);
    target[v->size] = '\0';
    return s->source.payload(s->source.data, v->payload, 0, target, v->size, e);
}

static enum file_kind made_kind(const struct state *s, uint32_t file, const struct event *v)
{
    mode_t type = v->mode & S_IFMT;
    enum file_kind kind;
    switch (v->call) {
    case CALL_OPEN:
        return FILE_REGULAR;
    case CALL_MKDIR:
        return FILE_DIRECTORY;
    case CALL_SYMLINK:
        return FILE_SYMLINK;
    case CALL_MKNOD:
        return type == S_IFREG || !type ? FILE_REGULAR : type == S_IFIFO ? FILE_FIFO : FILE_OTHER;
    default:
        kind = s->source.kind ? s->source.kind(s->source.data, file) : FILE_REGULAR;
        return kind >= FILE_REGULAR && kind <= FILE_OTHER ? kind : FILE_OTHER;
    }
}

static bool brought_contents(struct state *s, struct state_file *f, const struct event *v,
                             struct error *e)
{
    if (f->kind != FILE_REGULAR || !(v->traits & EVENT_MOVED_IN))
        return true;
    return data_resize(s, f, 0, e) && data_write(s, f, 0, v->size, v->payload, e) &&
           data_extend(s, f, v->size, e);
}

/* The file as event `number` makes it. One that is there already stays as it is. */
static struct state_file *bear(struct state *s, uint32_t file, uint64_t number,
                               const struct event *v, struct error *e)
{
    struct state_file *f = file_find(s, file);
    char target[TREE_TARGET_MAX + 1] = "";
    if (f)
        return f;
    enum file_kind kind = made_kind(s, file, v);
    if (kind == FILE_SYMLINK && !read_target(s, v, target, e))
        return NULL;
    uint32_t mode = kind == FILE_SYMLINK ? SYMLINK_MODE : v->mode;
    f = file_make(s, file, kind, mode, target, number);
    return brought_contents(s, f, v, e) ? f : NULL;
}

struct state_file *file_get(struct state *s, uint32_t number, struct error *e)
{
    struct state_file *f = file_find(s, number);
    struct event v;
    if (f)
        return f;
    if (!learn_births(s, e))
        return NULL;
    const uint64_t *born = map_get(&s->births, &number, sizeof number);
    if (!born) {
        enum file_kind kind = s->source.kind ? s->source.kind(s->source.data, number) : 0;
        bool known = kind >= FILE_REGULAR && kind <= FILE_OTHER;
        return file_make(s, number, known ? kind : FILE_REGULAR, MODE_UNKNOWN, NULL, 0);
    }
    return s->source.event(s->source.data, *born, &v, e) ? bear(s, number, *born, &v, e) : NULL;
}

/* Families of events */

struct naming {
    struct state *state;
    const struct event *event;
    uint64_t number; /* the event's */
    const char *name, *other_name;
    struct error *e;
};

/* An entry becomes empty. */
static bool empty_entry(struct naming *n, uint32_t dir, const char *name)
{
    const struct state_file *d = file_find(n->state, dir);
    struct state_entry *entry = d ? entry_find(d, name) : NULL;
    if (entry)
        change_entry(n->state, entry, NULL);
    return true;
}

static bool give_entry(struct naming *n, uint32_t dir, const char *name, struct state_file *f)
{
    struct state_file *d = file_get(n->state, dir, n->e);
    return d && name_assign(n->state, d, name, f, n->e);
}

static bool apply_made(struct naming *n)
{
    const struct event *v = n->event;
    if (!makes_file(v) || !v->file)
        return true;
    struct state_file *f = bear(n->state, v->file, n->number, v, n->e);
    return f && (!v->dir || !v->name || give_entry(n, v->dir, n->name, f));
}

/* A file from outside. One with names inside is as it is there; one that had left comes back as
 * this event says. */
static struct state_file *bring_in(struct naming *n, uint32_t file)
{
    const struct event *v = n->event;
    if (!(v->traits & EVENT_MOVED_IN)) /* it was inside all the time, under another name */
        return file_get(n->state, file, n->e);
    struct state_file *f = file_find(n->state, file);
    if (!f)
        return bear(n->state, file, n->number, v, n->e);
    if (f->names || f->number == FILE_ROOT || f->born == n->number)
        return f;
    change_mode(n->state, f, v->mode);
    return brought_contents(n->state, f, v, n->e) ? f : NULL;
}

static bool move_in(struct naming *n, uint32_t file, uint32_t dir, const char *name)
{
    struct state_file *f = file ? bring_in(n, file) : NULL;
    return !file || (f && give_entry(n, dir, name, f));
}

static bool apply_exchange(struct naming *n, struct state_file *from, struct state_file *to)
{
    const struct event *v = n->event;
    struct state_file *f = file_get(n->state, v->file, n->e);
    struct state_file *other = f ? file_get(n->state, v->other, n->e) : NULL;
    if (!other)
        return false;
    if (would_lie_in_itself(to, f) || would_lie_in_itself(from, other))
        return true;
    return empty_entry(n, v->dir, n->name) && empty_entry(n, v->other_dir, n->other_name) &&
           name_assign(n->state, from, n->name, other, n->e) &&
           name_assign(n->state, to, n->other_name, f, n->e);
}

static bool apply_rename(struct naming *n)
{
    const struct event *v = n->event;
    bool exchange = v->flags & RENAME_EXCHANGE;
    if (!v->dir)
        return !v->other_dir || move_in(n, v->file, v->other_dir, n->other_name);
    if (!v->other_dir) /* what an exchange gave in return has an event of its own */
        return empty_entry(n, v->dir, n->name);
    if (!v->file || v->file == v->other) /* two names of one file stay */
        return true;
    struct state_file *from = file_get(n->state, v->dir, n->e);
    struct state_file *to = from ? file_get(n->state, v->other_dir, n->e) : NULL;
    if (!to)
        return false;
    if (exchange && v->other)
        return apply_exchange(n, from, to);
    struct state_file *f = file_get(n->state, v->file, n->e);
    if (!f)
        return false;
    if (would_lie_in_itself(to, f))
        return true;
    return empty_entry(n, v->dir, n->name) && name_assign(n->state, to, n->other_name, f, n->e);
}

static bool apply_link(struct naming *n)
{
    const struct event *v = n->event;
    if (!v->file || !v->dir)
        return true;
    struct state_file *f = bring_in(n, v->file);
    return f && give_entry(n, v->dir, n->name, f);
}

static bool apply_removal(struct naming *n)
{
    return empty_entry(n, n->event->dir, n->name);
}

static bool apply_chmod(struct naming *n)
{
    const struct event *v = n->event;
    if (!v->file)
        return true;
    struct state_file *f = file_get(n->state, v->file, n->e);
    if (f)
        change_mode(n->state, f, v->mode);
    return f != NULL;
}

bool name_apply(struct state *s, const struct op *op, struct error *e)
{
    static bool (*const families[CALL_COUNT])(struct naming * n) = {
        [CALL_OPEN] = apply_made,      [CALL_MKDIR] = apply_made,    [CALL_MKNOD] = apply_made,
        [CALL_SYMLINK] = apply_made,   [CALL_RENAME] = apply_rename, [CALL_LINK] = apply_link,
        [CALL_UNLINK] = apply_removal, [CALL_RMDIR] = apply_removal, [CALL_CHMOD] = apply_chmod,
    };
    struct event v;
    if (!s->source.event(s->source.data, op->event, &v, e))
        return false;
    if (v.call >= CALL_COUNT || !families[v.call])
        return true;
    struct naming n = {.state = s, .event = &v, .number = op->event, .e = e};
    n.name = s->source.string(s->source.data, v.name);
    n.other_name = s->source.string(s->source.data, v.other_name);
    if (op->flags & OP_REPLACED)
        return empty_entry(&n, v.other_dir, n.other_name);
    return families[v.call](&n);
}
