/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/state_block.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/mem.h"
#include "engine/state_inside.h"

enum {
    CACHED_MAX = 4096, /* blocks whose bytes are kept: 16 MiB */
    DEPTH_MAX = 64,    /* patches to go through for a block's bytes; the next keeps its own */
    LINE = 64,         /* hashes are sums over lines, so that a small patch costs little */
    SMALL = 64,        /* bytes of a patch that takes over the bytes of its base */
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

static struct state_hash hash_line(const unsigned char *bytes, size_t line)
{
    static const unsigned char zeros[LINE];
    if (memcmp(bytes + line * LINE, zeros, LINE) == 0)
        return (struct state_hash){0, 0};
    XXH128_hash_t h = XXH3_128bits_withSeed(bytes + line * LINE, LINE, line);
    return (struct state_hash){h.low64, h.high64};
}

/* The lines that touch a range. */
static struct state_hash hash_range(const unsigned char *bytes, uint32_t at, uint32_t length)
{
    struct state_hash sum = {0, 0};
    for (size_t line = at / LINE; line * LINE < at + length; line++)
        sum = hash_add(sum, hash_line(bytes, line));
    return sum;
}

static struct state_hash hash_bytes(const unsigned char *bytes)
{
    return hash_range(bytes, 0, OP_BLOCK_SIZE);
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

static struct state_block *new_block(unsigned char *bytes)
{
    struct state_block *b = xcalloc(1, sizeof *b);
    b->refs = 1;
    b->bytes = bytes;
    b->end = (uint16_t)last_byte(bytes);
    b->hash = hash_bytes(bytes);
    return b;
}

struct state_block *block_of_bytes(const unsigned char *bytes)
{
    if (!last_byte(bytes))
        return NULL;
    unsigned char *copy = xmalloc(OP_BLOCK_SIZE);
    memcpy(copy, bytes, OP_BLOCK_SIZE);
    struct state_block *b = new_block(copy);
    b->pinned = true;
    return b;
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
                              .end = base->end > at + length ? base->end : (uint16_t)(at + length),
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
    if (base && !whole && !(below = block_bytes(all, base, e)))
        return false;
    if (below && length <= SMALL && !base->pinned && base->depth < DEPTH_MAX - 1)
        return patch_small(all, base, at, length, payload, out, e);
    unsigned char *bytes = xcalloc(1, OP_BLOCK_SIZE);
    if (below)
        memcpy(bytes, below, OP_BLOCK_SIZE);
    if (!read_payload(all, payload, bytes + at, length, e)) {
        free(bytes);
        return false;
    }
    if (!last_byte(bytes)) {
        free(bytes);
        *out = NULL;
        return true;
    }
    struct state_block *b = new_block(bytes);
    b->at = (uint16_t)at;
    b->length = (uint16_t)length;
    b->payload = payload;
    if (base && !whole && base->depth == DEPTH_MAX - 1) {
        b->pinned = true;
    } else {
        b->base = whole ? NULL : block_ref(base);
        b->depth = base && !whole ? (uint8_t)(base->depth + 1) : 0;
        enter_cache(all, b);
    }
    *out = b;
    return true;
}

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
    unsigned char shown[OP_BLOCK_SIZE] = {0};
    if (!bytes)
        return false;
    memcpy(shown, bytes, length);
    if (last_byte(shown))
        *out = hash_bytes(shown);
    return true;
}
