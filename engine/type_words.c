/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/type_words.h"

#include <inttypes.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"

enum {
    WORDS_FIELDS_MAX = 4,      /* of one store that are named; an ellipsis stands for the others */
    WORDS_BYTES_MAX = 16,      /* shown in hexadecimal */
    WALK_VISITS_MAX = 1 << 20, /* hostile types nest without end */
};

/* --- Walking over an object ------------------------------------------------------------------ */

struct walking {
    uint64_t from, to;
    bool (*leaf)(void *data, const struct type_leaf *leaf);
    void *data;
    struct buf path;
    long visits;
};

static bool walk(struct walking *w, struct type *t, uint64_t base, int depth);

static bool touches(const struct walking *w, uint64_t offset, uint64_t size)
{
    return offset < w->to && size > 0 && offset + size > w->from;
}

static bool hand_out(struct walking *w, struct type *t, uint64_t offset, uint64_t size,
                     const struct type_field *bits)
{
    struct type_leaf leaf = {
        .path = buf_string(&w->path), .type = t, .offset = offset, .size = size};

    if (!touches(w, offset, size))
        return true;
    if (bits) {
        leaf.bit = bits->bit;
        leaf.bits = bits->bits;
    }
    return w->leaf(w->data, &leaf);
}

static void shorten(struct buf *path, size_t n)
{
    path->n = n;
    if (path->at)
        path->at[n] = 0;
}

static bool hand_out_padding(struct walking *w, uint64_t from, uint64_t to)
{
    return from >= to || hand_out(w, NULL, from, to - from, NULL);
}

static uint64_t field_end(const struct type_field *f)
{
    return f->offset + (f->bits ? (f->bit + f->bits + 7) / 8 : f->type->size);
}

static bool walk_struct(struct walking *w, struct type *t, uint64_t base, int depth)
{
    const struct type_field *fields;
    size_t n = type_fields(t, &fields), length = w->path.n;
    uint64_t done = 0; /* bytes before this are accounted for */

    for (size_t i = 0; i < n; i++) {
        const struct type_field *f = &fields[i];
        bool ok = hand_out_padding(w, base + done, base + f->offset);
        if (f->name[0])
            buf_printf(&w->path, "%s%s", length ? "." : "", f->name);
        if (f->bits)
            ok = ok && hand_out(w, f->type, base + f->offset, field_end(f) - f->offset, f);
        else
            ok = ok && walk(w, f->type, base + f->offset, depth + 1);
        shorten(&w->path, length);
        if (!ok || ++w->visits > WALK_VISITS_MAX)
            return false;
        done = field_end(f) > done ? field_end(f) : done;
    }
    return hand_out_padding(w, base + done, base + t->size);
}

static bool walk_array(struct walking *w, struct type *t, uint64_t base, int depth)
{
    struct type *element = type_target(t);
    size_t length = w->path.n;

    if (!element || element->size == 0 || element->kind == TYPE_CHAR)
        return hand_out(w, t, base, t->size, NULL);
    uint64_t first = w->from > base ? (w->from - base) / element->size : 0;
    for (uint64_t i = first; i < t->count && base + i * element->size < w->to; i++) {
        buf_printf(&w->path, "[%" PRIu64 "]", i);
        bool ok = walk(w, element, base + i * element->size, depth + 1);
        shorten(&w->path, length);
        if (!ok || ++w->visits > WALK_VISITS_MAX)
            return false;
    }
    return true;
}

static bool walk(struct walking *w, struct type *t, uint64_t base, int depth)
{
    if (!t || depth > TYPE_DEPTH_MAX || !touches(w, base, t->size))
        return true;
    if (t->kind == TYPE_STRUCT)
        return walk_struct(w, t, base, depth);
    if (t->kind == TYPE_ARRAY)
        return walk_array(w, t, base, depth);
    return hand_out(w, t, base, t->size, NULL);
}

