/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * descriptors: what a process's descriptor numbers refer to. Asked of the kernel at the first use
 * of a number and remembered until it is closed or replaced; forgotten as a whole at exec and when
 * somebody changes a description's flags.
 */
#ifndef TRACER_DESCRIPTORS_H
#define TRACER_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "tracer/files.h"

enum descriptor_kind {
    DESCRIPTOR_UNKNOWN, /* not asked yet */
    DESCRIPTOR_CLOSED,  /* the number is not open */
    DESCRIPTOR_OUTSIDE, /* nothing to do with us */
    DESCRIPTOR_DATA,    /* a file or directory of the data directory */
    DESCRIPTOR_OUTPUT,  /* the program's standard output, under whatever number */
    DESCRIPTOR_ERRORS,  /* its standard error */
    DESCRIPTOR_MARK,    /* the file named in FLOTSAM_MARK */
};

struct descriptor {
    uint8_t kind;
    bool regular;
    uint32_t file;
    uint32_t flags;   /* of the open file description: O_APPEND, O_SYNC, O_DSYNC, O_DIRECT … */
    uint64_t moved;   /* files_moves() when the description's offset was last known, */
    int64_t position; /* to be this */
};

/* What the recorder itself was given as standard output and error, and the file of marks. */
struct standard_streams {
    pid_t recorder;
    bool open[3];
    struct stat st[3]; /* of descriptors 1 and 2; 0 is not used */
    struct stat mark;
};

struct descriptors; /* one table; shared by threads, and by processes that share theirs */

/* *stale goes up whenever what a number refers to may have become another thing without the number
 * being touched: a description's flags changed (F_SETFL), which several numbers in several
 * processes may share; an open file was moved into the data directory, or out of it. Everything
 * remembered before is asked again then. */
struct descriptors *descriptors_new(const uint64_t *stale);
struct descriptors *descriptors_share(struct descriptors *d);
void descriptors_release(struct descriptors *d);

void streams_init(struct standard_streams *streams, int mark_fd);

/* Who is asked: a stopped thread, and its process. */
struct asked {
    pid_t tid;
    int pidfd;
};

/* What fd is to the thread. Never fails: what cannot be asked is CLOSED. */
struct descriptor descriptor_find(struct descriptors *d, int fd, struct asked who,
                                  struct files *files, const struct standard_streams *streams);

/* Remembers where the description's offset is after a call that moved it. */
void descriptor_moved(struct descriptors *d, int fd, struct files *files, int64_t position);

void descriptor_forget(struct descriptors *d, int fd);
void descriptors_forget_range(struct descriptors *d, unsigned first, unsigned last);

/* What the kernel says of the thread's descriptor now: its inode, its description's flags and
 * offset. Each may be NULL. False when the number is not open. */
bool descriptor_ask(struct asked who, int fd, struct stat *st, uint32_t *flags, int64_t *position);

#endif
