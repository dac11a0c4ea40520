/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * scene: a directory on disk that follows a state (engine/state.h). Each sync changes only what
 * differs from what the directory holds, so going from one crash state to a like one costs a few
 * system calls, however large the tree.
 *
 * Files keep their inodes: a rename in the state is a rename on disk, of whole directories too.
 * Files that have no name at the moment wait in a folder beside, DIR.store, on the same file
 * system, in case they come back; regular ones only up to a limit.
 *
 * Nobody else may change the directory or the store. What is laid out, and what is not, is as in
 * engine/layout.h; links are made, never followed.
 */
#ifndef ENGINE_SCENE_H
#define ENGINE_SCENE_H

#include <stdbool.h>

#include "engine/error.h"
#include "engine/state.h"

struct scene;

/* dir is made when it is not there, and must be empty. */
bool scene_new(struct scene **out, const char *dir, struct error *e);

/* Makes the directory equal to the state. A scene follows one state all its life. When it fails
 * (the disk is full) the directory is something in between, and the next sync tries again. The cost
 * is that of what was touched in the state since the last sync of this scene; what was touched but
 * is as before is compared and not written. */
bool scene_sync(struct scene *scene, struct state *state, struct error *e);

/* What syncs have done to the disk so far, to be looked at by tests and measurements. */
struct scene_counts {
    uint64_t renames, links, removals, made; /* of names */
    uint64_t blocks, lengths, modes;         /* of files */
};
const struct scene_counts *scene_counts(const struct scene *scene);

/* Removes the store; the directory stays as it is. */
void scene_free(struct scene *scene);

#endif
