/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * server: serves a disk as a FUSE file system that is nothing but one file, its root. A loop device
 * on that file turns what a file system does to its device into entries of the disk's log.
 *
 * It is a process of its own: what waits for the device must never be what answers for it, or a
 * kill would leave both waiting for ever.
 */
#ifndef TESTS_KERNEL_SERVER_H
#define TESTS_KERNEL_SERVER_H

#include <sys/types.h>

#include "engine/error.h"
#include "tests/kernel/disk.h"

/* Starts it on an open /dev/fuse that is mounted; the caller closes its own descriptor. It ends
 * when the mount does, and is killed when the caller's process ends. */
bool server_start(struct disk *disk, int fuse, pid_t *pid, struct error *e);

#endif
