/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Types are kept by the place of their DIE in memory, which is one place also with split debug
 * info, where offsets are not.
 */
#include "engine/type_info.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/mem.h"
#include "engine/vec.h"

enum {
    CHAIN_MAX = 64,       /* typedefs of typedefs */
    FIELDS_MAX = 1 << 16, /* of one struct */
    POINTER_SIZE = 8,
    NAME_DEPTH_MAX = 8, /* pointers to pointers that a name spells out */
};

struct type_info {
    struct binary *binary;
    struct map types;       /* address of a DIE to struct type * */
    struct map definitions; /* tag of a struct to the offset of its unit-independent DIE */
    bool definitions_read;
    vec_of(struct type *) owned;
};

struct type_info *type_info_open(struct binary *b)
{
    struct type_info *in = xcalloc(1, sizeof *in);

    in->binary = b;
    return in;
}

void type_info_close(struct type_info *in)
{
    if (!in)
        return;
    for (size_t i = 0; i < in->owned.n; i++) {
        free(in->owned.at[i]->fields);
        free(in->owned.at[i]->values);
        free(in->owned.at[i]->name);
        free(in->owned.at[i]);
    }
    vec_free(&in->owned);
    map_free(&in->types);
    map_free(&in->definitions);
    free(in);
}

static struct type *type_new(struct type_info *in, enum type_kind kind)
{
    struct type *t = xcalloc(1, sizeof *t);

    t->kind = kind;
    t->tag = "";
    t->info = in;
    vec_push(&in->owned, t);
    return t;
}

/* --- From a DIE to a type ------------------------------------------------------------------ */

static bool number_of(Dwarf_Die *die, unsigned attribute, uint64_t *value)
{
    Dwarf_Attribute a;
    Dwarf_Word word;

    if (!dwarf_attr_integrate(die, attribute, &a) || dwarf_formudata(&a, &word) != 0)
        return false;
    *value = word;
    return true;
}

static bool flag_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute a;
    bool flag;

    return dwarf_attr(die, attribute, &a) && dwarf_formflag(&a, &flag) == 0 && flag;
}

static bool type_die_of(Dwarf_Die *die, Dwarf_Die *out)
{
    Dwarf_Attribute a;

    return dwarf_attr_integrate(die, DW_AT_type, &a) && dwarf_formref_die(&a, out);
}

static bool is_alias(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type || tag == DW_TAG_immutable_type;
}

static enum type_kind base_kind(Dwarf_Die *die)
{
    uint64_t encoding = 0;

    number_of(die, DW_AT_encoding, &encoding);
    switch (encoding) {
    case DW_ATE_signed:
        return TYPE_SIGNED;
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char: {
        /* int8_t and bool-like bytes are signed char, unsigned char; text is char. */
        const char *name = dwarf_diename(die);
        bool text = name && strcmp(name, "char") == 0;
        return text ? TYPE_CHAR : encoding == DW_ATE_signed_char ? TYPE_SIGNED : TYPE_UNSIGNED;
    }
    case DW_ATE_boolean:
        return TYPE_BOOL;
    case DW_ATE_float:
        return TYPE_FLOAT;
    default:
        return TYPE_UNSIGNED;
    }
}

static enum type_kind kind_of(Dwarf_Die *die)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_base_type:
        return base_kind(die);
    case DW_TAG_enumeration_type:
        return TYPE_ENUM;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return TYPE_POINTER;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        return TYPE_STRUCT;
    case DW_TAG_union_type:
        return TYPE_UNION;
    case DW_TAG_array_type:
        return TYPE_ARRAY;
    default:
        return TYPE_OTHER;
    }
}

/* The lengths of an array's dimensions, the outermost first; 0 for an open one. */
static size_t dimensions(Dwarf_Die *die, uint64_t *counts, size_t room)
{
    Dwarf_Die child;
    size_t n = 0;

    if (dwarf_child(die, &child) != 0)
        return 0;
    do {
        uint64_t count = 0, upper, lower = 0;
        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            continue;
        if (!number_of(&child, DW_AT_count, &count) &&
            number_of(&child, DW_AT_upper_bound, &upper)) {
            number_of(&child, DW_AT_lower_bound, &lower);
            count = upper - lower + 1;
        }
        counts[n++] = count <= TYPE_SIZE_MAX ? count : 0;
    } while (n < room && dwarf_siblingof(&child, &child) == 0);
    return n;
}

