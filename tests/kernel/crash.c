/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernel/crash.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "engine/map.h"
#include "engine/op.h"
#include "engine/vec.h"

/* Up to so many blocks of data all their sets are tried, and so many steps of metadata. */
enum { DATA_ALL = 5, DATA_DRAWN = 24, STEPS_MOST = 8, BLOCKS_DRAWN = 8 };

typedef vec_of(uint32_t) numbers;

struct crash {
    const struct disk *disk;
    size_t logged;
    struct chance *chance;
    uint32_t *flushed; /* of each entry: the flush that covers it first; logged when none does */
    uint64_t *hashes;  /* of each entry: its block with what was written */
    struct map known;  /* images by hash, */
    size_t budget;     /* and how many more there may be */
    bool (*visit)(void *data, const struct crash_image *image);
    void *visit_data;
};

/* The time up to which a flush was under way. */
struct epoch {
    uint32_t end; /* the entry of the flush, or the end of the log */
    numbers safe, data, meta;
    numbers steps; /* meta[steps[k]] begins the k-th request */
};

/* ---- what is in the log ---- */

static bool is_write(const struct crash *c, size_t i)
{
    return disk_entry(c->disk, i)->block != DISK_FLUSH;
}

/* Blocks of the program's files hold letters and zeros, and little else does. */
static bool is_data(const struct crash *c, size_t i)
{
    const unsigned char *page = disk_page(c->disk, disk_entry(c->disk, i)->page);
    bool letters = false;
    for (size_t k = 0; k < DISK_BLOCK; k++) {
        if (page[k] && !isalpha(page[k]))
            return false;
        letters |= page[k] != 0;
    }
    return letters;
}

static void find_flushes(struct crash *c)
{
    for (size_t i = 0; i < c->logged; i++)
        c->flushed[i] = (uint32_t)c->logged;
    for (size_t f = 0, first = 0; f < c->logged; f++) {
        if (is_write(c, f))
            continue;
        bool all = true;
        for (size_t i = first; i < f; i++) {
            if (!is_write(c, i) || c->flushed[i] < c->logged)
                continue;
            if (disk_entry(c->disk, i)->batch < disk_entry(c->disk, f)->batch)
                c->flushed[i] = (uint32_t)f;
            else
                all = false;
        }
        first = all ? f : first;
    }
}

static void hash_entries(struct crash *c)
{
    for (size_t i = 0; i < c->logged; i++) {
        if (!is_write(c, i))
            continue;
        const struct disk_entry *entry = disk_entry(c->disk, i);
        uint64_t h =
            disk_page_hash(c->disk, entry->page) ^ entry->block * UINT64_C(0x9e3779b97f4a7c15);
        h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
        c->hashes[i] = h ^ h >> 32;
    }
}

/* ---- an image ---- */

/* Of writes to one block the last counts. */
static uint64_t hash_image(const struct crash *c, const numbers *entries)
{
    struct map blocks = {0};
    uint64_t hash = 0;
    for (size_t i = 0; i < entries->n; i++) {
        uint32_t entry = entries->at[i];
        uint32_t block = disk_entry(c->disk, entry)->block;
        uint64_t *before = map_put(&blocks, &block, sizeof block, NULL);
        hash += c->hashes[entry] - *before;
        *before = c->hashes[entry];
    }
    map_free(&blocks);
    return hash;
}

static bool offer(struct crash *c, const struct epoch *epoch, numbers *chosen)
{
    for (size_t i = 0; i < epoch->safe.n; i++)
        vec_push(chosen, epoch->safe.at[i]);
    if (chosen->n)
        qsort(chosen->at, chosen->n, sizeof *chosen->at, op_by_number);
    struct crash_image image = {chosen->at, chosen->n, epoch->end, hash_image(c, chosen)};
    bool added;
    if (!map_get(&c->known, &image.hash, sizeof image.hash)) {
        if (!c->budget)
            return true;
        map_put(&c->known, &image.hash, sizeof image.hash, &added);
        c->budget--;
    }
    return c->visit(c->visit_data, &image);
}

/* ---- the images of an epoch ---- */

static uint64_t random_set(struct crash *c)
{
    return (uint64_t)chance_below(c->chance, 1U << 31) << 31 ^ chance_below(c->chance, 1U << 31);
}

