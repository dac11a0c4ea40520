/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/state_block.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL /* lines are short: a call would cost as much as their hash */
#include <xxhash.h>

#include "engine/mem.h"
#include "engine/state_inside.h"

enum {
    CACHED_MAX = 4096, /* blocks whose bytes are kept: 16 MiB */
    DEPTH_MAX = 64,    /* patches to go through for a block's bytes; the next keeps its own */
    LINE = 64,         /* hashes are sums over lines, so that a small patch costs little */
    SMALL = 512,       /* bytes of a patch that takes over the bytes of its base */
};

struct state_block {
    uint32_t refs;
    uint16_t at, length; /* what differs from base */
    uint16_t end;        /* behind the last byte that is not zero, or further */
    uint8_t depth;       /* how many patches lie below */
    bool pinned;         /* bytes are its own: there is nothing to find them from */
    uint64_t payload;
    struct state_block *base;
    struct state_hash hash;
    unsigned char *bytes; /* NULL when they are not at hand */
    unsigned char *old;   /* when it took over those of base: what was there before the patch */
    struct state_block *before, *after;
};

struct state_block *block_ref(struct state_block *b)
{
    if (b)
        b->refs++;
    return b;
}

static void leave_cache(struct state_blocks *all, struct state_block *b)
{
    *(b->before ? &b->before->after : &all->first) = b->after;
    *(b->after ? &b->after->before : &all->last) = b->before;
    all->n--;
}

static void enter_cache(struct state_blocks *all, struct state_block *b)
{
    b->before = NULL;
    b->after = all->first;
    *(all->first ? &all->first->before : &all->last) = b;
    all->first = b;
    if (++all->n <= CACHED_MAX)
        return;
    struct state_block *old = all->last;
    leave_cache(all, old);
    free(old->bytes);
    old->bytes = NULL;
}

/* Stores are applied and taken back one after another: the base gets its bytes back. */
static void give_back(struct state_blocks *all, struct state_block *b)
{
    struct state_block *base = b->base;
    memcpy(b->bytes + b->at, b->old, b->length);
    base->bytes = b->bytes;
    b->bytes = NULL;
    enter_cache(all, base);
}

void block_unref(struct state_blocks *all, struct state_block *b)
{
    while (b && --b->refs == 0) {
        struct state_block *base = b->base;
        if (b->bytes && !b->pinned) {
            leave_cache(all, b);
            if (b->old && base->refs > 1 && !base->bytes)
                give_back(all, b);
        }
        free(b->bytes);
        free(b->old);
        free(b);
        b = base;
    }
}

static struct state_hash hash_line_at(const unsigned char bytes[LINE], size_t line)
{
    static const unsigned char zeros[LINE];
    if (memcmp(bytes, zeros, LINE) == 0)
        return (struct state_hash){0, 0};
    XXH128_hash_t h = XXH3_128bits_withSeed(bytes, LINE, line);
    return (struct state_hash){h.low64, h.high64};
}

/* The lines that touch a range. */
static struct state_hash hash_range(const unsigned char *bytes, uint32_t at, uint32_t length)
{
    struct state_hash sum = {0, 0};
    for (size_t line = at / LINE; line * LINE < at + length; line++)
        sum = hash_add(sum, hash_line_at(bytes + line * LINE, line));
    return sum;
}

/* The line that holds the first byte out of sight, as it shows: zeros from there on. */
static struct state_hash hash_cut_line(const unsigned char *bytes, uint32_t end)
{
    size_t line = end / LINE;
    unsigned char shown[LINE] = {0};
    memcpy(shown, bytes + line * LINE, end % LINE);
    return hash_line_at(shown, line);
}

static uint32_t last_byte(const unsigned char *bytes)
{
    uint32_t end = OP_BLOCK_SIZE;
    while (end && !bytes[end - 1])
        end--;
    return end;
}

static bool read_payload(const struct state_blocks *all, uint64_t payload, unsigned char *to,
                         uint32_t length, struct error *e)
{
    const struct state_source *source = all->source;
    if (payload != PAYLOAD_ZEROS)
        return source->payload(source->data, payload, 0, to, length, e);
    memset(to, 0, length);
    return true;
}

const unsigned char *block_bytes(struct state_blocks *all, struct state_block *b, struct error *e)
{
    if (b->bytes) {
        if (!b->pinned && all->first != b) {
            leave_cache(all, b);
            enter_cache(all, b);
        }
        return b->bytes;
    }
    struct state_block *way[DEPTH_MAX];
    size_t n = 0;
    struct state_block *from = b;
    for (; from && !from->bytes; from = from->base)
        way[n++] = from;
    unsigned char *bytes = from ? xmalloc(OP_BLOCK_SIZE) : xcalloc(1, OP_BLOCK_SIZE);
    if (from)
        memcpy(bytes, from->bytes, OP_BLOCK_SIZE);
    while (n--) {
        const struct state_block *patch = way[n];
        if (!read_payload(all, patch->payload, bytes + patch->at, patch->length, e)) {
            free(bytes);
            return NULL;
        }
    }
    b->bytes = bytes;
    enter_cache(all, b);
    return bytes;
}

