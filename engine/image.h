/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * image: captures what a directory holds before a run into a recording: the starting image, on
 * which all events are replayed.
 *
 * Symbolic links are captured, never followed. Files with several names are captured once. Holes
 * are not stored. FIFOs, sockets and devices are captured without contents. However deep the
 * directory, a few descriptors suffice.
 */
#ifndef ENGINE_IMAGE_H
#define ENGINE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/error.h"
#include "engine/recording.h"
#include "engine/stream.h"

/* What a file with this st_mode is. */
enum file_kind image_kind(mode_t mode);

/* One name that was captured; a file with several names is told once for each. */
struct image_name {
    uint64_t dev, ino;
    uint32_t file;
    uint32_t parent;  /* the directory's file number; 0 for the data directory itself */
    const char *name; /* "" for the data directory itself; valid during the call */
    enum file_kind kind;
    uint32_t mode; /* permission bits: 07777 */
    uint64_t size;
};

struct image_options {
    /* True for what is to be left out, such as the session file itself; a directory is left out
     * with all that is in it. path is from the data directory. May be NULL. */
    bool (*skip)(void *data, uint64_t dev, uint64_t ino, const char *path);

    /* Called for each name, a directory before what is in it. May be NULL. */
    void (*captured)(void *data, const struct image_name *name);

    void *data;
};

/* Captures dir; it gets FILE_ROOT, so this comes before any other file of the recording. Fails
 * with the name of what could not be read, or when the recording can no longer be written. */
bool image_capture(struct recording *r, const char *dir, const struct image_options *options,
                   struct error *e);

#endif
