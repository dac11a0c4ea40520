/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ack: a queue on disk that syncs several entries at once. It is one file, `queue`, of records
 * that are appended. Recovery takes the sound records that it begins with.
 */
#ifndef ACK_H
#define ACK_H

#include "target.h"

struct queue {
    int fd;
    int count;  /* entries in the file */
    int synced; /* how many of them are durable */
};

/* Opens the queue in dir, making it when there is none. */
bool queue_open(struct queue *q, const char *dir);

/* Appends the next entry. Durable after the next queue_sync. */
bool queue_append(struct queue *q);
bool queue_sync(struct queue *q);
void queue_close(struct queue *q);

/* Reads without changing anything: how many entries there are. */
int queue_read(const char *dir);

#endif
