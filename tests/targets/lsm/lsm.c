/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lsm.h"

enum { FLUSH_AFTER = 2, COMPACT_AT = 3, NAME_LENGTH = 32, VERSIONS = 64, PUTS = 64 };

struct put {
    uint32_t check; /* of the rest */
    uint32_t sequence;
    int32_t key, value;
};

struct table {
    uint32_t check; /* of the rest */
    int32_t values[KEYS];
};

#define CHECK_OF(r) checksum(&(r)->check + 1, sizeof *(r) - sizeof(r)->check)

static const char *table_name(char name[NAME_LENGTH], uint32_t number)
{
    snprintf(name, NAME_LENGTH, "table-%u", number);
    return name;
}

/* ---- writing ---- */

static bool write_table(struct lsm *l, uint32_t number)
{
    char name[NAME_LENGTH];
    struct table t = {0};
    memcpy(t.values, l->values, sizeof t.values);
    t.check = CHECK_OF(&t);
    int fd = open_in(l->dir, table_name(name, number), O_WRONLY | O_CREAT | O_EXCL);
    bool ok = fd >= 0 && write(fd, &t, sizeof t) == sizeof t && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok ? sync_folder(l->dir) : complain(name);
}

static bool append_version(struct lsm *l, bool sync)
{
    struct lsm_version *v = &l->version;
    v->check = CHECK_OF(v);
    ssize_t n = write(l->manifest, v, sizeof *v); /* bug:version-written */
    bool ok = n == (ssize_t)sizeof *v && (!sync || fdatasync(l->manifest) == 0);
    return ok || complain("MANIFEST");
}

/* The values so far become a table; the log begins anew. */
static bool flush(struct lsm *l)
{
    struct lsm_version *v = &l->version;
    if (!write_table(l, v->next))
        return false;
    v->tables[v->count++] = v->next++;
    v->sequence = l->sequence;
    l->logged = 0;
    return append_version(l, true) && (ftruncate(l->log, 0) == 0 || complain("log"));
}

static bool remove_tables(const struct lsm *l, const struct lsm_version *old)
{
    char name[NAME_LENGTH], path[PATH_LENGTH];
    for (uint32_t i = 0; i < old->count; i++) {
        path_in(path, l->dir, table_name(name, old->tables[i]));
        if (unlink(path) != 0) /* bug:table-removed */
            return complain(path);
    }
    return true;
}

/* All tables become one. */
static bool compact(struct lsm *l)
{
    struct lsm_version old = l->version, *v = &l->version;
    if (!write_table(l, v->next))
        return false;
    v->count = 1;
    v->tables[0] = v->next++;
    /* The mistake, on this path only: without the sync the last version on the disk may be one
     * that names the tables removed here. */
    return append_version(l, fixed) && remove_tables(l, &old);
}

/* ---- the background thread ---- */

static void *background(void *data)
{
    struct lsm *l = data;
    pthread_mutex_lock(&l->lock);
    while (l->work != LSM_CLOSING) {
        if (l->work != LSM_WANTED) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        bool ok = flush(l) && (l->version.count < COMPACT_AT || compact(l));
        l->work = ok ? LSM_IDLE : LSM_FAILED;
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

static bool in_background(struct lsm *l)
{
    pthread_mutex_lock(&l->lock);
    l->work = LSM_WANTED;
    pthread_cond_broadcast(&l->changed);
    while (l->work == LSM_WANTED)
        pthread_cond_wait(&l->changed, &l->lock);
    bool ok = l->work == LSM_IDLE;
    pthread_mutex_unlock(&l->lock);
    return ok;
}

bool lsm_put(struct lsm *l, int key, int32_t value)
{
    struct put p = {.sequence = ++l->sequence, .key = key, .value = value};
    p.check = CHECK_OF(&p);
    if (write(l->log, &p, sizeof p) != sizeof p || fdatasync(l->log) != 0)
        return complain("log");
    l->values[key] = value;
    return ++l->logged < FLUSH_AFTER || in_background(l);
}

/* ---- recovery ---- */

static void read_version(struct lsm *l)
{
    struct lsm_version v[VERSIONS];
    size_t n = read_in(l->dir, "MANIFEST", v, sizeof v) / sizeof *v;
    for (size_t i = 0; i < n && v[i].check == CHECK_OF(&v[i]) && v[i].count <= TABLES; i++)
        l->version = v[i];
}

/* A table holds every value of its time, so the newest would do; the others must be sound too. */
static bool read_tables(struct lsm *l)
{
    char name[NAME_LENGTH];
    struct table t;
    for (uint32_t i = 0; i < l->version.count; i++) {
        table_name(name, l->version.tables[i]);
        if (read_in(l->dir, name, &t, sizeof t) != sizeof t || t.check != CHECK_OF(&t)) {
            fprintf(stderr, "MANIFEST names %s, which is missing or damaged\n", name);
            return false;
        }
        memcpy(l->values, t.values, sizeof t.values);
    }
    return true;
}

bool lsm_read(struct lsm *l, const char *dir)
{
    struct put puts[PUTS];
    *l = (struct lsm){.dir = dir, .log = -1, .manifest = -1, .version.next = 1};
    read_version(l);
    if (!read_tables(l))
        return false;
    l->sequence = l->version.sequence;
    size_t n = read_in(dir, "log", puts, sizeof puts) / sizeof *puts;
    for (size_t i = 0; i < n && puts[i].check == CHECK_OF(&puts[i]); i++)
        if (puts[i].sequence > l->sequence && puts[i].key >= 0 && puts[i].key < KEYS) {
            l->values[puts[i].key] = puts[i].value;
            l->sequence = puts[i].sequence;
        }
    return true;
}

bool lsm_open(struct lsm *l, const char *dir)
{
    if (!lsm_read(l, dir))
        return false;
    l->log = open_in(dir, "log", O_WRONLY | O_CREAT | O_APPEND);
    l->manifest = open_in(dir, "MANIFEST", O_WRONLY | O_CREAT | O_APPEND);
    if (l->log < 0 || l->manifest < 0 || !sync_folder(dir))
        return false;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    return pthread_create(&l->thread, NULL, background, l) == 0;
}

void lsm_close(struct lsm *l)
{
    pthread_mutex_lock(&l->lock);
    l->work = LSM_CLOSING;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    close(l->log);
    close(l->manifest);
}
