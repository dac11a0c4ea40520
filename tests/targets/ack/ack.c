/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ack.h"

enum { ENTRIES = 64, TEXT_LENGTH = 40 };

struct entry {
    uint32_t check; /* of the rest */
    int32_t number; /* from 1 */
    char text[TEXT_LENGTH];
};

static struct entry entry_of(int number)
{
    struct entry e = {.number = number};
    snprintf(e.text, sizeof e.text, "what entry %d says", number);
    e.check = checksum(&e.number, sizeof e - offsetof(struct entry, number));
    return e;
}

bool queue_append(struct queue *q)
{
    struct entry e = entry_of(q->count + 1);
    if (write(q->fd, &e, sizeof e) != sizeof e) /* bug:entry-written */
        return complain("queue");
    q->count++;
    return true;
}

bool queue_sync(struct queue *q)
{
    if (fdatasync(q->fd) != 0)
        return complain("queue");
    q->synced = q->count;
    return true;
}

int queue_read(const char *dir)
{
    struct entry found[ENTRIES];
    int n = (int)(read_in(dir, "queue", found, sizeof found) / sizeof *found);
    for (int i = 0; i < n; i++) {
        struct entry e = entry_of(i + 1);
        if (memcmp(&found[i], &e, sizeof e) != 0)
            return i;
    }
    return n;
}

bool queue_open(struct queue *q, const char *dir)
{
    *q = (struct queue){.count = queue_read(dir)};
    q->synced = q->count;
    q->fd = open_in(dir, "queue", O_WRONLY | O_CREAT | O_APPEND);
    if (q->fd < 0)
        return complain(dir);
    off_t end = (off_t)sizeof(struct entry) * q->count;
    if (lseek(q->fd, 0, SEEK_END) > end && (ftruncate(q->fd, end) != 0 || fsync(q->fd) != 0))
        return complain("queue");
    return sync_folder(dir);
}

void queue_close(struct queue *q)
{
    close(q->fd);
}
