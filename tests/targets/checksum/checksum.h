/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * checksum: a container of numbers in a pair of logs. A container is a folder:
 *
 *     log-0, log-1   a block with a header (version, generation, checksum), then records
 *
 * The log with the higher generation is in use; puts are appended to it. A compaction writes all
 * values to the other, then gives it the next generation: first the fields of its header, then
 * their checksum. Records carry the generation too, so that older ones behind them do not count.
 *
 * A header of zeros says that a log is empty. Recovery meets a torn one when the power failed in
 * the middle of a compaction: the log is to be erased, and the other is still in use.
 */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include "target.h"

enum { LOGS = 2 };

struct log_file {
    int fd;
    uint32_t generation; /* 0: empty */
    int count;           /* records */
};

struct container {
    struct log_file *logs[LOGS];
    int used;             /* the log in use */
    int32_t values[KEYS]; /* 0: absent */
};

/* Recovers the container in dir, making it when there is none; false with a message when a log
 * cannot be opened. */
bool container_open(struct container *c, const char *dir);

/* Durable when it returns true. */
bool container_put(struct container *c, int key, int32_t value);
void container_close(struct container *c);

#endif
