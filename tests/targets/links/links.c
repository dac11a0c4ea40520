/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "links.h"

#include <dirent.h>
#include <sys/stat.h>

enum { MESSAGE_LENGTH = 256 };

static void message_path(char path[PATH_LENGTH], const char *folder, int number)
{
    char name[LINE_LENGTH];
    snprintf(name, sizeof name, "%d", number);
    path_in(path, folder, name);
}

static int header_of(char text[MESSAGE_LENGTH], int number)
{
    return snprintf(text, MESSAGE_LENGTH, "Subject: message %d\n\n", number);
}

static int body_of(char text[MESSAGE_LENGTH], int number)
{
    return snprintf(text, MESSAGE_LENGTH, "This is the body of message %d.\n", number);
}

/* Writes through two descriptors of one open file, which share their offset; what a sync through
 * the one makes durable does not depend on which of them wrote it. */
static bool write_message(int fd, int number)
{
    char header[MESSAGE_LENGTH], body[MESSAGE_LENGTH];
    int n = header_of(header, number), m = body_of(body, number);
    int twin = dup(fd);
    if (twin < 0)
        return false;
    bool ok = write(fd, header, (size_t)n) == n && write(twin, body, (size_t)m) == m;
    close(fd);
    ok = ok && fsync(twin) == 0;
    return close(twin) == 0 && ok;
}

bool mailbox_deliver(const struct mailbox *m, int number)
{
    char tmp[PATH_LENGTH], new[PATH_LENGTH];
    message_path(tmp, m->tmp, number);
    message_path(new, m->new, number);
    int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0 || !write_message(fd, number))
        return complain(tmp);
    if (link(tmp, new) != 0) /* bug:message-linked */
        return complain(new);
    /* The mistake: the contents are durable, but without this their name is not. */
    if (fixed && !sync_folder(m->new))
        return false;
    return unlink(tmp) == 0 || complain(tmp);
}

static void set_paths(struct mailbox *m, const char *dir)
{
    path_in(m->tmp, dir, "tmp");
    path_in(m->new, dir, "new");
}

bool mailbox_open(struct mailbox *m, const char *dir)
{
    set_paths(m, dir);
    bool ok = (mkdir(m->tmp, 0755) == 0 || errno == EEXIST) &&
              (mkdir(m->new, 0755) == 0 || errno == EEXIST);
    return ok ? sync_folder(dir) : complain(dir);
}

static void clear(const char *folder)
{
    char path[PATH_LENGTH];
    DIR *d = opendir(folder);
    const struct dirent *entry;
    while (d && (entry = readdir(d)))
        if (entry->d_name[0] != '.')
            unlink(path_in(path, folder, entry->d_name));
    if (d)
        closedir(d);
}

int mailbox_recover(struct mailbox *m, const char *dir)
{
    char text[2 * MESSAGE_LENGTH], found[2 * MESSAGE_LENGTH], name[LINE_LENGTH];
    set_paths(m, dir);
    clear(m->tmp);
    for (int number = 1;; number++) {
        int n = header_of(text, number);
        n += body_of(text + n, number);
        snprintf(name, sizeof name, "%d", number);
        char path[PATH_LENGTH];
        if (access(path_in(path, m->new, name), F_OK) != 0)
            return number - 1;
        size_t length = read_in(m->new, name, found, sizeof found);
        if (length != (size_t)n || memcmp(found, text, length) != 0) {
            fprintf(stderr, "message %d is damaged\n", number);
            return -1;
        }
    }
}
