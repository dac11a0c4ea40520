/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two walks: the first makes everything, in directories that only we can enter; the second gives
 * directories their modes, from the leaves up, when nothing more is to be made in them. A walk
 * holds the descriptors of the top and of the directory it is in, and goes up by "..", checked
 * against the inode that it came from: a deep tree takes memory, not descriptors or stack.
 */
#include "engine/layout.h"

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
    CHUNK = 1024 * 1024,   /* bytes written at once */
    ZEROS_MAX = 64 * 1024, /* up to here zeros are written; longer runs are allocated instead */
    PRIVATE_DIRECTORY = 0700,
    PRIVATE_FILE = 0600,
    DIRECTORY_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

/* A directory on the way from the top to where the walk is. */
struct level {
    const struct tree_file *dir;
    const char *name; /* its entry's; "" for the top */
    dev_t dev;
    ino_t ino;
    size_t next; /* entry */
};

/* Where a file was first put, for those that may be looked for again. */
struct place {
    uint32_t dir;
    const char *name;
};

struct layout {
    const struct tree *tree;
    struct session *session;
    struct layout_counts counts;
    int top, fd; /* the directory given, and that of the last level */
    vec_of(struct level) levels;
    vec_of(struct place) places;
    struct map placed; /* a file's number to its place, from 1 */

    char *chunk; /* CHUNK bytes, of which `used` wait to be written from `start` on */
    uint64_t start;
    size_t used;
    struct error *e;
};

/* The error of a system call on an entry of the directory the walk is in, with its whole path. */
static bool failed(const struct layout *l, const char *verb, const char *name)
{
    int saved = errno;
    struct buf path = {0};
    for (size_t i = 1; i < l->levels.n; i++)
        buf_printf(&path, "%s/", l->levels.at[i].name);
    buf_text(&path, name);
    errno = saved;
    error_errno(l->e, "cannot %s %s", verb, buf_string(&path));
    buf_free(&path);
    return false;
}

/* Contents */

bool layout_write(int fd, const char *bytes, size_t size, uint64_t offset)
{
    while (size) {
        ssize_t n = pwrite(fd, bytes, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        bytes += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
}

static bool flush(struct layout *l, int fd, const char *name)
{
    bool ok = layout_write(fd, l->chunk, l->used, l->start);
    l->used = 0;
    return ok || failed(l, "write", name);
}

/* Neighbouring pieces gather into one chunk: a log of small appends takes few writes. */
static bool write_piece(struct layout *l, int fd, const char *name, struct extent piece)
{
    while (piece.size) {
        if (l->used && (l->used == CHUNK || l->start + l->used != piece.offset) &&
            !flush(l, fd, name))
            return false;
        if (!l->used)
            l->start = piece.offset;
        size_t room = CHUNK - l->used;
        size_t size = piece.size < room ? piece.size : room;
        char *to = l->chunk + l->used;
        if (piece.payload == PAYLOAD_ZEROS)
            memset(to, 0, size);
        else if (!session_payload(l->session, piece.payload, piece.from, to, size, l->e))
            return false;
        l->used += size;
        piece.offset += size;
        piece.from += size;
        piece.size -= size;
    }
    return true;
}

/* Zeros need not be written, but a file that had its blocks keeps them where that is possible. */
static bool allocate(struct layout *l, int fd, const char *name, const struct extent *piece)
{
    while (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)piece->offset, (off_t)piece->size) != 0) {
        if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO)
            return failed(l, "allocate", name);
        if (errno != EINTR)
            break;
    }
    return true;
}

static bool write_contents(struct layout *l, int fd, const char *name, const struct tree_file *f)
{
    if (ftruncate(fd, (off_t)f->size) != 0)
        return failed(l, "set the size of", name);
    l->used = 0;
    struct extent piece;
    for (uint64_t at = 0; extents_find(&f->extents, at, &piece);) {
        at = piece.offset + piece.size;
        bool inside = at <= f->size;
        if (piece.payload == PAYLOAD_ZEROS && (!inside || piece.size > ZEROS_MAX)) {
            if (!allocate(l, fd, name, &piece))
                return false;
            continue;
        }
        if (piece.offset >= f->size)
            continue;
        if (!inside)
            piece.size = f->size - piece.offset;
        if (!write_piece(l, fd, name, piece))
            return false;
    }
    return flush(l, fd, name);
}

