/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * disk: a block device in memory that remembers the order in which it was written. The server
 * (server.h) fills it from one process, the runner reads it from another: all of it is shared.
 *
 * A block never written reads as a pattern, so that what a file system shows without having written
 * it can be told from zeros. Every write of a block gets a page of its own, and what a block holds
 * is the number of a page: a crash image is made by setting numbers, and undone the same way.
 */
#ifndef TESTS_KERNEL_DISK_H
#define TESTS_KERNEL_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/error.h"

enum { DISK_BLOCK = 4096 };

/* What a block never written is full of; no litmus program writes it. */
enum { DISK_PATTERN = '~' };

/* One write of a block, or a flush. Requests that arrived together are one batch: a flush promises
 * only what had been answered before it arrived, which are the writes answered in batches before.
 */
struct disk_entry {
    uint32_t block; /* DISK_FLUSH: a flush */
    uint32_t page;
    uint32_t batch;   /* of a write: in which it was answered; of a flush: in which it came */
    uint32_t request; /* blocks of one request have one number */
};

#define DISK_FLUSH   UINT32_MAX
#define DISK_PENDING UINT32_MAX /* a write's batch until it is answered */

struct disk;

/* blocks: how large it is. Lives until disk_free in every process that has it. */
struct disk *disk_new(uint32_t blocks, struct error *e);
void disk_free(struct disk *d);
uint64_t disk_size(const struct disk *d);

/* ---- for the server; offset and size are whole blocks ---- */

void disk_read(const struct disk *d, uint64_t offset, void *out, size_t size);
/* The request's number, for disk_answer; 0 when there is no room for more. */
uint32_t disk_write(struct disk *d, uint64_t offset, const void *bytes, size_t size);
void disk_answer(struct disk *d, uint32_t request, uint32_t batch);
void disk_flush(struct disk *d, uint32_t batch);
/* For how many microseconds at most writes are to wait for their answer. */
uint32_t disk_delay(const struct disk *d);

/* ---- for the runner ---- */

/* What the disk holds now is kept; going back forgets all writes since, and the log. */
void disk_keep(struct disk *d);
void disk_back(struct disk *d);

/* Writes wait for up to so many microseconds from now on: others get between them. */
void disk_set_delay(struct disk *d, uint32_t microseconds);

/* The log begins anew with what the disk holds, and there are no images. Each write is in the one
 * or in the other, also one that comes at this moment. */
void disk_log(struct disk *d);
/* How many entries there are. */
size_t disk_logged(const struct disk *d);
const struct disk_entry *disk_entry(const struct disk *d, size_t i);
/* What a page holds: DISK_BLOCK bytes; and a hash of it. */
const unsigned char *disk_page(const struct disk *d, uint32_t page);
uint64_t disk_page_hash(const struct disk *d, uint32_t page);

/* The disk becomes what the log began with, and some writes of the log (ascending). What is written
 * from now on belongs to images and not to the log; disk_image_end undoes it. */
void disk_image(struct disk *d, const uint32_t *entries, size_t n);
void disk_image_end(struct disk *d);

#endif
