/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/files.h"

#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/image.h"
#include "engine/map.h"
#include "engine/vec.h"

/* A directory cannot be deeper than this; a cycle through a moved directory would be our bug. */
enum { DEEPEST = 4096 };

struct name {
    uint32_t dir;
    char *text;
};

struct file {
    enum file_kind kind;
    vec_of(struct name) names;
    uint32_t path;       /* a string of the recording, */
    uint64_t path_state; /* right while this equals files.state */
    uint64_t moves;
    int64_t size; /* plus 1; 0 when it is not known */
    uint32_t mode;
};

struct inode {
    dev_t dev;
    ino_t ino;
};

struct files {
    struct recording *recording;
    char *root;
    struct map by_inode;    /* struct inode → file number, 0 when it lives no longer */
    struct map excluded;    /* struct inode */
    vec_of(struct file) at; /* by file number */
    bool rootless;          /* the data directory was removed */
    uint64_t state;         /* goes up when a directory moves, which moves all below it */
};

struct files *files_new(struct recording *recording, const char *root)
{
    struct files *f = xcalloc(1, sizeof *f);
    f->recording = recording;
    f->root = xstrdup(root);
    f->state = 1;
    return f;
}

void files_free(struct files *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->at.n; i++) {
        struct file *file = &f->at.at[i];
        for (size_t k = 0; k < file->names.n; k++)
            free(file->names.at[k].text);
        vec_free(&file->names);
    }
    vec_free(&f->at);
    map_free(&f->by_inode);
    map_free(&f->excluded);
    free(f->root);
    free(f);
}

const char *files_root(const struct files *f)
{
    return f->root;
}

/* Zeroed first, because the key is compared with its padding. */
static struct inode inode_key(dev_t dev, ino_t ino)
{
    struct inode key;
    memset(&key, 0, sizeof key);
    key.dev = dev;
    key.ino = ino;
    return key;
}

void files_exclude(struct files *f, dev_t dev, ino_t ino)
{
    struct inode key = inode_key(dev, ino);
    *map_put(&f->excluded, &key, sizeof key, NULL) = 1;
}

bool files_excluded(const struct files *f, dev_t dev, ino_t ino)
{
    struct inode key = inode_key(dev, ino);
    return map_get(&f->excluded, &key, sizeof key) != NULL;
}

static struct file *file_at(const struct files *f, uint32_t file)
{
    return &f->at.at[file];
}

void files_add(struct files *f, dev_t dev, ino_t ino, uint32_t file, enum file_kind kind)
{
    while (f->at.n <= file)
        vec_push(&f->at, (struct file){0});
    file_at(f, file)->kind = kind;
    if (file == FILE_ROOT)
        f->rootless = false;
    struct inode key = inode_key(dev, ino);
    *map_put(&f->by_inode, &key, sizeof key, NULL) = file;
}

void files_lose_root(struct files *f, dev_t dev, ino_t ino)
{
    struct inode key = inode_key(dev, ino);
    *map_put(&f->by_inode, &key, sizeof key, NULL) = 0;
    f->rootless = true;
}

bool files_rootless(const struct files *f)
{
    return f->rootless;
}

uint32_t files_create(struct files *f, const struct stat *st, const char *path)
{
    enum file_kind kind = image_kind(st->st_mode);
    uint32_t file = recording_file(f->recording, kind, path);
    files_add(f, st->st_dev, st->st_ino, file, kind);
    files_set_mode(f, file, st->st_mode & FILE_MODE_BITS);
    return file;
}

uint32_t files_find(struct files *f, const struct stat *st)
{
    struct inode key = inode_key(st->st_dev, st->st_ino);
    uint64_t *file = map_get(&f->by_inode, &key, sizeof key);
    if (!file || !*file)
        return 0;
    /* The inode number of a file that died here was given to one elsewhere. */
    if (*file != FILE_ROOT && st->st_nlink > 0 && files_nameless(f, (uint32_t)*file)) {
        *file = 0;
        return 0;
    }
    return (uint32_t)*file;
}

uint64_t files_moves(const struct files *f, uint32_t file)
{
    return file_at(f, file)->moves + 1;
}

