/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/store_words.h"

#include <inttypes.h>
#include <string.h>

#include "engine/calls.h"
#include "engine/types.h"

/* As much as a line shows of what a long store wrote: a read() into a mapping writes all of it. */
enum { WORDS_SHOWN = 160 };

/* It is text from debug info and from the run. */
static void add_words(struct cell *c, const char *text)
{
    size_t n = strlen(text), shown = n < WORDS_SHOWN ? n : WORDS_SHOWN;

    while (shown < n && shown && ((unsigned char)text[shown] & 0xC0) == 0x80)
        shown--; /* not inside a character */
    cell_escape(c, STYLE_FIELD, text, shown);
    if (shown < n)
        cell_add(c, STYLE_DIM, " ..");
}

bool store_field(struct cell *c, const struct fields *f, uint64_t event)
{
    const struct stored_field *at = fields_of(f, event);

    struct buf words = {0};

    if (at)
        fields_add_words(&words, f, at);
    bool known = words.n > 0;
    if (known)
        add_words(c, buf_string(&words));
    buf_free(&words);
    return known;
}

void store_confidence(struct cell *c, const struct fields *f, uint64_t event)
{
    const struct stored_field *at = fields_of(f, event);

    if (at && at->confidence != TYPE_EXACT)
        cell_add(c, STYLE_FLAG, " by %s", type_confidence_name(at->confidence));
}

void store_line(struct cell *c, uint64_t offset)
{
    cell_add(c, STYLE_NUMBER, " line %" PRIu64, offset / CACHE_LINE);
}

const char *sync_name(const struct event *event)
{
    static const char *const flushes[] = {
        [FLUSH_CLFLUSH] = "clflush", [FLUSH_CLFLUSHOPT] = "clflushopt", [FLUSH_CLWB] = "clwb"};
    static const char *const fences[] = {
        [FENCE_SFENCE] = "sfence", [FENCE_MFENCE] = "mfence", [FENCE_LOCKED] = "locked fence"};
    const char *name = NULL;

    if (event->call == CALL_FLUSH && event->flags < sizeof flushes / sizeof *flushes)
        name = flushes[event->flags];
    if (event->call == CALL_FENCE && event->flags < sizeof fences / sizeof *fences)
        name = fences[event->flags];
    return name ? name : call_name(event->call);
}
