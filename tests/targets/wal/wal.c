/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "wal.h"

enum { CHECKPOINT_AFTER = 3 };

struct record {
    uint32_t check; /* of the rest */
    uint32_t sequence;
    int32_t key, value;
};

static uint32_t check_of(const struct record *r)
{
    return checksum(&r->sequence, sizeof *r - offsetof(struct record, sequence));
}

static bool append(struct wal *w, int key, int32_t value)
{
    struct record r = {.sequence = ++w->sequence, .key = key, .value = value};
    r.check = check_of(&r);
    return write(w->log, &r, sizeof r) == sizeof r && fdatasync(w->log) == 0;
}

static bool write_table(const struct wal *w)
{
    ssize_t n = pwrite(w->table, w->values, sizeof w->values, 0); /* bug:table-written */
    return n == (ssize_t)sizeof w->values;
}

static bool cut_log(struct wal *w)
{
    w->logged = 0;
    bool ok = ftruncate(w->log, 0) == 0; /* bug:log-cut */
    return ok && fdatasync(w->log) == 0;
}

static bool checkpoint(struct wal *w)
{
    if (!write_table(w))
        return complain("table");
    /* The mistake: without this the log may be cut while the table still has its old values. */
    if (fixed && fdatasync(w->table) != 0)
        return complain("table");
    return cut_log(w) || complain("log");
}

bool wal_put(struct wal *w, int key, int32_t value)
{
    if (!append(w, key, value))
        return complain("log");
    w->values[key] = value;
    return ++w->logged < CHECKPOINT_AFTER || checkpoint(w);
}

void wal_read(struct wal *w, const char *dir)
{
    struct record records[64];
    *w = (struct wal){.dir = dir, .log = -1, .table = -1};
    read_in(dir, "table", w->values, sizeof w->values);
    size_t count = read_in(dir, "log", records, sizeof records) / sizeof *records;
    for (size_t i = 0; i < count; i++) {
        const struct record *r = &records[i];
        bool sound = r->check == check_of(r) && r->key >= 0 && r->key < KEYS;
        if (!sound || r->sequence <= w->sequence)
            break; /* the put that was under way */
        w->values[r->key] = r->value;
        w->sequence = r->sequence;
    }
}

/* Starts from a table that has everything and an empty log, both durable with their names. */
bool wal_open(struct wal *w, const char *dir)
{
    wal_read(w, dir);
    w->table = open_in(dir, "table", O_WRONLY | O_CREAT);
    w->log = open_in(dir, "log", O_WRONLY | O_CREAT | O_APPEND);
    if (w->table < 0 || w->log < 0)
        return false;
    if (!write_table(w) || fsync(w->table) != 0 || !cut_log(w))
        return complain(dir);
    return sync_folder(dir);
}

void wal_close(struct wal *w)
{
    close(w->table);
    close(w->log);
}
