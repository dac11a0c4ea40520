/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * workers: processes that each have a device of their own, which keeps an empty file system, and
 * share the items of a work among them. They end with the process that started them, however it
 * ends.
 */
#ifndef TESTS_KERNEL_WORKERS_H
#define TESTS_KERNEL_WORKERS_H

#include "engine/buf.h"
#include "engine/error.h"
#include "tests/kernel/device.h"

struct workers {
    const struct device_fs *fs;
    const char *options;
    size_t jobs, items;
    size_t answer_size;
    /* In a worker: does an item; fills the answer, which is zeros, and adds text. */
    bool (*work)(void *data, struct device *device, size_t item, struct buf *text, void *answer,
                 struct error *e);
    /* In the process that started them: what came of it, in the order of items. */
    void (*take)(void *data, size_t item, const char *text, const void *answer);
    void *data;
};

bool workers_run(const struct workers *w, struct error *e);

#endif