uint64_t files_move(struct files *f, uint32_t file)
{
    return ++file_at(f, file)->moves + 1;
}

int64_t files_size(const struct files *f, uint32_t file)
{
    return file_at(f, file)->size - 1;
}

void files_set_size(struct files *f, uint32_t file, int64_t size)
{
    file_at(f, file)->size = size + 1;
}

uint32_t files_mode(const struct files *f, uint32_t file)
{
    return file_at(f, file)->mode;
}

void files_set_mode(struct files *f, uint32_t file, uint32_t mode)
{
    file_at(f, file)->mode = mode;
}

static void path_changed(struct files *f, struct file *file)
{
    file->path_state = 0;
    if (file->kind == FILE_DIRECTORY)
        f->state++;
}

void files_name(struct files *f, uint32_t dir, const char *name, uint32_t file)
{
    struct file *entry = file_at(f, file);
    vec_push(&entry->names, (struct name){dir, xstrdup(name)});
    path_changed(f, entry);
}

void files_unname(struct files *f, uint32_t dir, const char *name, uint32_t file)
{
    /* Whoever asks for the path of a file without names wants the last one it had. */
    files_path(f, file);
    struct file *entry = file_at(f, file);
    for (size_t i = 0; i < entry->names.n; i++) {
        struct name *n = &entry->names.at[i];
        if (n->dir != dir || strcmp(n->text, name) != 0)
            continue;
        free(n->text);
        *n = vec_last(&entry->names);
        entry->names.n--;
        if (entry->names.n)
            path_changed(f, entry);
        return;
    }
}

static bool is_below(const struct files *f, uint32_t file, uint32_t dir)
{
    for (int depth = 0; depth < DEEPEST && file && file != FILE_ROOT; depth++) {
        if (file == dir)
            return true;
        const struct file *entry = file_at(f, file);
        if (!entry->names.n)
            return false;
        file = entry->names.at[0].dir;
    }
    return false;
}

void files_detach(struct files *f, uint32_t dir)
{
    if (file_at(f, dir)->kind != FILE_DIRECTORY)
        return;
    bool *gone = xcalloc(f->at.n, sizeof *gone);
    for (uint32_t file = 1; file < f->at.n; file++)
        gone[file] = is_below(f, file, dir);
    for (uint32_t file = 1; file < f->at.n; file++) {
        struct file *entry = file_at(f, file);
        size_t kept = 0;
        for (size_t i = 0; i < entry->names.n; i++)
            if (gone[entry->names.at[i].dir])
                free(entry->names.at[i].text);
            else
                entry->names.at[kept++] = entry->names.at[i];
        entry->names.n = kept;
    }
    free(gone);
}

bool files_nameless(const struct files *f, uint32_t file)
{
    return file_at(f, file)->names.n == 0;
}

uint32_t files_entry_path(struct files *f, uint32_t dir, const char *name)
{
    /* Collected from the entry upwards, written from the root down. */
    const char *parts[DEEPEST];
    size_t n = 0;
    parts[n++] = name;
    while (dir != FILE_ROOT && n < DEEPEST) {
        const struct file *d = file_at(f, dir);
        if (!d->names.n)
            break;
        parts[n++] = d->names.at[0].text;
        dir = d->names.at[0].dir;
    }
    struct buf path = {0};
    while (n-- > 0) {
        buf_text(&path, parts[n]);
        if (n)
            buf_char(&path, '/');
    }
    uint32_t string = recording_string(f->recording, path.at, path.n);
    buf_free(&path);
    return string;
}

uint32_t files_path(struct files *f, uint32_t file)
{
    struct file *entry = file_at(f, file);
    if (entry->path && entry->path_state == f->state)
        return entry->path;
    if (file == FILE_ROOT)
        entry->path = recording_string(f->recording, ".", 1);
    else if (entry->names.n) {
        struct name last = vec_last(&entry->names);
        uint32_t path = files_entry_path(f, last.dir, last.text);
        file_at(f, file)->path = path;
    }
    file_at(f, file)->path_state = f->state;
    return file_at(f, file)->path;
}
