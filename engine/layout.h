/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * layout: writes a tree to a directory of the real file system, so that programs can look at it.
 *
 * Contents, names, sizes, hard links, symbolic links, FIFOs, holes and modes become those of the
 * tree; the umask plays no part. Sockets and devices are left out and counted. Whatever the tree
 * says, nothing outside the directory is touched: names are checked by the tree, and symbolic
 * links are made, never followed.
 */
#ifndef ENGINE_LAYOUT_H
#define ENGINE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/error.h"
#include "engine/session.h"
#include "engine/tree.h"

struct layout_counts {
    uint64_t names;    /* made in the directory */
    uint64_t left_out; /* names of sockets and devices */
};

/* dir is made when it does not exist; one that is not empty is refused and left as it is. Bytes
 * come from the session's payloads. counts may be NULL. When it fails in the middle, what was
 * written stays and the error says so. */
bool tree_lay_out(const struct tree *t, struct session *s, const char *dir,
                  struct layout_counts *counts, struct error *e);

/* The descriptor of a directory to lay something out in: made when it does not exist; −1 with an
 * error when it is not empty. */
int layout_open_top(const char *dir, struct error *e);

/* Writes all of it, however many calls that takes. False, with errno, when it cannot. */
bool layout_write(int fd, const char *bytes, size_t size, uint64_t offset);

#endif