static uint64_t array_size(const struct type *element, uint64_t count)
{
    uint64_t size;

    if (!element || __builtin_mul_overflow(element->size, count, &size) || size > TYPE_SIZE_MAX)
        return 0;
    return size;
}

/* An array of several dimensions becomes arrays of arrays. Filled in at once: its size is needed,
 * and its elements hold no way back to it. */
static void fill_array(struct type *t, int depth);

static struct type *type_at(struct type_info *in, Dwarf_Die *die, const char *alias, int depth)
{
    Dwarf_Die at = *die;

    for (int i = 0; i < CHAIN_MAX && is_alias(dwarf_tag(&at)); i++) {
        if (dwarf_tag(&at) == DW_TAG_typedef)
            alias = dwarf_diename(&at);
        if (!type_die_of(&at, &at))
            return NULL;
    }
    if (is_alias(dwarf_tag(&at)) || dwarf_tag(&at) == DW_TAG_unspecified_type ||
        depth > TYPE_DEPTH_MAX)
        return NULL;
    bool added;
    uint64_t *known = map_put(&in->types, &at.addr, sizeof at.addr, &added);
    if (!added)
        return (struct type *)(uintptr_t)*known;

    struct type *t = type_new(in, kind_of(&at));
    *known = (uint64_t)(uintptr_t)t;
    t->die = at;
    const char *name = dwarf_diename(&at);
    if (!name)
        name = alias; /* typedef struct { … } entry; */
    t->tag = name ? name : "";
    if (!number_of(&at, DW_AT_byte_size, &t->size) && t->kind == TYPE_POINTER)
        t->size = POINTER_SIZE;
    if (t->size > TYPE_SIZE_MAX)
        t->size = 0;
    if (t->kind == TYPE_ARRAY)
        fill_array(t, depth);
    return t;
}

static void fill_array(struct type *t, int depth)
{
    enum { DIMENSIONS_MAX = 16 };
    uint64_t counts[DIMENSIONS_MAX];
    Dwarf_Die element;
    size_t n = dimensions(&t->die, counts, DIMENSIONS_MAX);
    struct type *inner =
        type_die_of(&t->die, &element) ? type_at(t->info, &element, NULL, depth + 1) : NULL;

    t->target_read = true;
    for (size_t i = n; i-- > 1;) {
        struct type *row = type_new(t->info, TYPE_ARRAY);
        row->target = inner;
        row->target_read = true;
        row->count = counts[i];
        row->size = array_size(inner, counts[i]);
        inner = row;
    }
    t->target = inner;
    t->count = n ? counts[0] : 0;
    t->size = array_size(inner, t->count);
}

struct type *type_of_die(struct type_info *in, Dwarf_Die *die)
{
    return type_at(in, die, NULL, 0);
}

struct type *type_of_attribute(struct type_info *in, Dwarf_Die *die)
{
    Dwarf_Die type;

    return type_die_of(die, &type) ? type_of_die(in, &type) : NULL;
}

/* --- Structs that are only declared ------------------------------------------------------- */

static void add_definitions(struct type_info *in, Dwarf_Die *parent, int depth)
{
    Dwarf_Die child;

    if (depth > TYPE_DEPTH_MAX || dwarf_child(parent, &child) != 0)
        return;
    do {
        int tag = dwarf_tag(&child);
        const char *name = dwarf_diename(&child);
        if (tag == DW_TAG_namespace)
            add_definitions(in, &child, depth + 1);
        if (!name || flag_of(&child, DW_AT_declaration) ||
            (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type))
            continue;
        bool added;
        uint64_t *place = map_put(&in->definitions, name, strlen(name), &added);
        struct type *t = type_of_die(in, &child);
        struct type *first = (struct type *)(uintptr_t)*place;
        if (added)
            *place = (uint64_t)(uintptr_t)t;
        else if (first && t && !type_same(first, t))
            *place = 0; /* two structs of one name: which is meant cannot be told */
    } while (dwarf_siblingof(&child, &child) == 0);
}

