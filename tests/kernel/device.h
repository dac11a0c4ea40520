/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * device: a loop device on a disk (disk.h), and file systems on it.
 *
 * Nothing outlives the process that opened it, however that ends: mounts are detached, known by a
 * descriptor and by no path; the loop device detaches itself when its last descriptor goes; the
 * server is killed with its parent. No setting of the machine is changed.
 */
#ifndef TESTS_KERNEL_DEVICE_H
#define TESTS_KERNEL_DEVICE_H

#include <sys/types.h>

#include "engine/error.h"
#include "tests/kernel/disk.h"

enum { MKFS_WORDS = 16 };

/* A file system that can be tried, and how. */
struct device_fs {
    const char *name;
    uint32_t blocks;              /* as small as it can be made */
    const char *mkfs[MKFS_WORDS]; /* the command, to which the device is added; ended by NULL */
    const char *options;          /* to mount with always */
    size_t images;                /* of a run that are worth their time */
};

/* NULL when there is none of that name. */
const struct device_fs *device_fs(const char *name);

struct device {
    struct disk *disk;
    const struct device_fs *fs;
    const char *options; /* to mount with besides, separated by commas; "" for none */
    pid_t server;
    int fuse_mount, loop;
    char path[32];
};

/* Whether this machine has what it takes: privileges, FUSE, loop devices, the file system, its
 * mkfs. The error says what is missing. */
bool device_possible(const struct device_fs *fs, struct error *e);

bool device_open(struct device *d, const struct device_fs *fs, const char *options,
                 struct error *e);
void device_close(struct device *d);

bool device_mkfs(struct device *d, struct error *e);

/* Mounts it: *root is a descriptor of its root directory. Closing that unmounts it. */
bool device_mount(struct device *d, int *root, struct error *e);

/* What the kernel remembers of an unmounted device is forgotten. */
bool device_forget(struct device *d, struct error *e);

#endif
