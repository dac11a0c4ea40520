/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The walk holds one descriptor, that of the directory it is in, and goes up by "..": a deep tree
 * takes memory, not descriptors or stack. Going up is checked against the inode that it came from,
 * so that a directory moved meanwhile cannot lead the walk elsewhere.
 */
#include "engine/image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/map.h"
#include "engine/mem.h"
#include "engine/vec.h"

enum {
    PIECE = 1024 * 1024, /* largest extent: bounds what a reader must hold at once */
};

struct inode {
    uint64_t dev, ino;
};

struct subdirectory {
    char *name;
    uint32_t file;
    struct inode inode;
};

/* A directory on the way from the root to where the walk is. */
struct level {
    uint32_t file;
    struct inode inode;
    size_t path_length; /* of the path before this directory's name was added */
    vec_of(struct subdirectory) below;
    size_t next;
};

struct capture {
    struct recording *r;
    const struct image_options *options;
    struct map inodes; /* struct inode to file number, where one can be met again */
    struct buf path;   /* from the data directory, of what is being looked at */
    vec_of(struct level) levels;
    int fd;      /* the directory of the last level */
    char *piece; /* PIECE bytes */
    struct error *e;
};

static const char *shown(const struct capture *c)
{
    return c->path.n ? c->path.at : ".";
}

/* Adds a component, gives the length to return to. */
static size_t path_push(struct buf *path, const char *name)
{
    size_t length = path->n;
    if (length)
        buf_char(path, '/');
    buf_text(path, name);
    return length;
}

static void path_pop(struct buf *path, size_t length)
{
    path->n = length;
    if (path->at)
        path->at[length] = '\0';
}

enum file_kind image_kind(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return FILE_REGULAR;
    case S_IFDIR:
        return FILE_DIRECTORY;
    case S_IFLNK:
        return FILE_SYMLINK;
    case S_IFIFO:
        return FILE_FIFO;
    default:
        return FILE_OTHER;
    }
}

static struct inode inode_of(const struct stat *st)
{
    return (struct inode){.dev = st->st_dev, .ino = st->st_ino};
}

static bool same_inode(const struct stat *st, struct inode inode)
{
    return st->st_dev == inode.dev && st->st_ino == inode.ino;
}

static bool changed_meanwhile(const struct capture *c)
{
    return error_set(c->e,
                     "%s changed while the data directory was being captured; try again when "
                     "nothing else writes to it",
                     shown(c));
}

/* Contents */

static bool capture_range(struct capture *c, int fd, uint32_t file, uint64_t from, uint64_t end)
{
    while (from < end) {
        size_t size = end - from < PIECE ? end - from : PIECE;
        for (size_t have = 0; have < size;) {
            ssize_t n = pread(fd, c->piece + have, size - have, (off_t)(from + have));
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                return error_errno(c->e, "cannot read %s", shown(c));
            if (n == 0)
                return changed_meanwhile(c);
            have += (size_t)n;
        }
        recording_image_extent(c->r, file, from, size, recording_payload(c->r, c->piece, size));
        if (recording_failed(c->r, c->e))
            return false;
        from += size;
    }
    return true;
}

static bool capture_data(struct capture *c, int fd, uint32_t file, uint64_t size)
{
    uint64_t at = 0;
    while (at < size) {
        off_t data = lseek(fd, (off_t)at, SEEK_DATA);
        if (data < 0 && errno == ENXIO)
            break;
        /* A file system that cannot tell holes has none. */
        uint64_t from = data < 0 ? at : (uint64_t)data;
        off_t hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
        uint64_t end = hole < 0 || (uint64_t)hole > size ? size : (uint64_t)hole;
        if (!capture_range(c, fd, file, from, end))
            return false;
        at = end;
    }
    return true;
}

