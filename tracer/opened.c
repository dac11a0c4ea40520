/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a thread's calls need to know of the files that it has open.
 */
#include "tracer/tracee.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct asked tracer_asked(const struct thread *th)
{
    return (struct asked){th->tid, th->process->pidfd};
}

struct descriptor tracer_descriptor(struct tracer *t, struct thread *th, int fd)
{
    return descriptor_find(th->process->descriptors, fd, tracer_asked(th), t->files, &t->streams);
}

enum proceed descriptor_not_ours(struct descriptor d)
{
    return d.kind == DESCRIPTOR_OUTSIDE ? PROCEED_IGNORE : PROCEED_WAIT;
}

void tracer_about(struct tracer *t, struct thread *th, int fd, uint32_t file)
{
    th->event.fd = fd;
    th->event.file = file;
    th->event.path = files_path(t->files, file);
}

uint32_t descriptor_traits(uint32_t flags)
{
    uint32_t traits = 0;
    if ((flags & O_SYNC) == O_SYNC)
        traits |= EVENT_SYNC;
    else if (flags & O_DSYNC)
        traits |= EVENT_DSYNC;
    if (flags & O_APPEND)
        traits |= EVENT_APPEND;
    if (flags & O_DIRECT)
        traits |= EVENT_DIRECT;
    return traits;
}

bool tracer_read_file(const struct thread *th, int fd, uint64_t offset, char *out, uint64_t size)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)th->tid, fd);
    int own = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    uint64_t have = 0;
    ssize_t n = 0;
    while (own >= 0 && have < size &&
           (n = pread(own, out + have, size - have, (off_t)(offset + have))) > 0)
        have += (uint64_t)n;
    memset(out + have, 0, size - have);
    if (own >= 0)
        close(own);
    return own >= 0 && n >= 0;
}