static struct type *definition_of(struct type_info *in, const char *tag)
{
    if (!in->definitions_read) {
        Dwarf_Die *unit = NULL;
        Dwarf_Addr bias;
        in->definitions_read = true;
        while ((unit = dwfl_module_nextcu(in->binary->module, unit, &bias)))
            add_definitions(in, unit, 0);
    }
    uint64_t *place = map_get(&in->definitions, tag, strlen(tag));
    return place ? (struct type *)(uintptr_t)*place : NULL;
}

struct type *type_target(struct type *t)
{
    if (!t || (t->kind != TYPE_POINTER && t->kind != TYPE_ARRAY))
        return NULL;
    if (!t->target_read) {
        t->target_read = true;
        t->target = type_of_attribute(t->info, &t->die);
        if (type_is_struct(t->target) && t->target->tag[0] &&
            flag_of(&t->target->die, DW_AT_declaration)) {
            struct type *whole = definition_of(t->info, t->target->tag);
            t->target = whole ? whole : t->target;
        }
    }
    return t->target;
}

/* --- Fields ------------------------------------------------------------------------------- */

/* Byte offset of a member; false for virtual bases, whose place only the object knows. */
static bool member_offset(Dwarf_Die *member, bool in_union, uint64_t *offset)
{
    Dwarf_Attribute a;
    Dwarf_Op *ops;
    size_t n;

    if (dwarf_attr(member, DW_AT_data_member_location, &a)) {
        if (number_of(member, DW_AT_data_member_location, offset))
            return true;
        if (dwarf_getlocation(&a, &ops, &n) != 0 || n != 1 || ops[0].atom != DW_OP_plus_uconst)
            return false;
        *offset = ops[0].number;
        return true;
    }
    *offset = 0;
    return in_union || dwarf_hasattr(member, DW_AT_data_bit_offset);
}

static void member_bits(Dwarf_Die *member, struct type_field *f)
{
    uint64_t bits, bit;

    if (!number_of(member, DW_AT_bit_size, &bits) || bits == 0 || bits > 64)
        return;
    f->bits = (uint32_t)bits;
    if (number_of(member, DW_AT_data_bit_offset, &bit)) {
        f->offset += bit / 8;
        f->bit = (uint32_t)(bit % 8);
    } else if (number_of(member, DW_AT_bit_offset, &bit)) { /* DWARF 3: from the unit's top bit */
        uint64_t unit = f->type->size, from;
        number_of(member, DW_AT_byte_size, &unit);
        from = unit * 8 - bit - bits;
        if (from > 64)
            return;
        f->offset += from / 8;
        f->bit = (uint32_t)(from % 8);
    }
}

static bool read_member(struct type *t, Dwarf_Die *die, struct type_field *f)
{
    int tag = dwarf_tag(die);
    bool base = tag == DW_TAG_inheritance;

    if ((tag != DW_TAG_member && !base) || flag_of(die, DW_AT_external) ||
        flag_of(die, DW_AT_declaration))
        return false; /* static members are no part of an object */
    const char *name = base ? NULL : dwarf_diename(die);
    *f = (struct type_field){.name = name ? name : "", .type = type_of_attribute(t->info, die)};
    if (!f->type || !member_offset(die, t->kind == TYPE_UNION, &f->offset))
        return false;
    member_bits(die, f);
    uint64_t end;
    return !__builtin_add_overflow(f->offset, f->bits ? (f->bit + f->bits + 7) / 8 : f->type->size,
                                   &end) &&
           end <= t->size;
}

size_t type_fields(struct type *t, const struct type_field **out)
{
    *out = NULL;
    if (!type_is_struct(t))
        return 0;
    if (!t->fields_read) {
        vec_of(struct type_field) fields = {0};
        Dwarf_Die child;
        t->fields_read = true;
        if (dwarf_child(&t->die, &child) == 0) {
            do {
                struct type_field f;
                if (read_member(t, &child, &f))
                    vec_push(&fields, f);
            } while (fields.n < FIELDS_MAX && dwarf_siblingof(&child, &child) == 0);
        }
        t->fields = fields.at;
        t->n = fields.n;
        for (size_t i = 0; i < t->n; i++) {
            struct type *inner = t->fields[i].type;
            while (inner && inner->kind == TYPE_ARRAY)
                inner = inner->target;
            if (type_is_struct(inner) && !inner->tag[0] && !inner->name)
                inner->name = xasprintf("%s.%s", type_name(t), t->fields[i].name);
        }
    }
    *out = t->fields;
    return t->n;
}

