/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/graph_session.h"

#include <stdlib.h>

#include "engine/map.h"
#include "engine/vec.h"

struct extent {
    uint64_t offset, end;
};

struct image_file {
    uint64_t length;
    vec_of(struct extent) extents;
};

struct graph_session {
    struct session *session;
    struct map index; /* file number → place in files, plus 1 */
    vec_of(struct image_file) files;
    struct graph_source source;
};

static struct image_file *find(const struct graph_session *gs, uint32_t file)
{
    const uint64_t *place = map_get(&gs->index, &file, sizeof file);
    return place ? &gs->files.at[*place - 1] : NULL;
}

static bool take_file(void *data, uint32_t file, enum file_kind kind, uint32_t mode, uint64_t size,
                      const char *target)
{
    struct graph_session *gs = data;
    (void)mode, (void)target;
    if (kind != FILE_REGULAR)
        return true;
    vec_push(&gs->files, (struct image_file){.length = size});
    *map_put(&gs->index, &file, sizeof file, NULL) = gs->files.n;
    return true;
}

static bool take_extent(void *data, uint32_t file, uint64_t offset, uint64_t size, uint64_t payload)
{
    struct image_file *at = find(data, file);
    (void)payload;
    if (at)
        vec_push(&at->extents, (struct extent){offset, offset + size});
    return true;
}

static bool read_event(void *data, uint64_t number, struct event *out, struct error *e)
{
    return session_event(((struct graph_session *)data)->session, number, out, e);
}

static uint64_t length(void *data, uint32_t file)
{
    const struct image_file *at = find(data, file);
    return at ? at->length : 0;
}

static int by_offset(const void *x, const void *y)
{
    const struct extent *a = x, *b = y;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool has_block(void *data, uint32_t file, uint64_t block)
{
    const struct image_file *at = find(data, file);
    if (!at)
        return false;
    size_t low = 0, high = at->extents.n;
    while (low < high) { /* the first extent that ends behind the block's beginning */
        size_t middle = (low + high) / 2;
        if (at->extents.at[middle].end > block * OP_BLOCK_SIZE)
            high = middle;
        else
            low = middle + 1;
    }
    return low < at->extents.n && at->extents.at[low].offset < (block + 1) * OP_BLOCK_SIZE;
}

bool graph_session_open(struct graph_session **out, struct session *s, struct error *e)
{
    static const struct image_visitor visitor = {.file = take_file, .extent = take_extent};
    struct graph_session *gs = xcalloc(1, sizeof *gs);
    gs->session = s;
    if (!session_image(s, &visitor, gs, e)) {
        graph_session_close(gs);
        return false;
    }
    for (size_t i = 0; i < gs->files.n; i++)
        if (gs->files.at[i].extents.n)
            qsort(gs->files.at[i].extents.at, gs->files.at[i].extents.n, sizeof(struct extent),
                  by_offset);
    gs->source = (struct graph_source){.data = gs,
                                       .events = session_event_count(s),
                                       .event = read_event,
                                       .length = length,
                                       .has_block = has_block};
    *out = gs;
    return true;
}

void graph_session_close(struct graph_session *gs)
{
    if (!gs)
        return;
    for (size_t i = 0; i < gs->files.n; i++)
        vec_free(&gs->files.at[i].extents);
    vec_free(&gs->files);
    map_free(&gs->index);
    free(gs);
}

const struct graph_source *graph_session_source(const struct graph_session *gs)
{
    return &gs->source;
}
