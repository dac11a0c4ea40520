/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * files: which inode is which file of the trace, and what its names are.
 *
 * The kernel reuses inode numbers; the trace does not. So an inode is known by (device, inode)
 * only as long as it lives: a file that was just created always gets a new number, and one that
 * has lost its last name is recognised only while its link count says the same.
 */
#ifndef TRACER_FILES_H
#define TRACER_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "engine/recording.h"

struct files;

/* root is the absolute path of the data directory. */
struct files *files_new(struct recording *recording, const char *root);
void files_free(struct files *f);

const char *files_root(const struct files *f);

/* An inode that is never part of the data (the session itself, where standard output goes). */
void files_exclude(struct files *f, dev_t dev, ino_t ino);
bool files_excluded(const struct files *f, dev_t dev, ino_t ino);

/* Takes over a file that the recording already has (from the starting image). */
void files_add(struct files *f, dev_t dev, ino_t ino, uint32_t file, enum file_kind kind);

/* A file that was just created: a new number, even when the inode number was known. */
uint32_t files_create(struct files *f, const struct stat *st, const char *path);

/* The data directory was removed: its inode is no longer it. files_add gives it another. */
void files_lose_root(struct files *f, dev_t dev, ino_t ino);
bool files_rootless(const struct files *f);

/* The file that this inode is now; 0 when it is none of the data directory's. */
uint32_t files_find(struct files *f, const struct stat *st);

/* How often some description of the file was moved by a recorded call, from 1; and once more. A
 * number that nobody else moved since knows its offset without asking. */
uint64_t files_moves(const struct files *f, uint32_t file);
uint64_t files_move(struct files *f, uint32_t file);

/* How long the file is after the last append to it, when no other recorded call has changed that
 * since; −1 otherwise. */
int64_t files_size(const struct files *f, uint32_t file);
void files_set_size(struct files *f, uint32_t file, int64_t size);

/* Its permission bits (07777), as far as they are known to the trace. */
uint32_t files_mode(const struct files *f, uint32_t file);
void files_set_mode(struct files *f, uint32_t file, uint32_t mode);

/* Names: entry `name` of directory dir now is file, or no longer is. */
void files_name(struct files *f, uint32_t dir, const char *name, uint32_t file);
void files_unname(struct files *f, uint32_t dir, const char *name, uint32_t file);

/* The directory went out of the data directory: what is below it has no names any more. */
void files_detach(struct files *f, uint32_t dir);

/* True when the file has no name left in the data directory. */
bool files_nameless(const struct files *f, uint32_t file);

/* Where the file is now, or was before it lost its last name: a string of the recording, from the
 * data directory; "." for the directory itself. Cheap: kept until a name changes. */
uint32_t files_path(struct files *f, uint32_t file);

/* Where an entry of a directory is, as files_path. */
uint32_t files_entry_path(struct files *f, uint32_t dir, const char *name);

#endif