static void choose_data(const struct epoch *epoch, uint64_t set, numbers *chosen)
{
    for (size_t i = 0; i < epoch->data.n; i++)
        if (set >> (i % 62) & 1)
            vec_push(chosen, epoch->data.at[i]);
}

/* Metadata as far as it had come when `step` requests were done. */
static void choose_meta(const struct epoch *epoch, size_t step, numbers *chosen)
{
    size_t end = step < epoch->steps.n ? epoch->steps.at[step] : epoch->meta.n;
    for (size_t i = 0; i < end; i++)
        vec_push(chosen, epoch->meta.at[i]);
}

static bool try_sets(struct crash *c, const struct epoch *epoch, size_t step)
{
    bool all = epoch->data.n <= DATA_ALL, on = true;
    uint32_t sets = all ? 1U << epoch->data.n : DATA_DRAWN;
    for (uint32_t set = 0; set < sets && on; set++) {
        numbers chosen = {0};
        uint64_t drawn = set;
        if (!all)
            drawn = set == 0 ? 0 : set == 1 ? UINT64_MAX : random_set(c);
        choose_data(epoch, drawn, &chosen);
        choose_meta(epoch, step, &chosen);
        on = offer(c, epoch, &chosen);
        vec_free(&chosen);
    }
    return on;
}

/* Each block by itself, whatever it is. */
static bool try_blocks(struct crash *c, const struct epoch *epoch)
{
    bool on = true;
    for (int k = 0; k < BLOCKS_DRAWN && on; k++) {
        numbers chosen = {0};
        uint32_t odds = 1 + chance_below(c->chance, 8); /* in 9 */
        for (size_t i = 0; i < epoch->data.n + epoch->meta.n; i++)
            if (chance_below(c->chance, 9) < odds)
                vec_push(&chosen,
                         i < epoch->data.n ? epoch->data.at[i] : epoch->meta.at[i - epoch->data.n]);
        on = offer(c, epoch, &chosen);
        vec_free(&chosen);
    }
    return on;
}

static bool try_epoch(struct crash *c, const struct epoch *epoch)
{
    size_t steps = epoch->steps.n;
    if (!try_sets(c, epoch, steps) || !try_sets(c, epoch, 0))
        return false;
    for (size_t k = 1; k < steps && k < STEPS_MOST; k++) {
        size_t step = steps <= STEPS_MOST ? k : 1 + chance_below(c->chance, (uint32_t)steps - 1);
        if (!try_sets(c, epoch, step))
            return false;
    }
    return try_blocks(c, epoch);
}

static void find_epoch(const struct crash *c, uint32_t end, struct epoch *epoch)
{
    uint32_t request = 0;
    *epoch = (struct epoch){.end = end};
    for (uint32_t i = 0; i < end; i++) {
        if (!is_write(c, i))
            continue;
        if (c->flushed[i] < end)
            vec_push(&epoch->safe, i);
        else if (is_data(c, i))
            vec_push(&epoch->data, i);
        else {
            if (disk_entry(c->disk, i)->request != request)
                vec_push(&epoch->steps, (uint32_t)epoch->meta.n);
            request = disk_entry(c->disk, i)->request;
            vec_push(&epoch->meta, i);
        }
    }
}

bool crash_images(const struct disk *disk, size_t logged, size_t most, struct chance *chance,
                  bool (*visit)(void *data, const struct crash_image *image), void *data)
{
    struct crash c = {.disk = disk, .logged = logged, .chance = chance};
    c.visit = visit;
    c.visit_data = data;
    c.flushed = xcalloc(logged + 1, sizeof *c.flushed);
    c.hashes = xcalloc(logged + 1, sizeof *c.hashes);
    find_flushes(&c);
    hash_entries(&c);
    size_t epochs = 1;
    for (size_t i = 0; i < logged; i++)
        epochs += !is_write(&c, i);
    bool on = true;
    for (uint32_t end = 0; end <= logged && on; end++) {
        if (end < logged && is_write(&c, end))
            continue;
        struct epoch epoch;
        find_epoch(&c, end, &epoch);
        c.budget += most / epochs; /* what one leaves is the next one's */
        on = try_epoch(&c, &epoch);
        vec_free(&epoch.safe);
        vec_free(&epoch.data);
        vec_free(&epoch.meta);
        vec_free(&epoch.steps);
    }
    map_free(&c.known);
    free(c.flushed);
    free(c.hashes);
    return on;
}
