/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/session_block.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "engine/mem.h"
#include "engine/session_schema.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file format is little-endian");
_Static_assert(sizeof(struct event) % sizeof(uint64_t) == 0, "a record is whole words");

enum {
    COMPRESSION_LEVEL = 1, /* recording must keep up with the program; columns do most of it */
    WORDS = sizeof(struct event) / sizeof(uint64_t),
};

struct packer {
    ZSTD_CCtx *zstd;
    uint64_t columns[WORDS * EVENTS_PER_CHUNK];
};

struct unpacker {
    ZSTD_DCtx *zstd;
    uint64_t columns[WORDS * EVENTS_PER_CHUNK];
};

struct packer *packer_new(void)
{
    struct packer *p = xmalloc(sizeof *p);
    p->zstd = ZSTD_createCCtx();
    if (p->zstd) {
        ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
        ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
    }
    return p;
}

void packer_free(struct packer *p)
{
    if (!p)
        return;
    ZSTD_freeCCtx(p->zstd);
    free(p);
}

bool packer_bytes(struct packer *p, const void *bytes, size_t size, struct buf *out)
{
    size_t bound = ZSTD_compressBound(size);
    buf_clear(out);
    char *to = buf_room(out, bound);
    size_t n = p->zstd ? ZSTD_compress2(p->zstd, to, bound, bytes, size) : (size_t)-1;
    if (ZSTD_isError(n))
        return false;
    out->n = n;
    return true;
}

bool packer_events(struct packer *p, const struct event *records, size_t count, struct buf *out)
{
    uint64_t last[WORDS] = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t words[WORDS];
        memcpy(words, &records[i], sizeof words);
        for (size_t w = 0; w < WORDS; w++) {
            p->columns[w * count + i] = words[w] - last[w];
            last[w] = words[w];
        }
    }
    return packer_bytes(p, p->columns, count * sizeof *records, out);
}

struct unpacker *unpacker_new(void)
{
    struct unpacker *u = xmalloc(sizeof *u);
    u->zstd = ZSTD_createDCtx();
    return u;
}

void unpacker_free(struct unpacker *u)
{
    if (!u)
        return;
    ZSTD_freeDCtx(u->zstd);
    free(u);
}

bool unpacker_bytes(struct unpacker *u, const void *block, size_t block_size, void *bytes,
                    size_t size)
{
    if (!u->zstd || !block || ZSTD_getFrameContentSize(block, block_size) != size)
        return false;
    return ZSTD_decompressDCtx(u->zstd, bytes, size, block, block_size) == size;
}

bool unpacker_events(struct unpacker *u, const void *block, size_t block_size,
                     struct event *records, size_t count)
{
    if (count > EVENTS_PER_CHUNK ||
        !unpacker_bytes(u, block, block_size, u->columns, count * sizeof *records))
        return false;
    uint64_t words[WORDS] = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t w = 0; w < WORDS; w++)
            words[w] += u->columns[w * count + i];
        memcpy(&records[i], words, sizeof words);
    }
    return true;
}