struct state_block *block_of_bytes(const unsigned char *bytes)
{
    uint32_t end = last_byte(bytes);
    if (!end)
        return NULL;
    struct state_block *b = xcalloc(1, sizeof *b);
    *b = (struct state_block){.refs = 1,
                              .end = (uint16_t)end,
                              .pinned = true,
                              .hash = hash_range(bytes, 0, end),
                              .bytes = xmalloc(OP_BLOCK_SIZE)};
    memcpy(b->bytes, bytes, OP_BLOCK_SIZE);
    return b;
}

static uint16_t later_end(const struct state_block *base, uint32_t end)
{
    return base && base->end > end ? base->end : (uint16_t)end;
}

/* A small patch on bytes that are at hand: they go from the base to the new block. */
static bool patch_small(struct state_blocks *all, struct state_block *base, uint32_t at,
                        uint32_t length, uint64_t payload, struct state_block **out,
                        struct error *e)
{
    unsigned char *bytes = base->bytes, fresh[SMALL];
    if (!read_payload(all, payload, fresh, length, e))
        return false;
    struct state_hash hash = hash_subtract(base->hash, hash_range(bytes, at, length));
    unsigned char *old = xmalloc(length);
    memcpy(old, bytes + at, length);
    memcpy(bytes + at, fresh, length);
    hash = hash_add(hash, hash_range(bytes, at, length));
    if (!hash.low && !hash.high && !last_byte(bytes)) {
        memcpy(bytes + at, old, length);
        free(old);
        *out = NULL;
        return true;
    }
    struct state_block *b = xcalloc(1, sizeof *b);
    *b = (struct state_block){.refs = 1,
                              .at = (uint16_t)at,
                              .length = (uint16_t)length,
                              .end = later_end(base, at + length),
                              .depth = (uint8_t)(base->depth + 1),
                              .payload = payload,
                              .base = block_ref(base),
                              .hash = hash,
                              .bytes = bytes,
                              .old = old};
    leave_cache(all, base);
    base->bytes = NULL;
    enter_cache(all, b);
    *out = b;
    return true;
}

bool block_patch(struct state_blocks *all, struct state_block *base, uint32_t at, uint32_t length,
                 uint64_t payload, struct state_block **out, struct error *e)
{
    bool whole = length == OP_BLOCK_SIZE;
    const unsigned char *below = NULL;
    if (payload == PAYLOAD_ZEROS && base && at >= base->end) {
        *out = block_ref(base);
        return true;
    }
    if (base && !whole && !(below = block_bytes(all, base, e)))
        return false;
    if (below && length <= SMALL && !base->pinned && base->depth < DEPTH_MAX - 1)
        return patch_small(all, base, at, length, payload, out, e);
    if (whole)
        base = NULL;
    unsigned char *bytes = below ? xmalloc(OP_BLOCK_SIZE) : xcalloc(1, OP_BLOCK_SIZE);
    struct state_hash hash = {0, 0};
    if (below) {
        memcpy(bytes, below, OP_BLOCK_SIZE);
        hash = hash_subtract(base->hash, hash_range(bytes, at, length));
    }
    if (!read_payload(all, payload, bytes + at, length, e)) {
        free(bytes);
        return false;
    }
    hash = hash_add(hash, hash_range(bytes, at, length));
    if (!hash.low && !hash.high && !last_byte(bytes)) {
        free(bytes);
        *out = NULL;
        return true;
    }
    bool deep = base && base->depth == DEPTH_MAX - 1;
    struct state_block *b = xcalloc(1, sizeof *b);
    *b = (struct state_block){.refs = 1,
                              .at = (uint16_t)at,
                              .length = (uint16_t)length,
                              .end = later_end(base, at + length),
                              .depth = base && !deep ? (uint8_t)(base->depth + 1) : 0,
                              .pinned = deep,
                              .payload = payload,
                              .base = deep ? NULL : block_ref(base),
                              .hash = hash,
                              .bytes = bytes};
    if (!deep)
        enter_cache(all, b);
    *out = b;
    return true;
}

/* Of the lines on both sides of the cut the fewer are gone through. */
bool block_hash(struct state_blocks *all, struct state_block *b, uint32_t length,
                struct state_hash *out, struct error *e)
{
    *out = (struct state_hash){0, 0};
    if (!b || !length)
        return true;
    if (length >= b->end) {
        *out = b->hash;
        return true;
    }
    const unsigned char *bytes = block_bytes(all, b, e);
    if (!bytes)
        return false;
    uint32_t cut = length / LINE * LINE;
    *out = cut < b->end - cut ? hash_range(bytes, 0, cut)
                              : hash_subtract(b->hash, hash_range(bytes, cut, b->end - cut));
    *out = hash_add(*out, hash_cut_line(bytes, length));
    return true;
}
