/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the parts of engine/scene.h share: what is known of the disk. Files and entries have the
 * indices that they have in the state.
 */
#ifndef ENGINE_SCENE_INSIDE_H
#define ENGINE_SCENE_INSIDE_H

#include "engine/scene.h"
#include "engine/state_inside.h"
#include "engine/vec.h"

enum {
    SCENE_FDS = 8, /* directories kept open */
    SCENE_PRIVATE_DIRECTORY = 0700,
    SCENE_PRIVATE_FILE = 0600,
};

/* What neighbouring blocks of a file hold on disk. */
struct scene_leaf {
    uint64_t first;
    struct state_hash hashes[LEAF_BLOCKS];
};

struct scene_file {
    bool on_disk; /* under a name, or in the store */
    bool queued;  /* waits for its mode */
    bool waiting; /* in the queue of what may be removed from the store */
    enum file_kind kind;
    uint32_t mode; /* as it is on disk now */
    uint64_t born;
    uint64_t size;
    uint64_t synced; /* the state's step that its contents are of */
    uint32_t names;  /* the first entry that stands for it, + 1; 0: it is in the store */
    vec_of(struct scene_leaf *) leaves; /* by first */
};

/* An entry on disk. before and after are other names of the file, + 1. */
struct scene_entry {
    uint32_t file; /* + 1 */
    uint32_t before, after;
    bool queued;
};

struct scene_fd {
    uint32_t file; /* + 1 */
    int fd;
};

struct scene {
    struct state *state;
    char *store_path;
    int top, store;  /* store: -1 until something is put there */
    bool privileged; /* modes do not keep us out */
    uint64_t seen;   /* the state's step of the last sync */
    vec_of(struct scene_file) files;
    vec_of(struct scene_entry) entries;
    vec_of(uint32_t) todo;    /* entries to look at */
    vec_of(uint32_t) modes;   /* files whose mode may be wrong */
    vec_of(uint32_t) placed;  /* files that came out of the store */
    vec_of(uint32_t) waiting; /* regular files in the store, oldest first, from waiting_first */
    size_t waiting_first;
    uint64_t stored; /* bytes of regular files in the store */
    uint64_t junk;   /* how many things in the store have lost their number */
    struct scene_fd fds[SCENE_FDS];
    unsigned next_fd, last_fd; /* the next to be closed, the one used last */
    struct scene_counts counts;
    char *chunk; /* LEAF_BLOCKS blocks */
    struct error *e;
};

/* A directory that is on disk, which may be worked in. Not to be closed; it and the one asked for
 * next are valid together. −1 with the scene's error. */
int scene_dir(struct scene *c, uint32_t dir);

/* Where something is in the store under its number. */
enum { SCENE_NUMBER_MAX = 16 };
void scene_number(char out[static SCENE_NUMBER_MAX], uint32_t number);

/* The error of a system call on an entry. */
bool scene_failed(struct scene *c, const char *verb, const struct state_entry *entry);

/* Contents and modes: scene_files.c */

/* Makes a file that is not on disk. */
bool scene_make(struct scene *c, struct state_file *f, const struct state_entry *entry);

/* Writes what changed in a file that has a name on disk. */
bool scene_contents(struct scene *c, struct state_file *f);

/* The mode is looked at when the sync ends. */
void scene_queue_mode(struct scene *c, uint32_t file);
bool scene_modes(struct scene *c);

void scene_forget(struct scene_file *sf);

#endif
