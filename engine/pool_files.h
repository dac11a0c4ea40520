/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pool_files: whole folders emptied and copied, for the checker pool. What a checker leaves behind
 * may be of any shape: trees deeper than a path name is long, names that nobody may read.
 */
#ifndef ENGINE_POOL_FILES_H
#define ENGINE_POOL_FILES_H

#include <stdbool.h>

#include "engine/error.h"

/* Removes everything in the directory, of any depth, with a bounded number of descriptors. Neither
 * follows links nor allocates. False when something cannot be removed; the rest is gone then. */
bool pool_files_empty(int dir);

/* The directory itself too. */
bool pool_files_remove(const char *path);

/* Copies what is in one directory to another, which must be empty: names, contents, holes, modes,
 * times, hard links, and owners where allowed. O(contents). */
bool pool_files_copy(const char *from, const char *to, struct error *e);

#endif