bool type_walk(struct type *t, uint64_t from, uint64_t to,
               bool (*leaf)(void *data, const struct type_leaf *leaf), void *data)
{
    struct walking w = {.from = from, .to = to, .leaf = leaf, .data = data};
    bool ok = walk(&w, t, 0, 0);

    buf_free(&w.path);
    return ok;
}

/* --- Values ---------------------------------------------------------------------------------- */

static uint64_t read_number(const void *bytes, size_t n)
{
    uint64_t number = 0;

    memcpy(&number, bytes, n < sizeof number ? n : sizeof number);
    return number;
}

static int64_t extend(uint64_t number, unsigned bits)
{
    if (bits == 0 || bits >= 64)
        return (int64_t)number;
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (int64_t)((number ^ sign) - sign);
}

static void hexadecimal(struct buf *out, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n && i < WORDS_BYTES_MAX; i++)
        buf_printf(out, "%s%02x", i ? " " : "", bytes[i]);
    if (n > WORDS_BYTES_MAX)
        buf_text(out, " ...");
}

static void floating(struct buf *out, const void *bytes, size_t n)
{
    float single;
    double usual;
    long double extended = 0;

    if (n == sizeof single) {
        memcpy(&single, bytes, n);
        buf_printf(out, "%g", (double)single);
    } else if (n == sizeof usual) {
        memcpy(&usual, bytes, n);
        buf_printf(out, "%g", usual);
    } else if (n == sizeof extended) {
        memcpy(&extended, bytes, n);
        buf_printf(out, "%Lg", extended);
    } else {
        hexadecimal(out, bytes, n);
    }
}

/* Text up to its end, when nothing but zeros follows; else all bytes. */
static void text(struct buf *out, const char *bytes, size_t n)
{
    size_t length = strnlen(bytes, n), zeros = length;

    while (zeros < n && bytes[zeros] == 0)
        zeros++;
    if (zeros < n)
        length = n;
    buf_char(out, '"');
    escape_add(out, bytes, length, escape_locale() | ESCAPE_REVERSIBLE);
    buf_char(out, '"');
}

static void enumeration(struct buf *out, struct type *t, int64_t number)
{
    const struct type_value *values;
    size_t n = type_values(t, &values);

    for (size_t i = 0; i < n; i++) {
        if (values[i].value == number) {
            escape_add(out, values[i].name, strlen(values[i].name), escape_locale());
            return;
        }
    }
    buf_printf(out, "%" PRId64, number);
}

/* A number of so many bits as a value of the type. */
static void number_words(struct buf *out, struct type *t, uint64_t number, unsigned bits)
{
    char c = (char)number;

    switch (t->kind) {
    case TYPE_SIGNED:
        buf_printf(out, "%" PRId64, extend(number, bits));
        break;
    case TYPE_CHAR:
        buf_char(out, '\'');
        escape_add(out, &c, 1, ESCAPE_REVERSIBLE);
        buf_char(out, '\'');
        break;
    case TYPE_BOOL:
        if (number > 1)
            buf_printf(out, "%" PRIu64, number);
        else
            buf_text(out, number ? "true" : "false");
        break;
    case TYPE_ENUM: /* its values may be negative or not: take the one that has a name */
        enumeration(out, t, number >> (bits - 1) & 1 ? extend(number, bits) : (int64_t)number);
        break;
    case TYPE_POINTER:
        if (number)
            buf_printf(out, "0x%" PRIx64, number);
        else
            buf_text(out, "NULL");
        break;
    default:
        buf_printf(out, "%" PRIu64, number);
        break;
    }
}

