/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernel/disk.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

/* Room for pages and entries; memory is taken only as they are used. mkfs.xfs writes most. */
enum { PAGES_MAX = 1 << 17, LOG_MAX = 1 << 16 };

/* What the disk held at two moments: when disk_keep was called, and when the log began. */
enum { EMPTY, BEGUN, KEPT };

/* The first pages: what was never written, and zeros. */
enum { PAGE_PATTERN, PAGE_ZEROS, PAGES_FIXED };

struct disk {
    pthread_mutex_t
        changing; /* held by the server for what it adds, by the runner to begin a log */
    uint32_t blocks;
    uint32_t pages;            /* used, */
    uint32_t pages_kept[KEPT]; /* and how many were when it was kept */
    uint32_t requests;
    atomic_uint delay;
    uint32_t pages_logged; /* used when the log ended */
    bool imaging;          /* the log has ended: what is written now belongs to an image */
    atomic_uint logged;
    uint32_t changed_n; /* blocks that the image has otherwise than when the log began */
    size_t bytes;       /* of all of this */
    uint32_t *now, *kept[KEPT], *changed; /* [blocks]; changed: LOG_MAX */
    struct disk_entry *log;
    unsigned char *store;
};

static void *shared(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void make_lock(struct disk *d)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&d->changing, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/* A process that was killed while it had the lock has left a run that fails anyway. */
static void lock(struct disk *d)
{
    if (pthread_mutex_lock(&d->changing) == EOWNERDEAD)
        pthread_mutex_consistent(&d->changing);
}

static void unlock(struct disk *d)
{
    pthread_mutex_unlock(&d->changing);
}

struct disk *disk_new(uint32_t blocks, struct error *e)
{
    size_t table = blocks * sizeof(uint32_t), log = LOG_MAX * sizeof(struct disk_entry);
    size_t store = (size_t)PAGES_MAX * DISK_BLOCK;
    size_t bytes = DISK_BLOCK + (1 + KEPT) * table + LOG_MAX * sizeof(uint32_t) + log + store;
    unsigned char *at = shared(bytes);
    if (!at) {
        error_errno(e, "no memory for a disk of %u blocks", blocks);
        return NULL;
    }
    struct disk *d = (void *)at;
    *d = (struct disk){.blocks = blocks, .pages = PAGES_FIXED, .bytes = bytes};
    make_lock(d);
    d->store = at + DISK_BLOCK;
    d->log = (void *)(d->store + store);
    d->now = (void *)((unsigned char *)d->log + log);
    for (unsigned i = 0; i < KEPT; i++)
        d->kept[i] = d->now + (1 + i) * blocks;
    d->changed = d->now + (1 + KEPT) * blocks;
    memset(d->store, DISK_PATTERN, DISK_BLOCK);
    return d;
}

void disk_free(struct disk *d)
{
    if (d)
        munmap(d, d->bytes);
}

uint64_t disk_size(const struct disk *d)
{
    return (uint64_t)d->blocks * DISK_BLOCK;
}

const unsigned char *disk_page(const struct disk *d, uint32_t page)
{
    return d->store + (size_t)page * DISK_BLOCK;
}

uint64_t disk_page_hash(const struct disk *d, uint32_t page)
{
    return XXH3_64bits(disk_page(d, page), DISK_BLOCK);
}

/* ---- the server's side ---- */

void disk_read(const struct disk *d, uint64_t offset, void *out, size_t size)
{
    unsigned char *to = out;
    for (size_t i = 0; i < size / DISK_BLOCK; i++)
        memcpy(to + i * DISK_BLOCK, disk_page(d, d->now[offset / DISK_BLOCK + i]), DISK_BLOCK);
}

static uint32_t new_page(struct disk *d, const unsigned char *bytes)
{
    if (memcmp(bytes, disk_page(d, PAGE_ZEROS), DISK_BLOCK) == 0)
        return PAGE_ZEROS;
    memcpy(d->store + (size_t)d->pages * DISK_BLOCK, bytes, DISK_BLOCK);
    return d->pages++;
}

static uint32_t write_blocks(struct disk *d, uint64_t offset, const unsigned char *from,
                             size_t size)
{
    d->requests++;
    for (size_t i = 0; i < size / DISK_BLOCK; i++) {
        uint32_t block = (uint32_t)(offset / DISK_BLOCK + i), n = atomic_load(&d->logged);
        if (d->pages == PAGES_MAX || (d->imaging ? d->changed_n : n) == LOG_MAX)
            return 0;
        uint32_t page = new_page(d, from + i * DISK_BLOCK);
        d->now[block] = page;
        if (d->imaging)
            d->changed[d->changed_n++] = block;
        else {
            d->log[n] = (struct disk_entry){block, page, DISK_PENDING, d->requests};
            atomic_store(&d->logged, n + 1);
        }
    }
    return d->requests;
}

uint32_t disk_write(struct disk *d, uint64_t offset, const void *bytes, size_t size)
{
    lock(d);
    uint32_t number = write_blocks(d, offset, bytes, size);
    unlock(d);
    return number;
}

void disk_answer(struct disk *d, uint32_t request, uint32_t batch)
{
    lock(d);
    /* Requests are numbered upwards, and few wait at a time. */
    for (uint32_t i = d->imaging ? 0 : atomic_load(&d->logged); i-- > 0;) {
        if (d->log[i].block != DISK_FLUSH && d->log[i].request < request)
            break;
        if (d->log[i].block != DISK_FLUSH && d->log[i].request == request)
            d->log[i].batch = batch;
    }
    unlock(d);
}

void disk_flush(struct disk *d, uint32_t batch)
{
    lock(d);
    uint32_t n = atomic_load(&d->logged);
    if (!d->imaging && n < LOG_MAX) {
        d->log[n] = (struct disk_entry){DISK_FLUSH, 0, batch, 0};
        atomic_store(&d->logged, n + 1);
    }
    unlock(d);
}

uint32_t disk_delay(const struct disk *d)
{
    return d->imaging ? 0 : atomic_load(&d->delay);
}

/* ---- the runner's side ---- */

static void keep(struct disk *d, unsigned which)
{
    memcpy(d->kept[which], d->now, d->blocks * sizeof *d->now);
    d->pages_kept[which] = d->pages;
}

static void forget_log(struct disk *d)
{
    d->imaging = false;
    atomic_store(&d->logged, 0);
}

void disk_keep(struct disk *d)
{
    lock(d);
    keep(d, EMPTY);
    unlock(d);
}

void disk_back(struct disk *d)
{
    lock(d);
    memcpy(d->now, d->kept[EMPTY], d->blocks * sizeof *d->now);
    d->pages = d->pages_kept[EMPTY];
    forget_log(d);
    unlock(d);
}

void disk_log(struct disk *d)
{
    lock(d);
    keep(d, BEGUN);
    forget_log(d);
    unlock(d);
}

void disk_set_delay(struct disk *d, uint32_t microseconds)
{
    atomic_store(&d->delay, microseconds);
}

size_t disk_logged(const struct disk *d)
{
    return atomic_load(&d->logged);
}

const struct disk_entry *disk_entry(const struct disk *d, size_t i)
{
    return &d->log[i];
}

void disk_image(struct disk *d, const uint32_t *entries, size_t n)
{
    if (!d->imaging) {
        memcpy(d->now, d->kept[BEGUN], d->blocks * sizeof *d->now);
        d->pages_logged = d->pages;
        d->changed_n = 0;
        d->imaging = true;
    }
    for (size_t i = 0; i < n; i++) {
        const struct disk_entry *entry = &d->log[entries[i]];
        d->now[entry->block] = entry->page;
        d->changed[d->changed_n++] = entry->block;
    }
}

void disk_image_end(struct disk *d)
{
    for (uint32_t i = 0; i < d->changed_n; i++)
        d->now[d->changed[i]] = d->kept[BEGUN][d->changed[i]];
    d->changed_n = 0;
    d->pages = d->pages_logged;
}
