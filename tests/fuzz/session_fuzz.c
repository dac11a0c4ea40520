/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Takes the input for a session file and reads all of it. Give a small session, vacuumed to pages
 * of 512 bytes, as the first of the corpus.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/session.h"

enum { EVENTS_MAX = 5000, PIECE = 4096 }; /* a count may be large and cost only time */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool any_file(void *data, uint32_t file, enum file_kind kind, uint32_t mode, uint64_t size,
                     const char *target)
{
    *(uint64_t *)data += file + kind + mode + size + (target ? strlen(target) : 0);
    return true;
}

static bool any_name(void *data, uint32_t dir, const char *name, uint32_t file)
{
    *(uint64_t *)data += dir + file + strlen(name);
    return true;
}

static bool any_extent(void *data, uint32_t file, uint64_t offset, uint64_t size, uint64_t payload)
{
    *(uint64_t *)data += file + offset + size + payload;
    return true;
}

static void any_notice(void *data, const char *kind, const char *what, uint64_t count)
{
    *(uint64_t *)data += strlen(kind) + strlen(what) + count;
}

static bool read_event(struct session *s, uint64_t number, uint64_t *sum)
{
    struct event event;
    struct error e;
    if (!session_event(s, number, &event, &e))
        return false;
    char bytes[PIECE];
    const struct frame *frames;
    struct module_info module;
    struct file_info file;
    struct thread_info thread;
    size_t n = session_stack(s, event.stack, &frames);
    for (size_t i = 0; i < n; i++)
        if (session_module(s, frames[i].module, &module))
            *sum += strlen(module.path) + strlen(module.build_id);
    if (session_file(s, event.file, &file))
        *sum += strlen(file.path);
    session_thread(s, event.thread, &thread);
    *sum += strlen(session_string(s, event.name)) + strlen(session_string(s, event.path));
    session_payload(s, event.payload, 0, bytes, event.size < PIECE ? event.size : PIECE, &e);
    return true;
}

static void read_everything(const char *path)
{
    struct session *s;
    struct error e;
    uint64_t sum = 0;
    if (!session_open(&s, path, &e))
        return;
    const struct image_visitor visitor = {any_file, any_name, any_extent};
    session_image(s, &visitor, &sum, &e);
    session_notices(s, any_notice, &sum, &e);
    const char *program = session_meta(s, "program");
    sum += program ? strlen(program) : 0;
    for (uint64_t i = 1; i <= session_event_count(s) && i <= EVENTS_MAX; i++)
        if (!read_event(s, i, &sum))
            break;
    session_close(s);
}

/* A file in memory under a name of its own, because SQLite opens by name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/flotsam-session-fuzz-%d", (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return 0;
    bool whole = write(fd, data, size) == (ssize_t)size;
    close(fd);
    if (whole)
        read_everything(path);
    unlink(path);
    return 0;
}