static bool capture_regular(struct capture *c, const char *name, uint32_t file,
                            const struct stat *st)
{
    /* Without O_NONBLOCK a FIFO that has just taken the name would hold us up. */
    int fd = openat(c->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(c->e, "cannot read %s, which is in the data directory", shown(c));
    struct stat opened;
    bool ok = fstat(fd, &opened) == 0 && same_inode(&opened, inode_of(st)) &&
              S_ISREG(opened.st_mode) && opened.st_size == st->st_size;
    ok = ok ? capture_data(c, fd, file, (uint64_t)st->st_size) : changed_meanwhile(c);
    close(fd);
    return ok;
}

static char *read_target(struct capture *c, const char *name)
{
    char *target = xmalloc(PATH_MAX);
    ssize_t n = readlinkat(c->fd, name, target, PATH_MAX);
    if (n > 0 && n < PATH_MAX) {
        target[n] = '\0';
        return target;
    }
    free(target);
    if (n < 0)
        error_errno(c->e, "cannot read the symbolic link %s", shown(c));
    else
        changed_meanwhile(c);
    return NULL;
}

/* Names */

static void tell(struct capture *c, const struct stat *st, uint32_t file, uint32_t parent,
                 const char *name)
{
    struct image_name captured = {
        .dev = st->st_dev,
        .ino = st->st_ino,
        .file = file,
        .parent = parent,
        .name = name,
        .kind = image_kind(st->st_mode),
        .mode = st->st_mode & FILE_MODE_BITS,
        .size = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0,
    };
    if (parent)
        recording_image_name(c->r, parent, name, file);
    if (c->options->captured)
        c->options->captured(c->options->data, &captured);
}

/* A file that has not been met before: its number in *file. */
static bool capture_file(struct capture *c, const char *name, const struct stat *st, uint32_t *file)
{
    enum file_kind kind = image_kind(st->st_mode);
    char *target = NULL;
    if (kind == FILE_SYMLINK && !(target = read_target(c, name)))
        return false;
    *file = recording_file(c->r, kind, shown(c));
    recording_image_file(c->r, *file, kind, st->st_mode & FILE_MODE_BITS,
                         kind == FILE_REGULAR ? (uint64_t)st->st_size : 0, target);
    free(target);
    return kind != FILE_REGULAR || capture_regular(c, name, *file, st);
}

static bool capture_entry(struct capture *c, const char *name)
{
    struct stat st;
    if (fstatat(c->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return error_errno(c->e, "cannot look at %s, which is in the data directory", shown(c));
    struct inode inode = inode_of(&st);
    if (c->options->skip && c->options->skip(c->options->data, inode.dev, inode.ino, shown(c)))
        return true;
    uint32_t parent = vec_last(&c->levels).file, file;
    bool directory = S_ISDIR(st.st_mode);
    uint64_t *known = NULL;
    if (directory || st.st_nlink > 1)
        known = map_put(&c->inodes, &inode, sizeof inode, NULL);
    if (known && *known) {
        if (directory)
            return error_set(c->e, "%s is mounted twice in the data directory; unmount one",
                             shown(c));
        file = (uint32_t)*known;
    } else {
        if (!capture_file(c, name, &st, &file))
            return false;
        if (known)
            *known = file;
    }
    tell(c, &st, file, parent, name);
    if (directory)
        vec_push(&vec_last(&c->levels).below,
                 (struct subdirectory){.name = xstrdup(name), .file = file, .inode = inode});
    return !recording_failed(c->r, c->e);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef vec_of(char *) name_list;

/* All names in the directory the walk is in, sorted, so that equal directories give equal images
 * whatever order the file system keeps them in. */
static bool read_names(struct capture *c, name_list *names)
{
    int fd = openat(c->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        error_errno(c->e, "cannot read the directory %s", shown(c));
        if (fd >= 0)
            close(fd);
        return false;
    }
    errno = 0;
    for (struct dirent *entry; (entry = readdir(dir)); errno = 0)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            vec_push(names, xstrdup(entry->d_name));
    bool ok = errno == 0 || error_errno(c->e, "cannot read the directory %s", shown(c));
    closedir(dir);
    if (names->n)
        qsort(names->at, names->n, sizeof *names->at, by_name);
    return ok;
}

static bool capture_entries(struct capture *c)
{
    name_list names = {0};
    bool ok = read_names(c, &names);
    for (size_t i = 0; i < names.n; i++) {
        size_t length = path_push(&c->path, names.at[i]);
        ok = ok && capture_entry(c, names.at[i]);
        path_pop(&c->path, length);
        free(names.at[i]);
    }
    vec_free(&names);
    return ok;
}

/* The walk */

static bool enter(struct capture *c, const char *name, struct inode inode)
{
    int fd = openat(c->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return error_errno(c->e, "cannot open the directory %s", shown(c));
    close(c->fd);
    c->fd = fd;
    struct stat st;
    if (fstat(fd, &st) != 0 || !same_inode(&st, inode))
        return changed_meanwhile(c);
    return true;
}

static bool walk_down(struct capture *c)
{
    struct level *here = &vec_last(&c->levels);
    struct subdirectory *to = &here->below.at[here->next++];
    struct level level = {.file = to->file, .inode = to->inode};
    level.path_length = path_push(&c->path, to->name);
    bool ok = enter(c, to->name, to->inode);
    vec_push(&c->levels, level);
    return ok && capture_entries(c);
}

static void drop_level(struct capture *c)
{
    struct level *here = &vec_last(&c->levels);
    for (size_t i = 0; i < here->below.n; i++)
        free(here->below.at[i].name);
    vec_free(&here->below);
    path_pop(&c->path, here->path_length);
    c->levels.n--;
}

static bool walk_up(struct capture *c)
{
    drop_level(c);
    return !c->levels.n || enter(c, "..", vec_last(&c->levels).inode);
}

static bool walk(struct capture *c)
{
    if (!capture_entries(c))
        return false;
    while (c->levels.n) {
        const struct level *here = &vec_last(&c->levels);
        if (!(here->next < here->below.n ? walk_down(c) : walk_up(c)))
            return false;
    }
    return true;
}

bool image_capture(struct recording *r, const char *dir, const struct image_options *options,
                   struct error *e)
{
    static const struct image_options none;
    struct capture c = {.r = r, .options = options ? options : &none, .e = e};
    struct stat st;
    c.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (c.fd < 0 || fstat(c.fd, &st) != 0) {
        error_errno(e, "cannot open the data directory %s", dir);
        if (c.fd >= 0)
            close(c.fd);
        return false;
    }
    c.piece = xmalloc(PIECE);
    struct level root = {.inode = inode_of(&st)};
    bool ok = capture_file(&c, "", &st, &root.file);
    *map_put(&c.inodes, &root.inode, sizeof root.inode, NULL) = root.file;
    vec_push(&c.levels, root);
    tell(&c, &st, root.file, 0, "");
    ok = ok && walk(&c);
    while (c.levels.n)
        drop_level(&c);
    vec_free(&c.levels);
    map_free(&c.inodes);
    buf_free(&c.path);
    free(c.piece);
    close(c.fd);
    return ok;
}
