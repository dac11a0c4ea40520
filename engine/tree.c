/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/tree.h"

#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"

/* Files are found through a map and not by position: a hostile session may use any numbers. */
struct tree {
    vec_of(struct tree_file *) files;
    struct map numbers; /* a file's number to its place in files, from 1 */
};

static struct tree_file *find_file(const struct tree *t, uint32_t number)
{
    const uint64_t *place = map_get(&t->numbers, &number, sizeof number);
    return place ? t->files.at[*place - 1] : NULL;
}

const struct tree_file *tree_file(const struct tree *t, uint32_t number)
{
    return find_file(t, number);
}

static struct tree_file *add_file(struct tree *t, uint32_t number, enum file_kind kind,
                                  uint32_t mode)
{
    struct tree_file *f = xcalloc(1, sizeof *f);
    f->number = number;
    f->kind = kind;
    f->mode = mode & FILE_MODE_BITS;
    vec_push(&t->files, f);
    *map_put(&t->numbers, &number, sizeof number, NULL) = t->files.n;
    return f;
}

struct tree *tree_new(uint32_t root_mode)
{
    struct tree *t = xcalloc(1, sizeof *t);
    add_file(t, FILE_ROOT, FILE_DIRECTORY, root_mode);
    return t;
}

void tree_free(struct tree *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->files.n; i++) {
        struct tree_file *f = t->files.at[i];
        for (size_t j = 0; j < f->entries.n; j++)
            free(f->entries.at[j].name);
        vec_free(&f->entries);
        map_free(&f->index);
        extents_free(&f->extents);
        free(f->target);
        free(f);
    }
    vec_free(&t->files);
    map_free(&t->numbers);
    free(t);
}

static bool has_kind(const struct tree_file *f, uint32_t number, enum file_kind kind,
                     struct error *e)
{
    static const char *const names[] = {
        [FILE_REGULAR] = "a regular file",  [FILE_DIRECTORY] = "a directory",
        [FILE_SYMLINK] = "a symbolic link", [FILE_FIFO] = "a FIFO",
        [FILE_OTHER] = "a special file",
    };
    if (!f)
        return error_set(e, "file %u does not exist", number);
    if (f->kind != kind)
        return error_set(e, "file %u is %s, not %s", number, names[f->kind], names[kind]);
    return true;
}

/* Names */

static bool name_allowed(const char *name, struct error *e)
{
    if (!*name)
        return error_set(e, "an entry's name is empty");
    if (!strcmp(name, ".") || !strcmp(name, "..") || strchr(name, '/'))
        return error_set(e, "\"%.*s\" cannot be the name of an entry", TREE_NAME_MAX, name);
    if (strlen(name) > TREE_NAME_MAX)
        return error_set(e, "an entry's name has more than %d bytes", TREE_NAME_MAX);
    return true;
}

static uint64_t *entry_place(const struct tree_file *dir, const char *name)
{
    uint64_t *place = map_get(&dir->index, name, strlen(name));
    return place && *place ? place : NULL;
}

static struct tree_entry *find_entry(const struct tree_file *dir, const char *name)
{
    const uint64_t *place = entry_place(dir, name);
    return place ? &dir->entries.at[*place - 1] : NULL;
}

uint32_t tree_lookup(const struct tree *t, uint32_t dir, const char *name)
{
    const struct tree_file *d = find_file(t, dir);
    const struct tree_entry *entry = d && d->kind == FILE_DIRECTORY ? find_entry(d, name) : NULL;
    return entry ? entry->file : 0;
}

static void name_given(struct tree_file *f, uint32_t dir)
{
    f->links++;
    if (f->kind == FILE_DIRECTORY)
        f->parent = dir;
}

static void name_taken(struct tree_file *f)
{
    f->links--;
    if (f->kind == FILE_DIRECTORY)
        f->parent = 0;
}