size_t type_values(struct type *t, const struct type_value **out)
{
    *out = NULL;
    if (!t || t->kind != TYPE_ENUM)
        return 0;
    if (!t->fields_read) {
        vec_of(struct type_value) values = {0};
        Dwarf_Die child;
        t->fields_read = true;
        if (dwarf_child(&t->die, &child) == 0) {
            do {
                Dwarf_Attribute a;
                Dwarf_Sword value;
                const char *name = dwarf_diename(&child);
                if (name && dwarf_attr(&child, DW_AT_const_value, &a) &&
                    dwarf_formsdata(&a, &value) == 0)
                    vec_push(&values, (struct type_value){name, value});
            } while (values.n < FIELDS_MAX && dwarf_siblingof(&child, &child) == 0);
        }
        t->values = values.at;
        t->n = values.n;
    }
    *out = t->values;
    return t->n;
}

/* --- Names and identity ------------------------------------------------------------------- */

static void spell(struct buf *out, struct type *t, int depth)
{
    if (!t || depth > NAME_DEPTH_MAX) {
        buf_text(out, "void");
    } else if (t->kind == TYPE_POINTER) {
        spell(out, type_target(t), depth + 1);
        buf_text(out, out->at[out->n - 1] == '*' ? "*" : " *");
    } else if (t->kind == TYPE_ARRAY) {
        spell(out, type_target(t), depth + 1);
        buf_printf(out, "[%llu]", (unsigned long long)t->count);
    } else {
        buf_text(out, type_name(t));
    }
}

/* In C the tag is the whole name, and asking for scopes costs. */
static bool has_namespaces(struct type *t)
{
    Dwarf_Die unit;
    int language = dwarf_diecu(&t->die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : 0;

    return language != DW_LANG_C && language != DW_LANG_C89 && language != DW_LANG_C99 &&
           language != DW_LANG_C11;
}

const char *type_name(struct type *t)
{
    if (!t)
        return "void";
    if (!t->name && (t->kind == TYPE_POINTER || t->kind == TYPE_ARRAY)) {
        struct buf out = {0};
        spell(&out, t, 0);
        t->name = out.at;
    } else if (!t->name && !t->tag[0]) {
        t->name = xstrdup("(anonymous)");
    } else if (!t->name && (type_is_struct(t) || t->kind == TYPE_ENUM)) {
        t->name = has_namespaces(t) ? binary_qualified(&t->die, t->tag) : xstrdup(t->tag);
    }
    return t->name ? t->name : t->tag;
}

bool type_same(struct type *a, struct type *b)
{
    for (int i = 0; i < CHAIN_MAX; i++) {
        if (a == b)
            return true;
        if (!a || !b || a->kind != b->kind || a->size != b->size)
            return false;
        if (a->kind != TYPE_POINTER && a->kind != TYPE_ARRAY)
            break;
        a = type_target(a);
        b = type_target(b);
    }
    if (strcmp(a->tag, b->tag) != 0 || !a->tag[0])
        return false;
    const struct type_field *x, *y;
    size_t n = type_fields(a, &x);
    if (type_fields(b, &y) != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (x[i].offset != y[i].offset || strcmp(x[i].name, y[i].name) != 0)
            return false;
    }
    return true;
}

static const struct type_field *field_named(struct type *t, const char *name)
{
    const struct type_field *fields;
    size_t n = type_fields(t, &fields);

    for (size_t i = 0; i < n; i++) {
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    }
    return NULL;
}

struct type *type_handle(struct type *t, uint64_t *offset)
{
    if (!t || t->kind != TYPE_UNION)
        return NULL;
    const struct type_field *id = field_named(t, "oid"), *typed = field_named(t, "_type");
    const struct type_field *bits = id ? field_named(id->type, "off") : NULL;
    if (!bits || !typed || typed->type->kind != TYPE_POINTER)
        return NULL;
    *offset = id->offset + bits->offset;
    return type_target(typed->type);
}
