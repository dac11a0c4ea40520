/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "checksum.h"

enum { RECORDS_AT = 4096, RECORDS = 64, COMPACT_AT = 6, FORMAT = 1 };

struct header {
    uint32_t version, generation;
    uint32_t check; /* of the two above */
};

struct record {
    uint32_t check; /* of the rest */
    uint32_t generation;
    int32_t key, value;
};

static uint32_t record_check(const struct record *r)
{
    return checksum(&r->generation, sizeof *r - offsetof(struct record, generation));
}

static bool append(struct log_file *log, uint32_t generation, int key, int32_t value)
{
    struct record r = {.generation = generation, .key = key, .value = value};
    r.check = record_check(&r);
    off_t at = RECORDS_AT + (off_t)sizeof r * log->count++;
    return pwrite(log->fd, &r, sizeof r, at) == sizeof r;
}

/* The checksum follows the fields that it is of. */
static bool pack_header(struct log_file *log, uint32_t generation)
{
    struct header h = {.version = FORMAT, .generation = generation};
    size_t fields = offsetof(struct header, check);
    h.check = checksum(&h, fields);
    if (pwrite(log->fd, &h, fields, 0) != (ssize_t)fields) /* bug:fields-written */
        return false;
    return pwrite(log->fd, &h.check, sizeof h.check, (off_t)fields) == sizeof h.check;
}

static bool erase_header(struct log_file *log)
{
    const struct header zeros = {0};
    log->generation = 0;
    return pwrite(log->fd, &zeros, sizeof zeros, 0) == sizeof zeros && fsync(log->fd) == 0;
}

static bool validate(struct log_file *log)
{
    struct header h = {0}, zeros = {0};
    if (pread(log->fd, &h, sizeof h, 0) < 0)
        return false;
    log->generation = h.generation;
    if (memcmp(&h, &zeros, sizeof h) == 0)
        return true;
    return h.version == FORMAT && h.check == checksum(&h, offsetof(struct header, check));
}

static void free_log(struct log_file *log)
{
    if (log)
        close(log->fd);
    free(log);
}

/* Opens a log; *torn says that its header has to be erased before it can be used. */
static struct log_file *open_log(const char *dir, int number, bool *torn)
{
    char name[LINE_LENGTH];
    snprintf(name, sizeof name, "log-%d", number);
    struct log_file *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    log->fd = open_in(dir, name, O_RDWR | O_CREAT);
    if (log->fd < 0)
        goto fail;
    *torn = !validate(log);
    if (!*torn)
        return log;
    fprintf(stderr, "the header of %s is torn\n", name);
    /* The mistake: a torn header ends here as every failure does, and the log that could be erased
     * is gone. */
    if (fixed)
        return log;
fail:
    free_log(log);
    return NULL;
}

/* Plays the records of the log's generation. */
static void play(struct container *c, struct log_file *log)
{
    struct record r[RECORDS];
    ssize_t n = pread(log->fd, r, sizeof r, RECORDS_AT) / (ssize_t)sizeof *r;
    for (log->count = 0; log->count < n; log->count++) {
        const struct record *p = &r[log->count];
        if (p->generation != log->generation || p->check != record_check(p) || p->key < 0 ||
            p->key >= KEYS)
            break;
        c->values[p->key] = p->value;
    }
}

static bool compact(struct container *c)
{
    struct log_file *to = c->logs[!c->used];
    uint32_t generation = c->logs[c->used]->generation + 1;
    bool ok = true;
    to->count = 0;
    for (int key = 0; key < KEYS; key++)
        if (c->values[key])
            ok = ok && append(to, generation, key, c->values[key]);
    ok = ok && fsync(to->fd) == 0 && pack_header(to, generation) && fsync(to->fd) == 0;
    to->generation = generation;
    c->used = !c->used;
    return ok || complain("compaction");
}

bool container_put(struct container *c, int key, int32_t value)
{
    struct log_file *log = c->logs[c->used];
    if (!append(log, log->generation, key, value) || fdatasync(log->fd) != 0)
        return complain("log");
    c->values[key] = value;
    return log->count < COMPACT_AT || compact(c);
}

bool container_open(struct container *c, const char *dir)
{
    *c = (struct container){0};
    for (int i = 0; i < LOGS; i++) {
        bool torn = false;
        c->logs[i] = open_log(dir, i, &torn);
        if (c->logs[i] && torn && !erase_header(c->logs[i]))
            return complain(dir);
    }
    for (int i = 0; i < LOGS; i++)
        if (!c->logs[i]) {
            fprintf(stderr, "log-%d cannot be opened\n", i);
            return false;
        }
    c->used = c->logs[1]->generation > c->logs[0]->generation;
    if (c->logs[c->used]->generation > 0)
        play(c, c->logs[c->used]);
    return sync_folder(dir) && (c->logs[c->used]->generation > 0 || compact(c));
}

void container_close(struct container *c)
{
    for (int i = 0; i < LOGS; i++)
        free_log(c->logs[i]);
}