static void add_entry(struct tree_file *dir, const char *name, struct tree_file *f)
{
    vec_push(&dir->entries, (struct tree_entry){.name = xstrdup(name), .file = f->number});
    *map_put(&dir->index, name, strlen(name), NULL) = dir->entries.n;
    name_given(f, dir->number);
}

/* The last entry takes the place that becomes free. */
static void remove_entry(struct tree_file *dir, const char *name, struct tree_file *f)
{
    uint64_t *place = entry_place(dir, name);
    struct tree_entry *gone = &dir->entries.at[*place - 1];
    struct tree_entry last = vec_last(&dir->entries);
    *entry_place(dir, last.name) = *place;
    *place = 0;
    free(gone->name);
    *gone = last;
    dir->entries.n--;
    name_taken(f);
}

/* Whether going up from a directory leads to another, or to itself. */
static bool is_below(const struct tree *t, uint32_t dir, uint32_t above)
{
    while (dir && dir != above)
        dir = find_file(t, dir)->parent;
    return dir == above;
}

/* The directory and the file that its entry stands for. With file 0 any will do. */
static bool get_entry(const struct tree *t, uint32_t dir, const char *name, uint32_t file,
                      struct tree_file **d, struct tree_file **f, struct error *e)
{
    *d = find_file(t, dir);
    if (!has_kind(*d, dir, FILE_DIRECTORY, e) || !name_allowed(name, e))
        return false;
    const struct tree_entry *entry = find_entry(*d, name);
    if (!entry)
        return error_set(e, "directory %u has no entry \"%s\"", dir, name);
    if (file && entry->file != file)
        return error_set(e, "\"%s\" in directory %u is file %u, not file %u", name, dir,
                         entry->file, file);
    *f = find_file(t, entry->file);
    return true;
}

bool tree_create(struct tree *t, uint32_t file, enum file_kind kind, uint32_t mode,
                 const char *target, struct error *e)
{
    if (!file)
        return error_set(e, "a file's number is 0");
    if (find_file(t, file))
        return error_set(e, "file %u exists already", file);
    if (kind < FILE_REGULAR || kind > FILE_OTHER)
        return error_set(e, "file %u is of no known kind (%d)", file, (int)kind);
    if (kind == FILE_SYMLINK && (!target || !*target || strlen(target) > TREE_TARGET_MAX))
        return error_set(e, "symbolic link %u has no target, or too long a one", file);
    struct tree_file *f = add_file(t, file, kind, mode);
    if (kind == FILE_SYMLINK)
        f->target = xstrdup(target);
    return true;
}

bool tree_link(struct tree *t, uint32_t dir, const char *name, uint32_t file, struct error *e)
{
    struct tree_file *d = find_file(t, dir), *f = find_file(t, file);
    if (!has_kind(d, dir, FILE_DIRECTORY, e) || !name_allowed(name, e))
        return false;
    if (!f)
        return error_set(e, "file %u does not exist", file);
    if (find_entry(d, name))
        return error_set(e, "directory %u has an entry \"%s\" already", dir, name);
    /* Nothing can be below an empty directory: the way up need not be gone for a new one. */
    bool below_itself = dir == file || (f->entries.n && is_below(t, dir, file));
    if (f->kind == FILE_DIRECTORY && (f->links || file == FILE_ROOT || below_itself))
        return error_set(e, "directory %u cannot get one more name, \"%s\" in directory %u", file,
                         name, dir);
    add_entry(d, name, f);
    return true;
}

bool tree_make(struct tree *t, uint32_t dir, const char *name, uint32_t file, enum file_kind kind,
               uint32_t mode, const char *target, struct error *e)
{
    const struct tree_file *d = find_file(t, dir);
    if (!has_kind(d, dir, FILE_DIRECTORY, e) || !name_allowed(name, e))
        return false;
    if (find_entry(d, name))
        return error_set(e, "directory %u has an entry \"%s\" already", dir, name);
    return tree_create(t, file, kind, mode, target, e) && tree_link(t, dir, name, file, e);
}

