/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/fields_inside.h"

#include <stdlib.h>

#include "engine/log.h"
#include "engine/type_words.h"

void fields_clear(struct fields *f)
{
    vec_free(&f->stores);
    vec_free(&f->types);
    vec_free(&f->leaves);
    vec_free(&f->text_at);
    buf_free(&f->texts);
}

void fields_close(struct fields *f)
{
    if (!f)
        return;
    fields_clear(f);
    free(f);
}

bool fields_open(struct fields **out, struct session *s, struct symbols *symbols,
                 const struct interrupt *interrupt, struct error *e)
{
    struct fields *f = xcalloc(1, sizeof *f);
    struct error why;
    *out = f;
    if (!session_has_stores(s) || fields_load(f, s, &why) == FIELDS_LOADED)
        return true;
    fields_clear(f);
    if (!fields_find(f, s, symbols, interrupt, e)) {
        fields_close(f);
        *out = NULL;
        return false;
    }
    if (!fields_keep(f, s, &why)) /* only a cache, where the binaries are there */
        log_info(SYMBOLS, "fields are not kept: %s", why.text);
    return true;
}

bool fields_capture(const char *path, struct error *e)
{
    struct session *s;
    struct fields *f = NULL;
    if (!session_open(&s, path, e))
        return false;
    struct symbols *symbols = symbols_open(s);
    bool done = fields_open(&f, s, symbols, NULL, e);
    fields_close(f);
    symbols_close(symbols);
    session_close(s);
    return done;
}

const struct stored_field *fields_of(const struct fields *f, uint64_t event)
{
    size_t low = 0, high = f ? f->stores.n : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->stores.at[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    return f && low < f->stores.n && f->stores.at[low].event == event ? &f->stores.at[low] : NULL;
}

size_t fields_count(const struct fields *f)
{
    return f ? f->stores.n : 0;
}

const char *fields_text(const struct fields *f, uint32_t text)
{
    return text && text <= f->text_at.n ? f->texts.at + f->text_at.at[text - 1] : "";
}

void fields_add_words(struct buf *out, const struct fields *f, const struct stored_field *at)
{
    const char *words = fields_text(f, at->words);
    if (!at->words) {
        buf_text(out, fields_text(f, at->field));
        return;
    }
    buf_text(out, fields_type_name(f, at->outer ? at->outer : at->type));
    if (*words != '[')
        buf_char(out, '.');
    buf_text(out, words);
}

const char *fields_type_name(const struct fields *f, uint32_t type)
{
    return type && type <= f->types.n ? fields_text(f, f->types.at[type - 1].name) : "";
}

uint64_t fields_type_size(const struct fields *f, uint32_t type)
{
    return type && type <= f->types.n ? f->types.at[type - 1].size : 0;
}

uint32_t fields_type_count(const struct fields *f)
{
    return f ? (uint32_t)f->types.n : 0;
}

size_t fields_leaves(const struct fields *f, uint32_t type, const struct field_leaf **out)
{
    if (!type || type > f->types.n)
        return 0;
    *out = f->leaves.at + f->types.at[type - 1].first;
    return f->types.at[type - 1].count;
}

void field_leaf_words(struct buf *out, const struct field_leaf *leaf, const void *object)
{
    struct type type = {.kind = leaf->kind,
                        .tag = "",
                        .size = leaf->size,
                        .fields_read = true,
                        .target_read = true};
    struct type chars = {.kind = TYPE_CHAR, .tag = "", .size = 1};
    if (leaf->kind == TYPE_ARRAY) { /* the only arrays that are leaves */
        type.target = &chars;
        type.count = leaf->size;
    }
    struct type_leaf as = {.path = "",
                           .type = leaf->kind == TYPE_VOID ? NULL : &type,
                           .offset = leaf->offset,
                           .size = leaf->size,
                           .bit = leaf->bit,
                           .bits = leaf->bits};
    type_leaf_words(out, &as, object);
}