static bool lay_regular(struct layout *l, const char *name, const struct tree_file *f)
{
    int fd =
        openat(l->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, PRIVATE_FILE);
    if (fd < 0)
        return failed(l, "create", name);
    bool ok = write_contents(l, fd, name, f) &&
              (fchmod(fd, f->mode) == 0 || failed(l, "set the mode of", name));
    if (close(fd) != 0 && ok)
        ok = failed(l, "write", name);
    return ok;
}

static bool lay_fifo(struct layout *l, const char *name, const struct tree_file *f)
{
    if (mkfifoat(l->fd, name, PRIVATE_FILE) != 0)
        return failed(l, "create", name);
    /* Opened both ways it does not wait for anybody. */
    int fd = openat(l->fd, name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    bool ok = fd >= 0 && fchmod(fd, f->mode) == 0;
    if (!ok)
        failed(l, "set the mode of", name);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Places */

static const struct place *find_place(const struct layout *l, uint32_t file)
{
    const uint64_t *at = map_get(&l->placed, &file, sizeof file);
    return at ? &l->places.at[*at - 1] : NULL;
}

static void keep_place(struct layout *l, uint32_t file, const char *name)
{
    struct place place = {.dir = vec_last(&l->levels).dir->number, .name = name};
    vec_push(&l->places, place);
    *map_put(&l->placed, &file, sizeof file, NULL) = l->places.n;
}

/* Opens a directory that was made before, step by step from the top. -1 with errno. */
static int open_place(const struct layout *l, uint32_t dir)
{
    vec_of(const char *) way = {0};
    for (const struct place *p; dir != FILE_ROOT; dir = p->dir) {
        p = find_place(l, dir);
        vec_push(&way, p->name);
    }
    int fd = openat(l->top, ".", DIRECTORY_FLAGS);
    while (fd >= 0 && way.n) {
        int below = openat(fd, way.at[--way.n], DIRECTORY_FLAGS);
        int saved = errno;
        close(fd);
        errno = saved;
        fd = below;
    }
    vec_free(&way);
    return fd;
}

static bool lay_link(struct layout *l, const char *name, const struct place *first)
{
    int fd = open_place(l, first->dir);
    bool ok = fd >= 0 && linkat(fd, first->name, l->fd, name, 0) == 0;
    if (!ok)
        failed(l, "link", name);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Walks */

/* Goes to a directory below by its name, or up by "..". */
static int step(struct layout *l, const char *name, struct stat *st)
{
    int fd = openat(l->fd, name, DIRECTORY_FLAGS);
    if (fd < 0 || fstat(fd, st) != 0) {
        failed(l, "open", name);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

static bool walk_down(struct layout *l, const char *name, const struct tree_file *dir)
{
    struct stat st;
    int fd = step(l, name, &st);
    if (fd < 0)
        return false;
    close(l->fd);
    l->fd = fd;
    vec_push(&l->levels, (struct level){dir, name, st.st_dev, st.st_ino, 0});
    return true;
}

/* Leaves the directory the walk is in, giving it its mode if wanted. At the top the walk ends. */
static bool walk_up(struct layout *l, bool set_mode)
{
    struct level left = vec_last(&l->levels);
    if (l->levels.n == 1) {
        l->levels.n = 0;
        return !set_mode || fchmod(l->fd, left.dir->mode) == 0 || failed(l, "set the mode of", ".");
    }
    struct stat st;
    int up = step(l, "..", &st);
    if (up < 0)
        return false;
    bool ok = !set_mode || fchmod(l->fd, left.dir->mode) == 0 || failed(l, "set the mode of", ".");
    close(l->fd);
    l->fd = up;
    l->levels.n--;
    const struct level *here = &vec_last(&l->levels);
    if (ok && (st.st_dev != here->dev || st.st_ino != here->ino))
        return error_set(l->e, "%s was moved by something else", left.name);
    return ok;
}

static bool walk_begin(struct layout *l)
{
    struct stat st;
    int fd = openat(l->top, ".", DIRECTORY_FLAGS);
    if (fd < 0 || fstat(fd, &st) != 0) {
        failed(l, "open", ".");
        if (fd >= 0)
            close(fd);
        return false;
    }
    if (l->fd >= 0)
        close(l->fd);
    l->fd = fd;
    l->levels.n = 0;
    const struct tree_file *root = tree_file(l->tree, FILE_ROOT);
    vec_push(&l->levels, (struct level){root, "", st.st_dev, st.st_ino, 0});
    return true;
}

static bool make_entry(struct layout *l, const struct tree_entry *entry)
{
    const struct tree_file *f = tree_file(l->tree, entry->file);
    const char *name = entry->name;
    const struct place *first = f->links > 1 ? find_place(l, f->number) : NULL;
    if (f->kind == FILE_OTHER) {
        l->counts.left_out++;
        return true;
    }
    l->counts.names++;
    if (first)
        return lay_link(l, name, first);
    if (f->links > 1 || f->kind == FILE_DIRECTORY)
        keep_place(l, f->number, name);
    switch (f->kind) {
    case FILE_REGULAR:
        return lay_regular(l, name, f);
    case FILE_DIRECTORY:
        return (mkdirat(l->fd, name, PRIVATE_DIRECTORY) == 0 || failed(l, "create", name)) &&
               walk_down(l, name, f);
    case FILE_SYMLINK:
        return symlinkat(f->target, l->fd, name) == 0 || failed(l, "create", name);
    default:
        return lay_fifo(l, name, f);
    }
}

static bool make_all(struct layout *l)
{
    bool ok = walk_begin(l);
    while (ok && l->levels.n) {
        struct level *here = &vec_last(&l->levels);
        ok = here->next < here->dir->entries.n ? make_entry(l, &here->dir->entries.at[here->next++])
                                               : walk_up(l, false);
    }
    return ok;
}

static bool set_modes(struct layout *l)
{
    bool ok = walk_begin(l);
    while (ok && l->levels.n) {
        struct level *here = &vec_last(&l->levels);
        if (here->next == here->dir->entries.n) {
            ok = walk_up(l, true);
            continue;
        }
        const struct tree_entry *entry = &here->dir->entries.at[here->next++];
        const struct tree_file *f = tree_file(l->tree, entry->file);
        if (f->kind == FILE_DIRECTORY)
            ok = walk_down(l, entry->name, f);
    }
    return ok;
}

/* The directory to lay out in */

static bool is_empty(int fd, bool *empty)
{
    int copy = openat(fd, ".", DIRECTORY_FLAGS);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    if (!dir) {
        if (copy >= 0)
            close(copy);
        return false;
    }
    *empty = true;
    errno = 0;
    for (struct dirent *entry; *empty && (entry = readdir(dir));)
        *empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
    bool ok = errno == 0;
    closedir(dir);
    return ok;
}

int layout_open_top(const char *dir, struct error *e)
{
    if (mkdir(dir, PRIVATE_DIRECTORY) != 0 && errno != EEXIST) {
        error_errno(e, "cannot make the folder %s", dir);
        return -1;
    }
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool empty = false;
    if (fd < 0)
        error_errno(e, "cannot open the folder %s", dir);
    else if (!is_empty(fd, &empty))
        error_errno(e, "cannot read the folder %s", dir);
    else if (!empty)
        error_set(e, "%s is not empty: give a new folder; nothing was changed", dir);
    if (empty)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool tree_lay_out(const struct tree *t, struct session *s, const char *dir,
                  struct layout_counts *counts, struct error *e)
{
    struct error why = {{0}};
    struct layout l = {.tree = t, .session = s, .fd = -1, .e = &why};
    l.top = layout_open_top(dir, e);
    if (l.top < 0)
        return false;
    l.chunk = xmalloc(CHUNK);
    bool ok = make_all(&l) && set_modes(&l);
    if (!ok)
        error_set(e, "%s is only in part what it should be, remove it: %s", dir, why.text);
    if (counts)
        *counts = l.counts;
    vec_free(&l.levels);
    vec_free(&l.places);
    map_free(&l.placed);
    free(l.chunk);
    close(l.top);
    if (l.fd >= 0)
        close(l.fd);
    return ok;
}
