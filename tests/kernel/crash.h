/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * crash: the images that a power failure could leave of a logged disk. Whatever a flush that had
 * been answered covers is there; of the writes after it any may be, block by block.
 *
 * There are too many to try them all. Data of files is tried in every combination where that is
 * few, metadata mostly by how far it had come, because journals and trees hold together or are not
 * looked at; and some images are drawn block by block, in case that is not so.
 */
#ifndef TESTS_KERNEL_CRASH_H
#define TESTS_KERNEL_CRASH_H

#include "tests/kernel/disk.h"
#include "tests/kernel/run.h"

struct crash_image {
    const uint32_t *entries; /* of the log, ascending */
    size_t n;
    size_t position; /* the latest at which it can be left: so many entries of the log had begun */
    uint64_t hash;   /* of its contents */
};

/* Calls visit for images of the log's first `logged` entries, about `most` different ones; for one
 * that is met again too, since it may have a later position. Returning false ends it. */
bool crash_images(const struct disk *disk, size_t logged, size_t most, struct chance *chance,
                  bool (*visit)(void *data, const struct crash_image *image), void *data);

#endif
