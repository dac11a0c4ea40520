/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * run: a litmus program on a real file system, with writeback stirred between its calls. What is
 * stirred comes from a seed: data of a file written back, the journal committed for another file's
 * sake, a transaction begun, a timer tick let pass, everything synced. All of it are things that
 * a kernel and other programs do at any time; none of it is known to the models.
 */
#ifndef TESTS_KERNEL_RUN_H
#define TESTS_KERNEL_RUN_H

#include "engine/error.h"
#include "engine/litmus.h"
#include "tests/kernel/chance.h"
#include "tests/kernel/disk.h"

/* Below the root of the file system: the program's directory, and that of stirring. */
#define RUN_DATA  "data"
#define RUN_OTHER "other"

/* Lays out what is there before the run, and makes it durable; sometimes on a disk whose free space
 * is in pieces. */
bool run_begin(const struct litmus *l, int root, struct chance *chance, struct error *e);

/* Makes the calls; marks[k] becomes the length of the disk's log when event k + 1 had returned.
 * Ends with everything written back. */
bool run_calls(const struct litmus *l, int root, const struct disk *disk, struct chance *chance,
               size_t *marks, struct error *e);

#endif