void type_value_words(struct buf *out, struct type *t, const void *bytes, size_t n)
{
    struct type *element = t && t->kind == TYPE_ARRAY ? type_target(t) : NULL;

    if (element && element->kind == TYPE_CHAR)
        text(out, bytes, n);
    else if (!t || n != t->size || t->kind >= TYPE_STRUCT || t->kind == TYPE_VOID)
        hexadecimal(out, bytes, n);
    else if (t->kind == TYPE_FLOAT)
        floating(out, bytes, n);
    else if (n > sizeof(uint64_t) || n == 0)
        hexadecimal(out, bytes, n);
    else
        number_words(out, t, read_number(bytes, n), (unsigned)n * 8);
}

static uint64_t bits_of(const struct type_leaf *leaf, const unsigned char *object)
{
    uint64_t number = read_number(object + leaf->offset, leaf->size) >> leaf->bit;

    if (leaf->bits >= 64)
        return number;
    return number & ((UINT64_C(1) << leaf->bits) - 1);
}

void type_leaf_words(struct buf *out, const struct type_leaf *leaf, const void *object)
{
    if (leaf->bits)
        number_words(out, leaf->type, bits_of(leaf, object), leaf->bits);
    else
        type_value_words(out, leaf->type, (const unsigned char *)object + leaf->offset, leaf->size);
}

/* --- Stores ---------------------------------------------------------------------------------- */

/* A store while its fields are named. */
struct wording {
    struct buf *out;
    uint64_t from, to;           /* in the object */
    const unsigned char *bytes;  /* from `from` on */
    const unsigned char *before; /* likewise, or NULL */
    int named;
};

static void add_assignment(struct wording *w, const struct type_leaf *leaf)
{
    uint64_t from = leaf->offset > w->from ? leaf->offset : w->from;
    uint64_t end = leaf->offset + leaf->size, to = end < w->to ? end : w->to;

    if (w->named)
        buf_text(w->out, ", ");
    escape_add(w->out, leaf->path, strlen(leaf->path), escape_locale());
    buf_text(w->out, " = ");
    if (leaf->bits && from == leaf->offset && to == end) {
        struct type_leaf here = *leaf;
        here.offset = from - w->from;
        type_leaf_words(w->out, &here, w->bytes);
    } else {
        type_value_words(w->out, leaf->type, w->bytes + (from - w->from), to - from);
    }
}

static bool is_changed(const struct wording *w, const struct type_leaf *leaf)
{
    uint64_t from = leaf->offset > w->from ? leaf->offset : w->from;
    uint64_t end = leaf->offset + leaf->size, to = end < w->to ? end : w->to;

    if (!w->before)
        return true;
    if (leaf->bits && from == leaf->offset && to == end) {
        struct type_leaf here = *leaf;
        here.offset = from - w->from;
        return bits_of(&here, w->bytes) != bits_of(&here, w->before);
    }
    return memcmp(w->bytes + (from - w->from), w->before + (from - w->from), to - from) != 0;
}

static bool name_leaf(void *data, const struct type_leaf *leaf)
{
    struct wording *w = data;

    if (!leaf->type || !is_changed(w, leaf))
        return true;
    if (w->named == WORDS_FIELDS_MAX) {
        buf_text(w->out, ", ...");
        return false;
    }
    add_assignment(w, leaf);
    w->named++;
    return true;
}

bool types_store_words(const struct type_answer *a, uint64_t address, uint64_t size,
                       const void *bytes, const void *before, struct buf *out)
{
    if (!a->type)
        return false;
    struct wording w = {.out = out, .bytes = bytes, .before = before};
    if (a->outer_instance) {
        w.from = address - a->outer_instance;
        w.to = w.from + size;
        type_walk(a->outer, w.from, w.to, name_leaf, &w);
        if (w.named == 0 && before) { /* all stayed the same: say what was written */
            w.before = NULL;
            type_walk(a->outer, w.from, w.to, name_leaf, &w);
        }
    }
    if (w.named == 0) {
        struct type_leaf leaf = {.path = a->path, .type = a->field, .size = size};
        w.from = 0;
        w.to = size;
        add_assignment(&w, &leaf);
    }
    return true;
}