bool tree_detach(struct tree *t, uint32_t dir, const char *name, uint32_t file, struct error *e)
{
    struct tree_file *d, *f;
    if (!get_entry(t, dir, name, file, &d, &f, e))
        return false;
    remove_entry(d, name, f);
    return true;
}

bool tree_unlink(struct tree *t, uint32_t dir, const char *name, uint32_t file, struct error *e)
{
    struct tree_file *d, *f;
    if (!get_entry(t, dir, name, file, &d, &f, e))
        return false;
    if (f->kind == FILE_DIRECTORY)
        return error_set(e, "\"%s\" in directory %u is a directory and cannot be unlinked", name,
                         dir);
    remove_entry(d, name, f);
    return true;
}

bool tree_rmdir(struct tree *t, uint32_t dir, const char *name, uint32_t file, struct error *e)
{
    struct tree_file *d, *f;
    if (!get_entry(t, dir, name, file, &d, &f, e) || !has_kind(f, f->number, FILE_DIRECTORY, e))
        return false;
    if (f->entries.n)
        return error_set(e, "\"%s\" in directory %u is not empty", name, dir);
    remove_entry(d, name, f);
    return true;
}

/* Rename */

/* Both ends of a rename. new_file is NULL when nothing has the new name. */
struct move {
    struct tree_file *dir, *file, *new_dir, *new_file;
    const char *name, *new_name;
};

static bool move_allowed(const struct tree *t, const struct move *m, bool exchange, struct error *e)
{
    const struct tree_file *f = m->file, *n = m->new_file;
    if (f->kind == FILE_DIRECTORY && is_below(t, m->new_dir->number, f->number))
        return error_set(e, "directory %u cannot be moved into itself", f->number);
    if (exchange) {
        if (n->kind == FILE_DIRECTORY && is_below(t, m->dir->number, n->number))
            return error_set(e, "directory %u cannot be moved into itself", n->number);
        return true;
    }
    if (n && (n->kind == FILE_DIRECTORY) != (f->kind == FILE_DIRECTORY))
        return error_set(e, "\"%s\" cannot replace \"%s\": only one of them is a directory",
                         m->name, m->new_name);
    if (n && n->entries.n)
        return error_set(e, "directory \"%s\" cannot be replaced: it is not empty", m->new_name);
    return true;
}

static void exchange_entries(const struct move *m)
{
    find_entry(m->dir, m->name)->file = m->new_file->number;
    find_entry(m->new_dir, m->new_name)->file = m->file->number;
    name_taken(m->file);
    name_taken(m->new_file);
    name_given(m->file, m->new_dir->number);
    name_given(m->new_file, m->dir->number);
}

bool tree_rename(struct tree *t, uint32_t dir, const char *name, uint32_t to_dir,
                 const char *to_name, uint32_t flags, struct error *e)
{
    bool exchange = flags & RENAME_EXCHANGE;
    struct move m = {.name = name, .new_name = to_name};
    if (flags & ~(uint32_t)(RENAME_EXCHANGE | RENAME_NOREPLACE) ||
        (exchange && (flags & RENAME_NOREPLACE)))
        return error_set(e, "a rename with flags %#x cannot be applied", flags);
    if (!get_entry(t, dir, name, 0, &m.dir, &m.file, e))
        return false;
    if (tree_lookup(t, to_dir, to_name) || exchange) {
        if (!get_entry(t, to_dir, to_name, 0, &m.new_dir, &m.new_file, e))
            return false;
    } else {
        m.new_dir = find_file(t, to_dir);
        if (!has_kind(m.new_dir, to_dir, FILE_DIRECTORY, e) || !name_allowed(to_name, e))
            return false;
    }
    if (m.new_file && (flags & RENAME_NOREPLACE))
        return error_set(e, "directory %u has an entry \"%s\" already", to_dir, to_name);
    if (m.new_file == m.file)
        return true;
    if (!move_allowed(t, &m, exchange, e))
        return false;
    if (exchange) {
        exchange_entries(&m);
        return true;
    }
    if (m.new_file)
        remove_entry(m.new_dir, to_name, m.new_file);
    remove_entry(m.dir, name, m.file);
    add_entry(m.new_dir, to_name, m.file);
    return true;
}

