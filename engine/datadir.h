/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * datadir: the data directory of a target before a run. Made when it is missing; emptied when
 * flotsam made it itself; never touched when somebody else did.
 *
 * What flotsam made it knows by a file beside the directory, .NAME.made-by-flotsam, that holds the
 * directory's inode number and time of birth: a directory that was removed and made anew by hand is
 * not taken for ours.
 */
#ifndef ENGINE_DATADIR_H
#define ENGINE_DATADIR_H

#include <stdbool.h>

#include "engine/error.h"

enum datadir_was {
    DATADIR_MADE,    /* it was missing */
    DATADIR_EMPTIED, /* it was ours */
    DATADIR_FOREIGN, /* it is as it was found */
};

/* *was may be NULL. */
bool datadir_prepare(const char *path, enum datadir_was *was, struct error *e);

#endif
