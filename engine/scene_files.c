/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The part of a scene that makes files and changes what they hold and their modes. For each block
 * the scene knows the hash of what is on disk: a block that was touched and is as before, as after
 * an op was undone and applied again, is not written.
 */
#include "engine/scene_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/layout.h"
#include "engine/mem.h"

/* While a block is being written: equal to no hash of a block, as far as hashes ever differ. */
static const struct state_hash UNKNOWN = {UINT64_MAX, UINT64_MAX};

static bool same_hash(struct state_hash a, struct state_hash b)
{
    return a.low == b.low && a.high == b.high;
}

static bool is_zeros(struct state_hash h)
{
    return !h.low && !h.high;
}

/* What is known of blocks on disk */

static size_t leaf_place(const struct scene_file *sf, uint64_t first)
{
    size_t low = 0, high = sf->leaves.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sf->leaves.at[middle]->first < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct scene_leaf *disk_leaf(struct scene_file *sf, uint64_t first)
{
    size_t i = leaf_place(sf, first);
    if (i < sf->leaves.n && sf->leaves.at[i]->first == first)
        return sf->leaves.at[i];
    struct scene_leaf *leaf = xcalloc(1, sizeof *leaf);
    leaf->first = first;
    vec_push(&sf->leaves, leaf);
    memmove(&sf->leaves.at[i + 1], &sf->leaves.at[i],
            (sf->leaves.n - 1 - i) * sizeof sf->leaves.at[0]);
    sf->leaves.at[i] = leaf;
    return leaf;
}

/* What lies behind the new end is gone. The block that the end lies in keeps its hash: if the state
 * wants just that, the bytes behind the end were zeros. */
static void forget_behind(struct scene_file *sf, uint64_t size)
{
    uint64_t blocks = (size + OP_BLOCK_SIZE - 1) / OP_BLOCK_SIZE;
    while (sf->leaves.n && vec_last(&sf->leaves)->first >= blocks)
        free(sf->leaves.at[--sf->leaves.n]);
    if (!sf->leaves.n)
        return;
    struct scene_leaf *last = vec_last(&sf->leaves);
    for (unsigned slot = 0; slot < LEAF_BLOCKS; slot++)
        if (last->first + slot >= blocks)
            last->hashes[slot] = (struct state_hash){0, 0};
}

void scene_forget(struct scene_file *sf)
{
    for (size_t i = 0; i < sf->leaves.n; i++)
        free(sf->leaves.at[i]);
    vec_free(&sf->leaves);
    *sf = (struct scene_file){0};
}

/* Contents */

/* Blocks of one leaf, next to each other, that go to disk together. */
struct run {
    const struct state_file *file;
    const struct state_entry *entry; /* a name, for messages */
    struct scene_leaf *disk;
    int fd;
    unsigned first, n;
    size_t bytes;
    struct state_hash hashes[LEAF_BLOCKS];
};

static bool flush(struct scene *c, struct run *run)
{
    uint64_t offset = (run->disk->first + run->first) * OP_BLOCK_SIZE;
    if (run->n && !layout_write(run->fd, c->chunk, run->bytes, offset))
        return scene_failed(c, "write", run->entry);
    for (unsigned i = 0; i < run->n; i++)
        run->disk->hashes[run->first + i] = run->hashes[i];
    c->counts.blocks += run->n;
    run->n = 0;
    run->bytes = 0;
    return true;
}

/* Zeros take no room where the file system can do without. */
static bool clear_block(struct scene *c, struct run *run, unsigned slot, uint32_t length)
{
    uint64_t offset = (run->disk->first + slot) * OP_BLOCK_SIZE;
    static const char zeros[OP_BLOCK_SIZE];
    c->counts.blocks++;
    if (fallocate(run->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                  OP_BLOCK_SIZE) != 0 &&
        !layout_write(run->fd, zeros, length, offset))
        return scene_failed(c, "write", run->entry);
    run->disk->hashes[slot] = (struct state_hash){0, 0};
    return true;
}

static bool sync_block(struct scene *c, struct run *run, struct state_block *block, unsigned slot)
{
    uint32_t length = block_in_sight(run->file, run->disk->first + slot);
    struct state_hash hash;
    if (!block_hash(&c->state->blocks, block, length, &hash, c->e))
        return false;
    if (same_hash(hash, run->disk->hashes[slot]))
        return true;
    run->disk->hashes[slot] = UNKNOWN;
    if (is_zeros(hash))
        return clear_block(c, run, slot, length);
    if (run->n && run->first + run->n != slot && !flush(c, run))
        return false;
    const unsigned char *bytes = block_bytes(&c->state->blocks, block, c->e);
    if (!bytes)
        return false;
    if (!run->n)
        run->first = slot;
    memcpy(c->chunk + run->bytes, bytes, length);
    run->bytes += length;
    run->hashes[run->n++] = hash;
    return true;
}

static bool sync_blocks(struct scene *c, struct scene_file *sf, struct run *run)
{
    const struct touched *head = &run->file->leaves_touched;
    bool ok = true;
    for (struct touched *at = head->after; ok && at != head && at->step > sf->synced;
         at = at->after) {
        struct state_leaf *leaf = touched_as(at, struct state_leaf, touched);
        if (leaf->first * OP_BLOCK_SIZE >= run->file->size)
            continue; /* out of sight, and forgotten when it was cut off */
        run->disk = disk_leaf(sf, leaf->first);
        for (unsigned slot = 0; ok && slot < LEAF_BLOCKS; slot++)
            if (leaf->steps[slot] > sf->synced)
                ok = sync_block(c, run, leaf->blocks[slot], slot);
        ok = ok && flush(c, run);
    }
    return ok;
}

static bool sync_fd(struct scene *c, struct state_file *f, const struct state_entry *entry, int fd)
{
    struct scene_file *sf = &c->files.at[f->index];
    struct run run = {.file = f, .entry = entry, .fd = fd};
    if (sf->size != f->size) {
        c->counts.lengths++;
        if (f->size < sf->size)
            forget_behind(sf, f->size);
        if (ftruncate(fd, (off_t)f->size) != 0)
            return scene_failed(c, "set the size of", entry);
        sf->size = f->size;
    }
    if (!sync_blocks(c, sf, &run))
        return false;
    sf->synced = c->state->step;
    return true;
}

/* Whether contents on disk may differ from those in the state. */
static bool contents_touched(const struct scene_file *sf, const struct state_file *f)
{
    return sf->size != f->size || f->leaves_touched.after->step > sf->synced;
}

bool scene_contents(struct scene *c, struct state_file *f)
{
    struct scene_file *sf = &c->files.at[f->index];
    if (f->kind != FILE_REGULAR || !contents_touched(sf, f))
        return true;
    const struct state_entry *entry = c->state->entries.at[sf->names - 1];
    int dir = scene_dir(c, entry->dir->index);
    if (dir < 0)
        return false;
    if (!c->privileged && !(sf->mode & S_IWUSR)) {
        if (fchmodat(dir, entry->name, SCENE_PRIVATE_FILE, AT_SYMLINK_NOFOLLOW) != 0)
            return scene_failed(c, "open", entry);
        sf->mode = SCENE_PRIVATE_FILE;
    }
    int fd = openat(dir, entry->name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return scene_failed(c, "open", entry);
    bool ok = sync_fd(c, f, entry, fd);
    /* The kernel takes set-id bits away when somebody without privileges writes. */
    if (!c->privileged)
        sf->mode &= (uint32_t) ~(S_ISUID | S_ISGID);
    scene_queue_mode(c, f->index);
    if (close(fd) != 0 && ok)
        ok = scene_failed(c, "write", entry);
    return ok;
}

/* Making */

static bool make_on_disk(struct scene *c, struct state_file *f, const struct state_entry *entry,
                         int dir)
{
    int fd;
    switch (f->kind) {
    case FILE_REGULAR: /* what it holds comes with the other contents */
        fd = openat(dir, entry->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    SCENE_PRIVATE_FILE);
        return (fd >= 0 && close(fd) == 0) || scene_failed(c, "create", entry);
    case FILE_DIRECTORY:
        return mkdirat(dir, entry->name, SCENE_PRIVATE_DIRECTORY) == 0 ||
               scene_failed(c, "create", entry);
    case FILE_SYMLINK:
        return symlinkat(f->target, dir, entry->name) == 0 || scene_failed(c, "create", entry);
    default:
        return mkfifoat(dir, entry->name, SCENE_PRIVATE_FILE) == 0 ||
               scene_failed(c, "create", entry);
    }
}

bool scene_make(struct scene *c, struct state_file *f, const struct state_entry *entry)
{
    int dir = scene_dir(c, entry->dir->index);
    if (dir < 0 || !make_on_disk(c, f, entry, dir))
        return false;
    struct scene_file *sf = &c->files.at[f->index];
    sf->on_disk = true;
    sf->kind = f->kind;
    sf->born = f->born;
    sf->mode = UINT32_MAX; /* what the umask left of it */
    c->counts.made++;
    return true;
}

/* Modes */

void scene_queue_mode(struct scene *c, uint32_t file)
{
    struct scene_file *sf = &c->files.at[file];
    if (sf->queued)
        return;
    sf->queued = true;
    vec_push(&c->modes, file);
}

static bool set_mode(struct scene *c, const struct state_file *f)
{
    struct scene_file *sf = &c->files.at[f->index];
    if (!sf->on_disk || sf->mode == f->mode || f->kind == FILE_SYMLINK)
        return true;
    if (f->number == FILE_ROOT) {
        if (fchmod(c->top, f->mode) != 0)
            return error_errno(c->e, "cannot set the mode of the data directory");
    } else if (!sf->names) {
        return true; /* in the store: when it comes out */
    } else {
        const struct state_entry *entry = c->state->entries.at[sf->names - 1];
        int dir = scene_dir(c, entry->dir->index);
        if (dir < 0)
            return false;
        if (fchmodat(dir, entry->name, f->mode, AT_SYMLINK_NOFOLLOW) != 0)
            return scene_failed(c, "set the mode of", entry);
    }
    c->counts.modes++;
    sf->mode = f->mode;
    return true;
}

/* From the last to the first: what a directory needed opening for comes before it is closed. */
bool scene_modes(struct scene *c)
{
    while (c->modes.n) {
        uint32_t file = c->modes.at[--c->modes.n];
        c->files.at[file].queued = false;
        if (!set_mode(c, c->state->files.at[file])) {
            scene_queue_mode(c, file);
            return false;
        }
    }
    return true;
}
