/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "boundary.h"

struct header {
    uint32_t length; /* of the text; 0: no record */
    uint32_t check;  /* of the text */
};

bool journal_append(struct journal *j, const char *text)
{
    char record[sizeof(struct header) + TEXT_LENGTH];
    size_t length = strlen(text), size = sizeof(struct header) + length;
    struct header h = {.length = (uint32_t)length, .check = checksum(text, length)};
    if (length > TEXT_LENGTH || j->end + size > JOURNAL_LENGTH) {
        errno = ENOSPC;
        return complain("journal");
    }
    memcpy(record, &h, sizeof h);
    memcpy(record + sizeof h, text, length);
    ssize_t n = pwrite(j->fd, record, size, (off_t)j->end); /* bug:record-written */
    if (n != (ssize_t)size || fdatasync(j->fd) != 0)
        return complain("journal");
    j->end += size;
    return true;
}

const char *journal_next(const struct journal *j, size_t *at)
{
    static char text[TEXT_LENGTH + 1];
    struct header h;
    if (pread(j->fd, &h, sizeof h, (off_t)*at) != sizeof h)
        return NULL;
    if (h.length == 0 || h.length > TEXT_LENGTH)
        return NULL;
    if (pread(j->fd, text, h.length, (off_t)(*at + sizeof h)) != (ssize_t)h.length)
        return NULL;
    text[h.length] = '\0';
    /* The mistake: a length that makes sense does not say that all of the text is there. */
    if (fixed && h.check != checksum(text, h.length))
        return NULL;
    *at += sizeof h + h.length;
    return text;
}

static bool preallocate(const struct journal *j, const char *dir)
{
    static const char zeros[JOURNAL_LENGTH];
    size_t rest = sizeof zeros - j->end;
    bool ok = pwrite(j->fd, zeros, rest, (off_t)j->end) == (ssize_t)rest && fsync(j->fd) == 0;
    return ok ? sync_folder(dir) : complain("journal");
}

bool journal_open(struct journal *j, const char *dir)
{
    *j = (struct journal){.fd = open_in(dir, "journal", O_RDWR | O_CREAT)};
    if (j->fd < 0)
        return false;
    while (journal_next(j, &j->end))
        ;
    return lseek(j->fd, 0, SEEK_END) == JOURNAL_LENGTH || preallocate(j, dir);
}

void journal_close(struct journal *j)
{
    close(j->fd);
}
