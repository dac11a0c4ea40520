/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/tracee.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Larger contents than this, moved in whole from outside, are not kept: it would be held in memory
 * at once. */
#define MOST_ADOPTED (UINT64_C(1) << 30)

static void read_file(struct tracer *t, int dirfd, const char *name, struct event *event)
{
    buf_clear(&t->scratch);
    int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && event->size <= MOST_ADOPTED) {
        char *room = buf_room(&t->scratch, event->size);
        size_t have = 0;
        ssize_t n;
        while (have < event->size &&
               (n = pread(fd, room + have, event->size - have, (off_t)have)) > 0)
            have += (size_t)n;
        event->size = have;
        event->payload = recording_payload(t->recording, room, have);
    } else
        recording_notice(t->recording, "contents from outside not kept", name);
    if (fd >= 0)
        close(fd);
}

/* The file that came under this name, when it has others here: the same one, not one more. */
static uint32_t known(struct tracer *t, const struct stat *st)
{
    return S_ISDIR(st->st_mode) ? 0 : files_find(t->files, st);
}

/* Fills in who came and with what. */
static void bring(struct tracer *t, uint32_t dir, int dirfd, const char *name,
                  const struct stat *st, struct event *event)
{
    uint32_t path = files_entry_path(t->files, dir, name);
    uint32_t file = files_create(t->files, st, name);
    files_name(t->files, dir, name, file);
    t->stale++;
    event->file = file;
    event->path = path;
    event->mode = st->st_mode & ~(mode_t)S_IFMT;
    event->traits |= EVENT_MOVED_IN;
    event->size = 0;
    event->payload = PAYLOAD_ZEROS;
    if (S_ISREG(st->st_mode)) {
        event->size = (uint64_t)st->st_size;
        read_file(t, dirfd, name, event);
    } else if (S_ISLNK(st->st_mode)) {
        buf_clear(&t->scratch);
        char *room = buf_room(&t->scratch, (size_t)st->st_size + 1);
        ssize_t n = readlinkat(dirfd, name, room, (size_t)st->st_size + 1);
        event->size = n > 0 ? (uint64_t)n : 0;
        event->payload = recording_payload(t->recording, room, event->size);
    }
}

static void adopt_below(struct tracer *t, struct thread *th, uint32_t dir, int dirfd,
                        const char *name)
{
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list) {
        if (fd >= 0)
            close(fd);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(list))) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            files_excluded(t->files, st.st_dev, st.st_ino))
            continue;
        adopt(t, th, dir, fd, entry->d_name, &st, NULL);
    }
    closedir(list);
}

uint32_t adopt(struct tracer *t, struct thread *th, uint32_t dir, int dirfd, const char *name,
               const struct stat *st, const char *why)
{
    uint32_t string = recording_string(t->recording, name, strlen(name));
    struct event event = {.syscall = SYSCALL_NONE, .fd = -1, .file = known(t, st)};
    event.stack = th->event.stack; /* of the call that brought it, if that is known */
    if (event.file) {
        event.call = CALL_LINK;
        event.dir = dir;
        event.name = string;
        event.path = files_entry_path(t->files, dir, name);
        event.other_path = files_path(t->files, event.file);
        files_name(t->files, dir, name, event.file);
    } else {
        event.call = CALL_RENAME;
        event.other_dir = dir;
        event.other_name = string;
        bring(t, dir, dirfd, name, st, &event);
        event.other_path = event.path;
    }
    if (why)
        recording_notice(t->recording, why, name);
    tracer_instant(t, th, &event);
    if (S_ISDIR(st->st_mode))
        adopt_below(t, th, event.file, dirfd, name);
    return event.file;
}

void adopt_moved(struct tracer *t, struct thread *th, uint32_t dir, int dirfd, const char *name)
{
    struct stat st;
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    th->event.file = known(t, &st);
    if (th->event.file) {
        files_name(t->files, dir, name, th->event.file);
        return;
    }
    bring(t, dir, dirfd, name, &st, &th->event);
    if (S_ISDIR(st.st_mode))
        adopt_below(t, th, th->event.file, dirfd, name);
}