/* Contents */

static bool get_range(const struct tree *t, uint32_t file, uint64_t offset, uint64_t size,
                      struct tree_file **f, struct error *e)
{
    *f = find_file(t, file);
    if (!has_kind(*f, file, FILE_REGULAR, e))
        return false;
    if (offset >= EXTENTS_END || size >= EXTENTS_END - offset)
        return error_set(e, "file %u cannot reach from %llu for %llu bytes", file,
                         (unsigned long long)offset, (unsigned long long)size);
    return true;
}

static void reach(struct tree_file *f, uint64_t end)
{
    if (end > f->size)
        f->size = end;
}

bool tree_write(struct tree *t, uint32_t file, uint64_t offset, uint64_t size, uint64_t payload,
                uint64_t from, struct error *e)
{
    struct tree_file *f;
    if (!get_range(t, file, offset, size, &f, e))
        return false;
    if (!size)
        return true;
    extents_write(&f->extents, offset, size, payload, from);
    reach(f, offset + size);
    return true;
}

bool tree_truncate(struct tree *t, uint32_t file, uint64_t size, struct error *e)
{
    struct tree_file *f;
    if (!get_range(t, file, 0, size, &f, e))
        return false;
    if (size < f->size)
        extents_cut(&f->extents, size);
    f->size = size;
    return true;
}

/* Collapse and insert act inside the file and change its size; see fallocate(2). */
static bool shift_range(struct tree_file *f, bool insert, uint64_t offset, uint64_t size,
                        struct error *e)
{
    if (insert ? offset >= f->size || size >= EXTENTS_END - f->size : offset + size >= f->size)
        return error_set(e, "file %u of %llu bytes cannot be shifted at %llu by %llu", f->number,
                         (unsigned long long)f->size, (unsigned long long)offset,
                         (unsigned long long)size);
    if (insert) {
        extents_insert(&f->extents, offset, size);
        f->size += size;
    } else {
        extents_collapse(&f->extents, offset, size);
        f->size -= size;
    }
    return true;
}

bool tree_fallocate(struct tree *t, uint32_t file, uint32_t flags, uint64_t offset, uint64_t size,
                    struct error *e)
{
    struct tree_file *f;
    if (!get_range(t, file, offset, size, &f, e))
        return false;
    switch (flags) {
    case FALLOC_FL_COLLAPSE_RANGE:
    case FALLOC_FL_INSERT_RANGE:
        return shift_range(f, flags == FALLOC_FL_INSERT_RANGE, offset, size, e);
    case FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE:
        extents_clear(&f->extents, offset, size);
        return true;
    case FALLOC_FL_ZERO_RANGE:
    case FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE:
        extents_write(&f->extents, offset, size, PAYLOAD_ZEROS, 0);
        break;
    case 0:
    case FALLOC_FL_KEEP_SIZE:
    case FALLOC_FL_UNSHARE_RANGE:
    case FALLOC_FL_UNSHARE_RANGE | FALLOC_FL_KEEP_SIZE:
        extents_allocate(&f->extents, offset, size);
        break;
    default:
        return error_set(e, "a fallocate with flags %#x cannot be applied", flags);
    }
    if (!(flags & FALLOC_FL_KEEP_SIZE))
        reach(f, offset + size);
    return true;
}

bool tree_chmod(struct tree *t, uint32_t file, uint32_t mode, struct error *e)
{
    struct tree_file *f = find_file(t, file);
    if (!f)
        return error_set(e, "file %u does not exist", file);
    f->mode = mode & FILE_MODE_BITS;
    return true;
}
