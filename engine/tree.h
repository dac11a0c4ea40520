/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tree: files and their names in memory, as a file system keeps them. A file is an inode with a
 * number; names are entries of directories and belong to no file. Contents are pieces that say
 * where their bytes are kept (engine/extents.h), so that a tree costs memory for its changes, not
 * for its data.
 *
 * Operations do what the kernel's do. They know nothing of events: whoever has a list of changes
 * (a recorded run, a crash state) applies it here. One that cannot be (a name that is taken or not
 * there, a directory moved into itself, a name with a slash) changes nothing and fails with an
 * error that says what the files involved are. Such a list is damaged or hostile.
 *
 * A file without names stays: a program may still write to it, or give it a name again.
 *
 * Each operation is O(1) besides what it does to extents; moving a directory is O(depth).
 */
#ifndef ENGINE_TREE_H
#define ENGINE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/extents.h"
#include "engine/map.h"
#include "engine/stream.h"
#include "engine/vec.h"

enum {
    TREE_NAME_MAX = 255,    /* bytes in a name: what Linux allows */
    TREE_TARGET_MAX = 4095, /* bytes in a symbolic link's target: what Linux allows */
};

struct tree_entry {
    char *name;
    uint32_t file;
};

struct tree_file {
    uint32_t number;
    enum file_kind kind;
    uint32_t mode;  /* permission bits with set-id and sticky bits: 07777 */
    uint32_t links; /* how many names it has; 0 for the root */

    uint64_t size;          /* regular files; what extents hold behind it is not read */
    struct extents extents; /* regular files */

    char *target; /* symbolic links */

    uint32_t parent;                   /* directories: the one it has its name in, 0 for none */
    vec_of(struct tree_entry) entries; /* directories, in no particular order */
    struct map index;                  /* directories: a name to its place in entries, from 1 */
};

struct tree;

/* A tree of nothing but the root, FILE_ROOT, an empty directory. */
struct tree *tree_new(uint32_t root_mode);
void tree_free(struct tree *t);

/* NULL when there is no such file. Valid until the tree is changed. */
const struct tree_file *tree_file(const struct tree *t, uint32_t number);

/* What a name in a directory stands for; 0 when it is not there. */
uint32_t tree_lookup(const struct tree *t, uint32_t dir, const char *name);

/* A new file without a name. target is for symbolic links only, and NULL otherwise. */
bool tree_create(struct tree *t, uint32_t file, enum file_kind kind, uint32_t mode,
                 const char *target, struct error *e);

/* Gives a file one more name; a directory, its only one. */
bool tree_link(struct tree *t, uint32_t dir, const char *name, uint32_t file, struct error *e);

/* tree_create with a name: open, mkdir, symlink, mknod. */
bool tree_make(struct tree *t, uint32_t dir, const char *name, uint32_t file, enum file_kind kind,
               uint32_t mode, const char *target, struct error *e);

/* Takes away a name, which must stand for file; tree_rmdir that of an empty directory. */
bool tree_unlink(struct tree *t, uint32_t dir, const char *name, uint32_t file, struct error *e);
bool tree_rmdir(struct tree *t, uint32_t dir, const char *name, uint32_t file, struct error *e);

/* Takes away a name of whatever kind, with all that is below: it was moved elsewhere. */
bool tree_detach(struct tree *t, uint32_t dir, const char *name, uint32_t file, struct error *e);

/* Moves a name, over what the new one stands for if there is anything. flags as of renameat2:
 * RENAME_NOREPLACE, RENAME_EXCHANGE; RENAME_WHITEOUT is refused. Two names of one file stay as
 * they are, as in the kernel. */
bool tree_rename(struct tree *t, uint32_t dir, const char *name, uint32_t to_dir,
                 const char *to_name, uint32_t flags, struct error *e);

/* Writes bytes `from` … `from + size` of a payload; the file grows when they pass its end. */
bool tree_write(struct tree *t, uint32_t file, uint64_t offset, uint64_t size, uint64_t payload,
                uint64_t from, struct error *e);
bool tree_truncate(struct tree *t, uint32_t file, uint64_t size, struct error *e);

/* flags: FALLOC_FL_* as of fallocate, in the combinations that the kernel takes. */
bool tree_fallocate(struct tree *t, uint32_t file, uint32_t flags, uint64_t offset, uint64_t size,
                    struct error *e);
bool tree_chmod(struct tree *t, uint32_t file, uint32_t mode, struct error *e);

#endif
