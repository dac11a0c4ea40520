/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "commit.h"

enum { ENTRIES = 64, TEXT_LENGTH = 24 };

struct record {
    uint32_t check; /* of the rest */
    int32_t number; /* from 1 */
    char text[TEXT_LENGTH];
};

static uint32_t check_of(const struct record *r)
{
    return checksum(&r->number, sizeof *r - offsetof(struct record, number));
}

static struct record record_of(int number, const char *text)
{
    struct record r = {.number = number};
    snprintf(r.text, sizeof r.text, "%s", text);
    r.check = check_of(&r);
    return r;
}

/* How many sound records a file begins with. */
static int count_in(const char *dir, const char *file)
{
    struct record records[ENTRIES];
    int n = (int)(read_in(dir, file, records, sizeof records) / sizeof *records);
    int count = 0;
    while (count < n && records[count].number == count + 1 &&
           records[count].check == check_of(&records[count]))
        count++;
    return count;
}

bool commit_add(struct commit_store *s, const char *name, const char *place)
{
    int number = s->count + 1;
    struct record a = record_of(number, name), b = record_of(number, place);
    struct record c = record_of(number, "committed");
    ssize_t n = write(s->names, &a, sizeof a);
    ssize_t m = write(s->places, &b, sizeof b); /* bug:place-written */
    if (n != (ssize_t)sizeof a || m != (ssize_t)sizeof b || fdatasync(s->names) != 0)
        return complain(s->dir);
    /* The mistake: without this the entry may be committed while its place is not there. */
    if (fixed && fdatasync(s->places) != 0)
        return complain(s->dir);
    n = write(s->commits, &c, sizeof c); /* bug:committed */
    if (n != (ssize_t)sizeof c || fdatasync(s->commits) != 0)
        return complain(s->dir);
    s->count = number;
    return true;
}

int commit_read(const char *dir)
{
    int committed = count_in(dir, "commits");
    const char *files[] = {"names", "places"};
    for (int i = 0; i < 2; i++) {
        int count = count_in(dir, files[i]);
        if (count < committed) {
            fprintf(stderr, "entry %d is committed, but %s has only %d\n", committed, files[i],
                    count);
            return -1;
        }
    }
    return committed;
}

/* Opens a file behind its first count records; what follows them was never committed. */
static int open_behind(const char *dir, const char *file, int count)
{
    int fd = open_in(dir, file, O_WRONLY | O_CREAT | O_APPEND);
    if (fd < 0)
        return -1;
    off_t end = (off_t)sizeof(struct record) * count;
    if (lseek(fd, 0, SEEK_END) > end && (ftruncate(fd, end) != 0 || fsync(fd) != 0)) {
        complain(file);
        close(fd);
        return -1;
    }
    return fd;
}

bool commit_open(struct commit_store *s, const char *dir)
{
    *s = (struct commit_store){.dir = dir, .count = commit_read(dir)};
    if (s->count < 0)
        return false;
    s->names = open_behind(dir, "names", s->count);
    s->places = open_behind(dir, "places", s->count);
    s->commits = open_behind(dir, "commits", s->count);
    return s->names >= 0 && s->places >= 0 && s->commits >= 0 && sync_folder(dir);
}

void commit_close(struct commit_store *s)
{
    close(s->names);
    close(s->places);
    close(s->commits);
}
